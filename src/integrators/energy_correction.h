// The energy of a motion brought to a target in closed form, its held momenta left alone: the velocities relative to the
// held motion by a common factor, and what that would have to grow too much for along a direction. docs/step.md
#pragma once

#include "integrators/held_motion.h"

namespace verve {

/// By how much H is to change after a step that ended `residual` above its target, of which `owed` was left to it by
/// earlier ones [J]: what it has gained by itself goes, of what it has lost `returned` comes back, and what is owed.
double energy_change(double residual, double owed, double returned);

/// relative -> dv = (s - 1) relative, with the s >= 0 for which the kinetic energy `energy` of the relative motion changes
/// by `change`, or the nearest that it can: not below zero, and s at most `most_growth`. Returns the change [J].
double scale_relative(const Masses& masses, Vec4* relative, double energy, double change, double most_growth);

/// dv += mu d, with the mu >= 0 for which v + dv gains `missing` > 0 of kinetic energy. Returns it, or 0 where d is none.
double push_along(const Masses& masses, const Vec4* v, Vec4* dv, const Vec4* d, double missing);

}  // namespace verve
