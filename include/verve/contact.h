// Contacts, and the events of a frame.
#pragma once

#include "verve/ids.h"
#include "verve/vec.h"

namespace verve {

/// All places at which a body touched another or a collider at the end of a frame or in it, as one.
struct Contact {
  BodyId body;
  BodyId other;         ///< -1: a collider
  ColliderId collider;  ///< -1: a body
  Vec3 point;           ///< mean, weighted by the force [m]
  Vec3 normal;          ///< the way `body` is pushed, unit
  double force = 0;     ///< along the normals, at the end of the frame [N]; 0: they have parted
  double impulse = 0;   ///< in the frame, of these forces and of restitution [N s]; in impacts to about a seventh
  double friction_loss = 0;  ///< what friction took in the frame [J]
};

enum class EventKind { contact_begin, contact_end, torn, asleep, awake };

/// Of the last frame.
struct Event {
  EventKind kind;
  BodyId body;
  BodyId other;         ///< of contacts; -1: a collider
  ColliderId collider;  ///< likewise
  int torn = 0;         ///< elements
};

}  // namespace verve
