#include "integrators/body_speeds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace verve {

namespace {

/// Of what forces make of its velocity in a step: a slower body counts as at rest.
constexpr double rest_speed = 0.03;
/// Of the fastest body: slower ones need not be more exact.
constexpr double slowest = 1e-2;

}  // namespace

bool BodySpeeds::find(const Island& island, double h) {
  speeds_.clear();
  bool rest = true;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = island.body(int(k));
    const int first = island.offset(int(k));
    double v = 0, a = 0;
    for (int r = 0; r < body.count; ++r) {
      const Vec4 &velocity = island.motion.v[first + r], &acceleration = island.forcing.acceleration[first + r];
      v += body.mass[r] * dot(velocity, velocity), a += body.mass[r] * dot(acceleration, acceleration);
    }
    v = std::sqrt(v / body.total_mass), a = h * std::sqrt(a / body.total_mass);
    speeds_.push_back(v + a);
    rest = rest && v < rest_speed * a;
  }
  const double fastest = *std::max_element(speeds_.begin(), speeds_.end());
  for (double& speed : speeds_) speed = std::max(speed, slowest * fastest);
  return rest;
}

double BodySpeeds::share(int body, double dv) const {
  if (!(dv > 0)) return 0;
  return speeds_[body] > 0 ? dv / speeds_[body] : std::numeric_limits<double>::infinity();
}

double BodySpeeds::largest_change(const Island& island, const std::vector<Vec4>& from, const std::vector<Vec4>& to,
                                  double hh) const {
  double largest = 0;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = island.body(int(k));
    const int first = island.offset(int(k));
    double sum = 0;
    for (int i = first; i < first + body.count; ++i) {
      const Vec4 d = to[i] - from[i];
      sum += island.forcing.mass[i] * dot(d, d);
    }
    largest = std::max(largest, share(int(k), std::sqrt(sum / body.total_mass) / hh));
  }
  return largest;
}

}  // namespace verve
