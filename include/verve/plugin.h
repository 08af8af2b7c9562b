// Potentials, integrators, methods and shapes of colliders of your own, by names that scene files, checks and simulations
// then know as they know Verve's own.
//
// Register before the scenes that use them are read, while no other thread uses Verve; nothing is taken back. What
// registers returns errors for a name that is taken or is none, and for what is missing; nothing has happened then.
//
// Functions may be called from several threads at once, and must give the same for the same: results are the same bits on
// any number of threads as long as these are. What one throws while a frame is computed ends the frame, which then has not
// happened (StepStatus::callback_failed, with its text); thrown while a simulation is made it is an error of
// Simulation::create. verve/contract_tests.h asks of them what Verve's own must fulfil.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "verve/diagnostics.h"
#include "verve/formula.h"
#include "verve/parameters.h"
#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

/// One number for each parameter: as the scene or set_parameter says, or its default.
using PluginValues = std::map<std::string, double>;

/// Potentials of elements by their deformation gradient, or of groups of vertices by a constraint: one of the two.
struct PotentialPlugin {
  std::string name;  ///< in scene files: lower case letters, digits and underscores
  std::string help;  ///< one sentence
  /// Numbers. The first one is the stiffness: ConstitutiveLaw says of which law what it means, of a formula it is that of
  /// each vertex towards its place [N/m].
  std::vector<ParameterInfo> parameters;
  int dimension = 3;  ///< of the law: 3 tetrahedra, 2 triangles, 1 edges
  /// Called when a body is made and when its material changes.
  std::function<ConstitutiveLaw(const PluginValues& values)> law;
  std::function<Formula(const PluginValues& values)> formula;  ///< as many values each time
  int group = 0;                                               ///< vertices of a group; 0: any number from 2 on
  /// Contradictions between values that each are in range; empty text: none. Optional.
  std::function<std::string(const PluginValues& values)> check;
};
Diagnostics register_potential(PotentialPlugin plugin);

/// A step from t_n to t_n + h.
struct IntegratorStep {
  double h = 0;
  double hh = 0;       ///< effective_step(h)
  bool first = false;  ///< p and q are not those of a step before: begin anew
  double before = 0;   ///< length of that step
};
/// A vertex in it. p and q are for an integrator to remember what it likes; they are part of snapshots.
struct IntegratorRow {
  Vec3 x, v, p, q;    ///< at t_n
  Vec3 acceleration;  ///< by forces that are constant during the step
  Vec3 xb, u;         ///< the problem: v = (x - xb)/hh, minimise 1/2 |v - u|^2_M + W(x)
  Vec3 x_new, v_new;  ///< its solution, which the step ends at
};

/// What a step that is no minimum sees of the bodies that move together.
struct OwnStepView {
  double h = 0;
  std::span<Vec3> x, v;            ///< at t_n, to be taken to t_n + h
  std::span<const double> masses;  ///< 0: a vertex that no element uses
  /// Of all forces at some x: M^-1 (f - dW/dx).
  std::function<void(std::span<const Vec3> x, std::span<Vec3> acceleration)> accelerate;
  std::vector<double>& history;  ///< for the next step, part of snapshots; empty at the first and after other motions
};

/// Either `begin`, for a step that minimises and can then be combined with every minimiser and conservation, or `step`.
struct IntegratorPlugin {
  std::string name, help;
  /// hh of a step h: all that the matrix of the global step needs to know. Default: h.
  std::function<double(double h)> effective_step;
  /// Fills in xb and u of some vertices; may change p and q.
  std::function<void(const IntegratorStep& step, std::span<IntegratorRow> rows)> begin;
  /// May change x_new, v_new, p and q. Optional.
  std::function<void(const IntegratorStep& step, std::span<IntegratorRow> rows)> end;
  bool force_at_end = true;  ///< its forces are those of the end of a step (IntegratorInfo)

  std::function<void(OwnStepView& view)> step;
};
/// Used as SolverSpec::integrator, and by methods that are registered with it.
Diagnostics register_integrator(IntegratorPlugin plugin);

/// A point on the axes by a name, of Verve's own integrators and registered ones.
Diagnostics register_method(const MethodInfo& method);

/// In the frame of the collider.
struct ShapeFunctions {
  /// Signed distance to the surface, exact inside and outside, and its gradient.
  std::function<double(const Vec3& x, Vec3& normal)> distance;
  Vec3 low, high;  ///< a box around what is inside
  /// What is drawn: corners on the surface, normals outward.
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
};
struct ShapePlugin {
  std::string name, help;
  std::vector<ShapeKey> keys;  ///< of a collider, that it reads: size, radius, length, normal
  std::function<ShapeFunctions(const ColliderSpec& spec)> make;
};
Diagnostics register_shape(ShapePlugin plugin);

/// What has been registered so far, in this order.
struct Registered {
  std::vector<std::string> potentials, integrators, methods, shapes;
};
const Registered& registered();

}  // namespace verve
