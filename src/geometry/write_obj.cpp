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
    char line[128];  // every double comes back as it was with 17 significant digits, every float with 9
    if (wide)
      std::snprintf(line, sizeof line, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    else
      std::snprintf(line, sizeof line, "v %.9g %.9g %.9g\n", double(float(p.x)), double(float(p.y)),
                    double(float(p.z)));
    text += line;
  }
  append(text, "f", surface(mesh));
  append(text, "l", mesh.edges);
  return text;
}

}  // namespace verve
