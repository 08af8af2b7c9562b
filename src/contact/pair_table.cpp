#include "contact/pair_table.h"

#include <algorithm>
#include <cmath>

namespace verve {

void PairTable::compile(const Scene& scene) {
  scene_ = &scene;
  rules_.clear();
  const auto side = [&](const std::string& name) {
    for (size_t b = 0; b < scene.bodies.size(); ++b)
      if (scene.bodies[b].name == name) return int(b);
    for (size_t c = 0; c < scene.colliders.size(); ++c)
      if (scene.colliders[c].name == name) return int(scene.bodies.size() + c);
    return -1;
  };
  for (size_t p = 0; scene.contact && p < scene.contact->pairs.size(); ++p)
    rules_.push_back({side(scene.contact->pairs[p].a), side(scene.contact->pairs[p].b), int(p)});
}

PairSurface PairTable::of(int a, int b, std::optional<double> friction_of_all) const {
  const int bodies = int(scene_->bodies.size());
  const auto friction = [&](int i) {
    return i < bodies ? scene_->bodies[i].friction : scene_->colliders[i - bodies].friction;
  };
  const auto restitution = [&](int i) {
    return i < bodies ? scene_->bodies[i].restitution : scene_->colliders[i - bodies].restitution;
  };
  PairSurface out{std::sqrt(friction(a) * friction(b)), std::min(restitution(a), restitution(b)), true};
  if (a < bodies && b < bodies && a != b) out.touch = scene_->contact && scene_->contact->bodies;
  for (const Rule& rule : rules_) {
    if (!((rule.a == a && rule.b == b) || (rule.a == b && rule.b == a))) continue;
    const ContactPairSpec& pair = scene_->contact->pairs[rule.pair];
    out.friction = pair.friction.value_or(out.friction), out.restitution = pair.restitution.value_or(out.restitution);
    out.touch = out.touch && pair.touch;
  }
  out.friction = friction_of_all.value_or(out.friction);
  return out;
}

}  // namespace verve
