// The matrices of a global step on generated meshes: A = M/h^2 + sum w G^T G, corotated tets or springs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.h"
#include "linear/sparse.h"
#include "verve/mesh.h"

namespace verve::test {

/// A mesh whose tets, or edges if it has none, are weighted by a stiffness that may vary from place to place.
struct Body {
  Mesh mesh;
  std::function<double(const Vec3&)> stiffness = [](const Vec3&) { return 1e5; };  // 2 mu [Pa], or [N/m]
  double density = 1000;
  double step = 1.0 / 30;
};

inline Body generated(const std::string& generator, const Parameters& parameters = {}) {
  auto mesh = generate_mesh(generator, parameters);
  if (!mesh) throw std::runtime_error("no mesh " + generator);
  return {.mesh = *mesh};
}
inline Body box(int cells, double flatness = 1) {
  const double n = cells;
  return generated("box", {{"cells", {n, n, n}}, {"size", {1, 1, flatness}}});
}

/// Adds the same entries in the same order each time, from row `first` on.
inline void add_body(SymmetricAssembly& out, const Body& body, int first = 0) {
  const Mesh& m = body.mesh;
  std::vector<double> mass(m.vertices.size(), 0.0);
  const auto center = [&](const auto& element) {
    Vec3 c{};
    for (const int v : element) c += m.vertices[v];
    return c / double(element.size());
  };
  for (const auto& t : m.tetrahedra) {
    const Vec3 a = m.vertices[t[0]];
    const Mat3 edges{{m.vertices[t[1]] - a, m.vertices[t[2]] - a, m.vertices[t[3]] - a}};
    const double volume = det(edges) / 6, weight = body.stiffness(center(t)) * volume;
    const Mat3 g = transpose(inverse(edges));  // columns: gradients of the last three barycentric coordinates
    const Vec3 gradient[4] = {-(g.col[0] + g.col[1] + g.col[2]), g.col[0], g.col[1], g.col[2]};
    for (int i = 0; i < 4; ++i) {
      mass[t[i]] += body.density * volume / 4;
      for (int j = 0; j <= i; ++j) out.add(first + t[i], first + t[j], weight * dot(gradient[i], gradient[j]));
    }
  }
  if (m.tetrahedra.empty()) {
    for (const auto& e : unique_edges(m)) {
      const double k = body.stiffness(center(e));
      out.add(first + e[0], first + e[0], k);
      out.add(first + e[1], first + e[1], k);
      out.add(first + e[1], first + e[0], -k);
    }
    mass.assign(m.vertices.size(), body.density * 1e-3 / double(m.vertices.size()));
  }
  for (size_t v = 0; v < mass.size(); ++v) out.add(first + int(v), first + int(v), mass[v] / (body.step * body.step));
}

inline void assemble(SymmetricAssembly& out, const std::vector<Body>& bodies) {
  int size = 0;
  for (const Body& b : bodies) size += int(b.mesh.vertices.size());
  out.begin_pattern(size);
  int first = 0;
  for (const Body& b : bodies) add_body(out, b, first), first += int(b.mesh.vertices.size());
  out.finish_pattern();
}

inline std::vector<Vec4> random_vectors(int n, std::uint64_t seed) {
  std::vector<Vec4> out(n);
  for (int i = 0; i < n; ++i)
    out[i] = {random_signed(seed, 3 * i), random_signed(seed, 3 * i + 1), random_signed(seed, 3 * i + 2)};
  return out;
}

/// b - A x
inline std::vector<Vec4> residual(const SymmetricMatrix& m, const std::vector<Vec4>& b, const std::vector<Vec4>& x) {
  std::vector<Vec4> r = b;
  for (int c = 0; c < m.size; ++c) {
    for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
      r[m.row[k]] -= x[c] * m.value[k];
      if (m.row[k] != c) r[c] -= x[m.row[k]] * m.value[k];
    }
  }
  return r;
}
/// The same places hold the same bits.
inline bool same_bits(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec4)) == 0;
}

inline double length(const std::vector<Vec4>& v) {
  double sum = 0;
  for (const Vec4& a : v) sum += dot(a, a);
  return std::sqrt(sum);
}

/// |x - y|_A / |y|_A, the largest of the three systems.
inline double energy_error(const SymmetricMatrix& m, const std::vector<Vec4>& x, const std::vector<Vec4>& y) {
  std::vector<Vec4> d(m.size);
  for (int i = 0; i < m.size; ++i) d[i] = x[i] - y[i];
  const std::vector<Vec4> zero(m.size), ad = residual(m, zero, d), ay = residual(m, zero, y);
  double worst = 0;
  for (const auto lane : {&Vec4::x, &Vec4::y, &Vec4::z}) {
    double error = 0, size = 0;
    for (int i = 0; i < m.size; ++i) error -= d[i].*lane * ad[i].*lane, size -= y[i].*lane * ay[i].*lane;
    if (size > 0) worst = std::max(worst, std::sqrt(std::max(error, 0.0) / size));
  }
  return worst;
}

}  // namespace verve::test
