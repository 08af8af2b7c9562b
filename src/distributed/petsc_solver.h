// The global step of all ranks: conjugate gradients with algebraic multigrid, set up once for a matrix.
#pragma once

#include <petscsys.h>

#include <memory>
#include <vector>

#include "linear/shared_rows.h"

namespace verve {

/// `numbers`: of each row here, copies too, its row in the matrix of all ranks; the owned ones come first and follow
/// each other there. Options of PETSc (-ksp_type, -pc_type and so on) choose another solver.
std::unique_ptr<SharedSolver> make_petsc_solver(int owned, const std::vector<PetscInt>& numbers);

struct SolverCounts {  // so far
  long set_ups = 0, solves = 0, iterations = 0;
  double seconds = 0, set_up_seconds = 0;
};
const SolverCounts& solver_counts();

}  // namespace verve
