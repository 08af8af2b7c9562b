#include "contact/surface_normals.h"

namespace verve {

void SurfaceNormals::bind(const Surface& surface, const Vec4* x) {
  surface_ = &surface, x_ = x;
  faces_.resize(surface.faces.size()), has_face_.assign(surface.faces.size(), 0);
  edges_.resize(surface.edges.size()), has_edge_.assign(surface.edges.size(), 0);
  cones_.resize(surface.edges.size()), has_cone_.assign(surface.edges.size(), 0);
  vertices_.resize(surface.vertices.size()), has_vertex_.assign(surface.vertices.size(), 0);
}

const Vec3& SurfaceNormals::of_face(int face) {
  if (!has_face_[face]) faces_[face] = face_normal(*surface_, x_, face), has_face_[face] = 1;
  return faces_[face];
}

const Vec3& SurfaceNormals::of_edge(int edge) {
  if (!has_edge_[edge]) {
    Vec3 sum{};
    for (const int f : surface_->faces_of_edge[edge]) sum += of_face(f);
    edges_[edge] = sum, has_edge_[edge] = 1;
  }
  return edges_[edge];
}

const Vec3& SurfaceNormals::of_vertex(int vertex) {
  if (!has_vertex_[vertex]) vertices_[vertex] = vertex_normal(*surface_, x_, vertex), has_vertex_[vertex] = 1;
  return vertices_[vertex];
}

const Vec3& SurfaceNormals::of(int face, TrianglePart part) {
  if (part == TrianglePart::face) return of_face(face);
  if (part >= TrianglePart::edge_ab) return of_edge(surface_->face_edges[face][int(part) - int(TrianglePart::edge_ab)]);
  return of_vertex(surface_->vertex_of_row[surface_->faces[face][int(part)]]);
}

const SurfaceNormals::Cone* SurfaceNormals::cone_of_edge(int edge) {
  if (has_cone_[edge] == 0) find_cone(edge);
  return has_cone_[edge] < 0 ? nullptr : &cones_[edge];
}

void SurfaceNormals::find_cone(int edge) {
  has_cone_[edge] = -1;
  const auto faces = surface_->faces_of_edge[edge];
  if (faces.size() != 2) return;
  const auto& e = surface_->edges[edge];
  const Vec3 &n1 = of_face(faces[0]), &n2 = of_face(faces[1]);
  for (const int corner : surface_->faces[faces[1]]) {
    const Vec3 beyond = (x_[corner] - x_[e[0]]).xyz();
    if (corner != e[0] && corner != e[1] && dot(n1, beyond) > tie * norm(beyond)) return;  // concave; flat is not
  }
  cones_[edge] = {n1, n2, dot(n1, n2)}, has_cone_[edge] = 1;
}

}  // namespace verve
