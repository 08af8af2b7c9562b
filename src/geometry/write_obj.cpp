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

}  // namespace

std::string obj_file(const Mesh& mesh, bool wide) {
  std::string text;
  for (const Vec3& p : mesh.vertices) {
    char line[128];  // 17 significant digits for a double, 9 for a float
    std::snprintf(line, sizeof line, "v %.*g %.*g %.*g\n", wide ? 17 : 9, p.x, wide ? 17 : 9, p.y, wide ? 17 : 9, p.z);
    text += line;
  }
  append(text, "f", surface(mesh));
  append(text, "l", mesh.edges);
  return text;
}

}  // namespace verve
