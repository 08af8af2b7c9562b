#include "integrators/own_stepper.h"

#include <algorithm>
#include <cmath>

#include "base/finite.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "integrators/island.h"

namespace verve {

StepOutcome OwnStepper::step(Island& island, double h, const Settings& settings) {
  Stopwatch watch;
  if (entry_ != settings.own_step) own_step_ = settings.own_step->make(settings.spec), entry_ = settings.own_step;
  Motion& motion = island.motion;
  const Forcing& forcing = island.forcing;
  const int rows = island.rows();
  const double total_mass = island.total_mass();
  const auto look = [&](Vec3& p, Vec3& l, double& kinetic) {
    Vec3 center{};
    p = l = {}, kinetic = island.kinetic(motion.v);
    for (int i = 0; i < rows; ++i) {
      p += motion.v[i].xyz() * forcing.mass[i];
      center += motion.x[i].xyz() * forcing.mass[i];
    }
    center = center / total_mass;
    for (int i = 0; i < rows; ++i) l += cross(motion.x[i].xyz() - center, motion.v[i].xyz()) * forcing.mass[i];
    return center;
  };
  StepOutcome out;
  Vec3 p, l, after_p, after_l;
  double kinetic = 0, after_kinetic = 0;
  const Vec3 center = look(p, l, kinetic);
  double second = 0, energy = kinetic + motion.energy;
  for (int i = 0; i < rows; ++i) {
    const Vec3 r = motion.x[i].xyz() - center, f = forcing.force[i].xyz();
    p += f * h, l += cross(r, f) * h;
    second += forcing.mass[i] * dot(r, r);
    energy -= dot(f, motion.x[i].xyz());
  }
  out.e_ref = std::max({kinetic + motion.energy, 1e-16 * second / (h * h), 1e-300});
  watch.book(out.timings.setup);
  own_step_->recall(island.memory.own_step);
  own_step_->step(island, h, settings, out);
  own_step_->remember(island.memory.own_step);
  watch.book(out.timings.local);
  if (out.status == StepOutcome::Status::infeasible) return out;
  island.evaluate_motion();
  look(after_p, after_l, after_kinetic);
  motion.history = false;
  if (!std::isfinite(motion.energy) || !std::isfinite(after_kinetic) || !finite(after_l)) {
    out.status = StepOutcome::Status::not_finite;
    if (settings.own_step->longest_step) {
      const double limit = settings.own_step->longest_step(island);
      out.message = "\"" + settings.own_step->name + "\" took a step of " + format_value(h) +
                    " s, expected one below " + format_value(limit) + " s, the limit of stability of its elements";
    }
  }
  double after_energy = after_kinetic + motion.energy;
  for (int i = 0; i < rows; ++i) after_energy -= dot(forcing.force[i], motion.x[i]);
  out.residual.h = after_energy - energy;
  out.error_h = std::abs(out.residual.h) / out.e_ref;
  if (!island.anchored() && !(island.contacts.touching() && island.contacts.grounded())) {
    const double scale = std::sqrt(2 * total_mass * out.e_ref);
    out.residual.p = after_p - p, out.residual.l = after_l - l;
    out.error_p = norm(out.residual.p) / scale;
    out.error_l = second > 0 ? norm(out.residual.l) / (std::sqrt(second / total_mass) * scale) : 0;
  }
  watch.book(out.timings.update);
  return out;
}

}  // namespace verve
