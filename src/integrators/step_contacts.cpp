// What a step does about things that touch: the metric that knows them, and which momenta stay free of them.
#include <algorithm>
#include <cmath>

#include "integrators/step_solver.h"

namespace verve {

/// Those that a contact with the world changes are not held.
void StepSolver::hold_free_momenta() {
  Problem& p = problem_;
  if (!p.grounded || !p.momenta) return;
  p.kept = find_free_momenta(contacts, motion.x, base_.xb, base_.u, base_.hh, start_.center_n, start_.radius);
  if (p.kept.count == 0) p.momenta = false;
}

void StepSolver::begin_contacts() {
  find_turns();
  contact_.begin(factor_, rows_, turns_, contacts.id_count());
}

/// Of solids that are a part of their own, as they are at xb. (Held momenta have columns of another kind, and what is
/// anchored and touches bends rather than turns. So do sheets and chains: the shape they have is no longer that of rest
/// turned, the turns of it cost energy, and without those of A the matrix would be no upper bound of that of W.)
void StepSolver::find_turns() {
  if ((problem_.momenta && !problem_.whole) || anchored() || minimizer_ || consistent() || contacts.planes) return;
  const auto add = [&](const Island& part, Factor& factor, int first) {
    if (part.bodies().size() != 1 || !part.is_solid()) return;
    find_rest_columns(factor, part);
    Mat3 moment{};
    for (int i = 0; i < part.rows(); ++i)
      moment = moment + outer(base_.xb[first + i].xyz() * forcing.mass[first + i], part.rest().rows[i].xyz());
    turns_.add(first, factor.at_rest.arm, factor.at_rest.second, moment * part.rest().inverse);
  };
  for (size_t k = 0; k < factor_.parts().size(); ++k)
    add(island_.parts().empty() ? island_ : *island_.parts()[k], *factor_.parts()[k].factor, factor_.parts()[k].first);
}

/// A body that rests would start each step with a fall: what the last step made of gravity, the start expects of it
/// again.
void StepSolver::rest_on_contacts() {
  const double size = dot(forcing.common, forcing.common);
  if (!forcing.uniform || size == 0 || problem_.statics) return;
  const double lift = base_.hh * (base_.hh - base_.kappa * motion.last_step);
  const bool known = motion.history;
  for (int i = 0; i < rows_; ++i) {
    const double falls =
        known ? std::clamp(dot(motion.q[i].xyz(), forcing.common) / size, 0.0, 1.0) : (contacts.touching() ? 0.0 : 1.0);
    x_[i] -= Vec4(forcing.common * (lift * (1 - falls)));
  }
  const RowArrays rows = arrays();
  pass([&](int begin, int end) { return arrive(rows, begin, end); });
}

void StepSolver::take_in_contacts(StepProducts& s, IterationProducts& k) {
  const double fall = k.gg_gg;
  k.gg_gg = contact_.norm2();
  if (problem_.releases_energy && (problem_.whole || !problem_.momenta)) return;  // H is not asked for
  const ConstraintColumns columns{forcing.mass, base_.xb, base_.hh, start_.about, lin_, Alin_, Akr_,
                                  start_.center - start_.origin, problem_.whole};
  contact_.take_in(columns, fall, gg_, Ag_, s, k, solver());
  if (!problem_.whole) s = problem_.kept.products(s, start_.radius);
}

void StepSolver::add_contacts(const Direction& d) {
  if (!problem_.whole && problem_.momenta) contact_.add(d, Ag_, solver());
}

}  // namespace verve
