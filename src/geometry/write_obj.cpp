#include <cstdio>

#include "geometry/shading_normals.h"
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

/// Polygons as the file had them that the surface came from, with normals where it had some.
void append_look(std::string& text, const Mesh& mesh) {
  const SurfaceLook& look = *mesh.look;
  char line[120];
  for (const auto& [u, v] : look.uvs) {
    std::snprintf(line, sizeof line, "vt %.9g %.9g\n", u, v);
    text += line;
  }
  std::vector<int> normal;
  if (!look.normal.empty()) {
    const ShadingNormals normals(mesh);
    normal = normals.of_corner();
    for (const Vec3& n : normals.at(mesh.vertices)) {
      std::snprintf(line, sizeof line, "vn %.4f %.4f %.4f\n", n.x, n.y, n.z);
      text += line;
    }
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
      const bool textured = !look.uv.empty() && look.uv[i] >= 0;
      if (textured) text += '/' + std::to_string(look.uv[i] + 1);
      if (!normal.empty()) text += (textured ? "/" : "//") + std::to_string(normal[i] + 1);
    }
    text += '\n';
  }
}

}  // namespace

std::string obj_file(const Mesh& mesh, bool wide) {
  std::string text;
  const bool colored = mesh.look && !mesh.look->colors.empty();
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3& p = mesh.vertices[v];
    char line[128];  // every double comes back as it was with 17 significant digits, every float with 9
    if (wide)
      std::snprintf(line, sizeof line, "v %.17g %.17g %.17g", p.x, p.y, p.z);
    else
      std::snprintf(line, sizeof line, "v %.9g %.9g %.9g", double(float(p.x)), double(float(p.y)),
                    double(float(p.z)));
    text += line;
    if (colored) {
      const auto& c = mesh.look->colors[v];
      std::snprintf(line, sizeof line, " %.4g %.4g %.4g", c[0], c[1], c[2]);
      text += line;
    }
    text += '\n';
  }
  if (mesh.look)
    append_look(text, mesh);
  else
    append(text, "f", surface(mesh));
  append(text, "l", mesh.edges);
  return text;
}

}  // namespace verve
