#include "integrators/anchors.h"

#include "base/ranks.h"

namespace verve {

namespace {

/// A hard anchor over what holds its vertex in the body [1].
constexpr double hard_factor = 1000;

}  // namespace

void set_stiffness(Island& island, AnchorTerm& term, const AnchorState& anchor) {
  double& stiffness = term.to_world ? term.world.stiffness : term.links.stiffness;
  std::vector<double>& hardness = term.to_world ? term.world.hardness : term.links.hardness;
  if (!any_rank(stiffness != anchor.stiffness || hardness != anchor.hardness)) return;
  stiffness = anchor.stiffness, hardness = anchor.hardness;
  term.to_world ? island.anchors_changed() : island.matrix_changed();
}

bool Anchors::update(double time) {
  bool changed = false;
  for (size_t a = 0; a < matter_.anchors.size(); ++a) {
    const Anchor& anchor = matter_.anchors[a];
    AnchorState& s = state_.anchors[a];
    if (s.is_gone()) continue;
    const AnchorSpec& spec = scene_.anchors[a];
    const bool active = s.switched.value_or(spec.active.at(time).value_or(false));
    if (active && !s.active) {
      const Body& body = model_.bodies[anchor.body];
      for (size_t i = 0; i < s.hold.size(); ++i)
        s.hold[i] = spec.to_point ? Vec4(*spec.to_point) : state_.x[body.first + anchor.rows[i]];
      if (spec.hard) s.hardness = hardness_of(int(a));
      s.placed = s.moved ? Vec3{} : spec.path.at(time).value_or(Vec3{});
    }
    if (active != s.active) {
      changed = true;
      // what is remembered of the motion belongs to other forces
      state_.ledger[anchor.body].history = false;
      if (anchor.other >= 0) state_.ledger[anchor.other].history = false;
      state_.energy_changed(anchor.body);
    }
    s.active = active;
    const double stiffness = spec.stiffness.at(time).value_or(spec.stiffness.keys.front().value.value_or(0));
    if (stiffness == s.stiffness) continue;
    s.stiffness = stiffness;
    state_.energy_changed(anchor.body);
    islands_.each_kept([&](Island& island) {
      for (AnchorTerm& term : island.anchor_terms())
        if (term.anchor == int(a)) set_stiffness(island, term, s);
    });
  }
  return changed;
}

bool Anchors::place(Island& island, double time, double fraction) const {
  bool driven = false, moved = false, held = false;
  for (AnchorTerm& term : island.anchor_terms()) {
    if (!term.to_world) continue;
    held = true;
    const AnchorState& s = state_.anchors[term.anchor];
    const bool hard = !s.hardness.empty();
    Vec3 shift = s.moved ? *s.moved : scene_.anchors[term.anchor].path.at(time).value_or(Vec3{});
    if (hard && fraction == 0) shift = s.placed;
    if (hard && s.moved) shift = s.placed + (*s.moved - s.placed) * fraction;
    for (size_t i = 0; i < s.hold.size(); ++i) {
      const Vec4 point = s.hold[i] + Vec4(shift);
      if (point.xyz() == term.world.points[i].xyz()) continue;
      driven |= hard && fraction > 0;
      term.world.points[i] = point;
      moved = true;
    }
  }
  if (held && any_rank(moved)) island.energy_changed();
  return held && any_rank(driven);
}

void Anchors::settle(double time) {
  for (size_t a = 0; a < state_.anchors.size(); ++a) {
    AnchorState& s = state_.anchors[a];
    if (s.active) s.placed = s.moved ? *s.moved : scene_.anchors[a].path.at(time).value_or(Vec3{});
  }
}

void Anchors::harden(Island& island) {
  for (AnchorTerm& term : island.anchor_terms()) {
    AnchorState& anchor = state_.anchors[term.anchor];
    if (anchor.hardness.empty()) continue;
    anchor.hardness = hardness_of(term.anchor);
    set_stiffness(island, term, anchor);
  }
}

int Anchors::add(const AnchorSpec& spec, Anchor anchor) {
  size_t a = 0;
  // one that was removed since the last step is still part of its island
  while (a < state_.anchors.size() && !state_.anchors[a].is_gone()) ++a;
  if (a == state_.anchors.size())
    scene_.anchors.emplace_back(), matter_.anchors.emplace_back(), state_.anchors.emplace_back();
  scene_.anchors[a] = spec;
  matter_.anchors[a] = std::move(anchor);
  state_.anchors[a] = {};
  state_.anchors[a].added = std::make_shared<const AnchorSpec>(spec);
  state_.anchors[a].hold.resize(matter_.anchors[a].rows.size());
  return int(a);
}

void Anchors::remove(int anchor) {
  scene_.anchors[anchor].active = Track<bool>(false);
  state_.anchors[anchor].removed = true, state_.anchors[anchor].switched = false;
}

void Anchors::set_specs(const std::vector<AnchorSpec>& given) {
  scene_.anchors.resize(state_.anchors.size()), matter_.anchors.resize(state_.anchors.size());
  for (size_t a = 0; a < state_.anchors.size(); ++a) {
    const AnchorState& s = state_.anchors[a];
    matter_.anchors[a] = Anchor{.body = -1}, scene_.anchors[a] = AnchorSpec{};
    if (s.is_gone()) continue;
    const AnchorSpec& spec = s.added ? *s.added : given[a];
    Diagnostics problems;  // none: it was compiled before
    matter_.anchors[a] = compile_anchor(spec, model_, "", problems);
    scene_.anchors[a] = spec;
    if (s.removed) scene_.anchors[a].active = Track<bool>(false);
  }
}

/// Of inertia M + the weights of all elements of a body, by vertex [N/m].
std::vector<double> Anchors::matrix_diagonal(int b, double inertia) const {
  const Body& body = model_.bodies[b];
  SymmetricAssembly matrix;
  const int rows = body.shared ? body.shared->rows() : body.count;
  matrix.begin_pattern(rows);
  for (int r = 0; r < rows; ++r) matrix.add(r, r, r < body.count ? body.mass[r] * inertia : 0);
  for (const auto& potential : matter_.bodies[b].potentials) potential->add_weights(matrix, 0, 1);
  matrix.finish_pattern();
  std::vector<Vec4> diagonal;
  for (int r = 0; r < rows; ++r) diagonal.push_back({matrix.matrix().value[matrix.matrix().start[r]], 0, 0, 0});
  if (body.shared) body.shared->give_back(diagonal.data());
  std::vector<double> out;
  for (int r = 0; r < body.count; ++r) out.push_back(diagonal[r].x);
  return out;
}

/// A thousand times what holds each vertex in its body: inertia and the weights of its elements. Moving the body's
/// size away from where it wants to be, a handle then misses by a thousandth of it.
std::vector<double> Anchors::hardness_of(int a) const {
  const double inertia = 1 / (scene_.step * scene_.step);
  const Anchor& anchor = matter_.anchors[a];
  const std::vector<double> own = matrix_diagonal(anchor.body, inertia);
  const std::vector<double> other = anchor.other < 0 ? std::vector<double>() : matrix_diagonal(anchor.other, inertia);
  std::vector<double> out;
  for (size_t i = 0; i < anchor.rows.size(); ++i) {
    const double k = own[anchor.rows[i]];
    out.push_back(hard_factor * (other.empty() ? k : std::min(k, other[anchor.other_rows[i]])));
  }
  return out;
}

}  // namespace verve
