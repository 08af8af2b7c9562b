// Materials by name: what a body is made of, in SI units, with the sources of the numbers. In scene files
// "material": "jelly"; `verve list materials`, the schema and docs/materials.md read the same table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verve/scene.h"

namespace verve {

struct MaterialInfo {
  std::string name;
  std::string help;        ///< what it is, in a few words
  int dimension = 3;       ///< of the elements it is for: 3 tetrahedra, 2 triangles, 1 edges
  double density = 0;      ///< [kg/m^3]
  double young = 0;        ///< Young's modulus [Pa]
  double poisson = 0;      ///< Poisson's ratio
  double loss = 0;         ///< loss factor: share of the elastic energy that a radian of an oscillation takes
  double friction = 0;     ///< of dry contact with itself
  double thickness = 0;    ///< of a sheet, diameter of a rope [m]
  double bending = 0;      ///< stiffness of a sheet [N m], of a rope [N m^2]
  std::string source;      ///< of the numbers above
  std::string color;       ///< "#rrggbb"
  double half_life = 0;    ///< of oscillations [s], from the loss factor: see docs/materials.md
  double restitution = 0;  ///< of an impact, from the loss factor

  double body_density() const;  ///< [kg/m^3] of tetrahedra, [kg/m^2] of triangles, [kg/m] of edges
  /// Young's modulus of bodies: [Pa] of tetrahedra; of triangles times thickness [N/m], at most what stretches a sheet
  /// by 0.2 % under the weight of a metre of it (docs/materials.md); of edges times the section [N].
  double body_young() const;
};

const std::vector<MaterialInfo>& material_infos();
/// Null when there is none of that name.
const MaterialInfo* find_material(std::string_view name);
/// What a body gets that names neither a material nor potentials; null when there are no such elements.
const MaterialInfo* default_material(int dimension);
/// Of all materials; with a dimension, of those for such elements.
const std::vector<std::string>& material_names();
std::vector<std::string> material_names(int dimension);

/// Sets density, potentials, friction, restitution and half-life of a body, its colour, and the thickness of a sheet
/// or rope; what is changed afterwards wins. The body's mass, if it was set, is cleared. Where the mesh is there
/// already and has nothing to bend at, as a single edge or triangle, bending is left out.
void set_material(BodySpec& body, const MaterialInfo& material);
/// Throws std::invalid_argument with the nearest name when there is no such material.
void set_material(BodySpec& body, std::string_view name);

/// What a material needs to know of a mesh.
struct MeshKind {
  int dimension = 0;   ///< 3 with tetrahedra, otherwise 2 with triangles, 1 with edges, 0 without any
  bool bends = false;  ///< there are edges between two triangles, or vertices between two edges
};
MeshKind kind_of(const Mesh& mesh);
/// A file is read for it, a line generated; dimension 0 when that fails.
MeshKind kind_of(const MeshSpec& mesh);

}  // namespace verve
