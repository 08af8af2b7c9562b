#include "figures/truth/study.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "figures/truth/tasks.h"
#include "verve/registry.h"

namespace verve::figures {

namespace {

constexpr int finest_substeps = 64;

double late_jitter(const std::vector<double>& mass, const std::vector<std::vector<Vec3>>& poses) {
  double sum = 0;
  for (size_t f = std::max<size_t>(1, 2 * poses.size() / 3); f + 1 < poses.size(); ++f)
    for (size_t i = 0; i < mass.size(); ++i) {
      const Vec3 d = poses[f - 1][i] - poses[f][i] * 2.0 + poses[f + 1][i];
      sum += mass[i] * dot(d, d);
    }
  return std::sqrt(sum);
}

double late_roughness(const Film& film) {
  const std::vector<double> r = film.column([](const Shot& s) { return s.roughness; });
  return mean(std::span(r).subspan(2 * r.size() / 3));
}

/// Nothing changes H but the method.
bool is_closed(const Scene& scene) {
  const auto still = [](const BodySpec& body) {
    const Dials& d = body.dials;
    bool out = d.energy.keys.empty() && d.half_life.keys.empty() && d.damping.keys.empty();
    for (const PotentialSpec& p : body.potentials)
      for (const auto& [name, track] : p.parameters) out = out && track.keys.size() < 2;
    return out;
  };
  return scene.pushes.empty() && scene.winds.empty() && std::all_of(scene.bodies.begin(), scene.bodies.end(), still);
}

/// Of a run of a scene that changes H.
double worst_residual(const Film& film) {
  double most = 0;
  for (const Shot& s : film.shots)
    if (const double off = std::abs(s.step.error_h); !(off <= most)) most = off;
  return most;
}

double energy_off(const Film& film, double unit) {
  double most = 0;
  const double start = film.shots[0].all.total;
  for (const Shot& s : film.shots) {
    const double off = std::abs(s.all.total + s.all.heat + s.all.booked_loss - start) / unit;
    if (!(off <= most)) most = off;  // not a number stays
  }
  return most;
}

/// Over the first frames: later ones of what is chaotic say as much of the length of the run as of the method.
double mean_distance(const QualityMeter& meter, const Film& a, const Film& b, bool slow) {
  SlowPositions slow_a, slow_b;
  double sum = 0;
  const size_t frames = std::min<size_t>(a.poses.size(), distance_frames + 1);
  for (size_t f = 0; f < frames; ++f) {
    const double d =
        slow ? meter.distance(slow_a.add(a.poses[f]), slow_b.add(b.poses[f])) : meter.distance(a.poses[f], b.poses[f]);
    if (f > 0) sum += d;
  }
  return sum / double(std::max<size_t>(1, frames - 1));
}

}  // namespace

const TruthRun* TruthCase::own(const std::string& method) const {
  for (const TruthRun& run : runs)
    if (run.own && run.method == method) return run.good() ? &run : nullptr;
  return nullptr;
}

const TruthRun* TruthCase::within(const std::string& method, double budget) const {
  const TruthRun* out = nullptr;
  for (const TruthRun& run : runs)
    if (run.method == method && run.good() && run.milliseconds <= budget &&
        (!out || run.milliseconds > out->milliseconds))
      out = &run;
  return out;
}

std::vector<std::string> stable_methods() {
  std::vector<std::string> out;
  for (const MethodInfo& info : method_infos())
    if (info.stable && info.dynamic) out.push_back(info.name);
  return out;
}

TruthOf::TruthOf(const Context& context, const TruthScene& wanted, const StudyOptions& options)
    : scene_(build(wanted)), options_(options) {
  if (options.frames > 0) scene_.frames = std::min(scene_.frames, options.frames);
  case_.scene = wanted;
  case_.scene.frames = scene_.frames;
  case_.step = scene_.step, case_.tolerance = scene_.solver.tolerance;
  case_.closed = is_closed(scene_);
  const FilmOptions kept{.keep_poses = true, .roughness = true};
  // twice as many as elsewhere, and more where that does not keep the energy (see known())
  constexpr int most_steps = 256;
  Film half = reference_film(context, scene_, reference_steps_for(scene_), kept);
  for (case_.truth_steps = 2 * reference_steps_for(scene_);; case_.truth_steps *= 2, half = std::move(truth_)) {
    truth_ = reference_film(context, scene_, case_.truth_steps, kept);
    energy_ = 0;
    for (const Shot& s : truth_.shots) energy_ = std::max(energy_, s.all.kinetic + s.all.elastic);
    case_.truth_energy = case_.closed ? energy_off(truth_, energy_) : 0;
    if ((truth_.failure.empty() && half.failure.empty() && case_.truth_energy <= 0.05) ||
        2 * case_.truth_steps > most_steps)
      break;
  }
  for (const Film* f : {static_cast<const Film*>(&truth_), static_cast<const Film*>(&half)})
    if (!f->failure.empty()) throw std::runtime_error(wanted.name + " (fine steps): " + f->failure);
  const Simulation start = simulation(scene_);
  case_.vertices = start.vertices(), case_.elements = start.elements();
  mass_ = start.masses();
  meter_.emplace(start);
  mode_.emplace(start, truth_.poses);
  roughness_ = late_roughness(truth_), jitter_ = late_jitter(mass_, truth_.poses);
  case_.fast = fast_share(mass_, truth_.poses);
  case_.truth_error = mean_distance(*meter_, truth_, half, case_.judged_slow());
  case_.period = mode_->period(), case_.kept = mode_->kept(), case_.measurable = mode_->measurable();
  case_.truth = {"truth", truth_.column([](const Shot& s) { return s.time; }), mode_->coordinate(truth_.poses)};
}

TruthRun TruthOf::measure(const Context& context, const Scene& scene, double most_milliseconds, Curve* curve) const {
  TruthRun out;
  const MethodInfo& info = *find_method(scene.solver.method);
  out.method = scene.solver.method, out.substeps = scene.solver.substeps;
  out.iterations = scene.solver.iterations.value_or(info.iterations);
  FilmOptions options{.keep_poses = true, .roughness = true};
  options.most_milliseconds = most_milliseconds;
  const Film f = film(context, scene, options);
  double sum = 0;
  for (size_t i = 1; i < f.shots.size(); ++i) {
    if (i > 1) sum += f.shots[i].milliseconds;  // the first factors the matrix
    out.most_iterations = std::max(out.most_iterations, double(f.shots[i].step.iterations));
  }
  out.milliseconds = sum / double(std::max<size_t>(1, f.shots.size() - 2));
  out.mean_iterations = f.mean_iterations();
  out.failure = f.failure;
  if (!out.good()) return out;
  out.distance = mean_distance(*meter_, f, truth_, false);
  out.slow_distance = mean_distance(*meter_, f, truth_, true);
  const std::vector<double> q = mode_->coordinate(f.poses);
  out.slow = mode_->error(q);
  out.energy_error = case_.closed ? energy_off(f, energy_) : worst_residual(f);
  const Measures &end = f.shots.back().all, &begin = f.shots[0].all;
  out.energy = (end.total - begin.total) / energy_, out.heat = end.heat / energy_;
  out.booked = end.booked_loss / energy_;
  out.roughness = late_roughness(f) / roughness_, out.jitter = late_jitter(mass_, f.poses) / jitter_;
  if (curve) *curve = {out.method, f.column([](const Shot& s) { return s.time; }), q};
  if (!std::isfinite(out.distance)) out.failure = "not finite";
  return out;
}

std::vector<TruthRun> TruthOf::ladder(const Context& context, const std::string& method, std::string& refused,
                                      Curve& curve) const {
  std::vector<TruthRun> out;
  const Scene named = by_method(scene_, method);
  if (const Expected<Simulation> possible = Simulation::create(named, {.threads = 1}); !possible) {
    refused = possible.diagnostics().text();
    return out;
  }
  const double most = *std::max_element(options_.budgets.begin(), options_.budgets.end());
  const double least = *std::min_element(options_.budgets.begin(), options_.budgets.end());
  out.push_back(measure(context, named, 0, &curve));
  out.back().own = true;
  if (options_.budgets_only_own) return out;
  const MethodInfo& info = *find_method(method);
  // more sub-steps with the iterations that each step has by default
  bool one_is_cheap = false;
  for (int n = info.substeps; n <= finest_substeps; n *= 2) {
    Scene s = named;
    s.solver.substeps = n;
    TruthRun run = measure(context, s, most, nullptr);  // what is beyond the largest budget is not waited for
    const bool beyond = run.milliseconds > most;
    // finer than the truth is known nothing can be told apart
    const bool fine = run.good() && case_.judged(run) <= case_.truth_error;
    one_is_cheap = one_is_cheap || (n == info.substeps && run.milliseconds <= least);
    out.push_back(std::move(run));
    if (beyond || fine) break;
  }
  // fewer iterations in one step until the least budget is kept
  for (int cap = info.iterations / 2; cap >= 1 && !one_is_cheap; cap /= 2) {
    Scene s = named;
    s.solver.substeps = info.substeps, s.solver.iterations = cap;
    out.push_back(measure(context, s, most, nullptr));
    one_is_cheap = out.back().milliseconds <= least;
  }
  return out;
}

std::vector<TruthCase> study(const Context& context, const std::vector<TruthScene>& scenes, const StudyOptions& options,
                             int workers, const std::function<void(int)>& progress) {
  struct Part {
    std::once_flag made;
    std::unique_ptr<TruthOf> truth;
    std::string failure;
  };
  std::vector<Part> parts(scenes.size());
  std::vector<TruthCase> out(scenes.size());
  struct Task {
    size_t scene, method;
  };
  std::vector<Task> tasks;
  for (size_t s = 0; s < scenes.size(); ++s)
    for (size_t m = 0; m < options.methods.size(); ++m) tasks.push_back({s, m});
  struct Found {
    std::vector<TruthRun> runs;
    std::string refused;
    Curve curve;
    double seconds = 0;
    bool done = false;
  };
  std::vector<Found> found(tasks.size());
  size_t finished = 0;
  std::mutex mutex;
  const auto work = [&](size_t t) {
    const Task task = tasks[t];
    const double begin = thread_seconds();
    Part& part = parts[task.scene];
    std::call_once(part.made, [&] {
      try {
        part.truth = std::make_unique<TruthOf>(context, scenes[task.scene], options);
      } catch (const std::runtime_error& error) {
        part.failure = error.what();
      }
    });
    if (part.truth)
      found[t].runs = part.truth->ladder(context, options.methods[task.method], found[t].refused, found[t].curve);
    found[t].seconds = thread_seconds() - begin;
    const std::lock_guard lock(mutex);
    found[t].done = true, ++finished;
    if (progress) progress(int(finished));
  };
  try {
    for_each_task(tasks.size(), workers, work);
  } catch (const Interrupted&) {  // scenes that are complete are kept
  }
  for (size_t s = 0; s < scenes.size(); ++s) {
    if (parts[s].truth)
      out[s] = parts[s].truth->described();
    else
      out[s].scene = scenes[s], out[s].refused["truth"] = parts[s].failure;
  }
  std::vector<char> complete(scenes.size(), 1);
  for (size_t t = 0; t < tasks.size(); ++t) {
    complete[tasks[t].scene] &= char(found[t].done);
    TruthCase& c = out[tasks[t].scene];
    const std::string& method = options.methods[tasks[t].method];
    c.seconds += found[t].seconds;
    for (TruthRun& run : found[t].runs) c.runs.push_back(std::move(run));
    if (!found[t].refused.empty()) c.refused[method] = found[t].refused;
    if (!found[t].curve.x.empty()) c.curves[method] = std::move(found[t].curve);
  }
  std::vector<TruthCase> kept;
  for (size_t s = 0; s < scenes.size(); ++s)
    if (complete[s]) kept.push_back(std::move(out[s]));
  return kept;
}

}  // namespace verve::figures
