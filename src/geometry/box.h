// A box along the axes.
#pragma once

#include <algorithm>
#include <cmath>

#include "verve/vec.h"

namespace verve {

/// Empty until something is added. May be unbounded.
struct Box {
  Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};

  static constexpr Box everything() { return {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}; }
  void add(const Vec3& p) {
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  }
  void add(const Box& b) { add(b.low), add(b.high); }
  bool empty() const { return !(low.x <= high.x && low.y <= high.y && low.z <= high.z); }
  bool overlaps(const Box& b) const {
    return low.x <= b.high.x && b.low.x <= high.x && low.y <= b.high.y && b.low.y <= high.y && low.z <= b.high.z &&
           b.low.z <= high.z;
  }
  /// 0 inside.
  double distance(const Vec3& p) const {
    Vec3 d;
    for (int k = 0; k < 3; ++k) d[k] = std::max({low[k] - p[k], p[k] - high[k], 0.0});
    return norm(d);
  }
};

}  // namespace verve
