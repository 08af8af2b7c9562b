// The linear system of constrained dynamics, in both of its forms.
#pragma once

#include <string>
#include <vector>

#include "integrators/constraint_rows.h"
#include "linear/ldl.h"

namespace verve {

/// Potentials without smooth constraints: their gradient, and their weights w G^T G as Hessian.
class OtherForces {
 public:
  void bind(Island& island);
  bool empty() const { return potentials_.empty(); }
  void add_gradient(const std::vector<Vec4>& x, std::vector<Vec4>& gradient) const;
  const SymmetricMatrix& weights() const { return assembly_.matrix(); }
  /// out += s A v.
  void add_product(double s, const std::vector<Vec4>& v, std::vector<Vec4>& out) const;

 private:
  std::vector<std::pair<Potential*, int>> potentials_;
  SymmetricAssembly assembly_;
  bool has_pattern_ = false;
  long version_ = -1;
};

/// [H -J^T; J S] [dv; lambda] = [r; b], S diagonal (Tournier et al. 2015, Eq. 6 and 8; Servin et al. 2006). Vertices
/// that are held do not move: dv = 0 there.
///   schur: (J M^-1 J^T + S) lambda = b - J M^-1 r, where H = M is diagonal;
///   kkt:   the whole, where H has consistent mass, geometric stiffness or weights of other potentials.
class ConstraintSolver {
 public:
  enum class Form { schur, kkt };

  /// H = M + h^2 (weights of `others` + curvature * tension of each row).
  struct Upper {
    double h2 = 0;
    const OtherForces* others = nullptr;
    const std::vector<double>* tension = nullptr;  // -lambda >= 0 per row, for the geometric stiffness
  };

  /// The pattern, made anew after rows.bind() has changed it. `geometric`: there will be a tension.
  void bind(Island& island, const ConstraintRows& rows, Form form, bool geometric, const OtherForces* others,
            bool changed);
  /// The matrix with the gradients that `rows` has now and S; with `rigid_only`, rows with compliance count for
  /// nothing. False when something is not finite.
  bool factorize(Island& island, const ConstraintRows& rows, const std::vector<double>& compliance, bool rigid_only,
                 const Upper& upper);
  /// lambda comes in as b. `r` may be null: zero.
  void solve(const std::vector<Vec4>* r, std::vector<double>& lambda, std::vector<Vec4>& dv);

  Form form() const { return form_; }
  /// Rows that depend on others and bear nothing.
  int redundant() const { return int(factor_.dependent().size()); }
  const SymmetricMatrix& matrix() const { return assembly_.matrix(); }

 private:
  void assemble_schur(const std::vector<double>& compliance);
  void assemble_kkt(Island& island, const ConstraintRows& rows, const std::vector<double>& compliance,
                    const Upper& upper);

  Form form_ = Form::schur;
  bool geometric_ = false, has_pattern_ = false;
  int rows_ = 0;
  std::vector<double> inverse_mass_;
  struct Use {
    int row, place;  // of the gradient
  };
  std::vector<int> first_use_, place_;  // uses of each vertex; place of the first gradient of each row
  std::vector<Use> uses_;
  std::vector<int> vertex_;
  std::vector<Vec3> jacobian_;
  SymmetricAssembly assembly_;
  Ldl factor_;
  std::vector<double> all_;
};

/// What both methods with exact constraints do: bring x onto them.
class ConstraintProjection {
 public:
  /// x <- x + M^-1 J^T lambda until C + S lambda = 0 to `tolerance` of the size of every element, with the J of each
  /// iterate: fast projection (Goldenthal et al. 2007, Algorithm 1). Returns the largest residual that is left.
  double project(Island& island, ConstraintRows& rows, ConstraintSolver& solver, const std::vector<double>& compliance,
                 bool rigid_only, double tolerance, int most, std::vector<Vec4>& x, std::vector<double>& lambda);
  int iterations = 0;
  int worst = -1;  // row of the residual

  /// Largest residual at x, with the row.
  double residual(const ConstraintRows& rows, const std::vector<double>& compliance, bool rigid_only,
                  const std::vector<double>& lambda);

 private:
  std::vector<double> step_, damped_, kept_lambda_;
  std::vector<Vec4> dx_, kept_x_;
};

/// "no positions were found that meet all constraints: ..."
std::string contradiction(const ConstraintRows& rows, int worst, double left, double allowed, int redundant);

std::unique_ptr<OwnStep> make_hard(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_compliant(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_compliant_plain(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_fast_projection(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_linearized_euler(const SolverSpec& spec);
std::unique_ptr<OwnStep> make_jakobsen(const SolverSpec& spec);

}  // namespace verve
