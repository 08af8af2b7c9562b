// Files that hold one surface each. A further format is one file beside write_ply.cpp and one line in
// surface_formats.cpp.
#pragma once

#include <string>

#include "verve/convert.h"

namespace verve {

/// Wavefront: text, the skin of tetrahedra, triangles, edges. With `wide` every double comes back as it was, otherwise
/// every float.
std::string obj_file(const Mesh& mesh, bool wide);
/// Stanford: binary, little endian, coordinates in double if `wide`, otherwise in float.
std::string ply_file(const Mesh& mesh, bool wide);
/// Binary; triangles alone, always in float.
std::string stl_file(const Mesh& mesh, bool wide);

}  // namespace verve
