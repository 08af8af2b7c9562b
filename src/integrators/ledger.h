// The accounts of every body (State::ledger): what dials ask of a step, what it has left over and is owed to the next
// one, and what counts as lost.
#pragma once

#include <optional>

#include "integrators/island.h"
#include "integrators/state.h"

namespace verve {

class Ledger {
 public:
  Ledger(const Scene& scene, const Model& model, const Settings& settings, State& state)
      : scene_(scene), model_(model), settings_(settings), state_(state) {}

  /// Dials of P and L (Eq. 23): a rigid push such that the step ends on the dialled value.
  void hold_momenta(Island& island, double time, double h);
  /// Energy for a body that rests on something: where nothing moves no step can put it anywhere (grad H vanishes). On
  /// the world it pushes itself off, against its weight; else it swells, which changes neither P nor L. One that floats
  /// at rest stays as it is.
  void inject_energy(Island& island, double time) const;
  /// A dial may ask for less energy than a step can lose: what moves by itself is lowered before the frame.
  void lower_energy(Island& island, double time, double h) const;
  /// What dials and debts ask of a step of length h, one of `substeps` in its frame.
  Demand demand_on(const Island& island, double time, double h, int substeps) const;

  /// What a step leaves to the next one: of H, and where it holds them of P and L.
  Quantities deficit_after(const Island& island, const StepOutcome& outcome, const Demand& demand) const;
  /// Books what a step left over, shared by mass between the bodies of the island.
  void settle(const Island& island, const StepPlan& plan, const StepOutcome& outcome, const Demand& demand);

  /// Of H, to those who part here, under constraints.
  double owed_to(const Bounce& bounce) const;
  /// Takes what they got off their debts, from each its share.
  void pay(const Bounce& bounce, double paid);

 private:
  double damping_of(int body, double time) const;
  std::optional<double> dialled_energy(int body, double time) const;

  const Scene& scene_;
  const Model& model_;
  const Settings& settings_;
  State& state_;
};

}  // namespace verve
