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

}  // namespace verve
