#include <algorithm>

#include "geometry/mesh_text.h"

namespace verve {

namespace {

struct Format {
  const char* extension;
  Mesh (*read)(const std::filesystem::path&, Diagnostics&);
};
constexpr Format formats[] = {{".mesh", read_medit}, {".node", read_tetgen}, {".ele", read_tetgen}, {".obj", read_obj}};

}  // namespace

void drop_implied(Mesh& mesh, const std::string& where, Diagnostics& out) {
  const auto sorted = [](auto element) {
    std::sort(element.begin(), element.end());
    return element;
  };
  if (!mesh.tetrahedra.empty() && !mesh.triangles.empty()) {
    std::vector<std::array<int, 3>> faces;
    for (const auto& t : mesh.tetrahedra)
      for (int i = 0; i < 4; ++i) faces.push_back(sorted(std::array{t[(i + 1) % 4], t[(i + 2) % 4], t[(i + 3) % 4]}));
    std::sort(faces.begin(), faces.end());
    const std::size_t dropped = std::erase_if(
        mesh.triangles, [&](const auto& t) { return std::binary_search(faces.begin(), faces.end(), sorted(t)); });
    if (dropped > 0)
      out.note(where, std::to_string(dropped) + " triangles are faces of tetrahedra: left out, the skin is found anew");
  }
  if (!mesh.edges.empty()) {
    Mesh elements;
    elements.tetrahedra = mesh.tetrahedra;
    elements.triangles = mesh.triangles;
    const auto implied = unique_edges(elements);
    const std::size_t dropped = std::erase_if(
        mesh.edges, [&](const auto& e) { return std::binary_search(implied.begin(), implied.end(), sorted(e)); });
    if (dropped > 0)
      out.note(where, std::to_string(dropped) + " edges belong to tetrahedra or triangles: left out, they are implied");
  }
}

Expected<Mesh> parse_mesh(const std::string& text, const std::string& name, MeshRepair repair) {
  Diagnostics out;
  std::string extension = std::filesystem::path(name).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  if (extension != ".mesh" && extension != ".obj") {
    out.error(name, "found the extension \"" + extension + "\", " +
                        expected_one_of(extension, std::vector<std::string>{".mesh", ".obj"}));
    return out;
  }
  Mesh mesh = extension == ".obj" ? parse_obj(text, name, out) : parse_medit(text, name, out);
  if (out.has_errors()) return out;
  drop_implied(mesh, name, out);
  check_mesh(mesh, repair, name, out);
  if (out.has_errors()) return out;
  return {std::move(mesh), std::move(out)};
}

Expected<Mesh> read_mesh(const std::filesystem::path& file, MeshRepair repair) {
  Diagnostics out;
  std::string extension = file.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  const Format* format = nullptr;
  std::vector<std::string> known;
  for (const Format& f : formats) {
    known.push_back(f.extension);
    if (extension == f.extension) format = &f;
  }
  if (!format) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
      out.error(file.string(), "found a directory, expected a mesh file");
    else
      out.error(file.string(), "found the extension \"" + extension + "\", " + expected_one_of(extension, known));
    return out;
  }

  Mesh mesh = format->read(file, out);
  if (out.has_errors()) return out;
  drop_implied(mesh, file.string(), out);
  check_mesh(mesh, repair, file.string(), out);
  if (out.has_errors()) return out;
  return {std::move(mesh), std::move(out)};
}

}  // namespace verve
