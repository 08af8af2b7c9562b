#include "contact/block_masks.h"

#include <algorithm>

namespace verve {

namespace {

/// Pairs of blocks of which each has its place in a table, which then stays in a cache: a surface of 3000 edges.
constexpr std::size_t most_dense = 1 << 17;

}  // namespace

void BlockMasks::build(const BoxTree& queries, const BoxTree& tree, const std::vector<std::uint64_t>& pairs) {
  constexpr int width = BoxTree::width;
  const int blocks = queries.leaf_blocks();
  // by blocks of queries, counting
  const auto block_of = [](std::uint64_t pair) { return int(pair >> 32) / width; };
  next_.assign(blocks + 1, 0);
  for (const std::uint64_t pair : pairs) ++next_[block_of(pair) + 1];
  for (int b = 0; b < blocks; ++b) next_[b + 1] += next_[b];
  sorted_.resize(pairs.size());
  for (const std::uint64_t pair : pairs) sorted_[next_[block_of(pair)]++] = pair;

  blocks_ = tree.leaf_blocks();
  entries_.assign(1, {-1, 0}), first_.assign(1, 1);
  masks_.assign(blocks_, 0);
  for (int b = 0, at = 0; b < blocks; ++b) {
    touched_.clear();
    for (; at < next_[b]; ++at) {
      const int query = int(sorted_[at] >> 32), place = int(sorted_[at] & 0xffffffffu);
      std::uint64_t& mask = masks_[place / width];
      if (mask == 0) touched_.push_back(place / width);
      mask |= std::uint64_t(1) << (width * (query % width) + place % width);
    }
    std::sort(touched_.begin(), touched_.end());
    for (const int block : touched_) entries_.push_back({block, masks_[block]}), masks_[block] = 0;
    first_.push_back(int(entries_.size()));
  }
  dense_.clear();
  if (std::size_t(blocks) * blocks_ > most_dense) return;
  dense_.resize(std::size_t(blocks) * blocks_);
  for (int b = 0; b < blocks; ++b)
    for (int e = first_[b]; e < first_[b + 1]; ++e) dense_[std::size_t(b) * blocks_ + entries_[e].block] = e;
}

}  // namespace verve
