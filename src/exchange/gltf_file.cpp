#include "exchange/gltf_file.h"

#include <algorithm>
#include <cmath>
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
        uvs.push_back(uv < 0 ? std::array<double, 2>{0, 0}
                             : std::array<double, 2>{look->uvs[uv][0], 1 - look->uvs[uv][1]});
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
  while (bin_->size() % 4) bin_->number(std::uint8_t(0));
  view_begin_ = bin_->size();
  view_ = (kind ? ",\"target\":" + std::to_string(kind) : "") +
          (stride ? ",\"byteStride\":" + std::to_string(stride) : "");
  return view_count_;
}

void GltfFile::end_view() {
  views_ += std::string(view_count_++ ? "," : "") + "{\"buffer\":0,\"byteOffset\":" + std::to_string(view_begin_) +
            ",\"byteLength\":" + std::to_string(bin_->size() - view_begin_) + view_ + "}";
}

int GltfFile::accessor(int view, std::size_t count, const char* type, int component, const std::string& more) {
  accessors_ += accessor_count_ ? ",{" : "{";
  if (view >= 0) accessors_ += "\"bufferView\":" + std::to_string(view) + ",";
  accessors_ += "\"componentType\":" + std::to_string(component) + ",\"count\":" + std::to_string(count) +
                ",\"type\":\"" + type + "\"" + more + "}";
  return accessor_count_++;
}

std::string GltfFile::sparse(std::size_t count, int indices, int values) {
  return ",\"sparse\":{\"count\":" + std::to_string(count) + ",\"indices\":{\"bufferView\":" +
         std::to_string(indices) + ",\"componentType\":5125},\"values\":{\"bufferView\":" + std::to_string(values) +
         "}}";
}

int GltfFile::floats(const std::vector<float>& values, int size, const std::string& more) {
  constexpr const char* types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
  const int view = begin_view(0);
  for (const float v : values) number(v);
  end_view();
  return accessor(view, values.size() / std::size_t(size), types[size - 1], 5126, more);
}

int GltfFile::indices(const std::vector<int>& values) {
  const int view = begin_view(34963);
  for (const int v : values) number(std::uint32_t(v));
  end_view();
  return accessor(view, values.size(), "SCALAR", 5125);
}

int GltfFile::texture_coordinates(const std::vector<std::array<double, 2>>& uvs, bool small) {
  const auto in_unit = [](const auto& uv) { return uv[0] >= 0 && uv[0] <= 1 && uv[1] >= 0 && uv[1] <= 1; };
  small = small && std::all_of(uvs.begin(), uvs.end(), in_unit);
  const int view = begin_view(34962);
  for (const auto& uv : uvs)
    for (const double c : uv) small ? number(std::uint16_t(std::lround(c * 65535))) : number(float(c));
  end_view();
  return accessor(view, uvs.size(), "VEC2", small ? 5123 : 5126, small ? ",\"normalized\":true" : "");
}

int GltfFile::vectors(const std::vector<Vec3>& values, const Vectors& how) {
  const bool floats = how.width == Width::floats, shorts = how.width == Width::shorts;
  const std::size_t size = floats ? 12 : shorts ? 6 : 3;  // of one
  const auto stored = [&](double c) { return floats ? double(float(c)) : std::round(c * largest(how.width)); };
  const auto write = [&](const Vec3& v) {
    for (const double c : {v.x, v.y, v.z})
      floats ? number(float(c)) : shorts ? number(std::int16_t(stored(c))) : number(std::int8_t(stored(c)));
  };
  std::vector<int> changed;
  Vec3 low{INFINITY, INFINITY, INFINITY}, high = -low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bool any = false;
    for (int k = 0; k < 3; ++k) {
      const double c = stored(values[i][k]);
      low[k] = std::min(low[k], c), high[k] = std::max(high[k], c), any |= c != 0;
    }
    if (any) changed.push_back(int(i));
  }
  std::string more = floats ? "" : ",\"normalized\":true";
  const auto list = [](const Vec3& v) {
    return "[" + shortest_number(v.x) + "," + shortest_number(v.y) + "," + shortest_number(v.z) + "]";
  };
  if (how.bounds) more += ",\"min\":" + list(low) + ",\"max\":" + list(high);
  const int component = floats ? 5126 : shorts ? 5122 : 5120;
  const std::size_t stride = (size + 3) / 4 * 4;
  if (how.change && changed.size() * (4 + size) < values.size() * stride) {  // what is not named is 0
    if (changed.empty()) return accessor(-1, values.size(), "VEC3", component, more);
    const int which = begin_view(0);
    for (const int i : changed) number(std::uint32_t(i));
    end_view();
    const int what = begin_view(0);
    for (const int i : changed) write(values[std::size_t(i)]);
    end_view();
    return accessor(-1, values.size(), "VEC3", component, more + sparse(changed.size(), which, what));
  }
  const int view = begin_view(34962, int(stride));
  for (const Vec3& v : values) {
    write(v);
    for (std::size_t pad = size; pad < stride; ++pad) number(std::int8_t(0));
  }
  end_view();
  return accessor(view, values.size(), "VEC3", component, more);
}

int GltfFile::material(const std::string& name, const std::array<double, 4>& color) {
  materials_ += std::string(material_count_ ? "," : "") + "{\"name\":" + quote_json(name) +
                ",\"doubleSided\":true,\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.5,"
                "\"baseColorFactor\":[";
  for (int k = 0; k < 4; ++k) materials_ += (k ? "," : "") + shortest_number(std::clamp(color[k], 0.0, 1.0));
  materials_ += std::string("]}") + (color[3] < 1 ? ",\"alphaMode\":\"BLEND\"}" : "}");
  return material_count_++;
}

void GltfFile::finish(const std::string& meshes, const std::string& nodes, const std::vector<int>& roots,
                      const std::string& more) {
  while (bin_->size() % 4) bin_->number(std::uint8_t(0));
  const std::size_t data = bin_->size();
  bin_->close();
  std::string json =
      "{\"asset\":{\"version\":\"2.0\",\"generator\":\"verve convert\"},\"scene\":0,\"scenes\":[{\"nodes\":[";
  for (std::size_t n = 0; n < roots.size(); ++n) json += (n ? "," : "") + std::to_string(roots[n]);
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
