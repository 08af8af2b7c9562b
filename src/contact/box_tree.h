// A tree of boxes, eight to a node, for finding what overlaps and what is nearest.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "verve/vec.h"

namespace verve {

class BlockMasks;

/// In float, around an origin of the caller's choice, rounded outward. `low` above `high`: overlaps nothing.
struct alignas(32) FloatBox {
  std::array<float, 4> low, high;  // xyz; the last is not used

  static constexpr float inf = std::numeric_limits<float>::infinity();
  static constexpr FloatBox none() { return {{inf, inf, inf, inf}, {-inf, -inf, -inf, -inf}}; }
  /// Stands for a point that is not finite, or too far away for float. A box joined with it is `none` after finished().
  static constexpr FloatBox unknown() { return {{-inf, -inf, -inf, -inf}, {inf, inf, inf, inf}}; }
  FloatBox joined(const FloatBox& b) const {
    FloatBox out;
    for (int k = 0; k < 4; ++k) {
      out.low[k] = low[k] < b.low[k] ? low[k] : b.low[k];
      out.high[k] = high[k] > b.high[k] ? high[k] : b.high[k];
    }
    return out;
  }
  FloatBox finished() const { return low[0] == -inf ? none() : *this; }
  bool empty() const { return !(low[0] <= high[0]); }
  bool overlaps(const FloatBox& b) const {
    return low[0] <= b.high[0] && b.low[0] <= high[0] && low[1] <= b.high[1] && b.low[1] <= high[1] &&
           low[2] <= b.high[2] && b.low[2] <= high[2];
  }
};

/// Around the way from one point to another, with a margin.
FloatBox float_box(const Vec3& from, const Vec3& to, double margin);

/// Eight boxes, field by field: the children of a node, or eight items.
struct alignas(64) BoxBlock {
  float low[3][8], high[3][8];

  static BoxBlock none();
  void set(int lane, const FloatBox& box) {
    for (int k = 0; k < 3; ++k) low[k][lane] = box.low[k], high[k][lane] = box.high[k];
  }
  FloatBox get(int lane) const {
    return {{low[0][lane], low[1][lane], low[2][lane], 0}, {high[0][lane], high[1][lane], high[2][lane], 0}};
  }
  FloatBox joined() const;
  /// A lower bound of the squared distance from p to each box; infinite for `none`.
  void squared_distances(const std::array<float, 3>& p, float* out) const;
};

/// Items in an order that keeps near ones together, cut into blocks of eight; the boxes of blocks in blocks of eight;
/// and so on up to one block. No pointers: child i of block b is block 8 b + i of the level below.
class BoxTree {
 public:
  static constexpr int width = 8, most_levels = 12;

  /// Orders the items by halving along the longest axis of their centres, and takes their boxes: box_of(item).
  template <class BoxOf>
  void build(int items, BoxOf&& box_of) {
    centres_.resize(items);
    for (int i = 0; i < items; ++i) set_centre(i, box_of(i));
    sort_items();
    refit(box_of);
    cost_when_built_ = cost();
  }
  /// New boxes for the same items, in the same order.
  template <class BoxOf>
  void refit(BoxOf&& box_of) {
    if (items_ == 0) return;
    std::vector<BoxBlock>& leaves = levels_[0];
    parallel_for(int(leaves.size()), 64, [&](int begin, int end, int) {
      for (int b = begin; b < end; ++b) {
        const int count = items_ - width * b < width ? items_ - width * b : width;
        for (int lane = 0; lane < count; ++lane) leaves[b].set(lane, box_of(order_[width * b + lane]));
      }
    });
    refit_upper();
  }

  int items() const { return items_; }
  int item(int place) const { return order_[place]; }
  int levels() const { return level_count_; }
  const std::vector<BoxBlock>& level(int l) const { return levels_[l]; }
  int leaf_blocks() const { return items_ ? int(levels_[0].size()) : 0; }
  /// Of leaf block b.
  FloatBox block_box(int b) const { return levels_[1][b / width].get(b % width); }
  FloatBox box() const { return items_ ? levels_[level_count_ - 1][0].joined() : FloatBox::none(); }

  /// How large the boxes of nodes are beside those of the items; the order is worth less the more this grows.
  double cost() const;
  bool decayed() const { return cost() > 1.5 * cost_when_built_; }

 private:
  void set_centre(int item, const FloatBox& box);
  void sort_items();
  void split(int first, int last, int capacity);
  void refit_upper();

  int items_ = 0, level_count_ = 0;
  std::vector<int> order_;
  std::array<std::vector<BoxBlock>, most_levels> levels_;
  std::vector<std::array<float, 3>> centres_;
  double cost_when_built_ = 0;
};

/// Pairs of places (in `queries`, in `tree`) whose boxes overlap, queries from blocks [begin, end), added to `out` as
/// query place << 32 | place. `same`: queries and tree are one and the same, each pair once and no item with itself.
/// `never`: but for these.
void overlapping(const BoxTree& tree, const BoxTree& queries, bool same, int begin, int end,
                 std::vector<std::uint64_t>& out, const BlockMasks* never = nullptr);

}  // namespace verve
