// Pairs by trees of boxes: three for each surface (vertices, edges, faces), kept from frame to frame.
#include <algorithm>
#include <cstdint>

#include "base/parallel.h"
#include "contact/block_masks.h"
#include "contact/pair_search.h"

namespace verve {

namespace {

class TreeBroadPhase final : public BroadPhase {
 public:
  void find(std::span<const SweptSurface> surfaces, std::vector<Pair>& vertex_face, std::vector<Pair>& edge_edge,
            bool self) override {
    search_.begin(surfaces, self);
    find_surfaces();
    // a tree knows numbers only: an order that was made for another surface is slow, never wrong
    if (trees_.size() < surfaces.size()) trees_.resize(surfaces.size());
    for (int s = 0; s < search_.surfaces(); ++s)
      if (wanted_[s]) fit(s);

    face_tasks_.clear(), edge_tasks_.clear();
    for (const auto& [a, b] : meeting_) {
      cut(face_tasks_, a, b, trees_[a].vertices.leaf_blocks());
      if (a != b) cut(face_tasks_, b, a, trees_[b].vertices.leaf_blocks());
      if (!search_.edges_may_meet(a, b)) continue;
      // the smaller asks the larger
      if (trees_[a].edges.items() <= trees_[b].edges.items()) {
        cut(edge_tasks_, a, b, trees_[a].edges.leaf_blocks());
      } else {
        cut(edge_tasks_, b, a, trees_[b].edges.leaf_blocks());
      }
    }
    run(face_tasks_, [this](const Task& t, std::vector<std::uint64_t>& out) { vertices_and_faces(t, out); });
    sink_.finish(search_.first_vertex, search_.first_face, vertex_face);
    run(edge_tasks_, [this](const Task& t, std::vector<std::uint64_t>& out) { edges(t, out); });
    sink_.finish(search_.first_edge, search_.first_edge, edge_edge);
  }

 private:
  struct Trees {
    BoxTree vertices, edges, faces;
    // of the surface with itself, in the order of these trees
    BlockMasks never_faces, never_edges;
    std::uint64_t faces_of = 0, edges_of = 0;  // version of the surface of each; 0: none
  };
  /// Blocks [begin, end) of features of surface a held against surface b.
  struct Task {
    int a, b, begin, end;
  };
  static constexpr int task_blocks = 64;

  /// Surfaces that may meet, by sorting the lower ends of their boxes along x.
  void find_surfaces() {
    const int n = search_.surfaces();
    order_.clear(), meeting_.clear();
    wanted_.assign(n, false), crossing_.assign(n, false);
    for (int s = 0; s < n; ++s)
      if (!search_.bounds(s).empty()) order_.push_back(s);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      const float p = search_.bounds(a).low[0], q = search_.bounds(b).low[0];
      return p != q ? p < q : a < b;
    });
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (std::size_t j = i; j < order_.size(); ++j) {
        const int a = std::min(order_[i], order_[j]), b = std::max(order_[i], order_[j]);
        if (search_.bounds(order_[j]).low[0] > search_.bounds(order_[i]).high[0]) break;
        if (!search_.may_meet(a, b) || !search_.bounds(a).overlaps(search_.bounds(b))) continue;
        meeting_.push_back({a, b});
        wanted_[a] = wanted_[b] = true;
        if (search_.edges_may_meet(a, b)) crossing_[a] = crossing_[b] = true;
      }
  }

  void fit(int s) {
    const Surface& surface = search_.surface(s);
    Trees& trees = trees_[s];
    const auto fit_one = [](BoxTree& tree, int items, std::uint64_t& masks_of, auto&& box_of) {
      if (tree.items() == items) {
        tree.refit(box_of);
        if (!tree.decayed()) return;
      }
      tree.build(items, box_of), masks_of = 0;
    };
    fit_one(trees.vertices, int(surface.vertices.size()), trees.faces_of,
            [&](int v) { return search_.vertex_box(s, v); });
    if (crossing_[s])
      fit_one(trees.edges, int(surface.edges.size()), trees.edges_of, [&](int e) { return search_.edge_box(s, e); });
    fit_one(trees.faces, int(surface.faces.size()), trees.faces_of, [&](int f) { return search_.face_box(s, f); });
    if (!search_.may_meet(s, s)) return;
    if (trees.faces_of != surface.version) mask_faces(surface, trees);
    if (search_.edges_may_meet(s, s) && trees.edges_of != surface.version) mask_edges(surface, trees);
  }

  void find_places(const BoxTree& tree) {
    places_.resize(tree.items());
    for (int p = 0; p < tree.items(); ++p) places_[tree.item(p)] = p;
  }

  /// As counts_vertex_face says of a surface and itself.
  void mask_faces(const Surface& surface, Trees& trees) {
    never_.clear();
    find_places(trees.faces);
    for (int p = 0; p < trees.vertices.items(); ++p) {
      const int v = trees.vertices.item(p);
      const auto add = [&](int f) { never_.push_back(std::uint64_t(p) << 32 | std::uint64_t(places_[f])); };
      for (const int f : surface.faces_of_vertex[v]) add(f);
      if (!surface.never_faces.first.empty())
        for (const int f : surface.never_faces[v]) add(f);
    }
    trees.never_faces.build(trees.vertices, trees.faces, never_);
    trees.faces_of = surface.version;
  }

  /// As counts_edges says.
  void mask_edges(const Surface& surface, Trees& trees) {
    never_.clear();
    find_places(trees.edges);
    const auto add = [&](int e, int f) {
      never_.push_back(std::uint64_t(places_[e]) << 32 | std::uint64_t(places_[f]));
    };
    for (int e = 0; e < trees.edges.items(); ++e) {
      for (const int r : surface.edges[e])
        for (const int f : surface.edges_of_vertex[surface.vertex_of_row[r]]) add(e, f);
      if (!surface.never_edges.first.empty())
        for (const int f : surface.never_edges[e]) add(e, f), add(f, e);
    }
    trees.never_edges.build(trees.edges, trees.edges, never_);
    trees.edges_of = surface.version;
  }

  static void cut(std::vector<Task>& tasks, int a, int b, int blocks) {
    for (int begin = 0; begin < blocks; begin += task_blocks)
      tasks.push_back({a, b, begin, std::min(begin + task_blocks, blocks)});
  }

  template <class F>
  void run(const std::vector<Task>& tasks, F&& work) {
    sink_.begin(int(tasks.size()));
    parallel_tasks(int(tasks.size()), [&](int t) { work(tasks[t], sink_.chunk(t)); });
  }

  void vertices_and_faces(const Task& t, std::vector<std::uint64_t>& out) const {
    const BoxTree &vertices = trees_[t.a].vertices, &faces = trees_[t.b].faces;
    const bool masked = t.a == t.b && trees_[t.a].faces_of != 0;
    overlapping(faces, vertices, false, t.begin, t.end, out, masked ? &trees_[t.a].never_faces : nullptr);
    std::size_t kept = 0;
    for (const std::uint64_t found : out) {
      const int v = vertices.item(int(found >> 32)), f = faces.item(int(found & 0xffffffffu));
      if (!masked && !search_.counts_vertex_face(t.a, v, t.b, f)) continue;
      out[kept++] = std::uint64_t(search_.first_vertex[t.a] + v) << 32 | std::uint64_t(search_.first_face[t.b] + f);
    }
    out.resize(kept);
  }

  void edges(const Task& t, std::vector<std::uint64_t>& out) const {
    const BoxTree &own = trees_[t.a].edges, &other = trees_[t.b].edges;
    const bool masked = t.a == t.b && trees_[t.a].edges_of != 0;
    overlapping(other, own, t.a == t.b, t.begin, t.end, out, masked ? &trees_[t.a].never_edges : nullptr);
    std::size_t kept = 0;
    for (const std::uint64_t found : out) {
      const int e = own.item(int(found >> 32)), f = other.item(int(found & 0xffffffffu));
      if (!masked && !search_.counts_edges(t.a, e, t.b, f)) continue;
      const std::uint64_t i = search_.first_edge[t.a] + e, j = search_.first_edge[t.b] + f;
      out[kept++] = i < j ? i << 32 | j : j << 32 | i;
    }
    out.resize(kept);
  }

  PairSearch search_;
  PairSink sink_;
  std::vector<Trees> trees_;
  std::vector<int> order_, places_;
  std::vector<std::uint64_t> never_;
  std::vector<char> wanted_, crossing_;  // the latter by edges too
  std::vector<std::array<int, 2>> meeting_;
  std::vector<Task> face_tasks_, edge_tasks_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_tree_broad_phase() { return std::make_unique<TreeBroadPhase>(); }

}  // namespace verve
