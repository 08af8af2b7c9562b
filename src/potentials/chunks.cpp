#include "potentials/chunks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace verve {

namespace {

// About 10 microseconds of work, and copies that fit into the nearest cache.
constexpr int corners_per_chunk = 4096;

int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Recursive bisection along the longest extent, down to blocks: compact chunks share few vertices. Ends on multiples
/// of the chunk size as long as there are several chunks, then of the block size.
void bisect(std::vector<int>& elements, int begin, int end, int chunk_elements, const std::vector<Vec3>& centers) {
  const int count = end - begin;
  if (count <= block_size) return;
  Vec3 low = centers[elements[begin]], high = low;
  for (int k = begin; k < end; ++k) {
    const Vec3& c = centers[elements[k]];
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = std::min(low[axis], c[axis]), high[axis] = std::max(high[axis], c[axis]);
  }
  const Vec3 extent = high - low;
  const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
  const int middle = begin + round_up((count + 1) / 2, count > chunk_elements ? chunk_elements : block_size);
  if (middle >= end) return bisect(elements, begin, end, block_size, centers);
  std::nth_element(elements.begin() + begin, elements.begin() + middle, elements.begin() + end, [&](int a, int b) {
    const double ca = centers[a][axis], cb = centers[b][axis];
    return ca != cb ? ca < cb : a < b;
  });
  bisect(elements, begin, middle, chunk_elements, centers);
  bisect(elements, middle, end, chunk_elements, centers);
}

}  // namespace

void Chunks::build(const std::vector<int>& stencils, int corners, const std::vector<Vec3>& rest) {
  corners_ = corners;
  const int elements = int(stencils.size()) / corners;
  std::vector<Vec3> centers(elements);
  for (size_t k = 0; k < stencils.size(); ++k) centers[k / corners] += rest[k];
  const int most = std::max(block_size, corners_per_chunk / corners / block_size * block_size);
  // several chunks are a multiple of four, so that two or four threads have the same number each, and rather 15 %
  // larger
  const int count = elements <= most ? 1 : round_up((elements * 20 + 23 * most - 1) / (23 * most), 4);
  order(centers, count ? round_up((elements + count - 1) / count, block_size) : block_size);
  number_copies(stencils);
  for (Chunk& c : chunks_) measure(c, stencils, rest);
  slot_x_.resize(slot_row_.size()), slot_gradient_.resize(slot_row_.size());
  partial_.resize(chunks_.size());
}

void Chunks::order(const std::vector<Vec3>& centers, int chunk_elements) {
  const int elements = int(centers.size());
  element_at_.resize(elements);
  for (int e = 0; e < elements; ++e) element_at_[e] = e;
  bisect(element_at_, 0, elements, chunk_elements, centers);
  position_of_.resize(elements);
  for (int position = 0; position < elements; ++position) position_of_[element_at_[position]] = position;
  element_at_.resize(round_up(elements, block_size), -1);
  chunks_.clear();
  for (int first = 0; first < elements; first += chunk_elements)
    chunks_.push_back({first, std::min(chunk_elements, elements - first), 0, 0, 0, 0, 0, 0});
  for (Chunk& c : chunks_) c.all = c.count;
}

void Chunks::number_copies(const std::vector<int>& stencils) {
  int rows = 0;
  for (const int row : stencils) rows = std::max(rows, row + 1);
  const auto rows_of = [&](const Chunk& c, auto&& visit) {
    for (int position = c.first; position < c.first + c.count; ++position)
      for (int i = 0; i < corners_; ++i) visit(stencils[size_t(element_at_[position]) * corners_ + i]);
  };

  // how many chunks touch a row
  std::vector<int> chunks_of(rows, 0), last(rows, -1);
  for (size_t k = 0; k < chunks_.size(); ++k)
    rows_of(chunks_[k], [&](int row) {
      if (last[row] != int(k)) ++chunks_of[row], last[row] = int(k);
    });
  std::vector<int> index_of_shared(rows, -1);
  first_copy_.assign(1, 0);
  shared_row_.clear();
  for (int row = 0; row < rows; ++row) {
    if (chunks_of[row] < 2) continue;
    index_of_shared[row] = int(shared_row_.size());
    shared_row_.push_back(row);
    first_copy_.push_back(first_copy_.back() + chunks_of[row]);
  }
  copy_of_shared_.resize(first_copy_.back());
  std::vector<int> next = first_copy_;

  corners_at_.assign(element_at_.size() * corners_, 0);
  slot_row_.clear();
  std::vector<int> slot_of(rows, -1);
  std::fill(last.begin(), last.end(), -1);
  for (size_t k = 0; k < chunks_.size(); ++k) {
    Chunk& c = chunks_[k];
    c.first_slot = int(slot_row_.size());
    for (const bool shared : {false, true}) {
      rows_of(c, [&](int row) {
        if ((chunks_of[row] > 1) != shared || last[row] == int(k)) return;
        last[row] = int(k);
        slot_of[row] = int(slot_row_.size());
        if (shared) copy_of_shared_[next[index_of_shared[row]]++] = slot_of[row];
        slot_row_.push_back(row);
      });
      if (!shared) c.own_slots = int(slot_row_.size()) - c.first_slot;
    }
    c.end_slot = int(slot_row_.size());
    std::uint16_t* corner = corners_at_.data() + size_t(c.first) * corners_;
    rows_of(c, [&](int row) { *corner++ = std::uint16_t(4 * (slot_of[row] - c.first_slot)); });
    // what fills up the last block does as the last element does
    for (int k = c.count; k % block_size; ++k)
      for (int i = 0; i < corners_; ++i, ++corner) *corner = corner[-corners_];
  }
}

/// Whole numbers up to 2^30 reach to at least 1.2 times the size at rest, and resolve 2^-23 of the shortest difference.
void Chunks::measure(Chunk& c, const std::vector<int>& stencils, const std::vector<Vec3>& rest) const {
  const auto for_corners = [&](auto&& visit) {
    for (int position = c.first; position < c.first + c.count; ++position)
      for (int i = 0; i < corners_; ++i) visit(size_t(element_at_[position]) * corners_, i);
  };
  Vec3 center{};
  for_corners([&](size_t e, int i) { center += rest[e + i] / (double(c.count) * corners_); });
  double nearest = std::numeric_limits<double>::max(), shortest = nearest, extent = 0;
  Vec3 middle{};
  for_corners([&](size_t e, int i) {
    // where the first vertex is repeated the difference is zero, exactly
    if (stencils[e + i] != stencils[e]) shortest = std::min(shortest, norm(rest[e + i] - rest[e]));
    const double distance = norm(rest[e + i] - center);
    if (distance < nearest) nearest = distance, middle = rest[e + i], c.middle = stencils[e + i];
  });
  for_corners([&](size_t e, int i) { extent = std::max(extent, norm(rest[e + i] - middle)); });
  int exponent;
  std::frexp(1.2 * extent, &exponent);
  c.unit = std::ldexp(1.0, exponent - 30);
  c.coarsest = std::ldexp(shortest, -23);
}

std::vector<int> Chunks::leave_out(const std::vector<char>& gone) {
  if (whole_.element_at.empty()) whole_ = {element_at_, position_of_, corners_at_};
  std::vector<int> changed, order;
  for (size_t k = 0; k < chunks_.size(); ++k) {
    Chunk& c = chunks_[k];
    order.assign(whole_.element_at.begin() + c.first, whole_.element_at.begin() + c.first + c.all);
    const auto middle = std::stable_partition(order.begin(), order.end(), [&](int e) { return !gone[e]; });
    c.count = int(middle - order.begin());
    if (std::equal(order.begin(), order.end(), element_at_.begin() + c.first)) continue;
    changed.push_back(int(k));
    for (int i = 0; i < c.all; ++i) {
      element_at_[c.first + i] = order[i], position_of_[order[i]] = c.first + i;
      std::copy_n(whole_.corners_at.begin() + size_t(whole_.position_of[order[i]]) * corners_, corners_,
                  corners_at_.begin() + size_t(c.first + i) * corners_);
    }
  }
  return changed;
}

void Chunks::add_shared(Vec4* gradient) const {
  parallel_for(int(shared_row_.size()), 128, [&](int begin, int end, int) {
    for (int k = begin; k < end; ++k) {
      Vec4 sum = slot_gradient_[copy_of_shared_[first_copy_[k]]];
      for (int c = first_copy_[k] + 1; c < first_copy_[k + 1]; ++c) sum += slot_gradient_[copy_of_shared_[c]];
      gradient[shared_row_[k]] += sum;
    }
  });
}

double Chunks::total() const {
  double sum = 0;
  for (const double p : partial_) sum += p;
  return sum;
}

}  // namespace verve
