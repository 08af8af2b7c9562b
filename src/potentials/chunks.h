// Elements in the order in which they are worked on, cut into chunks: small meshes of their own, each with copies of
// the vertices it touches. So the loops over elements work in the nearest cache and write to memory that no other
// thread touches; a vertex of several chunks sums what they have for it, in their order. How a mesh is cut depends on
// nothing but the mesh: the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "potentials/block_loops.h"
#include "verve/vec.h"

namespace verve {

class Chunks {
 public:
  struct Chunk {
    int first, count;                     // elements, by position in the order; `first` is a multiple of block_size
    int first_slot, own_slots, end_slot;  // copies of vertices: first those of this chunk alone, then the shared ones
    int middle;                           // see BlockRange
    double unit, coarsest;
    int all = 0;  // elements, those left out included
  };

  /// `stencils[e * corners + c]` is a row of the state and `rest` lies there at rest.
  void build(const std::vector<int>& stencils, int corners, const std::vector<Vec3>& rest);

  /// Takes those with a flag out of all sums: behind the others of their chunk, which keep their order, so that it
  /// depends on nothing but the flags. Returns the chunks in which elements have changed places.
  std::vector<int> leave_out(const std::vector<char>& gone);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// Element at each position, -1 behind the last of a chunk.
  const std::vector<int>& element_at() const { return element_at_; }
  const std::vector<int>& position_of() const { return position_of_; }
  /// [position][corner]: where in its chunk's copies a vertex starts, counted in numbers.
  const std::uint16_t* corners_at(int position) const { return corners_at_.data() + size_t(position) * corners_; }

  /// Sum of loop(range) over all chunks, whose elements element_data(first) points to. `gradient`, unless null, gets
  /// added what the copies of its rows have.
  template <class Loop, class Data>
  double sum(const Vec4* x, Vec4* gradient, Loop loop, Data&& element_data) {
    parallel_tasks(int(chunks_.size()), [&](int k) {
      const Chunk& c = chunks_[k];
      partial_[k] = loop({element_data(c.first), corners_at(c.first), corners_, c.count, &slot_row_[c.first_slot],
                          c.own_slots, c.end_slot - c.first_slot, &x->x, gradient ? &gradient->x : nullptr, &slot_x_[c.first_slot].x,
                          &slot_gradient_[c.first_slot].x, c.middle, c.unit, c.coarsest});
    });
    if (gradient) add_shared(gradient);
    return total();
  }

 private:
  void order(const std::vector<Vec3>& centers, int chunk_elements);
  void number_copies(const std::vector<int>& stencils);
  void measure(Chunk& chunk, const std::vector<int>& stencils, const std::vector<Vec3>& rest) const;
  void add_shared(Vec4* gradient) const;
  double total() const;

  int corners_ = 0;
  std::vector<Chunk> chunks_;
  std::vector<int> element_at_, position_of_;
  std::vector<std::uint16_t> corners_at_;
  struct {  // as it was built, once something has been left out
    std::vector<int> element_at, position_of;
    std::vector<std::uint16_t> corners_at;
  } whole_;
  std::vector<int> slot_row_;                                  // row of the state behind each copy
  std::vector<int> shared_row_, first_copy_, copy_of_shared_;  // rows of several chunks, and their copies by chunk
  std::vector<Vec4> slot_x_, slot_gradient_;
  std::vector<double> partial_;
};

}  // namespace verve
