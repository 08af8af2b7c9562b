// The energy of a motion brought to a target in closed form, its held momenta left alone: the velocities relative to the
// held motion by a common factor, and what that would have to grow too much for along a direction. docs/step.md
#pragma once

#include "integrators/held_motion.h"

namespace verve {

/// The H [J] that a step is to end at which ended `residual` above its target, of which `owed` was left to it by earlier
/// ones: the target, less what does not come back of a loss of its own, of which `returned` does.
double energy_level(double target, double residual, double owed, double returned);

/// relative -> dv = (s - 1) relative, with the s >= 0 for which the kinetic energy `energy` of the relative motion changes
/// by `change`, or the nearest that it can: not below zero, and s at most `most_growth`. Returns the change [J].
double scale_relative(const Masses& masses, Vec4* relative, double energy, double change, double most_growth);

/// relative -> dv = (s - 1) relative, with the s in [0, 1] for which `energy` of it comes down to `wanted`. Returns what is
/// left [J].
double scale_relative_to(const Masses& masses, Vec4* relative, double energy, double wanted);

/// dv += mu d, with the mu >= 0 for which v + dv gains `missing` > 0 of kinetic energy. Returns it, or 0 where d is none.
double push_along(const Masses& masses, const Vec4* v, Vec4* dv, const Vec4* d, double missing);

}  // namespace verve
