// Strain, strain limits, areas and volumes of single elements, of every class that makes trouble.
#include <doctest/doctest.h>

#include <Eigen/Geometry>

#include "matrices.h"
#include "potentials/area_spring.h"
#include "potentials/batch.h"
#include "potentials/edge_strain.h"
#include "potentials/tet_limit.h"
#include "potentials/tet_volume.h"
#include "potentials/tri_area.h"
#include "potentials/tri_limit.h"
#include "potentials/tri_strain.h"
#include "potentials/volume_spring.h"
#include "targets.h"

using namespace verve;
using namespace verve::test;

namespace {

double sq(double a) { return a * a; }

Eigen::MatrixXd eigen_of(const Vec3* columns, int count) {
  Eigen::MatrixXd m(3, count);
  for (int c = 0; c < count; ++c)
    for (int i = 0; i < 3; ++i) m(i, c) = columns[c][i];
  return m;
}

/// Singular values, largest first; the last is negative for a 3x3 matrix of negative determinant. The sign is that of
/// the rotations: a determinant near zero has none that could be trusted.
Eigen::VectorXd signed_values(const Eigen::MatrixXd& m) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(m, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::VectorXd s = svd.singularValues();
  if (m.cols() == 3 && svd.matrixU().determinant() * svd.matrixV().determinant() < 0) s(2) = -s(2);
  return s;
}

/// Elements whose z is a given matrix, apart from each other, of weight 1: what the packs project them to.
template <class Kernel>
class Projector {
 public:
  Projector(int count, typename Kernel::Params params)
      : x_(count * Kernel::vertices), batch_(stencils(count), rest(count), params) {
    for (int e = 0; e < count; ++e) REQUIRE(std::abs(batch_.weight(e) - 1) < 1e-15);
  }
  void set(int k, const Mat3& f) {
    for (int c = 0; c < Kernel::rows; ++c) x_[k * Kernel::vertices + 1 + c] = Vec4(f.col[c]);
  }
  void run(Precision precision) { out_ = slope(batch_, x_, precision).gradient; }
  Eigen::MatrixXd z(int k) const {
    std::array<Vec3, 3> c{};
    for (int r = 0; r < Kernel::rows; ++r) c[r] = x_[k * Kernel::vertices + 1 + r].xyz();
    return eigen_of(c.data(), Kernel::rows);
  }
  Eigen::MatrixXd projected(int k) const {
    std::array<Vec3, 3> c{};
    for (int r = 0; r < Kernel::rows; ++r)
      c[r] = (x_[k * Kernel::vertices + 1 + r] - out_[k * Kernel::vertices + 1 + r]).xyz();
    return eigen_of(c.data(), Kernel::rows);
  }

 private:
  static std::vector<typename Batch<Kernel>::Stencil> stencils(int count) {
    std::vector<typename Batch<Kernel>::Stencil> s(count);
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < Kernel::vertices; ++i) s[k][i] = k * Kernel::vertices + i;
    return s;
  }
  static std::vector<std::array<Vec3, Kernel::vertices>> rest(int count) {
    std::array<Vec3, Kernel::vertices> unit{};
    for (int i = 1; i < Kernel::vertices; ++i) unit[i][i - 1] = 1;
    return {size_t(count), unit};
  }
  std::vector<Vec4> x_, out_;
  Batch<Kernel> batch_;
};

/// Calls check(z, projected, eps of the precision) for matrices of every class, packs of every set of instructions.
template <class Kernel, class F>
void for_matrices(typename Kernel::Params params, F&& check) {
  const int count = 512;
  Projector<Kernel> elements(count, params);
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const bool narrow = precision == Precision::float32;
      CAPTURE(narrow);
      for (int k = 0; k < count; ++k) {
        Mat3 f = c.make(k);
        if (narrow)
          for (int i = 0; i < 9; ++i) f(i / 3, i % 3) = double(float(f(i / 3, i % 3)));
        elements.set(k, f);
      }
      for_each_target([&](const std::string&) {
        elements.run(precision);
        for (int k = 0; k < count; ++k) check(elements.z(k), elements.projected(k), narrow ? 6e-8 : 1.1e-16);
      });
    }
  }
}

/// Strain limits: singular values in [least, most], and nothing of the kind is nearer than the distance of the values.
template <class Kernel>
void check_limits(double least, double most, double unit_stiffness) {
  for_matrices<Kernel>({unit_stiffness, least, most},
                       [&](const Eigen::MatrixXd& z, const Eigen::MatrixXd& p, double eps) {
                         const double size = 1 + z.norm();
                         const Eigen::VectorXd s = signed_values(z), t = signed_values(p);
                         double distance2 = 0;
                         for (int i = 0; i < s.size(); ++i) {
                           REQUIRE(t(i) >= least - 60 * eps * size);
                           REQUIRE(t(i) <= most + 60 * eps * size);
                           const double d = std::clamp(s(i), least, most) - s(i);
                           distance2 += d * d;
                         }
                         REQUIRE((z - p).norm() <= std::sqrt(distance2) + 60 * eps * size);
                       });
}

template <class Kernel>
void check_determinants(double least, double most, double unit_stiffness) {
  for_matrices<Kernel>({unit_stiffness, least, most},
                       [&](const Eigen::MatrixXd& z, const Eigen::MatrixXd& p, double eps) {
                         const Eigen::VectorXd s = signed_values(z), t = signed_values(p);
                         // p is z plus a change, so that its last digits are those of z: that much the product is off
                         const double room = 1e-8 + 60 * eps * std::pow(1 + z.norm(), double(s.size()));
                         REQUIRE(t.prod() >= least - room);
                         REQUIRE(t.prod() <= most + room);
                         if (s.prod() >= least && s.prod() <= most)
                           REQUIRE((z - p).norm() <= 60 * eps * (1 + z.norm()));
                       });
}

}  // namespace

TEST_CASE("matrices of every class have their nearest isometry, in packs") {
  TriStrain::Params params;
  params.mu = 1;
  for_matrices<TriStrain>(params, [](const Eigen::MatrixXd& z, const Eigen::MatrixXd& p, double eps) {
    const double size = 1 + z.norm();
    // the normal of a triangle is off by eps / 1e-3 in double, eps / 0.05 in float, before the SVD takes over; p itself
    // is recovered from z - p and loses what z has in size
    const double room = (eps < 1e-10 ? 3000 : 60) * eps + 30 * eps * size;
    REQUIRE((p.transpose() * p - Eigen::Matrix2d::Identity()).norm() <= room);
    REQUIRE((p.transpose() * z).trace() >= signed_values(z).sum() - room * size);
  });
}

TEST_CASE("singular values of every class are clamped, inverted tetrahedra turned round (Inventory P08, P09)") {
  check_limits<TriLimit>(0.9, 1.1, 1);
  check_limits<TriLimit>(0, 0.5, 1);
  check_limits<TetLimit>(0.7, 1.3, 3);
  check_limits<TetLimit>(1, 1, 3);
}

TEST_CASE("determinants of every class are brought into their bounds (Inventory P10)") {
  check_determinants<TriArea>(1, 1, 1);
  check_determinants<TriArea>(0.5, 1.5, 1);
  check_determinants<TetVolume>(1, 1, 3);
  check_determinants<TetVolume>(0.8, 1.2, 3);
  check_determinants<TetVolume>(1e-3, 30, 3);
}

namespace {

/// Solves for one set of values and compares with every point where the Lagrangian is stationary, found by scanning.
/// Gives the steps it took to 1e-8.
template <int Others>
int check_solution(const std::array<double, Others>& others, double last, double c) {
  double det = last, scale = std::abs(last);
  for (const double s : others) det *= s, scale = std::max(scale, s);
  if (det == c) return 0;
  const DeterminantProblem<double, Others> problem(others, last);
  int steps = -1;
  const double t = solve_determinant(problem, det, c, std::pow(c, 1.0 / (Others + 1)), &steps);
  CAPTURE(others[0]);
  CAPTURE(others[Others - 1]);
  CAPTURE(last);
  CAPTURE(c);
  double unused;
  REQUIRE(std::abs(problem.product(t, unused) - c) <= 1e-12 * c);
  const double best = problem.squared_distance(t);
  // any t > 0 with the others scaled to the product is a point of the set
  for (int k = 0; k <= 400; ++k) {
    const double u = (scale + 2) * (k + 0.5) / 400;
    double product = u, distance2 = (u - last) * (u - last);
    std::array<double, Others> v;
    for (int i = 0; i < Others; ++i) product *= v[i] = std::max(problem.other(u, i), 1e-3);
    const double factor = std::pow(c / product, 1.0 / Others);
    for (int i = 0; i < Others; ++i) distance2 += sq(v[i] * factor - others[i]);
    REQUIRE(best <= distance2 * (1 + 1e-12) + 1e-14 * scale * scale);
  }
  // and so is the mirror image of one branch in the other
  for (const double u : {last - t, t * 0.5, last * 0.5})
    if (u > 0 && std::abs(problem.product(u, unused) - c) <= 1e-9 * c)
      REQUIRE(best <= problem.squared_distance(u) * (1 + 1e-7));
  return steps;
}

}  // namespace

TEST_CASE("the nearest values with a given product are found for every sort of element (Inventory P10)") {
  int most = 0, many = 0, all = 0;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    std::array<double, 3> s;
    for (int i = 0; i < 3; ++i) {
      const double u = positive(40 + i, k);
      // gentle, wild, nearly equal and large, flat
      s[i] = k % 4 == 0   ? 1 + 0.3 * number(50 + i, k)
             : k % 4 == 1 ? std::pow(10.0, 8 * u - 6)
             : k % 4 == 2 ? (1 + 2 * positive(60, k)) * (1 + 0.3 * tiny(61 + i, k))
                          : (i ? 0.0 : 3 * u);
    }
    std::sort(s.begin(), s.end(), [](double a, double b) { return a > b; });
    const double sign = k % 8 < 4 ? 1 : -1;
    for (const double c : {1.0, 0.5, 2.0, 1e-3}) {
      for (const int steps : {check_solution<2>({s[0], s[1]}, sign * s[2], c), check_solution<1>({s[0]}, s[1], c)})
        most = std::max(most, steps), many += steps > determinant_iterations, ++all;
    }
  }
  MESSAGE("steps at most: " << most << ", more than ten in " << many << " of " << all);
  CHECK(many == 0);
}

TEST_CASE("the iteration for the product of singular values converges to 1e-8 within ten steps (Inventory P10)") {
  int most = 0;
  for (const Class& cls : classes())
    for (std::uint64_t k = 0; k < 2000; ++k) {
      const Mat3 f = cls.make(k);
      Mat3 u, v;
      Vec3 s;
      rotation_svd(f, u, s, v);
      const double det = s.x * s.y * s.z;
      const DeterminantProblem<double, 2> problem({s.x, s.y}, s.z);
      int steps = 0;
      const double t = solve_determinant(problem, det, 1.0, 1.0, &steps);
      double unused;
      most = std::max(most, steps);
      REQUIRE(std::abs(problem.product(t, unused) - 1) <= 1e-8);
    }
  MESSAGE("steps at most: " << most);
  CHECK(most < determinant_iterations);
}

TEST_CASE("the energy of triangles and tetrahedra is as-rigid-as-possible with cotangent weights (Inventory N08)") {
  // Sum over the edges of an element of cot |e' - R e|^2 is the integral of |F - R|^2: Pinkall and Polthier 1993 for
  // triangles; for tetrahedra the weight is a sixth of the opposite edge times the cotangent of its dihedral angle
  const Mesh cloth = mesh_of("cloth", {{"columns", {5}}, {"rows", {4}}});
  const auto x = deformed(cloth, 0.05, 1);
  double arap = 0;
  for (const auto& t : cloth.triangles) {
    const auto rest = [&](int i) { return cloth.vertices[t[i % 3]]; };
    Eigen::Matrix<double, 3, 2> now, before;
    for (int i = 0; i < 2; ++i) {
      const Vec3 d = x[t[i + 1]].xyz() - x[t[0]].xyz(), e = rest(i + 1) - rest(0);
      now.col(i) << d.x, d.y, d.z;
      before.col(i) << e.x, e.y, e.z;
    }
    Eigen::Matrix<double, 3, 2> axes;
    axes.col(0) = before.col(0).normalized();
    axes.col(1) = before.col(0).cross(before.col(1)).cross(before.col(0)).normalized();
    const Eigen::Matrix<double, 3, 2> f = now * (axes.transpose() * before).inverse();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(f, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::MatrixXd rotation = svd.matrixU() * svd.matrixV().transpose() * axes.transpose();
    for (int i = 0; i < 3; ++i) {
      const Vec3 a = rest(i) - rest(i + 2), b = rest(i + 1) - rest(i + 2), e = rest(i + 1) - rest(i);
      const Vec3 d = x[t[(i + 1) % 3]].xyz() - x[t[i]].xyz();
      const Eigen::Vector3d left = Eigen::Vector3d(d.x, d.y, d.z) - rotation * Eigen::Vector3d(e.x, e.y, e.z);
      arap += 0.5 * dot(a, b) / norm(cross(a, b)) * left.squaredNorm();
    }
  }
  const auto tri = make(*find_potential("tri_strain"), cloth, {{"mu", 7}});
  CHECK(tri->energy(x.data()) == doctest::Approx(7 * arap).epsilon(1e-12));

  const Mesh box = mesh_of("box", {{"cells", {2, 1, 2}}});
  const auto y = deformed(box, 0.05, 2);
  arap = 0;
  for (const auto& t : box.tetrahedra) {
    Mat3 now, before;
    for (int i = 0; i < 3; ++i)
      now.col[i] = y[t[i + 1]].xyz() - y[t[0]].xyz(), before.col[i] = box.vertices[t[i + 1]] - box.vertices[t[0]];
    const Mat3 rotation = nearest_rotation_svd(now * inverse(before));
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j) {
        int k = 0;
        while (k == i || k == j) ++k;
        const int l = 6 - i - j - k;
        const Vec3 across = box.vertices[t[l]] - box.vertices[t[k]];
        const Vec3 n = cross(across, box.vertices[t[i]] - box.vertices[t[k]]);
        const Vec3 m = cross(across, box.vertices[t[j]] - box.vertices[t[k]]);
        const double weight = norm(across) / 6 * dot(n, m) / norm(cross(n, m));
        const Vec3 left = y[t[j]].xyz() - y[t[i]].xyz() - rotation * (box.vertices[t[j]] - box.vertices[t[i]]);
        arap += weight * dot(left, left);
      }
  }
  const auto tet = make(*find_potential("tet_strain"), box, {{"mu", 7}});
  CHECK(tet->energy(y.data()) == doctest::Approx(7 * arap).epsilon(1e-12));
}

TEST_CASE("a finer mesh has the same energy for the same deformation (Inventory P07)") {
  const auto bent = [](const Mesh& mesh) {
    std::vector<Vec4> x;
    for (const Vec3& v : mesh.vertices) {
      const double angle = 0.8 * v.x, r = 1.5 - v.z;  // bent round an axis, twisted and stretched
      x.push_back(Vec4(r * std::sin(angle), 1.2 * v.y + 0.1 * v.x * v.z, 1.5 - r * std::cos(angle) + 0.1 * v.x * v.x));
    }
    return x;
  };
  for (const std::string name : {"edge_strain", "tri_strain", "tet_strain", "tri_limit", "tet_limit", "tri_area",
                                 "tet_volume", "area_spring", "volume_spring"}) {
    CAPTURE(name);
    std::vector<double> energy;
    for (const double n : {6.0, 12.0}) {
      // edges are curves: a sheet of them has twice as many with half the length each when it is refined
      const Mesh mesh = name[0] == 'e' ? mesh_of("chain", {{"vertices", {n + 1}}})
                                       : (name[1] == 'r' ? mesh_of("cloth", {{"columns", {n + 1}}, {"rows", {n + 1}}})
                                                         : mesh_of("box", {{"cells", {n, n, n}}}));
      energy.push_back(make(*find_potential(name), mesh, {{find_potential(name)->info.parameters[0].name, 100}})
                           ->energy(bent(mesh).data()));
    }
    CHECK(energy[0] > 0);
    CHECK(std::abs(energy[1] / energy[0] - 1) <= 0.05);
  }
}

TEST_CASE("an affine map leaves the inside in equilibrium: the patch test") {
  // F is the same everywhere, so is dPsi/dF, and its divergence vanishes: for every potential that sees F alone and is
  // weighted by area or volume
  const Mat3 map{{{{1.3, 0.2, -0.1}, {0.1, 0.8, 0.3}, {-0.2, 0.1, 1.2}}}};
  for (const std::string name : {"tri_strain", "tet_strain", "tri_limit", "tet_limit", "tri_limit_axes",
                                 "tet_limit_axes", "tri_area", "tet_volume", "area_spring", "volume_spring"}) {
    CAPTURE(name);
    const Mesh mesh = name[1] == 'r' ? mesh_of("cloth", {{"columns", {6}}, {"rows", {5}}})
                                     : mesh_of("box", {{"size", {1, 1, 1}}, {"cells", {4, 4, 4}}});
    Vec3 low = mesh.vertices[0], high = low;
    for (const Vec3& v : mesh.vertices)
      for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], v[i]), high[i] = std::max(high[i], v[i]);
    const auto batch = make(*find_potential(name), mesh);
    const Slope s = slope(*batch, moved(at_rest(mesh), map, {}));
    double inner = 0, outer = 0;
    int inside = 0;
    for (size_t v = 0; v < mesh.vertices.size(); ++v) {
      bool boundary = false;
      for (int i = 0; i < 3; ++i)
        if (high[i] > low[i] + 1e-9)
          boundary |= mesh.vertices[v][i] < low[i] + 1e-9 || mesh.vertices[v][i] > high[i] - 1e-9;
      double& worst = boundary ? outer : inner;
      inside += !boundary;
      worst = std::max(worst, norm(s.gradient[v].xyz()));
    }
    CHECK(inside > 5);
    CHECK(outer > 0);
    CHECK(inner <= 1e-12 * outer);
  }
}

TEST_CASE("springs on distances, areas and volumes are those of Teschner et al. (Inventory N37)") {
  // E = 1/2 k ((C - C0) / C0)^2 with k of an element = stiffness times its size
  const Mat3 twice = Mat3::diagonal({2, 2, 2});
  const Mesh box = mesh_of("box", {{"size", {1, 1, 1}}, {"cells", {1, 1, 1}}});
  const auto volume = make(*find_potential("volume_spring"), box, {{"stiffness", 10}});
  CHECK(volume->energy(moved(at_rest(box), twice, {}).data()) == doctest::Approx(0.5 * 10 * 49));
  CHECK(volume->energy(moved(at_rest(box), Mat3::diagonal({-1, 1, 1}), {}).data()) == doctest::Approx(0.5 * 10 * 4));
  CHECK_FALSE(volume->is_bounded());
  const Mesh cloth = mesh_of("cloth", {{"width", {2}}, {"length", {1}}, {"columns", {4}}, {"rows", {3}}});
  const auto area = make(*find_potential("area_spring"), cloth, {{"stiffness", 10}});
  CHECK(area->energy(moved(at_rest(cloth), twice, {}).data()) == doctest::Approx(0.5 * 10 * 2 * 9));
  CHECK_FALSE(area->is_bounded());
  const auto edges = make(*find_potential("edge_strain"), cloth, {{"stiffness", 10}});
  double expected = 0;
  const auto x = deformed(cloth, 0.1, 3);
  for (const auto& e : unique_edges(cloth)) {
    const double rest = norm(cloth.vertices[e[1]] - cloth.vertices[e[0]]), now = norm((x[e[1]] - x[e[0]]).xyz());
    expected += 0.5 * 10 * rest * sq((now - rest) / rest);
  }
  CHECK(edges->energy(x.data()) == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("bounds in the wrong order and a direction of no length are refused") {
  CHECK(find_potential("tri_limit")->check({{"min", 1.2}, {"max", 0.9}}) ==
        "found min = 1.2 above max = 0.9, expected min <= max");
  for (const char* name : {"edge_limit", "tet_limit", "tri_area", "tet_volume"})
    CHECK(find_potential(name)->check({{"min", 1.2}, {"max", 0.9}}).find("expected min <= max") != std::string::npos);
  for (const char* name : {"tri_limit_axes", "tet_limit_axes"}) {
    const std::string text = find_potential(name)->check({{"min_along", 2}, {"min_across", 3}});
    CHECK(text.find("min_along = 2 above max_along = 1.1") != std::string::npos);
    CHECK(text.find("min_across = 3 above max_across = 1.1") != std::string::npos);
    const Mesh mesh = suitable_mesh(find_potential(name)->info);
    std::vector<int> row(mesh.vertices.size());
    Diagnostics out;
    CHECK(find_potential(name)->make({mesh, row, {}, {{"direction", {0, 0, 0}}}, {}, {}, {}}, "here", out) == nullptr);
    CHECK(out.text().find("found a direction of no length") != std::string::npos);
  }
}
