// Stanford .ply: text, or binary of either byte order. Vertices with x, y, z and texture coordinates, faces as lists,
// edges; other elements and properties are read past.
#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

struct Type {
  const char *name, *other;
  int size;
};
constexpr Type types[] = {{"char", "int8", 1},   {"uchar", "uint8", 1},   {"short", "int16", 2},   {"ushort", "uint16", 2},
                          {"int", "int32", 4},   {"uint", "uint32", 4},   {"float", "float32", 4}, {"double", "float64", 8}};

struct Property {
  std::string name;
  int type = -1, count_type = -1;  // of types; a list has a type of its count
};
struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out) : source_(source), report_("", source.name, out), out_(out) {}

  Mesh read() {
    if (!read_header()) return std::move(mesh_);
    const std::string_view body = source_.bytes.substr(body_);
    WordReader words(body, source_.name, out_);
    ByteReader bytes(source_.bytes, source_.name, out_, format_ == "binary_big_endian");
    bytes.seek(body_);
    words_ = &words, bytes_ = &bytes;
    for (const Element& e : elements_)
      if (!read_element(e)) return std::move(mesh_);
    const long long n = (long long)(mesh_.vertices.size());
    for (const auto& [row, v] : references_)
      if (v < 0 || v >= n) {
        out_.error(source_.name, "found vertex number " + std::to_string(v) + " in row " + std::to_string(row) +
                                     " of the faces or edges, expected 0 to " + std::to_string(n - 1));
        return std::move(mesh_);
      }
    polygons_.finish(mesh_);
    return std::move(mesh_);
  }

 private:
  bool fail(int line, const std::string& what) { return report_.error_at(line, what), false; }

  bool read_header() {
    int line = 0;
    std::size_t at = 0;
    while (at < source_.bytes.size()) {
      const std::size_t end = std::min(source_.bytes.find('\n', at), source_.bytes.size());
      LineReader one(source_.bytes.substr(at, end - at));
      std::vector<std::string_view> w;
      one.next(w);
      at = end + 1, ++line;
      if (w.empty() || w[0] == "comment" || w[0] == "obj_info" || (line == 1 && w[0] == "ply")) continue;
      if (line == 1) return fail(1, "found " + quote(w[0]) + ", expected \"ply\"");
      if (w[0] == "end_header") {
        body_ = std::min(at, source_.bytes.size());
        if (format_.empty()) return fail(line, "found no line \"format\" above");
        return true;
      }
      if (w[0] == "format" && w.size() >= 2) {
        format_ = w[1];
        if (format_ != "ascii" && format_ != "binary_little_endian" && format_ != "binary_big_endian")
          return fail(line, "found " + quote(w[1]) + ", expected ascii, binary_little_endian or binary_big_endian");
      } else if (w[0] == "element" && w.size() >= 3) {
        long long count = 0;
        if (!parse_integer(w[2], count) || count < 0)
          return fail(line, "found " + quote(w[2]) + ", expected a number of them");
        elements_.push_back({std::string(w[1]), std::uint64_t(count), {}});
      } else if (w[0] == "property" && w.size() >= 3 && !elements_.empty()) {
        Property p;
        const bool list = w[1] == "list";
        if (list && w.size() < 5) return fail(line, "found a list without types and name");
        p.name = w[list ? 4 : 2];
        if (list && (p.count_type = type_of(w[2])) < 0) return fail(line, unknown_type(w[2]));
        if ((p.type = type_of(w[list ? 3 : 1])) < 0) return fail(line, unknown_type(w[list ? 3 : 1]));
        elements_.back().properties.push_back(p);
      } else {
        return fail(line, "found " + quote(w[0]) + ", expected format, element, property or end_header");
      }
    }
    return fail(line, "found the end of the file, expected end_header");
  }
  static std::string unknown_type(std::string_view word) {
    return "found the type " + quote(word) + ", expected one of char, uchar, short, ushort, int, uint, float, double";
  }
  static int type_of(std::string_view word) {
    for (int t = 0; t < int(std::size(types)); ++t)
      if (word == types[t].name || word == types[t].other) return t;
    return -1;
  }

  bool number(int type, double& value) {
    if (format_ == "ascii") {
      const std::string_view word = words_->take();
      if (word.empty()) return words_error("found the end of the file, expected a number");
      if (!parse_number(word, value)) return words_error("found " + quote(word) + ", expected a number");
      return true;
    }
    switch (type) {
      case 0: value = bytes_->take<std::int8_t>("a char"); break;
      case 1: value = bytes_->take<std::uint8_t>("a uchar"); break;
      case 2: value = bytes_->take<std::int16_t>("a short"); break;
      case 3: value = bytes_->take<std::uint16_t>("a ushort"); break;
      case 4: value = bytes_->take<std::int32_t>("an int"); break;
      case 5: value = bytes_->take<std::uint32_t>("a uint"); break;
      case 6: value = bytes_->take<float>("a float"); break;
      default: value = bytes_->take<double>("a double");
    }
    return !bytes_->failed();
  }
  bool words_error(const std::string& what) {
    int line = words_->line();
    for (const char c : source_.bytes.substr(0, body_)) line += c == '\n';
    report_.error_at(line, what);
    return false;
  }

  static int channel_of(std::string_view name) {
    constexpr std::string_view channels[] = {"red", "green", "blue", "alpha"};
    for (int c = 0; c < 4; ++c)
      if (name == channels[c]) return c;
    return -1;
  }

  bool read_element(const Element& e) {
    std::size_t least = 0;  // bytes of a row
    for (const Property& p : e.properties) {
      const int type = p.count_type >= 0 ? p.count_type : p.type;
      least += format_ == "ascii" ? 2 : std::size_t(types[type].size);
    }
    if (!least && e.count) return fail(1, "found an element " + quote(e.name) + " without properties");
    const std::size_t rest = format_ == "ascii" ? words_->remaining() + 1 : bytes_->remaining();
    if (e.count > rest / std::max<std::size_t>(least, 1)) {
      out_.error(source_.name, "found a count of " + std::to_string(e.count) + " of element " + quote(e.name) +
                                   ", expected at most " + std::to_string(rest / least) +
                                   ", which is what the rest of the file can hold");
      return false;
    }
    const bool vertices = e.name == "vertex", faces = e.name == "face", edges = e.name == "edge";
    if (vertices)
      for (const char* axis : {"x", "y", "z"})
        if (std::none_of(e.properties.begin(), e.properties.end(), [&](const Property& p) { return p.name == axis; }))
          return fail(1, "found vertices without a property \"" + std::string(axis) + "\"");
    for (std::uint64_t row = 0; row < e.count; ++row) {
      Vec3 p, normal;
      std::array<double, 4> color{0, 0, 0, 1};
      bool has_normal = false, has_color = false;
      double uv[2] = {}, end[2] = {-1, -1};
      bool has_uv = false;
      for (const Property& property : e.properties) {
        double value = 0;
        if (property.count_type >= 0) {
          if (!read_list(property, row, faces)) return false;
          continue;
        }
        if (!number(property.type, value)) return false;
        const std::string& name = property.name;
        if (vertices && name.size() == 1 && name[0] >= 'x' && name[0] <= 'z') {
          if (!std::isfinite(value)) {
            out_.error(source_.name, "found a coordinate of vertex " + std::to_string(row) +
                                         " that is not finite, expected a number");
            return false;
          }
          p[name[0] - 'x'] = value;
        } else if (vertices && (name == "s" || name == "u" || name == "texture_u")) {
          uv[0] = value, has_uv = true;
        } else if (vertices && (name == "t" || name == "v" || name == "texture_v")) {
          uv[1] = value, has_uv = true;
        } else if (vertices && name.size() == 2 && name[0] == 'n' && name[1] >= 'x' && name[1] <= 'z') {
          normal[name[1] - 'x'] = value, has_normal = true;
        } else if (const int channel = vertices ? channel_of(name) : -1; channel >= 0) {
          color[channel] = std::clamp(property.type < 6 ? value / 255 : value, 0.0, 1.0), has_color = true;
        } else if (edges && (name == "vertex1" || name == "vertex2")) {
          end[name == "vertex2"] = value;
        }
      }
      if (vertices) {
        mesh_.vertices.push_back(p);
        if (has_uv) polygons_.uv(uv[0], uv[1]), uv_per_vertex_ = true;
        if (has_color) polygons_.vertex_color(color);
        normals_.push_back(has_normal ? polygons_.normal(normal) : -1);
      }
      if (edges) {
        for (const double v : end) references_.emplace_back(row, (long long)(v));
        mesh_.edges.push_back({int(end[0]), int(end[1])});
      }
    }
    return true;
  }

  bool read_list(const Property& property, std::uint64_t row, bool faces) {
    double count = 0;
    if (!number(property.count_type, count)) return false;
    const bool corners = faces && (property.name == "vertex_indices" || property.name == "vertex_index");
    if (!(count >= 0) || count > double(PolygonReader::most_corners)) {
      out_.error(source_.name, "found a list of " + std::to_string((long long)(count)) + " in row " +
                                   std::to_string(row) + ", expected 0 to " +
                                   std::to_string(PolygonReader::most_corners));
      return false;
    }
    for (int k = 0; k < int(count); ++k) {
      double value = 0;
      if (!number(property.type, value)) return false;
      if (!corners) continue;
      const bool whole = value >= -2147483648.0 && value <= 2147483647.0;
      references_.emplace_back(row, whole ? (long long)(value) : -1);
      const bool there = whole && value >= 0 && value < double(normals_.size());
      polygons_.corner(whole ? int(value) : -1, uv_per_vertex_ ? int(value) : -1, there ? normals_[std::size_t(value)] : -1);
    }
    if (corners && count >= 3)
      polygons_.end_polygon();
    else if (corners)
      polygons_.drop_corners();
    return true;
  }

  const MeshSource& source_;
  WordReader report_;
  Diagnostics& out_;
  WordReader* words_ = nullptr;
  ByteReader* bytes_ = nullptr;
  std::string format_;
  std::size_t body_ = 0;
  std::vector<Element> elements_;
  std::vector<std::pair<std::uint64_t, long long>> references_;
  Mesh mesh_;
  PolygonReader polygons_;
  std::vector<int> normals_;  // of vertices, by PolygonReader's numbers
  bool uv_per_vertex_ = false;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) { return bytes.substr(0, 4) == "ply\n" || bytes.substr(0, 5) == "ply\r\n"; }

}  // namespace

MeshFormat ply_format() { return {{"ply", "Stanford, text or binary", {".ply"}}, recognised, read}; }

}  // namespace verve
