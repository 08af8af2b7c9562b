// Where a deforming body is as a whole: what an engine hangs other things on.
#pragma once

#include "exchange/animation.h"

namespace verve {

/// The rigid motion of a shape since the first frame: of its vertices the mean and the nearest rotation. A straight
/// rope has no rotation about itself: it keeps the one it had.
class BodyTransforms {
 public:
  BodyTransforms(Animation& animation, int shape);
  struct Pose {
    Quaternion turn;  ///< of length 1, next to that of the frame before
    Mat3 rotation = Mat3::identity();
    Vec3 position;
    Vec3 to_local(const Vec3& p) const { return transpose(rotation) * (p - position); }
  };
  const Pose& operator[](int k) const { return poses_[std::size_t(k)]; }  ///< in frames[k]

 private:
  std::vector<Pose> poses_;
};

}  // namespace verve
