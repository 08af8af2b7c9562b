// Which features of which surfaces may touch during a frame.
#pragma once

#include <compare>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contact/surface.h"
#include "verve/vec.h"

namespace verve {

/// Which edges of a surface are held against others.
enum class EdgePairs { all, of_others, none };

/// A surface on its way through a frame: each vertex from one place to another in a straight line.
struct SweptSurface {
  const Surface* surface = nullptr;
  const Vec4* from = nullptr;  ///< by row
  const Vec4* to = nullptr;    ///< the same as `from` when nothing moves
  double margin = 0;        ///< added on all sides of each feature [m]: half a thickness, or what may be needed later
  int body = -1;            ///< surfaces of one body (not below 0) share their rows, and meet only with `self`
  bool with_itself = true;  ///< false: never with itself, whatever `self` says
  EdgePairs edges = EdgePairs::all;  ///< of_others: those of another body alone
};

/// Vertex feature_a of surface_a near face feature_b of surface_b; or edges, then (surface_a, feature_a) is the lower.
struct Pair {
  int surface_a, feature_a, surface_b, feature_b;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

/// Finds the pairs whose boxes overlap. The box of a feature holds the whole way of its vertices and the margin, and is
/// rounded outward to float, so that no pair is missed and one that is farther apart by 4e-7 of its distance from the
/// first vertex may be found. Left out are pairs that share a vertex, those that a surface never wants (never_faces,
/// never_edges), and features with a vertex that is not finite or 1e30 m away. Every implementation finds the same
/// pairs, each once and sorted, on any number of threads; none allocates once it has seen as many pairs before.
class BroadPhase {
 public:
  virtual ~BroadPhase() = default;
  /// `self`: also pairs of a surface, or a body, with itself. What is kept from call to call goes by the place of a
  /// surface in the list: another order is never wrong, and slower once.
  virtual void find(std::span<const SweptSurface> surfaces, std::vector<Pair>& vertex_face,
                    std::vector<Pair>& edge_edge, bool self) = 0;
};

/// The default is the fastest in every case measured (docs/decisions/005-broad-phase.md).
enum class BroadPhaseKind { tree, hash, brute_force };
std::unique_ptr<BroadPhase> make_broad_phase(BroadPhaseKind kind = BroadPhaseKind::tree);
/// "tree", "hash", "brute_force"
std::string to_string(BroadPhaseKind kind);

}  // namespace verve
