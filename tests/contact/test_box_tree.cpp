#include <algorithm>

#include "contact/block_masks.h"
#include "contact/box_tree.h"
#include "contact/points.h"

using namespace verve;
using namespace verve::test;

namespace {

std::vector<FloatBox> random_boxes(std::uint64_t seed, int count, double size) {
  std::vector<FloatBox> out;
  for (int i = 0; i < count; ++i) {
    const Vec3 p = random_point(seed, i);
    out.push_back(float_box(p, p + random_point(seed + 1, i, size), 0.1 * size));
  }
  return out;
}

/// As pairs of items, sorted.
std::vector<std::pair<int, int>> items_of(const BoxTree& tree, const BoxTree& queries, bool same) {
  std::vector<std::uint64_t> found;
  for (int b = 0; b < queries.leaf_blocks(); b += 5)  // in pieces, as threads would
    overlapping(tree, queries, same, b, std::min(b + 5, queries.leaf_blocks()), found);
  std::vector<std::pair<int, int>> out;
  for (const std::uint64_t pair : found) {
    const int q = queries.item(int(pair >> 32)), t = tree.item(int(pair & 0xffffffffu));
    out.emplace_back(same ? std::min(q, t) : q, same ? std::max(q, t) : t);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("a tree finds every overlap once, for any number of items") {
  for (const int count : {0, 1, 2, 7, 8, 9, 63, 64, 65, 500, 511, 512, 513, 600}) {
    CAPTURE(count);
    const std::vector<FloatBox> boxes = random_boxes(count, count, 0.2), others = random_boxes(count + 77, 100, 0.3);
    BoxTree tree, queries;
    tree.build(count, [&](int i) { return boxes[i]; });
    queries.build(100, [&](int i) { return others[i]; });
    std::vector<std::pair<int, int>> expected, own;
    for (int q = 0; q < 100; ++q)
      for (int i = 0; i < count; ++i)
        if (others[q].overlaps(boxes[i])) expected.emplace_back(q, i);
    for (int i = 0; i < count; ++i)
      for (int j = i + 1; j < count; ++j)
        if (boxes[i].overlaps(boxes[j])) own.emplace_back(i, j);
    CHECK(items_of(tree, queries, false) == expected);
    CHECK(items_of(tree, tree, true) == own);
    if (count >= 500) CHECK(own.size() > 100);
    std::vector<int> seen;
    for (int i = 0; i < count; ++i) seen.push_back(tree.item(i));
    std::sort(seen.begin(), seen.end());
    for (int i = 0; i < count; ++i) CHECK(seen[i] == i);
  }
}

TEST_CASE("pairs under a mask are not found, and all others are, in small trees and large ones") {
  for (const int count : {100, 3500}) {  // with a table of all pairs of blocks, and without
    CAPTURE(count);
    const std::vector<FloatBox> boxes = random_boxes(count, count, 0.1);
    BoxTree tree;
    tree.build(count, [&](int i) { return boxes[i]; });
    const auto overlaps = [&](const BlockMasks* never) {
      std::vector<std::uint64_t> found;
      overlapping(tree, tree, true, 0, tree.leaf_blocks(), found, never);
      std::sort(found.begin(), found.end());
      return found;
    };
    const std::vector<std::uint64_t> all = overlaps(nullptr);
    std::vector<std::uint64_t> never, left;
    for (size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? never : left).push_back(all[i]);
    never.push_back(never.front());
    std::reverse(never.begin(), never.end());
    BlockMasks masks;
    masks.build(tree, tree, never);
    CHECK(overlaps(&masks) == left);
    masks.build(tree, tree, {});
    CHECK(overlaps(&masks) == all);
    masks.build(tree, tree, all);
    CHECK(overlaps(&masks).empty());
  }
}

TEST_CASE("a tree notices when its items have left each other, and not when they move or grow together") {
  constexpr int count = 2000;
  std::vector<FloatBox> boxes = random_boxes(1, count, 0.02);
  BoxTree tree;
  const auto box_of = [&](int i) { return boxes[i]; };
  tree.build(count, box_of);
  CHECK(!tree.decayed());
  const double built = tree.cost();
  for (FloatBox& b : boxes)
    for (int k = 0; k < 3; ++k) b.low[k] = 3 * b.low[k] + 5, b.high[k] = 3 * b.high[k] + 5;
  tree.refit(box_of);
  CHECK(tree.cost() == doctest::Approx(built).epsilon(1e-4));  // floats, summed
  CHECK(!tree.decayed());
  boxes = random_boxes(9, count, 0.02);  // each item somewhere else
  tree.refit(box_of);
  CHECK(tree.decayed());
  tree.build(count, box_of);
  CHECK(!tree.decayed());
  CHECK(tree.cost() < 1.2 * built);
}

TEST_CASE("boxes are rounded outward, by no more than a float's precision") {
  for (int i = 0; i < 2000; ++i) {
    const double scale = std::pow(10.0, i % 13 - 6);
    const Vec3 p = random_point(3, i, scale), q = random_point(4, i, scale);
    const FloatBox box = float_box(p, q, 0.01 * scale);
    for (int k = 0; k < 3; ++k) {
      CHECK(double(box.low[k]) < std::min(p[k], q[k]) - 0.01 * scale);
      CHECK(double(box.high[k]) > std::max(p[k], q[k]) + 0.01 * scale);
      CHECK(double(box.high[k]) - double(box.low[k]) < std::abs(p[k] - q[k]) + 0.02 * scale + 2e-6 * scale);
    }
  }
  CHECK(float_box({NAN, 0, 0}, {}, 0).finished().empty());
  CHECK(float_box({}, {0, 0, INFINITY}, 0).joined(float_box({}, {}, 1)).finished().empty());
  CHECK(float_box({}, {}, INFINITY).finished().empty());
  CHECK(!float_box({}, {}, 0).finished().empty());
}
