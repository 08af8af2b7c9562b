// A cottage of width 1 with its gable to +z, standing on y = 0. Its parts are cut from one lattice: where one reaches
// into another, their vertices coincide.
#include "geometry/generators.h"
#include "geometry/implicit.h"
#include "geometry/stuffing.h"

namespace verve {

namespace {

enum Part { everything, walls_only, roof_only, openings_only };

/// Beyond the two slopes of a roof whose ridge is at this height.
double slopes(const Vec3& p, double ridge) { return (std::abs(p.x) + p.y - ridge) / std::sqrt(2.0); }

double walls(const Vec3& p) {
  using namespace implicit;
  const double flare = 1 - 0.10 * (p.y - 0.5);  // wider towards the eaves
  const Vec3 q{p.x * flare, p.y, p.z * flare};
  return std::max(rounded_box(q, {0, 0.45, 0}, {0.46, 0.70, 0.36}, 0.03), slopes(p, 1.02));
}

double door(const Vec3& p, double more) {
  return implicit::rounded_box(p, {0, 0.16, 0.30}, {0.105 + more, 0.24 + more, 0.16}, 0.05);
}
double windows(const Vec3& p, double more) {
  using namespace implicit;
  const Vec3 q{std::abs(p.x), p.y, std::abs(p.z)};
  const double front = rounded_box(q, {0.285, 0.33, 0.30}, {0.085 + more, 0.095 + more, 0.16}, 0.02);
  const double gable = cylinder(p, {0, 0.70, 0.30}, 2, 0.16, 0.075 + more, 0.01);
  const double side = rounded_box(q, {0.40, 0.33, 0}, {0.16, 0.095 + more, 0.11 + more}, 0.02);
  return std::min({front, gable, side});
}
/// A little behind the face of the wall and reaching deep into it.
double openings(const Vec3& p) { return std::max(std::min(door(p, 0), windows(p, 0)), walls(p) + 0.018); }

double roof(const Vec3& p) {
  using namespace implicit;
  double d = std::max({slopes(p, 1.18), -slopes(p, 1.0), std::abs(p.z) - 0.46, std::abs(p.x) - 0.63});
  // hidden under it, in the top of the walls
  const double attic = std::max(rounded_box(p, {0, 0.72, 0}, {0.30, 0.20, 0.24}, 0.02), slopes(p, 1.06));
  d = std::min(d, attic);
  const double stack = rounded_box(p, {0.25, 1.02, -0.12}, {0.075, 0.24, 0.075}, 0.015);
  const double rim = rounded_box(p, {0.25, 1.235, -0.12}, {0.095, 0.035, 0.095}, 0.015);
  return std::min({d, stack, rim});
}

double house(const Vec3& x, Part part) {
  // crooked with age: it leans, and the ridge sags
  const Vec3 p{x.x - 0.07 * x.y * x.y, x.y - 0.22 * x.z * x.z * std::max(0.0, x.y), x.z};
  // recesses for door and windows, and a room
  const double recess = std::max(std::min(door(p, 0.012), windows(p, 0.012)), -walls(p) - 0.035);
  const double room = implicit::rounded_box(p, {0, 0.17, 0}, {0.27, 0.25, 0.17}, 0.05);
  const double body = std::max(walls(p), -x.y), shell = std::max({body, -recess, -room});
  switch (part) {
    case walls_only:
      return shell;
    case roof_only:
      return roof(p);
    case openings_only:
      return std::max(openings(p), body);
    default:
      return std::min({shell, roof(p), std::max(openings(p), body)});
  }
}

}  // namespace

Generator house_generator() {
  std::vector<ParameterInfo> parameters = implicit_parameters("width of the walls", 14);
  parameters.push_back(count_parameter(
      "part", "0 all of it; 1 walls, 2 roof with chimney, 3 door and windows: they share vertices inside", {0}, 0, 3));
  return {{"house", "a crooked cottage with its gable to +z, standing on y = 0", parameters}, [](const Arguments& a) {
            const Part part = Part(a.whole("part"));
            const auto distance = [part](const Vec3& p) { return house(p, part); };
            const Vec3 lower{-0.8, -0.1, -0.6}, upper{0.8, 1.5, 0.6};
            const double spacing = 1 / a.number("resolution");
            Expected<Mesh> mesh = a.only_skin() ? stuffing_skin(distance, lower, upper, spacing)
                                                : tetrahedralize(distance, lower, upper, spacing);
            if (mesh)
              for (Vec3& p : mesh->vertices) p *= a.number("size");
            return mesh;
          }};
}

}  // namespace verve
