// Colliders: where they are and whether they are there, by the scene's tracks or by whoever moves them.
#include <algorithm>
#include <numbers>

#include "base/parallel.h"
#include "integrators/turn.h"
#include "integrators/world.h"

namespace verve {

namespace {

bool is_movable(const ColliderSpec& spec) {
  const auto changes = [](const Track<Vec3>& track) { return !track.empty() && !track.is_constant(); };
  return changes(spec.position) || changes(spec.rotation);
}

/// Part of the way from one pose to another, turning evenly about one axis.
Pose between(const Pose& from, const Pose& to, double fraction) {
  if (fraction <= 0) return from;
  if (fraction >= 1) return to;
  Pose out{from.rotation, from.position + (to.position - from.position) * fraction};
  const Vec3 turn = turn_between(from.rotation, to.rotation) * fraction;
  if (norm(turn) > 0) out.rotation = Turn(turn).matrix() * from.rotation;
  return out;
}

}  // namespace

Pose World::pose_of(int collider, double time) const {
  const ColliderState& moved = state.colliders[collider];
  if (moved.to) return between(*moved.from, *moved.to, (time - clock(state.frame)) / scene.step);
  const ColliderSpec& spec = scene.colliders[collider];
  Pose pose;
  pose.position = spec.position.at(time).value_or(Vec3{});
  const Vec3 turn = spec.rotation.at(time).value_or(Vec3{}) * (std::numbers::pi / 180);
  if (norm(turn) > 0) pose.rotation = Turn(turn).matrix();
  return pose;
}

/// One that comes or goes by a call does so in the coming frame: when that begins it is as it was in the last.
bool World::is_active(int collider, double time) const {
  const ColliderState& s = state.colliders[collider];
  const bool called = s.removed || s.switched || s.added;
  if (called && !(time > clock(state.frame))) return s.was_active;
  if (s.removed) return false;
  return s.switched ? *s.switched : scene.colliders[collider].active.at(time).value_or(false);
}

std::span<const ColliderMotion> World::collider_motions(double from, double to) {
  collider_motions_.resize(model.colliders.size());
  for (size_t s = 0; s < model.colliders.size(); ++s)
    collider_motions_[s] = {pose_of(int(s), from), pose_of(int(s), to), is_active(int(s), to),
                            is_movable(scene.colliders[s]) || state.colliders[s].to.has_value()};
  return collider_motions_;
}

/// After a frame: they are where they were moved to.
void World::settle_colliders() {
  const double end = clock(state.frame + 1);
  for (size_t c = 0; c < state.colliders.size(); ++c) {
    ColliderState& s = state.colliders[c];
    s.was_active = is_active(int(c), end);
    if (s.to) s.from = s.to;
  }
}

void World::move_collider(int c, const Pose& to, bool at_once) {
  ColliderState& s = state.colliders[c];
  if (!s.to) s.from = pose_of(c, clock(state.frame));
  s.to = to;
  if (at_once) s.from = to;
}

void World::switch_collider(int c, bool active) { state.colliders[c].switched = active; }

ColliderId World::add_collider(const ColliderSpec& spec, std::unique_ptr<const Shape> shape) {
  set_threads(threads_, &tasks_);
  size_t place = 0;
  // (one that was removed since the last frame goes in the coming one)
  while (place < state.colliders.size() && !(state.colliders[place].removed && !state.colliders[place].was_active &&
                                             collider_generations_.has_next(int(place))))
    ++place;
  const int c = int(place);
  const bool first = !has_contact();
  if (place == state.colliders.size())
    state.colliders.emplace_back(), scene.colliders.emplace_back(), model.colliders.emplace_back();
  scene.colliders[c] = spec;
  model.colliders[c] = {spec.name, std::move(shape)};
  ColliderState& s = state.colliders[c] = {};
  s.added = std::make_shared<const ColliderSpec>(spec), s.generation = collider_generations_.next(c);
  if (first) {
    compile_contact();
  } else {
    pair_table_.compile(scene);
    detector_.set_collider(c, model.colliders[c].shape.get());
  }
  return {c, s.generation};
}

/// It goes in the coming frame; what it pushed loses its energy by its work.
void World::remove_collider(int c) {
  ColliderState& s = state.colliders[c];
  s.removed = true;
  scene.colliders[c].name.clear();
}

bool World::is_fresh_collider(int c, const State& from, const State& to) {
  return c >= int(from.colliders.size()) || to.colliders[c].added != from.colliders[c].added;
}

/// Specifications as in another state, and shapes where these are others. True: some are.
bool World::restore_colliders(const State& from, const State& to, std::map<int, std::unique_ptr<const Shape>>& shapes) {
  bool changed = from.colliders.size() != to.colliders.size();
  const size_t count = to.colliders.size();
  scene.colliders.resize(count), model.colliders.resize(count);
  for (size_t c = 0; c < count; ++c) {
    const ColliderState& s = to.colliders[c];
    const bool fresh = is_fresh_collider(int(c), from, to);
    if (!fresh && s.removed == from.colliders[c].removed) continue;
    scene.colliders[c] = s.added ? *s.added : given_colliders_[c];
    if (fresh) model.colliders[c] = {scene.colliders[c].name, std::move(shapes.at(int(c)))};
    if (s.removed) scene.colliders[c].name.clear();
    changed = true;
  }
  return changed;
}

RemovedElements World::removed_from(int b) const {
  const Body& body = model.bodies[b];
  return body.tearing ? body.tearing->removed(state.gone[b]) : RemovedElements{};
}

}  // namespace verve
