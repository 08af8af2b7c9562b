// Gas inside closed surfaces.
#include <doctest/doctest.h>

#include "potentials/closed_surfaces.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<Vec4> scaled(const Mesh& mesh, const Vec3& factor) {
  std::vector<Vec4> x;
  for (const Vec3& v : mesh.vertices) x.push_back(Vec4(v.x * factor.x, v.y * factor.y, v.z * factor.z));
  return x;
}

std::string fault_of(const Mesh& mesh) {
  Diagnostics out;
  std::vector<int> row;
  for (size_t v = 0; v < mesh.vertices.size(); ++v) row.push_back(int(v));
  find_potential("pressure")->make({mesh, row, {}, {}, {}, {}, {}}, "p", out);
  return out.text();
}

/// A box with a cubic cavity in the middle: 3^3 cells without the central one.
Mesh hollow_box() {
  Mesh mesh = mesh_of("box", {{"size", {3, 3, 3}}, {"cells", {3, 3, 3}}});
  std::erase_if(mesh.tetrahedra, [&](const auto& t) {
    Vec3 c{};
    for (const int v : t) c += mesh.vertices[v] / 4.0;
    return std::abs(c.x) < 0.5 && std::abs(c.y) < 0.5 && std::abs(c.z) < 0.5;
  });
  return mesh;
}

}  // namespace

TEST_CASE("pressure follows Boyle's law, and pushes on each vertex by a third of the areas around it") {
  const Mesh mesh = mesh_of("sphere", {{"frequency", {4}}});
  const double rest = enclosed_volume(mesh.triangles, mesh.vertices);
  for (const double ambient : {0.0, 500.0}) {
    const auto gas = make(*find_potential("pressure"), mesh, {{"pressure", 200}, {"ambient", ambient}});
    for (const double s : {0.8, 1.0, 1.5, 3.0}) {
      const double volume = rest * s * s * s, p = (200 + ambient) * rest / volume - ambient;
      const Slope at = slope(*gas, scaled(mesh, {s, s, s}));
      std::vector<Vec4> force(mesh.vertices.size());
      for (const auto& t : mesh.triangles) {
        const auto& x = mesh.vertices;
        const Vec3 area = cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]) * (0.5 * s * s);
        for (const int v : t) force[v] += Vec4(area * (-p / 3));
      }
      CHECK(distance(at.gradient, force) <= 1e-13 * (length(force) + 200 * rest));
      CHECK(at.energy ==
            doctest::Approx(-(200 + ambient) * rest * std::log(s * s * s) + ambient * (volume - rest)).epsilon(1e-12));
    }
  }
}

TEST_CASE("flat and inverted surfaces have a finite pressure that grows, and no kink on the way") {
  const Mesh mesh = mesh_of("sphere", {{"frequency", {4}}});
  const double rest = enclosed_volume(mesh.triangles, mesh.vertices);
  const auto gas = make(*find_potential("pressure"), mesh, {{"pressure", 100}});
  const auto energy = [&](double ratio) { return gas->energy(scaled(mesh, {1, 1, ratio}).data()) / rest; };
  double last = 0;
  for (const double ratio : {0.5, 0.2, 0.1, 0.05, 0.0, -0.5, -1.0, -10.0}) {
    // dE/dV by central differences; E''' = 2 p/r^3 on the gas and 0 on the parabola
    const double d = 1e-5, p = -(energy(ratio + d) - energy(ratio - d)) / (2 * d);
    CAPTURE(ratio);
    CHECK(std::isfinite(p));
    CHECK(p > last);
    last = p;
  }
  CHECK(energy(0.0) == doctest::Approx(100 * (std::log(4.0) + 1.5)).epsilon(1e-12));  // parabola from a quarter down
  const double d = 1e-4;  // value, slope and curvature meet there: p/r^2 = 1600 on both sides
  const auto curvature = [&](double r) { return (energy(r + d) - 2 * energy(r) + energy(r - d)) / (d * d); };
  CHECK(curvature(0.25 + 2 * d) == doctest::Approx(1600).epsilon(1e-2));
  CHECK(curvature(0.25 - 2 * d) == doctest::Approx(1600).epsilon(1e-2));
}

TEST_CASE("its weights are at least the stiffness of the gas at rest") {
  const Mesh mesh = mesh_of("sphere", {{"frequency", {6}}});
  const auto gas = make(*find_potential("pressure"), mesh, {{"pressure", 100}});
  const int n = int(mesh.vertices.size());
  SymmetricAssembly assembly;
  assembly.begin_pattern(n);
  gas->add_weights(assembly, 0, 1);
  assembly.finish_pattern();
  const SymmetricMatrix& m = assembly.matrix();
  const auto form = [&](const std::vector<Vec3>& u) {
    double sum = 0;
    for (int c = 0; c < n; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k)
        sum += (m.row[k] == c ? 1 : 2) * m.value[k] * dot(u[m.row[k]], u[c]);
    return sum;
  };
  const double rest = enclosed_volume(mesh.triangles, mesh.vertices);
  const auto g = slope(*gas, at_rest(mesh)).gradient;
  const auto stiffness = [&](const std::vector<Vec3>& u) {  // E'' (g.u)^2 with E'' = p/V0 and g = -dE/p
    double sum = 0;
    for (int v = 0; v < n; ++v) sum += dot(g[v].xyz(), u[v]) / 100;
    return 100 / rest * sum * sum;
  };
  // breathing is what the gas resists most, and there a sphere's weights are close to it: 3/2 p R against 3 p R/2
  CHECK(form(mesh.vertices) >= stiffness(mesh.vertices));
  CHECK(form(mesh.vertices) == doctest::Approx(stiffness(mesh.vertices)).epsilon(0.05));
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<Vec3> u;
    for (int v = 0; v < n; ++v) u.push_back(random_in_ball(seed, v) * 0.3 + mesh.vertices[v] * random_signed(9, seed));
    REQUIRE(form(u) >= stiffness(u));
  }
}

TEST_CASE("each closed piece has its gas, and the winding does not matter") {
  Mesh two = mesh_of("sphere", {{"frequency", {3}}});
  const Mesh one = two;
  const int n = int(one.vertices.size());
  for (const Vec3& v : one.vertices) two.vertices.push_back(v * 2.0 + Vec3{5, 0, 0});
  for (const auto& t : one.triangles) two.triangles.push_back({t[0] + n, t[2] + n, t[1] + n});  // inside out
  const auto gas = make(*find_potential("pressure"), two, {{"pressure", 100}});
  CHECK(gas->elements() == 2);
  const double rest = enclosed_volume(one.triangles, one.vertices);
  CHECK(gas->reference_energy() == doctest::Approx(100 * rest * 9).epsilon(1e-12));
  const auto x = at_rest(two);
  const Slope s = slope(*gas, x);
  for (int v = 0; v < 2 * n; ++v)  // outward everywhere
    REQUIRE(dot(s.gradient[v].xyz(), x[v].xyz() - (v < n ? Vec3{} : Vec3{5, 0, 0})) < 0);
}

TEST_CASE("in a solid the gas fills the cavities") {
  const Mesh mesh = hollow_box();
  const auto gas = make(*find_potential("pressure"), mesh, {{"pressure", 100}});
  REQUIRE(gas->elements() == 1);
  CHECK(gas->corners(0) == 8);
  CHECK(gas->reference_energy() == doctest::Approx(100).epsilon(1e-12));
  const auto x = at_rest(mesh);
  const Slope s = slope(*gas, x);
  for (int c = 0; c < 8; ++c) {
    const int v = gas->vertex(0, c);
    CHECK(dot(s.gradient[v].xyz(), x[v].xyz()) < 0);  // forces are minus gradients: outward
  }
}

TEST_CASE("surfaces that hold no gas are refused with the edge where it would escape") {
  Mesh open = mesh_of("sphere", {{"frequency", {3}}});
  const auto hole = open.triangles.back();
  open.triangles.pop_back();
  const std::string text = fault_of(open);
  CAPTURE(text);
  CHECK(text.find("p: found 3 edges (the first is ") != std::string::npos);
  CHECK(text.find(") with one triangle only, expected a closed surface") != std::string::npos);

  Mesh twisted = mesh_of("sphere", {{"frequency", {3}}});
  std::swap(twisted.triangles[0][0], twisted.triangles[0][1]);
  CHECK(fault_of(twisted).find("found 3 edges") != std::string::npos);
  CHECK(fault_of(twisted).find("wound against each other, expected all wound alike") != std::string::npos);

  Mesh crowded = mesh_of("sphere", {{"frequency", {3}}});
  crowded.vertices.push_back({0, 0, 2});
  crowded.triangles.push_back({hole[0], hole[1], int(crowded.vertices.size()) - 1});
  CHECK(fault_of(crowded).find("found 1 edge (the first is ") != std::string::npos);
  CHECK(fault_of(crowded).find("more than two triangles, expected a manifold surface") != std::string::npos);

  CHECK(fault_of(mesh_of("box")).find("found a solid without a cavity") != std::string::npos);
  CHECK(fault_of(mesh_of("chain")).find("p.type: \"pressure\" acts on closed surfaces") != std::string::npos);
  Mesh flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  flat.triangles = {{0, 1, 2}, {0, 2, 1}};
  CHECK(fault_of(flat).find("encloses nothing, expected a volume > 0") != std::string::npos);
}
