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

/// The vertices that elements use, in their order.
void drop_unused(Mesh& mesh) {
  std::vector<int> number(mesh.vertices.size(), -1);
  for (const auto& t : mesh.tetrahedra)
    for (const int v : t) number[v] = 0;
  for (const auto& t : mesh.triangles)
    for (const int v : t) number[v] = 0;
  for (const auto& e : mesh.edges)
    for (const int v : e) number[v] = 0;
  std::vector<Vec3> vertices;
  std::vector<std::array<double, 4>> colors;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = int(vertices.size());
    vertices.push_back(mesh.vertices[v]);
    if (mesh.look && !mesh.look->colors.empty()) colors.push_back(mesh.look->colors[v]);
  }
  mesh.vertices = std::move(vertices);
  for (auto& t : mesh.tetrahedra)
    for (int& v : t) v = number[v];
  for (auto& t : mesh.triangles)
    for (int& v : t) v = number[v];
  for (auto& e : mesh.edges)
    for (int& v : e) v = number[v];
  if (!mesh.look) return;
  SurfaceLook look = *mesh.look;
  for (int& v : look.vertex) v = number[v];
  look.colors = std::move(colors);
  mesh.look = std::make_shared<const SurfaceLook>(std::move(look));
}

Expected<Mesh> read(const MeshSource& source, MeshRepair repair) {
  Diagnostics out;
  const MeshFormat* format = choose(source, out);
  if (!format) return out;
  Mesh mesh = format->read(source, out);
  if (out.has_errors()) return out;
  if (const ObjectNames& objects = source.objects; !objects.all()) {
    const auto& names = objects.names();
    if (names.empty())
      out.error(source.name, "found no objects with names, expected one called \"" + objects.wanted() + "\"");
    else if (std::find(names.begin(), names.end(), objects.wanted()) == names.end())
      out.error(source.name, "found no object \"" + objects.wanted() + "\", " + expected_one_of(objects.wanted(), names));
    if (out.has_errors()) return out;
    drop_unused(mesh);
  }
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

Expected<Mesh> parse_mesh(const std::string& text, const std::string& name, MeshRepair repair,
                          const std::string& object) {
  ObjectNames objects(object);
  return read({text, name, {}, objects}, repair);
}

Expected<Mesh> read_mesh(const std::filesystem::path& file, MeshRepair repair, const std::string& object) {
  Diagnostics out;
  const auto text = load_text(file, out);
  if (!text) return out;
  ObjectNames objects(object);
  return read({*text, file.string(), file, objects}, repair);
}

Expected<std::vector<std::string>> mesh_objects(const std::filesystem::path& file) {
  Diagnostics out;
  const auto text = load_text(file, out);
  if (!text) return out;
  ObjectNames objects("");
  const MeshSource source{*text, file.string(), file, objects};
  if (const MeshFormat* format = choose(source, out)) format->read(source, out);
  if (out.has_errors()) return out;
  return {objects.names(), std::move(out)};
}

}  // namespace verve
