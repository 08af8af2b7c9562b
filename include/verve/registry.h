// What Verve offers by name. `verve list`, the scene loader, the schema, the docs and the contract tests read these.
#pragma once

#include <string>
#include <vector>

#include "verve/parameters.h"

namespace verve {

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

/// A method is a point on three axes: what is minimised, how, and what is held.
struct MethodInfo {
  std::string name;
  std::string help;
  std::string integrator;    ///< "implicit_euler", "generalized_alpha"
  std::string minimizer;     ///< "projective"
  std::string conservation;  ///< "none", "cpd", "published"
  double rho = 0;            ///< of generalized_alpha
  int iterations = 40;       ///< default cap
};
const std::vector<MethodInfo>& method_infos();

/// The names allowed on each axis.
const std::vector<std::string>& integrator_names();
const std::vector<std::string>& minimizer_names();
const std::vector<std::string>& conservation_names();

}  // namespace verve
