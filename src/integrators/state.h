// Everything that is remembered from frame to frame, as one value that can be copied: a frame is a function of the
// model, the state and the dials. Going back is an assignment (World::restore).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "contact/contact_cache.h"
#include "contact/shapes.h"
#include "integrators/conservation.h"
#include "integrators/plan.h"
#include "linear/low_rank.h"
#include "model/plasticity.h"
#include "potentials/potential.h"
#include "verve/prepared_body.h"
#include "verve/scene.h"
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
  double work = 0;         // of colliders that move, come or go, so far
  int torn = 0;            // elements so far
  bool applied = false;    // forces act on it in the coming frame
  // of the last frame
  double pair_energy = 0;      // what it has against other bodies, its share, and colliders
  double friction_energy = 0;  // of its springs of friction, likewise
  Mode mode = Mode::free;      // of the last step
  int slow_frames = 0;         // in a row, while all that it touches takes energy
  double elastic = 0, contact = 0, target_total = 0, multiplier = 0;
  double error_p = 0, error_l = 0, error_h = 0;
  int iterations = 0, substeps = 1;
};

/// Who has a place among the bodies, anchors, colliders, winds or lasting forces of the model: one of the scene's, one that was added
/// in its place or behind them, or nobody.
template <class Spec>
struct Place {
  std::shared_ptr<const Spec> added;
  bool removed = false;
  int generation = 1;  // Id
  bool same_occupant(const Place& other) const { return added == other.added && removed == other.removed; }
};

struct BodyPlace : Place<BodySpec> {
  Spawn spawn;    // of one that was added
  int first = 0;  // row of the state
};

struct ColliderState : Place<ColliderSpec> {
  std::optional<bool> switched;  // set_collider in place of the scene's track
  bool was_active = false;       // in the last frame
  // move_collider in place of the scene's tracks: where it is when the coming frame begins, and when it ends
  std::optional<Pose> from, to;
};

struct WindState : Place<WindSpec> {
  std::optional<Vec3> velocity;  // set_wind in place of the scene's track
};

struct ForceState : Place<ForceSpec> {
  bool active = false;  // at the last look
};

struct AnchorState : Place<AnchorSpec> {
  bool active = false;
  std::optional<bool> switched;  // set_anchor in place of the scene's track
  std::optional<Vec3> moved;     // move_anchor in place of the scene's path
  double stiffness = 0;
  std::vector<double> hardness;  // of a hard anchor, per vertex
  Vec3 placed;                   // displacement at the end of the last frame; a hard anchor moves on from there
  std::vector<Vec4> hold;        // where it took hold of each vertex
  /// Removed, and part of no island any more.
  bool is_gone() const { return removed && !active; }
};

/// All places at which a body touched another or a collider in the last frame, as one.
struct PairContact {
  int body = -1, other = -1, collider = -1;  // other > body
  Vec3 normal, point;                        // the way the body was pushed, and where, at the last touch
  double force = 0;                          // at the end [N]
  double impulse = 0;                        // [N s]
  double friction_loss = 0;                  // [J]
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

/// What an island remembers beside the motion of its bodies. Islands that were not there in the last frame remember
/// nothing.
struct IslandMemory {
  std::vector<int> bodies;
  SubstepControl substeps;
  double energy = 0;            // W at x, as the last step left it,
  double prestress_energy = 0;  // and the part of it that is not least at rest
  bool evaluated = false;       // they are those at x
  double radius = 0, kinetic = 0;  // of gyration, and the energy, where the last step began
  double iteration_cost = 0;    // of the last step, in Work::milliseconds
  int plain_steps = 0;          // to come without H, after one that was cut short went astray
  bool cannot_lose = false;     // the last step was asked to lose energy that it could not lose
  bool has_contacts = false;     // candidates, in the last step
  double restitution = 0;        // the largest of these
  std::uint64_t start_hash = 0;  // of all that the last frame began with, where it touches something and is at rest
  int same_starts = 0;           // frames in a row that began so: see sleeping.cpp
  std::vector<ColliderLoad> loads;  // in the last step: as the integrator remembers its forces (Motion::q)
  std::vector<LowRankTerm> planes;  // Island::set_planes
  std::vector<double> own_step;     // of a method with a step of its own

  /// All that may touch gives back less than it takes: what a step loses of H need not be owed.
  bool loses_energy() const { return has_contacts && restitution < 1; }
};

/// What a factor was made with: the changes since are low-rank terms on top of it.
struct FactorBase {
  std::vector<LowRankTerm> anchors;                   // weights of anchors to the world and of planes
  std::vector<std::vector<std::vector<char>>> removed;  // elements, by body of the island and potential
  bool operator==(const FactorBase&) const = default;
};

/// A factor that an island of linked bodies has. Which of them there are decides nothing but round-off.
struct FactorRecord {
  int body = -1;  // the first of the island
  double hh = 0;
  Precision precision = Precision::float64;
  std::shared_ptr<const FactorBase> base;
  double extra_work = 0;  // of the changes since (GlobalSolver)
  bool current = true;    // it has followed all of these
};

/// Values of parameters, by body and potential.
using Materials = std::vector<std::vector<ParameterValues>>;

struct State {
  std::vector<Vec4> x, v, p, q;
  std::vector<Vec4> gradient;              // of W at x, as the last step left it
  std::vector<Vec4> acceleration;          // of Motion; empty without wind
  std::vector<Vec4> applied;               // forces of the coming frame by calls; empty: none
  std::vector<WindState> winds;
  std::vector<ForceState> forces;  // that last
  std::vector<BodyPlace> bodies;
  std::vector<BodyLedger> ledger;
  std::vector<AnchorState> anchors;
  std::vector<ColliderState> colliders;
  std::vector<PairContact> contact_pairs;  // of the last frame, by their sides
  std::vector<Bounce> bounces;
  std::vector<CachedContact> contacts;       // by key
  std::vector<std::vector<char>> gone;       // cells of each body that tears (Tearing)
  std::vector<std::vector<PlasticFlow>> plastic;  // of each body, one per potential that flows (Plasticity)
  std::vector<IslandMemory> islands;         // of the last frame, by their first bodies
  std::vector<FactorRecord> factors;
  // materials as they are now, and what set_parameter has asked for; shared with copies as long as nothing changes them
  std::shared_ptr<const Materials> parameters, overrides;
  std::vector<FrictionAnchor> friction_anchors;  // by key
  std::vector<std::array<int, 2>> touching;  // bodies, at the end of the last frame
  std::vector<int> group;                    // of each body then: the first body of its island
  std::optional<double> friction;            // set_friction
  std::optional<double> step;                // set_step
  std::optional<int> iterations;             // set_iterations
  std::optional<double> budget;              // set_budget
  Vec3 gravity;
  double time = 0;
  double origin = 0;  // time of frame 0
  int frame = 0;

  /// W of a body and those around it is no longer what the last frame left: other forces act.
  void energy_changed(int body);
};

inline void State::energy_changed(int body) {
  for (IslandMemory& memory : islands)
    if (std::find(memory.bodies.begin(), memory.bodies.end(), body) != memory.bodies.end())
      memory.evaluated = false, memory.same_starts = 0;
}

}  // namespace verve
