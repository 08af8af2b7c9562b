#include "model/plasticity.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "base/parallel.h"
#include "linear/small.h"
#include "model/model.h"

namespace verve {

namespace {

constexpr int grain = 128;  // elements per task
/// Strain above the limit, in units of it, that stays: what is nearer to the limit has arrived there [1].
constexpr double arrived = 1e-4;
/// Most that the shape without energy may be longer or shorter than that of the mesh, along any axis: beyond, elements
/// are too thin to be simulated, and what flows no further is elastic [1].
constexpr double longest = 4;
/// Likewise of the angle of a hinge, which is no angle any more at pi [rad].
constexpr double sharpest = 0.9 * std::numbers::pi;
/// Change of a shape without energy after which the matrix follows. It costs iterations, not accuracy: weights that are
/// off by twice as much are still well inside the factor of two within which a local/global iteration converges [1].
constexpr double matrix_slack = 0.05;

Vec3 turned(const Vec3& v, const Vec3& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return v * c + cross(axis, v) * s + axis * (dot(axis, v) * (1 - c));
}

/// The part of a strain above its limit that flows in this time. The limit grows by `hardening` of it meanwhile.
struct Rule {
  double yield, hardening, share;
  double operator()(double strain, double flowed) const {
    const double limit = yield + hardening * flowed, over = strain - limit;
    return over > arrived * limit ? share * over / (1 + hardening) : 0;
  }
};

/// What flows of an element, whose differences at rest are changed by it. 0: nothing.
double flow_edge(const Rule& rule, const Vec3* now, const Vec3* mesh, double flowed, Vec3* rest) {
  const double length = norm(now[0]), before = norm(rest[0]);
  if (!(length > 0)) return 0;
  const double strain = std::log(length / before), amount = rule(std::abs(strain), flowed);
  if (amount == 0) return 0;
  const double factor = std::exp(std::copysign(amount, strain)), ratio = before * factor / norm(mesh[0]);
  if (!(ratio < longest && ratio * longest > 1)) return 0;
  rest[0] = rest[0] * factor;
  return amount;
}

/// No axis of what has flowed, from the mesh to the shape at rest, is longer or shorter than may be.
bool stays_simple(const Mat3& whole) {
  Mat3 axes;
  const Vec3 squares = symmetric_eigen(transpose(whole) * whole, axes);
  for (int a = 0; a < 3; ++a)
    if (!(squares[a] < longest * longest && squares[a] * longest * longest > 1)) return false;
  return true;
}

/// F = F_e F_p with det F_p = 1: the logarithmic strain of F_e less its volume, by its size sqrt(2/3) |dev ln V|, goes
/// down to the limit, and F_p takes it up (Simo 1992; Irving, Teran, Fedkiw 2004). In place of F_p the shape at rest
/// changes, so that F_e is what the potential sees.
double flow_tetrahedron(const Rule& rule, const Vec3* now, const Vec3* mesh, double flowed, Vec3* rest) {
  const Mat3 D{{rest[0], rest[1], rest[2]}}, F = Mat3{{now[0], now[1], now[2]}} * inverse(D);
  if (!(det(F) > 0)) return 0;  // what is inside out shall turn back, and not stay so
  Mat3 axes;
  const Vec3 squares = symmetric_eigen(transpose(F) * F, axes);
  Vec3 strain;
  for (int a = 0; a < 3; ++a) {
    if (!(squares[a] > 0)) return 0;
    strain[a] = 0.5 * std::log(squares[a]);
  }
  const double mean = (strain.x + strain.y + strain.z) / 3;
  strain -= Vec3{mean, mean, mean};
  const double size = std::sqrt(2.0 / 3) * norm(strain), amount = rule(size, flowed);
  if (amount == 0) return 0;
  Mat3 scaled = axes;
  for (int a = 0; a < 3; ++a) scaled.col[a] = scaled.col[a] * std::exp(amount / size * strain[a]);
  const Mat3 shape = scaled * transpose(axes) * D, whole = shape * inverse(Mat3{{mesh[0], mesh[1], mesh[2]}});
  if (!stays_simple(whole)) return 0;
  for (int i = 0; i < 3; ++i) rest[i] = shape.col[i];
  return amount;
}

/// A triangle in the axes of the mesh's plane, with a third one that nothing changes.
Mat3 in_plane(const Vec3* d, const Vec3& u, const Vec3& w) {
  return {{Vec3{dot(d[0], u), dot(d[0], w), 0}, Vec3{dot(d[1], u), dot(d[1], w), 0}, Vec3{0, 0, 1}}};
}

/// Plane stress of what keeps its volume when it flows: a sheet becomes thinner as its area grows. Both strains go down
/// together, by the size that (e1, e2, -e1 - e2) has in a solid.
double flow_triangle(const Rule& rule, const Vec3* now, const Vec3* mesh, double flowed, Vec3* rest) {
  const Vec3 u = mesh[0] / norm(mesh[0]), side = mesh[1] - u * dot(mesh[1], u), w = side / norm(side);
  const Mat3 D = in_plane(rest, u, w), inverse_D = inverse(D);
  const double mixed = dot(now[0], now[1]);
  const Mat3 products{
      {Vec3{dot(now[0], now[0]), mixed, 0}, Vec3{mixed, dot(now[1], now[1]), 0}, Vec3{0, 0, 1}}};
  Mat3 axes;
  const Vec3 squares = symmetric_eigen(transpose(inverse_D) * products * inverse_D, axes);
  Vec3 strain;
  for (int a = 0; a < 3; ++a) {
    if (!(squares[a] > 0)) return 0;
    strain[a] = 0.5 * std::log(squares[a]);
  }
  const double sum = strain.x + strain.y + strain.z, size = std::sqrt(2.0 / 3 * (dot(strain, strain) + sum * sum));
  const double amount = rule(size, flowed);
  if (amount == 0) return 0;
  Mat3 scaled = axes;
  for (int a = 0; a < 3; ++a) scaled.col[a] = scaled.col[a] * std::exp(amount / size * strain[a]);
  const Mat3 shape = scaled * transpose(axes) * D, whole = shape * inverse(in_plane(mesh, u, w));
  if (!stays_simple(whole)) return 0;
  for (int i = 0; i < 2; ++i) rest[i] = u * shape.col[i].x + w * shape.col[i].y;
  return amount;
}

double angle_of_hinge(const Vec3* d) {
  const Vec3 left = cross(d[0], d[1]), right = cross(d[2], d[0]);
  return std::atan2(dot(d[0], cross(left, right)) / norm(d[0]), dot(left, right));
}

double flow_hinge(const Rule& rule, const Vec3* now, double per_turn, double flowed, Vec3* rest) {
  const double angle = angle_of_hinge(now), before = angle_of_hinge(rest);
  if (!std::isfinite(angle)) return 0;
  const double turn = std::remainder(angle - before, 2 * std::numbers::pi);
  const double amount = rule(std::abs(turn) * per_turn, flowed);
  if (amount == 0) return 0;
  const double by = std::copysign(amount / per_turn, turn);
  if (!(std::abs(before + by) < sharpest)) return 0;
  rest[2] = turned(rest[2], rest[0] / norm(rest[0]), by);
  return amount;
}

/// By |z| of rod_bending, the change of the tangent: how far a joint is bent, not in which plane.
double flow_joint(const Rule& rule, const Vec3* now, double per_turn, double flowed, Vec3* rest) {
  const double before_length = norm(rest[0]), after_length = norm(rest[1]);
  const Vec3 u = rest[0] / before_length, w = rest[1] / after_length;
  const double size = norm(now[0] / before_length + now[1] / after_length), before = norm(u + w);
  const double change = size - before, amount = rule(std::abs(change) * per_turn, flowed);
  if (amount == 0) return 0;
  const double after = before + std::copysign(amount / per_turn, change);
  if (!(after >= 0 && after < 2 * std::sin(0.5 * sharpest))) return 0;
  Vec3 side = w - u * dot(u, w);
  if (!(norm(side) > 1e-9)) side = cross(u, std::abs(u.x) < 0.5 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
  const double angle = 2 * std::asin(0.5 * after);
  rest[1] = (u * -std::cos(angle) + side * (std::sin(angle) / norm(side))) * after_length;
  return amount;
}

}  // namespace

Plasticity::Plasticity(const Body& body, std::span<const std::unique_ptr<Potential>> potentials, const BodySpec& spec) {
  for (size_t k = 0; k < potentials.size(); ++k) {
    const PotentialSpec& given = spec.potentials[k];
    if (!given.yield) continue;
    const Potential& potential = *potentials[k];
    const std::string kind = find_potential(given.type)->info.elements;
    Part& part = parts_.emplace_back();
    part.potential = int(k), part.corners = potential.elements() > 0 ? potential.corners(0) : 2;
    part.kind = kind == "edges"        ? Kind::edge
                : kind == "triangles"  ? Kind::triangle
                : kind == "tetrahedra" ? Kind::tetrahedron
                : kind == "hinges"     ? Kind::hinge
                                       : Kind::joint;
    part.yield = *given.yield, part.hardening = given.hardening, part.creep = given.creep;
    for (int e = 0; e < potential.elements(); ++e) {
      const Vec4 first = body.rest[potential.vertex(e, 0)];
      for (int i = 1; i < part.corners; ++i)
        part.rest.push_back((body.rest[potential.vertex(e, i)] - first).xyz());
      const Vec3* const d = &part.rest[size_t(e) * (part.corners - 1)];
      if (part.kind == Kind::hinge)  // with its third of the two triangles it has the energy of that curvature
        part.per_turn.push_back(2 * std::sqrt(3.0) * norm(d[0]) / (norm(cross(d[0], d[1])) + norm(cross(d[0], d[2]))));
      if (part.kind == Kind::joint) part.per_turn.push_back(2 / (norm(d[0]) + norm(d[1])));
    }
  }
}

PlasticFlow Plasticity::at_rest(int k) const {
  const Part& part = parts_[k];
  return {part.rest, std::vector<double>(part.rest.size() / (part.corners - 1), 0.0),
          std::make_shared<const std::vector<Vec3>>(part.rest)};
}

bool Plasticity::flow(int k, const Potential& potential, const Vec4* x, double h, PlasticFlow& state) const {
  const Part& part = parts_[k];
  const int n = part.corners - 1;
  const Rule rule{part.yield, part.hardening, part.creep ? -std::expm1(-*part.creep * h) : 1};
  const std::vector<char>& gone = potential.removed();
  std::atomic<bool> changed = false;
  parallel_for(potential.elements(), grain, [&](int begin, int end, int) {
    for (int e = begin; e < end; ++e) {
      if (!gone.empty() && gone[e]) continue;
      Vec3 now[3], rest[3];
      Vec3* const kept = &state.rest[size_t(e) * n];
      const Vec3* const mesh = &part.rest[size_t(e) * n];
      for (int i = 0; i < n; ++i)
        now[i] = (x[potential.vertex(e, i + 1)] - x[potential.vertex(e, 0)]).xyz(), rest[i] = kept[i];
      const double flowed = state.flowed[e];
      const double amount = part.kind == Kind::edge          ? flow_edge(rule, now, mesh, flowed, rest)
                            : part.kind == Kind::triangle    ? flow_triangle(rule, now, mesh, flowed, rest)
                            : part.kind == Kind::tetrahedron ? flow_tetrahedron(rule, now, mesh, flowed, rest)
                            : part.kind == Kind::hinge       ? flow_hinge(rule, now, part.per_turn[e], flowed, rest)
                                                             : flow_joint(rule, now, part.per_turn[e], flowed, rest);
      // Energy goes down where stretches that are greater have greater forces (Baker and Ericksen); of some materials
      // that fails when they are crushed, and then nothing flows.
      if (!(amount > 0) || !(potential.energy_from(rest, e, x) <= potential.energy_from(kept, e, x))) continue;
      std::copy_n(rest, n, kept);
      state.flowed[e] += amount;
      changed.store(true, std::memory_order_relaxed);
    }
  });
  return changed;
}

bool Plasticity::has_left_matrix(const PlasticFlow& state) {
  for (size_t i = 0; i < state.rest.size(); ++i)
    if (norm(state.rest[i] - (*state.in_matrix)[i]) > matrix_slack * norm((*state.in_matrix)[i])) return true;
  return false;
}

}  // namespace verve
