// Meshes: tetrahedra, triangles and edges over one set of vertices.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "verve/diagnostics.h"
#include "verve/parameters.h"
#include "verve/vec.h"

namespace verve {

/// How a file described a surface, kept for the way out: polygons with any number of corners, which may have texture
/// coordinates and normals, in materials with names; colours of vertices. Its vertices are those of the mesh; nothing of
/// it is simulated.
struct SurfaceLook {
  struct Material {
    std::string name;
    std::array<double, 4> color{0.8, 0.8, 0.8, 1};  ///< red, green, blue, opacity
  };
  std::vector<int> first{0};               ///< corner of each polygon; one more at the end
  std::vector<int> vertex;                 ///< of each corner
  std::vector<int> uv;                     ///< of each corner, in `uvs`; -1 or an empty list: none
  std::vector<std::array<double, 2>> uvs;  ///< from the lower left corner of the texture
  std::vector<int> normal;                 ///< of each corner: where those of a vertex agree, it is smooth; empty: unknown
  std::vector<int> material;               ///< of each polygon, in `materials`; -1 or an empty list: none
  std::vector<Material> materials;
  std::vector<std::array<double, 4>> colors;  ///< of each vertex; empty: none
  int polygons() const { return int(first.size()) - 1; }
};

struct Mesh {
  std::vector<Vec3> vertices;                  ///< [m]
  std::vector<std::array<int, 4>> tetrahedra;  ///< positively oriented
  std::vector<std::array<int, 3>> triangles;   ///< sheets; the skin of a solid is found by surface()
  std::vector<std::array<int, 2>> edges;       ///< ropes and chains; edges of triangles and tets are implied
  std::shared_ptr<const SurfaceLook> look{};   ///< of the triangles, where a file has more to say of them
};

/// 6V = (b-a) x (c-a) . (d-a)
double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);
/// Boundary faces of the tetrahedra (normals outward) followed by the mesh's own triangles.
std::vector<std::array<int, 3>> surface(const Mesh& mesh);
/// The same as a mesh of its own. Without tetrahedra all vertices stay; with them those of the skin do, in their order.
Mesh skin_of(const Mesh& mesh);
/// Every edge of the mesh once, lower vertex first, sorted.
std::vector<std::array<int, 2>> unique_edges(const Mesh& mesh);
/// Smallest and largest dihedral angle over all tetrahedra [degrees].
std::array<double, 2> dihedral_range(const Mesh& mesh);

/// What check_mesh does about elements that cannot be simulated.
enum class MeshRepair {
  refuse,  ///< every fault is an error
  repair   ///< inverted tets are flipped, duplicated and degenerate elements dropped, unreferenced vertices kept
           ///< without mass; each kind is reported once as a warning with its count and first index
};
/// Finds non-finite vertices, indices out of range, degenerate, inverted and duplicated elements,
/// vertices that no element uses. Out-of-range indices, non-finite vertices and empty meshes are always errors.
void check_mesh(Mesh& mesh, MeshRepair repair, const std::string& where, Diagnostics& out);

/// A format of mesh files that can be read.
struct MeshFormatInfo {
  std::string name, help;
  std::vector<std::string> extensions;  ///< ".ply"
};
const std::vector<MeshFormatInfo>& mesh_format_infos();

/// Reads any of mesh_format_infos(), by extension; the content must agree with it, and decides where the extension is
/// none of these. The vertex order of the file is kept. Diagnostics carry file and line (or byte); the mesh has been
/// through check_mesh. `object`: only what the file has under this name, with the vertices that it uses.
Expected<Mesh> read_mesh(const std::filesystem::path& file, MeshRepair repair = MeshRepair::repair,
                         const std::string& object = {});
/// The names of the objects in a file, in its order; none where its format has no objects.
Expected<std::vector<std::string>> mesh_objects(const std::filesystem::path& file);
/// The same for the bytes of a file; `name` stands for it in diagnostics and gives the extension. Files that need
/// others beside them (TetGen, glTF with buffers of its own) are refused.
Expected<Mesh> parse_mesh(const std::string& text, const std::string& name, MeshRepair repair = MeshRepair::repair,
                          const std::string& object = {});
/// Writes Medit .mesh, or a surface as .obj, .ply or .stl, by extension; of tetrahedra their skin.
Expected<bool> write_mesh(const Mesh& mesh, const std::filesystem::path& file);

/// Fills {distance < 0} with tetrahedra by isosurface stuffing (Labelle and Shewchuk 2007) on a BCC lattice of the
/// given spacing between lower and upper. Volumes are positive and dihedral angles bounded for any continuous
/// function; docs/meshes.md states the bounds. The function need not be a true distance.
Expected<Mesh> tetrahedralize(const std::function<double(const Vec3&)>& distance, const Vec3& lower, const Vec3& upper,
                              double spacing);

/// Points carried by tetrahedra: each follows the affine map of one tetrahedron.
struct Embedding {
  std::vector<std::array<int, 4>> vertices;    ///< of the carrying tetrahedron, per point
  std::vector<std::array<double, 4>> weights;  ///< barycentric, of sum 1; some negative for a point outside
  double farthest = 0;                         ///< of the points outside, from its tetrahedron [m]
};
/// Finds the tetrahedron that holds each point, or the nearest one. Throws std::invalid_argument when the carrier has
/// no tetrahedra or a point is not finite.
Embedding embed(const Mesh& carrier, const std::vector<Vec3>& points);
/// Where the points are when the carrier's vertices are at the given positions.
std::vector<Vec3> carry(const Embedding& embedding, const std::vector<Vec3>& carrier);
/// The same without a check or an allocation: one position per vertex of the carrier in, one per point out.
void carry(const Embedding& embedding, const Vec3* carrier, Vec3* out);

/// Elements that a mesh has lost (docs/tearing.md), by their places in its lists, ascending.
struct RemovedElements {
  std::vector<int> tetrahedra, triangles, edges;
  bool empty() const { return tetrahedra.empty() && triangles.empty() && edges.empty(); }
  bool operator==(const RemovedElements&) const = default;
};
/// What is left of a mesh; its vertices stay.
Mesh without(const Mesh& mesh, const RemovedElements& removed);
/// What is left of a surface that `carrier` carries: triangles go with the tetrahedron that carries one of their
/// corners.
Mesh without(const Mesh& surface, const Embedding& embedding, const Mesh& carrier, const RemovedElements& removed);

/// A generator makes a mesh from a few numbers: "box", "ball", "bear", ...
struct GeneratorInfo {
  std::string name;
  std::string help;
  std::vector<ParameterInfo> parameters;
  bool around_surface = false;  ///< made around a given surface: "cage"
  int dimension = 3;            ///< of its elements: 3 tetrahedra, 2 triangles, 1 edges
};
const std::vector<GeneratorInfo>& mesh_generators();
/// `around`: a mesh with triangles or tetrahedra, for the generators that need a surface.
Expected<Mesh> generate_mesh(const std::string& generator, const Parameters& parameters = {},
                             const Mesh* around = nullptr);

}  // namespace verve
