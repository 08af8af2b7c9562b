// Where the energy goes back: a step corrects H along what its base has lost (docs/cpd.md, "Along the loss"), as small
// dense algebra. Letters as in conservation.h; where that has lin, the loss l stands, and e = A^-1 l.
#pragma once

#include "integrators/conservation.h"

namespace verve {

/// What is known of the column of the loss once it is found in a step. The products of l with itself, the momenta and
/// gg are those of lin in StepProducts and IterationProducts.
struct LossColumn {
  double h_e = 0;    // lin^T e, of the true lin = grad H - grad g
  Vec6 y_lin{};      // Y^T lin, with Y the columns that hold the momenta
  Vec6 y_apart{};    // (A Y - grad c_q)^T e: 0 where Y is A^-1 grad c_q
  double small = 0;  // |mu e|_A up to which mu may be beyond its bound
  double share = 1;  // of what the base loses that the step length resolves, see resolved_share()
};

/// Bounds of mu. mu e is the loss itself at about 1; beyond a few times that the direction has nothing to do with what
/// is missing any more, and the rest is owed. (With 1 rope owes up to 3e-2 of E, with 3 it holds H to 1e-4;
/// docs/decisions/002-loss-direction.md)
inline constexpr double most_mu = 3;

/// One iteration: the plain step dx0 under held momenta, and mu e beyond it.
struct LossStep {
  Direction direction;
  double plain = 0;          // H where the plain step leads
  double heat = 0;           // of what is missing there, that which is not asked for
  double reached = 0;        // H where the step leads: the target less heat, unless mu is at its bound
  double mu = 0, slope = 0;  // slope: dH / dmu at the plain step
  bool at_bound = false;
};

/// The plain step alone, while e is not known.
Direction plain_direction(const StepProducts& step, const IterationProducts& products, const Quantities& residual);

/// H is taken as quadratic with the Hessian A, so that energy can be added where e has no slope (all of the motion at a
/// turning point), and mu is that of one root from the first iteration to the last: H(plain step + mu e) = H(plain
/// step)
/// + slope mu + 1/2 |e|^2_A mu^2. `now` is H at x, `residual` that of P and L; `mu` that of the iteration before.
LossStep loss_step(const StepProducts& step, const IterationProducts& products, const LossColumn& loss,
                   const Quantities& residual, double now, double target, double mu);

/// Share of the loss that steps of this length resolve: l^T A^-1 l over hh^2 l^T M^-1 l, by mode 1/(1 + (omega hh)^2).
double resolved_share(double l_e, double l_Ml, double hh);

}  // namespace verve
