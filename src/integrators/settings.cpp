#include "integrators/settings.h"

namespace verve {

namespace {

/// rho of generalised-alpha for what is not solid (sheets, chains) along the loss, unless the scene says another. Most
/// of their energy can be in modes that no step resolves: less of these rings on, more of it goes back along the loss.
/// (docs/decisions/002-loss-direction.md)
constexpr double sheet_rho = 0.65;

}  // namespace

Settings resolve(const SolverSpec& spec) {
  const MethodInfo* method = find_method(spec.method);
  Settings out;
  out.spec = spec;
  const auto [integrator, minimizer, conservation] = *axes_of(spec);
  for (const IntegratorEntry& e : integrator_registry())
    if (e.name == integrator)
      out.integrator = e.make({spec.rho.value_or(method->rho), spec.newmark_beta, spec.newmark_gamma});
  if (!out.integrator) out.own_step = find_own_step(integrator);
  out.minimizer = find_minimizer(minimizer);
  out.projection = find_projection(conservation);
  out.conservation = conservation == "none" || out.projection ? Conservation::none
                     : conservation == "published"            ? Conservation::published
                                                              : Conservation::cpd;
  if (out.conservation == Conservation::cpd) out.fallback = make_implicit_euler({});
  // rho = 0 does not take the elastic force at x_n, of which stiff contact makes a kick (docs/contact.md)
  if (out.conservation == Conservation::cpd && integrator == "generalized_alpha")
    out.touching = make_generalized_alpha({0});
  out.direction = spec.direction.value_or(method->direction);
  if (out.direction == EnergyDirection::loss && integrator == "generalized_alpha" && !spec.rho)
    out.sheets = make_generalized_alpha({sheet_rho});
  out.resolved = spec.hold == EnergyHold::resolved;
  out.tolerance = spec.tolerance;
  out.iterations = spec.iterations.value_or(method->iterations);
  out.substeps = spec.substeps;
  out.budget = spec.budget;
  // the automatic choice rests on the residuals of the constraints; without them the frame is the step
  if (out.conservation != Conservation::cpd && out.substeps == 0) out.substeps = method->substeps;
  out.epsilon = spec.epsilon;
  out.precision = spec.precision;
  out.solver = spec.global == GlobalSolve::automatic   ? GlobalSolver::Kind::automatic
               : spec.global == GlobalSolve::multigrid ? GlobalSolver::Kind::multigrid
                                                       : GlobalSolver::Kind::direct;
  if (spec.global != GlobalSolve::automatic)
    out.storage = spec.global == GlobalSolve::half ? Cholesky::Storage::half : Cholesky::Storage::full;
  return out;
}

}  // namespace verve
