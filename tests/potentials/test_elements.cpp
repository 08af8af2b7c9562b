// Each potential against its own closed form.
#include <doctest/doctest.h>

#include "potentials/spring.h"
#include "potentials/tet_strain.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("the energy of a spring is k/2 (|z| - l)^2") {
  const Mesh mesh = mesh_of("spring", {{"length", {2}}});
  const auto batch = make(*find_potential("spring"), mesh, {{"stiffness", 30}});
  for (const double length_now : {0.5, 1.0, 2.0, 3.5, 100.0}) {
    const std::vector<Vec4> x{{1, 2, 3}, {1, 2 + length_now, 3}};
    const Slope s = slope(*batch, x);
    CHECK(s.energy == doctest::Approx(15 * (length_now - 2) * (length_now - 2)).epsilon(1e-13));
    CHECK(s.gradient[1].y == doctest::Approx(30 * (length_now - 2)).epsilon(1e-13));
    CHECK(s.gradient[0].y == -s.gradient[1].y);
  }
}

TEST_CASE("a spring projects onto its exact length, also from zero (Inventory C03)") {
  const Spring::Element<double> e{1, 0.7};
  for (std::uint64_t k = 0; k < 10000; ++k) {
    const Vec3 z = random_in_ball(1, k) * std::pow(10.0, 6 * random_signed(2, k));
    const Vec3 p = Spring::project(e, Columns<double, 1>{z})[0];
    REQUIRE(std::abs(norm(p) - 0.7) <= 4e-16 * 0.7);  // four roundings
    REQUIRE(dot(p, z) > 0);
    REQUIRE(norm(cross(p, z)) <= 1e-15 * norm(p) * norm(z));
  }
  const Vec3 p = Spring::project(e, Columns<double, 1>{})[0];
  CHECK(norm(p) == 0.7);
}

TEST_CASE("a collapsed spring or tetrahedron has a finite gradient") {
  for (const PotentialEntry& entry : potential_registry()) {
    const Mesh mesh = suitable_mesh(entry.info);
    const auto batch = make(entry, mesh);
    const std::vector<Vec4> x(mesh.vertices.size(), Vec4(0.3, 0.3, 0.3));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const Slope s = slope(*batch, x, precision);
      CHECK(std::isfinite(s.energy));
      CHECK((entry.info.slack ? s.energy >= 0 : s.energy > 0));
      CHECK(std::isfinite(length(s.gradient)));
    }
  }
}

TEST_CASE("a tetrahedron projects onto rotations: determinant +1, orthogonal to 1e-12 (Inventory C03)") {
  const Mesh mesh = suitable_mesh(find_potential("tet_strain")->info);
  const auto batch = make(*find_potential("tet_strain"), mesh);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Projection at = project(*batch, deformed(mesh, 0.1 + 0.1 * double(seed), seed));
    for (int e = 0; e < batch->elements(); ++e) {
      const Mat3 r{{at.p[3 * e], at.p[3 * e + 1], at.p[3 * e + 2]}};
      REQUIRE(std::sqrt(squared_norm(transpose(r) * r - Mat3::identity())) <= 1e-12);
      REQUIRE(std::abs(det(r) - 1) <= 1e-12);
    }
  }
}

TEST_CASE("the energy of a stretched block is mu V |F - R|^2") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 2, 3}}, {"cells", {2, 2, 2}}});
  const auto batch = make(*find_potential("tet_strain"), mesh, {{"mu", 500}});
  for (const Vec3& s : {Vec3{1.3, 1, 1}, Vec3{0.5, 1.2, 2}, Vec3{3, 3, 3}, Vec3{0, 1, 1}, Vec3{-0.5, 1, 1}}) {
    std::vector<Vec4> x;
    for (const Vec3& v : mesh.vertices) x.push_back(Vec4(v.x * s.x, v.y * s.y, v.z * s.z));
    // the smallest of the three carries the sign of the determinant: for (-0.5, 1, 1) the nearest rotation is the
    // identity, since tr F = 1.5 is the largest tr(R^T F)
    const double expected = 500 * 6 * ((s.x - 1) * (s.x - 1) + (s.y - 1) * (s.y - 1) + (s.z - 1) * (s.z - 1));
    CHECK(batch->energy(x.data()) == doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("Young's modulus of strain without a term of volume stands for mu = E / 2") {
  const PotentialEntry& entry = *find_potential("tet_strain");
  const Mesh mesh = suitable_mesh(entry.info);
  const auto by_mu = make(entry, mesh, {{"mu", 4000}}),
             by_young = make(entry, mesh, {{"young", 8000}});
  for (int e = 0; e < by_mu->elements(); ++e)
    REQUIRE(by_young->weight(e) == doctest::Approx(by_mu->weight(e)).epsilon(1e-14));
  double volume = 0;
  for (int e = 0; e < by_mu->elements(); ++e) volume += by_mu->weight(e) / (2 * 4000);
  CHECK(volume == doctest::Approx(1 * 1.2 * 0.8).epsilon(1e-13));
  CHECK_FALSE(entry.check({{"mu", 1}, {"young", 1}}).empty());
  CHECK(entry.check({{"young", 1}}).empty());
  CHECK(entry.check({{"young", 1}, {"poisson", 0}}).empty());
  CHECK_FALSE(entry.check({{"poisson", 0}}).empty());
  CHECK(entry.check({{"young", 1}, {"poisson", 0.3}}).find("found poisson 0.3, expected 0") != std::string::npos);
}
