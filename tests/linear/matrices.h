// Random symmetric positive definite matrices with the pattern of a mesh.
#pragma once

#include <array>
#include <vector>

#include "base/random.h"
#include "linear/sparse.h"

namespace verve::test {

struct Triple {
  int i, j;
  double v;
};

/// A grid of nx x ny x nz vertices, each joined to its neighbours along the axes and one diagonal by springs of random
/// stiffness, plus a mass on the diagonal: the matrix of a global step.
inline std::vector<Triple> mesh_like(int nx, int ny, int nz, std::uint64_t seed) {
  std::vector<Triple> out;
  const auto vertex = [&](int i, int j, int k) { return (k * ny + j) * nx + i; };
  std::uint64_t count = 0;
  const auto join = [&](int a, int b) {
    const double w = 1 + 0.9 * random_signed(seed, count++);
    out.push_back({a, a, w});
    out.push_back({b, a, -w});  // lower or upper, as it comes
    out.push_back({b, b, w});
  };
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        const int v = vertex(i, j, k);
        out.push_back({v, v, 0.02 + 0.01 * random_signed(seed, count++)});
        if (i + 1 < nx) join(v, vertex(i + 1, j, k));
        if (j + 1 < ny) join(vertex(i, j + 1, k), v);
        if (k + 1 < nz) join(v, vertex(i, j, k + 1));
        if (i + 1 < nx && j + 1 < ny) join(v, vertex(i + 1, j + 1, k));
      }
    }
  }
  return out;
}

inline void assemble(SymmetricAssembly& a, int size, const std::vector<Triple>& entries) {
  a.begin_pattern(size);
  for (const Triple& t : entries) a.add(t.i, t.j, t.v);
  a.finish_pattern();
}

}  // namespace verve::test
