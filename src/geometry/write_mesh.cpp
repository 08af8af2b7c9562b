#include <algorithm>
#include <cstdio>

#include "base/new_file.h"
#include "geometry/surface_formats.h"

namespace verve {

namespace {

void append_vertex(std::string& text, const Vec3& p) {
  char buffer[128];  // 17 significant digits: every double comes back as it was
  std::snprintf(buffer, sizeof buffer, "%.17g %.17g %.17g 0\n", p.x, p.y, p.z);
  text += buffer;
}

template <std::size_t N>
void append_elements(std::string& text, const std::vector<std::array<int, N>>& elements) {
  for (const auto& element : elements) {
    for (const int v : element) text += std::to_string(v + 1) + ' ';
    text += "0\n";
  }
}

std::string medit_text(const Mesh& mesh) {
  std::string text = "MeshVersionFormatted 2\nDimension 3\n\nVertices\n" + std::to_string(mesh.vertices.size()) + "\n";
  for (const Vec3& p : mesh.vertices) append_vertex(text, p);
  const auto section = [&](const char* name, const auto& elements) {
    if (elements.empty()) return;
    text += std::string("\n") + name + "\n" + std::to_string(elements.size()) + "\n";
    append_elements(text, elements);
  };
  section("Tetrahedra", mesh.tetrahedra);
  section("Triangles", mesh.triangles);
  section("Edges", mesh.edges);
  return text + "\nEnd\n";
}

}  // namespace

Expected<bool> write_mesh(const Mesh& mesh, const std::filesystem::path& file) {
  Diagnostics out;
  std::string extension = file.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  std::string text;
  std::vector<std::string> known = {".mesh"};
  if (extension == ".mesh") text = medit_text(mesh);
  for (const SurfaceFormat& format : surface_formats()) {
    known.push_back("." + format.name);
    if (extension != known.back()) continue;
    text = format.file(mesh.tetrahedra.empty() ? mesh : skin_of(mesh), true);
    if (!mesh.tetrahedra.empty())
      out.note(file.string(), "the format holds no tetrahedra: only the skin was written, with its vertices");
  }
  if (text.empty()) {
    out.error(file.string(), "found the extension \"" + extension + "\", " + expected_one_of(extension, known));
    return out;
  }
  if (const std::string error = write_whole_file(file, text); !error.empty()) {
    out.error(file.string(), "cannot be written: " + error);
    return out;
  }
  return {true, std::move(out)};
}

}  // namespace verve
