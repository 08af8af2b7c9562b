#include "contact/pair_search.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace verve {

void PairSearch::begin(std::span<const SweptSurface> surfaces, bool self) {
  surfaces_ = surfaces, self_ = self;
  const std::size_t n = surfaces.size();
  for (std::vector<int>* first : {&first_vertex, &first_edge, &first_face, &first_row_}) first->assign(n + 1, 0);
  for (std::size_t s = 0; s < n; ++s) {
    const Surface& surface = *surfaces[s].surface;
    first_vertex[s + 1] = first_vertex[s] + int(surface.vertices.size());
    first_edge[s + 1] = first_edge[s] + int(surface.edges.size());
    first_face[s + 1] = first_face[s] + int(surface.faces.size());
    first_row_[s + 1] = first_row_[s] + surface.rows;
  }
  boxes_.resize(first_row_[n]);
  bounds_.resize(n);

  // floats are finest around 0: begin there with some vertex
  Vec3 origin{};
  const auto finite = [](const Vec4& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); };
  bool found = false;
  for (std::size_t s = 0; s < n && !found; ++s)
    for (const int r : surfaces[s].surface->vertices)
      if (finite(surfaces[s].from[r])) {
        origin = surfaces[s].from[r].xyz(), found = true;
        break;
      }
  for (std::size_t s = 0; s < n; ++s) {
    const SweptSurface& swept = surfaces[s];
    const std::vector<int>& rows = swept.surface->vertices;
    FloatBox* boxes = boxes_.data() + first_row_[s];
    parallel_for(int(rows.size()), 1024, [&](int begin, int end, int) {
      for (int v = begin; v < end; ++v) {
        const int r = rows[v];
        boxes[r] = float_box(swept.from[r].xyz() - origin, swept.to[r].xyz() - origin, swept.margin);
      }
    });
    FloatBox all = FloatBox::none();
    for (const int r : rows)
      if (boxes[r].low[0] != -FloatBox::inf) all = all.joined(boxes[r]);
    bounds_[s] = all;
  }
}

void PairSink::begin(int chunks) {
  if (int(chunks_.size()) < chunks) chunks_.resize(chunks);
  used_ = chunks;
  for (int i = 0; i < chunks; ++i) chunks_[i].clear();
}

void PairSink::finish(const std::vector<int>& first_a, const std::vector<int>& first_b, std::vector<Pair>& out) {
  // by counting: next_[a] becomes the place behind the last partner of a
  next_.assign(first_a.back() + 1, 0);
  std::size_t total = 0;
  for (int c = 0; c < used_; ++c) {
    total += chunks_[c].size();
    for (const std::uint64_t pair : chunks_[c]) ++next_[(pair >> 32) + 1];
  }
  for (std::size_t a = 1; a < next_.size(); ++a) next_[a] += next_[a - 1];
  sorted_.resize(total);
  for (int c = 0; c < used_; ++c)
    for (const std::uint64_t pair : chunks_[c]) sorted_[next_[pair >> 32]++] = int(pair & 0xffffffffu);

  out.resize(total);
  constexpr int grain = 1024;  // features per chunk
  const int features = first_a.back();
  twice_.assign(chunk_count(features, grain), false);
  parallel_for(features, grain, [&](int begin, int end, int chunk) {
    std::size_t s = std::upper_bound(first_a.begin(), first_a.end(), begin) - first_a.begin() - 1;
    for (int a = begin; a < end; ++a) {
      while (a >= first_a[s + 1]) ++s;
      const int from = a == 0 ? 0 : next_[a - 1], to = next_[a];
      std::sort(sorted_.begin() + from, sorted_.begin() + to);
      std::size_t t = 0;
      for (int i = from; i < to; ++i) {
        while (sorted_[i] >= first_b[t + 1]) ++t;
        out[i] = {int(s), a - first_a[s], int(t), sorted_[i] - first_b[t]};
        if (i > from && sorted_[i] == sorted_[i - 1]) twice_[chunk] = true;
      }
    }
  });
  if (std::find(twice_.begin(), twice_.end(), char(true)) != twice_.end())
    out.erase(std::unique(out.begin(), out.end()), out.end());
}

namespace {

/// Every pair of boxes, one by one: what the others are measured by.
class BruteForce final : public BroadPhase {
 public:
  void find(std::span<const SweptSurface> surfaces, std::vector<Pair>& vertex_face, std::vector<Pair>& edge_edge,
            bool self) override {
    search_.begin(surfaces, self);
    vertex_face.clear(), edge_edge.clear();
    const int n = search_.surfaces();
    faces_.resize(search_.first_face[n]);
    edges_.resize(search_.first_edge[n]);
    for (int s = 0; s < n; ++s) {
      for (int f = 0; f < int(search_.surface(s).faces.size()); ++f)
        faces_[search_.first_face[s] + f] = search_.face_box(s, f);
      for (int e = 0; e < int(search_.surface(s).edges.size()); ++e)
        edges_[search_.first_edge[s] + e] = search_.edge_box(s, e);
    }
    for (int a = 0; a < n; ++a)
      for (int v = 0; v < int(search_.surface(a).vertices.size()); ++v) {
        const FloatBox box = search_.vertex_box(a, v);
        for (int b = 0; b < n; ++b)
          for (int f = 0; search_.may_meet(a, b) && f < int(search_.surface(b).faces.size()); ++f)
            if (box.overlaps(faces_[search_.first_face[b] + f]) && search_.counts_vertex_face(a, v, b, f))
              vertex_face.push_back({a, v, b, f});
      }
    for (int a = 0; a < n; ++a)
      for (int e = 0; e < int(search_.surface(a).edges.size()); ++e) {
        const FloatBox& box = edges_[search_.first_edge[a] + e];
        for (int b = a; b < n; ++b)
          for (int f = a == b ? e + 1 : 0; search_.edges_may_meet(a, b) && f < int(search_.surface(b).edges.size());
               ++f)
            if (box.overlaps(edges_[search_.first_edge[b] + f]) && search_.counts_edges(a, e, b, f))
              edge_edge.push_back({a, e, b, f});
      }
  }

 private:
  PairSearch search_;
  std::vector<FloatBox> faces_, edges_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_broad_phase(BroadPhaseKind kind) {
  switch (kind) {
    case BroadPhaseKind::tree:
      return make_tree_broad_phase();
    case BroadPhaseKind::hash:
      return make_hash_broad_phase();
    case BroadPhaseKind::brute_force:
      break;
  }
  return std::make_unique<BruteForce>();
}

std::string to_string(BroadPhaseKind kind) {
  switch (kind) {
    case BroadPhaseKind::tree:
      return "tree";
    case BroadPhaseKind::hash:
      return "hash";
    case BroadPhaseKind::brute_force:
      break;
  }
  return "brute_force";
}

}  // namespace verve
