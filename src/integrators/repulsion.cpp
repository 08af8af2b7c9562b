// Contact as the CPD paper has it (Kee et al. 2021, Sec. 4.4): repulsion springs between what is inside of each other
// when a frame begins, as forces that are constant during it. For comparison: docs/contact_methods.md says what this
// costs.
#include "contact/repulsion.h"

#include "integrators/world.h"

namespace verve {

double World::repel(const std::vector<Vec4>& x, std::vector<Vec4>& force) {
  force.assign(model.rows, Vec4());
  if (!repels()) return 0;
  const double now = clock(state.frame);
  return detector_.repel(x.data(), collider_motions(now, now), *scene.contact, force.data());
}

}  // namespace verve
