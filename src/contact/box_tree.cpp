#include "contact/box_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace verve {

FloatBox float_box(const Vec3& from, const Vec3& to, double margin) {
  constexpr double farthest = 1e30;      // squares of distances stay finite in float
  constexpr float outward = 0x1.0p-23f;  // more than the rounding of a conversion
  FloatBox out;
  out.low[3] = out.high[3] = 0;
  for (int k = 0; k < 3; ++k) {
    const double low = std::min(from[k], to[k]) - margin, high = std::max(from[k], to[k]) + margin;
    if (!(std::abs(from[k]) + std::abs(to[k]) + std::abs(margin) < farthest)) return FloatBox::unknown();
    const float l = float(low), h = float(high);
    out.low[k] = l - (std::abs(l) * outward + std::numeric_limits<float>::min());
    out.high[k] = h + (std::abs(h) * outward + std::numeric_limits<float>::min());
  }
  return out;
}

BoxBlock BoxBlock::none() {
  BoxBlock out;
  for (int lane = 0; lane < BoxTree::width; ++lane) out.set(lane, FloatBox::none());
  return out;
}

FloatBox BoxBlock::joined() const {
  FloatBox out = get(0);
  for (int lane = 1; lane < BoxTree::width; ++lane) out = out.joined(get(lane));
  return out;
}

void BoxTree::set_centre(int item, const FloatBox& box) {
  for (int k = 0; k < 3; ++k) centres_[item][k] = box.empty() ? 0 : 0.5f * (box.low[k] + box.high[k]);
}

void BoxTree::sort_items() {
  items_ = int(centres_.size());
  order_.resize(items_);
  std::iota(order_.begin(), order_.end(), 0);
  level_count_ = 0;
  if (items_ == 0) return;
  int capacity = width;
  for (int blocks = items_;;) {
    blocks = (blocks + width - 1) / width;
    levels_[level_count_++].assign(blocks, BoxBlock::none());
    if (blocks == 1 && level_count_ > 1) break;  // the boxes of leaf blocks exist even when there is only one
    capacity *= width;
  }
  split(0, items_, capacity);
}

/// A node that may hold `capacity` items: its children are full but for the last, so halves end between children.
void BoxTree::split(int first, int last, int capacity) {
  if (last - first <= width) return;  // the order within a block says nothing
  while (capacity / width >= last - first) capacity /= width;
  const int child = capacity / width, children = (last - first + child - 1) / child;
  std::array<float, 3> low, high;
  low.fill(INFINITY), high.fill(-INFINITY);
  for (int i = first; i < last; ++i)
    for (int k = 0; k < 3; ++k) {
      const float c = centres_[order_[i]][k];
      low[k] = std::min(low[k], c), high[k] = std::max(high[k], c);
    }
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  const int middle = first + (children + 1) / 2 * child;
  std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last, [&](int a, int b) {
    return centres_[a][axis] != centres_[b][axis] ? centres_[a][axis] < centres_[b][axis] : a < b;
  });
  split(first, middle, capacity);
  split(middle, last, capacity);
}

void BoxTree::refit_upper() {
  for (int l = 1; l < level_count_; ++l) {
    const std::vector<BoxBlock>& below = levels_[l - 1];
    for (std::size_t b = 0; b < below.size(); ++b) levels_[l][b / width].set(int(b % width), below[b].joined());
  }
}

double BoxTree::cost() const {
  const auto extents = [](const std::vector<BoxBlock>& blocks) {
    double sum = 0;
    for (const BoxBlock& b : blocks)
      for (int lane = 0; lane < width; ++lane) {
        const FloatBox box = b.get(lane);
        if (!box.empty()) sum += (box.high[0] - box.low[0]) + (box.high[1] - box.low[1]) + (box.high[2] - box.low[2]);
      }
    return sum;
  };
  if (items_ == 0) return 0;
  double nodes = 0;
  for (int l = 1; l < level_count_; ++l) nodes += extents(levels_[l]);
  const double leaves = extents(levels_[0]);
  return leaves > 0 ? nodes / leaves : 0;
}

}  // namespace verve
