// Which bodies move together: those that are linked, and those that touch.
#pragma once

#include <memory>
#include <vector>

#include "integrators/island.h"

namespace verve {

/// Owns the islands. Bodies joined by links are a cluster, which has a matrix and factors of its own; clusters that
/// touch make an island together, which is kept for when they meet again.
class Islands {
 public:
  Islands(const Model& model, const Matter& matter) : model_(model), matter_(matter) {}

  /// Clusters of the links that are active. Those that are as they were keep their factors. Call group() after it.
  void rebuild(const State& state);
  /// Of clusters that touch (State::touching). True: other islands than before.
  bool group(const State& state);
  /// A body that nothing is linked to as yet. Call group() after it.
  void insert(int body);
  /// One that has no active links; or with all that are linked to it, which rebuild() finds islands for. Likewise.
  void remove(int body);
  /// None any more, and no factors.
  void clear();

  /// Those that a frame is made of, by their first bodies.
  auto begin() const { return islands_.begin(); }
  auto end() const { return islands_.end(); }
  size_t size() const { return islands_.size(); }
  Island& operator[](size_t i) const { return *islands_[i]; }
  bool has(const Island* island) const;
  Island& of(int body) const { return *islands_[island_of_body_[body]]; }
  /// That owns its matrix.
  Island& of_cluster(int body) const;
  /// First row of a body in its island.
  int offset(int body) const { return of(body).offset(place_in_island_[body]); }

  const std::vector<std::unique_ptr<Island>>& clusters() const { return clusters_; }
  /// Those that bodies are in while they touch, and those to which they will return.
  template <class Visit>
  void each_kept(Visit&& visit) const {
    for (const auto* kept : {&clusters_, &merged_})
      for (const auto& island : *kept) visit(*island);
  }
  int factorizations() const;

 private:
  std::unique_ptr<Island> merge(const std::vector<int>& clusters, const State& state) const;

  const Model& model_;
  const Matter& matter_;
  std::vector<std::unique_ptr<Island>> clusters_, merged_;
  std::vector<Island*> islands_;
  std::vector<int> island_of_body_, place_in_island_;
  int retired_factorizations_ = 0;  // of clusters that are gone
};

}  // namespace verve
