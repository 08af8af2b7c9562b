// The third axis: what is held. The seven constraints P, L, H of a step, reduced to small dense algebra.
// Letters as in docs/cpd.md: gg = grad g, lin = grad H - grad g, A = the constant matrix of the global step.
#pragma once

#include "linear/small.h"
#include "verve/vec.h"

namespace verve {

enum class Conservation { none, cpd, published };

/// P, L (spin about the centre of mass) and H, as values, targets or residuals; H in the units of the solve.
struct Quantities {
  Vec3 p, l;
  double h = 0;
};

/// Inner products under A^-1 that stay the same over the iterations of a step.
struct StepProducts {
  bool momenta = true;  // hold P and L; otherwise H alone
  Mat6 s_qq{};          // grad c_q^T A^-1 grad c_q
  Mat6 s_qq_inverse{};  // pseudo-inverse: singular at rest, in a straight chain, for a single spring (E8)
  Vec6 q_lin{};         // grad c_q^T A^-1 lin
  double lin_lin = 0;   // lin^T A^-1 lin
  // Where columns Y other than A^-1 grad c_q stand for these, with grad c_q^T Y = Y^T A Y = s_qq:
  Vec6 lin_apart{};   // (A Y - grad c_q)^T A^-1 lin
  Quantities relief;  // and lin is grad H - grad g - grad c_q w with these w, in P and L
};

/// And those that change with x.
struct IterationProducts {
  double gg_gg = 0;    // gg^T A^-1 gg
  double lin_gg = 0;   // lin^T A^-1 gg
  Vec6 q_gg{};         // grad c_q^T A^-1 gg
  double gg_last = 0;  // gg^T A^-1 gg' with that of the iteration before, where it is asked for
  double h_Ag = 0;     // lin^T A^-1 gg of the true lin, where another column stands in its place
  // Of active contacts (contact_solve.h): what A^-1 gg, A^-1 lin and the columns of P and L do to H, which is not what
  // grad H is to them in the metric of A.
  bool touches = false;
  double h_gg = 0, h_lin = 0;
  Vec6 h_q{};

  IterationProducts& operator+=(const IterationProducts& o) {
    gg_gg += o.gg_gg, lin_gg += o.lin_gg, gg_last += o.gg_last;
    for (int i = 0; i < 6; ++i) q_gg[i] += o.q_gg[i];
    return *this;
  }
};

/// x -= g A^-1 gg + l A^-1 lin + A^-1 grad c_q lambda_q / scale. Along the gradient of H g = (1 + lambda) / scale and
/// l = lambda / scale; along the loss (loss_direction.h), whose column stands in place of lin, g = 1 and l = -mu.
struct Direction {
  double lambda = 0;
  double g = 1, l = 0;
  Vec6 lambda_q{};
  double scale = 1;
  bool at_bound = false;
  bool stationary = false;  // H cannot be moved from here: grad H lies in the span of the momenta
  double norm2 = 0;         // |dx|^2 in the norm of A
  double free_lambda = 0;   // without bounds,
  double sigma = 0;         // and by how much a multiplier lowers H
};

/// Bounds of the energy multiplier: an exact l1 slack on c_H that takes the place of the paper's alpha.
inline constexpr double lambda_min = -0.9, lambda_max = 9;

/// dx^T A dx of a step.
double squared_length(const StepProducts& step, const IterationProducts& products, const Direction& direction);

/// dx^T A dx' of two iterations of a step, one after the other.
double overlap(const StepProducts& step, const IterationProducts& products, const Direction& direction,
               const IterationProducts& last_products, const Direction& last_direction);

/// CPD, Eq. 18-21 with the Hessian of the Lagrangian taken as (1 + lambda) A: P, L and H are eliminated one after the
/// other. `lambda` is the multiplier of the iteration before. When no multiplier within its bounds can move H by
/// `negligible` (a body at rest), the step is a plain one: what lambda would follow there is round-off.
Direction constrained_direction(const StepProducts& step, const IterationProducts& products, const Quantities& residual,
                                double lambda, double negligible = 0);

/// The paper's own step (Eq. 19-21): Hessian A, and alpha with weight epsilon [J] between H* and K. `gap` = H* - K;
/// `alpha` is updated.
Direction published_direction(const StepProducts& step, const IterationProducts& products, const Quantities& residual,
                              double gap, double epsilon, double& alpha);

}  // namespace verve
