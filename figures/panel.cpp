#include "figures/panel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace verve::figures {

const std::vector<std::string>& compared_methods() {
  static const std::vector<std::string> names{"pd",        "pd+fepr",   "midpoint", "midpoint+fepr",
                                              "published", "cpd_euler", "cpd_bdf2", "cpd"};
  return names;
}

const Film& Panel::of(const std::string& method) const {
  for (const auto& f : films)
    if (f->label == method) return *f;
  throw std::runtime_error("no run by " + method);
}

Panel make_panel(Context& context, const std::string& key, const Scene& scene, int frames,
                 const std::vector<std::string>& methods) {
  Panel out;
  for (const std::string& name : methods) {
    const std::string method = name == "cpd" ? context.ours() : name;
    if (std::any_of(out.films.begin(), out.films.end(), [&](const auto& f) { return f->label == method; })) continue;
    out.films.push_back(context.shared(key + " by " + method + " for " + std::to_string(frames), [&] {
      return film(context, by_method(scene, method), {.frames = frames, .keep_poses = true, .roughness = true});
    }));
  }
  return out;
}

void show_panel(Result& result, const Panel& panel, bool spin) {
  const Measures& start = panel.films.front()->shots[0].all;
  // One that blows up must not flatten the others: charts end a little beyond what the middle one of the runs reaches.
  const auto middle = [&](auto value) {
    std::vector<double> most;
    for (const auto& f : panel.films) most.push_back(largest(f->column(value)));
    std::sort(most.begin(), most.end(), [](double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); });
    return most[most.size() / 2];
  };
  const double moving = middle([](const Shot& s) { return s.all.kinetic + s.all.elastic; });
  const auto add = [&](const char* name, const char* title, const char* y, auto value, double low, double high) {
    Chart chart{name, title, "time [s]", y, {}};
    for (const auto& f : panel.films) chart.curves.push_back(f->curve(value));
    chart.low = low, chart.high = high;
    result.chart(std::move(chart));
  };
  add(
      "energy", "Total energy", "H [J]", [](const Shot& s) { return s.all.total; }, start.total - 1.2 * moving,
      start.total + 0.4 * moving);
  const auto elastic = [](const Shot& s) { return s.all.elastic; };
  add("elastic", "Elastic energy", "W [J]", elastic, 0, 1.5 * middle(elastic));
  if (spin)
    add(
        "spin", "Angular momentum about the centre of mass", "|L| [kg m²/s]",
        [](const Shot& s) { return norm(s.all.spin); }, 0, 0);
  if (spin) {
    Chart chart{"momentum", "Linear momentum that appears from nothing", "time [s]", "|P - P0| / √(2 m H0)", {}};
    const double unit = std::sqrt(2 * start.mass * std::abs(start.total));
    for (const auto& f : panel.films)
      chart.curves.push_back(
          f->curve([&](const Shot& s) { return std::max(1e-18, norm(s.all.momentum - start.momentum) / unit); }));
    chart.log_y = true;
    result.chart(std::move(chart));
  }
  {
    Chart chart{"roughness", "Roughness of the deformation", "time [s]", "Laplacian norm / size", {}};
    for (const auto& f : panel.films) chart.curves.push_back(f->curve([](const Shot& s) { return s.roughness; }));
    chart.log_y = true;
    result.chart(std::move(chart));
  }
  Chart iterations{"iterations", "Iterations", "time [s]", "per frame", {}};
  for (const auto& f : panel.films) {
    Curve curve = f->curve([](const Shot& s) { return double(s.step.iterations); });
    if (!curve.x.empty()) curve.x.erase(curve.x.begin()), curve.y.erase(curve.y.begin());
    iterations.curves.push_back(std::move(curve));
  }
  result.chart(std::move(iterations));

  // under gravity the zero of H is anyone's choice: there it is measured by what moves
  const double scale = spin ? std::abs(start.total) : moving;
  Table table{"What each keeps, and what it takes", {{"method"}}};
  table.rows[0].push_back(spin ? "H left" : "H at the end less H₀, of the largest K + W");
  table.rows[0].push_back(spin ? "largest |ΔH| / H₀" : "largest |ΔH|, likewise");
  if (spin) table.rows[0].insert(table.rows[0].end(), {"|L| left", "largest |ΔL| / L₀"});
  table.rows[0].insert(table.rows[0].end(), {"elastic oscillation, last third", "roughness, end : start",
                                             "iterations per frame", "ms per frame", "frames"});
  for (const auto& f : panel.films) {
    const Measures& end = f->shots.back().all;
    const size_t n = f->shots.size();
    const std::vector<double> elastic = f->column([](const Shot& s) { return s.all.elastic; });
    const std::vector<double> rough = f->column([](const Shot& s) { return s.roughness; });
    const auto last = std::span(elastic).subspan(2 * n / 3);
    double off = 0;
    for (const Shot& shot : f->shots) off = std::max(off, std::abs(shot.all.total - start.total) / scale);
    std::vector<std::string> row{f->label, with_unit(100 * (end.total - (spin ? 0 : start.total)) / scale, "%"),
                                 with_unit(off, "")};
    if (spin)
      row.insert(row.end(), {with_unit(100 * norm(end.spin) / norm(start.spin), "%"), with_unit(f->off_spin(), "")});
    row.insert(row.end(), {with_unit(100 * deviation(last) / scale, "%"),
                           with_unit(mean(std::span(rough).subspan(2 * n / 3)) /
                                         mean(std::span(rough).subspan(0, std::max<size_t>(1, n / 6))),
                                     "×"),
                           with_unit(f->mean_iterations(), ""), with_unit(f->mean_milliseconds(), ""),
                           std::to_string(f->frames()) + (f->failure.empty() ? "" : ", " + f->failure)});
    table.rows.push_back(std::move(row));
  }
  result.table(std::move(table));
}

}  // namespace verve::figures
