#include "render/soup.h"
#include "base/finite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace verve::render {

namespace {

/// Halves edges longer than `longest`. Whether an edge is cut depends on the edge alone, so neighbours agree and no
/// crack opens.
void refine(Surface& s, double longest) {
  for (int level = 0; level < 8; ++level) {
    std::unordered_map<std::uint64_t, int> middle;
    const auto cut = [&](int a, int b) {
      if (norm(s.points[a] - s.points[b]) <= longest) return -1;
      const std::uint64_t key = std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b));
      const auto [place, fresh] = middle.try_emplace(key, int(s.points.size()));
      if (fresh) {
        s.points.push_back((s.points[a] + s.points[b]) * 0.5);
        if (!s.values.empty()) s.values.push_back(0.5f * (s.values[a] + s.values[b]));
      }
      return place->second;
    };
    std::vector<std::array<int, 3>> next;
    next.reserve(s.triangles.size());
    for (auto t : s.triangles) {
      std::array<int, 3> m;
      for (int k = 0; k < 3; ++k) m[k] = cut(t[k], t[(k + 1) % 3]);
      const int cuts = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0);
      if (cuts == 0) {
        next.push_back(t);
        continue;
      }
      if (cuts == 3) {
        next.insert(next.end(), {{t[0], m[0], m[2]}, {m[0], t[1], m[1]}, {m[2], m[1], t[2]}, {m[0], m[1], m[2]}});
        continue;
      }
      // turned so that with one cut it is edge 0, with two the uncut one is edge 2
      while (cuts == 1 ? m[0] < 0 : m[2] >= 0)
        std::rotate(t.begin(), t.begin() + 1, t.end()), std::rotate(m.begin(), m.begin() + 1, m.end());
      next.push_back({m[0], t[1], cuts == 1 ? t[2] : m[1]});
      if (cuts == 1) {
        next.push_back({t[0], m[0], t[2]});
      } else {
        next.push_back({t[0], m[0], m[1]});
        next.push_back({t[0], m[1], t[2]});
      }
    }
    s.triangles = std::move(next);
    if (middle.empty()) return;
  }
}

/// Normals weighted by area, over those neighbours that do not lie beyond a crease. The weight fades out between 35 and
/// 60 degrees, so that a moving body does not flicker when an edge passes the limit.
void add_surface(Surface s, double longest, int material, Soup& out) {
  std::erase_if(s.triangles, [&](const std::array<int, 3>& t) {
    return !finite(s.points[t[0]]) || !finite(s.points[t[1]]) || !finite(s.points[t[2]]);
  });
  if (longest > 0) refine(s, longest);
  const int triangles = int(s.triangles.size());
  std::vector<Vec3> area(triangles), face(triangles);
  std::vector<int> first(s.points.size() + 1, 0), around(size_t(triangles) * 3);
  for (int t = 0; t < triangles; ++t) {
    const auto& [a, b, c] = s.triangles[t];
    area[t] = cross(s.points[b] - s.points[a], s.points[c] - s.points[a]);
    face[t] = unit(area[t], {0, 0, 0});
    for (const int v : s.triangles[t]) ++first[v + 1];
  }
  for (size_t v = 0; v + 1 < first.size(); ++v) first[v + 1] += first[v];
  std::vector<int> next(first.begin(), first.end() - 1);
  for (int t = 0; t < triangles; ++t)
    for (const int v : s.triangles[t]) around[next[v]++] = t;

  const double sharp = std::cos(60 * std::numbers::pi / 180), smooth = std::cos(35 * std::numbers::pi / 180);
  const int base = int(out.triangles.size());
  out.triangles.resize(base + triangles);
  out.material.resize(base + triangles, material);
  std::vector<Vec3f> own;  // the different normals of one point
  for (size_t v = 0; v < s.points.size(); ++v) {
    own.clear();
    const int start = int(out.points.size());
    for (int i = first[v]; i < first[v + 1]; ++i) {
      const int t = around[i];
      Vec3 sum{};
      for (int j = first[v]; j < first[v + 1]; ++j) {
        const double w = std::clamp((dot(face[t], face[around[j]]) - sharp) / (smooth - sharp), 0.0, 1.0);
        sum += area[around[j]] * (w * w * (3 - 2 * w));
      }
      const Vec3f n = narrow(unit(sum, face[t]));
      int place = 0;
      // a thousandth: less than a shade of grey
      while (place < int(own.size()) && dot(own[place] - n, own[place] - n) > 1e-6f) ++place;
      if (place == int(own.size())) {
        own.push_back(n);
        out.points.push_back(s.points[v]);
        out.normals.push_back(n);
        out.values.push_back(s.values.empty() ? 0.f : s.values[v]);
      }
      for (int k = 0; k < 3; ++k)
        if (s.triangles[t][k] == int(v)) out.triangles[base + t][k] = start + place;
    }
  }
}

constexpr int sides = 8;

/// Tubes around the edges, joined where two meet, rounded where one ends or more meet.
void add_curve(const Curve& c, int material, Soup& out) {
  const double r = c.radius;
  std::vector<std::vector<int>> at(c.points.size());
  std::vector<Vec3> direction(c.edges.size());
  for (size_t e = 0; e < c.edges.size(); ++e) {
    const auto& [a, b] = c.edges[e];
    if (!finite(c.points[a]) || !finite(c.points[b]) || a == b) continue;
    direction[e] = unit(c.points[b] - c.points[a], {1, 0, 0});
    at[a].push_back(int(e)), at[b].push_back(int(e));
  }
  const auto add_point = [&](const Vec3& p, const Vec3& n, int v) {
    out.points.push_back(p), out.normals.push_back(narrow(n));
    out.values.push_back(c.values.empty() ? 0.f : c.values[v]);
    return int(out.points.size()) - 1;
  };
  const auto add_triangle = [&](int a, int b, int d) {
    out.triangles.push_back({a, b, d}), out.material.push_back(material);
  };
  const auto ring = [&](const Vec3& center, const Vec3& axis, const Vec3& side, double radius, double along, int v) {
    const Vec3 other = cross(axis, side);
    const int first = int(out.points.size());
    for (int k = 0; k < sides; ++k) {
      const double angle = 2 * std::numbers::pi * k / sides;
      const Vec3 n = side * std::cos(angle) + other * std::sin(angle);
      const Vec3 normal = unit(n * radius + axis * along, axis);
      add_point(center + n * radius + axis * along, normal, v);
    }
    return first;
  };
  const auto join = [&](int low, int high) {  // outward when `high` lies along the axis of the rings
    for (int k = 0; k < sides; ++k) {
      const int next = (k + 1) % sides;
      add_triangle(low + k, low + next, high + next);
      add_triangle(low + k, high + next, high + k);
    }
  };
  for (size_t e = 0; e < c.edges.size(); ++e) {
    const auto& [a, b] = c.edges[e];
    const Vec3& d = direction[e];
    if (dot(d, d) == 0) continue;
    const Vec3 side = unit(cross(d, std::abs(d.y) < 0.9 ? Vec3{0, 1, 0} : Vec3{1, 0, 0}));
    std::array<int, 2> rings;
    for (const int end : {0, 1}) {
      const int v = end ? b : a;
      const double outward = end ? 1 : -1;
      Vec3 axis = d;
      bool round = true;
      if (at[v].size() == 2) {
        const int other = at[v][0] == int(e) ? at[v][1] : at[v][0];
        Vec3 onward = direction[other] * (c.edges[other][end] == v ? -1.0 : 1.0);
        if (dot(onward, d) > 0.2) axis = unit(d + onward), round = false;
      }
      // where the tube goes on, its ring lies in the plane between the two edges: the side of this edge, moved along it
      const int first = int(out.points.size());
      const Vec3 third = cross(d, side);
      for (int k = 0; k < sides; ++k) {
        const double angle = 2 * std::numbers::pi * k / sides;
        const Vec3 n = side * std::cos(angle) + third * std::sin(angle);
        const Vec3 p = n - d * (dot(n, axis) / dot(d, axis));
        add_point(c.points[v] + p * r, unit(n - axis * dot(n, axis), n), v);
      }
      rings[end] = first;
      if (!round) continue;
      int last = first;
      for (const double latitude : {30.0, 60.0}) {
        const double l = latitude * std::numbers::pi / 180;
        const int cap = ring(c.points[v], d, side, r * std::cos(l), outward * r * std::sin(l), v);
        end ? join(last, cap) : join(cap, last);
        last = cap;
      }
      const int tip = add_point(c.points[v] + d * (outward * r), d * outward, v);
      for (int k = 0; k < sides; ++k) {
        const int next = (k + 1) % sides;
        end ? add_triangle(last + k, last + next, tip) : add_triangle(last + next, last + k, tip);
      }
    }
    join(rings[0], rings[1]);
  }
}

template <size_t n>
void check(const std::vector<std::array<int, n>>& elements, size_t points, size_t values, const char* what) {
  if (values != 0 && values != points)
    throw std::invalid_argument(std::string("draw: found ") + std::to_string(values) + " values of a " + what +
                                ", expected none or one for each of its " + std::to_string(points) + " points");
  for (const auto& e : elements)
    for (const int v : e)
      if (v < 0 || size_t(v) >= points)
        throw std::invalid_argument(std::string("draw: found point ") + std::to_string(v) + " in a " + what +
                                    ", expected 0 to " + std::to_string(long(points) - 1));
}

}  // namespace

Soup make_soup(const View& view, double longest) {
  Soup out;
  for (const Surface& s : view.surfaces) {
    check(s.triangles, s.points.size(), s.values.size(), "surface");
    add_surface(s, longest, int(out.materials.size()), out);
    out.materials.push_back({s.color, !s.values.empty(), s.two_sided});
  }
  for (const Curve& c : view.curves) {
    check(c.edges, c.points.size(), c.values.size(), "curve");
    if (!(c.radius > 0)) throw std::invalid_argument("draw: found a curve of radius 0, expected more");
    add_curve(c, int(out.materials.size()), out);
    out.materials.push_back({c.color, !c.values.empty(), false});
  }
  return out;
}

}  // namespace verve::render
