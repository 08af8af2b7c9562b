// What Verve offers by name. `verve list`, the scene loader, the schema, the docs and the contract tests read these.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verve/choices.h"
#include "verve/parameters.h"

namespace verve {

struct SolverSpec;

struct PotentialInfo {
  std::string name;
  std::string help;      ///< one sentence with the source
  std::string elements;  ///< what it acts on: "tetrahedra", "edges", ...
  std::vector<ParameterInfo> parameters;
  bool slack = false;           ///< some deformations cost nothing: limits, volumes, bending
  bool prestressed = false;     ///< pushes or pulls at rest already, and its energy has no sign: gas
  bool takes_groups = false;    ///< acts on groups of vertices that the scene names
  bool takes_examples = false;  ///< needs example poses
  bool flows = false;           ///< each element has a shape at rest of its own, which a yield may change
};
const std::vector<PotentialInfo>& potential_infos();

/// A point on three axes: what is minimised, how, and what is held.
struct MethodAxes {
  std::string integrator;    ///< one of integrator_names()
  std::string minimizer;     ///< one of minimizer_names()
  std::string conservation;  ///< one of conservation_names()
};

/// A method is a point on three axes: what is minimised, how, and what is held. Position-based, constraint-based and
/// explicit methods minimise nothing as a whole: their integrator has a step of its own and their minimizer is "own".
struct MethodInfo {
  std::string name;
  std::string help;
  std::string integrator;    ///< one of integrator_names()
  std::string minimizer;     ///< one of minimizer_names()
  std::string conservation;  ///< one of conservation_names()
  double rho = 0;            ///< of generalized_alpha and chung_hulbert
  int iterations = 40;       ///< default cap
  double fall = 0;           ///< a body falls g h^2 (n^2 + fall n)/2 in n frames: 0 is exact, 1 that of backward Euler
  bool dynamic = true;       ///< has velocities; false: a row of equilibria
  bool stable = true;        ///< at any step; otherwise only below a limit that stiffness and mass set
  bool damps = false;        ///< ends with no more energy than it had
  int substeps = 1;          ///< default where they are not chosen automatically
  EnergyDirection direction = EnergyDirection::gradient;  ///< of conservation cpd

  MethodAxes axes() const { return {integrator, minimizer, conservation}; }
};
const std::vector<MethodInfo>& method_infos();
/// What is in no list: "BASE+CONSERVATION" for every dynamic method that holds nothing and every one of
/// post_step_names(), as "pd_bdf2+momentum".
const std::vector<MethodInfo>& combined_methods();
/// Of either list; null when there is no method of that name.
const MethodInfo* find_method(std::string_view name);

/// Where a solver is on the axes: those that it gives itself, else those of its method. None when there is no method of
/// that name.
std::optional<MethodAxes> axes_of(const SolverSpec& solver);

// What the entries of each axis can be combined with: one row each, in src/model/axes.cpp. The checks of scenes and the
// functions below read nothing else.
struct IntegratorInfo {
  std::string name;
  bool own_step = false;    ///< minimises nothing as a whole: its minimizer is "own"
  bool dynamic = true;      ///< has velocities, so that something can be held
  bool force_at_end = true; ///< its forces are those of the end of a step, where H is held
  bool published = false;   ///< conservation "published" is written for it
  enum class Budget { none, conserving, always } budget = Budget::none;  ///< with which conservation it keeps to one
};
struct MinimizerInfo {
  std::string name;
  bool sees_contact = false;    ///< minimises W as a whole, contact included
  bool constant_matrix = false; ///< SolverSpec::acceleration applies
  bool holds_cpd = false;       ///< knows the constraints of conservation "cpd"
  bool holds_published = false; ///< likewise of "published"
  bool keeps_budgets = false;
};
struct ConservationInfo {
  std::string name;
  enum class When { never, in_step, after_step } when = When::after_step;
  bool beside_contact = true;  ///< false: restores after the step what a contact has changed
  bool holds_energy = true;    ///< or a bound on it
  bool exact_fall = false;     ///< puts the centre of mass where constant forces take it (docs/fepr.md)
};
const std::vector<IntegratorInfo>& integrator_infos();
const std::vector<MinimizerInfo>& minimizer_infos();
const std::vector<ConservationInfo>& conservation_infos();
/// Null when there is none of that name.
const IntegratorInfo* find_integrator_info(std::string_view name);
const MinimizerInfo* find_minimizer_info(std::string_view name);
const ConservationInfo* find_conservation_info(std::string_view name);
/// The names allowed on each axis.
const std::vector<std::string>& integrator_names();
const std::vector<std::string>& minimizer_names();
const std::vector<std::string>& conservation_names();
/// Those of integrator_names() with a step of their own.
const std::vector<std::string>& own_step_names();
/// Those of conservation_names() that act after the step, whatever the method.
const std::vector<std::string>& post_step_names();

/// Why the entries of a point do not go together; empty: they do. `axis` is the one to change.
struct AxesConflict {
  std::string axis, message;
};
std::vector<AxesConflict> conflicts_of(const MethodAxes& axes);
/// Whether the steps of a minimiser may be accelerated (SolverSpec::acceleration).
bool takes_acceleration(const MethodAxes& axes);
/// Whether bodies may have a consistent mass matrix.
bool takes_consistent_mass(const MethodAxes& axes);
/// Whether a step at this point of the axes sees contacts. The others would let bodies pass through each other
/// (docs/contact_methods.md).
bool sees_contact(const MethodAxes& axes);
/// Whether a frame of such steps can keep to a budget (docs/budget.md).
bool keeps_budgets(const MethodAxes& axes);
bool keeps_budgets(const SolverSpec& solver);

/// A key of a collider (ColliderSpec) that a shape reads, and what it means there.
struct ShapeKey {
  std::string name, help;
};
struct ShapeInfo {
  std::string name;
  std::string help;
  std::vector<ShapeKey> keys;
  bool reads(std::string_view key) const;
};
/// Shapes of colliders.
const std::vector<ShapeInfo>& shape_infos();

}  // namespace verve
