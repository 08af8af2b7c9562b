#include "contact/rest_penetration.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace verve {

namespace {

/// Energy that a contact would have more than the last step left it.
double added(const Penetration& p) {
  const double now = std::max(0.0, p.depth - p.rest);
  return 0.5 * p.stiffness * std::max(0.0, now * now - p.pressed * p.pressed);
}

}  // namespace

void limit_new_energy(std::span<Penetration> contacts, double budget) {
  double sum = 0;
  for (const Penetration& p : contacts) sum += added(p);
  if (!(sum > budget)) return;
  const double share = std::max(0.0, budget) / sum;
  for (Penetration& p : contacts) {
    const double more = added(p);
    if (!(more > 0)) continue;
    p.rest = std::max(0.0, p.depth - std::sqrt(p.pressed * p.pressed + share * 2 * more / p.stiffness));
  }
}

void set_rest_penetrations(Contacts& contacts, const std::vector<CachedContact>& cache, double shrink, double budget,
                           std::vector<Penetration>& room) {
  room.clear();
  contacts.each([&](const Contacts::Candidate& on) {
    const CachedContact* const before = find_sorted(cache, on.key);
    const double depth = std::max(0.0, on.start_depth);
    const double rest = std::max(0.0, (before ? before->rest : depth) - shrink);
    room.push_back({on.stiffness, depth, before ? before->depth : 0, rest});
  });
  limit_new_energy(room, budget);
  size_t i = 0;
  contacts.each([&](Contacts::Candidate& on) { on.rest = room[i++].rest; });
}

void yield_between_colliders(Contacts& contacts, std::vector<int>& first) {
  if (contacts.shapes.size() < 2 || !contacts.any_shape_moves()) return;
  std::vector<Contacts::OnShape>& all = contacts.on_shapes;
  first.clear();
  for (int i = 0; i < int(all.size()); ++i) {
    Contacts::OnShape& a = all[i];
    if (a.point >= int(first.size())) first.resize(a.point + 1, -1);
    const int j = std::exchange(first[a.point], i);
    if (j < 0) continue;
    Contacts::OnShape& b = all[j];
    const Vec3 x = a.at(contacts.start.data());
    const double before = a.start_depth - a.thickness + b.start_depth - b.thickness;
    const double after = -contacts.touch(a, x).distance - contacts.touch(b, x).distance;
    const double grown = after - std::max(0.0, before);
    const double sideways = norm(a.before.normal + b.before.normal);
    if (!(grown > 0) || sideways >= 1) continue;
    const double share = 0.5 * (1 - sideways) * grown;
    a.rest += share, b.rest += share;
  }
}

}  // namespace verve
