#include "verve/registry.h"

namespace verve {

// Methods by name: each a point on the three axes. The only list; loader, schema, docs, `verve list` and the contract
// tests all read it.
const std::vector<MethodInfo>& method_infos() {
  static const std::vector<MethodInfo> infos{
      {"cpd",
       "Constrained Projective Dynamics on generalised-alpha: holds P, L and H and keeps the oscillation (default)",
       "generalized_alpha", "projective", "cpd", 0.8, 40},
      {"cpd_bdf2", "the same on BDF2 (rho = 0): calmer, loses oscillation below about 8 frames per period",
       "generalized_alpha", "projective", "cpd", 0, 40},
      {"cpd_euler", "the same on backward Euler: holds P, L and H while the oscillation turns into other motion",
       "implicit_euler", "projective", "cpd", 0, 40},
      {"published", "CPD as printed (Kee et al. 2021), with alpha and epsilon and the signs corrected",
       "implicit_euler", "projective", "published", 0, 40, 1},
      {"pd", "Projective Dynamics (Bouaziz et al. 2014): backward Euler, 10 local/global iterations", "implicit_euler",
       "projective", "none", 0, 10, 1},
      {"pd_bdf2", "Projective Dynamics on BDF2", "generalized_alpha", "projective", "none", 0, 10},
      {"pd_alpha", "Projective Dynamics on generalised-alpha, rho = 0.8", "generalized_alpha", "projective", "none",
       0.8, 100},
  };
  return infos;
}

const MethodInfo* find_method(std::string_view name) {
  for (const MethodInfo& info : method_infos())
    if (info.name == name) return &info;
  return nullptr;
}

// The names on the axes; src/integrators/registry.cpp holds what is behind those of the first.
const std::vector<std::string>& integrator_names() {
  static const std::vector<std::string> names{"implicit_euler", "generalized_alpha"};
  return names;
}

const std::vector<std::string>& minimizer_names() {
  static const std::vector<std::string> names{"projective", "own"};
  return names;
}

const std::vector<std::string>& conservation_names() {
  static const std::vector<std::string> names{"none", "cpd", "published"};
  return names;
}

const std::vector<std::string>& own_step_names() {
  static const std::vector<std::string> names{};
  return names;
}

}  // namespace verve
