#include "contact/interpenetration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/point_triangle.h"

namespace verve {

namespace {

double volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) { return dot(cross(b - a, c - a), d - a); }

/// Whatever its orientation: of elements turned inside out too.
bool in_tetrahedron(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const double whole = volume(a, b, c, d);
  const double side = whole < 0 ? -1 : 1;
  return side * volume(p, b, c, d) > 0 && side * volume(a, p, c, d) > 0 && side * volume(a, b, p, d) > 0 &&
         side * volume(a, b, c, p) > 0;
}

bool in_box(const Vec3& p, const Vec3& low, const Vec3& high) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

void widen(Vec3& low, Vec3& high, const Vec3& p) {
  for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Interpenetration::Interpenetration(std::span<const Mesh* const> meshes, std::span<const int> first) {
  for (size_t b = 0; b < meshes.size(); ++b) {
    const Mesh& mesh = *meshes[b];
    Body& body = bodies_.emplace_back();
    body.first = first[b], body.surface = make_surface(mesh), body.tetrahedra = mesh.tetrahedra;
    body.width = infinity;
    for (const auto& f : body.surface.faces) {
      const Vec3 normal = cross(mesh.vertices[f[1]] - mesh.vertices[f[0]], mesh.vertices[f[2]] - mesh.vertices[f[0]]);
      const double length = norm(normal);
      if (!(length > 0)) continue;
      double low = infinity, high = -infinity;
      for (const int v : body.surface.vertices) {
        const double at = dot(normal, mesh.vertices[v]) / length;
        low = std::min(low, at), high = std::max(high, at);
      }
      body.width = std::min(body.width, high - low);
    }
    // a flat sheet has none: the depth of what is at it is measured by the other
    if (!(body.width > 0) || body.tetrahedra.empty()) body.width = infinity;
  }
}

double Interpenetration::depth_in(const Body& body, std::span<const Vec3> positions, const Vec3& p) const {
  const auto at = [&](int v) -> const Vec3& { return positions[body.first + v]; };
  const bool inside = std::any_of(body.tetrahedra.begin(), body.tetrahedra.end(), [&](const auto& t) {
    Vec3 low = at(t[0]), high = low;
    for (int k = 1; k < 4; ++k) widen(low, high, at(t[k]));
    return in_box(p, low, high) && in_tetrahedron(p, at(t[0]), at(t[1]), at(t[2]), at(t[3]));
  });
  if (!inside) return 0;
  double least = infinity;
  for (int f = 0; f < body.surface.solid_faces; ++f) {
    const auto& face = body.surface.faces[f];
    least = std::min(least, point_triangle(p, at(face[0]), at(face[1]), at(face[2])).squared_distance);
  }
  return std::sqrt(least);
}

Interpenetration::Deepest Interpenetration::deepest(std::span<const Vec3> positions, Points which) {
  for (Body& body : bodies_) {
    body.low = {infinity, infinity, infinity}, body.high = -body.low;
    for (const int v : body.surface.vertices) widen(body.low, body.high, positions[body.first + v]);
  }
  Deepest out;
  for (size_t a = 0; a < bodies_.size(); ++a) {
    const Body& of = bodies_[a];
    points_.clear();
    const auto at = [&](int v) -> const Vec3& { return positions[of.first + v]; };
    for (const int v : of.surface.vertices) points_.push_back(at(v));
    for (size_t i = 0; which == Points::all && i < of.surface.edges.size(); ++i) {
      const auto& e = of.surface.edges[i];
      points_.push_back((at(e[0]) + at(e[1])) * 0.5);
    }
    for (size_t i = 0; which == Points::all && i < of.surface.faces.size(); ++i) {
      const auto& f = of.surface.faces[i];
      points_.push_back((at(f[0]) + at(f[1]) + at(f[2])) / 3);
    }
    for (size_t b = 0; b < bodies_.size(); ++b) {
      const Body& in = bodies_[b];
      if (a == b || in.tetrahedra.empty()) continue;
      bool apart = false;
      for (int k = 0; k < 3; ++k) apart |= of.low[k] > in.high[k] || in.low[k] > of.high[k];
      if (apart) continue;
      for (const Vec3& p : points_) {
        if (!in_box(p, in.low, in.high)) continue;
        const double depth = depth_in(in, positions, p), share = depth / std::min(of.width, in.width);
        if (share > out.share) out = {depth, share, int(a), int(b)};
      }
    }
  }
  return out;
}

}  // namespace verve
