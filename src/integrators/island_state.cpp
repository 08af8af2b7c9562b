#include "integrators/island_state.h"

#include <algorithm>

namespace verve {

bool has_other_members(const State& state, const Island& island) {
  const int group = state.group[island.bodies()[0]];
  for (const int b : island.bodies())
    if (state.group[b] != group) return true;
  return size_t(std::count(state.group.begin(), state.group.end(), group)) != island.bodies().size();
}

void recall(const State& state, Island& island) {
  const auto known = std::lower_bound(state.islands.begin(), state.islands.end(), island.bodies()[0],
                                      [](const IslandMemory& m, int body) { return m.bodies[0] < body; });
  if (known != state.islands.end() && known->bodies == island.bodies()) {
    island.memory = *known;
  } else {
    island.memory = {};
  }
}

void load(const State& state, Island& island) {
  Motion& m = island.motion;
  m.last_step = state.ledger[island.bodies()[0]].last_step;
  m.history = !has_other_members(state, island);
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = island.body(int(k));
    const BodyLedger& ledger = state.ledger[island.bodies()[k]];
    m.history = m.history && ledger.history && ledger.last_step == m.last_step;
    const int to = island.offset(int(k));
    std::copy_n(state.x.begin() + body.first, body.count, m.x.begin() + to);
    std::copy_n(state.v.begin() + body.first, body.count, m.v.begin() + to);
    std::copy_n(state.p.begin() + body.first, body.count, m.p.begin() + to);
    std::copy_n(state.q.begin() + body.first, body.count, m.q.begin() + to);
    std::copy_n(state.gradient.begin() + body.first, body.count, m.gradient.begin() + to);
    if (state.acceleration.empty()) {  // of a time before anything but gravity acted
      m.acceleration.clear();
    } else {
      m.acceleration.resize(m.x.size());
      std::copy_n(state.acceleration.begin() + body.first, body.count, m.acceleration.begin() + to);
    }
    island.recall_energy(int(k), ledger.elastic, ledger.contact);
  }
  island.recall_energy();
}

void store(const Island& island, State& state) {
  const Motion& m = island.motion;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = island.body(int(k));
    BodyLedger& ledger = state.ledger[island.bodies()[k]];
    const int from = island.offset(int(k));
    std::copy_n(m.x.begin() + from, body.count, state.x.begin() + body.first);
    std::copy_n(m.v.begin() + from, body.count, state.v.begin() + body.first);
    std::copy_n(m.p.begin() + from, body.count, state.p.begin() + body.first);
    std::copy_n(m.q.begin() + from, body.count, state.q.begin() + body.first);
    if (!m.acceleration.empty())
      std::copy_n(m.acceleration.begin() + from, body.count, state.acceleration.begin() + body.first);
    ledger.history = m.history;
    ledger.last_step = m.last_step;
    ledger.elastic = island.body_energies()[k];
    ledger.contact = island.contact_energies()[k];
  }
}

void remember(Island& island, IslandMemory& memory, State& state) {
  island.remember_energy();
  island.memory.bodies = island.bodies(), island.memory.planes = island.matrix().planes();
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const Body& body = island.body(int(k));
    std::copy_n(island.motion.gradient.begin() + island.offset(int(k)), body.count,
                state.gradient.begin() + body.first);
  }
  memory = island.memory;
}

}  // namespace verve
