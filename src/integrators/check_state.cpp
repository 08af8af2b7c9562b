// Whether a state fits the world that is to take it on: one from a file may say anything. Sizes, numbers of bodies,
// rows and the like are looked at here, before anything of it is used; nothing else in this room doubts a State.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "integrators/simulation_impl.h"
#include "integrators/world.h"

namespace verve {

namespace {

bool finite(double number) { return std::isfinite(number); }
bool finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }
bool finite(const Quantities& q) { return finite(q.p) && finite(q.l) && finite(q.h); }
bool finite(const Pose& pose) {
  return finite(pose.position) &&
         std::all_of(pose.rotation.col.begin(), pose.rotation.col.end(), [](const Vec3& c) { return finite(c); });
}
bool finite(const Quaternion& q) {
  return std::isfinite(q.x) && std::isfinite(q.y) && std::isfinite(q.z) && std::isfinite(q.w);
}
template <class T>
bool finite(const std::optional<T>& value) {
  return !value || finite(*value);
}
/// (The sum of such numbers is none only where one of them is none, or where they are beyond all that moves.)
bool finite(const std::vector<Vec4>& rows) {
  Vec4 sum{};
  for (const Vec4& row : rows) sum += row;
  return std::isfinite(sum.x + sum.y + sum.z + sum.w);
}
template <class... T>
bool all_finite(const T&... values) {
  return (finite(values) && ...);
}

bool within(int i, size_t count) { return i >= 0 && size_t(i) < count; }

class StateCheck {
 public:
  /// `bodies` and `matter` are those that the state has in its places.
  StateCheck(const State& state, std::vector<const Body*> bodies, std::vector<const Potentials*> matter,
             std::vector<Anchor> anchors)
      : s_(state), bodies_(std::move(bodies)), potentials_(std::move(matter)), anchors_(std::move(anchors)) {}

  /// What does not fit; empty: all does.
  std::string fault() {
    number_rows();
    if (fault_.empty()) rows(), ledgers(), materials();
    if (fault_.empty()) anchors(), colliders();
    if (fault_.empty()) contacts(), impacts();
    if (fault_.empty()) islands(), factors(), dials();
    return fault_;
  }

 private:
  /// The first that does not hold is what is told.
  bool expect(bool good, const std::string& what) {
    if (!good && fault_.empty()) fault_ = what;
    return good;
  }
  bool present(int b) const { return within(b, bodies_.size()) && bodies_[b] && bodies_[b]->count > 0; }
  bool present_or_none(int b) const { return b == -1 || present(b); }
  bool collider_or_none(int c) const { return c == -1 || within(c, s_.colliders.size()); }
  int body_of_row(int row) const { return within(row, owner_.size()) ? owner_[row] : -1; }

  void number_rows() {
    owner_.assign(s_.x.size(), -1);
    for (size_t b = 0; b < bodies_.size(); ++b) {
      const BodyPlace& place = s_.bodies[b];
      expect(place.generation >= 1 && place.generation < BodyId::most_generations, "the generation of a body");
      const Spawn& spawn = place.spawn;
      expect(all_finite(spawn.place.position, spawn.place.rotation, spawn.velocity, spawn.angular_velocity),
             "a body that comes in at a place that is none");
      if (!present(int(b))) continue;
      const bool fits = place.first >= 0 && size_t(place.first) + bodies_[b]->count <= s_.x.size();
      if (!expect(fits, "rows of body \"" + bodies_[b]->name + "\"")) return;
      for (int r = place.first; r < place.first + bodies_[b]->count; ++r) {
        if (!expect(owner_[r] < 0, "rows of two bodies at once")) return;
        owner_[r] = int(b);
      }
    }
  }

  void rows() {
    const size_t n = s_.x.size();
    for (const auto* of : {&s_.v, &s_.p, &s_.q, &s_.gradient})
      expect(of->size() == n, "another number of velocities than positions");
    for (const auto* of : {&s_.acceleration, &s_.applied})
      expect(of->empty() || of->size() == n, "forces on another number of rows");
    for (const auto* of : {&s_.x, &s_.v, &s_.p, &s_.q, &s_.gradient, &s_.acceleration, &s_.applied})
      expect(finite(*of), "a motion that is not finite");
    expect(!s_.acceleration.empty() || (s_.winds.empty() && s_.applied.empty()), "forces without accelerations");
  }

  void ledgers() {
    const size_t n = bodies_.size();
    expect(s_.ledger.size() == n && s_.group.size() == n && s_.gone.size() == n,
           "another number of bodies in one list than in another");
    if (!fault_.empty()) return;
    for (const BodyLedger& l : s_.ledger) {
      expect(size_t(l.mode) < mode_table.size(), "an unknown mode of a body");
      expect(!l.applied || !s_.applied.empty(), "forces of the coming frame on a body, and none at all");
      expect(all_finite(l.debt, l.wanted_energy, l.held_energy, l.held_momentum, l.held_spin, l.damping, l.last_step,
                        l.booked_loss, l.heat, l.work, l.pair_energy, l.friction_energy, l.elastic, l.contact),
             "an account that is not finite");
      expect(l.torn >= 0 && l.slow_frames >= 0, "a count below 0");
    }
    for (const int first : s_.group) expect(within(first, n), "the group of a body");
    for (const auto& [a, b] : s_.touching) expect(present(a) && present(b), "bodies that touch");
    for (size_t b = 0; b < n; ++b) {
      const bool tears = present(int(b)) && bodies_[b]->tearing;
      expect(s_.gone[b].size() == (tears ? size_t(bodies_[b]->tearing->cells()) : 0),
             "another number of elements that may tear");
    }
    flows();
  }

  /// Of each element that flows its shape at rest, as many corners as it has.
  void flows() {
    if (!expect(s_.plastic.size() == bodies_.size(), "shapes at rest of another number of bodies")) return;
    for (size_t b = 0; b < bodies_.size(); ++b) {
      const Plasticity* const plasticity = present(int(b)) ? bodies_[b]->plasticity.get() : nullptr;
      const size_t parts = plasticity ? size_t(plasticity->count()) : 0;
      if (!expect(s_.plastic[b].size() == parts, "shapes at rest of another number of potentials")) return;
      for (size_t k = 0; k < parts; ++k) {
        const PlasticFlow &flow = s_.plastic[b][k], like = plasticity->at_rest(int(k));
        const bool fits = flow.rest.size() == like.rest.size() && flow.flowed.size() == like.flowed.size() &&
                          flow.in_matrix && flow.in_matrix->size() == like.rest.size();
        if (!expect(fits, "shapes at rest of another number of elements")) return;
        const auto good = [](const Vec3& v) { return finite(v); };
        expect(std::all_of(flow.rest.begin(), flow.rest.end(), good) &&
                   std::all_of(flow.in_matrix->begin(), flow.in_matrix->end(), good) &&
                   std::all_of(flow.flowed.begin(), flow.flowed.end(), [](double d) { return finite(d) && d >= 0; }),
               "a shape at rest that is not finite");
      }
    }
  }

  void materials() {
    for (const auto* of : {s_.parameters.get(), s_.overrides.get()}) {
      if (!expect(of && of->size() == bodies_.size(), "materials of another number of bodies")) return;
      for (size_t b = 0; b < bodies_.size(); ++b) {
        expect((*of)[b].size() == (present(int(b)) ? potentials_[b]->size() : 0),
               "materials of another number of potentials");
        for (const ParameterValues& values : (*of)[b])
          for (const auto& [name, value] : values) expect(finite(value), "a material that is not finite");
      }
    }
  }

  void anchors() {
    for (size_t a = 0; a < s_.anchors.size(); ++a) {
      const AnchorState& anchor = s_.anchors[a];
      expect(anchor.generation >= 1 && anchor.generation < AnchorId::most_generations, "the generation of an anchor");
      expect(all_finite(anchor.moved, anchor.stiffness, anchor.placed, anchor.hold), "an anchor that is not finite");
      for (const double hardness : anchor.hardness) expect(finite(hardness), "an anchor that is not finite");
      if (anchor.is_gone()) continue;
      const size_t rows = anchors_[a].rows.size();
      expect(anchors_[a].body >= 0 && anchor.hold.size() == rows &&
                 (anchor.hardness.empty() || anchor.hardness.size() == rows),
             "an anchor of another number of vertices");
    }
  }

  void colliders() {
    for (const ColliderState& c : s_.colliders) {
      expect(c.generation >= 1 && c.generation < ColliderId::most_generations, "the generation of a collider");
      expect(c.from.has_value() == c.to.has_value() && all_finite(c.from, c.to), "the way of a collider");
    }
    for (const WindState& w : s_.winds) {
      expect(w.generation >= 1 && w.generation < WindId::most_generations, "the generation of a wind");
      expect(finite(w.velocity), "a wind that is not finite");
    }
    for (const ForceState& f : s_.forces)
      expect(f.generation >= 1 && f.generation < ForceId::most_generations, "the generation of a force");
  }

  void contacts() {
    for (const CachedContact& c : s_.contacts)
      expect(body_of_row(c.key[0]) >= 0 && all_finite(c.depth, c.rest, c.normal, c.point), "a contact");
    const auto in_order = [](const auto& a, const auto& b) { return key(a) < key(b); };
    expect(std::is_sorted(s_.contacts.begin(), s_.contacts.end(), in_order), "contacts out of order");
    expect(std::is_sorted(s_.friction_anchors.begin(), s_.friction_anchors.end(), in_order),
           "friction anchors out of order");
    for (const FrictionAnchor& g : s_.friction_anchors) {
      const int own = body_of_row(g.row);
      bool good = own >= 0 && 1 <= g.own && g.own <= g.count && g.count <= int(g.rows.size());
      good = good && (g.collider >= 0 ? within(g.collider, s_.colliders.size()) && g.count == g.own : present(g.body));
      // (bodies in contact move together: rows of other bodies need not be rows of its island)
      for (int i = 0; good && i < g.count; ++i) {
        good = body_of_row(g.rows[i]) == (i < g.own ? own : g.body) && finite(g.weights[i]);
      }
      expect(good && all_finite(g.point, g.normal, g.cap, g.stretch), "a friction anchor");
    }
  }

  void impacts() {
    for (const PairContact& c : s_.contact_pairs)
      expect(present(c.body) && present_or_none(c.other) && collider_or_none(c.collider) &&
                 all_finite(c.normal, c.point, c.force, c.impulse, c.friction_loss),
             "what touched in the last frame");
    for (const Bounce& b : s_.bounces)
      expect(present(b.body) && present_or_none(b.other) && collider_or_none(b.collider) &&
                 (b.other >= 0 || b.collider >= 0) && b.other != b.body && b.free >= 0 && b.age >= 0 &&
                 all_finite(b.speed, b.normal, b.arm, b.arm_of_other),
             "an impact");
  }

  void islands() {
    int before = -1;
    for (const IslandMemory& m : s_.islands) {
      bool good = !m.bodies.empty() && std::is_sorted(m.bodies.begin(), m.bodies.end()) &&
                  std::adjacent_find(m.bodies.begin(), m.bodies.end()) == m.bodies.end() &&
                  std::all_of(m.bodies.begin(), m.bodies.end(), [&](int b) { return present(b); });
      good = good && m.bodies[0] > before;
      if (!expect(good, "bodies of an island")) return;
      before = m.bodies[0];
      const int rows =
          std::accumulate(m.bodies.begin(), m.bodies.end(), 0, [&](int sum, int b) { return sum + bodies_[b]->count; });
      const SubstepControl& c = m.substeps;
      expect(c.last >= 1 && c.last <= planning::most_substeps && c.iterations >= 0 && c.easy >= 0 &&
                 m.plain_steps >= 0 && m.same_starts >= 0 &&
                 all_finite(c.loss, c.energy, c.distance, m.energy, m.prestress_energy, m.radius, m.kinetic,
                            m.iteration_cost, m.restitution),
             "the plan of an island");
      for (const ColliderLoad& load : m.loads)
        expect(within(load.body, m.bodies.size()) && within(load.collider, s_.colliders.size()) &&
                   all_finite(load.force, load.torque, load.moment, load.size),
               "the load of a collider");
      for (const LowRankTerm& plane : m.planes) expect(is_diagonal(plane, rows), "the plane of a collider");
    }
  }
  static bool is_diagonal(const LowRankTerm& term, int rows) {
    return within(term.a, size_t(rows)) && term.b == -1 && finite(term.weight);
  }

  /// Factors are those of bodies that are linked.
  void factors() {
    std::vector<int> root(bodies_.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int b) {
      while (root[b] != b) b = root[b];
      return b;
    };
    for (size_t a = 0; a < anchors_.size(); ++a) {
      if (!s_.anchors[a].active || anchors_[a].other < 0) continue;
      const int i = find(anchors_[a].body), j = find(anchors_[a].other);
      root[std::max(i, j)] = std::min(i, j);
    }
    for (const FactorRecord& r : s_.factors) {
      bool good = present(r.body) && find(r.body) == r.body && r.base && finite(r.hh) && r.hh > 0 &&
                  finite(r.extra_work) && (r.precision == Precision::float32 || r.precision == Precision::float64);
      if (!expect(good, "a factor")) return;
      std::vector<int> members;
      for (int b = r.body; b < int(bodies_.size()); ++b)
        if (present(b) && find(b) == r.body) members.push_back(b);
      int rows = 0;
      good = r.base->removed.size() == members.size();
      for (size_t k = 0; good && k < members.size(); ++k) {
        rows += bodies_[members[k]]->count;
        good = r.base->removed[k].size() == potentials_[members[k]]->size();
      }
      for (const LowRankTerm& term : r.base->anchors) good = good && is_diagonal(term, rows);
      expect(good, "what a factor was made with");
    }
  }

  void dials() {
    expect(all_finite(s_.friction, s_.step, s_.budget, s_.gravity, s_.time, s_.origin), "a dial that is not finite");
    expect(s_.friction.value_or(0) >= 0 && s_.step.value_or(1) > 0 && s_.iterations.value_or(1) >= 1 &&
               s_.budget.value_or(0) >= 0,
           "a dial below its least value");
    expect(s_.frame >= 0 && s_.frame < most_frames, "the number of the frame");
  }

  static constexpr int most_frames = 1'000'000'000;
  const State& s_;
  std::vector<const Body*> bodies_;  // of the state; null: nobody has the place
  std::vector<const Potentials*> potentials_;
  std::vector<Anchor> anchors_;
  std::vector<int> owner_;  // body of each row; -1: nobody
  std::string fault_;
};

}  // namespace

/// A scene with what a state has in its places. (Colliders that are removed go in the coming frame.)
Scene World::scene_of(const State& of) const {
  Scene out = scene;
  const auto fill = [](auto& specs, const auto& places, const auto& given, const auto& stays) {
    specs.clear();
    for (size_t k = 0; k < places.size(); ++k)
      if (stays(places[k])) specs.push_back(places[k].added ? *places[k].added : given[k]);
  };
  const auto present = [](const auto& place) { return !place.removed; };
  fill(out.bodies, of.bodies, given_bodies_, present);
  fill(out.anchors, of.anchors, given_anchors_, [](const AnchorState& a) { return !a.is_gone(); });
  fill(out.winds, of.winds, given_winds_, present);
  fill(out.forces, of.forces, given_forces_, present);
  fill(out.colliders, of.colliders, given_colliders_, [](const auto&) { return true; });
  for (size_t c = 0; c < of.colliders.size(); ++c)
    if (of.colliders[c].removed) out.colliders[c].name.clear();
  const auto is_named = [&](const std::string& name) {
    const auto named = [&](const auto& spec) { return spec.name == name; };
    return std::any_of(out.bodies.begin(), out.bodies.end(), named) ||
           std::any_of(out.colliders.begin(), out.colliders.end(), named);
  };
  std::erase_if(out.pushes, [&](const PushSpec& push) { return !is_named(push.body); });
  if (out.contact) std::erase_if(out.contact->pairs, [&](const auto& p) { return !is_named(p.a) || !is_named(p.b); });
  return out;
}

std::optional<World::Occupants> World::occupants_of(const State& to, Diagnostics& problems) const {
  Occupants out;
  const auto refuse = [&](const std::string& what) {
    problems.error("snapshot", "found " + what + " that does not fit, expected a snapshot of such a simulation");
    return std::nullopt;
  };
  bool specs_are_known = true;  // those that were added were checked when they were
  const auto places_fit = [&](const auto& places, const auto& now, const auto& given, size_t most) {
    if (places.size() < given.size() || places.size() > most) return false;
    for (size_t k = given.size(); k < places.size(); ++k)
      if (!places[k].added && !places[k].removed) return false;
    for (size_t k = 0; k < places.size(); ++k)
      specs_are_known &= !places[k].added || (k < now.size() && places[k].added == now[k].added);
    return true;
  };
  if (!places_fit(to.bodies, state.bodies, given_bodies_, BodyId::most_numbers)) return refuse("a number of bodies");
  if (!places_fit(to.colliders, state.colliders, given_colliders_, ColliderId::most_numbers))
    return refuse("a number of colliders");
  if (!places_fit(to.anchors, state.anchors, given_anchors_, AnchorId::most_numbers))
    return refuse("a number of anchors");
  if (!places_fit(to.winds, state.winds, given_winds_, WindId::most_numbers)) return refuse("a number of winds");
  if (!places_fit(to.forces, state.forces, given_forces_, ForceId::most_numbers)) return refuse("a number of forces");
  if (!specs_are_known) {
    const Scene then = scene_of(to);
    Diagnostics found = check_scene(then);
    if (then.bodies.empty()) std::erase_if(found.items(), [](const Diagnostic& d) { return d.where == "bodies"; });
    if (found.has_errors()) return problems.append(found), std::nullopt;
  }

  std::vector<const Body*> bodies(to.bodies.size());
  std::vector<const Potentials*> potentials(to.bodies.size());
  for (size_t b = 0; b < to.bodies.size(); ++b) {
    const BodyPlace& place = to.bodies[b];
    if (place.removed) continue;
    if (is_fresh_body(int(b), state, to)) {
      std::optional<CompiledBody> made =
          compile_body(place.added ? *place.added : given_bodies_[b], "bodies[" + std::to_string(b) + "]", problems);
      if (!made || problems.has_errors()) return std::nullopt;
      Matter alone;
      alone.bodies.push_back(std::move(made->matter));
      check_method(scene, alone, problems);
      if (problems.has_errors()) return std::nullopt;
      made->matter = std::move(alone.bodies[0]);
      const CompiledBody& kept = out.bodies.emplace(int(b), std::move(*made)).first->second;
      bodies[b] = &kept.body, potentials[b] = &kept.matter.potentials;
    } else {
      bodies[b] = &model.bodies[b], potentials[b] = &matter.bodies[b].potentials;
    }
  }
  for (size_t c = 0; c < to.colliders.size(); ++c) {
    if (!is_fresh_collider(int(c), state, to)) continue;
    const ColliderSpec& spec = to.colliders[c].added ? *to.colliders[c].added : given_colliders_[c];
    out.shapes[int(c)] = make_shape(spec, "colliders[" + std::to_string(c) + "]", problems);
    if (problems.has_errors()) return std::nullopt;
  }
  std::vector<Anchor> anchors(to.anchors.size());
  for (size_t a = 0; a < to.anchors.size(); ++a) {
    anchors[a].body = -1;
    if (to.anchors[a].is_gone()) continue;
    anchors[a] = compile_anchor(to.anchors[a].added ? *to.anchors[a].added : given_anchors_[a], bodies,
                                "anchors[" + std::to_string(a) + "]", problems);
    if (problems.has_errors()) return std::nullopt;
  }
  const std::string fault = StateCheck(to, std::move(bodies), std::move(potentials), std::move(anchors)).fault();
  if (!fault.empty()) return refuse(fault);
  return out;
}

}  // namespace verve
