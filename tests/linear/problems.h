// Matrices of every shape a factorisation may meet.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "linear/sparse.h"
#include "matrices.h"
#include "verve/mesh.h"

namespace verve::test {

struct Problem {
  std::string name;
  int size;
  std::vector<Triple> entries;
};

inline std::vector<Vec4> random_rows(int n, std::uint64_t seed) {
  std::vector<Vec4> out(n);
  for (int i = 0; i < n; ++i)
    out[i] = {random_signed(seed, 3 * i), random_signed(seed, 3 * i + 1), random_signed(seed, 3 * i + 2)};
  return out;
}

/// Joins i and j by a spring of stiffness w.
inline void join(std::vector<Triple>& out, int i, int j, double w) {
  out.push_back({i, i, w});
  out.push_back({i, j, -w});
  out.push_back({j, j, w});
}

inline void add_masses(std::vector<Triple>& out, int n, double mass) {
  for (int i = 0; i < n; ++i) out.push_back({i, i, mass});
}

/// One spring per edge, stiffer than the masses by `stiffness`: the condition number is some tens of that.
inline Problem mesh_problem(const std::string& generator, const Parameters& parameters, double stiffness) {
  const Expected<Mesh> made = generate_mesh(generator, parameters);
  REQUIRE(made);
  const Mesh& mesh = *made;
  Problem p{generator, int(mesh.vertices.size()), {}};
  add_masses(p.entries, p.size, 1);
  std::uint64_t count = 0;
  for (const auto& [a, b] : unique_edges(mesh))
    join(p.entries, a, b, stiffness * (1 + 0.9 * random_signed(77, count++)));
  return p;
}

/// Diagonally dominant with `degree` random neighbours per row.
inline Problem random_problem(int n, int degree, std::uint64_t seed) {
  Problem p{"random of degree " + std::to_string(degree), n, {}};
  add_masses(p.entries, n, 0.1);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < degree; ++k) {
      const int j = int(random_bits(seed, i * degree + k) % n);
      if (j != i) join(p.entries, i, j, 1 + 0.9 * random_signed(seed + 1, i * degree + k));
    }
  return p;
}

/// Small enough for many repetitions, and together of every shape of tree: chains, stars, forests, one dense block.
inline std::vector<Problem> small_problems() {
  std::vector<Problem> out;
  out.push_back({"1x1", 1, {{0, 0, 4}}});
  Problem diagonal{"diagonal", 300, {}};
  for (int i = 0; i < 300; ++i) diagonal.entries.push_back({i, i, 1 + 0.5 * random_signed(3, i)});
  out.push_back(diagonal);
  for (const int n : {2, 7, 8, 9, 33, 130, 300}) {
    Problem dense{"dense " + std::to_string(n), n, {}};
    add_masses(dense.entries, n, 0.3 * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) join(dense.entries, i, j, 1 + 0.9 * random_signed(n, i * n + j));
    out.push_back(dense);
  }
  Problem chain{"chain", 1000, {}}, star{"star", 1000, {}}, arrow{"arrow", 400, {}};
  add_masses(chain.entries, 1000, 1), add_masses(star.entries, 1000, 1), add_masses(arrow.entries, 400, 1);
  for (int i = 0; i + 1 < 1000; ++i) join(chain.entries, i, i + 1, 2), join(star.entries, 0, i + 1, 2);
  for (int i = 0; i < 400; ++i)
    for (int j = 395; j < 400; ++j)
      if (i < j) join(arrow.entries, i, j, 1);
  out.push_back(chain), out.push_back(star), out.push_back(arrow);
  // pieces of different size, some of them single vertices
  Problem pieces{"disconnected", 0, {}};
  for (int k = 0; k < 30; ++k) {
    const int nx = 1 + k % 5, ny = 1 + k % 3, nz = 1 + k % 4;
    for (const Triple& t : mesh_like(nx, ny, nz, k))
      pieces.entries.push_back({t.i + pieces.size, t.j + pieces.size, t.v});
    pieces.size += nx * ny * nz;
  }
  out.push_back(pieces);
  out.push_back(random_problem(250, 2, 5));
  out.push_back(random_problem(250, 9, 6));
  out.push_back(mesh_problem("cloth", {{"columns", {20}}, {"rows", {25}}}, 10));
  out.push_back(mesh_problem("box", {{"cells", {7, 6, 8}}}, 10));
  return out;
}

/// Large enough for wide panels, several tasks and nested dissection.
inline std::vector<Problem> large_problems() {
  return {mesh_problem("hippo", {}, 10), mesh_problem("cloth", {{"columns", {90}}, {"rows", {80}}}, 10),
          mesh_problem("box", {{"cells", {14, 13, 12}}}, 10)};
}

}  // namespace verve::test
