// Bodies that move together because they touch: islands.
#include <algorithm>

#include "integrators/world.h"

namespace verve {

namespace {

/// Of the way that a body goes in a frame, relative to a pile: how near to where it will be it joins the pile [1]. What
/// is pushed goes elsewhere than was predicted, and each body that is met in passing costs the pile another frame: the
/// longest of `bin` takes two thirds of what it took with 0.
constexpr double near_share = 0.75;

}  // namespace

void World::group_islands() {
  if (islands_.group(state)) update_forces();
}

void World::rebuild_islands() {
  islands_.rebuild(state);
  group_islands();
}

/// Adds to state.touching the pairs of bodies of different islands that meet on the way from where the frame began to
/// where end(island, place of the body in it, body) says, or come within slack(a) + slack(b) of that, if may_join(a,
/// b). False: there are none.
template <class End, class Slack, class MayJoin>
bool World::join_islands(End&& end, Slack&& slack, MayJoin&& may_join) {
  swept_.clear();
  for (size_t i = 0; i < islands_.size(); ++i)
    for (size_t k = 0; k < islands_[i].bodies().size(); ++k) {
      const int b = islands_[i].bodies()[k];
      swept_.push_back({b, int(i), state.x.data() + model.bodies[b].first, end(islands_[i], int(k), b), slack(b)});
    }
  const size_t before = state.touching.size();
  for (const std::array<int, 2>& pair : detector_.find_meeting(swept_)) {
    if (std::find(state.touching.begin(), state.touching.end(), pair) != state.touching.end()) continue;
    if (pair_of(pair[0], pair[1]).touch && may_join(pair[0], pair[1])) state.touching.push_back(pair);
  }
  return state.touching.size() > before;
}

/// Likewise those that come near a pile (in_pile_) of which contacts lose energy: within a share of the ways that both
/// go, relative to the pile, whatever all of them drift by.
template <class End>
bool World::join_near_pile(End&& end) {
  ways_.assign(model.bodies.size(), Vec3{});
  Vec3 drift{};
  int piled = 0;
  for (const Island* island : islands_)
    for (size_t k = 0; k < island->bodies().size(); ++k) {
      const int b = island->bodies()[k];
      const Body& body = model.bodies[b];
      const Vec4* const to = end(*island, int(k), b);
      for (int r = 0; r < body.count; ++r) ways_[b] += (to[r] - state.x[body.first + r]).xyz() / body.count;
      if (in_pile_[b]) drift += ways_[b], ++piled;
    }
  if (piled == 0) return false;
  drift = drift / piled;
  return join_islands(end, [&](int b) { return near_share * norm(ways_[b] - drift); },
                      [&](int a, int b) { return (in_pile_[a] || in_pile_[b]) && pair_of(a, b).restitution < 1; });
}

/// Islands that are predicted to meet are put together at once: to find out afterwards costs both another frame.
void World::join_predicted() {
  if (!scene.contact || !scene.contact->bodies || islands_.size() < 2 || repels() || !settings.conserves()) return;
  const double h = scene.step;
  ahead_.resize(model.rows);
  for (const Island* island : islands_)
    for (size_t k = 0; k < island->bodies().size(); ++k) {
      const Body& body = model.bodies[island->bodies()[k]];
      for (int r = 0; r < body.count; ++r)
        ahead_[body.first + r] =
            state.x[body.first + r] +
            (state.v[body.first + r] + island->forcing.acceleration[island->offset(int(k)) + r] * h) * h;
    }
  const auto end = [&](const Island&, int, int b) { return ahead_.data() + model.bodies[b].first; };
  in_pile_.assign(model.bodies.size(), 0);
  for (const IslandMemory& memory : state.islands)
    for (const int b : memory.bodies) in_pile_[b] = memory.loses_energy();
  const bool met = join_islands(end, [](int) { return 0.0; }, [](int, int) { return true; });
  if (join_near_pile(end) || met) group_islands();
}

bool World::find_new_contacts() {
  if (!scene.contact || !scene.contact->bodies || islands_.size() < 2 || repels()) return false;
  const auto end = [](const Island& island, int k, int) { return island.motion.x.data() + island.offset(k); };
  const size_t before = state.touching.size();
  if (!join_islands(end, [](int) { return 0.0; }, [](int, int) { return true; })) return false;
  // those that have met go elsewhere now than they did, and will meet what they came near to
  in_pile_.assign(model.bodies.size(), 0);
  for (size_t k = before; k < state.touching.size(); ++k)
    for (const int met : state.touching[k])
      for (const int b : islands_.of(met).bodies()) in_pile_[b] = 1;
  join_near_pile(end);
  group_islands();
  return true;
}

}  // namespace verve
