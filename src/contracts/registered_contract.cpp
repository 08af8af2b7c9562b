#include <algorithm>

#include "contracts/method_contract.h"
#include "verve/contract_tests.h"
#include "verve/plugin.h"

namespace verve {

Diagnostics test_registered() {
  Diagnostics out;
  const Registered& all = registered();
  for (const std::string& name : all.potentials) out.append(test_potential(name));
  for (const std::string& name : all.methods) out.append(test_method(name));
  for (const std::string& name : all.shapes) out.append(test_shape(name));
  for (const std::string& name : all.integrators) {
    const auto has_it = [&](const std::string& method) { return find_method(method)->integrator == name; };
    if (std::any_of(all.methods.begin(), all.methods.end(), has_it)) continue;
    for (const char* method : {"pd", "newton"}) {
      SolverSpec solver;
      solver.method = method, solver.integrator = name;
      if (find_integrator_info(name)->own_step) solver.minimizer = "own";
      out.append(test_solver(solver, "integrator \"" + name + "\" with method \"" + method + "\""));
      if (find_integrator_info(name)->own_step) break;
    }
  }
  return out;
}

}  // namespace verve
