// glTF 2.0, .gltf and .glb: the meshes of the default scene, where its nodes put them. Triangles, lines, texture
// coordinates and materials; skins, morph targets and animations are left out, with a note.
// Khronos Group, "glTF 2.0 Specification", 2021.
#include <map>

#include "base/base64.h"
#include "base/json.h"
#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

constexpr std::uint32_t glb_magic = 0x46546C67, json_chunk = 0x4E4F534A, bin_chunk = 0x004E4942;
constexpr int deepest_node = 1000;

/// A place in the file and what is wrong there.
struct Fault {
  std::string where, what;
};

struct Transform {
  Mat3 linear = Mat3::identity();
  Vec3 offset{};
};

std::string decode_uri(const std::string& uri) {
  std::string out;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const auto hex = [&](std::size_t at) { return at < uri.size() && std::isxdigit((unsigned char)(uri[at])); };
    if (uri[i] == '%' && hex(i + 1) && hex(i + 2)) {
      out += char(std::stoi(uri.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += uri[i];
    }
  }
  return out;
}

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out) : source_(source), out_(out) {}

  Mesh read() {
    try {
      open();
      load();
      polygons_.finish(mesh_);
    } catch (const Fault& fault) {
      out_.error(source_.name + (fault.where.empty() ? "" : ": " + fault.where), fault.what);
    }
    return std::move(mesh_);
  }

 private:
  void open() {
    std::string_view text = source_.bytes;
    if (text.substr(0, 4) == "glTF") {
      ByteReader bytes(source_.bytes, source_.name, out_);
      const auto take = [&](const char* what) {
        const auto value = bytes.take<std::uint32_t>(what);
        if (bytes.failed()) throw Fault{"byte " + std::to_string(bytes.position()), std::string("expected ") + what};
        return value;
      };
      text = {};
      if (take("the mark glTF") != glb_magic) throw Fault{"byte 0", "found no mark \"glTF\""};
      if (const auto version = take("a version"); version != 2)
        throw Fault{"byte 4", "found version " + std::to_string(version) + ", expected 2"};
      if (const auto length = take("a length"); length > source_.bytes.size())
        throw Fault{"byte 8", "found a length of " + std::to_string(length) + " bytes, expected at most the " +
                                  std::to_string(source_.bytes.size()) + " that the file has"};
      while (bytes.remaining() >= 8) {
        const auto length = take("the length of a chunk"), kind = take("the kind of a chunk");
        if (length > bytes.remaining())
          throw Fault{"byte " + std::to_string(bytes.position()),
                      "found a chunk of " + std::to_string(length) + " bytes, expected at most " +
                          std::to_string(bytes.remaining()) + ", which is what the rest of the file can hold"};
        const std::string_view chunk = source_.bytes.substr(bytes.position(), length);
        if (kind == json_chunk && text.empty()) text = chunk;
        if (kind == bin_chunk && bin_.empty()) bin_ = chunk;
        bytes.seek(bytes.position() + length);
      }
      if (text.empty()) throw Fault{"", "found no JSON chunk"};
    }
    std::vector<JsonProblem> problems;
    root_ = parse_json(text, 0, problems);
    if (!problems.empty()) {
      const auto [line, column] = line_and_column(text, problems[0].place.offset);
      throw Fault{std::to_string(line) + ":" + std::to_string(column), problems[0].what};
    }
    if (!root_.is(Json::Kind::object)) throw Fault{"", "found no JSON object, expected one"};
    if (const Json* required = root_.find("extensionsRequired"))
      for (const Json& e : required->items)
        if (e.text.find("compression") != std::string::npos || e.text == "KHR_mesh_quantization")
          if (e.text != "KHR_mesh_quantization")
            throw Fault{"extensionsRequired", "found " + e.text + ", expected geometry that is not compressed"};
  }

  // --- JSON ---

  const std::vector<Json>& list(const char* key) const {
    static const std::vector<Json> none;
    const Json* found = root_.find(key);
    return found && found->is(Json::Kind::array) ? found->items : none;
  }
  static std::string place(const char* key, long long index) {
    return std::string(key) + "[" + std::to_string(index) + "]";
  }
  const Json& item(const char* key, long long index, const std::string& where) const {
    const auto& items = list(key);
    if (index < 0 || index >= (long long)(items.size()))
      throw Fault{where, "found number " + std::to_string(index) + " of " + key + ", expected 0 to " +
                             std::to_string((long long)(items.size()) - 1)};
    return items[std::size_t(index)];
  }
  static long long whole(const Json& object, const char* key, long long otherwise, const std::string& where) {
    const Json* found = object.find(key);
    if (!found) return otherwise;
    if (!found->is(Json::Kind::number) || found->number != std::floor(found->number) || std::abs(found->number) > 1e15)
      throw Fault{where + "." + key, "found " + describe_found(*found) + ", expected a whole number"};
    return (long long)(found->number);
  }
  static std::vector<double> numbers(const Json& object, const char* key, std::vector<double> otherwise,
                                     const std::string& where) {
    const Json* found = object.find(key);
    if (!found) return otherwise;
    bool good = found->is(Json::Kind::array) && found->items.size() == otherwise.size();
    std::vector<double> out;
    for (const Json& n : found->items) good = good && n.is(Json::Kind::number), out.push_back(n.number);
    if (!good) throw Fault{where + "." + key, "expected " + std::to_string(otherwise.size()) + " numbers"};
    return out;
  }

  // --- buffers ---

  std::string_view buffer(long long index, const std::string& where) {
    if (const auto known = buffers_.find(index); known != buffers_.end()) return known->second;
    const Json& entry = item("buffers", index, where);
    const Json* uri = entry.find("uri");
    if (!uri) {
      if (index != 0 || bin_.empty()) throw Fault{place("buffers", index), "found no data, expected a uri"};
      return bin_;
    }
    std::string& data = buffers_[index];
    if (uri->text.starts_with("data:")) {
      const std::size_t comma = uri->text.find(";base64,");
      if (comma == std::string::npos || !decode_base64(std::string_view(uri->text).substr(comma + 8), data))
        throw Fault{place("buffers", index), "found data that is no base64"};
      return data;
    }
    const std::filesystem::path name = decode_uri(uri->text);
    if (source_.file.empty())
      throw Fault{place("buffers", index), "found \"" + name.string() + "\" beside the file, expected all in one (.glb)"};
    Diagnostics trouble;
    const auto text = load_text(source_.file.parent_path() / name, trouble);
    if (!text) throw Fault{place("buffers", index), trouble.items()[0].where + ": " + trouble.items()[0].what};
    return data = *text;
  }

  /// The numbers of an accessor, row by row.
  std::vector<double> values(long long index, std::size_t components, const std::string& from) {
    const std::string where = place("accessors", index);
    const Json& a = item("accessors", index, from);
    const Json* type = a.find("type");
    const std::string expected = components == 1 ? "SCALAR" : "VEC" + std::to_string(components);
    if (!type || type->text != expected)
      throw Fault{where + ".type", "found \"" + (type ? type->text : "") + "\", expected \"" + expected + "\""};
    const long long count = whole(a, "count", 0, where), kind = whole(a, "componentType", 0, where);
    const Json* normalized = a.find("normalized");
    if (a.find("sparse")) throw Fault{where + ".sparse", "found a sparse accessor, expected all values"};
    std::size_t size = 0;
    switch (kind) {
      case 5120: case 5121: size = 1; break;
      case 5122: case 5123: size = 2; break;
      case 5125: case 5126: size = 4; break;
      default:
        throw Fault{where + ".componentType", "found " + std::to_string(kind) + ", expected 5120 to 5126"};
    }
    if (!a.find("bufferView")) throw Fault{where, "found no bufferView, expected values"};
    const long long view_index = whole(a, "bufferView", 0, where);
    const Json& view = item("bufferViews", view_index, where);
    const std::string view_place = place("bufferViews", view_index);
    const std::string_view data = buffer(whole(view, "buffer", 0, view_place), view_place);
    const long long offset = whole(view, "byteOffset", 0, view_place) + whole(a, "byteOffset", 0, where);
    const long long row = (long long)(size * components);
    const long long stride = std::max(row, whole(view, "byteStride", row, view_place));
    const long long there = (long long)(data.size());
    if (count < 0 || offset < 0 || count > there || stride > 100000 ||
        (count > 0 && offset + stride * (count - 1) + row > there))
      throw Fault{where, "found " + std::to_string(count) + " values from byte " + std::to_string(offset) +
                             " on, expected what fits into the " + std::to_string(there) + " bytes of the buffer"};
    ByteReader bytes(data, source_.name, out_);
    std::vector<double> out;
    out.reserve(std::size_t(count) * components);
    const double scale = normalized && normalized->boolean ? 1.0 / (double(1ull << (8 * size - (kind % 2 == 0))) - 1) : 1;
    for (long long i = 0; i < count; ++i) {
      bytes.seek(std::size_t(offset + i * stride));
      for (std::size_t c = 0; c < components; ++c) {
        double v = 0;
        switch (kind) {
          case 5120: v = bytes.take<std::int8_t>("a value"); break;
          case 5121: v = bytes.take<std::uint8_t>("a value"); break;
          case 5122: v = bytes.take<std::int16_t>("a value"); break;
          case 5123: v = bytes.take<std::uint16_t>("a value"); break;
          case 5125: v = bytes.take<std::uint32_t>("a value"); break;
          default: v = bytes.take<float>("a value");
        }
        if (!std::isfinite(v))
          throw Fault{where, "found a value that is not finite in row " + std::to_string(i)};
        out.push_back(kind == 5126 ? v : std::max(-1.0 / scale, v) * scale);
      }
    }
    return out;
  }

  // --- scene ---

  void load() {
    const auto& nodes = list("nodes");
    std::vector<char> child(nodes.size(), 0);
    for (const Json& n : nodes)
      if (const Json* children = n.find("children"))
        for (const Json& c : children->items)
          if (c.number >= 0 && c.number < double(nodes.size())) child[std::size_t(c.number)] = 1;
    if (!list("scenes").empty()) {
      const long long scene = whole(root_, "scene", 0, "");
      if (const Json* roots = item("scenes", scene, "scene").find("nodes"))
        for (const Json& r : roots->items) node((long long)(r.number), {}, 0, place("scenes", scene), source_.objects.all());
    } else {
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (!child[n]) node((long long)(n), {}, 0, "nodes", source_.objects.all());
    }
    if (skinned_) out_.note(source_.name, "skins are not followed: meshes are read in the pose of the file");
    if (!list("animations").empty()) out_.note(source_.name, "animations are not followed");
  }

  bool named(const Json& object) {
    const Json* name = object.find("name");
    return name && source_.objects.take(name->text);
  }

  /// `wanted`: what is above it is, and with it all that is below.
  void node(long long index, const Transform& above, int depth, const std::string& from, bool wanted) {
    const Json& n = item("nodes", index, from);
    wanted = named(n) || wanted;
    const std::string where = place("nodes", index);
    if (depth > deepest_node) throw Fault{where, "found nodes that are their own children, or a thousand deep"};
    Transform own;
    if (n.find("matrix")) {
      const auto m = numbers(n, "matrix", std::vector<double>(16, 0), where);
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) own.linear(r, c) = m[std::size_t(4 * c + r)];
      own.offset = {m[12], m[13], m[14]};
    } else {
      const auto t = numbers(n, "translation", {0, 0, 0}, where), q = numbers(n, "rotation", {0, 0, 0, 1}, where),
                 s = numbers(n, "scale", {1, 1, 1}, where);
      const double x = q[0], y = q[1], z = q[2], w = q[3];
      const Mat3 rotation{{Vec3{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                           Vec3{2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                           Vec3{2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}};
      own.linear = rotation * Mat3::diagonal({s[0], s[1], s[2]});
      own.offset = {t[0], t[1], t[2]};
    }
    const Transform here{above.linear * own.linear, above.linear * own.offset + above.offset};
    if (n.find("mesh")) {
      skinned_ = skinned_ || n.find("skin");
      const long long mesh = whole(n, "mesh", 0, where);
      if (named(item("meshes", mesh, where)) || wanted) add_mesh(mesh, here, where);
    }
    if (const Json* children = n.find("children"))
      for (const Json& c : children->items) node((long long)(c.number), here, depth + 1, where, wanted);
  }

  void add_mesh(long long index, const Transform& at, const std::string& from) {
    const Json* primitives = item("meshes", index, from).find("primitives");
    std::map<std::pair<long long, long long>, int> known;  // primitives may share their vertices
    for (std::size_t p = 0; primitives && p < primitives->items.size(); ++p) {
      const Json& primitive = primitives->items[p];
      const std::string where = place("meshes", index) + "." + place("primitives", (long long)(p));
      const Json* attributes = primitive.find("attributes");
      const long long positions = attributes ? whole(*attributes, "POSITION", -1, where) : -1;
      if (positions < 0) throw Fault{where + ".attributes", "found no POSITION"};
      const long long texture = whole(*attributes, "TEXCOORD_0", -1, where);
      auto [shared, fresh] = known.try_emplace({positions, texture}, int(mesh_.vertices.size()));
      if (fresh) add_vertices(positions, texture, *attributes, at, where);
      const int first = shared->second, count = int(runs_[first].normals.size());
      std::vector<int> indices;
      if (primitive.find("indices")) {
        for (const double v : values(whole(primitive, "indices", 0, where), 1, where)) {
          if (!(v < count))
            throw Fault{where + ".indices", "found vertex number " + std::to_string((long long)(v)) +
                                                ", expected 0 to " + std::to_string(count - 1)};
          indices.push_back(int(v));
        }
      } else {
        for (int v = 0; v < count; ++v) indices.push_back(v);
      }
      add_elements(whole(primitive, "mode", 4, where), indices, first, material(primitive, where), det(at.linear) < 0);
    }
  }

  /// What belongs to vertices, if there is as much of it as there are vertices.
  std::vector<double> attribute(const Json& attributes, const char* name, std::size_t components, int count,
                                const std::string& where) {
    const long long index = whole(attributes, name, -1, where);
    if (index < 0) return {};
    std::vector<double> out = values(index, components, where);
    if (out.size() != components * std::size_t(count))
      throw Fault{where + "." + name, "found " + std::to_string(out.size() / components) + " values, expected the " +
                                          std::to_string(count) + " of the vertices"};
    return out;
  }

  void add_vertices(long long positions, long long texture, const Json& attributes, const Transform& at,
                    const std::string& where) {
    const std::vector<double> x = values(positions, 3, where);
    const int first = int(mesh_.vertices.size()), count = int(x.size() / 3);
    for (int i = 0; i < count; ++i)
      mesh_.vertices.push_back(at.linear * Vec3{x[3 * i], x[3 * i + 1], x[3 * i + 2]} + at.offset);
    VertexRun& run = runs_[first];
    if (texture >= 0) {
      const std::vector<double> t = attribute(attributes, "TEXCOORD_0", 2, count, where);
      run.uv = polygons_.uvs();
      for (int i = 0; i < count; ++i) polygons_.uv(t[2 * i], 1 - t[2 * i + 1]);  // theirs count from the upper left
    }
    const std::vector<double> n = attribute(attributes, "NORMAL", 3, count, where);
    run.normals.assign(std::size_t(count), -1);
    for (std::size_t i = 0; 3 * i < n.size(); ++i) run.normals[i] = polygons_.normal({n[3 * i], n[3 * i + 1], n[3 * i + 2]});
    if (!attributes.find("COLOR_0")) return;
    const Json& accessor = item("accessors", whole(attributes, "COLOR_0", 0, where), where);
    const Json* type = accessor.find("type");
    const std::size_t components = type && type->text == "VEC4" ? 4 : 3;
    const std::vector<double> c = attribute(attributes, "COLOR_0", components, count, where);
    for (std::size_t i = 0; i < c.size(); i += components)
      polygons_.vertex_color({c[i], c[i + 1], c[i + 2], components == 4 ? c[i + 3] : 1});
  }

  int material(const Json& primitive, const std::string& where) {
    if (!primitive.find("material")) return -1;
    const long long index = whole(primitive, "material", 0, where);
    const Json& m = item("materials", index, where);
    const Json* name = m.find("name");
    const Json* pbr = m.find("pbrMetallicRoughness");
    std::vector<double> color{1, 1, 1, 1};
    if (pbr) color = numbers(*pbr, "baseColorFactor", color, place("materials", index));
    return polygons_.material(name && !name->text.empty() ? name->text : "material_" + std::to_string(index),
                              {color[0], color[1], color[2], color[3]});
  }

  void add_elements(long long mode, const std::vector<int>& v, int first, int material, bool mirrored) {
    const VertexRun& run = runs_[first];
    const int n = int(v.size());
    const auto triangle = [&](int a, int b, int c) {
      if (mirrored) std::swap(b, c);
      for (const int i : {a, b, c})
        polygons_.corner(first + v[i], run.uv < 0 ? -1 : run.uv + v[i], run.normals[std::size_t(v[i])]);
      polygons_.end_polygon(material);
    };
    const auto line = [&](int a, int b) { mesh_.edges.push_back({first + v[a], first + v[b]}); };
    switch (mode) {
      case 1: for (int i = 0; i + 1 < n; i += 2) line(i, i + 1); break;
      case 2: case 3:
        for (int i = 0; i + 1 < n; ++i) line(i, i + 1);
        if (mode == 2 && n > 2) line(n - 1, 0);
        break;
      case 4: for (int i = 0; i + 2 < n; i += 3) triangle(i, i + 1, i + 2); break;
      case 5:
        for (int i = 0; i + 2 < n; ++i) {
          if (v[i] == v[i + 1] || v[i + 1] == v[i + 2] || v[i] == v[i + 2]) continue;  // joins strips
          i % 2 ? triangle(i + 1, i, i + 2) : triangle(i, i + 1, i + 2);
        }
        break;
      case 6: for (int i = 1; i + 1 < n; ++i) triangle(0, i, i + 1); break;
      default: break;  // points
    }
  }

  const MeshSource& source_;
  Diagnostics& out_;
  Json root_;
  std::string_view bin_;
  std::map<long long, std::string> buffers_;
  /// Vertices that primitives share.
  struct VertexRun {
    int uv = -1;  // first texture coordinate
    std::vector<int> normals;
  };
  std::map<int, VertexRun> runs_;  // by their first vertex
  Mesh mesh_;
  PolygonReader polygons_;
  bool skinned_ = false;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) {
  return bytes.substr(0, 4) == "glTF" ||
         (bytes.substr(0, 1) == "{" && bytes.substr(0, 100000).find("\"asset\"") != std::string_view::npos);
}

}  // namespace

MeshFormat gltf_format() { return {{"gltf", "glTF 2.0, text or binary", {".glb", ".gltf"}}, recognised, read}; }

}  // namespace verve
