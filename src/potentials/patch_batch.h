// PatchBatch<Kernel>: storage of patches (patch_loop.h), for potentials whose elements differ in size.
#pragma once

#include <algorithm>
#include <cstring>

#include "potentials/chunks.h"
#include "potentials/kernel.h"
#include "verve/scene.h"

namespace verve {

template <class Kernel>
class PatchBatch {
 public:
  using Element = typename Kernel::template Element<double>;
  using Corner = typename Kernel::template Corner<double>;

  /// Vertices of patch e (rows of the state), and where they are at rest.
  struct Patch {
    std::vector<int> rows;
    std::vector<Vec3> rest;
  };

  /// False, and nothing is built, when a patch has more vertices than the loops take.
  bool build(const std::vector<Patch>& patches) {
    const int count = int(patches.size());
    std::vector<int> by_size(count);
    for (int e = 0; e < count; ++e) by_size[e] = e;
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](int a, int b) { return patches[a].rows.size() > patches[b].rows.size(); });
    if (count > 0 && patches[by_size[0]].rows.size() > most_patch_corners) return false;
    place_.resize(count);
    for (int begin = 0, end = 0; begin < count; begin = end) {
      const int corners = int(patches[by_size[begin]].rows.size());
      // repeating a vertex costs what a vertex costs: up to a quarter of them
      while (end < count && 4 * int(patches[by_size[end]].rows.size()) > 3 * corners) ++end;
      std::sort(by_size.begin() + begin, by_size.begin() + end);
      build_class(patches, by_size.data() + begin, end - begin, corners);
    }
    if (classes_.size() > 1) {
      for (const Patch& p : patches) touched_.insert(touched_.end(), p.rows.begin(), p.rows.end());
      std::sort(touched_.begin(), touched_.end());
      touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
      sum_.resize(touched_.back() + 1);
    }
    return true;
  }

  /// What is known of a patch, and by corner(i) of its vertices, `corners` of them.
  template <class CornerOf>
  void set(int patch, const Element& element, int corners, const CornerOf& corner) {
    const auto& [k, index] = place_[patch];
    Class& c = classes_[k];
    const int position = c.chunks.position_of()[index], end = int(c.chunks.element_at().size());
    int line = 0;
    const auto write = [&](const auto& part) {
      double fields[sizeof part / sizeof(double)];
      std::memcpy(fields, &part, sizeof part);
      for (const double value : fields) {
        // what fills up the last block repeats the last element
        for (int p = position; p < (position + 1 == c.count ? end : position + 1); ++p) {
          const size_t at = size_t(p / block_size) * c.lines + line;
          c.wide[at].lane[p % block_size] = value, c.narrow[at].lane[p % block_size] = float(value);
        }
        ++line;
      }
    };
    write(element);
    for (int i = 0; i < corners; ++i) write(corner(i));
  }

  /// The energy; its gradient is added to `gradient` unless that is null.
  double evaluate(const Vec4* x, Vec4* gradient, Precision precision) {
    const BlockLoops& loops = block_loops<Kernel>();
    // summed up over the classes first, so that what is added does not depend on what is there
    Vec4* to = gradient && classes_.size() > 1 ? sum_.data() : gradient;
    if (to != gradient) for_touched([&](int row) { sum_[row] = Vec4(); });
    double energy = 0;
    for (Class& c : classes_) {
      const auto data = [&](const auto& lines) {
        return [&](int first) { return static_cast<const void*>(&lines[size_t(first / block_size) * c.lines]); };
      };
      energy += precision == Precision::float64
                    ? c.chunks.sum(x, to, gradient ? loops.gradient64 : loops.energy64, data(c.wide))
                    : c.chunks.sum(x, to, gradient ? loops.gradient32 : loops.energy32, data(c.narrow));
    }
    if (to != gradient) for_touched([&](int row) { gradient[row] += sum_[row]; });
    return energy;
  }

 private:
  template <class T>
  struct alignas(block_size * sizeof(T)) Line {
    T lane[block_size];
  };
  /// Patches of about one size.
  struct Class {
    Chunks chunks;
    int count, lines;
    std::vector<Line<double>> wide;
    std::vector<Line<float>> narrow;
  };
  struct Place {
    int in_class, index;
  };

  void build_class(const std::vector<Patch>& patches, const int* members, int count, int corners) {
    std::vector<int> rows;
    std::vector<Vec3> rest;
    for (int index = 0; index < count; ++index) {
      const Patch& p = patches[members[index]];
      place_[members[index]] = {int(classes_.size()), index};
      for (int i = 0; i < corners; ++i) {
        const size_t at = i < int(p.rows.size()) ? i : 0;
        rows.push_back(p.rows[at]), rest.push_back(p.rest[at]);
      }
    }
    Class& c = classes_.emplace_back();
    c.chunks.build(rows, corners, rest);
    c.count = count, c.lines = element_fields<Kernel> + corners * corner_fields<Kernel>;
    c.wide.resize(c.chunks.element_at().size() / block_size * c.lines), c.narrow.resize(c.wide.size());
  }

  template <class F>
  void for_touched(const F& visit) {
    parallel_for(int(touched_.size()), 1024, [&](int begin, int end, int) {
      for (int k = begin; k < end; ++k) visit(touched_[k]);
    });
  }

  std::vector<Class> classes_;
  std::vector<Place> place_;
  std::vector<int> touched_;  // rows in use, where there are several classes
  std::vector<Vec4> sum_;     // by row
};

}  // namespace verve
