#include "exchange/gltf_file.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "base/json.h"
#include "geometry/polygons.h"

namespace verve {

GltfMesh::GltfMesh(const Mesh& mesh) : normals(mesh) {
  std::map<std::array<int, 3>, int> known;
  const SurfaceLook* look = mesh.look.get();
  const bool textured = look && !look->uv.empty();
  const auto vertex = [&](int v, int uv, int n) {
    const auto [entry, fresh] = known.try_emplace({v, uv, n}, int(source.size()));
    if (fresh) {
      source.push_back(v), normal.push_back(n);
      if (textured)
        uvs.push_back(uv < 0 ? std::array<double, 2>{0, 0} : std::array<double, 2>{look->uvs[uv][0], 1 - look->uvs[uv][1]});
    }
    return entry->second;
  };
  const auto primitive = [&](int material, bool lines) -> Primitive& {
    for (Primitive& p : primitives)
      if (p.material == material && p.lines == lines) return p;
    return primitives.emplace_back(Primitive{material, lines, {}});
  };
  const std::vector<int>& corner_normal = normals.of_corner();
  std::vector<Vec3> corners;
  std::vector<std::array<int, 3>> triangles;
  for (int p = 0; look && p < look->polygons(); ++p) {
    corners.clear(), triangles.clear();
    for (int i = look->first[p]; i < look->first[p + 1]; ++i) corners.push_back(mesh.vertices[look->vertex[i]]);
    triangulate(corners, triangles);
    Primitive& own = primitive(look->material.empty() ? -1 : look->material[p], false);
    for (const auto& t : triangles)
      for (const int c : t) {
        const int i = look->first[p] + c;
        own.indices.push_back(vertex(look->vertex[i], textured ? look->uv[i] : -1, corner_normal[i]));
      }
  }
  int corner = 0;
  if (!look)
    for (const auto& t : surface(mesh))
      for (const int v : t) primitive(-1, false).indices.push_back(vertex(v, -1, corner_normal[corner++]));
  for (const auto& e : mesh.edges)
    for (const int v : e) primitive(-1, true).indices.push_back(vertex(v, -1, -1));
}

GltfFile::GltfFile(const std::filesystem::path& file)
    : file_(file), part_(file.string() + ".bin"), bin_(std::make_unique<Output>(part_)) {}

GltfFile::~GltfFile() {
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

int GltfFile::begin_view(int kind, int stride) {
  view_begin_ = bin_->size();
  view_ = (kind ? ",\"target\":" + std::to_string(kind) : "") + (stride ? ",\"byteStride\":" + std::to_string(stride) : "");
  return view_count_;
}

void GltfFile::end_view() {
  views_ += std::string(view_count_++ ? "," : "") + "{\"buffer\":0,\"byteOffset\":" + std::to_string(view_begin_) +
            ",\"byteLength\":" + std::to_string(bin_->size() - view_begin_) + view_ + "}";
}

int GltfFile::accessor(int view, std::size_t offset, std::size_t count, const char* type, int component,
                       const std::string& bounds) {
  accessors_ += std::string(accessor_count_ ? "," : "") + "{\"bufferView\":" + std::to_string(view) + ",\"byteOffset\":" +
                std::to_string(offset) + ",\"componentType\":" + std::to_string(component) + ",\"count\":" +
                std::to_string(count) + ",\"type\":\"" + type + "\"" + bounds + "}";
  return accessor_count_++;
}

int GltfFile::positions(int view, std::size_t offset, const std::vector<Vec3>& x) {
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (const Vec3& p : x)
    for (int k = 0; k < 3; ++k) {
      const float c = float(p[k]);
      number(c);
      low[k] = std::min(low[k], c), high[k] = std::max(high[k], c);
    }
  const auto list = [](const float* v) {
    return "[" + shortest_number(v[0]) + "," + shortest_number(v[1]) + "," + shortest_number(v[2]) + "]";
  };
  return accessor(view, offset, x.size(), "VEC3", 5126, ",\"min\":" + list(low) + ",\"max\":" + list(high));
}

int GltfFile::normals(int view, std::size_t offset, const std::vector<Vec3>& n) {
  for (const Vec3& v : n)
    for (int k = 0; k < 3; ++k) number(float(v[k]));
  return accessor(view, offset, n.size(), "VEC3", 5126);
}

int GltfFile::material(const std::string& name, const std::array<double, 4>& color) {
  materials_ += std::string(material_count_ ? "," : "") + "{\"name\":" + quote_json(name) +
                ",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.5,"
                "\"baseColorFactor\":[";
  for (int k = 0; k < 4; ++k) materials_ += (k ? "," : "") + shortest_number(std::clamp(color[k], 0.0, 1.0));
  materials_ += std::string("]}") + (color[3] < 1 ? ",\"alphaMode\":\"BLEND\"}" : "}");
  return material_count_++;
}

void GltfFile::finish(const std::string& meshes, const std::string& nodes, std::size_t node_count,
                      const std::string& more) {
  while (bin_->size() % 4) bin_->number(std::uint8_t(0));
  const std::size_t data = bin_->size();
  bin_->close();
  std::string json = "{\"asset\":{\"version\":\"2.0\",\"generator\":\"verve convert\"},\"scene\":0,\"scenes\":[{\"nodes\":[";
  for (std::size_t n = 0; n < node_count; ++n) json += (n ? "," : "") + std::to_string(n);
  json += "]}],\"nodes\":[" + nodes + "],\"meshes\":[" + meshes + "],\"materials\":[" + materials_ +
          "],\"accessors\":[" + accessors_ + "],\"bufferViews\":[" + views_ + "],\"buffers\":[{\"byteLength\":" +
          std::to_string(data) + "}]" + more + "}";
  while (json.size() % 4) json += ' ';
  const std::size_t whole = 28 + json.size() + data;
  if (whole > 0xffffffffu)
    throw std::runtime_error(file_.string() + ": would take " + std::to_string(whole / 1000000) +
                             " MB, expected at most 4294 in a .glb: fewer frames (--frames A:B:STEP), or --to usda");
  Output out(file_);
  out.text("glTF");
  out.number(std::uint32_t(2)), out.number(std::uint32_t(whole)), out.number(std::uint32_t(json.size()));
  out.text("JSON");
  out.text(json);
  out.number(std::uint32_t(data));
  out.text(std::string_view("BIN\0", 4));
  std::ifstream in(part_, std::ios::binary);
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) out.text({buffer, std::size_t(in.gcount())});
  out.close();
}

}  // namespace verve
