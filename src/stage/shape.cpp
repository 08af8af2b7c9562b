#include "stage/shape.h"

#include <algorithm>

namespace verve {

void ShownBody::move(const std::vector<Vec3>& positions) {
  if (embedding) {
    carry(*embedding, positions.data() + first, mesh.vertices.data());
  } else {
    for (size_t v = 0; v < source.size(); ++v) mesh.vertices[v] = positions[size_t(first) + source[v]];
  }
}

void ShownBody::tear(const Simulation& simulation, const RemovedElements& removed) {
  const Mesh& all = simulation.mesh(body);
  if (!removed.empty()) mesh.look.reset();  // its polygons are whole
  if (embedding) {
    const Mesh& carried = *simulation.embedded_mesh(body);
    mesh.triangles = without(carried, *embedding, all, removed).triangles;
    return;
  }
  const Mesh left = without(all, removed);
  mesh.triangles = surface(left), mesh.edges = left.edges;
  std::vector<int> number(all.vertices.size(), -1);
  for (size_t v = 0; v < source.size(); ++v) number[source[v]] = int(v);
  for (auto& t : mesh.triangles)
    for (int& v : t) v = number[v];
  for (auto& e : mesh.edges)
    for (int& v : e) v = number[v];
}

ShownBody shown_body(const Simulation& simulation, int body) {
  ShownBody out;
  const Mesh& mesh = simulation.mesh(body);
  out.first = simulation.first_vertex(body), out.count = int(mesh.vertices.size()), out.body = body;
  if (const Mesh* carried = simulation.embedded_mesh(body)) {
    out.mesh = *carried, out.embedding = simulation.embedding(body);
    return out;
  }
  out.mesh.triangles = surface(mesh), out.mesh.edges = mesh.edges;
  if (mesh.tetrahedra.empty()) out.mesh.look = mesh.look;
  // inside of what tears every vertex may come to light
  std::vector<char> shown(mesh.vertices.size(), mesh.tetrahedra.empty() || can_tear(simulation.scene().bodies[body]));
  for (const auto& t : out.mesh.triangles)
    for (const int v : t) shown[v] = 1;
  for (const auto& e : out.mesh.edges)
    for (const int v : e) shown[v] = 1;
  std::vector<int> number(shown.size(), -1);
  for (size_t v = 0; v < shown.size(); ++v)
    if (shown[v]) number[v] = int(out.source.size()), out.source.push_back(int(v));
  for (auto& t : out.mesh.triangles)
    for (int& v : t) v = number[v];
  for (auto& e : out.mesh.edges)
    for (int& v : e) v = number[v];
  out.mesh.vertices.resize(out.source.size());
  return out;
}

bool can_tear(const BodySpec& body) {
  return std::any_of(body.potentials.begin(), body.potentials.end(), [](const auto& p) { return !p.tear.empty(); });
}

RemovedElements removed_by(const std::vector<TornElement>& torn, const std::string& body, int frame) {
  RemovedElements out;
  for (const TornElement& t : torn) {
    if (t.frame > frame || t.body != body) continue;
    (t.kind == "tetrahedron" ? out.tetrahedra : t.kind == "triangle" ? out.triangles : out.edges).push_back(t.element);
  }
  for (std::vector<int>* list : {&out.tetrahedra, &out.triangles, &out.edges}) std::sort(list->begin(), list->end());
  return out;
}

}  // namespace verve
