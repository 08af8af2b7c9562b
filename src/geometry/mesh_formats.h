// Formats of mesh files. A further one is a file with a function that gives a MeshFormat, and a line in the table of
// read_mesh.cpp.
#pragma once

#include "geometry/mesh_text.h"
#include "verve/mesh.h"

namespace verve {

/// A file in memory.
struct MeshSource {
  std::string_view bytes;
  std::string name;            ///< in messages
  std::filesystem::path file;  ///< beside which others may lie; empty when there are only the bytes
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
