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
      {"cpd_midpoint", "the same on the implicit midpoint rule (named as future work in Kee et al. 2021)",
       "implicit_midpoint", "projective", "cpd", 0, 40},
      {"published", "CPD as printed (Kee et al. 2021), with alpha and epsilon and the signs corrected",
       "implicit_euler", "projective", "published", 0, 40, 1, true, true, true},
      {"pd", "Projective Dynamics (Bouaziz et al. 2014): backward Euler, 10 local/global iterations", "implicit_euler",
       "projective", "none", 0, 10, 1, true, true, true},
      {"pd_bdf2", "Projective Dynamics on BDF2", "generalized_alpha", "projective", "none", 0, 10, 0, true, true, true},
      {"pd_alpha", "Projective Dynamics on generalised-alpha, rho = 0.8", "generalized_alpha", "projective", "none",
       0.8, 100},
      {"midpoint", "implicit midpoint rule by local/global iterations: symplectic, unstable in large stiff steps",
       "implicit_midpoint", "projective", "none", 0, 10},
      {"newmark", "Newmark's method, beta = 1/4 and gamma = 1/2 unless given, by local/global iterations", "newmark",
       "projective", "none", 0, 40},
      {"chung_hulbert", "generalised-alpha for second-order systems (Chung and Hulbert 1993), rho = 0.8",
       "chung_hulbert", "projective", "none", 0.8, 40},
      {"trbdf2", "trapezoidal rule and BDF2 in one step (Bank et al. 1985), by local/global iterations", "trbdf2",
       "projective", "none", 0, 40},
      {"quasistatic", "equilibria: each frame is the shape at rest under its forces and anchors", "quasistatic",
       "projective", "none", 0, 200, 0, false},
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
  static const std::vector<std::string> names{"implicit_euler", "generalized_alpha", "implicit_midpoint",
                                              "newmark",        "chung_hulbert",     "trbdf2",
                                              "quasistatic"};
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
