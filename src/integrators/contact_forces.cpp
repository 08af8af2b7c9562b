// The forces of contact and friction on each vertex, as the last frame left them.
#include <algorithm>

#include "integrators/simulation_impl.h"

namespace verve {

std::vector<Vec4> World::contact_forces() const {
  if (repels() && repulsion_.size() == state.x.size()) return repulsion_;
  std::vector<Vec4> out(state.x.size());
  for (const Island* island : islands_) {
    const Contacts& contacts = island->contacts;
    const auto add = [&](const ContactRow& row, double force) {
      for (int i = 0; i < row.count; ++i) out[contacts.state_of_row[row.rows[i]]] += Vec4(row.slope(i) * force);
    };
    if (contacts.planes)  // which are in the matrix of the step, not among its rows
      contacts.each([&](const Contacts::Candidate& c) {
        if (c.depth > 0) add(c.row, c.stiffness * c.depth);
      });
    for (const ContactRow& row : contacts.rows()) add(row, std::clamp(row.force, row.low, row.high));
  }
  return out;
}

std::vector<Vec3> Simulation::contact_forces() const {
  const World& world = impl_->world;
  const std::vector<Vec4> by_row = world.contact_forces();
  std::vector<Vec3> out;
  out.resize(std::size_t(vertices()));
  for (const Body& body : world.model.bodies)
    for (int r = 0; r < body.count; ++r) out[body.first_vertex + body.vertex_of_row[r]] = by_row[body.first + r].xyz();
  return out;
}

}  // namespace verve
