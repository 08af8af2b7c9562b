#include <doctest/doctest.h>

#include "potentials/anchor.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<Vec4> random_positions(int n, std::uint64_t seed) {
  std::vector<Vec4> x(n);
  for (int v = 0; v < n; ++v) x[v] = Vec4(random_in_ball(seed, v));
  return x;
}

template <class Term>
void check_slope(const Term& term, std::vector<Vec4> x) {
  std::vector<Vec4> gradient(x.size()), ignored(x.size());
  term.add_gradient(x.data(), gradient.data());
  const double d = 1e-4;  // the energy is quadratic: central differences are exact up to round-off eps E/d
  for (size_t v = 0; v < x.size(); ++v) {
    for (double Vec4::*axis : {&Vec4::x, &Vec4::y, &Vec4::z}) {
      const double keep = x[v].*axis;
      x[v].*axis = keep + d;
      const double up = term.add_gradient(x.data(), ignored.data());
      x[v].*axis = keep - d;
      const double down = term.add_gradient(x.data(), ignored.data());
      x[v].*axis = keep;
      REQUIRE(std::abs((up - down) / (2 * d) - gradient[v].*axis) <= 1e-10 * length(gradient));
    }
  }
}

/// Links are part of the pattern, anchors to the world come on top of it.
void assemble(const BodyLinks& links, SymmetricAssembly& assembly) {
  links.add_weights(assembly);
  assembly.finish_pattern();
}
void assemble(const WorldAnchors& anchors, SymmetricAssembly& assembly) {
  assembly.finish_pattern();
  anchors.add_weights(assembly);
}

/// The assembled weights must be the exact Hessian of a quadratic energy: gradient(x + d) - gradient(x) = A d.
template <class Term>
void check_weights(const Term& term, const std::vector<Vec4>& x, const std::vector<Vec4>& d) {
  const int n = int(x.size());
  SymmetricAssembly assembly;
  assembly.begin_pattern(n);
  for (int v = 0; v < n; ++v) assembly.add(v, v, 0);
  assemble(term, assembly);
  std::vector<Vec4> moved_x = x, at(n), there(n), product(n);
  for (int v = 0; v < n; ++v) moved_x[v] += d[v];
  term.add_gradient(x.data(), at.data());
  term.add_gradient(moved_x.data(), there.data());
  const SymmetricMatrix& m = assembly.matrix();
  for (int c = 0; c < n; ++c) {
    for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
      product[m.row[k]] += d[c] * m.value[k];
      if (m.row[k] != c) product[c] += d[m.row[k]] * m.value[k];
    }
  }
  for (int v = 0; v < n; ++v) there[v] -= at[v];
  CHECK(distance(product, there) <= 1e-14 * (length(product) + length(at)));
}

WorldAnchors world_anchors() {
  WorldAnchors a;
  a.vertices = {1, 4, 2};
  a.points = {{0.3, 0.1, -0.2}, {1, 1, 1}, {0, 0, 0}};
  a.stiffness = 250;
  return a;
}

BodyLinks body_links() {
  BodyLinks links;
  links.pairs = {{0, 5}, {3, 1}, {0, 4}};
  links.stiffness = 80;
  return links;
}

}  // namespace

TEST_CASE("the gradient of anchors and links is the slope of their energy (Inventory C14)") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    check_slope(world_anchors(), random_positions(6, seed));
    check_slope(body_links(), random_positions(6, seed));
  }
}

TEST_CASE("the weights of anchors and links are their exact second derivative") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    check_weights(world_anchors(), random_positions(6, seed), random_positions(6, seed + 50));
    check_weights(body_links(), random_positions(6, seed), random_positions(6, seed + 50));
  }
}

TEST_CASE("links conserve both momenta of the pair, anchors to the world do not") {
  const auto x = random_positions(6, 3);
  std::vector<Vec4> g(6);
  const auto sums = [&](Vec3& force, Vec3& torque) {
    force = torque = {};
    for (int v = 0; v < 6; ++v) force += g[v].xyz(), torque += cross(x[v].xyz(), g[v].xyz());
  };
  Vec3 force, torque;
  body_links().add_gradient(x.data(), g.data());
  sums(force, torque);
  CHECK(norm(force) <= 1e-15 * length(g));
  CHECK(norm(torque) <= 1e-15 * length(g));
  std::fill(g.begin(), g.end(), Vec4());
  world_anchors().add_gradient(x.data(), g.data());
  sums(force, torque);
  CHECK(norm(force) > 0.1 * length(g));
  CHECK(norm(torque) > 0.01 * length(g));
}

TEST_CASE("an anchor without stiffness exerts nothing and keeps the pattern of the matrix") {
  WorldAnchors a = world_anchors();
  const auto x = random_positions(6, 4);
  const auto matrix = [&] {
    SymmetricAssembly assembly;
    assembly.begin_pattern(6);
    for (int v = 0; v < 6; ++v) assembly.add(v, v, 1);
    assemble(a, assembly);
    return assembly.matrix();
  };
  const SymmetricMatrix with = matrix();
  a.stiffness = 0;
  const SymmetricMatrix without = matrix();
  CHECK(without.row == with.row);
  for (int v = 0; v < 6; ++v) CHECK(without.value[v] == 1);
  for (const int v : a.vertices) CHECK(with.value[v] == 251);
  std::vector<Vec4> g(6);
  CHECK(a.add_gradient(x.data(), g.data()) == 0);
  CHECK(length(g) == 0);
}
