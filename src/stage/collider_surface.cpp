#include "stage/collider_surface.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/model.h"

namespace verve::render {

namespace {

const Color stone = color_from_hex("#a9adb3");
constexpr int around = 48;

/// Turned about y: a profile of (radius, height) from below to above.
Surface lathe(const std::vector<std::array<double, 2>>& profile) {
  Surface out;
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

Surface capsule(double radius, double length) {
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

Surface box(const Vec3& size) {
  Surface out;
  for (int v = 0; v < 8; ++v)
    out.points.push_back({size.x * (v & 1 ? 0.5 : -0.5), size.y * (v & 2 ? 0.5 : -0.5), size.z * (v & 4 ? 0.5 : -0.5)});
  for (const auto& [a, b, c, d] : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4},
                                   std::array{2, 6, 7, 3}, std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}}) {
    out.triangles.push_back({a, b, c});
    out.triangles.push_back({a, c, d});
  }
  return out;
}

}  // namespace

std::optional<Surface> collider_surface(const ColliderSpec& spec) {
  Surface out;
  if (spec.shape == "sphere") {
    out = capsule(spec.radius, 0);
  } else if (spec.shape == "capsule") {
    out = capsule(spec.radius, spec.length);
  } else if (spec.shape == "cylinder") {
    const double h = 0.5 * spec.length;
    out = lathe({{0, -h}, {spec.radius, -h}, {spec.radius, h}, {0, h}});
  } else if (spec.shape == "box") {
    out = box(spec.size);
  } else if (spec.shape == "mesh" && spec.mesh) {
    const Expected<Mesh> mesh = load_surface(*spec.mesh, "collider");
    if (!mesh) return std::nullopt;
    out.points = mesh->vertices, out.triangles = mesh->triangles;
  } else {
    return std::nullopt;
  }
  out.color = stone;
  return out;
}

Surface plane_patch(const Vec3& normal, double half_width) {
  const double length = norm(normal);
  const Vec3 n = normal / length, x0 = cross(n, std::abs(n.z) < 0.9 ? Vec3{0, 0, 1} : Vec3{1, 0, 0});
  const Vec3 x = x0 / norm(x0) * half_width, y = cross(n, x);
  Surface out;
  out.points = {-x - y, x - y, x + y, y - x};
  out.triangles = {{0, 1, 2}, {0, 2, 3}};
  out.color = stone, out.two_sided = true;
  return out;
}

}  // namespace verve::render
