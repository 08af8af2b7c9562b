// A hippopotamus of length 1, facing +x.
#include "geometry/generators.h"
#include "geometry/implicit.h"

namespace verve {

namespace {

// from the snout at x = 0.48 to the tail
constexpr double length = 0.985;

double hippo(const Vec3& q) {
  using namespace implicit;
  const Vec3 p{q.x, q.y, std::abs(q.z)};  // left and right alike

  // barrel body with a hanging belly
  double d = ellipsoid(p, {-0.14, 0.005, 0}, {0.275, 0.150, 0.150});
  d = blend(d, ellipsoid(p, {-0.11, -0.045, 0}, {0.20, 0.142, 0.155}), 0.06);

  // neck and head: a narrow skull, a broad blunt snout, and everything a hippo keeps above the water
  double head = ellipsoid(p, {0.23, 0.115, 0}, {0.130, 0.105, 0.100});
  head = blend(head, rounded_box(p, {0.370, 0.045, 0}, {0.110, 0.086, 0.142}, 0.07), 0.07);
  head = blend(head, sphere(p, {0.425, 0.125, 0.072}, 0.042), 0.03);                     // nostrils
  head = blend(head, sphere(p, {0.245, 0.205, 0.070}, 0.042), 0.025);                    // eyes
  head = blend(head, ellipsoid(p, {0.150, 0.205, 0.085}, {0.042, 0.062, 0.046}), 0.04);  // ears
  d = blend(d, limb(p, {0.04, 0.04, 0}, {0.21, 0.09, 0}, 0.120, 0.090), 0.06);
  d = blend(d, head, 0.04);

  // four stubby legs, flat below
  d = blend(d, cylinder(p, {0.035, -0.16, 0.102}, 1, 0.120, 0.066, 0.04), 0.05);
  d = blend(d, cylinder(p, {-0.31, -0.16, 0.102}, 1, 0.120, 0.066, 0.04), 0.05);

  // tail stub
  return blend(d, limb(p, {-0.40, 0.06, 0}, {-0.465, 0.0, 0}, 0.038, 0.040), 0.03);
}

}  // namespace

// Resolution 21.9 comes nearest to the hippo of Constrained Projective Dynamics (2387 vertices, 8406 tetrahedra).
Generator hippo_generator() {
  return {{"hippo", "a hippopotamus facing +x", implicit_parameters("length", 21.9)}, [](const Arguments& a) {
            return generate_implicit([](const Vec3& p) { return hippo(p * length); }, {-0.53, -0.345, -0.26},
                                     {0.55, 0.315, 0.26}, a);
          }};
}

}  // namespace verve
