// What Verve offers by name. `verve list`, the scene loader, the schema, the docs and the contract tests read these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
};
const std::vector<PotentialInfo>& potential_infos();

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
  std::string direction = "gradient";  ///< of conservation cpd, one of direction_names()
};
const std::vector<MethodInfo>& method_infos();
/// What is in no list: "BASE+CONSERVATION" for every dynamic method that holds nothing and every one of
/// post_step_names(), as "pd_bdf2+momentum".
const std::vector<MethodInfo>& combined_methods();
/// Of either list; null when there is no method of that name.
const MethodInfo* find_method(std::string_view name);

/// The names allowed on each axis.
const std::vector<std::string>& integrator_names();
const std::vector<std::string>& minimizer_names();
const std::vector<std::string>& conservation_names();
/// Those of conservation_names() that act after the step, whatever the method.
const std::vector<std::string>& post_step_names();
/// Along what conservation cpd corrects H, and how much of H is held (docs/cpd.md).
const std::vector<std::string>& direction_names();
const std::vector<std::string>& hold_names();
/// What can be made of the steps of a minimiser.
const std::vector<std::string>& acceleration_names();
/// Whether a step at this point of the axes sees what bodies touch. The others would let them pass through
/// (docs/contact.md).
bool sees_contact(std::string_view integrator, std::string_view minimizer, std::string_view conservation);
/// Whether a frame of such steps can keep to a budget (docs/budget.md).
bool keeps_budgets(std::string_view integrator, std::string_view minimizer, std::string_view conservation);
bool keeps_budgets(const SolverSpec& solver);
/// Those of integrator_names() that minimise nothing: their minimizer is "own", and what is held is held after the step.
const std::vector<std::string>& own_step_names();

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
