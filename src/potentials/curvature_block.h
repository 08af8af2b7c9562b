// Second derivatives of isotropic energies by the corners of their elements, sixteen elements side by side. What
// depends on the energy, its curvatures along the stretches, is computed in between by whoever knows it (stretches.h).
#pragma once

#include "potentials/block_loops.h"

namespace verve {

/// R: columns of z, N: differences of corners.
template <int R, int N>
struct alignas(64) CurvatureBlock {
  using Lanes = double[block_size];
  static constexpr int pairs = (N + 1) * (N + 2) / 2;

  // of the elements
  Lanes z[R][3], coefficient[R][N];
  // by find_stretches: z = sum of s_i u_i v_i^T
  Lanes s[3], u[3][3], v[R][R];
  // d2 Psi/dz2 by the amounts d_kl of u_k v_l^T: along[k][l] d_kk d_ll, and for k != l own[k][l] d_kl^2 (k may be
  // beyond R: out of the element's plane or line) and crossed[k][l] d_kl d_lk
  Lanes along[R][R], own[3][R], crossed[R][R];
};

// for edges, triples, triangles and tetrahedra
void find_stretches(CurvatureBlock<1, 1>& block);
void find_stretches(CurvatureBlock<1, 2>& block);
void find_stretches(CurvatureBlock<2, 2>& block);
void find_stretches(CurvatureBlock<3, 3>& block);

/// Blocks of the pairs of corners (i, j <= i), rows of i and columns of j: [pair][column][row][16].
void find_corner_blocks(const CurvatureBlock<1, 1>& block, double* out);
void find_corner_blocks(const CurvatureBlock<1, 2>& block, double* out);
void find_corner_blocks(const CurvatureBlock<2, 2>& block, double* out);
void find_corner_blocks(const CurvatureBlock<3, 3>& block, double* out);

}  // namespace verve
