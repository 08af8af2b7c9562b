#include "contact/surface.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace verve {

namespace {

void check_rows(int rows, std::span<const int> used, const char* what) {
  for (const int r : used)
    if (r < 0 || r >= rows)
      throw std::invalid_argument("make_surface: " + std::string(what) + ": found vertex " + std::to_string(r) +
                                  ", expected 0 to " + std::to_string(rows - 1));
}

/// Lists of which item belongs to which thing, given as (thing, item) in the order of the items.
Lists lists_of(int things, std::span<const std::array<int, 2>> members) {
  Lists out;
  out.first.assign(things + 1, 0);
  for (const auto& [thing, item] : members) ++out.first[thing + 1];
  for (int i = 0; i < things; ++i) out.first[i + 1] += out.first[i];
  out.items.resize(members.size());
  std::vector<int> next(out.first.begin(), out.first.end() - 1);
  for (const auto& [thing, item] : members) out.items[next[thing]++] = item;
  return out;
}

}  // namespace

bool Lists::contains(int i, int item) const {
  const auto list = (*this)[i];
  return std::binary_search(list.begin(), list.end(), item);
}

Surface make_surface(int rows, std::vector<std::array<int, 4>> tetrahedra, std::vector<std::array<int, 3>> triangles,
                     std::span<const std::array<int, 2>> edges, bool loose_vertices) {
  for (const auto& t : tetrahedra) check_rows(rows, t, "tetrahedra");
  for (const auto& t : triangles) check_rows(rows, t, "triangles");
  for (const auto& e : edges) check_rows(rows, e, "edges");

  Surface out;
  out.rows = rows;
  enum : unsigned char { unused = 0, inside = 1, on_surface = 2 };
  std::vector<unsigned char> use(rows, unused);
  for (const auto& t : tetrahedra)
    for (const int r : t) use[r] = inside;
  const int sheets = int(triangles.size());
  out.faces = surface(Mesh{{}, std::move(tetrahedra), std::move(triangles), {}});
  out.solid_faces = int(out.faces.size()) - sheets;

  // every side of a face, and every rope, by its ends: sorted, equal ones are one edge
  struct Side {
    std::uint64_t ends;
    int place;  // 3 face + side; -1 for a rope
  };
  std::vector<Side> sides;
  sides.reserve(3 * out.faces.size() + edges.size());
  const auto add = [&](int a, int b, int place) {
    sides.push_back({std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b)), place});
  };
  for (std::size_t f = 0; f < out.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) add(out.faces[f][k], out.faces[f][(k + 1) % 3], int(3 * f + k));
  for (const auto& f : out.faces)
    for (const int r : f) use[r] = use[r] | on_surface;
  std::vector<unsigned char> element = use;
  for (const auto& [a, b] : edges) {
    if (element[a] != unused && element[b] != unused) continue;
    add(a, b, -1);
    use[a] = use[a] | on_surface, use[b] = use[b] | on_surface;
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.ends != b.ends ? a.ends < b.ends : a.place < b.place; });
  out.face_edges.resize(out.faces.size());
  std::vector<std::array<int, 2>> members;
  members.reserve(sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (i == 0 || sides[i].ends != sides[i - 1].ends)
      out.edges.push_back({int(sides[i].ends >> 32), int(sides[i].ends & 0xffffffffu)});
    const int edge = int(out.edges.size()) - 1, place = sides[i].place;
    if (place < 0) continue;
    out.face_edges[place / 3][place % 3] = edge;
    members.push_back({edge, place / 3});
  }
  out.faces_of_edge = lists_of(int(out.edges.size()), members);

  out.vertex_of_row.assign(rows, -1);
  for (int r = 0; r < rows; ++r) {
    if (!(use[r] & on_surface) && !(loose_vertices && use[r] == unused)) continue;
    out.vertex_of_row[r] = int(out.vertices.size());
    out.vertices.push_back(r);
  }
  members.clear();
  for (std::size_t f = 0; f < out.faces.size(); ++f)
    for (const int r : out.faces[f]) members.push_back({out.vertex_of_row[r], int(f)});
  out.faces_of_vertex = lists_of(int(out.vertices.size()), members);
  members.clear();
  for (std::size_t e = 0; e < out.edges.size(); ++e)
    for (const int r : out.edges[e]) members.push_back({out.vertex_of_row[r], int(e)});
  out.edges_of_vertex = lists_of(int(out.vertices.size()), members);
  out.version = new_surface_version();
  return out;
}

std::uint64_t new_surface_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Surface make_surface(const Mesh& mesh, bool loose_vertices) {
  return make_surface(int(mesh.vertices.size()), mesh.tetrahedra, mesh.triangles, mesh.edges, loose_vertices);
}

Vec3 face_normal(const Surface& surface, const Vec4* x, int face) {
  const auto& [a, b, c] = surface.faces[face];
  const Vec3 n = cross((x[b] - x[a]).xyz(), (x[c] - x[a]).xyz());
  const double length = norm(n);
  return length > 0 ? n / length : Vec3{};
}

Vec3 edge_normal(const Surface& surface, const Vec4* x, int edge) {
  Vec3 sum{};
  for (const int f : surface.faces_of_edge[edge]) sum += face_normal(surface, x, f);
  return sum;
}

Vec3 vertex_normal(const Surface& surface, const Vec4* x, int vertex) {
  Vec3 sum{};
  const int row = surface.vertices[vertex];
  for (const int f : surface.faces_of_vertex[vertex]) {
    const auto& c = surface.faces[f];
    const int k = c[0] == row ? 0 : c[1] == row ? 1 : 2;
    const Vec3 u = (x[c[(k + 1) % 3]] - x[row]).xyz(), v = (x[c[(k + 2) % 3]] - x[row]).xyz();
    const Vec3 n = cross(u, v);
    const double length = norm(n);
    if (length > 0) sum += n * (std::atan2(length, dot(u, v)) / length);
  }
  return sum;
}

Vec3 pseudo_normal(const Surface& surface, const Vec4* x, int face, TrianglePart part) {
  switch (part) {
    case TrianglePart::corner_a:
    case TrianglePart::corner_b:
    case TrianglePart::corner_c:
      return vertex_normal(surface, x, surface.vertex_of_row[surface.faces[face][int(part)]]);
    case TrianglePart::edge_ab:
    case TrianglePart::edge_bc:
    case TrianglePart::edge_ca:
      return edge_normal(surface, x, surface.face_edges[face][int(part) - int(TrianglePart::edge_ab)]);
    case TrianglePart::face:
      break;
  }
  return face_normal(surface, x, face);
}

}  // namespace verve
