// Triangles into pixels, by a depth buffer: so that the example needs nothing but a window, and runs where there is no
// graphics card.
#pragma once

#include <verve/vec.h>

#include <array>
#include <cstdint>
#include <vector>

/// Looks at a point from a distance, turned about it.
struct Camera {
  double turn = 0.5, rise = 0.42, distance = 5;
  verve::Vec3 target{0, 0.45, 0};

  verve::Vec3 eye() const;
  /// Right, up and back of what is seen.
  std::array<verve::Vec3, 3> axes() const;
  /// The way from the eye through a pixel.
  verve::Vec3 ray(double x, double y, int width, int height) const;
};

class Canvas {
 public:
  Canvas(int width, int height) : width_(width), height_(height), color_(size_t(width) * size_t(height)) {}
  void clear();
  /// Three numbers per vertex.
  void draw(const Camera& camera, const std::vector<float>& points, const std::vector<float>& normals,
            const std::vector<std::array<int, 3>>& triangles, const std::array<float, 3>& color);
  int width() const { return width_; }
  int height() const { return height_; }
  const std::vector<std::uint32_t>& pixels() const { return color_; }  // 0xAARRGGBB

 private:
  struct Corner {
    double x, y, depth;  // pixels; 1 / distance along the view
    double light;
  };
  void fill(const Corner& a, const Corner& b, const Corner& c, const std::array<float, 3>& color);

  int width_, height_;
  std::vector<std::uint32_t> color_;
  std::vector<float> depth_;
  std::vector<Corner> corners_;
};
