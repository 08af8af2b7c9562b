// Groups of vertices: sequential quadratic programming against closed forms, and what the named constraints hold.
#include <doctest/doctest.h>

#include "potentials/circle_fit.h"
#include "potentials/polar.h"
#include "potentials/sqp.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<Vec3> centred(std::vector<Vec3> q) {
  Vec3 mean{};
  for (const Vec3& v : q) mean += v / double(q.size());
  for (Vec3& v : q) v -= mean;
  return q;
}

std::vector<Vec3> by_sqp(const Formula& formula, const std::vector<Vec3>& z, SqpResult* result = nullptr) {
  std::vector<Vec3> p(z.size());
  std::vector<double> scratch(sqp_scratch_size(int(z.size()), formula.values));
  const SqpResult r = project_by_sqp(formula, int(z.size()), z.data(), p.data(), scratch.data());
  if (result) *result = r;
  return p;
}

/// Three orthonormal combinations of four vertices; q = Y B^T.
constexpr double B[4][3] = {{0.5, 0.5, 0.5}, {0.5, -0.5, -0.5}, {-0.5, 0.5, -0.5}, {-0.5, -0.5, 0.5}};
Mat3 combine(const Vec3* q) {
  Mat3 y{};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 4; ++i) y.col[k] += q[i] * B[i][k];
  return y;
}
std::vector<Vec3> spread(const Mat3& y) {
  std::vector<Vec3> q(4);
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 4; ++i) q[i] += y.col[k] * B[i][k];
  return q;
}

/// Y^T Y = 1: six formulas whose zeros are rotations and reflections.
Formula orthogonality() {
  return {6, [](const Vec3* q, int n, double* c, Vec3* gradient) {
            const Mat3 y = combine(q);
            int k = 0;
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b <= a; ++b, ++k) {
                c[k] = dot(y.col[a], y.col[b]) - (a == b ? 1 : 0);
                for (int i = 0; i < n; ++i) gradient[k * n + i] = y.col[a] * B[i][b] + y.col[b] * B[i][a];
              }
          }};
}

/// A potential over one group of a mesh without elements to speak of.
std::unique_ptr<Potential> over(const std::string& name, const std::vector<Vec3>& rest,
                                const ParameterValues& values = {}) {
  Mesh mesh;
  mesh.vertices = rest;
  std::vector<int> row, group;
  for (int v = 0; v < int(rest.size()); ++v) row.push_back(v), group.push_back(v);
  for (int v = 0; v + 1 < int(rest.size()); ++v) mesh.edges.push_back({v, v + 1});
  Diagnostics out;
  auto made = find_potential(name)->make({mesh, row, values, {}, {}, {group}, {}}, name, out);
  REQUIRE_MESSAGE(made, out.text());
  return made;
}

std::vector<Vec3> projected(const Potential& potential, const std::vector<Vec3>& q) {
  std::vector<Vec4> x(q.begin(), q.end());
  return project(potential, x).p;
}

double apart(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, norm(a[i] - b[i]));
  return worst;
}

std::vector<Vec3> scattered(int n, std::uint64_t seed, double reach = 1) {
  std::vector<Vec3> q;
  for (int i = 0; i < n; ++i) q.push_back(random_in_ball(seed, i) * reach);
  return q;
}

}  // namespace

TEST_CASE("sequential quadratic programming finds the rotation of a strained tetrahedron (Inventory P18)") {
  int most = 0;
  for (std::uint64_t k = 0; k < 300; ++k) {
    Mat3 f = Mat3::identity();
    for (int c = 0; c < 3; ++c) f.col[c] += random_in_ball(k, c) * 0.6;
    if (det(f) < 0.2) continue;  // the nearest orthogonal matrix might be a reflection, which the formula allows
    f = random_rotation(1, k) * f;
    SqpResult result;
    const std::vector<Vec3> p = by_sqp(orthogonality(), spread(f), &result);
    REQUIRE(result.converged);
    most = std::max(most, result.iterations);
    REQUIRE(std::sqrt(squared_norm(combine(p.data()) - nearest_rotation(f))) <= 1e-10);
  }
  MESSAGE("at most " << most << " iterations");
  CHECK(most <= 60);
}

TEST_CASE("formulas that say the same twice are projected onto as if they said it once") {
  const Formula once{1, [](const Vec3* q, int, double* c, Vec3* gradient) {
                       const Vec3 d = q[1] - q[0];
                       c[0] = norm(d) - 2;
                       gradient[1] = d / norm(d), gradient[0] = -gradient[1];
                     }};
  const Formula twice{2, [&](const Vec3* q, int n, double* c, Vec3* gradient) {
                        once.evaluate(q, n, c, gradient);
                        c[1] = 3 * c[0];
                        for (int i = 0; i < n; ++i) gradient[n + i] = gradient[i] * 3;
                      }};
  const std::vector<Vec3> z = centred(scattered(2, 3));
  const std::vector<Vec3> p = by_sqp(once, z);
  CHECK(norm(p[1] - p[0]) == doctest::Approx(2).epsilon(1e-12));
  CHECK(apart(by_sqp(twice, z), p) <= 1e-12);
}

TEST_CASE("distance, angle, area and volume are those of the formula, and as near as it finds them (Inventory P18)") {
  struct Named {
    const char* name;
    int vertices;
    double (*value)(const Vec3* q);
  };
  const Named all[] = {
      {"distance", 2, [](const Vec3* q) { return norm(q[1] - q[0]); }},
      {"angle", 3,
       [](const Vec3* q) {
         const Vec3 a = q[0] - q[1], b = q[2] - q[1];
         return std::atan2(norm(cross(a, b)), dot(a, b));
       }},
      {"area", 3, [](const Vec3* q) { return 0.5 * norm(cross(q[1] - q[0], q[2] - q[0])); }},
      {"area", 4, [](const Vec3* q) { return 0.5 * norm(cross(q[2] - q[0], q[3] - q[1])); }},
      {"volume", 4, [](const Vec3* q) { return dot(q[1] - q[0], cross(q[2] - q[0], q[3] - q[0])) / 6; }},
  };
  for (const Named& named : all) {
    CAPTURE(std::string(named.name));
    for (std::uint64_t k = 0; k < 200; ++k) {
      const std::vector<Vec3> rest = centred(scattered(named.vertices, 2 * k));
      const double target = named.value(rest.data());
      if (std::abs(target) < 0.02) continue;
      // by differences: what a user without derivatives would write
      const Formula formula{1, [&](const Vec3* q, int n, double* c, Vec3* gradient) {
                              std::vector<Vec3> at(q, q + n);
                              c[0] = named.value(q) - target;
                              for (int i = 0; i < n; ++i)
                                for (int a = 0; a < 3; ++a) {
                                  const double d = 1e-6;
                                  at[i][a] += d;
                                  const double up = named.value(at.data());
                                  at[i][a] -= 2 * d;
                                  gradient[i][a] = (up - named.value(at.data())) / (2 * d);
                                  at[i][a] += d;
                                }
                            }};
      const auto potential = over(named.name, rest);
      std::vector<Vec3> z = rest;
      for (int i = 0; i < named.vertices; ++i) z[i] += random_in_ball(7 * k + 1, i) * 0.15;
      z = centred(z);
      const std::vector<Vec3> closed = projected(*potential, z), iterated = by_sqp(formula, z);
      REQUIRE(std::abs(named.value(closed.data()) - target) <= 1e-12);
      double near = 0, nearest = 0;
      for (int i = 0; i < named.vertices; ++i)
        near += dot(closed[i] - z[i], closed[i] - z[i]), nearest += dot(iterated[i] - z[i], iterated[i] - z[i]);
      REQUIRE(near <= nearest + 1e-9);  // the iteration may stop at one that is nearest only around it
      if (std::abs(near - nearest) < 1e-7) REQUIRE(apart(closed, iterated) <= 1e-4);
    }
  }
}

TEST_CASE("the nearest group of a given volume is the nearest of all, also from flat, large and inverted ones") {
  const std::vector<Vec3> rest = spread(Mat3::identity() * 0.7);
  const auto potential = over("volume", rest);
  for (std::uint64_t k = 0; k < 20; ++k) {
    const Vec3 sigma{1 + random_signed(k, 0), 1 + random_signed(k, 1), 1.5 * random_signed(k, 2)};
    const Mat3 y = Mat3::diagonal(sigma);
    const std::vector<Vec3> z = spread(y), p = projected(*potential, z);
    double found = 0;
    for (int i = 0; i < 4; ++i) found += dot(p[i] - z[i], p[i] - z[i]);
    REQUIRE(det(combine(p.data())) == doctest::Approx(0.343).epsilon(1e-12));
    // diagonal matrices of that determinant on a fine grid of their logarithms
    double best = 1e9;
    for (double a = -4; a < 1.5; a += 0.02)
      for (double b = -4; b < 1.5; b += 0.02)
        for (int signs = 0; signs < 4; ++signs) {
          const double u = signs & 1 ? -1 : 1, v = signs & 2 ? -1 : 1;
          const Vec3 s{std::exp(a) * u, std::exp(b) * v, 0.343 / std::exp(a + b) * u * v};
          best = std::min(best, dot(s - sigma, s - sigma));
        }
    REQUIRE(found <= best + 1e-12);
    REQUIRE(found >= best - 0.02);  // of the grid
  }
}

TEST_CASE("points near a circle fall onto it, and its plane, centre and radius are the best ones") {
  for (std::uint64_t k = 0; k < 50; ++k) {
    const Mat3 turn = random_rotation(5, k);
    std::vector<Vec3> z, p(9);
    for (int i = 0; i < 9; ++i) {
      const double angle = 0.5 * i;
      z.push_back(turn * Vec3{2 * std::cos(angle), 2 * std::sin(angle), 0} + random_in_ball(k, i) * 0.2);
    }
    z = centred(z);
    project_onto_circle(9, z.data(), p.data());
    const auto distance = [&](const std::vector<Vec3>& at) {
      double sum = 0;
      for (int i = 0; i < 9; ++i) sum += dot(at[i] - z[i], at[i] - z[i]);
      return sum;
    };
    // on one circle: equally far from the circumcentre of three of them, and in their plane
    const Vec3 a = p[3] - p[0], b = p[6] - p[0], n = cross(a, b);
    const Vec3 center = p[0] + cross(n * (1 / dot(n, n)), a * dot(b, b) * -1 + b * dot(a, a)) * -0.5;
    for (const Vec3& v : p) {
      REQUIRE(std::abs(dot(v - p[0], n)) <= 1e-12 * norm(n));
      REQUIRE(norm(v - center) == doctest::Approx(norm(p[0] - center)).epsilon(1e-11));
    }
    // moving the circle a little never helps
    for (std::uint64_t m = 0; m < 20; ++m) {
      const Vec3 spin = random_in_ball(m, 1) * 1e-3, shift = random_in_ball(m, 2) * 1e-3;
      std::vector<Vec3> moved;
      for (const Vec3& v : p)
        moved.push_back(center + (v - center + cross(spin, v - center)) * (1 + 1e-3 * random_signed(m, 3)) + shift);
      REQUIRE(distance(moved) >= distance(p) - 1e-8);
    }
  }
}

TEST_CASE("the area of a polygon is held by sequential quadratic programming") {
  std::vector<Vec3> rest;
  for (int i = 0; i < 6; ++i) rest.push_back({std::cos(i * 1.0472), std::sin(i * 1.0472), 0});
  const auto potential = over("area", rest, {{"scale", 1.5}});
  std::vector<Vec3> z = rest;
  for (int i = 0; i < 6; ++i) z[i] += random_in_ball(3, i) * 0.3;
  const std::vector<Vec3> p = projected(*potential, z);
  Vec3 area{}, before{};
  for (int i = 0; i < 6; ++i)
    area += cross(p[i], p[(i + 1) % 6]) * 0.5, before += cross(rest[i], rest[(i + 1) % 6]) * 0.5;
  CHECK(norm(area) == doctest::Approx(1.5 * norm(before)).epsilon(1e-12));
}

TEST_CASE("targets may be given in place of those at rest, and scaled") {
  const std::vector<Vec3> rest{{0, 0, 0}, {1, 0, 0}};
  CHECK(norm(projected(*over("distance", rest, {{"length", 3}}), rest)[1]) == doctest::Approx(1.5));
  CHECK(norm(projected(*over("distance", rest, {{"scale", 0.5}}), rest)[1]) == doctest::Approx(0.25));
  const std::vector<Vec3> corner{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}};
  const auto p = projected(*over("angle", corner, {{"degrees", 60}}), corner);
  CHECK(dot(p[0] - p[1], p[2] - p[1]) == doctest::Approx(0.5 * norm(p[0] - p[1]) * norm(p[2] - p[1])));
}

TEST_CASE("an angle is at most a straight one: a given one beyond is refused, one at rest is scaled up to there") {
  const std::vector<Vec3> corner{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}};
  const PotentialEntry& entry = *find_potential("angle");
  CHECK(entry.check({{"degrees", 120}, {"scale", 1.5}}).empty());
  CHECK(entry.check({{"degrees", 120}, {"scale", 1.6}}) ==
        "found degrees times scale = 192, expected at most 180 [deg]");
  for (const double scale : {2.0, 2.5, 3.9}) {  // 2.5 times 90 degrees is no angle: without an end it were 135
    const auto p = projected(*over("angle", corner, {{"scale", scale}}), corner);
    const Vec3 a = p[0] - p[1], b = p[2] - p[1];
    CHECK(norm(a) > 0.1);
    CHECK(dot(a, b) == doctest::Approx(-norm(a) * norm(b)).epsilon(1e-12));
  }
}

TEST_CASE("groups of the wrong size, repeated vertices and missing groups are refused by name") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 1, 1}}, {"cells", {2, 2, 2}}});
  std::vector<int> row(mesh.vertices.size());
  for (size_t v = 0; v < row.size(); ++v) row[v] = int(v);
  const auto refusal = [&](const std::string& name, const std::vector<std::vector<int>>& groups) {
    Diagnostics out;
    CHECK(find_potential(name)->make({mesh, row, {}, {}, {}, groups, {}}, "p", out) == nullptr);
    return out.text();
  };
  CHECK(refusal("angle", {}).find("p.groups: found none, expected lists of 3 vertices each") != std::string::npos);
  CHECK(refusal("area", {}).find("p.groups: found none, expected lists of 3 or more vertices each") !=
        std::string::npos);
  CHECK(refusal("volume", {{0, 1, 2, 9}, {0, 1, 2}}).find("p.groups[1]: found 3 vertices, expected 4") !=
        std::string::npos);
  CHECK(refusal("distance", {{5, 5}}).find("p.groups[0]: found vertex 5 twice, expected each once") !=
        std::string::npos);
  CHECK(refusal("planarity", {{0, 1, 2}}).find("p.groups[0]: found 3 vertices, expected 4 or more") !=
        std::string::npos);
  CHECK(refusal("volume", {{0, 1, 3, 4}}).find("found vertices on a plane at rest, expected some volume") !=
        std::string::npos);
  CHECK(refusal("formula", {{0, 1}}).find("found no formula, expected PotentialSpec::formula") != std::string::npos);
}
