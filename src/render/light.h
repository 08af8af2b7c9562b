// Light that comes from many directions, each with a map of what it meets first: twelve over the disc of the key light
// for soft shadows, more over the sky for the dimness in corners and under bodies.
#pragma once

#include <array>
#include <vector>

#include "geometry/box.h"
#include "render/soup.h"

namespace verve::render {

/// Depths along one direction over a square grid around what casts shadows.
class DepthMap {
 public:
  DepthMap() = default;
  /// `middle` is where coordinates are counted from: a point near everything, so that floats are enough.
  DepthMap(const Soup& soup, const Vec3& toward_light, int size, const Vec3& middle);

  /// A place in the map, in texels, and along the way to the light [m].
  struct Place {
    float x, y, depth;
  };
  Place direction(const Vec3f& d) const { return {dot(axis_x_, d), dot(axis_y_, d), dot(toward_, d)}; }
  Place place(const Vec3f& p) const {
    return {dot(axis_x_, p) + origin_.x, dot(axis_y_, p) + origin_.y, dot(toward_, p) + origin_.depth};
  }
  /// Share of the light that arrives there, between the four texels around it; 1 outside of the map.
  float arrives(const Place& p) const {
    if (!(p.x >= 0 && p.y >= 0 && p.x < float(size_ - 1) && p.y < float(size_ - 1))) return 1;
    const int i = int(p.x), j = int(p.y);
    const float u = p.x - float(i), v = p.y - float(j);
    const float* d = depth_.data() + size_t(j) * size_ + i;
    const float low = (p.depth >= d[0] ? 1 - u : 0) + (p.depth >= d[1] ? u : 0);
    const float high = (p.depth >= d[size_] ? 1 - u : 0) + (p.depth >= d[size_ + 1] ? u : 0);
    return low * (1 - v) + high * v;
  }
  float texel() const { return texel_; }  ///< [m]

 private:
  Vec3f toward_{0, 1, 0}, axis_x_{1, 0, 0}, axis_y_{0, 0, 1};  // the axes in texels per metre
  Place origin_{};
  float texel_ = 1;
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
  double floor_height_, size_;
  Vec3 middle_{};
  float blur_ = 0;
  std::vector<std::array<DepthMap::Place, 4>> blur_places_;  // of each map of the key light
  std::vector<DepthMap> key_, sky_;
  std::vector<Vec3f> sky_direction_;
  static constexpr int floor_cells = 72;
  Vec3 floor_corner_{};
  double floor_scale_ = 1;
  std::vector<float> floor_sky_;  // (floor_cells + 1)^2
};

}  // namespace verve::render
