#include "figures/reference_solver.h"

#include <algorithm>

namespace verve::figures {

namespace {

bool touches(const Scene& scene) { return !scene.colliders.empty() || scene.contact; }

bool dialled(const Scene& scene) {
  return std::any_of(scene.bodies.begin(), scene.bodies.end(), [](const BodySpec& body) {
    const Dials& d = body.dials;
    return !d.energy.keys.empty() || !d.half_life.keys.empty() || !d.damping.keys.empty();
  });
}

}  // namespace

SolverSpec reference_solver(const Scene& scene, int substeps) {
  SolverSpec out;
  out.integrator = "generalized_alpha", out.rho = 0.8;
  out.minimizer = "projective";
  out.conservation = dialled(scene) || touches(scene) ? "cpd" : "none";
  out.tolerance = std::min(scene.solver.tolerance, 1e-6);
  out.iterations = 1000;  // converged, not cut short
  out.substeps = substeps;
  out.global = scene.solver.global;
  return out;
}

int reference_steps_for(const Scene& scene) { return touches(scene) ? 4 * reference_steps : reference_steps; }

}  // namespace verve::figures
