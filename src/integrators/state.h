// Everything that moves, in rows of the model, and the ledger of each body.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "contact/contact_cache.h"
#include "integrators/conservation.h"
#include "verve/vec.h"

namespace verve {

struct BodyLedger {
  Quantities debt;                      // what the last steps owe: targets minus what was reached
  std::optional<double> wanted_energy;  // set_energy, until it is met
  std::optional<double> held_energy;    // hold_energy and the like in place of the scene's tracks
  std::optional<Vec3> held_momentum, held_spin;
  std::optional<double> damping;  // set_half_life in place of the scene's track [1/s]
  bool history = false;           // p and q of this body belong to x and v
  double last_step = 0;
  double booked_loss = 0;  // taken on purpose so far; what wind brings counts as a negative loss
  double heat = 0;         // what steps could not resolve so far, and do not owe: solver.hold "resolved"
  double pending = 0;      // lost in an impact that is not over: paid back at its end, as far as restitution says
  int torn = 0;            // elements so far
  // of the last frame
  double pair_energy = 0;      // what it has against other bodies, its share, and colliders
  double friction_energy = 0;  // of its springs of friction, likewise
  bool touched = false;        // something, in the last step
  bool driven = false;         // Island::driven, likewise
  bool let_go = false;         // of H, likewise
  bool lies = false;           // still, in a heap
  int slow_frames = 0;         // in a row, while it touches what takes energy
  double elastic = 0, contact = 0, target_total = 0, multiplier = 0;
  double error_p = 0, error_l = 0, error_h = 0;
  int iterations = 0, substeps = 1;
};

struct AnchorState {
  bool active = false;
  std::optional<bool> switched;  // set_anchor in place of the scene's track
  std::optional<Vec3> moved;     // move_anchor in place of the scene's path
  double stiffness = 0;
  std::vector<double> hardness;  // of a hard anchor, per vertex
  Vec3 placed;                   // displacement at the end of the last frame; a hard anchor moves on from there
  std::vector<Vec4> hold;        // where it took hold of each vertex
};

/// An impact: of a body on a collider or another body.
struct Bounce {
  int body = -1, other = -1, collider = -1;
  double speed = 0;        // at which they met
  Vec3 normal;             // of the last touch
  Vec3 arm, arm_of_other;  // to where that was, from the centre of each
  int free = 0;            // frames since
  int age = 0;             // frames since the first
};

struct State {
  std::vector<Vec4> x, v, p, q;
  std::vector<Vec4> acceleration;          // of Motion; empty without wind
  std::vector<std::optional<Vec3>> winds;  // set_wind in place of the scene's track
  std::vector<char> force_active;          // of the scene's forces, at the last look
  std::vector<BodyLedger> ledger;
  std::vector<AnchorState> anchors;
  std::vector<Bounce> bounces;
  std::vector<CachedContact> contacts;           // by key
  std::vector<std::vector<char>> gone;           // cells of each body that tears (Tearing)
  std::vector<FrictionAnchor> friction_anchors;  // by key
  std::vector<std::array<int, 2>> touching;      // bodies, at the end of the last frame
  std::vector<int> group;                        // of each body then: the first body of its island
  std::optional<double> friction;                // set_friction
  Vec3 gravity;
  double time = 0;
  double origin = 0;  // time of frame 0
  int frame = 0;
};

}  // namespace verve
