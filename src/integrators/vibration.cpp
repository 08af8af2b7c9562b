#include "integrators/vibration.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/ranks.h"
#include "potentials/polar.h"

namespace verve {

namespace {

/// Of the distance to the rest shape: below that of its size it is round-off [1].
constexpr double least_distance = 1e-18;
/// Of a compression, whose square is far above round-off, and small beside any deformation that counts [1].
constexpr double strain = 1e-3;
constexpr int grain = 1024;  // rows

}  // namespace

double strike_speed(const ContactRow& row, const Island& island, double h) {
  const double speed = -row.along(island.motion.v.data());
  return speed > 3 * h * std::abs(row.along(island.forcing.acceleration.data())) ? speed : 0;
}

std::optional<Deformation> Vibration::deformation(const Island& island) {
  double distance = 0;
  for (int k = 0; k < int(island.bodies().size()); ++k) {
    const Body& body = island.body(k);
    const Vec4 *x = island.motion.x.data() + island.offset(k), *rest = island.rest().rows.data() + island.offset(k);
    const Vec3 origin = of_rank(is_first_rank(), x[0].xyz());
    const RowShape own = ordered_sum<RowShape>(body.count, grain, shape_parts_, [&](int begin, int end) {
      return shape_rows(body.mass.data(), x, rest, origin, begin, end);
    });
    const RowShape shape = sum_over_ranks(own);
    const Vec3 center = origin + shape.x / body.total_mass;
    const Mat3 rotation = nearest_rotation(shape.moment);
    distance += 0.5 * ordered_sum<double>(body.count, grain, distance_parts_, [&](int begin, int end) {
                  return distance_rows(body.mass.data(), x, rest, center, rotation, begin, end);
                });
  }
  distance = sum_over_ranks(distance);
  if (distance < least_distance * island.rest().size) return std::nullopt;
  return Deformation{island.energy_of_deformation(), distance};
}

/// Which bodies something presses on already, and along what others will be struck.
void Vibration::find_struck(const Island& island, double h) {
  const std::vector<int>& offsets = island.offsets();
  struck_.assign(island.bodies().size(), {});
  const auto body_of = [&](int row) {
    return int(std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin()) - 1;
  };
  for (const ContactRow& row : island.contacts.rows())
    for (int i = 0; i < row.count; ++i) struck_[body_of(row.rows[i])].pressed = true;
  for (const ContactRow& row : island.contacts.near_rows()) {
    const bool strikes = strike_speed(row, island, h) > 0;
    for (int i = 0; strikes && i < row.count; ++i) struck_[body_of(row.rows[i])].along += row.direction * row.share[i];
  }
}

/// Of a compression of a body along n: 2 W over |d|^2_M, with d = strain n n.(x - c).
double Vibration::stiffness_along(const Island& island, int k, const Vec3& n) {
  const Body& body = island.body(k);
  const Vec4* x = island.motion.x.data() + island.offset(k);
  Vec3 center{};
  for (int i = 0; i < body.count; ++i) center += x[i].xyz() * (body.mass[i] / body.total_mass);
  double curvature = 0, inertia = 0;
  x_.resize(body.count), gradient_.assign(body.count, {});
  for (const double e : {strain, -strain, 0.0}) {
    for (int i = 0; i < body.count; ++i) x_[i] = x[i] + Vec4(n * (e * dot(n, x[i].xyz() - center)));
    for (const auto& potential : island.potentials(k))
      curvature += (e == 0 ? -2 : 1) * potential->add_gradient(x_.data(), gradient_.data(), Precision::float64);
  }
  for (int i = 0; i < body.count; ++i) {
    const double d = strain * dot(n, x[i].xyz() - center);
    inertia += body.mass[i] * d * d;
  }
  return inertia > 0 ? curvature / inertia : 0;
}

bool Vibration::strikes(const Island& island, double h) {
  find_struck(island, h);
  return std::any_of(struck_.begin(), struck_.end(),
                     [](const Struck& body) { return !body.pressed && norm(body.along) > 0; });
}

double Vibration::impact_phase(const Island& island, double h) {
  if (island.contacts.near_rows().empty()) return 0;
  find_struck(island, h);
  double fastest = 0;
  for (int k = 0; k < int(struck_.size()); ++k) {
    const double along = norm(struck_[k].along);
    if (!struck_[k].pressed && along > 0)
      fastest = std::max(fastest, stiffness_along(island, k, struck_[k].along / along));
  }
  return h * std::sqrt(fastest);
}

}  // namespace verve
