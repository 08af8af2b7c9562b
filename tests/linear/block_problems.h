// The matrices of problems.h with 3 x 3 blocks in place of numbers.
#pragma once

#include <algorithm>
#include <array>

#include "linear/block_assembly.h"
#include "problems.h"

namespace verve::test {

/// A spring w between i and j becomes w |d.x_i - e.x_j|^2, d and e random directions, and a tenth of that along each
/// axis, so that blocks beside the diagonal are not symmetric. `more` is added at a vertex.
inline void assemble_blocks(BlockAssembly& out, const Problem& problem, int vertex = -1, const Mat3& more = {}) {
  const auto add = [&] {
    std::uint64_t count = 0;
    const auto direction = [&] {
      const Vec3 d{random_signed(9, count), random_signed(9, count + 1), random_signed(9, count + 2)};
      count += 3;
      return d / norm(d);
    };
    for (const Triple& t : problem.entries) {
      if (t.i == t.j) {
        out.add(t.i, t.i, 0.1 * t.v);
        continue;
      }
      const Vec3 d = direction(), e = direction();
      const double w = std::abs(t.v);
      out.add(t.i, t.i, (outer(d, d) + Mat3::identity() * 0.1) * w);
      out.add(t.j, t.j, (outer(e, e) + Mat3::identity() * 0.1) * w);
      out.add(t.i, t.j, (outer(d, e) + Mat3::identity() * 0.1) * -w);
    }
    if (vertex >= 0) out.add(vertex, vertex, more);
  };
  out.begin_pattern(problem.size);
  add();
  out.finish_pattern();
  out.begin_values();
  add();
}

/// The same number for each axis: a body that its masses alone keep from moving as a whole.
inline void assemble_plain_blocks(BlockAssembly& out, const Problem& problem) {
  const auto add = [&] {
    for (const Triple& t : problem.entries) out.add(t.i, t.j, t.v);
  };
  out.begin_pattern(problem.size);
  add();
  out.finish_pattern();
  out.begin_values();
  add();
}

/// Springs w d d^T along edges and diagonals of a lattice whose points are a little off their places, and unit masses.
/// The first vertex is held by `pin`; but for the masses, the body is free to turn about it.
inline void assemble_lattice(BlockAssembly& out, const std::array<int, 3>& points_along, double stiffness, double pin,
                             std::uint64_t seed) {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> places;
  for (int i = 0; i < points_along[0]; ++i)
    for (int j = 0; j < points_along[1]; ++j)
      for (int k = 0; k < points_along[2]; ++k) {
        const std::uint64_t n = 3 * points.size();
        points.push_back({i + 0.2 * random_signed(seed, n), j + 0.2 * random_signed(seed, n + 1),
                          k + 0.2 * random_signed(seed, n + 2)});
        places.push_back({i, j, k});
      }
  const int size = int(points.size());
  const auto add = [&] {
    for (int a = 0; a < size; ++a) {
      out.add(a, a, 1.0);
      for (int b = 0; b < a; ++b) {
        const auto apart = [&](int axis) { return std::abs(places[a][axis] - places[b][axis]); };
        if (std::max({apart(0), apart(1), apart(2)}) > 1) continue;
        const Vec3 d = (points[a] - points[b]) / norm(points[a] - points[b]);
        const Mat3 w = outer(d, d) * stiffness;
        out.add(a, a, w), out.add(b, b, w), out.add(a, b, w * -1.0);
      }
    }
    out.add(0, 0, pin);
  };
  out.begin_pattern(size);
  add();
  out.finish_pattern();
  out.begin_values();
  add();
}

}  // namespace verve::test
