#include "figures/truth/lines.h"

#include <algorithm>
#include <cmath>

#include "figures/chart_image.h"

namespace verve::figures {

namespace {

constexpr const char* source = "docs/truth.md";

std::string percent(double share) { return with_unit(std::round(1000 * share) / 10, "%"); }

std::string cell(double value) { return std::isfinite(value) ? with_unit(value, "") : "–"; }

std::string settings(const TruthRun& run) {
  return (run.substeps == 0 ? "auto" : std::to_string(run.substeps)) + " × " + std::to_string(run.iterations);
}

Table table_of_methods(const TruthCase& scene, const StudyOptions& options) {
  Table out{"Every method as it is by default, then its distance when it fills a budget",
            {{"method", "ms per frame", "iterations (most)", "distance", "slow distance", "amplitude", "phase",
              "H + heat + loss off", "H at the end", "heat", "booked loss", "roughness", "jitter"}}};
  for (const double b : options.budgets) out.rows[0].push_back(with_unit(b, "ms"));
  for (const std::string& m : options.methods) {
    const TruthRun* run = nullptr;
    for (const TruthRun& r : scene.runs)
      if (r.own && r.method == m) run = &r;
    if (!run) continue;
    std::vector<std::string> row{m, cell(run->milliseconds),
                                 cell(run->mean_iterations) + " (" + cell(run->most_iterations) + ")"};
    if (run->good())
      for (const double v : {run->distance, run->slow_distance}) row.push_back(cell(v));
    if (run->good()) {
      row.push_back(percent(run->slow.amplitude)), row.push_back(with_unit(std::round(run->slow.phase), "°"));
      for (const double v : {run->energy_error, run->energy, run->heat, run->booked, run->roughness, run->jitter})
        row.push_back(cell(v));
    } else {
      row.push_back(run->failure);
      row.resize(13);
    }
    for (const double b : options.budgets) {
      const TruthRun* within = scene.within(m, b);
      row.push_back(within ? cell(scene.judged(*within)) + " (" + settings(*within) + ")" : "–");
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace

const std::vector<std::string>& rivals() {
  static const std::vector<std::string> names{"pd", "pd_bdf2", "pd_alpha", "cpd_bdf2", "cpd_gradient"};
  return names;
}

void judge_scene(const TruthCase& scene, const std::string& method, const StudyOptions& options, Result& result) {
  result.seconds = scene.seconds;
  if (const auto none = scene.refused.find("truth"); none != scene.refused.end()) {
    result.holds("the truth comes to its end", false, none->second, "no failure", source);
    return;
  }
  const TruthRun* ours = scene.own(method);
  const bool known = scene.known();
  if (!known)
    result.differs("There is no truth: in " + std::to_string(scene.truth_steps) +
                   " steps per frame its energy is off by " + with_unit(scene.truth_energy, "") +
                   " of the largest, its distance from a run of half as many is " + with_unit(scene.truth_error, "") +
                   ". Nothing is judged.");
  const std::string measure = scene.judged_slow() ? "slow distance" : "distance";
  if (known && !ours) {
    const auto refused = scene.refused.find(method);
    std::string why = refused != scene.refused.end() ? refused->second : "";
    for (const TruthRun& r : scene.runs)
      if (r.own && r.method == method) why = r.failure;
    result.holds(method + ": runs to its end", false, why, "no failure", source);
  } else if (known) {
    double least = INFINITY;
    std::string nearest = "no other";
    for (const std::string& m : rivals())
      if (const TruthRun* run = scene.own(m); run && m != method && scene.judged(*run) < least)
        least = scene.judged(*run), nearest = m;
    if (scene.truth_error >= least)
      result.differs("The truth itself is known to " + with_unit(scene.truth_error, "") + " only, and " + nearest +
                     " is nearer (" + with_unit(least, "") + "): distances decide nothing here.");
    else if (std::isfinite(least))
      result.at_most(method + ": mean " + measure + " " + with_unit(scene.judged(*ours), "") + ", over the least (" +
                         nearest + ", " + with_unit(least, "") + ")",
                     scene.judged(*ours) / least, 1.05, source, "×");
    const double periods = scene.period > 0 ? scene.scene.frames / scene.period : 0;
    if (scene.kept >= 0.9 && scene.measurable)
      result.between(method + ": amplitude of the slowest motion after " + with_unit(std::floor(periods), "") +
                         " periods, over truth's",
                     ours->slow.amplitude, 0.9, 1.1, source, "×");
    else
      result.differs("The amplitude of the slowest motion is not judged: " +
                     (periods < 4          ? "there are " + with_unit(std::round(10 * periods) / 10, "") + " periods"
                      : scene.period < 2.5 ? "it has " + with_unit(scene.period, "") + " frames per period"
                                           : "the truth itself has " + percent(scene.kept) + " of it at the end") +
                     (std::isfinite(ours->slow.amplitude)
                          ? "; " + method + " has " + with_unit(ours->slow.amplitude, "×") + " truth's."
                          : "."));
    result.at_most(scene.closed
                       ? method + ": largest |H + heat + booked loss − H₀| over the largest kinetic + elastic energy"
                       : method + ": largest scaled residual of H, which the scene changes",
                   ours->energy_error, scene.tolerance, source + std::string(", tolerance of the scene"));
    result.at_most(method + ": roughness over truth's, last third", ours->roughness, 1.2, source, "×");
    const TruthRun* before = scene.scene.set == TruthScene::Set::variants ? scene.own("cpd_gradient") : nullptr;
    if (before && method != before->method) {
      result.at_most(method + ": iterations per frame, over cpd_gradient's",
                     ours->mean_iterations / before->mean_iterations, 1.1, source, "×");
      result.at_most(method + ": most iterations in a frame, over cpd_gradient's",
                     ours->most_iterations / before->most_iterations, 1.5, source, "×");
    }
  }
  char rate[32];
  std::snprintf(rate, sizeof rate, "1/%.0f s", 1 / scene.step);
  result.table(
      {"The scene",
       {{"vertices", "elements", "h", "frames", "steps of the truth", "truth known to", "its |ΔH|",
         "accelerations faster than frames show", "period of the slowest motion", "truth keeps of it"},
        {std::to_string(scene.vertices), std::to_string(scene.elements), rate, std::to_string(scene.scene.frames),
         std::to_string(scene.truth_steps) + " per frame", cell(scene.truth_error), cell(scene.truth_energy),
         percent(scene.fast), cell(scene.period) + " frames", percent(scene.kept)}}});
  Chart motion{"motion", "The slowest motion", "time [s]", "q [√kg m]", {scene.truth}};
  for (const std::string& m : {method, std::string("pd"), std::string("pd_bdf2"), std::string("cpd_gradient")})
    if (const auto found = scene.curves.find(m);
        found != scene.curves.end() &&
        std::none_of(motion.curves.begin(), motion.curves.end(), [&](const Curve& c) { return c.name == m; }))
      motion.curves.push_back(found->second);
  double most = 0;
  for (const double q : scene.truth.y) most = std::max(most, std::abs(q));
  motion.low = -1.6 * most, motion.high = 1.6 * most;
  result.chart(std::move(motion));
  Chart cost{"cost", "Distance over time per frame", "ms per frame", measure, {}};
  cost.log_x = cost.log_y = true;
  const std::vector<const TruthCase*> alone{&scene};
  for (const std::string& m : leading(alone, options.methods, options.budgets, method, 8)) {
    std::vector<std::pair<double, double>> points;
    for (const TruthRun& run : scene.runs)
      if (run.method == m && run.good()) points.emplace_back(run.milliseconds, scene.judged(run));
    std::sort(points.begin(), points.end());
    Curve& curve = cost.curves.emplace_back(Curve{m, {}, {}});
    curve.dots = true;
    for (const auto& [x, y] : points) curve.x.push_back(x), curve.y.push_back(y);
  }
  cost.lines = {{scene.truth_error, "truth known to"}};
  result.chart(std::move(cost));
  result.table(table_of_methods(scene, options));
  if (!scene.refused.empty()) {
    std::string words = "Refused by";
    for (const auto& [m, why] : scene.refused) words += (words.size() > 10 ? ", " : " ") + m;
    result.differs(words + ".");
  }
}

void show_lines(const std::vector<TruthCase>& cases, const std::string& method, Result& result) {
  Table out{method + " as it is by default beside the nearest of the others",
            {{"scene", method, "nearest", "its distance", "truth known to", "over it", "amplitude", "phase", "H off",
              "roughness", "iterations (most)", "cpd_gradient"}}};
  const auto iterations = [](const TruthRun* run) {
    return run ? cell(run->mean_iterations) + " (" + cell(run->most_iterations) + ")" : "–";
  };
  for (const TruthCase& c : cases) {
    const TruthRun* ours = c.own(method);
    if (!ours || !c.known()) {
      out.rows.push_back({c.scene.name, ours ? "no truth" : "none"});
      out.rows.back().resize(out.rows[0].size(), "–");
      continue;
    }
    const TruthRun* least = nullptr;
    for (const std::string& m : rivals())
      if (const TruthRun* run = c.own(m); run && m != method && (!least || c.judged(*run) < c.judged(*least)))
        least = run;
    out.rows.push_back({c.scene.name + (c.judged_slow() ? " (slow)" : ""), cell(c.judged(*ours)),
                        least ? least->method : "–", least ? cell(c.judged(*least)) : "–", cell(c.truth_error),
                        least ? with_unit(c.judged(*ours) / c.judged(*least), "×") : "–",
                        c.measurable && c.kept >= 0.9 ? percent(ours->slow.amplitude) : "–",
                        c.measurable ? with_unit(std::round(ours->slow.phase), "°") : "–", cell(ours->energy_error),
                        with_unit(ours->roughness, "×"), iterations(ours), iterations(c.own("cpd_gradient"))});
  }
  result.table(std::move(out));
}

void show_profiles(const std::vector<TruthCase>& cases, const std::string& method, const StudyOptions& options,
                   Result& result) {
  const std::vector<const TruthCase*> scenes = decided(cases);
  const std::vector<std::string> shown = leading(scenes, options.methods, options.budgets, method, 8);
  constexpr double tau = 2;
  Chart data = data_profile(scenes, options.methods, shown, options.budgets, tau);
  const double middle = options.budgets[options.budgets.size() / 2];
  const render::Image panels[] = {image_of(performance_profile(scenes, options.methods, shown, middle)),
                                  image_of(data)};
  result.pictures.push_back({"profiles.png",
                             "Left: share of the scenes that a method has within a factor τ of the best method. Right: "
                             "share that it has within a factor 2 of the best of all budgets, over its own budget",
                             render::png(render::strip(panels, 2, 8))});
  result.chart(std::move(data));
  for (const double b : options.budgets) result.chart(performance_profile(scenes, options.methods, shown, b));
  Table shares{"Share of the scenes within a factor 2 of the best method, by budget", {{"method"}}};
  for (const double b : options.budgets) shares.rows[0].push_back(with_unit(b, "ms"));
  shares.rows[0].push_back("refused or failed");
  for (const std::string& m : leading(scenes, options.methods, options.budgets, method, options.methods.size())) {
    std::vector<std::string> row{m};
    for (const double b : options.budgets) row.push_back(percent(share_within(scenes, options.methods, m, b, tau)));
    int none = 0;
    for (const TruthCase* c : scenes) none += c->own(m) == nullptr;
    row.push_back(std::to_string(none) + " of " + std::to_string(scenes.size()));
    shares.rows.push_back(std::move(row));
  }
  result.table(std::move(shares));
  // equal time for the line of the default settings, shown beside it
  Table equal{"Distance over the least of " +
                  [] {
                    std::string all;
                    for (const std::string& m : rivals()) all += (all.empty() ? "" : ", ") + m;
                    return all;
                  }() +
                  ", all filling the same budget",
              {{"scene", "by default"}}};
  for (const double b : options.budgets) equal.rows[0].push_back(with_unit(b, "ms"));
  for (const TruthCase* c : scenes) {
    std::vector<std::string> row{c->scene.name};
    double least = INFINITY;
    for (const std::string& m : rivals())
      if (const TruthRun* run = c->own(m); run && m != method) least = std::min(least, c->judged(*run));
    const TruthRun* ours = c->own(method);
    row.push_back(ours && std::isfinite(least) ? with_unit(c->judged(*ours) / least, "×") : "–");
    for (const double b : options.budgets) {
      double best = INFINITY;
      for (const std::string& m : rivals())
        if (m != method) best = std::min(best, distance_within(*c, m, b));
      const double mine = distance_within(*c, method, b);
      row.push_back(std::isfinite(mine) && std::isfinite(best) ? with_unit(mine / best, "×") : "–");
    }
    equal.rows.push_back(std::move(row));
  }
  result.table(std::move(equal));
}

void judge_bars(const std::vector<BarRow>& bars, Result& result) {
  Table table{"Bars of 1280 tetrahedra, E = 1 MPa, h = 1/60 s, tolerance 1e-4, one thread",
              {{"method", "material", "held", "precision", "rms tip error", "truth known to", "amplitude", "phase",
                "period [frames]", "iterations", "ms per frame", "status"}}};
  for (const BarRow& b : bars) {
    const std::string who = b.method + ", " + b.material + " " + b.held + ", " + b.precision + ": ";
    table.rows.push_back({b.method, b.material, b.held, b.precision, cell(b.tip_error), cell(b.truth_error),
                          percent(b.slow.amplitude), with_unit(std::round(b.slow.phase), "°"), cell(b.period),
                          cell(b.mean_iterations), cell(b.milliseconds), b.failure.empty() ? "done" : b.failure});
    if (!b.failure.empty()) {
      result.holds(who + "runs to its end", false, b.failure, "no failure", source);
      continue;
    }
    // by the triangle inequality the error beside the exact motion is within truth_error of this one
    constexpr double tip_bound = 0.02;
    if (std::abs(b.tip_error - tip_bound) < b.truth_error)
      result.differs(who + "the truth is known to " + with_unit(b.truth_error, "") +
                     " of the amplitude only; a tip error of " + with_unit(b.tip_error, "") + " is not judged.");
    else
      result.at_most(who + "rms tip error over truth's amplitude", b.tip_error, tip_bound, source);
    if (b.measurable) result.between(who + "amplitude over truth's", b.slow.amplitude, 0.9, 1.1, source, "×");
    result.at_most(who + "time per frame", b.milliseconds, 0.5, source, "ms");
  }
  result.table(std::move(table));
}

}  // namespace verve::figures
