// Pull tests: what Young's modulus and Poisson's ratio are said to be is what a bar or a strip shows.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <map>

#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// How a bar (a strip) along x answers to unit stress on its ends, everything else free: least squares over all
/// displacements, linear about rest.
struct Pull {
  double along = 0, across = 0, thick = 0;  // strains; the last one of bars alone
  double uneven = 0;                        // what is left of the displacements, over the largest
};

Pull pull(Potential& batch, const Mesh& mesh) {
  const int n = int(mesh.vertices.size());
  const std::vector<Vec4> rest = at_rest(mesh);
  double Vec4::*axes[] = {&Vec4::x, &Vec4::y, &Vec4::z};
  Eigen::MatrixXd K(3 * n, 3 * n);
  const double d = 1e-5;
  for (int v = 0; v < n; ++v)
    for (int a = 0; a < 3; ++a) {
      std::vector<Vec4> x = rest;
      x[v].*axes[a] += d;
      const Slope above = slope(batch, x);
      x[v].*axes[a] -= 2 * d;
      const Slope below = slope(batch, x);
      for (int w = 0; w < n; ++w)
        for (int b = 0; b < 3; ++b)
          K(3 * w + b, 3 * v + a) = (above.gradient[w].*axes[b] - below.gradient[w].*axes[b]) / (2 * d);
    }
  // Uniform stress on the ends, as its work on linear elements: a third of each face, half of each edge.
  Eigen::VectorXd force = Eigen::VectorXd::Zero(3 * n);
  double reach = 0;
  for (const Vec3& v : mesh.vertices) reach = std::max(reach, v.x);
  const auto load = [&](auto face, double size) {
    for (const double end : {-reach, reach}) {
      if (!std::all_of(face.begin(), face.end(), [&](int v) { return std::abs(mesh.vertices[v].x - end) < 1e-9; }))
        continue;
      for (const int v : face) force[3 * v] += (end > 0 ? 1 : -1) * size / double(face.size());
    }
  };
  const auto& x = mesh.vertices;
  for (const auto& t : mesh.tetrahedra)
    for (int i = 0; i < 4; ++i) {
      const std::array<int, 3> f{t[(i + 1) % 4], t[(i + 2) % 4], t[(i + 3) % 4]};
      load(f, 0.5 * norm(cross(x[f[1]] - x[f[0]], x[f[2]] - x[f[0]])));
    }
  if (mesh.tetrahedra.empty())
    for (const auto& t : mesh.triangles)
      for (int i = 0; i < 3; ++i) {
        const std::array<int, 2> f{t[i], t[(i + 1) % 3]};
        load(f, norm(x[f[1]] - x[f[0]]));
      }
  REQUIRE(force.cwiseAbs().maxCoeff() > 0);
  // Rigid motions cost nothing, nor does a flat sheet resist what leaves its plane: those are left out. Differences are
  // good to about 1e-10 of K.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(0.5 * (K + K.transpose()));
  const Eigen::VectorXd& c = modes.eigenvalues();
  Eigen::VectorXd amount = modes.eigenvectors().transpose() * force;
  for (int k = 0; k < c.size(); ++k) amount[k] = c[k] > 1e-7 * c.maxCoeff() ? amount[k] / c[k] : 0;
  const Eigen::VectorXd u = modes.eigenvectors() * amount;

  Pull out;
  Vec3 square{};
  for (const Vec3& v : mesh.vertices) square += {v.x * v.x, v.y * v.y, v.z * v.z};
  Vec3 strain{};
  for (int v = 0; v < n; ++v)
    for (int a = 0; a < 3; ++a) strain[a] += square[a] > 1e-12 ? u[3 * v + a] * x[v][a] / square[a] : 0;
  for (int v = 0; v < n; ++v)
    for (int a = 0; a < 3; ++a)
      out.uneven = std::max(out.uneven, std::abs(u[3 * v + a] - strain[a] * x[v][a]) / (strain.x * reach));
  out.along = strain.x, out.across = strain.z, out.thick = strain.y;
  return out;
}

/// Centred on the origin, so that strains are moments.
Mesh specimen(const PotentialInfo& info) {
  Mesh mesh = info.elements == "tetrahedra"
                  ? mesh_of("box", {{"size", {2, 0.6, 0.6}}, {"cells", {4, 2, 2}}})
                  : mesh_of("cloth", {{"width", {2}}, {"length", {0.6}}, {"columns", {6}}, {"rows", {4}}});
  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& v : mesh.vertices)
    for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], v[a]), high[a] = std::max(high[a], v[a]);
  for (Vec3& v : mesh.vertices) v = v - (low + high) * 0.5;
  return mesh;
}

}  // namespace

TEST_CASE("every potential that takes Young's modulus has it, with its Poisson's ratio, or refuses") {
  int pulled = 0, refused = 0;
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const auto takes = [&](const char* name) {
      const auto& all = entry.info.parameters;
      return std::any_of(all.begin(), all.end(), [&](const ParameterInfo& p) { return p.name == name; });
    };
    if (!takes("young")) {
      // a ratio by itself is that of a plate, which is bent, not pulled (test_bending.cpp)
      CHECK((!takes("poisson") || entry.info.name == "bending"));
      continue;
    }
    REQUIRE((entry.info.elements == "tetrahedra" || entry.info.elements == "triangles"));
    const Mesh mesh = specimen(entry.info);
    for (const double young : {1.0, 1e6}) {
      for (const double poisson : {0.0, 0.2, 0.45}) {
        CAPTURE(poisson);
        const ParameterValues values{{"young", young}, {"poisson", poisson}};
        const std::string fault = entry.check(values);
        if (!fault.empty()) {
          // names one over the same elements that can
          bool named = false;
          for (const PotentialEntry& other : potential_registry())
            named |= fault.find("\"" + other.info.name + "\"") != std::string::npos &&
                     other.info.elements == entry.info.elements && other.check(values).empty();
          CHECK_MESSAGE(named, fault);
          ++refused;
          continue;
        }
        const auto batch = make(entry, mesh, values);
        const Pull p = pull(*batch, mesh);
        // Uniform stress is an affine motion, which linear elements have exactly: what is left is round-off of the
        // differences, 1e-16 / 1e-5 of K, over its least eigenvalue, some 1e-3.
        CHECK(p.uneven < 1e-6);
        CHECK(1 / p.along == doctest::Approx(young).epsilon(1e-6));
        CHECK(-p.across / p.along == doctest::Approx(poisson).epsilon(1e-6));
        if (entry.info.elements == "tetrahedra") CHECK(-p.thick / p.along == doctest::Approx(poisson).epsilon(1e-6));
        ++pulled;
      }
    }
    // what is given alone: the ratio that the help names
    if (!entry.check({{"young", 1e6}}).empty()) continue;
    const Pull alone = pull(*make(entry, mesh, {{"young", 1e6}}), mesh);
    CHECK(1 / alone.along == doctest::Approx(1e6).epsilon(1e-6));
  }
  CHECK(pulled >= 2 * (3 * 5 + 2));  // stvk, two Neo-Hookean, two corotated; two without a ratio
  CHECK(refused >= 2 * 4);
}
