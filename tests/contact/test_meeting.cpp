// Stencils of what meets within the step: those of where it does.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/detection.h"

using namespace verve;
using namespace verve::test;

namespace {

/// A box of 0.4 m with 2 cells a side, and a small one whose lowest corner flies by `way` from `from`.
Contacts flight(const Vec3& from, const Vec3& way, const Vec3& drift = {}) {
  Arrangement a;
  const Mesh large = box_mesh({0.4, 0.4, 0.4}, 2), small = box_mesh({0.02, 0.02, 0.02}, 1);
  a.add_body(large, large.vertices);
  std::vector<Vec3> at = small.vertices;
  for (Vec3& p : at) p += from;
  a.add_body(small, at);
  a.compile();
  a.predicted = a.x;
  for (size_t i = 0; i < a.x.size(); ++i) a.predicted[i] += Vec4(i < large.vertices.size() ? drift : drift + way);
  return a.contacts();
}

}  // namespace

TEST_CASE("what comes from beyond the edge of a box has the plane of the face that it strikes") {
  // from the right and above: nearest is the edge at (0.2, 0.2) where the step begins, and the top is struck
  for (const Vec3& drift : {Vec3{}, Vec3{30, -20, 10}}) {
    const Contacts found = flight({0.5, 0.41, 0.03}, {-0.8, -0.5, 0.02}, drift);
    int meet = 0;
    for (const Contacts::OnFaces& on : found.on_faces) {
      if (on.body != 1 || !(on.time > 0)) continue;
      ++meet;
      CHECK(on.row.direction.y == doctest::Approx(1).epsilon(1e-9));
      // where the step begins it is as far above that plane as it is above the box
      CHECK(on.depth <= 0);
      const double depth = on.offset - on.row.along(found.start.data());
      CHECK(depth == doctest::Approx(-(found.start[on.vertex].y - 0.2)).epsilon(1e-6));
    }
    CHECK(meet >= 4);
  }
}

TEST_CASE("bodies that pass each other, or rest, keep the stencils of where the step begins") {
  for (const Vec3& way : {Vec3{0, 0, 0}, Vec3{0.01, -0.01, 0}, Vec3{-0.5, 0.5, 0}}) {
    const Contacts found = flight({0.1, 0.24, 0.03}, way);
    found.each([&](const Contacts::Candidate& c) { CHECK(c.time == 0); });
  }
}
