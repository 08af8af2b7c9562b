// Dense algebra of the conserved quantities: 3x3 and 6x6 symmetric, possibly singular.
#pragma once

#include <array>

#include "verve/vec.h"

namespace verve {

using Vec6 = std::array<double, 6>;
using Mat6 = std::array<Vec6, 6>;

/// Pseudo-inverse of a symmetric positive semi-definite matrix after scaling its diagonal to one; eigenvalues below
/// `cutoff` count as zero. Rows with a zero diagonal are left out.
Mat6 pseudo_inverse(const Mat6& matrix, double cutoff);
Mat3 pseudo_inverse(const Mat3& matrix, double cutoff);

/// Eigenvalues of a symmetric matrix, and its eigenvectors as columns.
Vec3 symmetric_eigen(const Mat3& matrix, Mat3& vectors);

Vec6 operator*(const Mat6& a, const Vec6& b);
double dot(const Vec6& a, const Vec6& b);

}  // namespace verve
