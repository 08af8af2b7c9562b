// The matrices of problems.h with 3 x 3 blocks in place of numbers.
#pragma once

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

}  // namespace verve::test
