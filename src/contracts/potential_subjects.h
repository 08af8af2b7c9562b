// Meshes, motions and batches to try potentials on.
#pragma once

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "potentials/potential.h"
#include "verve/mesh.h"

namespace verve::test {

inline Mesh mesh_of(const std::string& generator, const Parameters& parameters = {}) {
  Expected<Mesh> mesh = generate_mesh(generator, parameters);
  return std::move(mesh.value());
}

inline Mesh curved(Mesh mesh) {
  for (Vec3& v : mesh.vertices) v.y += 0.3 * std::cos(2 * v.x) + 0.1 * v.x * v.z, v.z += 0.2 * v.x * v.x;
  return mesh;
}

/// A mesh with elements of the kind a potential acts on; a new kind must be added here.
inline Mesh suitable_mesh(const PotentialInfo& info, bool large = false) {
  const double n = large ? (info.takes_examples ? 12 : 26) : 2;
  if (info.elements == "tetrahedra" || info.name == "custom")
    return mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {n, n, n}}});
  if (info.elements == "edges") return mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {n, n, n}}});
  // sheets and lines that are curved at rest: what is kept of that is the harder part
  if (info.elements == "vertices" || info.elements == "hinges")
    return curved(mesh_of(
        "cloth",
        {{"width", {2}}, {"length", {1.5}}, {"columns", {large ? 60.0 : 5.0}}, {"rows", {large ? 59.0 : 4.0}}}));
  if (info.elements == "joints")
    return curved(mesh_of("chain", {{"length", {4}}, {"vertices", {large ? 5000.0 : 9.0}}}));
  if (info.elements == "triangles")
    return mesh_of("cloth", {{"columns", {large ? 56 : n + 3}}, {"rows", {large ? 55 : n + 2}}});
  if (info.elements == "closed surfaces") return mesh_of("sphere", {{"frequency", {large ? 60.0 : 3.0}}});
  if (info.elements == "groups of vertices") {  // they cost more each, and need fewer to fill many chunks
    const double m = large ? 15 : 2;
    return mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {m, m, m}}});
  }
  throw std::logic_error("no mesh for a potential over " + info.elements);
}

/// Groups that a potential over groups can do something with: of the right size, and in its set at rest. The meshes are
/// boxes on a regular grid, so four vertices around a square lie on a plane and on a circle.
inline std::vector<std::vector<int>> suitable_groups(const PotentialInfo& info, const Mesh& mesh) {
  std::vector<std::vector<int>> groups;
  if (!info.takes_groups) return groups;
  if (info.name == "planarity" || info.name == "circle") {
    const int n = int(std::lround(std::cbrt(double(mesh.vertices.size()))));
    for (int v = 0; v + n + 1 < int(mesh.vertices.size()); ++v)
      if (v % n + 1 < n && v / n % n + 1 < n) groups.push_back({v, v + 1, v + n + 1, v + n});
    return groups;
  }
  for (const auto& t : mesh.tetrahedra) {
    if (info.name == "distance") {
      groups.push_back({t[0], t[1]});
    } else if (info.name == "formula") {
      const auto length = [&](int a, int b) { return norm(mesh.vertices[a] - mesh.vertices[b]); };
      const auto& first = mesh.tetrahedra[0];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j)
          if (std::abs(length(t[i], t[j]) - length(first[0], first[1])) < 1e-9) groups.push_back({t[i], t[j]});
    } else if (info.name == "angle" || info.name == "area") {
      groups.push_back({t[0], t[1], t[2]});
    } else {
      groups.push_back({t.begin(), t.end()});
    }
  }
  return groups;
}

/// What a program might hand to potential "formula": pairs of vertices at their distance of the meshes above.
inline std::shared_ptr<const Formula> suitable_formula(const PotentialInfo& info, const Mesh& mesh) {
  if (info.name != "formula") return nullptr;
  const auto& t = mesh.tetrahedra[0];
  const double length = norm(mesh.vertices[t[1]] - mesh.vertices[t[0]]);
  return std::make_shared<const Formula>(Formula{1, [length](const Vec3* q, int, double* c, Vec3* gradient) {
                                                   const Vec3 d = q[1] - q[0];
                                                   c[0] = dot(d, d) - length * length;
                                                   gradient[0] = d * -2, gradient[1] = d * 2;
                                                 }});
}

/// What a program might hand to potential "custom": StVK without lambda, Psi = mu |E|^2 with E = (F^T F - 1)/2 and
/// dPsi/dF = 2 mu F E. mu is half the default of the parameter `stiffness`, the second derivative at rest.
inline std::shared_ptr<const ConstitutiveLaw> suitable_law(const PotentialInfo& info) {
  if (info.name != "custom") return nullptr;
  const auto energy = [](int elements, const Vec3* F, double* psi, Vec3* slope) {
    const double mu = 5e3;
    for (int e = 0; e < elements; ++e, F += 3, slope += 3) {
      psi[e] = 0;
      for (int k = 0; k < 3; ++k) slope[k] = {};
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) {
          const double strain = 0.5 * (dot(F[k], F[l]) - (k == l));
          psi[e] += mu * strain * strain;
          slope[k] += F[l] * (2 * mu * strain);
        }
    }
  };
  return std::make_shared<const ConstitutiveLaw>(ConstitutiveLaw{3, energy, {}});
}

/// Poses of a mesh: bent and swollen, twisted.
inline std::vector<std::vector<Vec3>> suitable_examples(const PotentialInfo& info, const Mesh& mesh) {
  std::vector<std::vector<Vec3>> poses;
  if (!info.takes_examples) return poses;
  poses.resize(2);
  for (const Vec3& v : mesh.vertices) {
    poses[0].push_back({v.x * 1.3, v.y + 0.4 * v.x * v.x, v.z * 0.8});
    const double c = std::cos(v.z), s = std::sin(v.z);
    poses[1].push_back({c * v.x - s * v.y, s * v.x + c * v.y, v.z});
  }
  return poses;
}

/// As the scene file would have it with nothing given but what it must. `row` of each vertex: its own number by
/// default.
inline std::unique_ptr<Potential> make(const PotentialEntry& entry, const Mesh& mesh,
                                       const ParameterValues& values = {}, std::vector<int> row = {}) {
  for (int v = int(row.size()); v < int(mesh.vertices.size()); ++v) row.push_back(v);
  Diagnostics out;
  auto potential = entry.make({mesh,
                               row,
                               values,
                               {},
                               {},
                               suitable_groups(entry.info, mesh),
                               suitable_examples(entry.info, mesh),
                               suitable_formula(entry.info, mesh),
                               suitable_law(entry.info)},
                              "potential", out);
  if (!potential) throw std::runtime_error(out.text());
  return potential;
}

inline std::vector<Vec4> at_rest(const Mesh& mesh) {
  std::vector<Vec4> x;
  for (const Vec3& v : mesh.vertices) x.push_back(Vec4(v));
  return x;
}

/// Stretched, sheared, and each vertex moved by up to `noise`.
inline std::vector<Vec4> deformed(const Mesh& mesh, double noise, std::uint64_t seed) {
  const Mat3 f{{{{1.2, 0.1, -0.05}, {0.2, 0.9, 0.1}, {0, -0.1, 1.1}}}};
  std::vector<Vec4> x;
  for (size_t v = 0; v < mesh.vertices.size(); ++v)
    x.push_back(Vec4(f * mesh.vertices[v] + random_in_ball(seed, v) * noise));
  return x;
}

/// A rotation from a random unit quaternion.
inline Mat3 random_rotation(std::uint64_t seed, std::uint64_t index) {
  double q[4], n = 0;
  for (std::uint64_t attempt = 0;; ++attempt) {
    n = 0;
    for (int i = 0; i < 4; ++i) q[i] = random_signed(seed, 4 * (index + (attempt << 40)) + i), n += q[i] * q[i];
    if (n <= 1 && n > 0.01) break;
  }
  n = std::sqrt(n);
  const double w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
  return {{{{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
            {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
            {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}}};
}

inline std::vector<Vec4> moved(const std::vector<Vec4>& x, const Mat3& rotation, const Vec3& shift) {
  std::vector<Vec4> out;
  for (const Vec4& v : x) out.push_back(Vec4(rotation * v.xyz() + shift));
  return out;
}

struct Slope {
  double energy = 0;
  std::vector<Vec4> gradient;
};

inline Slope slope(Potential& p, const std::vector<Vec4>& x, Precision precision = Precision::float64) {
  Slope s;
  s.gradient.resize(x.size());
  s.energy = p.add_gradient(x.data(), s.gradient.data(), precision);
  return s;
}

inline double length(const std::vector<Vec4>& rows) {
  double sum = 0;
  for (const Vec4& r : rows) sum += dot(r, r);
  return std::sqrt(sum);
}

inline double distance(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += dot(a[i] - b[i], a[i] - b[i]);
  return std::sqrt(sum);
}

struct Projection {
  std::vector<Vec3> z, p;
};

inline Projection project(const Potential& potential, const std::vector<Vec4>& x) {
  Projection out;
  size_t rows = 0;
  for (int e = 0; e < potential.elements(); ++e) rows += potential.rows(e);
  out.z.resize(rows);
  out.p.resize(out.z.size());
  potential.project(x.data(), out.z.data(), out.p.data());
  return out;
}

}  // namespace verve::test
