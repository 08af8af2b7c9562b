// A body made beforehand, to be added to a running simulation without a pause.
#pragma once

#include <memory>
#include <string>

#include "verve/vec.h"

namespace verve {

/// Where a body comes in, in place of where its specification says: its vertices are rotated about the origin and then
/// moved, and it has these velocities besides its own.
struct Spawn {
  std::string name;  ///< empty: that of the specification; one that is taken gets a number behind it
  Placing place;
  Vec3 velocity{0, 0, 0};          ///< [m/s]
  Vec3 angular_velocity{0, 0, 0};  ///< about the centre of mass [rad/s]
};

/// Mesh, materials, surface and factors: of Simulation::prepare, taken in by Simulation::add_body.
class PreparedBody {
 public:
  PreparedBody(PreparedBody&&) noexcept;
  PreparedBody& operator=(PreparedBody&&) noexcept;
  ~PreparedBody();

  struct Content;

 private:
  friend class Simulation;
  explicit PreparedBody(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace verve
