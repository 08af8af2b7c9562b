// Pairs of items of two trees that are not looked for, by the blocks of eight that these hold them in.
#pragma once

#include <cstdint>
#include <vector>

#include "contact/box_tree.h"

namespace verve {

/// Features that are neighbours in the mesh always overlap and never count: most of what a surface finds of itself.
/// One mask tells of all 64 pairs of two blocks, before their boxes are looked at.
class BlockMasks {
 public:
  /// `pairs`: place in `queries` << 32 | place in `tree`, in any order, each once or more often.
  void build(const BoxTree& queries, const BoxTree& tree, const std::vector<std::uint64_t>& pairs);
  /// Bit 8 i + j: item i of the one block and item j of the other are not looked for.
  std::uint64_t of(int query_block, int block) const {
    if (!dense_.empty()) return entries_[dense_[std::size_t(query_block) * blocks_ + block]].mask;
    int low = first_[query_block], high = first_[query_block + 1];
    while (low < high) {
      const int middle = (low + high) / 2;
      if (entries_[middle].block < block) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < first_[query_block + 1] && entries_[low].block == block ? entries_[low].mask : 0;
  }

 private:
  struct Entry {
    int block;
    std::uint64_t mask;
  };
  std::vector<int> first_;           // of the entries of each block of queries, which are sorted
  std::vector<Entry> entries_;       // the first has no mask
  std::vector<int> dense_;           // of small trees: the entry of each two blocks
  int blocks_ = 0;                   // of the tree
  std::vector<int> next_, touched_;  // room to work in
  std::vector<std::uint64_t> sorted_, masks_;
};

}  // namespace verve
