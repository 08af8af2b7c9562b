// One step in numbers, for the page that walks through it: from where the first lane is, by plain Projective Dynamics
// iteration after iteration and by its own method, on simulations of their own. Nothing of the session changes.
#include <algorithm>
#include <cmath>

#include "live/session.h"
#include "verve/registry.h"

namespace verve::live {

namespace {

constexpr int shown_iterations = 10;  // of PD, as many as it takes by itself

Json vec(const Vec3& v) { return Json::array({v.x, v.y, v.z}); }

/// Principal stretches of a tetrahedron: square roots of the eigenvalues of F^T F, the largest first.
std::array<double, 3> stretches(const std::array<Vec3, 4>& rest, const std::array<Vec3, 4>& x) {
  const auto columns = [](const std::array<Vec3, 4>& p) {
    Mat3 out;
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) out(r, c) = (p[size_t(c) + 1] - p[0])[r];
    return out;
  };
  const Mat3 f = columns(x) * inverse(columns(rest));
  Mat3 c;  // F^T F
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c(i, j) += f(k, i) * f(k, j);
  // eigenvalues in closed form (Smith 1961)
  const double mean = (c(0, 0) + c(1, 1) + c(2, 2)) / 3;
  Mat3 b = c;
  for (int i = 0; i < 3; ++i) b(i, i) -= mean;
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) square += b(i, j) * b(i, j);
  const double spread = std::sqrt(square / 6);
  if (!(spread > 0)) return {std::sqrt(mean), std::sqrt(mean), std::sqrt(mean)};
  const double determinant = b(0, 0) * (b(1, 1) * b(2, 2) - b(1, 2) * b(2, 1)) -
                             b(0, 1) * (b(1, 0) * b(2, 2) - b(1, 2) * b(2, 0)) +
                             b(0, 2) * (b(1, 0) * b(2, 1) - b(1, 1) * b(2, 0));
  const double angle = std::acos(std::clamp(determinant / (2 * spread * spread * spread), -1.0, 1.0)) / 3;
  std::array<double, 3> out;
  for (int k = 0; k < 3; ++k)
    out[size_t(k)] = std::sqrt(std::max(0.0, mean + 2 * spread * std::cos(angle - 2.0943951023931953 * k)));
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

Json account(const Simulation& sim, const std::vector<Vec3>& x, int vertex) {
  const Measures m = sim.measure();
  Json out = Json::object();
  out.set("x", vec(x[size_t(vertex)]));
  out.set("kinetic", m.kinetic), out.set("elastic", m.elastic), out.set("total", m.total);
  out.set("momentum", vec(m.momentum)), out.set("spin", vec(m.spin));
  return out;
}

}  // namespace

/// Of the vertex that moves fastest, and the tetrahedron or edge at it that the prediction stretches most.
void Session::explain() {
  const Lane& own = *lanes_[0];
  const Simulation& sim = *own.simulation;
  const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
  const double h = sim.scene().step;
  const Vec3 g = turned_.gravity.value_or(scene_.gravity);
  std::vector<Vec3> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + v[i] * h + g * (h * h);
  int vertex = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (masses_[i] > 0 && dot(v[i], v[i]) > dot(v[size_t(vertex)], v[size_t(vertex)])) vertex = int(i);

  Json out = Json::object();
  out.set("type", "explained");
  out.set("method", own.method), out.set("step", h), out.set("time", sim.time()), out.set("frame", sim.frame());
  out.set("vertex", vertex), out.set("mass", masses_[size_t(vertex)]), out.set("gravity", vec(g));
  out.set("v", vec(v[size_t(vertex)])), out.set("y", vec(y[size_t(vertex)]));
  out.set("before", account(sim, x, vertex));

  // the element
  const auto corners = [&](int body, const std::vector<Vec3>& from, const std::array<int, 4>& t, bool rest) {
    std::array<Vec3, 4> p;
    for (size_t k = 0; k < 4; ++k) p[k] = rest ? from[size_t(t[k])] : from[size_t(sim.first_vertex(body) + t[k])];
    return p;
  };
  int found_body = -1;
  std::array<int, 4> element{};
  double most = -1;
  for (int b = 0; b < sim.bodies(); ++b)
    for (const std::array<int, 4>& t : sim.mesh(b).tetrahedra) {
      const std::array<double, 3> s = stretches(corners(b, sim.mesh(b).vertices, t, true), corners(b, y, t, false));
      const double off = std::max(std::abs(s[0] - 1), std::abs(s[2] - 1));
      if (off > most) most = off, found_body = b, element = t;
    }
  const auto of_element = [&](const std::vector<Vec3>& at) {
    Json list = Json::array();
    for (const double s : stretches(corners(found_body, sim.mesh(found_body).vertices, element, true),
                                    corners(found_body, at, element, false)))
      list.items.push_back(s);
    return list;
  };
  if (found_body >= 0) {
    Json stretch = Json::object();
    stretch.set("before", of_element(x)), stretch.set("predicted", of_element(y));
    out.set("stretch", std::move(stretch));
  }

  // plain PD, iteration after iteration
  Diagnostics notes;
  Json iterations = Json::array();
  if (const std::unique_ptr<Lane> plain = make_lane(scene_, "pd", notes)) {
    for (int k = 1; k <= shown_iterations; ++k) {
      Simulation& pd = *plain->simulation;
      apply_turned(*plain);
      pd.set_step(h);
      pd.set_state(x, v);
      pd.set_time(sim.time(), sim.frame());
      pd.set_iterations(k);
      if (!pd.step()) break;
      const std::vector<Vec3> at = pd.positions();
      Json row = account(pd, at, vertex);
      if (found_body >= 0) row.set("stretch", of_element(at));
      iterations.items.push_back(std::move(row));
    }
  }
  out.set("pd", std::move(iterations));

  // the lane's own step, from all that it remembers
  Json step;
  if (const std::unique_ptr<Lane> twin =
          make_lane(scene_, own.method == scene_.solver.method ? "" : own.method, notes)) {
    apply_turned(*twin);
    twin->simulation->set_step(h);
    if (twin->simulation->restore(sim.save()).has_errors()) {
      twin->simulation->set_state(x, v);
      twin->simulation->set_time(sim.time(), sim.frame());
    }
    const StepReport report = twin->simulation->step();
    if (report) {
      const std::vector<Vec3> at = twin->simulation->positions();
      step = account(*twin->simulation, at, vertex);
      step.set("target", twin->simulation->measure().target_total);
      step.set("multiplier", report.multiplier);
      step.set("multiplier_p", vec(report.multiplier_p)), step.set("multiplier_l", vec(report.multiplier_l));
      step.set("iterations", report.iterations), step.set("substeps", report.substeps);
      step.set("error_p", report.error_p), step.set("error_l", report.error_l), step.set("error_h", report.error_h);
      if (found_body >= 0) step.set("stretch", of_element(at));
    }
  }
  out.set("after", std::move(step));
  answers_.push_back(write_json(out));
}

}  // namespace verve::live
