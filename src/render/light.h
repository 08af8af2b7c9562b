// Light that comes from many directions, each with a map of what it meets first: sixteen over the disc of the key light
// for soft shadows, more over the sky for the dimness in corners and under bodies.
#pragma once

#include <vector>

#include "geometry/box.h"
#include "render/soup.h"

namespace verve::render {

/// Depths along one direction over a square grid around what casts shadows.
class DepthMap {
 public:
  DepthMap() = default;
  DepthMap(const Soup& soup, const Vec3& toward_light, int size);
  /// Share of the light that arrives at p, between the four texels around it; 1 outside of the map.
  float arrives(const Vec3& p, double bias) const {
    const double x = dot(axis_x_, p) - origin_x_, y = dot(axis_y_, p) - origin_y_;
    const float depth = float(dot(toward_, p) - origin_z_ + bias);
    return compare(float(x * scale_) - 0.5f, float(y * scale_) - 0.5f, depth);
  }
  double texel() const { return 1 / scale_; }  ///< [m]
  const Vec3& toward_light() const { return toward_; }

 private:
  float compare(float x, float y, float depth) const {
    if (!(x >= 0 && y >= 0 && x < float(size_ - 1) && y < float(size_ - 1))) return 1;
    const int i = int(x), j = int(y);
    const float u = x - float(i), v = y - float(j);
    const float* d = depth_.data() + size_t(j) * size_ + i;
    const float low = (depth >= d[0] ? 1 - u : 0) + (depth >= d[1] ? u : 0);
    const float high = (depth >= d[size_] ? 1 - u : 0) + (depth >= d[size_ + 1] ? u : 0);
    return low * (1 - v) + high * v;
  }

  Vec3 toward_{0, 1, 0}, axis_x_{1, 0, 0}, axis_y_{0, 0, 1};
  double origin_x_ = 0, origin_y_ = 0, origin_z_ = 0, scale_ = 1;
  int size_ = 0;
  std::vector<float> depth_;  // along toward_light: the nearest to the light
};

class Lights {
 public:
  /// Made for one view: the key light stands to the left behind the camera. `key_size`: texels across its maps.
  Lights(const View& view, const Soup& soup, const Box& bounds, int key_size);

  /// Share of the key light that arrives at a point with this normal (of the side that the light meets).
  float key(const Vec3& p, const Vec3f& normal) const;
  /// What comes from sky and ground.
  Color ambient(const Vec3& p, const Vec3f& normal) const;
  /// Share of the sky that a point of the floor sees, by the cosine; between samples made beforehand.
  float floor_sky(const Vec3& p) const;

  Vec3f toward_key{}, toward_fill{};

 private:
  bool shadows_, floor_;
  double floor_height_, size_, blur_ = 0;
  Vec3 blur_x_{}, blur_y_{};
  std::vector<DepthMap> key_, sky_;
  std::vector<Vec3f> sky_direction_;
  static constexpr int floor_cells = 96;
  Vec3 floor_corner_{};
  double floor_scale_ = 1;
  std::vector<float> floor_sky_;  // (floor_cells + 1)^2
};

}  // namespace verve::render
