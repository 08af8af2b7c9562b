// A shape that is one formula: what its file has to say, and the loops that all of them share.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "contact/shapes.h"
#include "contact/ties.h"

namespace verve {

/// A Formula has `Touch at(const Vec3& x) const`, `bounds`, `features` and `tessellate` as Shape.
template <class Formula>
class ShapeOf final : public Shape {
 public:
  explicit ShapeOf(const Formula& formula) : formula_(formula) {}
  Touch touch(const Vec3& x) const override { return formula_.at(x); }
  void touch(const Vec4* x, int count, Touch* out) const override {
    parallel_for(count, grain, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) out[i] = formula_.at(x[i].xyz());
    });
  }
  Box bounds() const override { return formula_.bounds(); }
  ShapeFeatures features() const override { return formula_.features(); }
  ShapeTriangles tessellate(double reach) const override { return formula_.tessellate(reach); }
  std::optional<Vec3> flat_normal() const override {
    if constexpr (requires { formula_.flat_normal(); }) return formula_.flat_normal();
    return std::nullopt;
  }

 private:
  static constexpr int grain = 1024;  // points per chunk; a point takes some nanoseconds
  Formula formula_;
};

template <class Formula>
std::unique_ptr<Shape> shape_of(const Formula& formula) {
  return std::make_unique<ShapeOf<Formula>>(formula);
}

/// Of what is longer than `slack`; a tie has none of its own.
inline Vec3 direction_beyond(const Vec3& v, double slack, const Vec3& otherwise) {
  return dot(v, v) > slack * slack ? direction(v, otherwise) : otherwise;
}
inline Box box_of(const Vec3& half) { return {-half, half}; }

/// A size that is above 0 and finite; else std::invalid_argument with its name and that of the shape.
double checked_size(double size, const char* shape, const char* name);

/// A profile of (radius, height) from below to above, turned about y.
ShapeTriangles lathe(const std::vector<std::array<double, 2>>& profile);
/// The profile of a ball that is cut in two halves `length` apart; 0: a ball.
ShapeTriangles tessellate_capsule(double radius, double length);

/// A round rim about y as a polygon of 32 corners, with the normals of the two surfaces that meet there: `side` is that
/// of the one that goes around, as (outward, up), `end` that of the flat one, up or down.
void add_rim(double radius, double height, const std::array<double, 2>& side, double end, ShapeFeatures& out);

}  // namespace verve
