// The nearest point that fulfils a formula (PD Sec. 6: "the optimization can be solved using sequential quadratic
// programming").
#pragma once

#include <cstddef>

#include "verve/formula.h"

namespace verve {

/// Numbers that project_by_sqp works with.
std::size_t sqp_scratch_size(int count, int values);

struct SqpResult {
  int iterations = 0;
  bool converged = false;
};

/// min |p - z|^2 subject to C(p) = 0, for z about its mean.
///
/// Each iteration goes to the point nearest to z among those that fulfil the constraint linearised at p,
///   p' = z - J^T (J J^T)^+ (C(p) + J (z - p)),
/// PD Eq. 26 for any number of constraints; the pseudo-inverse lets them depend on each other. It is the step of SQP
/// with the Hessian of the distance, and converges linearly; Anderson acceleration makes it fast. A step that raises |p
/// - z|^2 / 2 + nu |C| by much is taken back and shortened. Stops when p moves by less than 1e-12 of the size of the
/// group. What it finds is a nearest point among those around it.
SqpResult project_by_sqp(const Formula& formula, int count, const Vec3* z, Vec3* p, double* scratch);

}  // namespace verve
