// The nearest point of a surface, and whether a point is inside of it.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "contact/box_tree.h"
#include "contact/proximity.h"
#include "contact/surface.h"
#include "contact/ties.h"

namespace verve {

struct ClosestPoint {
  int face = -1;  ///< -1: none within reach
  TrianglePart part = TrianglePart::face;
  std::array<double, 3> weights{};  ///< of the corners of the face
  double distance = 0;              ///< negative inside the skin of a solid; on a sheet, behind the nearest face
  Vec3 normal{};                    ///< unit, the gradient of `distance` with respect to the point
};

/// Which faces a search may find: those with accept(context, face).
struct FaceFilter {
  bool (*accept)(const void* context, int face) = nullptr;  ///< null: all
  const void* context = nullptr;
};

/// A tree over the faces of a surface. Both the surface and the positions (by row) are kept by the caller, and are
/// those of the last build or refit.
class SurfaceTree {
 public:
  void build(const Surface& surface, const Vec4* x);
  /// After the vertices have moved; builds anew when the order of the faces has lost its worth.
  void refit(const Vec4* x);

  const Surface& surface() const { return *surface_; }
  const Vec4* positions() const { return x_; }
  /// Distances that differ by less are equal [m].
  double slack() const { return tie * size_; }

 private:
  friend ClosestPoint closest(const SurfaceTree& tree, const Vec3& x, double reach, const FaceFilter& filter);
  void set_rows();
  FloatBox box_of(int face) const;

  const Surface* surface_ = nullptr;
  const Vec4* x_ = nullptr;
  Vec3 origin_{};
  double size_ = 0;
  std::vector<FloatBox> rows_;
  BoxTree boxes_;
};

/// The nearest point no farther than `reach`. Of equally near faces the first; the sign does not depend on the choice
/// (pseudo_normal in surface.h). A point that is not finite finds nothing. With a filter the point may be the nearest
/// of some faces only (for a vertex of the same body: those it is no corner of, or that look the other way); the sign
/// is then that of the side of this nearest part, which need not be inside and outside of the whole.
ClosestPoint closest(const SurfaceTree& tree, const Vec3& x, double reach = std::numeric_limits<double>::infinity(),
                     const FaceFilter& filter = {});
/// The same for many points that lie in some spatial order, in parallel: each begins with what its neighbour found.
void closest(const SurfaceTree& tree, std::span<const Vec4> x, double reach, ClosestPoint* out);

}  // namespace verve
