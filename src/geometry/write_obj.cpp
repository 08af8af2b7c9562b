#include <cstdio>

#include "geometry/surface_formats.h"

namespace verve {

namespace {

template <std::size_t N>
void append(std::string& text, const char* before, const std::vector<std::array<int, N>>& elements) {
  for (const auto& element : elements) {
    text += before;
    for (const int v : element) text += ' ' + std::to_string(v + 1);
    text += '\n';
  }
}

/// Polygons as the file had them that the surface came from.
void append_look(std::string& text, const SurfaceLook& look) {
  char line[80];
  for (const auto& [u, v] : look.uvs) {
    std::snprintf(line, sizeof line, "vt %.9g %.9g\n", u, v);
    text += line;
  }
  int material = -1;
  for (int p = 0; p < look.polygons(); ++p) {
    if (!look.material.empty() && look.material[p] != material && look.material[p] >= 0) {
      material = look.material[p];
      text += "usemtl " + look.materials[material].name + "\n";
    }
    text += 'f';
    for (int i = look.first[p]; i < look.first[p + 1]; ++i) {
      text += ' ' + std::to_string(look.vertex[i] + 1);
      if (!look.uv.empty() && look.uv[i] >= 0) text += '/' + std::to_string(look.uv[i] + 1);
    }
    text += '\n';
  }
}

}  // namespace

std::string obj_file(const Mesh& mesh, bool wide) {
  std::string text;
  for (const Vec3& p : mesh.vertices) {
    char line[128];  // every double comes back as it was with 17 significant digits, every float with 9
    if (wide)
      std::snprintf(line, sizeof line, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    else
      std::snprintf(line, sizeof line, "v %.9g %.9g %.9g\n", double(float(p.x)), double(float(p.y)),
                    double(float(p.z)));
    text += line;
  }
  if (mesh.look)
    append_look(text, *mesh.look);
  else
    append(text, "f", surface(mesh));
  append(text, "l", mesh.edges);
  return text;
}

}  // namespace verve
