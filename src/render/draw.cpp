// Triangles to pixels: eight depths and triangles per pixel, each triangle shaded once per pixel that it covers a part
// of.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/parallel.h"
#include "render/light.h"
#include "render/picture.h"
#include "render/soup.h"
#include "render/srgb.h"

namespace verve::render {

namespace {

constexpr int samples = 8, tile = 32;
// Places of corners and samples are whole numbers of 1/256 pixel: edge functions are then exact in double, and of two
// triangles that share an edge exactly one has each sample on it.
constexpr double grid = 256;
// the usual eight, one in each row and column of eighths
constexpr std::array<double, samples> sample_x{16, -16, 80, -48, -80, -112, 48, 112};
constexpr std::array<double, samples> sample_y{-48, 48, 16, -80, 80, -16, 112, -112};
constexpr int nothing = -1, the_floor = -2;

struct Lens {
  Vec3 eye, right, up, forward;
  double focal, half_width, half_height;  // [pixels]

  Lens(const Camera& camera, int width, int height) : eye(camera.eye) {
    forward = unit(camera.target - camera.eye, {0, 0, -1});
    right = unit(cross(forward, std::abs(forward.y) < 0.9999 ? Vec3{0, 1, 0} : Vec3{0, 0, -1}));
    up = cross(right, forward);
    half_width = 0.5 * width, half_height = 0.5 * height;
    focal = half_height / std::tan(0.5 * camera.fov_degrees * std::numbers::pi / 180);
  }
  /// x, y in pixels times depth, and depth
  Vec3 seen(const Vec3& p) const {
    const Vec3 d = p - eye;
    return {focal * dot(right, d), -focal * dot(up, d), dot(forward, d)};
  }
  /// Of a pixel, with length 1 along the line of sight.
  Vec3 ray(double x, double y) const {
    return forward + right * ((x - half_width) / focal) - up * ((y - half_height) / focal);
  }
};

/// A triangle on the screen, turned so that its area is positive.
struct Flat {
  std::array<double, 3> x, y, w;  // [1/256 pixel], 1 / depth
  int triangle;                   // of the soup
  int clipped = -1;               // place among the corners of clipped ones
  bool turned;                    // second and third corner are exchanged
};

struct Screen {
  std::vector<Flat> flats;
  std::vector<std::array<Vec3, 3>> corners;  // barycentric, of clipped triangles
};

class Painter {
 public:
  Painter(const View& view, int width, int height)
      : view_(view),
        width_(width),
        height_(height),
        lens_(view.camera, width, height),
        bounds_(bounds_of(view)),
        size_(bounds_.empty() ? 1 : std::max(norm(bounds_.high - bounds_.low), 1e-9)),
        soup_(make_soup(view, view.shadows && !view.wireframe ? size_ / 24 : 0)),
        lights_(view, soup_, bounds_, std::clamp(std::max(width, height), 512, 2048)) {
    const int points = int(soup_.points.size());
    soup_.ambient.resize(points);
    std::vector<char> two_sided(points, 0);
    for (size_t t = 0; t < soup_.triangles.size(); ++t)
      for (const int v : soup_.triangles[t]) two_sided[v] = soup_.materials[soup_.material[t]].two_sided;
    soup_.ambient_behind.resize(points);
    parallel_for(points, 128, [&](int begin, int end, int) {
      for (int v = begin; v < end; ++v) {
        soup_.ambient[v] = lights_.ambient(soup_.points[v], soup_.normals[v]);
        soup_.ambient_behind[v] = two_sided[v] ? lights_.ambient(soup_.points[v], -soup_.normals[v]) : soup_.ambient[v];
      }
    });
    project();
    const double reach = std::max(size_, 1e-9);
    const double exponent = std::floor(std::log10(reach / 4));
    const double mantissa = reach / 4 / std::pow(10, exponent);
    spacing_ = std::pow(10, exponent) * (mantissa >= 5 ? 5 : mantissa >= 2 ? 2 : 1);
    center_ = bounds_.empty() ? view.camera.target : (bounds_.low + bounds_.high) * 0.5;
  }

  Image paint() {
    Image out{width_, height_, std::vector<std::uint8_t>(size_t(width_) * height_ * 3)};
    const int across = (width_ + tile - 1) / tile, down = (height_ + tile - 1) / tile;
    std::vector<int> first(size_t(across) * down + 1, 0), lists;
    const auto each_tile = [&](const Flat& f, auto&& visit) {
      const auto [x0, x1] = std::minmax({f.x[0], f.x[1], f.x[2]});
      const auto [y0, y1] = std::minmax({f.y[0], f.y[1], f.y[2]});
      const int i0 = std::max(0, int(std::floor(x0 / (tile * grid)))),
                j0 = std::max(0, int(std::floor(y0 / (tile * grid))));
      const int i1 = std::min(across - 1, int(std::floor(x1 / (tile * grid))));
      const int j1 = std::min(down - 1, int(std::floor(y1 / (tile * grid))));
      for (int j = j0; j <= j1; ++j)
        for (int i = i0; i <= i1; ++i) visit(j * across + i);
    };
    for (const Flat& f : flats()) each_tile(f, [&](int t) { ++first[t + 1]; });
    for (size_t t = 0; t + 1 < first.size(); ++t) first[t + 1] += first[t];
    lists.resize(first.back());
    std::vector<int> next(first.begin(), first.end() - 1);
    for (int f = 0; f < int(flats().size()); ++f) each_tile(flats()[f], [&](int t) { lists[next[t]++] = f; });
    parallel_tasks(across * down, [&](int t) {
      paint_tile(t % across * tile, t / across * tile, lists.data() + first[t], lists.data() + first[t + 1], out);
    });
    return out;
  }

 private:
  const std::vector<Flat>& flats() const { return screen_.flats; }

  static Box bounds_of(const View& view) {
    Box box;
    const auto add = [&](const Vec3& p) {
      if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) box.add(p);
    };
    for (const Surface& s : view.surfaces)
      for (const auto& t : s.triangles)
        for (const int v : t)
          if (v >= 0 && size_t(v) < s.points.size()) add(s.points[v]);
    for (const Curve& c : view.curves)
      for (const Vec3& p : c.points) add(p);
    return box;
  }

  void project() {
    const double near = 1e-3 * std::max(norm(view_.camera.target - view_.camera.eye), 1e-9);
    // how far beyond the picture corners may lie: whole numbers stay exact
    const double guard = 4 * std::max(lens_.half_width, lens_.half_height) + 2048;
    const auto inside = [&](const Vec3& q) {
      return q.z >= near && std::abs(q.x) <= guard * q.z && std::abs(q.y) <= guard * q.z;
    };
    std::vector<Vec3> seen(soup_.points.size());
    for (size_t v = 0; v < seen.size(); ++v) seen[v] = lens_.seen(soup_.points[v]);
    screen_.flats.reserve(soup_.triangles.size());
    for (size_t t = 0; t < soup_.triangles.size(); ++t) {
      const auto& [a, b, c] = soup_.triangles[t];
      if (inside(seen[a]) && inside(seen[b]) && inside(seen[c])) {
        add({seen[a], seen[b], seen[c]}, int(t), nullptr);
      } else {
        clip({seen[a], seen[b], seen[c]}, int(t), near, guard);
      }
    }
  }

  void clip(const std::array<Vec3, 3>& seen, int triangle, double near, double guard) {
    struct Point {
      Vec3 q, b;
    };
    std::vector<Point> polygon{{seen[0], {1, 0, 0}}, {seen[1], {0, 1, 0}}, {seen[2], {0, 0, 1}}}, next;
    for (int plane = 0; plane < 5; ++plane) {
      const auto distance = [&](const Vec3& q) {
        switch (plane) {
          case 0:
            return q.z - near;
          case 1:
            return guard * q.z - q.x;
          case 2:
            return guard * q.z + q.x;
          case 3:
            return guard * q.z - q.y;
          default:
            return guard * q.z + q.y;
        }
      };
      next.clear();
      for (size_t k = 0; k < polygon.size(); ++k) {
        const Point &a = polygon[k], &b = polygon[(k + 1) % polygon.size()];
        const double da = distance(a.q), db = distance(b.q);
        if (da >= 0) next.push_back(a);
        if ((da < 0) != (db < 0)) {
          const double s = da / (da - db);
          next.push_back({a.q + (b.q - a.q) * s, a.b + (b.b - a.b) * s});
        }
      }
      std::swap(polygon, next);
    }
    for (size_t k = 2; k < polygon.size(); ++k) {
      const std::array<Vec3, 3> corners{polygon[0].b, polygon[k - 1].b, polygon[k].b};
      add({polygon[0].q, polygon[k - 1].q, polygon[k].q}, triangle, &corners);
    }
  }

  void add(const std::array<Vec3, 3>& q, int triangle, const std::array<Vec3, 3>* corners) {
    Flat f;
    f.triangle = triangle, f.turned = false;
    for (int k = 0; k < 3; ++k) {
      if (!(q[k].z > 0)) return;
      f.w[k] = 1 / q[k].z;
      f.x[k] = std::round((q[k].x * f.w[k] + lens_.half_width) * grid);
      f.y[k] = std::round((q[k].y * f.w[k] + lens_.half_height) * grid);
    }
    const double area = (f.x[1] - f.x[0]) * (f.y[2] - f.y[0]) - (f.y[1] - f.y[0]) * (f.x[2] - f.x[0]);
    if (area == 0) return;
    if (area < 0) {
      f.turned = true;
      std::swap(f.x[1], f.x[2]), std::swap(f.y[1], f.y[2]), std::swap(f.w[1], f.w[2]);
    }
    if (corners) {
      f.clipped = int(screen_.corners.size());
      screen_.corners.push_back(*corners);
      if (f.turned) std::swap(screen_.corners.back()[1], screen_.corners.back()[2]);
    }
    screen_.flats.push_back(f);
  }

  void paint_tile(int x0, int y0, const int* begin, const int* end, Image& out) const {
    alignas(64) std::array<float, tile * tile * samples> depth;  // 1 / distance: more is nearer
    std::array<int, tile * tile * samples> owner;
    const int x1 = std::min(width_, x0 + tile), y1 = std::min(height_, y0 + tile);
    start(x0, y0, x1, y1, depth.data(), owner.data());
    for (const int* f = begin; f != end; ++f) fill(flats()[*f], *f, x0, y0, x1, y1, depth.data(), owner.data());
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        const int* own = owner.data() + ((y - y0) * tile + (x - x0)) * samples;
        Color sum{};
        unsigned done = 0;
        for (int s = 0; s < samples; ++s) {
          if (done >> s & 1) continue;
          double px = 0, py = 0;
          int count = 0;
          for (int r = s; r < samples; ++r)
            if (own[r] == own[s]) done |= 1u << r, px += sample_x[r], py += sample_y[r], ++count;
          // where a triangle covers a part of the pixel only, the middle of what it covers
          px = x + 0.5 + px / (count * grid), py = y + 0.5 + py / (count * grid);
          sum = sum + shade(own[s], px, py) * (float(count) / samples);
        }
        std::uint8_t* pixel = out.rgb.data() + (size_t(y) * width_ + x) * 3;
        pixel[0] = to_srgb(sum.r), pixel[1] = to_srgb(sum.g), pixel[2] = to_srgb(sum.b);
      }
  }

  /// An empty picture, or the floor: 1 / distance is linear over the screen for any plane.
  void start(int x0, int y0, int x1, int y1, float* depth, int* owner) const {
    const double above = lens_.eye.y - view_.floor_height;
    const bool floor = view_.floor && above > 0;
    const double base = floor ? -lens_.ray(0, 0).y / above : 0;
    const double wx = floor ? lens_.right.y / (-above * lens_.focal) : 0,
                 wy = floor ? lens_.up.y / (above * lens_.focal) : 0;
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        const int at = ((y - y0) * tile + (x - x0)) * samples;
        const double w = base + wx * (x + 0.5) + wy * (y + 0.5);
        for (int s = 0; s < samples; ++s) {
          const float here = float(w + (wx * sample_x[s] + wy * sample_y[s]) / grid);
          depth[at + s] = here > 0 ? here : 0, owner[at + s] = here > 0 ? the_floor : nothing;
        }
      }
  }

  static void fill(const Flat& f, int number, int x0, int y0, int x1, int y1, float* depth, int* owner) {
    const auto [lx, hx] = std::minmax({f.x[0], f.x[1], f.x[2]});
    const auto [ly, hy] = std::minmax({f.y[0], f.y[1], f.y[2]});
    x0 = std::max(x0, int(std::floor(lx / grid))), x1 = std::min(x1, int(std::floor(hx / grid)) + 1);
    const int top = y0, left = x0 / tile * tile;
    y0 = std::max(y0, int(std::floor(ly / grid))), y1 = std::min(y1, int(std::floor(hy / grid)) + 1);
    if (x0 >= x1 || y0 >= y1) return;

    std::array<double, 3> a, b, c, limit, most;
    std::array<std::array<double, samples>, 3> offset;
    for (int k = 0; k < 3; ++k) {
      const int j = (k + 1) % 3;
      const double dx = f.x[j] - f.x[k], dy = f.y[j] - f.y[k];
      a[k] = -dy, b[k] = dx, c[k] = dy * f.x[k] - dx * f.y[k];
      limit[k] = dy < 0 || (dy == 0 && dx > 0) ? 0 : 1;  // on the edge: one of the two that share it
      most[k] = -1e300;
      for (int s = 0; s < samples; ++s) {
        offset[k][s] = a[k] * sample_x[s] + b[k] * sample_y[s];
        most[k] = std::max(most[k], offset[k][s]);
      }
    }
    const double area = (f.x[1] - f.x[0]) * (f.y[2] - f.y[0]) - (f.y[1] - f.y[0]) * (f.x[2] - f.x[0]);
    const double u = f.w[1] - f.w[0], v = f.w[2] - f.w[0];
    const double wx = (u * (f.y[2] - f.y[0]) - v * (f.y[1] - f.y[0])) / area;
    const double wy = (v * (f.x[1] - f.x[0]) - u * (f.x[2] - f.x[0])) / area;
    std::array<float, samples> dw;
    for (int s = 0; s < samples; ++s) dw[s] = float(wx * sample_x[s] + wy * sample_y[s]);

    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        const double px = (x + 0.5) * grid, py = (y + 0.5) * grid;
        const double e0 = a[0] * px + b[0] * py + c[0] - limit[0];
        const double e1 = a[1] * px + b[1] * py + c[1] - limit[1];
        const double e2 = a[2] * px + b[2] * py + c[2] - limit[2];
        if (e0 + most[0] < 0 || e1 + most[1] < 0 || e2 + most[2] < 0) continue;
        const float w = float(f.w[0] + wx * (px - f.x[0]) + wy * (py - f.y[0]));
        const int at = ((y - top) * tile + (x - left)) * samples;
        for (int s = 0; s < samples; ++s) {
          const bool in = (e0 + offset[0][s] >= 0) & (e1 + offset[1][s] >= 0) & (e2 + offset[2][s] >= 0);
          const float here = w + dw[s];
          if (in && here > depth[at + s]) depth[at + s] = here, owner[at + s] = number;
        }
      }
  }

  Color backdrop(double x, double y) const {
    const double u = (x - lens_.half_width) / lens_.half_height, v = (y - lens_.half_height) / lens_.half_height;
    return view_.background * float(1.02 - 0.05 * std::min(2.5, u * u + v * v));
  }

  Color shade(int owner, double x, double y) const {
    if (owner == nothing) return backdrop(x, y);
    if (owner == the_floor) return shade_floor(x, y);
    return shade_surface(flats()[owner], x, y);
  }

  /// Share of [c - w/2, c + w/2] that lines of this width around whole numbers cover.
  static double lines(double c, double filter, double line) {
    const auto integral = [&](double t) { return std::floor(t) * line + std::min(t - std::floor(t), line); };
    const double w = std::max(filter, 1e-6), s = c + 0.5 * line;
    return std::clamp((integral(s + 0.5 * w) - integral(s - 0.5 * w)) / w, 0.0, 1.0);
  }

  Color shade_floor(double x, double y) const {
    const Color far = backdrop(x, y);
    const double above = lens_.eye.y - view_.floor_height;
    const auto hit = [&](double px, double py) {
      const Vec3 d = lens_.ray(px, py);
      return lens_.eye + d * (above / std::max(-d.y, 1e-9));
    };
    const Vec3 p = hit(x, y), px = hit(x + 1, y) - p, py = hit(x, y + 1) - p;
    const double away = norm(p - Vec3{center_.x, view_.floor_height, center_.z}) / size_;
    const double fade = std::clamp((3.2 - away) / 2.4, 0.0, 1.0);
    const float shown = float(fade * fade * (3 - 2 * fade));
    if (shown == 0) return far;
    double ink = 0;
    for (const auto& [step, strength] : {std::pair{spacing_, 0.2}, std::pair{spacing_ / 5, 0.06}}) {
      const double fx = (std::abs(px.x) + std::abs(py.x)) / step, fz = (std::abs(px.z) + std::abs(py.z)) / step;
      // thin lines, at least as wide as a pixel where it is near: small pictures would lose them
      const double thin = step == spacing_ ? 0.012 : 0.03;
      const double wx = std::clamp(fx, thin, 0.08), wz = std::clamp(fz, thin, 0.08);
      ink = std::max(ink, strength * std::max(lines(p.x / step, fx, wx), lines(p.z / step, fz, wz)));
    }
    float light = 1;
    if (view_.shadows) {
      const float sky = lights_.floor_sky(p);
      const float key = may_be_shaded(p) ? lights_.key(p, {0, 1, 0}) : 1;
      light = 0.60f * key + 0.40f * sky;
    }
    const float s = float(1 - ink) * light;
    // what is left in the shade is the sky's, a little blue
    const Color tint{1 - 0.04f * (1 - light), 1 - 0.015f * (1 - light), 1 + 0.03f * (1 - light)};
    return far * (1 - shown) + far * tint * (s * shown);
  }

  /// Whether the way to the key light passes near what casts shadows.
  bool may_be_shaded(const Vec3& p) const {
    if (bounds_.empty()) return false;
    const double more = 0.1 * size_;
    double from = 0, to = 1e300;
    for (int k = 0; k < 3; ++k) {
      const double d = lights_.toward_key[k];
      double s = (bounds_.low[k] - more - p[k]) / d, e = (bounds_.high[k] + more - p[k]) / d;
      if (s > e) std::swap(s, e);
      from = std::max(from, s), to = std::min(to, e);
    }
    return from <= to;
  }

  Color shade_surface(const Flat& f, double x, double y) const {
    const double px = x * grid, py = y * grid;
    std::array<double, 3> l;
    double area = 0;
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      l[k] = (f.x[j] - f.x[i]) * (py - f.y[i]) - (f.y[j] - f.y[i]) * (px - f.x[i]);
      l[k] = std::max(l[k], 0.0);
      area += l[k];
    }
    Vec3 b{1, 0, 0};
    if (area > 0) {
      b = {l[0] * f.w[0], l[1] * f.w[1], l[2] * f.w[2]};
      b = b / (b.x + b.y + b.z);
    }
    if (f.clipped >= 0) {
      const auto& c = screen_.corners[f.clipped];
      b = c[0] * b.x + c[1] * b.y + c[2] * b.z;
    } else if (f.turned) {
      std::swap(b.y, b.z);
    }
    const auto& t = soup_.triangles[f.triangle];
    const Material& material = soup_.materials[soup_.material[f.triangle]];
    const Vec3 p = soup_.points[t[0]] * b.x + soup_.points[t[1]] * b.y + soup_.points[t[2]] * b.z;
    const float b0 = float(b.x), b1 = float(b.y), b2 = float(b.z);
    Vec3f n = soup_.normals[t[0]] * b0 + soup_.normals[t[1]] * b1 + soup_.normals[t[2]] * b2;
    const float length = norm(n);
    n = length > 0 ? n / length : Vec3f{0, 1, 0};
    // on the screen y points down: what is counterclockwise from outside was turned
    const bool behind = !f.turned;
    if (behind) n = -n;
    const std::vector<Color>& from = behind ? soup_.ambient_behind : soup_.ambient;
    const Color ambient = from[t[0]] * b0 + from[t[1]] * b1 + from[t[2]] * b2;

    Color color = material.color;
    if (material.by_value) {
      const double value = soup_.values[t[0]] * b.x + soup_.values[t[1]] * b.y + soup_.values[t[2]] * b.z;
      const double range = view_.value_max - view_.value_min;
      color = scale_color(range != 0 ? (value - view_.value_min) / range : 0.5);
    }
    const float toward = dot(n, lights_.toward_key);
    const bool through = material.two_sided && toward < 0;
    float key = 0;
    if (toward > 0 || through) key = lights_.key(p, through ? -n : n);
    const Vec3f eye = narrow(unit(lens_.eye - p));
    const float facing = std::max(0.f, dot(n, eye));
    const float fill = std::max(0.f, dot(n, lights_.toward_fill));
    // light, warm from the key and cool from the other side
    Color light = ambient + Color{0.10f, 0.11f, 0.13f} * fill;
    const Color warm{0.98f, 0.94f, 0.88f};
    if (toward > 0) light = light + warm * (toward * key);
    if (through) light = light + warm * color * (-0.45f * toward * key);
    Color out = color * light;
    // a satin gloss (Blinn-Phong, exponent 48) and a rim (Schlick), the same on every colour
    Vec3f half = eye + lights_.toward_key;
    half = half / std::max(1e-6f, norm(half));
    float gloss = std::max(0.f, dot(n, half));
    gloss *= gloss, gloss *= gloss, gloss *= gloss, gloss *= gloss;  // 16
    gloss = gloss * gloss * gloss;
    const float grazing = 1 - facing, rim = grazing * grazing * grazing * grazing;
    const float shine = (material.two_sided ? 0.03f : 0.16f) * gloss * key;
    out = out + Color{shine, shine, shine} + ambient * (0.16f * rim);
    out = {shoulder(out.r), shoulder(out.g), shoulder(out.b)};
    if (view_.wireframe && area > 0 && f.clipped < 0) {
      double nearest = 1e300;
      for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        nearest = std::min(nearest, l[k] / (grid * std::hypot(f.x[j] - f.x[i], f.y[j] - f.y[i])));
      }
      out = out * (1 - 0.55f * std::clamp(1.1f - float(nearest), 0.f, 1.f));
    }
    return out;
  }

  /// Bright light bends toward white instead of being cut off.
  static float shoulder(float x) { return x < 0.75f ? x : 0.75f + 0.25f * (1 - std::exp((0.75f - x) * 4)); }

  const View& view_;
  int width_, height_;
  Lens lens_;
  Box bounds_;
  double size_;
  Soup soup_;
  Lights lights_;
  Screen screen_;
  double spacing_ = 1;
  Vec3 center_{};
};

}  // namespace

Image draw(const View& view, int width, int height) {
  if (width < 1 || height < 1 || width > 16384 || height > 16384)
    throw std::invalid_argument("draw: found a size of " + std::to_string(width) + " x " + std::to_string(height) +
                                ", expected 1 to 16384 pixels each way");
  return Painter(view, width, height).paint();
}

Camera frame_all(std::span<const Vec3> points, const Vec3& direction, double aspect) {
  Camera out;
  const Vec3 forward = unit(direction, {0, 0, 1}) * -1.0;
  const Vec3 right = unit(cross(forward, std::abs(forward.y) < 0.9999 ? Vec3{0, 1, 0} : Vec3{0, 0, -1}));
  const Vec3 up = cross(right, forward);
  const double tangent = std::tan(0.5 * out.fov_degrees * std::numbers::pi / 180) * 0.9;  // a margin of a tenth
  const std::array<double, 2> slope{tangent * aspect, tangent};
  // |x - ex| <= slope (z - ez) for all points: the largest of x - slope z and of -x - slope z say where the eye is
  std::array<double, 2> most{-INFINITY, -INFINITY}, least{-INFINITY, -INFINITY};
  double front = INFINITY, back = -INFINITY;
  for (const Vec3& p : points) {
    const double z = dot(forward, p);
    if (!std::isfinite(z) || !std::isfinite(dot(right, p)) || !std::isfinite(dot(up, p))) continue;
    front = std::min(front, z), back = std::max(back, z);
    for (const int k : {0, 1}) {
      const double x = dot(k == 0 ? right : up, p);
      most[k] = std::max(most[k], x - slope[k] * z), least[k] = std::max(least[k], -x - slope[k] * z);
    }
  }
  if (!(front <= back)) return out;
  const double ex = 0.5 * (most[0] - least[0]), ey = 0.5 * (most[1] - least[1]);
  double ez = std::min(-0.5 * (most[0] + least[0]) / slope[0], -0.5 * (most[1] + least[1]) / slope[1]);
  ez = std::min(ez, front - std::max(1e-6, 0.05 * (back - front)));
  out.eye = right * ex + up * ey + forward * ez;
  out.target = right * ex + up * ey + forward * (0.5 * (front + back));
  return out;
}

}  // namespace verve::render
