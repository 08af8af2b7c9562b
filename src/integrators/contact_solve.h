// What contacts do to a step: the plain step and the columns of the constraints under A_c, the matrix that knows what
// pushes, in place of A. docs/contact.md, (2) and (3)
#pragma once

#include <vector>

#include "contact/contacts.h"
#include "integrators/conservation.h"
#include "integrators/contact_forecast.h"
#include "integrators/contact_metric.h"
#include "integrators/solver_parts.h"
#include "integrators/work.h"

namespace verve {

/// The constraints of a step as they are without contact, which lead from xb.
struct ConstraintColumns {
  const std::vector<double>& mass;
  const std::vector<Vec4>& xb;
  double hh;
  Vec3 about;                             // of L
  const std::vector<Vec4>&lin, &Alin;     // of H: grad H - grad g, and A^-1 of it
  const std::vector<Vec4>& lever;         // of L: hh e_a x (lever - shift); of P: hh e_a
  Vec3 shift;
  bool whole;                             // those of P and L are motions of the whole: take_in()
};

/// Rows of contact at x: those that touch, and those that might where the step leads (Contacts::near_rows).
struct ContactRows {
  const std::vector<ContactRow>&touching, &near;
};

/// Of the islands that touch something, each has one. Nothing in it outlives a step.
class ContactSolve {
 public:
  /// A^-1 b. Who gives it counts what it costs.
  using Solve = ContactMetric::Solve;

  /// A step by these factors, with `ids` rows at most (Contacts::id_count).
  void begin(const SolverParts& factors, int rows, const BodyTurns& turns, int ids);
  /// About so many multiply-adds between contacts are left for what is to come; then it comes out coarser.
  void leave_products(double products) { metric_.enough_products = metric_.products() + products; }
  /// A step with the rows that push where it leads came to nothing: from now on those that push where it begins.
  void stop_looking_ahead() { looks_ahead_ = false; }
  bool looks_ahead() const { return looks_ahead_; }
  /// ContactForecast::stalled of the last step.
  bool stalled() const { return forecast_.stalled(); }

  /// Ag = A^-1 g becomes the plain step, the minimum of the piecewise quadratic model.
  void correct(const ContactRows& rows, const std::vector<Vec4>& g, std::vector<Vec4>& Ag, const Solve& solve);
  /// Likewise of a step that holds something: A_c is then that of the rows that push where it leads.
  void adopt(const ContactRows& rows, const std::vector<Vec4>& g, std::vector<Vec4>& Ag, const Solve& solve);

  // After adopt().

  /// d^T A_c d of the plain step.
  double norm2() const { return norm2_; }
  /// The products of a step and an iteration, known under A^-1, with A_c^-1 in its place,
  ///   A_c^-1 b = A^-1 b - A^-1 J^T (K^-1 + S)^-1 J A^-1 b,
  /// and what these do to H. `fall` is g.A^-1 g, Ag the plain step.
  ///   What touches within an island, and what pushes it along normals that its held momenta do not see, lets motions
  /// of the whole pass: J Z = 0. So the columns of P and L are these, hh Z, rather than A_c^-1 grad c_q, which A, for
  /// which a turn is a deformation, makes of them: any columns will do that can make up for the momenta, and these need
  /// no solve.
  void take_in(const ConstraintColumns& columns, double fall, const std::vector<Vec4>& g, const std::vector<Vec4>& Ag,
               StepProducts& step, IterationProducts& iteration, const Solve& solve);
  /// A_c^-1 lin, after it.
  const std::vector<Vec4>& corrected_lin() const { return Ac_lin_; }
  /// And the step itself, where the columns of P and L are A_c^-1 grad c_q: by way of Ag.
  void add(const Direction& d, std::vector<Vec4>& Ag, const Solve& solve);

  /// Of all steps so far.
  Work work() const;

 private:
  void predict(const ContactRows& rows, const std::vector<Vec4>& g, const std::vector<Vec4>& Ag, const Solve& solve);
  void find_relevant(const ContactRows& rows, const std::vector<Vec4>& Ag);

  std::vector<ContactMetric::Block> blocks_;
  ContactMetric metric_;
  ContactForecast forecast_;
  bool looks_ahead_ = true;
  double vertices_ = 0;  // passed over so far
  int rows_ = 0;
  std::vector<const ContactRow*> relevant_;  // of near rows
  std::vector<double> relevant_along_;
  std::vector<Vec4> d_, Ad_;  // the plain step, and without rows A d
  double norm2_ = 0;
  std::vector<double> along_;  // J d
  std::vector<Vec4> Ac_lin_;
  std::vector<double> y_[7], z_[7];  // J A^-1 b and (K^-1 + S)^-1 of it, for P, L and lin
  std::vector<double> m_;
  std::vector<Vec4> b_, x_;  // J^T m and A^-1 of it
};

}  // namespace verve
