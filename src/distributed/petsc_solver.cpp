#include "distributed/petsc_solver.h"

#include <petscksp.h>

#include <stdexcept>

#include "distributed/petsc.h"

namespace verve {

namespace {

/// Of the right-hand side, in the norm of the preconditioner, which is that of A but for what multigrid leaves [1].
/// Steps correct themselves: with this they take the iterations that they take with a factor, and end 1e-9 of the size
/// from there after 50 frames (cube, hippo; 1e-4: 2e-6, 1e-10: 1e-12; decision 027).
constexpr double accuracy = 1e-7;

/// BoomerAMG where PETSc has hypre: coarse levels that are as sparse on any number of ranks, and iterations that hardly
/// grow with the mesh (105 k to 1 M tetrahedra: 6.8 to 7.6, GAMG 8.9 to 11.6, in about the same time; hypre's own
/// choice 3.6 to 4.0 in twice the time; decision 027). What is given as an option counts instead.
void set_default_options() {
#ifdef PETSC_HAVE_HYPRE
  constexpr const char* chosen[][2] = {{"-pc_hypre_boomeramg_strong_threshold", "0.5"},
                                       {"-pc_hypre_boomeramg_coarsen_type", "HMIS"},
                                       {"-pc_hypre_boomeramg_agg_nl", "1"},
                                       {"-pc_hypre_boomeramg_interp_type", "ext+i"},
                                       {"-pc_hypre_boomeramg_P_max", "4"}};
  for (const auto& [name, value] : chosen) {
    PetscBool given = PETSC_FALSE;
    check(PetscOptionsHasName(nullptr, nullptr, name, &given), "the preconditioner");
    if (!given) check(PetscOptionsSetValue(nullptr, name, value), "the preconditioner");
  }
#endif
}

SolverCounts counts;

class PetscSolver final : public SharedSolver {
 public:
  PetscSolver(int owned, const std::vector<PetscInt>& numbers) : owned_(owned), numbers_(numbers) {}
  ~PetscSolver() override { clear(); }

  bool set_up(const SymmetricMatrix& part) override {
    const double begin = MPI_Wtime();
    clear();
    assemble(part);
    check(KSPCreate(PETSC_COMM_WORLD, &solver_), "the solver");
    check(KSPSetOperators(solver_, matrix_, matrix_), "the solver");
    check(KSPSetType(solver_, KSPCG), "the solver");
    check(KSPSetNormType(solver_, KSP_NORM_NATURAL), "the solver");
    check(KSPSetTolerances(solver_, accuracy, 0, PETSC_DEFAULT, 1000), "the solver");
    PC preconditioner;
    check(KSPGetPC(solver_, &preconditioner), "the preconditioner");
#ifdef PETSC_HAVE_HYPRE
    set_default_options();
    check(PCSetType(preconditioner, PCHYPRE), "the preconditioner");
    check(PCHYPRESetType(preconditioner, "boomeramg"), "the preconditioner");
#else
    check(PCSetType(preconditioner, PCGAMG), "the preconditioner");
#endif
    check(KSPSetFromOptions(solver_), "the solver");
    const PetscErrorCode error = KSPSetUp(solver_);
    counts.set_ups += 1, counts.set_up_seconds += MPI_Wtime() - begin;
    return error == 0;
  }

  void solve(const Vec4* b, Vec4* x) override {
    const double begin = MPI_Wtime();
    for (int axis = 0; axis < 3; ++axis) {
      PetscScalar* values;
      check(VecGetArrayWrite(side_, &values), "a solve");
      for (int r = 0; r < owned_; ++r) values[r] = axis == 0 ? b[r].x : axis == 1 ? b[r].y : b[r].z;
      check(VecRestoreArrayWrite(side_, &values), "a solve");
      check(KSPSolve(solver_, side_, solution_[axis]), "a solve");
      KSPConvergedReason reason;
      KSPGetConvergedReason(solver_, &reason);
      if (reason < 0) {
        const char* text = nullptr;
        KSPGetConvergedReasonString(solver_, &text);
        throw std::runtime_error(std::string("the global step did not converge (") + (text ? text : "") +
                                 "); -ksp_monitor shows how, -pc_type hypre or -ksp_max_it may help");
      }
      PetscInt iterations = 0;
      KSPGetIterationNumber(solver_, &iterations);
      counts.solves += 1, counts.iterations += iterations;
    }
    const PetscScalar* values[3];
    for (int axis = 0; axis < 3; ++axis) check(VecGetArrayRead(solution_[axis], &values[axis]), "a solve");
    for (int r = 0; r < owned_; ++r) x[r] = {values[0][r], values[1][r], values[2][r], 0};
    for (int axis = 0; axis < 3; ++axis) check(VecRestoreArrayRead(solution_[axis], &values[axis]), "a solve");
    counts.seconds += MPI_Wtime() - begin;
  }

  long nonzeros() const override { return nonzeros_; }
  std::string description() const override {
    KSPType krylov;
    PCType preconditioner;
    PC pc;
    KSPGetType(solver_, &krylov), KSPGetPC(solver_, &pc), PCGetType(pc, &preconditioner);
    PetscInt rows = 0;
    MatGetSize(matrix_, &rows, nullptr);
    int ranks = 1;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    return std::string("PETSc, ") + krylov + " with " + preconditioner + ", " + std::to_string(rows) + " rows on " +
           std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", double";
  }

 private:
  /// Entries of other ranks' rows go to them.
  void assemble(const SymmetricMatrix& part) {
    std::vector<PetscInt> row, column;
    std::vector<PetscScalar> value;
    const size_t entries = 2 * part.row.size();
    row.reserve(entries), column.reserve(entries), value.reserve(entries);
    for (int c = 0; c < part.size; ++c)
      for (int k = part.start[c]; k < part.start[c + 1]; ++k) {
        const int r = part.row[k];
        if (part.value[k] == 0 && (r >= owned_ || c >= owned_)) continue;  // the diagonals of copies
        row.push_back(numbers_[r]), column.push_back(numbers_[c]), value.push_back(part.value[k]);
        if (r != c) row.push_back(numbers_[c]), column.push_back(numbers_[r]), value.push_back(part.value[k]);
      }
    check(MatCreate(PETSC_COMM_WORLD, &matrix_), "the matrix");
    check(MatSetSizes(matrix_, owned_, owned_, PETSC_DETERMINE, PETSC_DETERMINE), "the matrix");
    check(MatSetType(matrix_, MATAIJ), "the matrix");
    check(MatSetFromOptions(matrix_), "the matrix");
    check(MatSetPreallocationCOO(matrix_, PetscCount(row.size()), row.data(), column.data()), "the matrix");
    row = {}, column = {};
    check(MatSetValuesCOO(matrix_, value.data(), ADD_VALUES), "the matrix");
    check(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE), "the matrix");
    check(MatCreateVecs(matrix_, &side_, nullptr), "the vectors");
    for (Vec& x : solution_) check(VecDuplicate(side_, &x), "the vectors");
    MatInfo info;
    MatGetInfo(matrix_, MAT_GLOBAL_SUM, &info);
    nonzeros_ = long(info.nz_used);
  }
  void clear() {
    for (Vec& x : solution_) VecDestroy(&x);
    VecDestroy(&side_), KSPDestroy(&solver_), MatDestroy(&matrix_);
  }

  int owned_;
  std::vector<PetscInt> numbers_;
  Mat matrix_ = nullptr;
  KSP solver_ = nullptr;
  Vec side_ = nullptr, solution_[3] = {nullptr, nullptr, nullptr};
  long nonzeros_ = 0;
};

}  // namespace

std::unique_ptr<SharedSolver> make_petsc_solver(int owned, const std::vector<PetscInt>& numbers) {
  return std::make_unique<PetscSolver>(owned, numbers);
}

const SolverCounts& solver_counts() { return counts; }

}  // namespace verve
