// Which boxes overlap and how far they are, eight at a time.
#include <bit>

#include "base/simd_targets.h"
#include "contact/block_masks.h"
#include "contact/box_tree.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/box_overlap.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace verve::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 8>;

/// One box against many; its six numbers in registers.
class Probe {
 public:
  HWY_INLINE explicit Probe(const FloatBox& b) {
    for (int k = 0; k < 3; ++k) low_[k] = hn::Set(D(), b.low[k]), high_[k] = hn::Set(D(), b.high[k]);
  }
  /// One bit for each box of the block that overlaps.
  HWY_INLINE unsigned overlaps(const BoxBlock& block) const {
    const D d;
    constexpr int lanes = int(hn::MaxLanes(D()));
    unsigned bits = 0;
    for (int l = 0; l < 8; l += lanes) {
      auto mask =
          hn::And(hn::Le(hn::Load(d, block.low[0] + l), high_[0]), hn::Le(low_[0], hn::Load(d, block.high[0] + l)));
      for (int k = 1; k < 3; ++k) {
        mask = hn::And(mask, hn::Le(hn::Load(d, block.low[k] + l), high_[k]));
        mask = hn::And(mask, hn::Le(low_[k], hn::Load(d, block.high[k] + l)));
      }
      unsigned char part[8];
      hn::StoreMaskBits(d, mask, part);
      bits |= unsigned(part[0]) << l;
    }
    return bits;
  }

 private:
  hn::Vec<D> low_[3], high_[3];
};

/// The box of eight queries finds blocks of eight items; the box of such a block finds those of the eight queries that
/// reach it; and only these are held against the items.
class Walk {
 public:
  Walk(const BoxTree& tree, bool same, const BlockMasks* never) : tree_(tree), same_(same), never_(never) {}

  void run(const BoxTree& queries, int block, std::vector<std::uint64_t>& out) {
    const BoxBlock& own = queries.level(0)[block];
    const Probe all(queries.block_box(block));
    int depth = 0;
    stack_[depth++] = {tree_.levels() - 1, 0};
    while (depth > 0) {
      const Node node = stack_[--depth];
      const BoxBlock& children = tree_.level(node.level)[node.block];
      for (unsigned bits = all.overlaps(children); bits; bits &= bits - 1) {
        const int lane = std::countr_zero(bits), child = 8 * node.block + lane;
        // of two blocks of the same tree, the first does the work
        if (same_ && ((std::int64_t(child) + 1) << (3 * (node.level - 1))) <= block) continue;
        if (node.level > 1) {
          stack_[depth++] = {node.level - 1, child};
        } else {
          const std::uint64_t never = never_ ? never_->of(block, child) : 0;
          if (never == ~std::uint64_t(0)) continue;
          meet(own, block, child, Probe(children.get(lane)).overlaps(own), never);
          if (found_ > batch) flush(out);
        }
      }
    }
  }
  void flush(std::vector<std::uint64_t>& out) {
    out.insert(out.end(), pairs_, pairs_ + found_);
    found_ = 0;
  }

 private:
  struct Node {
    int level, block;
  };
  static constexpr int batch = 1024;

  HWY_INLINE void meet(const BoxBlock& own, int block, int other, unsigned lanes, std::uint64_t never) {
    const BoxBlock& items = tree_.level(0)[other];
    for (; lanes; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const unsigned looked = ~unsigned(never >> (8 * lane)) & 0xffu;
      if (looked == 0) continue;
      unsigned bits = Probe(own.get(lane)).overlaps(items) & looked;
      if (same_ && other == block) bits &= ~((2u << lane) - 1);
      const std::uint64_t place = std::uint64_t(8 * block + lane) << 32 | std::uint64_t(8 * other);
      for (; bits; bits &= bits - 1) pairs_[found_++] = place + std::uint64_t(std::countr_zero(bits));
    }
  }

  const BoxTree& tree_;
  bool same_;
  const BlockMasks* never_;
  int found_ = 0;
  Node stack_[8 * BoxTree::most_levels];
  std::uint64_t pairs_[batch + 64];
};

void overlap_kernel(const BoxTree& tree, const BoxTree& queries, bool same, int begin, int end,
                    std::vector<std::uint64_t>& out, const BlockMasks* never) {
  Walk walk(tree, same, never);
  const Probe whole(tree.box());
  for (int group = begin / 8; 8 * group < end; ++group)
    for (unsigned bits = whole.overlaps(queries.level(1)[group]); bits; bits &= bits - 1) {
      const int block = 8 * group + std::countr_zero(bits);
      if (block >= begin && block < end) walk.run(queries, block, out);
    }
  walk.flush(out);
}

void distance_kernel(const BoxBlock& block, const std::array<float, 3>& p, float* out) {
  const D d;
  constexpr float downward = 1 - 0x1.0p-20f;  // covers the rounding of this sum
  constexpr int lanes = int(hn::MaxLanes(D()));
  for (int l = 0; l < 8; l += lanes) {
    auto sum = hn::Zero(d);
    for (int k = 0; k < 3; ++k) {
      const auto at = hn::Set(d, p[k]);
      const auto beyond =
          hn::Max(hn::Max(hn::Sub(hn::Load(d, block.low[k] + l), at), hn::Sub(at, hn::Load(d, block.high[k] + l))),
                  hn::Zero(d));
      sum = hn::MulAdd(beyond, beyond, sum);
    }
    hn::StoreU(hn::Mul(sum, hn::Set(d, downward)), d, out + l);
  }
}

}  // namespace
}  // namespace verve::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verve {

HWY_EXPORT(overlap_kernel);
HWY_EXPORT(distance_kernel);

void BoxBlock::squared_distances(const std::array<float, 3>& p, float* out) const {
  HWY_DYNAMIC_DISPATCH(distance_kernel)(*this, p, out);
}

void overlapping(const BoxTree& tree, const BoxTree& queries, bool same, int begin, int end,
                 std::vector<std::uint64_t>& out, const BlockMasks* never) {
  if (tree.items() == 0 || queries.items() == 0) return;
  HWY_DYNAMIC_DISPATCH(overlap_kernel)(tree, queries, same, begin, end, out, never);
}

}  // namespace verve
#endif
