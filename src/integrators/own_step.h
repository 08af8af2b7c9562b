// Methods that minimise nothing as a whole: position-based, constraint-based and explicit ones. Each is one file with a
// step of its own, behind the same call as the minimising methods.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verve/scene.h"

namespace verve {

class Island;
class Potential;
struct Settings;
struct StepOutcome;

/// The work of one island. What it keeps by itself (patterns, factors) follows from the model; what a step needs of the
/// last one goes through remember() and recall().
class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// Takes island.motion from t_n to t_n + h: x and v, under island.forcing, the potentials and the anchors. The caller
  /// evaluates W there and looks whether the result is finite. Fills in what it knows of the outcome.
  virtual void step(Island& island, double h, const Settings& settings, StepOutcome& out) = 0;
  /// After a step: what the next one needs of it beside x and v. It is part of the state (IslandMemory::own_step).
  virtual void remember(std::vector<double>& /*history*/) const {}
  /// Before a step; empty: there was none, or another motion is in place of the one it knew.
  virtual void recall(const std::vector<double>& /*history*/) {}
  /// Multipliers lambda of the last step, one per scalar constraint: those of the potentials in order, then links and
  /// soft anchors. The force on a vertex is lambda grad C. Null: the method has none.
  virtual const std::vector<double>* multipliers() const { return nullptr; }
};

struct OwnStepEntry {
  std::string name;  // on the first axis
  std::function<std::unique_ptr<OwnStep>(const SolverSpec& spec)> make;
  /// Why it cannot drive a potential, as the end of a sentence ("has no constraint"); empty when it can.
  std::string (*refusal)(const Potential& potential);
  /// The longest stable step [s] at rest, of methods that have one; null: none is known beforehand.
  double (*longest_step)(Island& island) = nullptr;
};
/// What is behind those integrator_names() that have a step of their own.
const std::vector<OwnStepEntry>& own_step_registry();
const OwnStepEntry* find_own_step(std::string_view name);

/// The lists that registry.cpp begins with, to be added to (plugin_integrators.cpp).
struct IntegratorEntry;
std::vector<IntegratorEntry>& editable_integrator_registry();
std::vector<OwnStepEntry>& editable_own_step_registry();

OwnStepEntry pbd_entry();  // position_based.cpp
OwnStepEntry xpbd_entry();

}  // namespace verve
