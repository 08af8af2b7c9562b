#include "geometry/polygons.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

struct Point {
  double x, y;
};
double turn(const Point& a, const Point& b, const Point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// The corners seen along the normal of the polygon (Newell's: the sum of the areas seen along the axes).
std::vector<Point> flattened(const std::vector<Vec3>& corners) {
  Vec3 normal;
  const std::size_t n = corners.size();
  for (std::size_t i = 0; i < n; ++i) normal += cross(corners[i] - corners[0], corners[(i + 1) % n] - corners[0]);
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(normal[k]) > std::abs(normal[axis])) axis = k;
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double side = normal[axis] < 0 ? -1 : 1;
  std::vector<Point> out;
  for (const Vec3& p : corners) out.push_back({p[u] * side, p[v]});
  return out;
}

}  // namespace

void triangulate(const std::vector<Vec3>& corners, std::vector<std::array<int, 3>>& out) {
  const int n = int(corners.size());
  if (n < 3) return;
  if (n == 3) return out.push_back({0, 1, 2});
  const std::vector<Point> p = flattened(corners);
  std::vector<int> next(n), previous(n);
  for (int i = 0; i < n; ++i) next[i] = (i + 1) % n, previous[i] = (i + n - 1) % n;
  const auto convex = [&](int i) { return turn(p[previous[i]], p[i], p[next[i]]) > 0; };
  std::vector<int> reflex;  // corners that can lie inside of an ear
  for (int i = 0; i < n; ++i)
    if (!convex(i)) reflex.push_back(i);
  std::vector<char> gone(n, 0);
  const auto is_ear = [&](int i) {
    const Point &a = p[previous[i]], &b = p[i], &c = p[next[i]];
    if (!(turn(a, b, c) > 0)) return false;
    for (const int r : reflex) {
      if (gone[r] || r == i || r == previous[i] || r == next[i]) continue;
      const Point& q = p[r];
      const auto same = [&](const Point& o) { return q.x == o.x && q.y == o.y; };  // a bridge to a hole meets itself
      if (!same(a) && !same(b) && !same(c) && turn(a, b, q) >= 0 && turn(b, c, q) >= 0 && turn(c, a, q) >= 0)
        return false;
    }
    return true;
  };
  int at = 1;
  for (int left = n; left > 3; --left) {
    int ear = at;
    for (int tries = 0; tries < left && !is_ear(ear); ++tries) ear = next[ear];
    // none in a polygon that crosses itself or has no area: any corner will do
    out.push_back({previous[ear], ear, next[ear]});
    gone[ear] = 1;
    next[previous[ear]] = next[ear], previous[next[ear]] = previous[ear];
    std::erase_if(reflex, [&](int r) { return gone[r] || convex(r); });
    at = next[ear];
  }
  out.push_back({previous[at], at, next[at]});
  for (std::size_t t = out.size() - std::size_t(n - 2); t < out.size(); ++t) {  // from the lowest corner on
    auto& [a, b, c] = out[t];
    while (a > b || a > c) out[t] = {b, c, a};
  }
}

int PolygonReader::material(const std::string& name, std::array<double, 4> color) {
  for (std::size_t m = 0; m < look_.materials.size(); ++m)
    if (look_.materials[m].name == name) return int(m);
  look_.materials.push_back({name, color});
  return int(look_.materials.size()) - 1;
}

int PolygonReader::normal(const Vec3& n) {
  // to a thousandth: files round, and each in its own way
  const double length = norm(n), steps = length > 0 && std::isfinite(length) ? 1000 / length : 0;
  const std::array<int, 3> key{int(std::lround(n.x * steps)), int(std::lround(n.y * steps)), int(std::lround(n.z * steps))};
  return normals_.try_emplace(key, int(normals_.size())).first->second;
}

void PolygonReader::corner(int vertex, int uv, int normal) {
  look_.vertex.push_back(vertex);
  look_.uv.push_back(uv);
  look_.normal.push_back(normal);
  uvs_ = uvs_ || uv >= 0;
  all_normals_ = all_normals_ && normal >= 0;
}

void PolygonReader::end_polygon(int material) {
  polygons_ = polygons_ || corners() > 3;
  materials_ = materials_ || material >= 0;
  look_.material.push_back(material);
  look_.first.push_back(int(look_.vertex.size()));
}

void PolygonReader::drop_corners() {
  look_.vertex.resize(std::size_t(look_.first.back()));
  look_.uv.resize(look_.vertex.size());
  look_.normal.resize(look_.vertex.size());
}

void PolygonReader::finish(Mesh& mesh) {
  std::vector<Vec3> corners;
  std::vector<std::array<int, 3>> triangles;
  for (int p = 0; p < look_.polygons(); ++p) {
    corners.clear(), triangles.clear();
    const int* vertex = look_.vertex.data() + look_.first[p];
    for (int i = look_.first[p]; i < look_.first[p + 1]; ++i) corners.push_back(mesh.vertices[look_.vertex[i]]);
    triangulate(corners, triangles);
    for (const auto& [a, b, c] : triangles) mesh.triangles.push_back({vertex[a], vertex[b], vertex[c]});
  }
  const bool normals = all_normals_ && !look_.normal.empty();
  const bool colors = !look_.colors.empty() && look_.colors.size() == mesh.vertices.size();
  if (!polygons_ && !uvs_ && !materials_ && !normals && !colors) return;
  if (!normals) look_.normal.clear();
  if (!colors) look_.colors.clear();
  if (!uvs_) look_.uv.clear(), look_.uvs.clear();
  if (!materials_) look_.material.clear(), look_.materials.clear();
  mesh.look = std::make_shared<const SurfaceLook>(std::move(look_));
}

}  // namespace verve
