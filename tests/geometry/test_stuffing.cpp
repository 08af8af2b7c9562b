#include <limits>
#include <random>

#include "geometry/generators.h"
#include "geometry/mesh_checks.h"
#include "geometry/stuffing.h"
#include "geometry/stuffing_stencil.h"

using namespace verve;
using namespace verve::test;

namespace {

Vec3 lattice_point(const std::array<int, 3>& p) { return {double(p[0]), double(p[1]), double(p[2])}; }

/// The 12 kinds of tetrahedra of the lattice, three axes times four sides.
std::vector<std::array<std::array<int, 3>, 4>> lattice_tetrahedra() {
  std::vector<std::array<std::array<int, 3>, 4>> out;
  constexpr int ring[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
  for (int axis = 0; axis < 3; ++axis)
    for (int e = 0; e < 4; ++e) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      std::array<int, 3> centre{1, 1, 1}, next = centre, a = centre, b = centre;
      next[axis] += 2;
      a[axis] += 1, a[u] += ring[e][0], a[v] += ring[e][1];
      b[axis] += 1, b[u] += ring[e + 1][0], b[v] += ring[e + 1][1];
      out.push_back({centre, next, a, b});
    }
  return out;
}

/// The ends of the ways along which a vertex on the surface can have been warped.
std::vector<Vec3> warps(const Vec3& p) {
  std::vector<Vec3> out{p};
  for (int i = -2; i <= 2; ++i)
    for (int j = -2; j <= 2; ++j)
      for (int k = -2; k <= 2; ++k) {
        const bool is_long = std::abs(i) + std::abs(j) + std::abs(k) == 2 && i * i + j * j + k * k == 4;
        const bool is_short = i * i == 1 && j * j == 1 && k * k == 1;
        if (is_long || is_short)
          out.push_back(p + Vec3{double(i), double(j), double(k)} * (is_long ? warp_long : warp_short));
      }
  REQUIRE(out.size() == 15);
  return out;
}

struct Worst {
  double volume = 1e9, smallest = 180, largest = 0;
};

/// All signs, with vertices on the surface and cut points at all ends of where they can be.
Worst search_stencils() {
  Worst worst;
  std::vector<std::array<int, 4>> pieces;
  Mesh piece;
  for (const auto& at : lattice_tetrahedra())
    for (int code = 0; code < 81; ++code) {
      LatticeTet tet{at, {code % 3 - 1, code / 3 % 3 - 1, code / 9 % 3 - 1, code / 27 - 1}};
      pieces.clear();
      fill_stencil(tet, pieces);
      if (pieces.empty()) continue;
      // choices: 4 vertices, then 6 edges
      std::vector<std::vector<Vec3>> choices(10);
      for (int v = 0; v < 4; ++v)
        choices[v] = tet.sign[v] == 0 ? warps(lattice_point(at[v])) : std::vector<Vec3>{lattice_point(at[v])};
      for (int e = 0; e < 6; ++e) {
        const int a = stencil_edge_ends[e][0], b = stencil_edge_ends[e][1];
        const Vec3 p = lattice_point(at[a]), q = lattice_point(at[b]);
        const double limit = a / 2 == b / 2 ? warp_long : warp_short;
        const bool cut = tet.sign[a] * tet.sign[b] < 0;
        choices[4 + e] = cut ? std::vector<Vec3>{p + (q - p) * limit, p + (q - p) * (1 - limit)} : std::vector<Vec3>{p};
      }
      std::array<std::size_t, 10> index{};
      for (bool done = false; !done;) {
        piece.vertices.clear();
        for (int i = 0; i < 10; ++i) piece.vertices.push_back(choices[i][index[i]]);
        piece.tetrahedra = pieces;
        worst.volume = std::min(worst.volume, smallest_volume(piece));
        const auto range = dihedral_range(piece);
        worst.smallest = std::min(worst.smallest, range[0]);
        worst.largest = std::max(worst.largest, range[1]);
        int i = 0;
        while (i < 10 && ++index[i] == choices[i].size()) index[i++] = 0;
        done = i == 10;
      }
    }
  return worst;
}

}  // namespace

TEST_CASE("no warp and no cut can make a stuffed tetrahedron flat") {
  // A volume is affine in the position of each of its vertices along its lattice edge, so that its minimum is taken
  // where all of them are at an end of their range: this search over the ends is a proof. In units of the half spacing.
  const Worst worst = search_stencils();
  MESSAGE("stencils: volume >= " << worst.volume / 8 << " spacing^3, dihedral angles " << worst.smallest << " to "
                                 << worst.largest);
  CHECK(worst.volume / 8 > 0.002);
  // Angles are no affine functions; a random search of the insides found none beyond those at the ends.
  CHECK(worst.smallest > 9);
  CHECK(worst.largest < 165);
}

TEST_CASE("neighbouring stencils cut their common face alike") {
  // all lattice tetrahedra of a block, random signs: every inner face must be met from both sides
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    // the sign of random noise at each lattice point, through the public function: cut points land in the middle third
    std::map<std::array<int, 3>, double> noise;
    const auto distance = [&](const Vec3& p) {
      const std::array<int, 3> key{int(std::lround(p.x * 4)), int(std::lround(p.y * 4)), int(std::lround(p.z * 4))};
      const auto [entry, fresh] = noise.try_emplace(key, 0.0);
      if (fresh) entry->second = std::uniform_real_distribution<double>(-1, 1)(random);
      return entry->second;
    };
    const auto mesh = tetrahedralize(distance, {-2, -2, -2}, {2, 2, 2}, 0.5);
    REQUIRE(mesh);
    CHECK(conforming(*mesh));
    CHECK(smallest_volume(*mesh) > 0);
    CHECK(unreferenced(*mesh) == 0);
    const auto range = dihedral_range(*mesh);
    CHECK(range[0] > 9);
    CHECK(range[1] < 165);
  }
}

TEST_CASE("a hundred random blobs are stuffed with positive volumes and bounded angles") {
  double smallest = 180, largest = 0;
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    struct Wave {
      Vec3 k;
      double height, phase;
    };
    std::vector<Wave> waves;
    for (int i = 0; i < 6; ++i)
      waves.push_back(
          {Vec3{uniform(random), uniform(random), uniform(random)} * 6, 0.12 * uniform(random), 3 * uniform(random)});
    const auto distance = [&](const Vec3& p) {
      double d = norm(p) - 0.8;
      for (const Wave& w : waves) d += w.height * std::sin(dot(w.k, p) + w.phase);
      return seed % 2 ? d : d * d * d;  // not a distance at all
    };
    const double spacing = 0.16 + 0.05 * uniform(random);
    const auto mesh = tetrahedralize(distance, {-1.3, -1.3, -1.3}, {1.3, 1.3, 1.3}, spacing);
    REQUIRE(mesh);
    CHECK(conforming(*mesh));
    CHECK(unreferenced(*mesh) == 0);
    CHECK(check_skin(surface(*mesh)).closed);
    CHECK(smallest_volume(*mesh) > 0.002 * spacing * spacing * spacing);
    const auto range = dihedral_range(*mesh);
    smallest = std::min(smallest, range[0]);
    largest = std::max(largest, range[1]);
    CHECK(range[0] > 9);
    CHECK(range[1] < 165);
  }
  MESSAGE("100 blobs: dihedral angles " << smallest << " to " << largest);
}

TEST_CASE("the volume of a stuffed ball converges with the square of the spacing") {
  const double exact = 4.0 / 3 * std::acos(-1.0);
  double last = 0;
  for (const double spacing : {0.4, 0.2, 0.1}) {
    const Mesh mesh =
        tetrahedralize([](const Vec3& p) { return norm(p) - 1; }, {-1.1, -1.1, -1.1}, {1.1, 1.1, 1.1}, spacing).value();
    const double error = (exact - volume(mesh)) / exact;
    // chords of length s lie up to s^2/8 below a unit sphere, of radius 1 and area 3 V
    CHECK(error > 0);
    CHECK(error < 3 * spacing * spacing / 8);
    if (last > 0) CHECK(error < 0.35 * last);
    last = error;
    for (const auto& t : surface(mesh))
      for (const int v : t) REQUIRE(norm(mesh.vertices[v]) == doctest::Approx(1).epsilon(1e-8));
  }
}

TEST_CASE("stuffing twice gives the same bits") {
  const auto distance = [](const Vec3& p) { return std::abs(p.x) + p.y * p.y + std::abs(p.z) - 1; };
  const Mesh a = tetrahedralize(distance, {-2, -2, -2}, {2, 2, 2}, 0.21).value();
  const Mesh b = tetrahedralize(distance, {-2, -2, -2}, {2, 2, 2}, 0.21).value();
  CHECK(a.vertices == b.vertices);
  CHECK(a.tetrahedra == b.tetrahedra);
}

TEST_CASE("a body that reaches the bounds is cut there, with a warning") {
  const auto mesh = tetrahedralize([](const Vec3&) { return -1.0; }, {0, 0, 0}, {1, 2, 1}, 0.25);
  REQUIRE(mesh);
  CHECK(mentions(mesh.diagnostics(), Severity::warning, "reaches the bounds"));
  check_solid(*mesh);
  for (const Vec3& p : mesh->vertices) {
    CHECK(p.x >= -1e-9);
    CHECK(p.y <= 2 + 1e-9);
  }
  CHECK(volume(*mesh) == doctest::Approx(2).epsilon(0.1));  // edges are bevelled by up to a cell
}

TEST_CASE("bad input to the tetrahedraliser is named") {
  const auto ball = [](const Vec3& p) { return norm(p) - 1; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto error = [](const Expected<Mesh>& mesh, const std::string& text) {
    INFO(mesh.diagnostics().text());
    CHECK(!mesh);
    CHECK(mentions(mesh.diagnostics(), Severity::error, text));
  };
  error(tetrahedralize(ball, {1, -1, -1}, {-1, 1, 1}, 0.1), "tetrahedralize.bounds: found [1, -1, -1] to [-1, 1, 1]");
  error(tetrahedralize(ball, {-1, -1, nan}, {1, 1, 1}, 0.1), "tetrahedralize.bounds");
  error(tetrahedralize(ball, {-1, -1, -1}, {1, 1, 1}, 0), "tetrahedralize.spacing: found 0, expected a number > 0 [m]");
  error(tetrahedralize(ball, {-1, -1, -1}, {1, 1, 1}, -1), "tetrahedralize.spacing: found -1");
  error(tetrahedralize(ball, {-1, -1, -1}, {1, 1, 1}, nan), "tetrahedralize.spacing");
  error(tetrahedralize(ball, {-1, -1, -1}, {1, 1, 1}, 1e-6),
        "expected a spacing that needs at most 24000000 lattice points");
  error(tetrahedralize(ball, {-1e300, -1, -1}, {1e300, 1, 1}, 1e-300), "lattice points");
  error(tetrahedralize(ball, {2, 2, 2}, {3, 3, 3}, 0.1), "found no lattice point inside");
  error(tetrahedralize([&](const Vec3& p) { return p.x > 0.3 ? nan : norm(p) - 1; }, {-1, -1, -1}, {1, 1, 1}, 0.2),
        "found NaN at");
  error(tetrahedralize({}, {-1, -1, -1}, {1, 1, 1}, 0.2), "found no function");
  const auto two = tetrahedralize({}, {-1, -1, -1}, {-1, 1, 1}, 0);
  CHECK(two.diagnostics().items().size() == 3);
}

TEST_CASE("infinite values of the function count by their sign") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto mesh =
      tetrahedralize([&](const Vec3& p) { return norm(p) < 1 ? -inf : inf; }, {-1.2, -1.2, -1.2}, {1.2, 1.2, 1.2}, 0.3);
  REQUIRE(mesh);
  check_solid(*mesh);
  CHECK(check_skin(surface(*mesh)).euler == 2);
}

TEST_CASE("a skin made without its inside is the skin of the solid, triangle by triangle") {
  std::mt19937_64 random(17);
  const auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
  for (int trial = 0; trial < 30; ++trial) {
    CAPTURE(trial);
    std::vector<std::pair<Vec3, double>> balls;
    for (int i = 0; i < 6; ++i) {
      const double x = uniform() - 0.5, y = uniform() - 0.5;
      balls.push_back({{x, y, uniform() - 0.5}, 0.1 + 0.2 * uniform()});
    }
    const auto distance = [&](const Vec3& p) {
      double d = 1e9;
      for (const auto& [centre, radius] : balls) d = std::min(d, norm(p - centre) - radius);
      return d;
    };
    const double spacing = 0.05 + 0.1 * uniform();
    const Vec3 corner{0.6, 0.6, 0.6};  // cuts some of them off
    const Mesh solid = tetrahedralize(distance, corner * -1.0, corner, spacing).value();
    const Mesh skin = stuffing_skin(distance, corner * -1.0, corner, spacing).value();
    const auto faces = surface(solid);
    REQUIRE(skin.triangles.size() == faces.size());
    bool same = true;
    for (size_t i = 0; i < faces.size(); ++i)
      for (int k = 0; k < 3; ++k) same = same && skin.vertices[skin.triangles[i][k]] == solid.vertices[faces[i][k]];
    CHECK(same);
    CHECK(unreferenced(skin) == 0);
    CHECK(skin.vertices.size() == skin_of(solid).vertices.size());
  }
}

TEST_CASE("the skin of a generator is that of its mesh") {
  for (const char* name : {"bear", "torus", "stuffed_ball", "car", "box", "ball", "cloth"}) {
    CAPTURE(name);
    const Mesh expected = skin_of(generate_mesh(name).value()), skin = generate_skin(name, {}).value();
    CHECK(skin.vertices.size() == expected.vertices.size());
    REQUIRE(skin.triangles.size() == expected.triangles.size());
    CHECK(skin.tetrahedra.empty());
    double worst = 0;
    for (size_t i = 0; i < skin.triangles.size(); ++i)
      for (int k = 0; k < 3; ++k)
        worst =
            std::max(worst, norm(skin.vertices[skin.triangles[i][k]] - expected.vertices[expected.triangles[i][k]]));
    CHECK(worst < 1e-12);  // the centre of volume is a sum over other terms
  }
}
