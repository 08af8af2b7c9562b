// How deep bodies are in each other, where that is known.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/interpenetration.h"
#include "verve/registry.h"

using namespace verve;

namespace {

Mesh box(const Vec3& size, int cells) {
  Expected<Mesh> mesh = generate_mesh(
      "box", {{"size", {size.x, size.y, size.z}}, {"cells", {double(cells), double(cells), double(cells)}}});
  REQUIRE(mesh.has_value());
  return std::move(*mesh);
}

Interpenetration::Deepest deepest(const Mesh& a, const Mesh& b, const Vec3& shift) {
  const std::vector<const Mesh*> meshes = {&a, &b};
  const std::vector<int> first = {0, int(a.vertices.size())};
  std::vector<Vec3> x = a.vertices;
  for (const Vec3& v : b.vertices) x.push_back(v + shift);
  return Interpenetration(meshes, first).deepest(x);
}

}  // namespace

TEST_CASE("bodies that are apart, or only touch, are not in each other") {
  const Mesh a = box({1, 1, 1}, 2);
  CHECK(deepest(a, a, {0, 1.5, 0}).depth == 0);
  CHECK(deepest(a, a, {0.1, 1, 0.2}).depth == 0);
  CHECK(deepest(a, a, {0.1, 1, 0.2}).body == -1);
}

TEST_CASE("the depth of a box in another is that by which they overlap, over the width of the thinner") {
  const Mesh a = box({1, 1, 1}, 2), b = box({0.5, 0.2, 0.3}, 2);
  const Interpenetration::Deepest found = deepest(a, b, {0.1, 0.6 - 0.03, 0.05});
  CHECK(found.depth == doctest::Approx(0.03).epsilon(1e-9));
  CHECK(found.share == doctest::Approx(0.03 / 0.2).epsilon(1e-9));
  CHECK(found.body + found.other == 1);  // each has vertices as deep in the other
}

TEST_CASE("bars that cross by their edges alone are found in each other, though no vertex is") {
  // turned by 45 degrees about their lengths: edges 0.1 sqrt 2 from the axes
  Mesh a = box({2, 0.2, 0.2}, 1), b = box({0.2, 0.2, 2}, 1);
  const double c = std::sqrt(0.5);
  for (Vec3& v : a.vertices) v = {v.x, c * (v.y - v.z), c * (v.y + v.z)};
  for (Vec3& v : b.vertices) v = {c * (v.x - v.y), c * (v.x + v.y), v.z};
  const double sunk = 0.01;
  const Interpenetration::Deepest found = deepest(a, b, {0, 0.2 * std::sqrt(2.0) - sunk, 0});
  // the middle of an edge, below two faces at 45 degrees
  CHECK(found.depth == doctest::Approx(sunk * c).epsilon(1e-9));
  CHECK(found.share == doctest::Approx(sunk * c / 0.2).epsilon(1e-9));
}

TEST_CASE("elements turned inside out have an inside too") {
  Mesh a = box({1, 1, 1}, 1), b = box({0.2, 0.2, 0.2}, 1);
  const std::vector<const Mesh*> meshes = {&a, &b};
  const std::vector<int> first = {0, int(a.vertices.size())};
  std::vector<Vec3> x;
  for (const Vec3& v : a.vertices) x.push_back({v.x, -v.y, v.z});
  for (const Vec3& v : b.vertices) x.push_back(v);
  CHECK(Interpenetration(meshes, first).deepest(x).depth > 0.39);
}
