// Vertex animation textures for game engines: an OpenEXR image of floats with the place of every vertex in every frame,
// a mesh whose second texture coordinates say where in it a vertex is found, and a description.
// Kainz and Bogart, "Technical Introduction to OpenEXR", and "OpenEXR File Layout".
#include <algorithm>

#include "base/json.h"
#include "exchange/gltf_file.h"

namespace verve {

namespace {

constexpr std::size_t widest = 4096;  // pixels: what every engine takes

struct Layout {
  std::size_t width, rows, height;  ///< rows of a frame
};

template <class T>
void append(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += char(std::uint32_t(value) >> (8 * i) & 255);
}
void attribute(std::string& out, const char* name, const char* type, const std::string& value) {
  out += name, out += '\0', out += type, out += '\0';
  append(out, std::int32_t(value.size()));
  out += value;
}

void write_exr(Animation& animation, int shape, const Layout& layout, const std::filesystem::path& file) {
  std::string header = std::string("\x76\x2f\x31\x01", 4) + std::string("\2\0\0\0", 4), value;
  for (const char channel : {'B', 'G', 'R'}) {  // by name: z, y, x
    value += channel, value += '\0';
    append(value, std::int32_t(2));  // float
    append(value, std::int32_t(0));
    append(value, std::int32_t(1)), append(value, std::int32_t(1));
  }
  attribute(header, "channels", "chlist", value + '\0');
  attribute(header, "compression", "compression", std::string(1, '\0'));
  std::string window;
  for (const std::size_t v : {std::size_t(0), std::size_t(0), layout.width - 1, layout.height - 1})
    append(window, std::int32_t(v));
  attribute(header, "dataWindow", "box2i", window);
  attribute(header, "displayWindow", "box2i", window);
  attribute(header, "lineOrder", "lineOrder", std::string(1, '\0'));
  attribute(header, "pixelAspectRatio", "float", std::string("\0\0\x80\x3f", 4));
  attribute(header, "screenWindowCenter", "v2f", std::string(8, '\0'));
  attribute(header, "screenWindowWidth", "float", std::string("\0\0\x80\x3f", 4));
  header += '\0';
  Output out(file);
  out.text(header);
  const std::size_t line = 8 + 12 * layout.width, first = header.size() + 8 * layout.height;
  for (std::size_t y = 0; y < layout.height; ++y) out.number(std::uint64_t(first + y * line));
  for (std::size_t k = 0; k < animation.frames.size(); ++k) {
    const std::vector<Vec3>& x = animation.at(shape, int(k)).vertices;
    for (std::size_t row = 0; row < layout.rows; ++row) {
      out.number(std::int32_t(k * layout.rows + row)), out.number(std::int32_t(12 * layout.width));
      for (const int axis : {2, 1, 0})
        for (std::size_t i = 0; i < layout.width; ++i) {
          const std::size_t v = row * layout.width + i;
          out.number(v < x.size() ? float(x[v][axis]) : 0.0f);
        }
    }
  }
  out.close();
}

void write_mesh(const AnimatedShape& shape, const Layout& layout, const std::filesystem::path& file_name) {
  GltfFile file(file_name);
  const GltfMesh mesh(shape.mesh);
  std::vector<Vec3> x;
  for (const int v : mesh.source) x.push_back(shape.mesh.vertices[v]);
  std::vector<std::array<double, 2>> lookup;
  for (const int v : mesh.source)
    lookup.push_back({(v % layout.width + 0.5) / double(layout.width), (v / layout.width + 0.5) / double(layout.height)});
  std::vector<std::array<double, 2>> textures = mesh.uvs;
  textures.resize(x.size());  // engines look for the second set behind a first
  const std::string attributes = "\"POSITION\":" + std::to_string(file.vectors(x, {.bounds = true})) +
                                 ",\"TEXCOORD_0\":" + std::to_string(file.texture_coordinates(textures)) +
                                 ",\"TEXCOORD_1\":" + std::to_string(file.texture_coordinates(lookup));
  std::string primitives;
  for (const GltfMesh::Primitive& p : mesh.primitives) {
    const int material =
        p.material >= 0 ? file.material(shape.mesh.look->materials[p.material].name, shape.mesh.look->materials[p.material].color)
                        : file.material(shape.name, {shape.color[0], shape.color[1], shape.color[2], 1});
    primitives += std::string(primitives.empty() ? "" : ",") + "{\"attributes\":{" + attributes + "},\"indices\":" +
                  std::to_string(file.indices(p.indices)) + ",\"mode\":" +
                  (p.lines ? "1" : "4") + ",\"material\":" + std::to_string(material) + "}";
  }
  file.finish("{\"name\":" + quote_json(shape.name) + ",\"primitives\":[" + primitives + "]}",
              "{\"name\":" + quote_json(shape.name) + ",\"mesh\":0}", {0}, "");
}

}  // namespace

void write_vat(Animation& animation, const std::filesystem::path& folder) {
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
    const AnimatedShape& shape = animation.shapes[s];
    const std::size_t n = shape.mesh.vertices.size(), width = std::min(n, widest), rows = (n + width - 1) / width;
    const Layout layout{width, rows, rows * animation.frames.size()};
    write_exr(animation, int(s), layout, folder / (shape.stem + ".exr"));
    write_mesh(shape, layout, folder / (shape.stem + ".glb"));
    const double gap = animation.frames.size() > 1 ? animation.time(1) - animation.time(0) : animation.step;
    Output out(folder / (shape.stem + ".json"));
    out.text("{\n  \"name\": " + quote_json(shape.name) + ",\n  \"texture\": " + quote_json(shape.stem + ".exr") +
             ",\n  \"mesh\": " + quote_json(shape.stem + ".glb") + ",\n  \"vertices\": " + std::to_string(n) +
             ",\n  \"frames\": " + std::to_string(animation.frames.size()) + ",\n  \"frames_per_second\": " +
             shortest_number(1 / gap) + ",\n  \"width\": " + std::to_string(width) + ",\n  \"height\": " +
             std::to_string(layout.height) + ",\n  \"rows_per_frame\": " + std::to_string(rows) +
             ",\n  \"up\": \"" + (animation.z_up ? "z" : "y") + "\",\n  \"metres_per_unit\": " +
             shortest_number(animation.metres_per_unit) +
             ",\n  \"lookup\": \"TEXCOORD_1 + (0, frame * rows_per_frame / height), from the upper left corner; "
             "red, green and blue are x, y and z\"\n}\n");
    out.close();
  }
}

}  // namespace verve
