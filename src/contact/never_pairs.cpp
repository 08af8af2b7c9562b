// Pairs of a surface with itself that are left out of its contact.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "contact/box_tree.h"
#include "contact/proximity.h"
#include "contact/surface.h"

namespace verve {

namespace {

using PlainPairs = std::vector<std::pair<int, int>>;

/// Joins pairs (thing, item) with what the lists hold.
void add_to(Lists& lists, int things, PlainPairs& pairs) {
  if (!lists.first.empty())
    for (int i = 0; i < things; ++i)
      for (const int item : lists[i]) pairs.emplace_back(i, item);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  lists.first.assign(things + 1, 0);
  lists.items.clear();
  for (const auto& [thing, item] : pairs) ++lists.first[thing + 1], lists.items.push_back(item);
  for (int i = 0; i < things; ++i) lists.first[i + 1] += lists.first[i];
}

/// Vertices at most so many edges from some, by breadth-first search.
class Neighbourhood {
 public:
  explicit Neighbourhood(const Surface& surface) : surface_(surface), seen_(surface.vertices.size(), -1) {}
  const std::vector<int>& around(std::initializer_list<int> vertices, int rings) {
    ++search_;
    found_.clear();
    for (const int v : vertices) visit(v);
    for (std::size_t begin = 0; rings > 0; --rings) {
      const std::size_t end = found_.size();
      for (; begin < end; ++begin)
        for (const int e : surface_.edges_of_vertex[found_[begin]])
          for (const int r : surface_.edges[e]) visit(surface_.vertex_of_row[r]);
    }
    return found_;
  }

 private:
  void visit(int v) {
    if (seen_[v] != search_) seen_[v] = search_, found_.push_back(v);
  }
  const Surface& surface_;
  std::vector<int> seen_, found_;
  int search_ = -1;
};

/// Boxes that reach half of `distance` beyond the features: those of near ones overlap.
BoxTree tree_of(int items, double distance, const auto& rows_of, std::span<const Vec3> rest) {
  BoxTree tree;
  tree.build(items, [&](int i) {
    FloatBox box = FloatBox::none();
    for (const int r : rows_of(i)) box = box.joined(float_box(rest[r], rest[r], 0.5 * distance));
    return box.finished();
  });
  return tree;
}

}  // namespace

bool within_rings(const Surface& surface, int vertex, int face, int rings) {
  if (surface.is_corner(surface.vertices[vertex], face)) return true;
  if (rings <= 0) return false;
  for (const int e : surface.edges_of_vertex[vertex])
    for (const int r : surface.edges[e])
      if (r != surface.vertices[vertex] && within_rings(surface, surface.vertex_of_row[r], face, rings - 1))
        return true;
  return false;
}

void never_within_rings(Surface& surface, int rings) {
  Neighbourhood near(surface);
  PlainPairs faces, edges;
  for (int v = 0; v < int(surface.vertices.size()); ++v)
    for (const int other : near.around({v}, rings))
      for (const int f : surface.faces_of_vertex[other]) faces.emplace_back(v, f);
  for (int e = 0; e < int(surface.edges.size()); ++e) {
    const auto& [a, b] = surface.edges[e];
    for (const int other : near.around({surface.vertex_of_row[a], surface.vertex_of_row[b]}, rings))
      for (const int f : surface.edges_of_vertex[other])
        if (f > e) edges.emplace_back(e, f);
  }
  add_to(surface.never_faces, int(surface.vertices.size()), faces);
  add_to(surface.never_edges, int(surface.edges.size()), edges);
  surface.version = new_surface_version();
}

void never_near_at_rest(Surface& surface, std::span<const Vec3> rest, double distance) {
  if (int(rest.size()) != surface.rows)
    throw std::invalid_argument("never_near_at_rest: found " + std::to_string(rest.size()) + " positions, expected " +
                                std::to_string(surface.rows) + " (one per row)");
  const BoxTree vertices = tree_of(
      int(surface.vertices.size()), distance, [&](int v) { return std::array{surface.vertices[v]}; }, rest);
  const BoxTree faces = tree_of(
      int(surface.faces.size()), distance, [&](int f) { return surface.faces[f]; }, rest);
  const BoxTree edges = tree_of(
      int(surface.edges.size()), distance, [&](int e) { return surface.edges[e]; }, rest);
  PlainPairs face_pairs, edge_pairs;
  std::vector<std::uint64_t> found;
  overlapping(faces, vertices, false, 0, vertices.leaf_blocks(), found);
  for (const std::uint64_t pair : found) {
    const int v = vertices.item(int(pair >> 32)), f = faces.item(int(pair & 0xffffffffu));
    const auto& [a, b, c] = surface.faces[f];
    if (point_triangle(rest[surface.vertices[v]], rest[a], rest[b], rest[c]).squared_distance < distance * distance)
      face_pairs.emplace_back(v, f);
  }
  found.clear();
  overlapping(edges, edges, true, 0, edges.leaf_blocks(), found);
  for (const std::uint64_t pair : found) {
    const int i = edges.item(int(pair >> 32)), j = edges.item(int(pair & 0xffffffffu));
    const auto &a = surface.edges[i], &b = surface.edges[j];
    if (segment_segment(rest[a[0]], rest[a[1]], rest[b[0]], rest[b[1]]).squared_distance < distance * distance)
      edge_pairs.emplace_back(std::min(i, j), std::max(i, j));
  }
  add_to(surface.never_faces, int(surface.vertices.size()), face_pairs);
  add_to(surface.never_edges, int(surface.edges.size()), edge_pairs);
  surface.version = new_surface_version();
}

}  // namespace verve
