// Pairs by spatial hashing (Teschner et al. 2003, "Optimized spatial hashing for collision detection of deformable
// objects"): space is cut into cells, each feature is entered in every cell that its box meets, and features of the
// same cell are held against each other. Departures: the table is made by counting instead of lists per cell; boxes are
// held against boxes, swept over the frame, and tetrahedra have no part in it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/parallel.h"
#include "contact/pair_search.h"

namespace verve {

namespace {

constexpr int grain = 256;          // features per chunk
constexpr double most_cells = 512;  // of a feature; larger ones are held against all others
constexpr double farthest_cell = 1e8;

using Cell = std::array<int, 3>;

/// Cells from `low` to `high`, both included. None when the box is empty, too many cells, or too far out.
struct Cells {
  Cell low{}, high{};
  bool usual = false;
};

/// Boxes in a table of cells.
class HashGrid {
 public:
  void fill(const std::vector<FloatBox>& boxes, double cell) {
    boxes_ = &boxes;
    inverse_ = 1 / cell;
    large_.clear();
    cells_.resize(boxes.size());
    std::size_t entries = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      cells_[i] = cells_of(boxes[i]);
      if (cells_[i].usual) entries += count(cells_[i]);
      if (!cells_[i].usual && !boxes[i].empty()) large_.push_back(int(i));
    }
    mask_ = std::uint32_t(std::bit_ceil(std::max<std::size_t>(entries, 16)) - 1);
    first_.assign(std::size_t(mask_) + 2, 0);
    for (const Cells& c : cells_) visit(c, [&](const Cell& cell) { ++first_[slot(cell) + 1]; });
    for (std::size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
    entries_.resize(entries);
    // backwards from the ends, so that first_ is what it says afterwards
    for (std::size_t i = 0; i < boxes.size(); ++i)
      visit(cells_[i], [&](const Cell& cell) { entries_[--first_[slot(cell) + 1]] = int(i); });
    for (std::size_t s = 0; s + 1 < first_.size(); ++s) first_[s] = first_[s + 1];
    first_.back() = int(entries);
  }

  /// found(i) for every box i >= `from` that overlaps the given one; the same i may come twice.
  template <class Found>
  void query(const FloatBox& box, int from, Found&& found) const {
    if (box.empty()) return;
    const Cells own = cells_of(box);
    const auto test = [&](int i) {
      if (i >= from && box.overlaps((*boxes_)[i])) found(i);
    };
    if (!own.usual) {
      for (int i = from; i < int(boxes_->size()); ++i) test(i);
      return;
    }
    visit(own, [&](const Cell& cell) {
      const std::uint32_t s = slot(cell);
      for (int k = first_[s]; k < first_[s + 1]; ++k) {
        const int i = entries_[k];
        if (i < from || !box.overlaps((*boxes_)[i])) continue;
        // boxes share many cells; the pair belongs to the one with the lower corner of what they share
        const Cell& other = cells_[i].low;
        if (std::max(own.low[0], other[0]) == cell[0] && std::max(own.low[1], other[1]) == cell[1] &&
            std::max(own.low[2], other[2]) == cell[2])
          found(i);
      }
    });
    for (const int i : large_) test(i);
  }

 private:
  Cells cells_of(const FloatBox& box) const {
    Cells out;
    if (box.empty()) return out;
    double cells = 1;
    for (int k = 0; k < 3; ++k) {
      const double low = std::floor(box.low[k] * inverse_), high = std::floor(box.high[k] * inverse_);
      if (!(low > -farthest_cell && high < farthest_cell)) return out;
      cells *= high - low + 1;
      out.low[k] = int(low), out.high[k] = int(high);
    }
    out.usual = cells <= most_cells;
    return out;
  }
  static std::size_t count(const Cells& c) {
    return std::size_t(c.high[0] - c.low[0] + 1) * (c.high[1] - c.low[1] + 1) * (c.high[2] - c.low[2] + 1);
  }
  template <class F>
  static void visit(const Cells& c, F&& f) {
    if (!c.usual) return;
    for (int x = c.low[0]; x <= c.high[0]; ++x)
      for (int y = c.low[1]; y <= c.high[1]; ++y)
        for (int z = c.low[2]; z <= c.high[2]; ++z) f(Cell{x, y, z});
  }
  /// The hash function of Teschner et al. 2003.
  std::uint32_t slot(const Cell& c) const {
    return (std::uint32_t(c[0]) * 73856093u ^ std::uint32_t(c[1]) * 19349663u ^ std::uint32_t(c[2]) * 83492791u) &
           mask_;
  }

  const std::vector<FloatBox>* boxes_ = nullptr;
  double inverse_ = 1;
  std::uint32_t mask_ = 0;
  std::vector<Cells> cells_;
  std::vector<int> first_, entries_, large_;
};

class HashBroadPhase final : public BroadPhase {
 public:
  void find(std::span<const SweptSurface> surfaces, std::vector<Pair>& vertex_face, std::vector<Pair>& edge_edge,
            bool self) override {
    search_.begin(surfaces, self);
    const auto set = [&](Features& features, const std::vector<int>& first, auto&& box_of) {
      features.boxes.resize(first.back());
      features.surface.resize(first.back());
      for (int s = 0; s < search_.surfaces(); ++s)
        parallel_for(first[s + 1] - first[s], 1024, [&](int begin, int end, int) {
          for (int i = begin; i < end; ++i)
            features.boxes[first[s] + i] = box_of(s, i), features.surface[first[s] + i] = s;
        });
    };
    set(vertices_, search_.first_vertex, [&](int s, int v) { return search_.vertex_box(s, v); });
    set(edges_, search_.first_edge, [&](int s, int e) { return search_.edge_box(s, e); });
    set(faces_, search_.first_face, [&](int s, int f) { return search_.face_box(s, f); });
    const double cell = cell_size();

    grid_.fill(faces_.boxes, cell);
    run(vertices_, [&](int v, std::vector<std::uint64_t>& out) {
      const int a = vertices_.surface[v];
      grid_.query(vertices_.boxes[v], 0, [&](int f) {
        const int b = faces_.surface[f];
        if (search_.may_meet(a, b) &&
            search_.counts_vertex_face(a, v - search_.first_vertex[a], b, f - search_.first_face[b]))
          out.push_back(std::uint64_t(v) << 32 | std::uint64_t(f));
      });
    });
    sink_.finish(search_.first_vertex, search_.first_face, vertex_face);

    grid_.fill(edges_.boxes, cell);
    run(edges_, [&](int e, std::vector<std::uint64_t>& out) {
      const int a = edges_.surface[e];
      grid_.query(edges_.boxes[e], e + 1, [&](int f) {
        const int b = edges_.surface[f];
        if (search_.edges_may_meet(a, b) &&
            search_.counts_edges(a, e - search_.first_edge[a], b, f - search_.first_edge[b]))
          out.push_back(std::uint64_t(e) << 32 | std::uint64_t(f));
      });
    });
    sink_.finish(search_.first_edge, search_.first_edge, edge_edge);
  }

 private:
  struct Features {
    std::vector<FloatBox> boxes;
    std::vector<int> surface;
  };

  /// Teschner et al. found the mean length of edges best. The mean of the longest sides of their boxes is about that at
  /// rest, and longer by the way that a frame takes; half as much again was a tenth faster than once or twice of it.
  double cell_size() const {
    double sum = 0;
    long count = 0;
    for (const std::vector<FloatBox>* boxes : {&edges_.boxes, &vertices_.boxes}) {
      for (const FloatBox& b : *boxes) {
        if (b.empty()) continue;
        sum += std::max({b.high[0] - b.low[0], b.high[1] - b.low[1], b.high[2] - b.low[2]});
        ++count;
      }
      if (count > 0) break;
    }
    return count > 0 && sum > 0 ? 1.5 * sum / double(count) : 1;
  }

  template <class F>
  void run(const Features& features, F&& query) {
    const int n = int(features.boxes.size());
    sink_.begin(chunk_count(n, grain));
    parallel_for(n, grain, [&](int begin, int end, int chunk) {
      std::vector<std::uint64_t>& out = sink_.chunk(chunk);
      for (int i = begin; i < end; ++i) query(i, out);
    });
  }

  PairSearch search_;
  PairSink sink_;
  HashGrid grid_;
  Features vertices_, edges_, faces_;
};

}  // namespace

std::unique_ptr<BroadPhase> make_hash_broad_phase() { return std::make_unique<HashBroadPhase>(); }

}  // namespace verve
