// Rigid colliders by their signed distance, each in a frame of its own.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/proximity.h"
#include "contact/ties.h"
#include "geometry/box.h"
#include "verve/diagnostics.h"

namespace verve {

/// Corners and convex edges of a shape, for coarse surfaces that touch it by their faces and edges. A round shape is
/// all that lies within `radius` of its points and edges; others have sides, and a radius of 0.
struct ShapeFeatures {
  std::vector<Vec3> points;
  std::vector<Vec3> outward;  ///< per point: where the faces around it look to; 0 of a round shape
  std::vector<std::array<int, 2>> edges;
  std::vector<std::array<Vec3, 2>> sides;  ///< per edge: the normals of its two faces; 0 of a round shape
  double radius = 0;

  /// Whether something may lie on this edge in the direction n, as looks_towards of a surface.
  bool looks_towards(int edge, const Vec3& n, double slack) const {
    const auto& [n1, n2] = sides[edge];
    const double both = dot(n1, n2) - slack;
    return dot(n, n1 + n2) > tie && dot(n, n1) >= both && dot(n, n2) >= both;
  }
};

/// A surface of triangles with normals outward.
struct ShapeTriangles {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;
};

/// The exact distance to the surface everywhere, inside and outside, and its gradient. Where several points of the
/// surface are equally near (centre of a sphere, middle of a box) the normal is one of the possible ones, always the
/// same. Points that are not finite do no harm, and give nothing of use.
class Shape {
 public:
  virtual ~Shape() = default;
  virtual Touch touch(const Vec3& x) const = 0;
  /// out[i] for x[i], i < count; one virtual call for all, on as many threads as are set.
  virtual void touch(const Vec4* x, int count, Touch* out) const = 0;
  /// Of what is inside; unbounded for a plane.
  virtual Box bounds() const = 0;
  /// A plane has none; round rims are polygons of 32 corners.
  virtual ShapeFeatures features() const = 0;
  /// What is drawn of it. Of a half-space, which has no end: a square around the origin, `reach` to each side.
  virtual ShapeTriangles tessellate(double reach) const = 0;
  /// The normal of a half-space, the same everywhere; other shapes have none.
  virtual std::optional<Vec3> flat_normal() const { return std::nullopt; }
};

// A new shape is a file in contact/shapes and a line in shape_registry.cpp; it needs none of these.
// Lengths [m]. Sizes that are not above 0 and finite throw std::invalid_argument.

/// Inside: normal . x < offset, with the normal made a unit vector first.
std::unique_ptr<Shape> make_plane(const Vec3& normal, double offset);
std::unique_ptr<Shape> make_sphere(double radius);
std::unique_ptr<Shape> make_box(const Vec3& half_extents);
/// A segment from -half_length to half_length along y with everything up to `radius` around it.
std::unique_ptr<Shape> make_capsule(double radius, double half_length);
/// Along y, with flat ends.
std::unique_ptr<Shape> make_cylinder(double radius, double half_length);
/// A closed surface of triangles, normals outward. Throws std::invalid_argument with the text of check_closed.
std::unique_ptr<Shape> make_mesh_shape(std::vector<Vec3> vertices, std::vector<std::array<int, 3>> triangles);

/// Whether triangles bound a volume: every edge shared by two triangles that run along it in opposite directions,
/// corners distinct and in range, vertices finite, normals outward. One error for each kind of fault, with its count
/// and its first place.
void check_closed(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles,
                  const std::string& where, Diagnostics& out);

/// Where a shape is: x_world = rotation x + position.
struct Pose {
  Mat3 rotation = Mat3::identity();
  Vec3 position{};

  Vec3 to_world(const Vec3& x) const { return rotation * x + position; }
  Vec3 to_local(const Vec3& x) const { return transpose_times(x - position); }
  Vec3 direction_to_world(const Vec3& d) const { return rotation * d; }
  Vec3 direction_to_local(const Vec3& d) const { return transpose_times(d); }

 private:
  Vec3 transpose_times(const Vec3& d) const {
    return {dot(rotation.col[0], d), dot(rotation.col[1], d), dot(rotation.col[2], d)};
  }
};

/// A shape somewhere in the world. Distances are those of the shape, normals turned into the world.
struct PlacedShape {
  const Shape* shape = nullptr;
  Pose pose;

  Touch touch(const Vec3& x) const {
    const Touch t = shape->touch(pose.to_local(x));
    return {t.distance, pose.direction_to_world(t.normal)};
  }
  /// `local` is room for the points in the frame of the shape, kept by the caller.
  void touch(const Vec4* x, int count, std::vector<Vec4>& local, Touch* out) const;
  Box bounds() const;
};

/// Where a point that is fixed to a moving shape and now at x was in the frame before: the shape moved from one pose to
/// the other.
inline Vec3 carried_back(const Pose& from, const Pose& to, const Vec3& x) { return from.to_world(to.to_local(x)); }

}  // namespace verve
