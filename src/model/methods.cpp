#include <algorithm>

#include "base/registered.h"
#include "model/check_ranges.h"
#include "verve/plugin.h"
#include "verve/registry.h"

namespace verve {

// Methods by name: each a point on the three axes, with the combinations that papers compare. The only list; loader,
// schema, docs, `verve list` and the contract tests all read it.
std::vector<MethodInfo>& editable_method_infos() {
  static std::vector<MethodInfo> infos = growable<MethodInfo>({
      {"cpd",
       "Constrained Projective Dynamics on generalised-alpha: holds P, L and H and keeps the oscillation (default)",
       "generalized_alpha", "projective", "cpd", 0.8, 40, 0, true, true, false, 1, EnergyDirection::loss},
      {"cpd_gradient",
       "the same with H corrected along its gradient, as printed: slow modes pay for what fast ones lose",
       "generalized_alpha", "projective", "cpd", 0.8, 40},
      {"cpd_bdf2", "the same on BDF2 (rho = 0): smoother, loses oscillation below about 8 frames per period",
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
      {"hard", "springs and other smooth constraints held exactly (RATTLE): keeps both momenta, energy within a band",
       "hard", "own", "none", 0, 100, 0, true, false},
      {"fast_projection", "inextensible: a free step, then projection onto the constraints (Goldenthal et al. 2007)",
       "fast_projection", "own", "none", 0, 100, 1},
      {"compliant",
       "constraints with compliance 1/k and geometric stiffness (Servin et al. 2006, Tournier et al. 2015)",
       "compliant", "own", "none", 0, 1, 1},
      {"compliant_plain", "the same without the geometric stiffness: tense constraints become unstable sideways",
       "compliant_plain", "own", "none", 0, 1, 1, true, false},
      {"linearized_euler", "backward Euler with one linear solve per step (Baraff and Witkin 1998)", "linearized_euler",
       "own", "none", 0, 1000, 1},
      {"symplectic_euler", "explicit, energy within a band below its longest step; penalty forces by another name",
       "symplectic_euler", "own", "none", 0, 1, 1, true, false},
      {"explicit_euler", "explicit, gains energy at any step: for comparison", "explicit_euler", "own", "none", 0, 1,
       -1, true, false},
      {"verlet", "velocity Verlet: explicit, second order, time-reversible below its longest step", "verlet", "own",
       "none", 0, 1, 0, true, false},
      {"jakobsen", "Verlet with relaxed sticks (Jakobsen 2001)", "jakobsen", "own", "none", 0, 30},
      {"pd+fepr", "Projective Dynamics, then FEPR (Dinev et al. 2018): the energy is projected back after the step",
       "implicit_euler", "projective", "fepr", 0, 10},
      {"midpoint+fepr", "the implicit midpoint rule, then FEPR", "implicit_midpoint", "projective", "fepr", 0, 10},
      {"midpoint+blend",
       "the implicit midpoint rule, blended with Euler's where the energy leaves a band (Dinev et al. 2018)",
       "implicit_midpoint", "projective", "blend", 0, 10},
      {"a_search", "backward Euler whose velocities follow a target of energy (You, Zheng, Li 2026)", "implicit_euler",
       "projective", "a_search", 0, 10},
      {"newton",
       "Newton's method on backward Euler: exact Hessians of the elements, made definite where "
       "needed, with line search",
       "implicit_euler", "newton", "none", 0, 20, 1},
      {"lbfgs", "L-BFGS on backward Euler with the matrix of PD as first Hessian (Liu et al. 2017)", "implicit_euler",
       "lbfgs", "none", 0, 20, 1},
      {"admm", "ADMM on backward Euler: a proximal point of each element, then PD's global step (Overby et al. 2017)",
       "implicit_euler", "admm", "none", 0, 20, 1},
      {"jacobi", "Projective Dynamics with a Jacobi iteration in place of the global solve (Wang 2015)",
       "implicit_euler", "jacobi", "none", 0, 100, 1},
      {"gauss_seidel", "Projective Dynamics with a symmetric Gauss-Seidel iteration in place of the global solve",
       "implicit_euler", "gauss_seidel", "none", 0, 50, 1},
      {"vbd", "vertex block descent on backward Euler: vertex by vertex, colour by colour (Chen et al. 2024)",
       "implicit_euler", "vbd", "none", 0, 100, 1},
      {"cpd_lbfgs", "cpd with L-BFGS in place of PD's constant matrix, for any potential", "generalized_alpha", "lbfgs",
       "cpd", 0.8, 40},
      {"pbd", "Position Based Dynamics (Mueller et al. 2007): projections whose number and mesh set the stiffness",
       "pbd", "own", "none", 0, 20, 1},
      {"xpbd",
       "Extended Position Based Dynamics (Macklin et al. 2016): projections with the stiffness of the potentials",
       "xpbd", "own", "none", 0, 20, 1},
      {"small_steps", "the same with 20 sub-steps of one iteration (Macklin et al. 2019)", "xpbd", "own", "none", 0, 1,
       1.0 / 20, true, true, false, 20},
  });
  return infos;
}
const std::vector<MethodInfo>& method_infos() { return editable_method_infos(); }

namespace {

/// A method that holds nothing, and what is held after its step.
MethodInfo with_conservation(MethodInfo base, const std::string& conservation) {
  base.name += "+" + conservation;
  base.help += ", then " + conservation + " after the step";
  base.conservation = conservation;
  if (find_conservation_info(conservation)->exact_fall) base.fall = 0;
  return base;
}

}  // namespace

const std::vector<MethodInfo>& combined_methods() {
  static std::vector<MethodInfo> infos =
      growable<MethodInfo>({}, (method_infos().size() + most_plugins) * post_step_names().size());
  static size_t done = 0;  // of method_infos()
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (; done < method_infos().size(); ++done) {
    const MethodInfo& base = method_infos()[done];
    for (const std::string& conservation : post_step_names()) {
      if (base.conservation != "none" || !base.dynamic) continue;
      MethodInfo info = with_conservation(base, conservation);
      const auto same = [&](const MethodInfo& other) { return other.name == info.name; };
      if (std::none_of(method_infos().begin(), method_infos().end(), same)) infos.push_back(std::move(info));
    }
  }
  return infos;
}

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Diagnostics register_method(const MethodInfo& method) {
  Diagnostics out;
  const std::string where = "register_method";
  check_plugin_name(where.c_str(), method.name, find_method(method.name), registered().methods.size(), out);
  const auto known = [&](const char* axis, const std::string& name, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      out.error(where + ": " + axis, "found " + quoted(name) + ", expected one of " + list_of(names));
  };
  known("integrator", method.integrator, integrator_names());
  known("minimizer", method.minimizer, minimizer_names());
  known("conservation", method.conservation, conservation_names());
  for (const AxesConflict& conflict : conflicts_of(method.axes())) out.error(where + ": " + conflict.axis, conflict.message);
  if (method.iterations < 1 || method.substeps < 1)
    out.error(where, "found " + std::to_string(method.iterations) + " iterations and " +
                         std::to_string(method.substeps) + " sub-steps, expected at least one of each");
  if (out.has_errors()) return out;
  registry_of_plugins().methods.push_back(method.name);
  editable_method_infos().push_back(method);
  return out;
}

const MethodInfo* find_method(std::string_view name) {
  for (const std::vector<MethodInfo>* list : {&method_infos(), &combined_methods()})
    for (const MethodInfo& info : *list)
      if (info.name == name) return &info;
  return nullptr;
}

}  // namespace verve
