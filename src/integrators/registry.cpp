#include "integrators/integrator.h"

namespace verve {

// What is behind integrator_names() (src/model/methods.cpp), in the same order.
const std::vector<IntegratorEntry>& integrator_registry() {
  static const std::vector<IntegratorEntry> entries{
      {"implicit_euler", make_implicit_euler},
      {"generalized_alpha", make_generalized_alpha},
  };
  return entries;
}

}  // namespace verve
