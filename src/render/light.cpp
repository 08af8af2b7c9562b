#include "render/light.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/parallel.h"

namespace verve::render {

namespace {

constexpr int key_maps = 12, sky_maps = 20, sky_size = 320;
constexpr double key_spread = 0.055;  // tangent of the angle under which the key light's radius is seen
const Color sky_light{0.35f, 0.38f, 0.42f}, ground_light{0.20f, 0.19f, 0.18f};

}  // namespace

DepthMap::DepthMap(const Soup& soup, const Vec3& toward_light, int size, const Vec3& middle) : size_(size) {
  const Vec3 toward = unit(toward_light);
  const Vec3 axis_x = unit(cross(std::abs(toward.y) < 0.9 ? Vec3{0, 1, 0} : Vec3{0, 0, 1}, toward));
  const Vec3 axis_y = cross(toward, axis_x);
  Box box;
  std::vector<Vec3> p(soup.points.size());
  for (size_t v = 0; v < p.size(); ++v) {
    const Vec3 q = soup.points[v] - middle;
    p[v] = {dot(axis_x, q), dot(axis_y, q), dot(toward, q)};
    box.add(p[v]);
  }
  depth_.assign(size_t(size) * size, -INFINITY);
  if (box.empty()) return;
  const double width = std::max({box.high.x - box.low.x, box.high.y - box.low.y, 1e-9});
  const double scale = (size - 4) / width;
  const Vec3 low{box.low.x - 2 / scale, box.low.y - 2 / scale, box.low.z};
  for (Vec3& q : p) q = {(q.x - low.x) * scale, (q.y - low.y) * scale, q.z - low.z};
  toward_ = narrow(toward), axis_x_ = narrow(axis_x * scale), axis_y_ = narrow(axis_y * scale);
  texel_ = float(1 / scale);
  // looked up between the middles of texels
  origin_ = {float(-low.x * scale - 0.5), float(-low.y * scale - 0.5), float(-low.z)};

  for (size_t k = 0; k < soup.triangles.size(); ++k) {
    const auto& t = soup.triangles[k];
    const Vec3 &a = p[t[0]], &b = p[t[1]], &c = p[t[2]];
    const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    // of a solid the side towards the light is enough
    if (area == 0 || !std::isfinite(area) || (area < 0 && !soup.materials[soup.material[k]].two_sided)) continue;
    const int x0 = std::max(0, int(std::ceil(std::min({a.x, b.x, c.x}) - 0.5)));
    const int x1 = std::min(size - 1, int(std::floor(std::max({a.x, b.x, c.x}) - 0.5)));
    const int y0 = std::max(0, int(std::ceil(std::min({a.y, b.y, c.y}) - 0.5)));
    const int y1 = std::min(size - 1, int(std::floor(std::max({a.y, b.y, c.y}) - 0.5)));
    if (x0 > x1 || y0 > y1) continue;
    // barycentric coordinates of b and c change by the same amounts from texel to texel: each bounds the row on one
    // side
    const double inverse = 1 / area;
    const double bx = (c.y - a.y) * inverse, by = -(c.x - a.x) * inverse;
    const double cx = -(b.y - a.y) * inverse, cy = (b.x - a.x) * inverse;
    const std::array<double, 3> slope{bx, cx, -bx - cx};
    const std::array<double, 3> back{-1 / slope[0], -1 / slope[1], -1 / slope[2]};
    const double dz = (b.z - a.z) * bx + (c.z - a.z) * cx;
    for (int y = y0; y <= y1; ++y) {
      const double px = x0 + 0.5 - a.x, py = y + 0.5 - a.y;
      const double wb = px * bx + py * by, wc = px * cx + py * cy;
      const std::array<double, 3> start{wb, wc, 1 - wb - wc};
      double from = 0, to = x1 - x0;
      for (int k = 0; k < 3; ++k) {
        if (slope[k] > 0)
          from = std::max(from, start[k] * back[k]);
        else if (slope[k] < 0)
          to = std::min(to, start[k] * back[k]);
        else if (start[k] < 0)
          to = -1;
      }
      if (from > to) continue;
      const int first = int(std::ceil(from)), count = int(to) - first;
      float* row = depth_.data() + size_t(y) * size + x0 + first;
      const float z = float(a.z + wb * (b.z - a.z) + wc * (c.z - a.z) + dz * first), step = float(dz);
      for (int i = 0; i <= count; ++i) row[i] = std::max(row[i], z + step * float(i));
    }
  }
}

Lights::Lights(const View& view, const Soup& soup, const Box& bounds, int key_size)
    : shadows_(view.shadows && !soup.triangles.empty()), floor_(view.floor), floor_height_(view.floor_height) {
  Vec3 back = view.camera.eye - view.camera.target;
  back.y = 0;
  back = unit(back, {0, 0, 1});
  const Vec3 up{0, 1, 0}, right = cross(up, back);
  const Vec3 key = unit(right * -0.62 + up * 1.15 + back * 0.42);
  toward_key = narrow(key);
  toward_fill = narrow(unit(right * 0.85 + up * 0.35 + back * 0.5));
  size_ = bounds.empty() ? 1 : norm(bounds.high - bounds.low);

  for (int k = 0; k < sky_maps; ++k) {
    // evenly over the upper half of the sphere, in the golden angle
    const double y = (k + 0.5) / sky_maps, r = std::sqrt(1 - y * y), angle = 2.399963229728653 * k;
    sky_direction_.push_back({float(r * std::cos(angle)), float(y), float(r * std::sin(angle))});
  }
  if (!shadows_) return;
  middle_ = (bounds.low + bounds.high) * 0.5;
  key_.resize(key_maps), sky_.resize(sky_maps), blur_places_.resize(key_maps);
  const Vec3 x = unit(cross(up, key)), y = cross(key, x);
  blur_ = float(0.004 * size_);
  parallel_tasks(key_maps + sky_maps, [&](int task) {
    if (task >= key_maps) {
      sky_[task - key_maps] = DepthMap(soup, wide(sky_direction_[task - key_maps]), sky_size, middle_);
      return;
    }
    const double r = key_spread * std::sqrt((task + 0.5) / key_maps), angle = 2.399963229728653 * task;
    key_[task] = DepthMap(soup, key + x * (r * std::cos(angle)) + y * (r * std::sin(angle)), key_size, middle_);
    constexpr std::array<std::array<double, 2>, 4> corners{
        {{0.92, 0.38}, {-0.92, -0.38}, {-0.38, 0.92}, {0.38, -0.92}}};
    for (int i = 0; i < 4; ++i)
      blur_places_[task][i] = key_[task].direction(narrow((x * corners[i][0] + y * corners[i][1]) * blur_));
  });

  // the floor, as far as it is dimmed
  const Vec3 center = (bounds.low + bounds.high) * 0.5;
  const double half = 0.5 * std::max(bounds.high.x - bounds.low.x, bounds.high.z - bounds.low.z) +
                      0.75 * (bounds.high.y - bounds.low.y) + 0.05 * size_;
  floor_corner_ = {center.x - half, floor_height_, center.z - half};
  floor_scale_ = floor_cells / (2 * half);
  floor_sky_.resize((floor_cells + 1) * (floor_cells + 1));
  if (!floor_) return;
  parallel_for(floor_cells + 1, 4, [&](int begin, int end, int) {
    for (int j = begin; j < end; ++j)
      for (int i = 0; i <= floor_cells; ++i) {
        const Vec3 p = floor_corner_ + Vec3{i / floor_scale_, 0, j / floor_scale_};
        float sum = 0, all = 0;
        for (int k = 0; k < sky_maps; ++k) {
          const float cosine = sky_direction_[k].y;
          DepthMap::Place at = sky_[k].place(narrow(p - middle_));
          at.depth += 1.5f * sky_[k].texel();
          sum += cosine * sky_[k].arrives(at), all += cosine;
        }
        // nothing at the border: it goes on without an edge
        const double rim = std::min({i, j, floor_cells - i, floor_cells - j}) / (0.15 * floor_cells);
        const float fade = float(std::min(1.0, rim));
        floor_sky_[j * (floor_cells + 1) + i] = 1 - (1 - sum / all) * fade;
      }
  });
  // the outlines of single directions run into each other
  constexpr int n = floor_cells + 1;
  std::vector<float> row(n);
  for (int round = 0; round < 3; ++round)
    for (const int axis : {0, 1})
      for (int j = 0; j < n; ++j) {
        const auto at = [&](int i) -> float& { return floor_sky_[axis == 0 ? j * n + i : i * n + j]; };
        for (int i = 0; i < n; ++i) row[i] = at(i);
        for (int i = 0; i < n; ++i)
          at(i) = 0.25f * row[std::max(0, i - 1)] + 0.5f * row[i] + 0.25f * row[std::min(n - 1, i + 1)];
      }
}

float Lights::key(const Vec3& p, const Vec3f& normal) const {
  if (!shadows_) return 1;
  // moved off the surface by about a texel, and more where the light grazes it
  const float cosine = std::max(0.f, dot(normal, toward_key));
  const float sine = std::sqrt(std::max(0.f, 1 - cosine * cosine)), texel = key_[0].texel();
  const Vec3f q = narrow(p - middle_) + normal * (texel * (0.9f + 1.2f * sine) + blur_ * sine);
  // each direction stands for a part of the light's disc: looked up in four places, so that no edge is seen twice
  const auto look = [&](int k, const DepthMap::Place& at, int i) {
    const DepthMap::Place& d = blur_places_[k][i];
    return key_[k].arrives({at.x + d.x, at.y + d.y, at.depth + d.depth + 0.6f * texel});
  };
  // the middle of the light and its rim first: where they agree that all or nothing arrives, so does what is between
  constexpr std::array<int, key_maps> order{0, 3, 8, 9, 10, 11, 1, 2, 4, 5, 6, 7};
  constexpr int ahead = 6;
  std::array<DepthMap::Place, ahead> places;
  float sum = 0;
  for (int k = 0; k < ahead; ++k) {
    places[k] = key_[order[k]].place(q);
    sum += look(order[k], places[k], k & 1 ? 0 : 2) + look(order[k], places[k], k & 1 ? 1 : 3);
  }
  if (sum == 0 || sum == 2 * ahead) return sum / (2 * ahead);
  for (int k = 0; k < ahead; ++k)
    sum += look(order[k], places[k], k & 1 ? 2 : 0) + look(order[k], places[k], k & 1 ? 3 : 1);
  for (int k = ahead; k < key_maps; ++k) {
    const DepthMap::Place at = key_[order[k]].place(q);
    for (int i = 0; i < 4; ++i) sum += look(order[k], at, i);
  }
  return sum * (0.25f / key_maps);
}

Color Lights::ambient(const Vec3& p, const Vec3f& normal) const {
  float sum = 0, all = 0;
  for (int k = 0; k < sky_maps; ++k) {
    const float cosine = dot(normal, sky_direction_[k]);
    if (cosine <= 0) continue;
    all += cosine;
    if (!shadows_) {
      sum += cosine;
      continue;
    }
    const float texel = sky_[k].texel();
    DepthMap::Place at = sky_[k].place(narrow(p - middle_) + normal * (1.6f * texel));
    at.depth += 0.8f * texel;
    sum += cosine * sky_[k].arrives(at);
  }
  const float open = all > 0 ? sum / all : 1;
  const float up = 0.5f * (1 + normal.y);
  // the ground lies in the shadow of what is close above it
  float ground = 1 - up;
  if (floor_ && shadows_) {
    const float height = float((p.y - floor_height_) / (0.12 * size_));
    ground *= 0.35f + 0.65f * std::clamp(height, 0.f, 1.f);
  }
  return sky_light * (up * open) + ground_light * (ground * (0.4f + 0.6f * open));
}

float Lights::floor_sky(const Vec3& p) const {
  if (!shadows_) return 1;
  const double x = (p.x - floor_corner_.x) * floor_scale_, z = (p.z - floor_corner_.z) * floor_scale_;
  if (!(x >= 0 && z >= 0 && x < floor_cells && z < floor_cells)) return 1;
  const int i = int(x), j = int(z);
  const float u = float(x - i), v = float(z - j);
  const float* s = floor_sky_.data() + j * (floor_cells + 1) + i;
  return (s[0] * (1 - u) + s[1] * u) * (1 - v) + (s[floor_cells + 1] * (1 - u) + s[floor_cells + 2] * u) * v;
}

}  // namespace verve::render
