// The inner loops of iterative solvers and low-rank changes: sparse rows or dense columns times three systems side by
// side, in the widest registers that the processor has.
#pragma once

#include "verve/vec.h"

namespace verve {

/// Vec4 in float; w stays 0.
struct alignas(16) Float4 {
  float x = 0, y = 0, z = 0, w = 0;
};
/// The same as the compiler's own vector type, for plain arithmetic.
using FloatRow = float __attribute__((vector_size(16), may_alias));

/// out[i - begin] = sum over k in [start[i], start[i + 1]) of value[k] x[column[k]], for rows i in [begin, end).
void multiply_rows(const int* start, const int* column, const float* value, const Float4* x, int begin, int end,
                   Float4* out);
void multiply_rows(const int* start, const int* column, const double* value, const Vec4* x, int begin, int end,
                   Vec4* out);

/// x[i] -= sum over k < count of column[k][i] factor[k], for i in [begin, end).
void subtract_columns(const float* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x);
void subtract_columns(const double* const* column, const Vec4* factor, int count, int begin, int end, Vec4* x);

/// out = matrix f for three systems, each `stride` numbers (a multiple of dense_panel) after the other. The matrix has
/// n rows and columns and lies in panels of as many rows, each by columns, `stride` of them. Numbers of `out` from n to
/// the end of the panel are overwritten.
inline constexpr int dense_panel = 16;
void multiply_dense(const float* matrix, int stride, int n, const float* f, float* out);

}  // namespace verve
