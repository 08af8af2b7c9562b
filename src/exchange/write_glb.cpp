// glTF 2.0 in one binary file: every frame but the first is a morph target, of places and normals, and weights go from
// one to the next. (Without normals a viewer shows every triangle flat: glTF 2.0, 3.7.2.1.)
#include <algorithm>

#include "base/json.h"
#include "exchange/gltf_file.h"

namespace verve {

namespace {

/// As they come back from a file.
Vec3 rounded(const Vec3& p) { return {double(float(p.x)), double(float(p.y)), double(float(p.z))}; }

std::vector<Vec3> chosen(const std::vector<Vec3>& x, const std::vector<int>& source) {
  std::vector<Vec3> out;
  for (const int v : source) out.push_back(v < 0 ? Vec3{0, 1, 0} : x[v]);  // lines have no normals
  return out;
}

}  // namespace

void write_glb(Animation& animation, const std::filesystem::path& folder) {
  GltfFile file(folder / (animation.name + ".glb"));
  const std::size_t frames = animation.frames.size(), targets = frames - 1;
  int times = -1, weights = -1;
  if (targets > 0) {
    int view = file.begin_view(0);
    const double start = animation.time(0);
    for (std::size_t k = 0; k < frames; ++k) file.number(float(animation.time(int(k)) - start));
    file.end_view();
    times = file.accessor(view, 0, frames, "SCALAR", 5126,
                          ",\"min\":[0],\"max\":[" + shortest_number(float(animation.time(int(targets)) - start)) + "]");
    view = file.begin_view(0);
    for (std::size_t k = 0; k < frames; ++k)
      for (std::size_t t = 1; t < frames; ++t) file.number(k == t ? 1.0f : 0.0f);
    file.end_view();
    weights = file.accessor(view, 0, frames * targets, "SCALAR", 5126);
  }
  std::string meshes, nodes, channels;
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
    const AnimatedShape& shape = animation.shapes[s];
    const GltfMesh mesh(shape.mesh);
    const std::vector<Vec3> base = chosen(shape.mesh.vertices, mesh.source);
    const bool lit = std::any_of(mesh.normal.begin(), mesh.normal.end(), [](int n) { return n >= 0; });
    const std::vector<Vec3> base_normals = chosen(mesh.normals.at(shape.mesh.vertices), mesh.normal);
    const int view = file.begin_view(34962, 12);
    const int position = file.positions(view, 0, base);
    std::vector<int> moved;
    for (std::size_t k = 1; k < frames; ++k) {
      const std::vector<Vec3>& now = animation.at(int(s), int(k)).vertices;
      std::vector<Vec3> x = chosen(now, mesh.source);
      for (std::size_t v = 0; v < x.size(); ++v) x[v] -= rounded(base[v]);  // so that rounding does not add up
      moved.push_back(file.positions(view, 12 * base.size() * k, x));
    }
    file.end_view();
    std::vector<int> turned_normals;
    int normal = -1;
    if (lit) {
      const int normals = file.begin_view(34962, 12);
      normal = file.normals(normals, 0, base_normals);
      for (std::size_t k = 1; k < frames; ++k) {
        std::vector<Vec3> n = chosen(mesh.normals.at(animation.at(int(s), int(k)).vertices), mesh.normal);
        for (std::size_t v = 0; v < n.size(); ++v) n[v] -= rounded(base_normals[v]);
        turned_normals.push_back(file.normals(normals, 12 * n.size() * k, n));
      }
      file.end_view();
    }
    // of lines: places alone
    const std::string line_attributes = "\"POSITION\":" + std::to_string(position);
    std::string attributes = line_attributes + (lit ? ",\"NORMAL\":" + std::to_string(normal) : "");
    if (!mesh.uvs.empty()) {
      const int texture = file.begin_view(34962);
      for (const auto& uv : mesh.uvs) file.number(float(uv[0])), file.number(float(uv[1]));
      file.end_view();
      attributes += ",\"TEXCOORD_0\":" + std::to_string(file.accessor(texture, 0, mesh.uvs.size(), "VEC2", 5126));
    }
    const bool colored = shape.mesh.look && !shape.mesh.look->colors.empty();
    if (colored) {
      const int colors = file.begin_view(34962);
      for (const int v : mesh.source)
        for (const double c : shape.mesh.look->colors[v]) file.number(float(c));
      file.end_view();
      attributes += ",\"COLOR_0\":" + std::to_string(file.accessor(colors, 0, mesh.source.size(), "VEC4", 5126));
    }
    std::string morphs, line_morphs;
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const std::string comma = k ? "," : "", target = "{\"POSITION\":" + std::to_string(moved[k]);
      line_morphs += comma + target + "}";
      morphs += comma + target + (lit ? ",\"NORMAL\":" + std::to_string(turned_normals[k]) : "") + "}";
    }
    std::string primitives;
    int plain = -1;
    for (const GltfMesh::Primitive& p : mesh.primitives) {
      const int indices = file.begin_view(34963);
      for (const int v : p.indices) file.number(std::uint32_t(v));
      file.end_view();
      int material = 0;
      if (p.material >= 0) {
        const auto& m = shape.mesh.look->materials[p.material];
        material = file.material(m.name, m.color);
      } else {
        // (colours of vertices are factors of it)
        if (plain < 0)
          plain = file.material(shape.name, colored ? std::array<double, 4>{1, 1, 1, 1}
                                                    : std::array<double, 4>{shape.color[0], shape.color[1], shape.color[2], 1});
        material = plain;
      }
      primitives += std::string(primitives.empty() ? "" : ",") + "{\"attributes\":{" + (p.lines ? line_attributes : attributes) + "},\"indices\":" +
                    std::to_string(file.accessor(indices, 0, p.indices.size(), "SCALAR", 5125)) + ",\"mode\":" +
                    (p.lines ? "1" : "4") + ",\"material\":" + std::to_string(material) +
                    (targets > 0 ? ",\"targets\":[" + (p.lines ? line_morphs : morphs) + "]" : "") + "}";
    }
    const std::string comma = s ? "," : "";
    meshes += comma + "{\"name\":" + quote_json(shape.name) + ",\"primitives\":[" + primitives + "]}";
    nodes += comma + "{\"name\":" + quote_json(shape.name) + ",\"mesh\":" + std::to_string(s) + "}";
    channels += comma + "{\"sampler\":0,\"target\":{\"node\":" + std::to_string(s) + ",\"path\":\"weights\"}}";
  }
  std::string more;
  if (targets > 0)
    more = ",\"animations\":[{\"name\":" + quote_json(animation.name) + ",\"samplers\":[{\"input\":" +
           std::to_string(times) + ",\"output\":" + std::to_string(weights) + ",\"interpolation\":\"LINEAR\"}],\"channels\":[" +
           channels + "]}]";
  file.finish(meshes, nodes, animation.shapes.size(), more);
}

}  // namespace verve
