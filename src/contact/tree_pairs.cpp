// Pairs by trees of boxes: three for each surface (vertices, edges, faces), kept from frame to frame.
#include <algorithm>
#include <cstdint>

#include "base/parallel.h"
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
    const auto fit_one = [](BoxTree& tree, int items, auto&& box_of) {
      if (tree.items() == items) {
        tree.refit(box_of);
        if (!tree.decayed()) return;
      }
      tree.build(items, box_of);
    };
    fit_one(trees_[s].vertices, int(surface.vertices.size()), [&](int v) { return search_.vertex_box(s, v); });
    if (crossing_[s])
      fit_one(trees_[s].edges, int(surface.edges.size()), [&](int e) { return search_.edge_box(s, e); });
    fit_one(trees_[s].faces, int(surface.faces.size()), [&](int f) { return search_.face_box(s, f); });
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
    overlapping(faces, vertices, false, t.begin, t.end, out);
    std::size_t kept = 0;
    for (const std::uint64_t found : out) {
      const int v = vertices.item(int(found >> 32)), f = faces.item(int(found & 0xffffffffu));
      if (!search_.counts_vertex_face(t.a, v, t.b, f)) continue;
      out[kept++] = std::uint64_t(search_.first_vertex[t.a] + v) << 32 | std::uint64_t(search_.first_face[t.b] + f);
    }
    out.resize(kept);
  }

  void edges(const Task& t, std::vector<std::uint64_t>& out) const {
    const BoxTree &own = trees_[t.a].edges, &other = trees_[t.b].edges;
    overlapping(other, own, t.a == t.b, t.begin, t.end, out);
    std::size_t kept = 0;
    for (const std::uint64_t found : out) {
      const int e = own.item(int(found >> 32)), f = other.item(int(found & 0xffffffffu));
      if (!search_.counts_edges(t.a, e, t.b, f)) continue;
      const std::uint64_t i = search_.first_edge[t.a] + e, j = search_.first_edge[t.b] + f;
      out[kept++] = i < j ? i << 32 | j : j << 32 | i;
    }
    out.resize(kept);
  }

  PairSearch search_;
  PairSink sink_;
  std::vector<Trees> trees_;
  std::vector<int> order_;
  std::vector<char> wanted_, crossing_;  // the latter by edges too
  std::vector<std::array<int, 2>> meeting_;
  std::vector<Task> face_tasks_, edge_tasks_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_tree_broad_phase() { return std::make_unique<TreeBroadPhase>(); }

}  // namespace verve
