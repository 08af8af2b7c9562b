// A teddy bear of height 1, facing +z, arms stretched out to the sides.
#include "geometry/generators.h"
#include "geometry/implicit.h"

namespace verve {

namespace {

// from the soles at y = -0.5 to the ears
constexpr double height = 0.985;

double bear(const Vec3& q) {
  using namespace implicit;
  const Vec3 p{std::abs(q.x), q.y, q.z};  // left and right alike

  // torso with a round belly
  double d = ellipsoid(p, {0, -0.10, 0}, {0.195, 0.235, 0.165});
  d = blend(d, sphere(p, {0, -0.14, 0.06}, 0.155), 0.08);

  // arms and paws
  d = blend(d, limb(p, {0.12, 0.06, 0}, {0.40, 0.09, 0.02}, 0.072, 0.066), 0.06);
  d = blend(d, sphere(p, {0.415, 0.095, 0.025}, 0.076), 0.03);

  // legs and feet
  d = blend(d, limb(p, {0.10, -0.28, 0.0}, {0.145, -0.40, 0.03}, 0.095, 0.088), 0.05);
  d = blend(d, ellipsoid(p, {0.15, -0.425, 0.085}, {0.082, 0.075, 0.115}), 0.04);

  // head, snout, ears, tail
  double head = ellipsoid(p, {0, 0.255, 0.02}, {0.190, 0.165, 0.165});
  head = blend(head, ellipsoid(p, {0, 0.205, 0.165}, {0.088, 0.068, 0.085}), 0.035);
  head = blend(head, sphere(p, {0, 0.245, 0.235}, 0.032), 0.02);
  head = blend(head, ellipsoid(p, {0.145, 0.405, 0.0}, {0.080, 0.080, 0.050}), 0.03);
  d = blend(d, head, 0.05);
  return blend(d, sphere(p, {0, -0.25, -0.17}, 0.055), 0.03);
}

}  // namespace

// Resolution 23.25 comes nearest to the bear of Constrained Projective Dynamics (3743 vertices, 14025 tetrahedra),
// 18.15 to its small bear (1944, 6805).
Generator bear_generator() {
  return {{"bear", "a teddy bear facing +z, arms out to the sides", implicit_parameters("height", 23.25)},
          [](const Arguments& a) {
            return generate_implicit([](const Vec3& p) { return bear(p * height); }, {-0.52, -0.52, -0.26},
                                     {0.52, 0.52, 0.30}, a);
          }};
}

}  // namespace verve
