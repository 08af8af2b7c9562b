#include "contact/shape_formula.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/text.h"

namespace verve {

namespace {

constexpr int around = 48;  // corners of what is drawn round
constexpr int rim_corners = 32;

}  // namespace

double checked_size(double size, const char* shape, const char* name) {
  if (!(size > 0) || !std::isfinite(size))
    throw std::invalid_argument(std::string(shape) + ": " + name + ": found " + format_number(size) +
                                ", expected a length > 0 [m]");
  return size;
}

ShapeTriangles lathe(const std::vector<std::array<double, 2>>& profile) {
  ShapeTriangles out;
  const int rows = int(profile.size());
  for (const auto& [r, y] : profile)
    for (int k = 0; k < around; ++k) {
      const double angle = 2 * std::numbers::pi * k / around;
      out.points.push_back({r * std::cos(angle), y, -r * std::sin(angle)});
    }
  for (int j = 0; j + 1 < rows; ++j)
    for (int k = 0; k < around; ++k) {
      const int a = j * around + k, b = j * around + (k + 1) % around;
      if (profile[j][0] > 0) out.triangles.push_back({a, b, b + around});
      if (profile[j + 1][0] > 0) out.triangles.push_back({a, b + around, a + around});
    }
  return out;
}

ShapeTriangles tessellate_capsule(double radius, double length) {
  std::vector<std::array<double, 2>> profile;
  for (int k = 0; k <= 24; ++k) {
    const double angle = std::numbers::pi * (k / 24.0 - 0.5), side = k <= 12 ? -0.5 : 0.5;
    if (k == 12 && length > 0) profile.push_back({radius, -0.5 * length});
    // the poles exactly on the axis
    profile.push_back({k % 24 == 0 ? 0 : radius * std::cos(angle), radius * std::sin(angle) + side * length});
    if (k == 12 && length > 0) profile.back()[1] = 0.5 * length;
  }
  return lathe(profile);
}

void add_rim(double radius, double height, const std::array<double, 2>& side, double end, ShapeFeatures& out) {
  const Vec3 up{0, end, 0};
  const int first = int(out.points.size());
  for (int i = 0; i < rim_corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / rim_corners, next = angle + std::numbers::pi / rim_corners;
    const Vec3 out_here{std::cos(angle), 0, std::sin(angle)}, out_edge{std::cos(next), 0, std::sin(next)};
    out.points.push_back(out_here * radius + Vec3{0, height, 0});
    out.outward.push_back(out_here * side[0] + Vec3{0, side[1], 0} + up);
    out.edges.push_back({first + i, first + (i + 1) % rim_corners});
    out.sides.push_back({out_edge * side[0] + Vec3{0, side[1], 0}, up});
  }
}

}  // namespace verve
