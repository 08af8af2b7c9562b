#include "figures/reference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "potentials/polar.h"

namespace verve::figures {

namespace {

constexpr int most_substeps = 64;  // of solver.substeps

double dot_by_mass(const std::vector<double>& mass, const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += mass[i] * dot(a[i], b[i]);
  return sum;
}

double mean_of(const std::vector<double>& values, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += values[i];
  return sum / double(std::max<size_t>(1, to - from));
}

}  // namespace

Film reference_film(const Context& context, const Scene& scene, int steps, FilmOptions options, bool verlet) {
  int split = 1;
  while (steps / split > most_substeps) split *= 2;
  Scene fine = scene;
  fine.step /= split;
  fine.solver = reference_solver(scene, steps / split);
  if (verlet) {
    fine.solver = SolverSpec{};
    fine.solver.method = "verlet", fine.solver.substeps = steps / split;
  }
  if (options.label.empty()) options.label = "truth";
  const int frames = options.frames > 0 ? options.frames : scene.frames;
  options.frames = frames * split;
  options.keep_every *= split;
  Film out = film(context, fine, options);
  if (split > 1) {
    for (size_t i = 0; i * size_t(split) < out.shots.size(); ++i) {
      if (i == 0) continue;
      out.shots[i] = std::move(out.shots[i * size_t(split)]);
      if (!out.poses.empty()) out.poses[i] = std::move(out.poses[i * size_t(split)]);
    }
    const size_t kept = (out.shots.size() - 1) / size_t(split) + 1;
    out.shots.resize(kept);
    if (!out.poses.empty()) out.poses.resize(kept);
    out.scene.step = scene.step;
  }
  return out;
}

double period_of(const std::vector<double>& values) {
  const size_t n = values.size();
  if (n < 8) return 0;
  const double mean = mean_of(values, 0, n);
  // eight points for each of the n/2 frequencies that n values tell apart, so that a peak is found to 1 % of one
  const size_t points = 4 * n;
  std::vector<double> power(points + 1, 0.0);
  for (size_t k = 1; k <= points; ++k) {
    const double omega = std::numbers::pi * double(k) / double(points);
    std::complex<double> sum = 0;
    const std::complex<double> turn = std::polar(1.0, -omega);
    std::complex<double> now = 1;
    for (size_t i = 0; i < n; ++i, now *= turn) {
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (double(i) + 0.5) / double(n));
      sum += window * (values[i] - mean) * now;
    }
    power[k] = std::norm(sum);
  }
  const size_t peak = size_t(std::max_element(power.begin(), power.end()) - power.begin());
  if (!(power[peak] > 0)) return 0;
  double at = double(peak);
  if (peak > 1 && peak < points) {
    const double a = power[peak - 1], b = power[peak], c = power[peak + 1], bend = a - 2 * b + c;
    if (bend < 0) at += 0.5 * (a - c) / bend;
  }
  return 2 * double(points) / at;
}

Demodulated demodulate(const std::vector<double>& values, double period) {
  Demodulated out;
  const size_t width = std::min(values.size(), std::max<size_t>(8, size_t(std::lround(2 * period))));
  if (!(period > 0) || width < 2) return out;
  const double mean = mean_of(values, 0, values.size()), omega = 2 * std::numbers::pi / period;
  double last = 0, turns = 0;
  for (size_t first = 0; first + width <= values.size(); ++first) {
    std::complex<double> sum = 0;
    double weights = 0;
    for (size_t i = 0; i < width; ++i) {
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (double(i) + 0.5) / double(width));
      sum += window * (values[first + i] - mean) * std::polar(1.0, -omega * double(first + i));
      weights += window;
    }
    double phase = std::arg(sum);
    if (first > 0) {
      if (phase + turns - last > std::numbers::pi) turns -= 2 * std::numbers::pi;
      if (phase + turns - last < -std::numbers::pi) turns += 2 * std::numbers::pi;
    }
    last = phase + turns;
    out.amplitude.push_back(2 * std::abs(sum) / weights);
    out.phase.push_back(last);
  }
  return out;
}

double fast_share(const std::vector<double>& mass, const std::vector<std::vector<Vec3>>& poses) {
  double second = 0, fourth = 0;
  for (size_t f = 2; f + 2 < poses.size(); ++f)
    for (size_t i = 0; i < mass.size(); ++i) {
      const auto bend = [&](size_t at) { return poses[at - 1][i] - poses[at][i] * 2.0 + poses[at + 1][i]; };
      const Vec3 d = bend(f), d4 = bend(f - 1) - d * 2.0 + bend(f + 1);
      second += mass[i] * dot(d, d), fourth += mass[i] * dot(d4, d4);
    }
  return second > 0 ? fourth / (16 * second) : 0;
}

SlowMode::SlowMode(const Simulation& simulation, const std::vector<std::vector<Vec3>>& poses)
    : mass_(simulation.masses()) {
  const Scene& scene = simulation.scene();
  bounces_ = !scene.colliders.empty();
  free_ = !bounces_ && scene.anchors.empty();
  for (int b = 0; b < simulation.bodies(); ++b) {
    const Mesh& mesh = simulation.mesh(b);
    Body& body = bodies_.emplace_back(Body{size_t(simulation.first_vertex(b)), mesh.vertices.size(), 0, mesh.vertices});
    Vec3 center{};
    for (size_t i = 0; i < body.count; ++i)
      center += body.rest[i] * mass_[body.first + i], body.mass += mass_[body.first + i];
    for (Vec3& p : body.rest) p = p - center / body.mass;
  }
  std::vector<std::vector<Vec3>> d;
  for (const std::vector<Vec3>& pose : poses) d.push_back(displacement(pose));
  const size_t frames = d.size(), n = mass_.size();
  mean_.assign(n, {});
  for (const auto& frame : d)
    for (size_t i = 0; i < n; ++i) mean_[i] += frame[i] / double(frames);
  for (auto& frame : d)
    for (size_t i = 0; i < n; ++i) frame[i] = frame[i] - mean_[i];
  // first principal component by power iteration on D^T D; any start that is not orthogonal to it
  shape_ = d.back();
  for (const auto& frame : d)
    if (dot_by_mass(mass_, frame, frame) > dot_by_mass(mass_, shape_, shape_)) shape_ = frame;
  for (int round = 0; round < 60; ++round) {
    const double size = std::sqrt(dot_by_mass(mass_, shape_, shape_));
    if (!(size > 0)) break;
    for (Vec3& p : shape_) p = p / size;
    std::vector<Vec3> next(n);
    for (const auto& frame : d) {
      const double q = dot_by_mass(mass_, shape_, frame);
      for (size_t i = 0; i < n; ++i) next[i] += frame[i] * q;
    }
    shape_ = std::move(next);
  }
  if (const double size = std::sqrt(dot_by_mass(mass_, shape_, shape_)); size > 0)
    for (Vec3& p : shape_) p = p / size;
  truth_ = coordinate(poses);
  period_ = period_of(truth_);
  const Demodulated z = demodulate(truth_, period_);
  const size_t third = z.amplitude.size() / 3;
  kept_ = mean_of(z.amplitude, z.amplitude.size() - third, z.amplitude.size()) / mean_of(z.amplitude, 0, third);
}

std::vector<Vec3> SlowMode::displacement(const std::vector<Vec3>& pose) const {
  std::vector<Vec3> out = pose;
  for (const Body& body : bodies_) {
    if (!free_ && !bounces_) continue;
    Vec3 center{};
    for (size_t i = 0; i < body.count; ++i) center += pose[body.first + i] * (mass_[body.first + i] / body.mass);
    if (bounces_) {
      for (size_t i = 0; i < body.count; ++i) out[body.first + i] = {0, center.y, 0};
      continue;
    }
    Mat3 moment{};
    for (size_t i = 0; i < body.count; ++i)
      moment = moment + outer(pose[body.first + i] - center, body.rest[i] * (mass_[body.first + i] / body.mass));
    const Mat3 turned = transpose(nearest_rotation_svd(moment));
    for (size_t i = 0; i < body.count; ++i) out[body.first + i] = turned * (pose[body.first + i] - center);
  }
  return out;
}

std::vector<double> SlowMode::coordinate(const std::vector<std::vector<Vec3>>& poses) const {
  std::vector<double> out;
  for (const std::vector<Vec3>& pose : poses) {
    std::vector<Vec3> d = displacement(pose);
    for (size_t i = 0; i < d.size(); ++i) d[i] = d[i] - mean_[i];
    out.push_back(dot_by_mass(mass_, shape_, d));
  }
  return out;
}

SlowError SlowMode::error(const std::vector<double>& coordinate) const {
  const Demodulated a = demodulate(truth_, period_), b = demodulate(coordinate, period_);
  const size_t n = std::min(a.amplitude.size(), b.amplitude.size()), third = n / 3;
  if (n == 0 || coordinate.size() < truth_.size()) return {std::nan(""), std::nan("")};
  const double begin = std::remainder(b.phase[0] - a.phase[0], 2 * std::numbers::pi);
  const double gone = (b.phase[n - 1] - b.phase[0]) - (a.phase[n - 1] - a.phase[0]);
  return {mean_of(b.amplitude, n - third, n) / mean_of(a.amplitude, n - third, n),
          -(begin + gone) * 180 / std::numbers::pi};
}

}  // namespace verve::figures
