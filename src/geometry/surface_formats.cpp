#include "geometry/surface_formats.h"

namespace verve {

const std::vector<SurfaceFormat>& surface_formats() {
  static const std::vector<SurfaceFormat> formats{
      {"obj", "Wavefront, text", obj_file},
      {"ply", "Stanford, binary little endian", ply_file},
      {"stl", "STL, binary, triangles only", stl_file},
  };
  return formats;
}

}  // namespace verve
