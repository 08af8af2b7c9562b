// Bending of sheets and ropes against closed forms.
#include <doctest/doctest.h>

#include <numbers>

#include "potentials/elements.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

constexpr double pi = std::numbers::pi;

Mesh sheet(double width, double length, double columns, double rows) {
  return mesh_of("cloth", {{"width", {width}}, {"length", {length}}, {"columns", {columns}}, {"rows", {rows}}});
}

/// Inner vertices moved within the plane at random: obtuse triangles, all kinds of rings.
Mesh shaken(Mesh mesh, double width, double length, double reach) {
  for (size_t v = 0; v < mesh.vertices.size(); ++v) {
    Vec3& x = mesh.vertices[v];
    const Vec3 d = random_in_ball(77, v) * reach;
    if (std::abs(x.x) < 0.499 * width && std::abs(x.z) < 0.499 * length) x += {d.x, 0, d.z};
  }
  return mesh;
}

/// Rolled up around an axis along z without any stretch.
std::vector<Vec4> rolled(const Mesh& mesh, double kappa) {
  std::vector<Vec4> x;
  for (const Vec3& v : mesh.vertices)
    x.push_back({std::sin(kappa * v.x) / kappa, (1 - std::cos(kappa * v.x)) / kappa, v.z});
  return x;
}

double energy(const char* name, const Mesh& mesh, const std::vector<Vec4>& x, const ParameterValues& values) {
  return make(*find_potential(name), mesh, values)->energy(x.data());
}

/// Two triangles of the given apex heights, folded by theta, at 0 flat.
Mesh hinge(double theta, double left = 0.8, double right = 0.6) {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0.3, left, 0}, {0.6, -right * std::cos(theta), right * std::sin(theta)}};
  mesh.triangles = {{0, 1, 2}, {1, 0, 3}};
  return mesh;
}

std::string refusal(const char* name, const Mesh& mesh) {
  std::vector<int> row;
  for (int v = 0; v < int(mesh.vertices.size()); ++v) row.push_back(v);
  Diagnostics out;
  CHECK(find_potential(name)->make({mesh, row, {}, {}, {}, {}, {}}, "potential", out) == nullptr);
  return out.text();
}

}  // namespace

TEST_CASE("a sheet rolled up to curvature kappa stores w/2 kappa^2 per area, in both models and for every ratio") {
  const Mesh mesh = sheet(2, 1, 41, 21);
  const double w = 3, kappa = 0.5, h = 0.05, whole = 0.5 * w * kappa * kappa * 2;
  const auto x = rolled(mesh, kappa);
  // The triangles at two corners are in no ring, and their hinges lie along the diagonal, which does not fold. Polygons
  // of chords: relative errors of (kappa h)^2/12 and less, 5e-5.
  const double ears = 2 * 0.5 * h * h / 2;
  for (const double nu : {-0.5, 0.0, 0.3, 1.0})
    CHECK(energy("bending", mesh, x, {{"stiffness", w}, {"poisson", nu}}) ==
          doctest::Approx(whole * (1 - ears)).epsilon(1e-4));
  // hinges stand at the inner columns only and know nothing of the outer half cells
  CHECK(energy("hinge_bending", mesh, x, {{"stiffness", w}}) == doctest::Approx(whole * (1 - h / 2)).epsilon(1e-4));
}

TEST_CASE("both models agree on a sheet of irregular and obtuse triangles") {
  const Mesh mesh = shaken(sheet(2, 1, 41, 21), 2, 1, 0.015);
  const double kappa = 0.5, whole = 0.5 * kappa * kappa * 2;
  const auto x = rolled(mesh, kappa);
  // Neither converges point by point on random meshes (Grinspun et al. 2006, "Computing discrete shape operators"):
  // noise of 30 % in the cells adds its square to the energy. Found: 1.02 and 1.16 of the smooth value.
  const double laplace = energy("bending", mesh, x, {{"stiffness", 1}}),
               hinges = energy("hinge_bending", mesh, x, {{"stiffness", 1}});
  CHECK(laplace / whole == doctest::Approx(1).epsilon(0.05));
  CHECK(hinges / laplace == doctest::Approx(1).epsilon(0.15));
}

TEST_CASE("saddles and twists cost w (1 - nu) kappa^2 per area: nothing at all in the published energy") {
  const Mesh mesh = sheet(2, 1, 21, 11);
  const double w = 3, kappa = 0.1;
  auto saddle = at_rest(mesh), twist = saddle;
  for (Vec4& v : saddle) v.y = 0.5 * kappa * (v.x * v.x - v.z * v.z);
  for (Vec4& v : twist) v.y = kappa * v.x * v.z;
  for (const double nu : {-1.0, 0.0, 0.3, 1.0})
    for (const auto& x : {saddle, twist}) {
      const auto batch = make(*find_potential("bending"), mesh, {{"stiffness", w}, {"poisson", nu}});
      const Projection at = project(*batch, x);
      for (int e = 0; e < batch->elements(); ++e) {
        if (batch->rows(e) != 3) continue;  // the corners' hinges
        double square = 0;
        for (int r = 0; r < 3; ++r) square += dot(at.z[3 * e + r], at.z[3 * e + r]);
        // second differences of parabolas are exact
        REQUIRE(std::abs(0.5 * square - (1 - nu) * kappa * kappa) <= 1e-10 * kappa * kappa);
      }
    }
}

TEST_CASE("the weights of bending add up to the area of the sheet, with obtuse triangles and free edges") {
  const Mesh mesh = shaken(sheet(2, 1, 21, 11), 2, 1, 0.04);
  int obtuse = 0;
  for (const auto& t : mesh.triangles)
    for (int i = 0; i < 3; ++i) {
      const Vec3 a = mesh.vertices[t[i]];
      obtuse += dot(mesh.vertices[t[(i + 1) % 3]] - a, mesh.vertices[t[(i + 2) % 3]] - a) < -1e-9;
    }
  REQUIRE(obtuse > 50);
  const auto batch = make(*find_potential("bending"), mesh, {{"stiffness", 1}});
  // two corners of the grid are cut off by a diagonal: triangles in no ring, held by their hinge
  CHECK(batch->elements() == 19 * 9 + 2);
  double sum = 0;
  for (int e = 0; e < batch->elements(); ++e) {
    REQUIRE(batch->weight(e) > 0);
    if (batch->rows(e) == 3) sum += batch->weight(e);
  }
  CHECK(sum == doctest::Approx(2 - 2 * 0.5 * 0.1 * 0.1).epsilon(1e-12));
}

TEST_CASE("Poisson's ratio may change while the body moves, there and back") {
  const Mesh mesh = curved(sheet(2, 1, 6, 5));
  const auto x = deformed(mesh, 0.1, 1);
  const auto batch = make(*find_potential("bending"), mesh, {{"poisson", 0.2}});
  const double before = batch->energy(x.data());
  batch->set_parameters({{"poisson", 1}});
  CHECK(batch->energy(x.data()) == energy("bending", mesh, x, {{"poisson", 1}}));
  CHECK(batch->energy(at_rest(mesh).data()) <= 1e-28 * batch->reference_energy());
  batch->set_parameters({{"poisson", 0.2}});
  CHECK(batch->energy(x.data()) == before);
}

TEST_CASE("with Poisson's ratio 1 the projection is the normalisation of PD Eq. 28") {
  const Mesh mesh = curved(sheet(2, 1, 6, 5));
  const auto batch = make(*find_potential("bending"), mesh, {{"poisson", 1}});
  const Projection rest = project(*batch, at_rest(mesh)), at = project(*batch, deformed(mesh, 0.2, 3));
  for (int e = 0; e < batch->elements(); ++e) {
    if (batch->rows(e) != 3) continue;
    const Vec3 z = at.z[3 * e], expected = z * (norm(rest.z[3 * e]) / norm(z));
    REQUIRE(norm(rest.z[3 * e]) > 0.01);
    REQUIRE(norm(at.p[3 * e] - expected) <= 1e-13 * norm(expected));
  }
}

TEST_CASE("a curved sheet turned inside out rests in the energy of the paper, but not on its hinges") {
  const Mesh flat = sheet(2, 1, 21, 11);
  Mesh mesh = flat;
  const auto x = rolled(flat, 1);
  auto mirrored = x;
  for (size_t v = 0; v < x.size(); ++v) mesh.vertices[v] = x[v].xyz(), mirrored[v].y = -x[v].y;
  const double unrolled = energy("bending", mesh, at_rest(flat), {});
  CHECK(unrolled == doctest::Approx(0.5 * 0.01 * 2).epsilon(1e-2));  // w/2 kappa^2 per area
  CHECK(energy("bending", mesh, mirrored, {}) <= 1e-20 * unrolled);
  // twice the angle, four times the energy; 1 - cos falls behind by (kappa h)^2/3
  const double flattened = energy("hinge_bending", mesh, at_rest(flat), {});
  CHECK(energy("hinge_bending", mesh, mirrored, {}) == doctest::Approx(4 * flattened).epsilon(1e-2));
}

TEST_CASE("a hinge has the energy W (1 - cos(theta - theta0)), with its sign, all the way round") {
  for (const double theta0 : {0.0, 0.7, -0.7, 2.5}) {
    const auto batch = make(*find_potential("hinge_bending"), hinge(theta0), {{"stiffness", 5}});
    const double weight = 5 * 1 / (0.5 * (0.8 + 0.6));
    CHECK(batch->weight(0) == doctest::Approx(weight).epsilon(1e-14));
    for (double theta = -3; theta <= 3; theta += 0.25) {
      const double found = batch->energy(at_rest(hinge(theta)).data());
      CHECK(std::abs(found - weight * (1 - std::cos(theta - theta0))) <= 1e-14 * weight);
    }
    // stretched triangles have the same angles
    CHECK(batch->energy(at_rest(hinge(theta0, 2, 0.1)).data()) <= 1e-28 * weight);
  }
}

TEST_CASE("a hinge of thin and collapsed triangles has a finite energy, and the gradient is its slope") {
  for (const double theta0 : {0.0, 0.9}) {
    const auto batch = make(*find_potential("hinge_bending"), hinge(theta0), {{"stiffness", 1}});
    for (const double left : {0.1, 0.0401, 0.0399, 0.02, 1e-3, 0.0}) {
      CAPTURE(left);
      auto x = at_rest(hinge(0.5, left));
      const Slope s = slope(*batch, x);
      CHECK(s.energy >= 0);
      CHECK(s.energy <= 2 * batch->weight(0));
      CHECK(length(s.gradient) < 100 * batch->weight(0));  // 1/height of 5 % of the rest
      const double d = 1e-6;
      double worst = 0;
      for (Vec4& v : x)
        for (double Vec4::*axis : {&Vec4::x, &Vec4::y, &Vec4::z}) {
          const double keep = v.*axis;
          v.*axis = keep + d;
          const double up = batch->energy(x.data());
          v.*axis = keep - d;
          const double down = batch->energy(x.data());
          v.*axis = keep;
          worst = std::max(worst, std::abs((up - down) / (2 * d) - s.gradient[&v - x.data()].*axis));
        }
      // the second derivative jumps where a triangle begins to be thin, by about 1/height^2
      CHECK(worst <= 1e-3 * length(s.gradient) + 1e-9);
    }
    // an edge of no length at all
    const std::vector<Vec4> point{{0, 0, 0}, {0, 0, 0}, {0.3, 0.8, 0}, {0.6, -0.6, 0}};
    CHECK(std::isfinite(length(slope(*batch, point).gradient)));
    CHECK(std::isfinite(length(slope(*batch, point, Precision::float32).gradient)));
  }
}

TEST_CASE("the metric of a hinge is not less than its Hessian at rest, and equal to it for a flat one") {
  for (const double theta0 : {0.0, 0.3, -1.2, 2.9}) {
    const Mesh mesh = hinge(theta0);
    const auto batch = make(*find_potential("hinge_bending"), mesh, {{"stiffness", 1}});
    SymmetricAssembly assembly;
    assembly.begin_pattern(4);
    batch->add_weights(assembly, 0, 1);
    assembly.finish_pattern();
    const SymmetricMatrix& m = assembly.matrix();
    const auto form = [&](const std::vector<Vec4>& y) {
      double sum = 0;
      for (int c = 0; c < 4; ++c)
        for (int k = m.start[c]; k < m.start[c + 1]; ++k)
          sum += (m.row[k] == c ? 1 : 2) * m.value[k] * dot(y[m.row[k]], y[c]);
      return sum;
    };
    const auto hessian = [&](const std::vector<Vec4>& y) {
      const double d = 1e-4;  // fourth derivatives are near 1
      auto up = at_rest(mesh), down = up;
      for (int v = 0; v < 4; ++v) up[v] += y[v] * d, down[v] += y[v] * -d;
      return (batch->energy(up.data()) + batch->energy(down.data())) / (d * d);
    };
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      std::vector<Vec4> y(4);
      for (int v = 0; v < 4; ++v) y[v] = Vec4(random_in_ball(seed, v));
      REQUIRE(hessian(y) <= form(y) * (1 + 1e-5) + 1e-5 * batch->weight(0));
      if (theta0 != 0) continue;
      for (Vec4& v : y) v.x = v.y = 0;  // along the normal
      REQUIRE(hessian(y) == doctest::Approx(form(y)).epsilon(1e-5));
    }
  }
}

TEST_CASE("a rod bent to curvature kappa stores B/2 kappa^2 per length") {
  const Mesh mesh = mesh_of("chain", {{"length", {2}}, {"vertices", {41}}});
  const auto batch = make(*find_potential("rod_bending"), mesh, {{"stiffness", 3}});
  CHECK(batch->elements() == 39);
  // chords turn by kappa h at each inner vertex; (2 sin(kappa h / 2))^2 and chords for arcs: (kappa h)^2/8 together
  CHECK(batch->energy(rolled(mesh, 0.5).data()) == doctest::Approx(0.5 * 3 * 0.25 * 39 * 0.05).epsilon(1e-4));
}

TEST_CASE("a rod that is round at rest stays round and resists straightening, whichever way it lies") {
  Mesh ring;
  const int n = 24;
  for (int i = 0; i < n; ++i) {
    ring.vertices.push_back({std::cos(2 * pi * i / n), std::sin(2 * pi * i / n), 0});
    ring.edges.push_back({i, (i + 1) % n});
  }
  const auto batch = make(*find_potential("rod_bending"), ring, {{"stiffness", 1}});
  CHECK(batch->elements() == n);
  CHECK(batch->energy(at_rest(ring).data()) <= 1e-28);
  std::vector<Vec4> line(n);
  for (int i = 0; i < n; ++i) line[i] = Vec4(i * 2 * std::sin(pi / n), 0, 0);
  // all but the two joints at the ends of the cut: B/2 over the rest of the circle, of curvature 1
  const double whole = batch->energy(line.data()), jump = norm((line[n - 1] - line[0]).xyz()) / (2 * std::sin(pi / n));
  const double turn = 2 * std::sin(pi / n);
  const double ends = 2 * 0.5 / turn * (jump + 1 - turn) * (jump + 1 - turn);
  CHECK(whole - ends == doctest::Approx(0.5 * turn * (n - 2)).epsilon(1e-9));
}

TEST_CASE("every pair of edges at a branch of a rope is a joint, and edges of triangles are not ropes") {
  Mesh mesh = sheet(1, 1, 3, 3);
  CHECK(Joints::of(mesh).empty());
  mesh.vertices.insert(mesh.vertices.end(), {{0, 1, 0}, {1, 2, 0}, {-1, 2, 0}});
  mesh.edges = {{9, 4}, {9, 10}, {11, 9}};
  CHECK(Joints::of(mesh) == std::vector<std::array<int, 3>>{{9, 4, 10}, {9, 4, 11}, {9, 10, 11}});
  CHECK(refusal("rod_bending", sheet(1, 1, 3, 3)).find("acts on joints, and the mesh of the body has none") !=
        std::string::npos);
}

TEST_CASE("a strip one cell wide has no inner vertex and bends all the same") {
  const Mesh mesh = sheet(2, 0.1, 21, 2);
  const double kappa = 0.5;
  // inner columns only, as for hinges
  CHECK(energy("bending", mesh, rolled(mesh, kappa), {{"stiffness", 1}}) ==
        doctest::Approx(0.5 * kappa * kappa * 0.1 * 1.9).epsilon(1e-3));
}

TEST_CASE("bending refuses what is not a manifold sheet") {
  Mesh three = hinge(0);
  three.vertices.push_back({0.5, 0, 1});
  three.triangles.push_back({0, 1, 4});
  Mesh twisted = hinge(0);
  std::swap(twisted.triangles[1][0], twisted.triangles[1][1]);
  for (const char* name : {"bending", "hinge_bending"}) {
    CHECK(refusal(name, three)
              .find("found 1 edges with more than two triangles (the first is 0-1), expected a "
                    "manifold sheet") != std::string::npos);
    CHECK(refusal(name, twisted).find("wound against each other") != std::string::npos);
    CHECK(refusal(name, mesh_of("chain")).find("the mesh of the body has none") != std::string::npos);
  }
  Mesh single = hinge(0);
  single.triangles.pop_back();
  CHECK(refusal("bending", single).find("found no two triangles with a common edge") != std::string::npos);
}
