// The method and the steps of a run that stands for the truth.
#pragma once

#include "verve/scene.h"

namespace verve::figures {

inline constexpr int reference_steps = 16;  ///< per frame, where nothing touches

/// Generalised-α, ρ = 0.8: second order, unconditionally stable, almost free of damping at these steps, and without
/// any of the constraints whose worth a comparison may be about. Two exceptions: dials of energy act on none but a
/// conserving method; and in contact the plain step gains (a ball of 540 tetrahedra had 2.7 times its energy after six
/// seconds of 16 sub-steps, 1.01 with 64; held, its first apex is 1.923 m by 64 where the plain step has 1.924).
SolverSpec reference_solver(const Scene& scene, int substeps);
/// Steps per frame that make a run the truth: contact needs four times as many (see reference_solver).
int reference_steps_for(const Scene& scene);

}  // namespace verve::figures
