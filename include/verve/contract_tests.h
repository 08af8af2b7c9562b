// What every potential, method and shape of colliders must fulfil: Verve's own tests run these checks on all of its own,
// and a program runs them on what it has registered (plugin.h), in a test of whatever kind it likes:
//
//   const verve::Diagnostics broken = verve::test_registered();
//   if (!broken.empty()) std::puts(broken.text().c_str());
//
// Each returns what does not hold, with the case and the numbers; nothing: all does. Tolerances are those of the method or
// of rounding, as the comments in src/contracts/ derive them.
#pragma once

#include <string>

#include "verve/diagnostics.h"

namespace verve {

/// Gradient = slope of the energy; no force or torque on the whole; nothing at rest; the same under rigid motions; a
/// projection is the nearest point, and stays where it is; the same bits on any number of threads.
Diagnostics test_potential(const std::string& name);
/// Free fall as MethodInfo::fall says; momentum grows by force times time; rest is rest; a reset and a snapshot that is
/// read from bytes go on bit for bit; a frame that fails leaves the state as it was.
Diagnostics test_method(const std::string& name);
/// The foot of every point lies on the surface, as far away as the distance says; the normal is the slope of the
/// distance; what is drawn lies on the surface and looks outward; the same bits on any number of threads.
Diagnostics test_shape(const std::string& name);

/// Of all that has been registered; integrators by the methods that are registered with them, or else by methods "pd" and
/// "newton" with the integrator in place of theirs.
Diagnostics test_registered();

}  // namespace verve
