#include <algorithm>

#include "geometry/mesh_formats.h"

namespace verve {

namespace {

const std::vector<MeshFormat>& formats() {
  static const std::vector<MeshFormat> table = {medit_format(), obj_format(),  stl_format(), ply_format(),
                                                off_format(),   gltf_format(), usda_format(), gmsh_format(),
                                                vtk_format(),   vtu_format(),  tetgen_format()};
  return table;
}

/// The format that the extension names, if the content does not contradict; else the one that the content names.
const MeshFormat* choose(const MeshSource& source, Diagnostics& out) {
  std::string extension = std::filesystem::path(source.name).extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  const MeshFormat *named = nullptr, *meant = nullptr;
  std::vector<std::string> known;
  for (const MeshFormat& f : formats()) {
    for (const std::string& e : f.info.extensions) {
      known.push_back(e);
      if (e == extension) named = &f;
    }
    if (!meant && f.recognised && f.recognised(source.bytes)) meant = &f;
  }
  if (named && named->recognised && named->recognised(source.bytes)) meant = named;
  if (!named && !meant)
    out.error(source.name, "found the extension \"" + extension + "\", " + expected_one_of(extension, known));
  if (named && meant && named != meant)
    out.error(source.name, "found a file that begins as " + meant->info.help + ", expected " + named->info.help +
                               " as the extension \"" + extension + "\" says: rename it to " +
                               meant->info.extensions[0]);
  return out.has_errors() ? nullptr : named ? named : meant;
}

Expected<Mesh> read(const MeshSource& source, MeshRepair repair) {
  Diagnostics out;
  const MeshFormat* format = choose(source, out);
  if (!format) return out;
  Mesh mesh = format->read(source, out);
  if (out.has_errors()) return out;
  drop_implied(mesh, source.name, out);
  check_mesh(mesh, repair, source.name, out);
  if (out.has_errors()) return out;
  return {std::move(mesh), std::move(out)};
}

}  // namespace

const std::vector<MeshFormatInfo>& mesh_format_infos() {
  static const std::vector<MeshFormatInfo> infos = [] {
    std::vector<MeshFormatInfo> out;
    for (const MeshFormat& f : formats()) out.push_back(f.info);
    return out;
  }();
  return infos;
}

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
  return read({text, name, {}}, repair);
}

Expected<Mesh> read_mesh(const std::filesystem::path& file, MeshRepair repair) {
  Diagnostics out;
  const auto text = load_text(file, out);
  if (!text) return out;
  return read({*text, file.string(), file}, repair);
}

}  // namespace verve
