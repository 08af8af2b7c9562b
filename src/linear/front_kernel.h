// Dense kernel of the factorisation, compiled for every SIMD target and chosen at run time.
#pragma once

#include <vector>

#include "linear/panels.h"

namespace verve {

/// Scratch memory of eliminate_panel, kept so that nothing is allocated in a refactorisation.
struct PanelScratch {
  std::vector<double> diagonal, inverse, packed_rows, packed_inverse;
  void reserve(int rows);
};

/// Eliminates the first `width` columns of a symmetric matrix with `rows` rows. On entry `panel` (by columns, leading
/// dimension `ld`) holds the lower triangle of those columns, L = [D; B] being their part of the Cholesky factor;
/// trailing[j][i], i >= j, is entry (i, j) of what remains.
/// On exit panel = [D^-1; -B D^-1] (zeros above the diagonal) and the trailing part has B B^T subtracted.
/// False when a pivot is not positive or not finite; the contents are then undefined.
bool eliminate_panel(double* panel, int ld, int rows, int width, double* const* trailing, PanelScratch& scratch);

/// D D^T = matrix of n rows, by columns (lower triangle, overwritten by D); inverse = D^-1. False as above.
bool invert_cholesky(double* matrix, double* inverse, int n);

}  // namespace verve
