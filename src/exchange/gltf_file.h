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
  template <class Number>
  void number(Number value) {
    bin_->number(value);
  }
  /// `more`: further members, each after a comma.
  int accessor(int view, std::size_t count, const char* type, int component, const std::string& more = "");
  /// Member of an accessor without a view: so many elements are not 0, those of which one view has the numbers.
  static std::string sparse(std::size_t count, int indices, int values);
  /// `size` of them for each, 1 to 4.
  int floats(const std::vector<float>& values, int size = 1, const std::string& more = "");
  int indices(const std::vector<int>& values);
  /// `small`: 16 bits each, where all are from 0 to 1.
  int texture_coordinates(const std::vector<std::array<double, 2>>& uvs, bool small = false);

  enum class Width { floats, shorts, bytes };  ///< the last two: of numbers from -1 to 1, by KHR_mesh_quantization
  static double largest(Width width) { return width == Width::shorts ? 32767 : 127; }
  struct Vectors {
    Width width = Width::floats;
    bool bounds = false;  ///< least and greatest with them, as positions have
    bool change = false;  ///< of a morph target: those that are 0 may be left out
  };
  int vectors(const std::vector<Vec3>& values, const Vectors& how);
  int material(const std::string& name, const std::array<double, 4>& color);
  /// Puts header, JSON and data together.
  void finish(const std::string& meshes, const std::string& nodes, const std::vector<int>& roots,
              const std::string& more);

 private:
  std::filesystem::path file_, part_;
  std::unique_ptr<Output> bin_;
  std::string views_, accessors_, materials_, view_;
  std::size_t view_begin_ = 0;
  int view_count_ = 0, accessor_count_ = 0, material_count_ = 0;
};

}  // namespace verve
