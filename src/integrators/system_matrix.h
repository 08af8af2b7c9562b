// The matrix of the global step of an island, and its factors: one for each length of step and precision in use.
#pragma once

#include <memory>
#include <vector>

#include "integrators/inverse_columns.h"
#include "integrators/state.h"
#include "integrators/work.h"
#include "linear/global_solver.h"
#include "linear/row_kernel.h"
#include "model/model.h"
#include "potentials/anchor.h"

namespace verve {

/// An anchor that is active in an island.
struct AnchorTerm {
  int anchor;  // of Matter
  WorldAnchors world;
  BodyLinks links;
  bool to_world;
};

/// How a matrix is solved with.
struct FactorKind {
  Precision precision = Precision::float64;
  GlobalSolver::Kind solver = GlobalSolver::Kind::automatic;
  Cholesky::Storage storage = Cholesky::Storage::automatic;
};

/// What a matrix is the sum of. All that is pointed at outlives the matrix.
struct MatrixTerms {
  struct Elements {  // of a body
    const Potentials* potentials;
    int first;   // row
    bool tears;  // some of them may go
    const SharedRows* shared;  // null: all rows of it are here. With such a body a matrix has no other
  };
  const std::vector<double>* mass;  // lumped, per row; 0: a row that stands still
  const MassCoupling* coupling;     // of a consistent mass; empty: none
  std::vector<Elements> bodies;
  const std::vector<AnchorTerm>* anchors;
};

/// A = M/hh^2 + sum w G^T G (CPD Eq. 7), scalar. Where little changes (anchors to the world, planes, elements that go)
/// its factors follow by low-rank terms, as long as that is cheaper than to make them anew.
class SystemMatrix {
 public:
  struct Factor {
    double hh = 0;
    Precision precision = Precision::float64;
    long version = -1, changes = -1;         // of the matrix, when it was made and when it followed it last
    long state = -1;                         // another one whenever it is made or follows: what it solves to the last bit
    std::shared_ptr<const FactorBase> base;  // what it was made with
    GlobalSolver solver;
    struct {  // of a single body in its rest shape, see StepSolver::column_products
      long state = -1;  // of the factor
      std::vector<Vec4> arm, lever;  // rest - A^-1 K rest, A^-1 K rest
      std::vector<Float4> arm_narrow, lever_narrow;
      Mat3 second;                // sum arm (K rest)^T
      Mat3 lever_second_inverse;  // of sum lever (m rest)^T
    } at_rest;
    InverseColumns columns;  // at vertices that touch something
  };

  explicit SystemMatrix(MatrixTerms terms) : terms_(std::move(terms)) {}
  int rows() const { return int(terms_.mass->size()); }
  /// Null: it has all of its rows here.
  const SharedRows* shared() const { return terms_.bodies.empty() ? nullptr : terms_.bodies[0].shared; }

  /// Weights of elements or links changed: factors are made anew when next needed.
  void weights_changed() { ++version_; }
  /// Anchors to the world changed, or elements have gone (Potential::set_removed): the factors follow.
  void terms_changed() { ++changes_; }
  /// Weights of vertices that planes of colliders may hold, one per row, rows ascending: part of the matrix as long as
  /// they are set. True: they were others.
  bool set_planes(const std::vector<LowRankTerm>& terms);
  const std::vector<LowRankTerm>& planes() const { return planes_; }
  /// Grows with every change; weights_version() with those of weights alone.
  long version() const { return version_ + changes_; }
  long weights_version() const { return version_; }

  /// The matrix as it is now, or without those potentials that have a Hessian. Always the same sequence of entries but
  /// for the anchors to the world.
  void assemble(SymmetricAssembly& assembly, bool& has_pattern, double hh, bool without_hessians = false) const {
    assemble(assembly, has_pattern, hh, without_hessians, diagonal_terms());
  }

  /// A factor of the matrix as it is now. Null: it is not positive definite.
  Factor* factor_for(double hh, const FactorKind& kind);
  int factorizations() const { return factorizations_; }
  /// Takes the factors of another matrix of the same body, without anchors.
  void adopt(SystemMatrix& from);
  /// Of making factors, so far.
  const Work& work() const { return work_; }

  /// Which factors there are, and what they were made with; `body` says whose they are.
  void record(int body, std::vector<FactorRecord>& records) const;
  /// Those that `records` has of the body, and no others.
  void restore(int body, const std::vector<FactorRecord>& records, const FactorKind& kind);

 private:
  void assemble(SymmetricAssembly& assembly, bool& has_pattern, double hh, bool without_hessians,
                const std::vector<LowRankTerm>& diagonal) const;
  std::vector<LowRankTerm> diagonal_terms() const;
  std::shared_ptr<const FactorBase> present() const;
  Factor& new_factor(double hh, Precision precision, const FactorKind& kind);
  bool factorize(Factor& factor, std::shared_ptr<const FactorBase> base);
  bool factorize_as_it_was(Factor& factor, const std::shared_ptr<const FactorBase>& base);
  bool follow_changes(Factor& factor);
  bool add_removed(const FactorBase& base, std::vector<LowRankTerm>& changes) const;

  MatrixTerms terms_;
  std::vector<LowRankTerm> planes_;
  long version_ = 0, changes_ = 0;
  SymmetricAssembly assembly_;
  bool has_pattern_ = false;
  std::vector<std::unique_ptr<Factor>> factors_;
  int factorizations_ = 0;
  long states_ = 0;  // of factors, so far
  Work work_;
};

}  // namespace verve
