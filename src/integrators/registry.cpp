#include "base/registered.h"
#include "integrators/constraint_solver.h"
#include "integrators/explicit_step.h"
#include "integrators/integrator.h"
#include "integrators/own_step.h"

namespace verve {

// What is behind integrator_names() (src/model/methods.cpp): those that minimise, and those with a step of their own.
std::vector<IntegratorEntry>& editable_integrator_registry() {
  static std::vector<IntegratorEntry> entries = growable<IntegratorEntry>({
      {"implicit_euler", make_implicit_euler},
      {"generalized_alpha", make_generalized_alpha},
      {"implicit_midpoint", make_implicit_midpoint},
      {"newmark", make_newmark},
      {"chung_hulbert", make_chung_hulbert},
      {"trbdf2", make_trbdf2},
      {"quasistatic", make_quasistatic},
  });
  return entries;
}
const std::vector<IntegratorEntry>& integrator_registry() { return editable_integrator_registry(); }

std::vector<OwnStepEntry>& editable_own_step_registry() {
  static std::vector<OwnStepEntry> entries = growable(std::vector<OwnStepEntry>{
      pbd_entry(),
      xpbd_entry(),
      {"hard", make_hard, smooth_refusal},
      {"fast_projection", make_fast_projection, smooth_refusal},
      {"compliant", make_compliant, no_refusal},
      {"compliant_plain", make_compliant_plain, no_refusal},
      {"linearized_euler", make_linearized_euler, no_refusal},
      {"symplectic_euler", make_symplectic_euler, no_refusal, longest_explicit_step},
      {"explicit_euler", make_explicit_euler, no_refusal, longest_explicit_step},
      {"verlet", make_verlet, no_refusal, longest_explicit_step},
      {"jakobsen", make_jakobsen, smooth_refusal},
  });
  return entries;
}
const std::vector<OwnStepEntry>& own_step_registry() { return editable_own_step_registry(); }

const OwnStepEntry* find_own_step(std::string_view name) {
  for (const OwnStepEntry& entry : own_step_registry())
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace verve
