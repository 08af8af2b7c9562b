// Formats of mesh files. A further one is a file with a function that gives a MeshFormat, and a line in the table of
// read_mesh.cpp.
#pragma once

#include <algorithm>

#include "geometry/mesh_text.h"
#include "verve/mesh.h"

namespace verve {

/// The objects of a file by their names: the one that is wanted, and what there is.
class ObjectNames {
 public:
  explicit ObjectNames(std::string wanted) : wanted_(std::move(wanted)) {}
  bool all() const { return wanted_.empty(); }
  /// Whether an object of this name is to be read.
  bool take(const std::string& name) {
    if (!name.empty() && std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    return all() || name == wanted_;
  }
  const std::string& wanted() const { return wanted_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string wanted_;
  std::vector<std::string> names_;
};

/// A file in memory.
struct MeshSource {
  std::string_view bytes;
  std::string name;            ///< in messages
  std::filesystem::path file;  ///< beside which others may lie; empty when there are only the bytes
  ObjectNames& objects;        ///< readers of formats that have objects leave out the elements of those not taken
};

struct MeshFormat {
  MeshFormatInfo info;
  /// By its first bytes; null where files of a format have no mark of their own.
  bool (*recognised)(std::string_view bytes);
  /// Reports what is wrong and returns what could be read; read_mesh checks the result.
  Mesh (*read)(const MeshSource& source, Diagnostics& out);
};

MeshFormat medit_format();
MeshFormat tetgen_format();
MeshFormat obj_format();
MeshFormat stl_format();
MeshFormat ply_format();
MeshFormat off_format();
MeshFormat gltf_format();
MeshFormat usda_format();
MeshFormat gmsh_format();
MeshFormat vtk_format();
MeshFormat vtu_format();

}  // namespace verve
