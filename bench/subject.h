// One body of a scene as the product runs it: an island, and a state from which every measurement starts.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/problem.h"
#include "integrators/step_solver.h"
#include "integrators/world.h"

namespace verve::bench {

/// A point on the axes with a fixed number of iterations: at tolerance 0 a step never ends early.
Settings fixed_iterations(const std::string& method, Precision precision, int iterations);

class Subject {
 public:
  /// Takes `warm_up` steps of cpd from the initial state of the scene's only body; throws std::runtime_error when the
  /// scene cannot be compiled.
  Subject(Scene scene, int warm_up);

  /// One step from the kept state, on `threads` threads.
  StepOutcome step(const Settings& settings, int threads);
  /// Of positions and velocities after the last step, in the order of the mesh.
  std::uint64_t hash() const;
  std::vector<Vec3> positions() const;
  /// The matrix of that step, as the island assembles it.
  SymmetricAssembly assemble() const;
  /// The same step by plain PD, for a baseline: built from the mesh, not from the product's batches.
  PdProblem problem() const;

  int vertices() const { return island_->rows(); }
  int elements() const;
  const Scene& scene() const { return scene_; }
  Island& island() { return *island_; }

 private:
  Scene scene_;
  CompiledScene compiled_;
  const Model& model_ = compiled_.model;
  const Matter& matter_ = compiled_.matter;
  std::unique_ptr<Island> island_;
  Motion kept_;
};

}  // namespace verve::bench
