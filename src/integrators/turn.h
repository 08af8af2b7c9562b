#pragma once

#include <cmath>

#include "verve/vec.h"

namespace verve {

/// Rotation by a vector: its length is the angle [rad]; with w the matrix of theta x, 1 + s w + c w^2 (Rodrigues).
struct Turn {
  Mat3 w, w2;
  double sine = 1, cosine = 0.5, third = 1.0 / 6;  // sin(a)/a, (1 - cos(a))/a^2, (a - sin(a))/a^3, a the angle

  explicit Turn(const Vec3& theta) : w{{cross(theta, {1, 0, 0}), cross(theta, {0, 1, 0}), cross(theta, {0, 0, 1})}} {
    w2 = w * w;
    const double angle = norm(theta);
    if (angle < 1e-6) return;
    sine = std::sin(angle) / angle, cosine = (1 - std::cos(angle)) / (angle * angle);
    if (angle > 1e-2) third = (1 - sine) / (angle * angle);
  }
  /// Of the rotations on the way there: what moves at u and turns by theta goes mean() u.
  Mat3 mean() const { return Mat3::identity() + w * cosine + w2 * third; }
  Mat3 matrix() const { return Mat3::identity() + w * sine + w2 * cosine; }
};

/// The turn from one rotation to another as a vector [rad].
inline Vec3 turn_between(const Mat3& from, const Mat3& to) {
  const Mat3 r = to * transpose(from);
  const Vec3 sine = Vec3{r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)} * 0.5;
  const double s = norm(sine), c = 0.5 * (r(0, 0) + r(1, 1) + r(2, 2) - 1);
  return s > 1e-9 ? sine * (std::atan2(s, c) / s) : sine;
}

}  // namespace verve
