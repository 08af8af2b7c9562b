// What the ways of finding pairs have in common: the boxes, the pairs that do not count, and the order of the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "contact/box_tree.h"
#include "contact/broad_phase.h"

namespace verve {

/// The surfaces of one search. Features are numbered through all surfaces: those of surface s begin at first_*[s].
class PairSearch {
 public:
  /// The boxes of all vertices.
  void begin(std::span<const SweptSurface> surfaces, bool self);

  int surfaces() const { return int(surfaces_.size()); }
  const Surface& surface(int s) const { return *surfaces_[s].surface; }
  const FloatBox& bounds(int s) const { return bounds_[s]; }
  FloatBox vertex_box(int s, int v) const { return row_box(s, surface(s).vertices[v]).finished(); }
  FloatBox edge_box(int s, int e) const {
    const auto& [a, b] = surface(s).edges[e];
    return row_box(s, a).joined(row_box(s, b)).finished();
  }
  FloatBox face_box(int s, int f) const {
    const auto& [a, b, c] = surface(s).faces[f];
    return row_box(s, a).joined(row_box(s, b)).joined(row_box(s, c)).finished();
  }

  bool same_body(int a, int b) const {
    return a == b || (surfaces_[a].body >= 0 && surfaces_[a].body == surfaces_[b].body);
  }
  bool may_meet(int a, int b) const {
    return !same_body(a, b) || (self_ && surfaces_[a].with_itself && surfaces_[b].with_itself);
  }
  bool edges_may_meet(int a, int b) const {
    const EdgePairs least = std::max(surfaces_[a].edges, surfaces_[b].edges);
    return may_meet(a, b) && least != EdgePairs::none && (least == EdgePairs::all || !same_body(a, b));
  }
  /// Of surfaces that may meet.
  bool counts_vertex_face(int a, int v, int b, int f) const {
    if (!same_body(a, b)) return true;
    if (surface(b).is_corner(surface(a).vertices[v], f)) return false;
    return a != b || surface(a).never_faces.first.empty() || !surface(a).never_faces.contains(v, f);
  }
  bool counts_edges(int a, int e, int b, int f) const {
    if (!same_body(a, b)) return true;
    const auto &p = surface(a).edges[e], &q = surface(b).edges[f];
    if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) return false;
    return a != b || surface(a).never_edges.first.empty() ||
           !surface(a).never_edges.contains(e < f ? e : f, e < f ? f : e);
  }

  std::vector<int> first_vertex, first_edge, first_face;  ///< one more than surfaces

 private:
  const FloatBox& row_box(int s, int row) const { return boxes_[first_row_[s] + row]; }

  std::span<const SweptSurface> surfaces_;
  bool self_ = false;
  std::vector<int> first_row_;
  std::vector<FloatBox> boxes_, bounds_;
};

/// Pairs (a << 32 | b) of features numbered through all surfaces, collected by chunks of work in any order.
class PairSink {
 public:
  /// Room for `chunks` that may be filled at the same time, all empty.
  void begin(int chunks);
  std::vector<std::uint64_t>& chunk(int i) { return chunks_[i]; }
  /// All pairs, sorted and each once. first_a and first_b: where the features of each surface begin.
  void finish(const std::vector<int>& first_a, const std::vector<int>& first_b, std::vector<Pair>& out);

 private:
  std::vector<std::vector<std::uint64_t>> chunks_;
  int used_ = 0;
  std::vector<int> next_, sorted_;
  std::vector<char> twice_;  // a chunk of the result has a pair that was found twice
};

std::unique_ptr<BroadPhase> make_tree_broad_phase();
std::unique_ptr<BroadPhase> make_hash_broad_phase();

}  // namespace verve
