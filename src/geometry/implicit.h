// Signed distances (or near enough) of simple solids, negative inside, and smooth unions of them.
// Quilez, "Distance functions" and "Smooth minimum", iquilezles.org.
#pragma once

#include <algorithm>
#include <cmath>

#include "verve/vec.h"

namespace verve::implicit {

inline double sphere(const Vec3& p, const Vec3& centre, double radius) { return norm(p - centre) - radius; }

/// First-order distance: exact on the surface, with a gradient of about one near it.
inline double ellipsoid(const Vec3& p, const Vec3& centre, const Vec3& radii) {
  const Vec3 d = p - centre;
  const Vec3 a{d.x / radii.x, d.y / radii.y, d.z / radii.z};
  const Vec3 b{a.x / radii.x, a.y / radii.y, a.z / radii.z};
  const double k0 = norm(a), k1 = norm(b);
  return k1 > 0 ? k0 * (k0 - 1) / k1 : -std::min({radii.x, radii.y, radii.z});
}

/// From a to b with the radius going from ra to rb.
inline double limb(const Vec3& p, const Vec3& a, const Vec3& b, double ra, double rb) {
  const Vec3 d = b - a;
  const double t = std::clamp(dot(p - a, d) / dot(d, d), 0.0, 1.0);
  return norm(p - a - d * t) - (ra + (rb - ra) * t);
}

/// Box with edges rounded by `radius`; half sizes include the rounding.
inline double rounded_box(const Vec3& p, const Vec3& centre, const Vec3& half, double radius) {
  const Vec3 d = p - centre;
  const Vec3 q{std::abs(d.x) - half.x + radius, std::abs(d.y) - half.y + radius, std::abs(d.z) - half.z + radius};
  const Vec3 outside{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)};
  return norm(outside) + std::min(std::max({q.x, q.y, q.z}), 0.0) - radius;
}

/// Cylinder along an axis with edges rounded by `rounding`; sizes include the rounding.
inline double cylinder(const Vec3& p, const Vec3& centre, int axis, double half_length, double radius,
                       double rounding) {
  const Vec3 d = p - centre;
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double r = std::sqrt(d[u] * d[u] + d[v] * d[v]) - radius + rounding;
  const double l = std::abs(d[axis]) - half_length + rounding;
  const double ro = std::max(r, 0.0), lo = std::max(l, 0.0);
  return std::sqrt(ro * ro + lo * lo) + std::min(std::max(r, l), 0.0) - rounding;
}

/// Union with a fillet of about k.
inline double blend(double a, double b, double k) {
  const double h = std::max(k - std::abs(a - b), 0.0) / k;
  return std::min(a, b) - h * h * k * 0.25;
}

}  // namespace verve::implicit
