// A resolved SolverSpec: the axes of a method and its numbers.
#pragma once

#include <memory>

#include "integrators/conservation.h"
#include "integrators/integrator.h"
#include "integrators/minimizers/minimizer.h"
#include "integrators/own_step.h"
#include "integrators/plan.h"
#include "integrators/projection.h"
#include "integrators/system_matrix.h"
#include "verve/scene.h"

namespace verve {

struct Settings {
  SolverSpec spec;                         // as the scene has it, for what concerns one method alone
  std::unique_ptr<Integrator> integrator;  // null: own_step
  const OwnStepEntry* own_step = nullptr;
  const MinimizerEntry* minimizer = nullptr;  // null: projective
  std::unique_ptr<Integrator> sheets;         // for free and anchored islands with sheets; null: the same
  std::unique_ptr<Integrator> fallback;       // backward Euler, under constraints: Base::fallback
  std::unique_ptr<Integrator> touching;       // for islands that touch something, under constraints; null: the same
  Conservation conservation = Conservation::cpd;
  EnergyDirection direction = EnergyDirection::loss;  // of H, by cpd
  bool resolved = false;                              // hold H and heat: see LossColumn::share
  const ProjectionEntry* projection = nullptr;        // what is held after the step; conservation is then none
  double tolerance = 1e-6;
  int iterations = 40;
  int substeps = 0;  // 0 = automatic
  double epsilon = 1e-2;
  Precision precision = Precision::float64;
  double budget = 0;  // of a frame, in Work::milliseconds; 0: as long as it takes
  GlobalSolver::Kind solver = GlobalSolver::Kind::automatic;
  Cholesky::Storage storage = Cholesky::Storage::automatic;
  FactorKind factor_kind() const { return {precision, solver, storage}; }

  /// Those that a method has not are its own.
  const Integrator& base(Base which) const {
    const std::unique_ptr<Integrator>& own = which == Base::sheets     ? sheets
                                             : which == Base::contact  ? touching
                                             : which == Base::fallback ? fallback
                                                                       : integrator;
    return own ? *own : *integrator;
  }
  bool conserves() const { return conservation == Conservation::cpd && integrator; }
};

Settings resolve(const SolverSpec& spec);

}  // namespace verve
