#include "contact/surface_tree.h"
#include "base/finite.h"

#include <algorithm>
#include <cmath>

namespace verve {

void SurfaceTree::set_rows() {
  rows_.resize(surface_->rows);
  for (const int r : surface_->vertices) {
    const Vec3 p = x_[r].xyz() - origin_;
    rows_[r] = float_box(p, p, 0);
  }
}

FloatBox SurfaceTree::box_of(int face) const {
  const auto& [a, b, c] = surface_->faces[face];
  return rows_[a].joined(rows_[b]).joined(rows_[c]).finished();
}

void SurfaceTree::build(const Surface& surface, const Vec4* x) {
  surface_ = &surface, x_ = x;
  origin_ = {};
  for (const int r : surface.vertices)
    if (finite(x[r].xyz())) {
      origin_ = x[r].xyz();
      break;
    }
  set_rows();
  boxes_.build(int(surface.faces.size()), [this](int f) { return box_of(f); });
  const FloatBox all = boxes_.box();
  size_ = all.empty() ? 0 : std::max({all.high[0] - all.low[0], all.high[1] - all.low[1], all.high[2] - all.low[2]});
}

void SurfaceTree::refit(const Vec4* x) {
  x_ = x;
  set_rows();
  boxes_.refit([this](int f) { return box_of(f); });
  if (boxes_.decayed()) build(*surface_, x);
}

ClosestPoint closest(const SurfaceTree& tree, const Vec3& x, double reach, const FaceFilter& filter) {
  ClosestPoint out;
  const BoxTree& boxes = tree.boxes_;
  if (boxes.items() == 0 || !finite(x) || !(reach >= 0)) return out;
  const Vec3 local = x - tree.origin_;
  const std::array<float, 3> p{float(local.x), float(local.y), float(local.z)};
  // how far p may be from where it should be; a bound of distances is good to that
  const double rounding = 0x1p-23 * (std::abs(local.x) + std::abs(local.y) + std::abs(local.z));
  const double slack = tree.slack();
  PointTriangle best{};
  // squares of distances: the least, the largest that is equal to it, and that of boxes which are looked into
  double least, as_near, limit;
  const auto set_least = [&](double squared) {
    const double equal = std::sqrt(squared) + slack, box = equal + rounding;
    least = squared, as_near = equal * equal, limit = box * box;
  };
  set_least(reach < 1e150 ? reach * reach : INFINITY);

  struct Node {
    float bound;
    int level, block;
  };
  Node stack[8 * BoxTree::most_levels];
  int depth = 0;
  stack[depth++] = {0, boxes.levels() - 1, 0};
  while (depth > 0) {
    const Node node = stack[--depth];
    if (double(node.bound) > limit) continue;
    float bound[8];
    boxes.level(node.level)[node.block].squared_distances(p, bound);
    if (node.level == 0) {
      for (int lane = 0; lane < 8; ++lane) {
        if (!(double(bound[lane]) <= limit) || bound[lane] == INFINITY) continue;
        const int face = boxes.item(8 * node.block + lane);
        if (filter.accept && !filter.accept(filter.context, face)) continue;
        const auto& [a, b, c] = tree.surface_->faces[face];
        const PointTriangle found = point_triangle(x, tree.x_[a].xyz(), tree.x_[b].xyz(), tree.x_[c].xyz());
        if (!(found.squared_distance <= as_near)) continue;
        if (out.face < 0 || found.squared_distance < least) set_least(found.squared_distance);
        if (out.face < 0 || face < out.face || best.squared_distance > as_near) best = found, out.face = face;
      }
      continue;
    }
    // farthest first, so that the nearest is taken from the stack next
    const int bottom = depth;
    for (int lane = 0; lane < 8; ++lane) {
      if (!(double(bound[lane]) <= limit) || bound[lane] == INFINITY) continue;
      int at = depth++;
      for (; at > bottom && stack[at - 1].bound < bound[lane]; --at) stack[at] = stack[at - 1];
      stack[at] = {bound[lane], node.level - 1, 8 * node.block + lane};
    }
  }
  if (out.face < 0) return out;
  out.part = best.part, out.weights = best.weights;
  const bool on_surface = !(least > slack * slack);
  const TrianglePart part = on_surface ? part_at(best.weights) : best.part;
  const Vec3 outward = pseudo_normal(*tree.surface_, tree.x_, out.face, part);
  if (part == TrianglePart::face) {  // the normal of the face is the gradient, however near the point is
    out.normal = outward;
    out.distance = std::sqrt(least) * (dot(best.offset, outward) < 0 ? -1 : 1);
  } else {
    const Touch touch = signed_distance(best.offset, least, outward, slack);
    out.distance = touch.distance, out.normal = touch.normal;
  }
  return out;
}

void closest(const SurfaceTree& tree, std::span<const Vec4> x, double reach, ClosestPoint* out) {
  constexpr int grain = 64;
  parallel_for(int(x.size()), grain, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      double within = reach;
      if (i > begin && out[i - 1].face >= 0) {
        const auto& [a, b, c] = tree.surface().faces[out[i - 1].face];
        const Vec4* p = tree.positions();
        const double d2 = point_triangle(x[i].xyz(), p[a].xyz(), p[b].xyz(), p[c].xyz()).squared_distance;
        within = std::min(reach, std::sqrt(d2) + tree.slack());
      }
      out[i] = closest(tree, x[i].xyz(), within);
    }
  });
}

}  // namespace verve
