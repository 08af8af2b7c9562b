// Parts of a glTF file that animations and vertex animation textures share.
#pragma once

#include "exchange/animation.h"
#include "exchange/output.h"
#include "geometry/shading_normals.h"

namespace verve {

/// A mesh as glTF wants it: triangles, a vertex for all that differs in place, texture coordinate or normal, primitives
/// by material.
struct GltfMesh {
  struct Primitive {
    int material = -1;  ///< of the look
    bool lines = false;
    std::vector<int> indices;
  };
  explicit GltfMesh(const Mesh& mesh);
  std::vector<int> source;                 ///< vertex of the mesh behind each
  ShadingNormals normals;
  std::vector<int> normal;                 ///< which of them; -1: of lines
  std::vector<std::array<double, 2>> uvs;  ///< from the upper left corner; empty: none
  std::vector<Primitive> primitives;
};

/// The binary chunk, in a file of its own until its length is known, and the JSON that describes it.
class GltfFile {
 public:
  explicit GltfFile(const std::filesystem::path& file);
  ~GltfFile();

  /// Numbers from here to the next call are of one view; kind 34962 vertices, 34963 indices, 0 others.
  int begin_view(int kind, int stride = 0);
  void end_view();
  void number(float value) { bin_->number(value); }
  void number(std::uint32_t value) { bin_->number(value); }
  /// Of positions, with their bounds; `offset` in the view.
  int accessor(int view, std::size_t offset, std::size_t count, const char* type, int component,
               const std::string& bounds = "");
  int positions(int view, std::size_t offset, const std::vector<Vec3>& x);
  /// Directions, or how they change.
  int normals(int view, std::size_t offset, const std::vector<Vec3>& n);
  int material(const std::string& name, const std::array<double, 4>& color);
  /// Puts header, JSON and data together.
  void finish(const std::string& meshes, const std::string& nodes, std::size_t node_count, const std::string& more);

 private:
  std::filesystem::path file_, part_;
  std::unique_ptr<Output> bin_;
  std::string views_, accessors_, materials_, view_;
  std::size_t view_begin_ = 0;
  int view_count_ = 0, accessor_count_ = 0, material_count_ = 0;
};

}  // namespace verve
