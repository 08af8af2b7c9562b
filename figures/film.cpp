#include "figures/film.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "verve/registry.h"

namespace verve::figures {

Scene scene(const std::string& name, const std::vector<Override>& overrides) {
  Expected<Scene> read = read_scene(name, overrides);
  if (!read) throw std::runtime_error(read.diagnostics().text());
  return std::move(*read);
}

bool is_builtin(const std::string& name) {
  const auto& all = builtin_scenes();
  return std::any_of(all.begin(), all.end(), [&](const BuiltinScene& s) { return s.name == name; });
}

Simulation simulation(const Scene& scene, int threads) {
  Expected<Simulation> made = Simulation::create(scene, {.threads = threads});
  if (!made) throw std::runtime_error(scene.name + ": " + made.diagnostics().text());
  return std::move(*made);
}

Scene by_method(Scene scene, const std::string& method) {
  SolverSpec solver;
  solver.method = method;
  solver.tolerance = scene.solver.tolerance;
  solver.precision = scene.solver.precision;
  scene.solver = solver;
  return scene;
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

std::vector<double> Film::column(const std::function<double(const Shot&)>& value) const {
  std::vector<double> out;
  out.reserve(shots.size());
  for (const Shot& s : shots) out.push_back(value(s));
  return out;
}

Curve Film::curve(const std::function<double(const Shot&)>& value) const {
  return {label, column([](const Shot& s) { return s.time; }), column(value)};
}

double Film::mean_iterations() const {
  double sum = 0;
  for (const Shot& s : shots) sum += s.step.iterations;
  return sum / std::max(1, frames());
}

double Film::mean_milliseconds() const {
  double sum = 0;
  for (const Shot& s : shots) sum += s.milliseconds;
  return sum / std::max(1, frames());
}

namespace {

template <class F>
double farthest(const Film& film, int from, int to, F&& off) {
  double most = 0;
  const int end = to < 0 ? film.frames() + 1 : std::min(to, film.frames() + 1);
  for (int f = from; f < end; ++f) {
    const double value = off(film.shots[size_t(f)].all);
    if (!(value <= most)) most = value;  // nan stays
    if (std::isnan(most)) break;
  }
  return most;
}

}  // namespace

double Film::off_energy(int from, int to, int base) const {
  const double start = shots[size_t(base)].all.total;
  return farthest(*this, from, to, [&](const Measures& m) { return std::abs(m.total - start) / std::abs(start); });
}
double Film::off_spin(int from, int to, int base) const {
  const Vec3 start = shots[size_t(base)].all.spin;
  return farthest(*this, from, to, [&](const Measures& m) { return norm(m.spin - start) / norm(start); });
}
double Film::off_momentum(int from, int to, int base) const {
  const Measures& start = shots[size_t(base)].all;
  const double scale = std::sqrt(2 * start.mass * std::abs(start.total));
  return farthest(*this, from, to, [&](const Measures& m) { return norm(m.momentum - start.momentum) / scale; });
}

Film film(const Context& context, const Scene& scene, const FilmOptions& options) {
  Film out;
  out.scene = scene;
  out.label = options.label.empty() ? scene.solver.method : options.label;
  Simulation sim = simulation(scene, options.threads);
  out.vertices = sim.vertices(), out.elements = sim.elements();
  const int frames = options.frames > 0 ? options.frames : scene.frames;
  out.shots.reserve(size_t(frames) + 1);
  std::optional<QualityMeter> meter;
  if (options.roughness) meter.emplace(sim);
  const bool tears = std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const BodySpec& body) {
    return std::any_of(body.potentials.begin(), body.potentials.end(),
                       [](const PotentialSpec& p) { return !p.tear.keys.empty(); });
  });
  const auto shoot = [&](const StepReport& step, double milliseconds) {
    Shot& shot = out.shots.emplace_back();
    shot.time = sim.time(), shot.step = step, shot.milliseconds = milliseconds;
    shot.all = sim.measure();
    if (options.each_body)
      for (int b = 0; b < sim.bodies(); ++b) shot.bodies.push_back(sim.measure(b));
    if (meter) shot.roughness = meter->roughness(sim.positions());
    if (options.extra) shot.extra = options.extra(sim);
    if (!options.keep_poses) return;
    out.poses.push_back(sim.frame() % options.keep_every == 0 ? sim.positions() : std::vector<Vec3>{});
    if (!tears) return;
    std::vector<RemovedElements>& gone = out.removed.emplace_back();
    for (int b = 0; b < sim.bodies(); ++b) gone.push_back(sim.removed_elements(b));
  };
  shoot({}, 0);
  for (int frame = 1; frame <= frames; ++frame) {
    context.check_stop();
    if (options.before_step) options.before_step(sim, frame);
    const double begin = thread_seconds();
    const StepReport step = sim.step();
    const double spent = 1e3 * (thread_seconds() - begin);
    if (!step) {
      out.failure = "frame " + std::to_string(frame) + ": " + std::string(to_string(step.status)) + " " + step.message;
      break;
    }
    shoot(step, options.threads == 1 ? spent : step.milliseconds);
    if (options.most_milliseconds > 0 && frame == 10 &&
        (10 * out.mean_milliseconds() - out.shots[1].milliseconds) / 9 > options.most_milliseconds) {
      out.failure = "given up after 10 frames: more than " + with_unit(options.most_milliseconds, "ms") + " each";
      break;
    }
  }
  return out;
}

Film whole_film(const Context& context, const Scene& scene, const FilmOptions& options) {
  Film out = film(context, scene, options);
  if (!out.failure.empty()) throw std::runtime_error(scene.name + " (" + out.label + "): " + out.failure);
  return out;
}

double least_energy(const Simulation& simulation, int body) {
  const std::vector<double> mass = simulation.masses();
  const std::vector<Vec3> x = simulation.positions();
  const size_t first = size_t(simulation.first_vertex(body)), count = simulation.mesh(body).vertices.size();
  const Measures m = simulation.measure(body);
  Mat3 second{};
  for (size_t i = first; i < first + count; ++i) {
    const Vec3 r = x[i] - m.center;
    second = second + outer(r, r * mass[i]);
  }
  const Mat3 inertia = Mat3::identity() * (second(0, 0) + second(1, 1) + second(2, 2)) - second;
  return 0.5 * dot(m.momentum, m.momentum) / m.mass + 0.5 * dot(m.spin, inverse(inertia) * m.spin);
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / double(values.size());
}
double deviation(std::span<const double> values) {
  const double m = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - m) * (v - m);
  return std::sqrt(sum / double(values.size()));
}
double largest(std::span<const double> values) {
  double most = values.empty() ? std::nan("") : values[0];
  for (const double v : values)
    if (std::isnan(v) || v > most) most = v;  // once not a number, always
  return most;
}
double least(std::span<const double> values) {
  double low = values.empty() ? std::nan("") : values[0];
  for (const double v : values)
    if (std::isnan(v) || v < low) low = v;
  return low;
}
double spread(std::span<const double> values) { return (largest(values) - least(values)) / std::abs(mean(values)); }

std::vector<Peak> peaks(std::span<const double> values, double floor) {
  std::vector<Peak> out;
  for (size_t i = 1; i + 1 < values.size(); ++i) {
    if (!(values[i] > values[i - 1] && values[i] >= values[i + 1] && values[i] > floor)) continue;
    const double a = 0.5 * (values[i - 1] - 2 * values[i] + values[i + 1]), b = 0.5 * (values[i + 1] - values[i - 1]);
    out.push_back({int(i), a < 0 ? values[i] - b * b / (4 * a) : values[i]});
  }
  return out;
}

double slope(std::span<const double> values) {
  const double n = double(values.size()), middle = 0.5 * (n - 1), m = mean(values);
  double sxy = 0, sxx = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double d = double(i) - middle;
    sxy += d * (values[i] - m), sxx += d * d;
  }
  return sxy / sxx;
}

double volume(const Mesh& mesh, const Vec3* x) {
  double sum = 0;
  for (const auto& t : mesh.tetrahedra) sum += tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]);
  return sum;
}

std::vector<Look> spread_looks(const Film& film, int count, int last) {
  std::vector<Look> out;
  const int end = last < 0 ? film.frames() : std::min(last, film.frames());
  for (int i = 0; i < count; ++i) out.push_back({&film, count > 1 ? i * end / (count - 1) : end});
  return out;
}

}  // namespace verve::figures
