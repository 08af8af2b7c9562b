// What bodies touch with and what they can touch: their surfaces, and the rigid obstacles of the scene.
#include <span>

#include "base/text.h"
#include "contact/shape_registry.h"
#include "model/model.h"

namespace verve {

namespace {

/// `elements` of a mesh in rows of the body.
template <size_t n>
std::vector<std::array<int, n>> in_rows(const std::vector<std::array<int, n>>& elements, const Body& body) {
  std::vector<std::array<int, n>> out = elements;
  for (auto& element : out)
    for (int& vertex : element) vertex = body.row_of_vertex[vertex];
  return out;
}

/// Lattice cells along a collider's surface that is not closed: it is off by some tenths of one.
constexpr double collider_cells = 64;

}  // namespace

std::unique_ptr<Shape> make_shape(const ColliderSpec& spec, const std::string& where, Diagnostics& out) {
  const ShapeEntry& entry = *find_shape(spec.shape);
  if (!entry.info.reads("mesh")) return entry.make(spec, nullptr);
  const Expected<Mesh> mesh = load_surface(*spec.mesh, where + ".mesh");
  out.append(mesh.diagnostics());
  if (!mesh) return nullptr;
  Diagnostics faults;
  check_closed(mesh->vertices, mesh->triangles, where + ".mesh", faults);
  if (!faults.has_errors()) return entry.make(spec, &*mesh);
  if (spec.mesh->repair == MeshRepair::refuse) return out.append(faults), nullptr;
  // open, doubled or turned inside out: the skin of what the surface encloses by its winding numbers
  const Expected<Mesh> solid = generate_mesh("solid", {{"cells", {collider_cells}}}, &*mesh);
  if (!solid) return out.append(faults), out.append(solid.diagnostics()), nullptr;
  out.note(where + ".mesh", faults.items()[0].what + ": what it encloses, in " + format_number(collider_cells) +
                                " cells along its longest side, is touched in its place");
  const Mesh skin = skin_of(*solid);
  return entry.make(spec, &skin);
}

Surface touchable_surface(const Body& body, const RemovedElements& removed) {
  const Mesh left = without(body.mesh, removed);
  return make_surface(body.count, in_rows(left.tetrahedra, body), in_rows(left.triangles, body),
                      in_rows(left.edges, body), !removed.empty());
}

void compile_contact(const Scene& scene, CompiledScene& compiled, Diagnostics& out) {
  auto& [model, matter] = compiled;
  for (size_t c = 0; c < scene.colliders.size(); ++c)
    model.colliders.push_back(
        {scene.colliders[c].name, make_shape(scene.colliders[c], "colliders[" + std::to_string(c) + "]", out)});
  if (scene.colliders.empty() && !scene.contact) return;
  for (size_t b = 0; b < model.bodies.size(); ++b)
    matter.bodies[b].surface = touchable_surface(model.bodies[b], {});
}

}  // namespace verve
