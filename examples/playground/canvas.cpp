#include "canvas.h"

#include <algorithm>
#include <cmath>

using verve::Vec3;

namespace {

constexpr double field_of_view = 0.4;  // tangent of half of it, over half of the height
constexpr double nearest = 0.05;        // [m]

}  // namespace

std::array<Vec3, 3> Camera::axes() const {
  const Vec3 back{std::sin(turn) * std::cos(rise), std::sin(rise), std::cos(turn) * std::cos(rise)};
  const Vec3 right{std::cos(turn), 0, -std::sin(turn)};
  return {right, cross(back, right), back};
}

Vec3 Camera::eye() const { return target + axes()[2] * distance; }

Vec3 Camera::ray(double x, double y, int width, int height) const {
  const auto [right, up, back] = axes();
  const double scale = 2 * field_of_view / height;
  return right * ((x - 0.5 * width) * scale) - up * ((y - 0.5 * height) * scale) - back;
}

void Canvas::clear() {
  for (int y = 0; y < height_; ++y) {
    const double f = double(y) / height_;
    const auto channel = [&](double top, double bottom) { return std::uint32_t(255 * (top + (bottom - top) * f)); };
    const std::uint32_t sky = 0xff000000u | channel(0.55, 0.93) << 16 | channel(0.68, 0.94) << 8 | channel(0.82, 0.96);
    std::fill_n(color_.begin() + std::ptrdiff_t(y) * width_, width_, sky);
  }
  depth_.assign(color_.size(), 0);
}

void Canvas::draw(const Camera& camera, const std::vector<float>& points, const std::vector<float>& normals,
                  const std::vector<std::array<int, 3>>& triangles, const std::array<float, 3>& color) {
  const auto [right, up, back] = camera.axes();
  const Vec3 eye = camera.eye(), towards_light = Vec3{0.4, 0.85, 0.35};
  const double scale = 0.5 * height_ / field_of_view;
  corners_.resize(points.size() / 3);
  for (size_t i = 0; i < corners_.size(); ++i) {
    const Vec3 p = Vec3{points[3 * i], points[3 * i + 1], points[3 * i + 2]} - eye;
    const Vec3 n{normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]};
    const double away = -dot(p, back), depth = away > nearest ? 1 / away : 0;
    corners_[i] = {0.5 * width_ + dot(p, right) * scale * depth, 0.5 * height_ - dot(p, up) * scale * depth, depth,
                   0.45 + 0.55 * std::max(0.0, dot(n, towards_light))};
  }
  for (const auto& [a, b, c] : triangles) fill(corners_[size_t(a)], corners_[size_t(b)], corners_[size_t(c)], color);
}

void Canvas::fill(const Corner& a, const Corner& b, const Corner& c, const std::array<float, 3>& color) {
  const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (!(a.depth > 0 && b.depth > 0 && c.depth > 0) || !(std::abs(area) > 1e-9)) return;
  const int left = std::max(0, int(std::min({a.x, b.x, c.x}))), right = std::min(width_ - 1, int(std::max({a.x, b.x, c.x})));
  const int top = std::max(0, int(std::min({a.y, b.y, c.y}))), bottom = std::min(height_ - 1, int(std::max({a.y, b.y, c.y})));
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x) {
      const double px = x + 0.5, py = y + 0.5;
      const double wb = ((px - a.x) * (c.y - a.y) - (c.x - a.x) * (py - a.y)) / area;
      const double wc = ((b.x - a.x) * (py - a.y) - (px - a.x) * (b.y - a.y)) / area, wa = 1 - wb - wc;
      if (wa < 0 || wb < 0 || wc < 0) continue;
      const size_t pixel = size_t(y) * size_t(width_) + size_t(x);
      const float depth = float(wa * a.depth + wb * b.depth + wc * c.depth);
      if (depth <= depth_[pixel]) continue;
      depth_[pixel] = depth;
      const double light = std::min(1.0, wa * a.light + wb * b.light + wc * c.light);
      const auto channel = [&](int k) { return std::uint32_t(255 * light * color[size_t(k)]); };
      color_[pixel] = 0xff000000u | channel(0) << 16 | channel(1) << 8 | channel(2);
    }
}
