// A small round car of length 1, facing +x.
#include "geometry/generators.h"
#include "geometry/implicit.h"

namespace verve {

namespace {

// from bumper to bumper
constexpr double length = 0.985;

/// What is left of a without b, with a fillet of about k.
double carve(double a, double b, double k) { return -implicit::blend(-a, b, k); }

double car(const Vec3& q) {
  using namespace implicit;
  const Vec3 p{q.x, q.y, std::abs(q.z)};  // left and right alike

  // lower body, a little higher in the middle, and the cabin, narrower towards its roof
  double d = rounded_box(p, {0, -0.035, 0}, {0.465, 0.105, 0.205}, 0.085);
  d = blend(d, ellipsoid(p, {0.27, 0.015, 0}, {0.20, 0.065, 0.17}), 0.06);  // bonnet
  const double narrow = 1 + 0.9 * std::max(p.y, 0.0);
  const Vec3 c{-0.06 + (p.x + 0.06) * narrow, p.y, p.z * narrow};
  const double cabin = rounded_box(c, {-0.06, 0.10, 0}, {0.275, 0.145, 0.205}, 0.10) / (1.25 * narrow);
  d = blend(d, cabin, 0.05);

  // windows: shallow hollows at the sides, in front and behind
  const double side = rounded_box(p, {-0.055, 0.130, 0.20}, {0.150, 0.048, 0.056}, 0.03);
  const double pillar = rounded_box(p, {-0.055, 0.130, 0.20}, {0.014, 0.2, 0.2}, 0.005);
  d = carve(d, carve(side, pillar, 0.008), 0.012);
  d = carve(d, rounded_box(p, {0.205, 0.132, 0}, {0.048, 0.050, 0.125}, 0.03), 0.012);
  d = carve(d, rounded_box(p, {-0.320, 0.132, 0}, {0.045, 0.046, 0.115}, 0.03), 0.012);

  // wheel arches and wheels, which sit on the inner walls of the arches
  for (const double x : {0.275, -0.275}) {
    d = carve(d, cylinder(p, {x, -0.115, 0.215}, 2, 0.095, 0.128, 0.02), 0.02);
    double wheel = cylinder(p, {x, -0.125, 0.162}, 2, 0.058, 0.096, 0.03);
    wheel = carve(wheel, cylinder(p, {x, -0.125, 0.225}, 2, 0.022, 0.056, 0.012), 0.012);
    wheel = blend(wheel, sphere(p, {x, -0.125, 0.192}, 0.026), 0.012);  // hub
    d = std::min(d, wheel);
  }

  // bumpers, headlights, tail lights
  d = blend(d, limb(p, {0.455, -0.085, 0}, {0.435, -0.085, 0.165}, 0.037, 0.037), 0.012);
  d = blend(d, limb(p, {-0.455, -0.085, 0}, {-0.435, -0.085, 0.165}, 0.037, 0.037), 0.012);
  d = blend(d, sphere(p, {0.436, 0.022, 0.128}, 0.055), 0.008);
  return blend(d, ellipsoid(p, {-0.450, 0.010, 0.140}, {0.030, 0.030, 0.040}), 0.012);
}

}  // namespace

Generator car_generator() {
  return {{"car", "a small round car facing +x", implicit_parameters("length", 40)}, [](const Arguments& a) {
            return generate_implicit([](const Vec3& p) { return car(p * length); }, {-0.52, -0.26, -0.26},
                                     {0.52, 0.27, 0.26}, a);
          }};
}

}  // namespace verve
