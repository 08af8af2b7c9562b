#include "integrators/islands.h"

#include <algorithm>

#include "integrators/anchors.h"

namespace verve {

namespace {

/// Islands of bodies that have parted may meet again, but not for ever: so many are kept [1].
constexpr size_t most_merged = 64;

/// Sets of a number of things, each named by the least of its members.
class DisjointSets {
 public:
  explicit DisjointSets(int count) : root_(count) {
    for (int i = 0; i < count; ++i) root_[i] = i;
  }
  int find(int i) const {
    while (root_[i] != i) i = root_[i];
    return i;
  }
  void join(int a, int b) {
    const int i = find(a), j = find(b);
    root_[std::max(i, j)] = std::min(i, j);
  }
  std::vector<int> members(int root) const {
    std::vector<int> out;
    for (int i = root; i < int(root_.size()); ++i)
      if (find(i) == root) out.push_back(i);
    return out;
  }

 private:
  std::vector<int> root_;
};

}  // namespace

void Islands::clear() {
  for (const auto& cluster : clusters_) retired_factorizations_ += cluster->matrix().factorizations();
  islands_.clear(), merged_.clear(), clusters_.clear();
}

void Islands::insert(int body) {
  const auto at = std::find_if(clusters_.begin(), clusters_.end(), [&](const auto& c) { return c->bodies()[0] > body; });
  clusters_.insert(at, std::make_unique<Island>(model_, matter_, std::vector<int>{body}, std::vector<int>{}));
}

void Islands::remove(int body) {
  const auto has_it = [&](const auto& island) {
    return std::find(island->bodies().begin(), island->bodies().end(), body) != island->bodies().end();
  };
  retired_factorizations_ += of_cluster(body).matrix().factorizations();
  islands_.clear();  // group() finds them again
  std::erase_if(merged_, has_it);
  std::erase_if(clusters_, has_it);
}

Island& Islands::of_cluster(int body) const {
  return **std::find_if(clusters_.begin(), clusters_.end(), [&](const auto& c) {
    return std::find(c->bodies().begin(), c->bodies().end(), body) != c->bodies().end();
  });
}

void Islands::rebuild(const State& state) {
  std::vector<std::unique_ptr<Island>> old = std::move(clusters_);
  clusters_.clear(), merged_.clear(), islands_.clear();
  const int bodies = int(model_.bodies.size());
  const std::vector<Anchor>& anchors = matter_.anchors;
  DisjointSets linked(bodies);
  for (size_t a = 0; a < anchors.size(); ++a)
    if (state.anchors[a].active && anchors[a].other >= 0) linked.join(anchors[a].body, anchors[a].other);
  for (int b = 0; b < bodies; ++b) {
    if (linked.find(b) != b || model_.bodies[b].count == 0) continue;
    std::vector<int> members = linked.members(b), active;
    for (size_t a = 0; a < anchors.size(); ++a)
      if (state.anchors[a].active && linked.find(anchors[a].body) == b) active.push_back(int(a));
    // the same bodies, linked as before: only anchors to the world have come or gone
    const auto links = [&](std::vector<int> of) {
      std::erase_if(of, [&](int a) { return anchors[a].other < 0; });
      return of;
    };
    const auto same = std::find_if(old.begin(), old.end(), [&](const auto& island) {
      return island && island->bodies() == members && links(island->active_anchors()) == links(active);
    });
    if (same != old.end()) {
      clusters_.push_back(std::move(*same));
      if (clusters_.back()->active_anchors() != active) clusters_.back()->set_anchors(active);
    } else {
      clusters_.push_back(std::make_unique<Island>(model_, matter_, std::move(members), active));
    }
    for (AnchorTerm& term : clusters_.back()->anchor_terms())
      set_stiffness(*clusters_.back(), term, state.anchors[term.anchor]);
  }
  for (const auto& island : old)
    if (island) retired_factorizations_ += island->matrix().factorizations();
}

std::unique_ptr<Island> Islands::merge(const std::vector<int>& clusters, const State& state) const {
  std::vector<Island*> parts;
  std::vector<int> bodies, anchors;
  for (const int c : clusters) {
    parts.push_back(clusters_[c].get());
    bodies.insert(bodies.end(), parts.back()->bodies().begin(), parts.back()->bodies().end());
    for (const int a : parts.back()->active_anchors()) anchors.push_back(a);
  }
  std::sort(anchors.begin(), anchors.end());
  auto island = std::make_unique<Island>(model_, matter_, std::move(parts), std::move(bodies), anchors);
  for (AnchorTerm& term : island->anchor_terms()) set_stiffness(*island, term, state.anchors[term.anchor]);
  return island;
}

bool Islands::group(const State& state) {
  const int count = int(clusters_.size()), bodies = int(model_.bodies.size());
  std::vector<int> cluster_of(bodies);
  for (int c = 0; c < count; ++c)
    for (const int b : clusters_[c]->bodies()) cluster_of[b] = c;
  DisjointSets touching(count);
  for (const auto& [a, b] : state.touching) touching.join(cluster_of[a], cluster_of[b]);
  const std::vector<Island*> before = std::move(islands_);
  islands_.clear();
  island_of_body_.assign(bodies, -1), place_in_island_.assign(bodies, -1);
  bool made = false;
  for (int c = 0; c < count; ++c) {
    if (touching.find(c) != c) continue;
    const std::vector<int> members = touching.members(c);
    Island* island = clusters_[c].get();
    if (members.size() > 1) {
      const auto same = std::find_if(merged_.begin(), merged_.end(), [&](const auto& m) {
        return std::equal(m->parts().begin(), m->parts().end(), members.begin(), members.end(),
                          [&](const Island* part, int member) { return part == clusters_[member].get(); });
      });
      made |= same == merged_.end();
      island = same != merged_.end() ? same->get() : merged_.emplace_back(merge(members, state)).get();
    }
    for (size_t k = 0; k < island->bodies().size(); ++k) {
      island_of_body_[island->bodies()[k]] = int(islands_.size());
      place_in_island_[island->bodies()[k]] = int(k);
    }
    islands_.push_back(island);
  }
  const bool changed = made || before != islands_;
  if (merged_.size() > most_merged) std::erase_if(merged_, [&](const auto& m) { return !has(m.get()); });
  return changed;
}

bool Islands::has(const Island* island) const {
  return std::find(islands_.begin(), islands_.end(), island) != islands_.end();
}

int Islands::factorizations() const {
  int sum = retired_factorizations_;
  for (const auto& cluster : clusters_) sum += cluster->matrix().factorizations();
  return sum;
}

}  // namespace verve
