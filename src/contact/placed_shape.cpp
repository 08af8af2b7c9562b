#include <algorithm>

#include "contact/shapes.h"

namespace verve {

void PlacedShape::touch(const Vec4* x, int count, std::vector<Vec4>& local, Touch* out) const {
  if (int(local.size()) < count) local.resize(count);
  for (int i = 0; i < count; ++i) local[i] = Vec4(pose.to_local(x[i].xyz()));
  shape->touch(local.data(), count, out);
  for (int i = 0; i < count; ++i) out[i].normal = pose.direction_to_world(out[i].normal);
}

Box PlacedShape::bounds() const {
  const Box own = shape->bounds();
  Box out;
  for (int row = 0; row < 3; ++row) {
    out.low[row] = out.high[row] = pose.position[row];
    for (int k = 0; k < 3; ++k) {
      const double r = pose.rotation(row, k);
      if (r == 0) continue;  // 0 times an unbounded side is nothing
      out.low[row] += std::min(r * own.low[k], r * own.high[k]);
      out.high[row] += std::max(r * own.low[k], r * own.high[k]);
    }
  }
  return out;
}

}  // namespace verve
