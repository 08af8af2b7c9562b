// STL, text or binary: triangles that share no vertex numbers. Corners at the same place become one vertex, numbered
// as they first appear.
#include <unordered_map>

#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"

namespace verve {

namespace {

constexpr std::size_t header = 84, row = 50;  // bytes

class Welder {
 public:
  explicit Welder(Mesh& mesh) : mesh_(mesh) {}
  int vertex(Vec3 p) {
    p += Vec3{0, 0, 0};  // no negative zeros
    const auto [entry, fresh] = numbers_.try_emplace(p, int(mesh_.vertices.size()));
    if (fresh) mesh_.vertices.push_back(p);
    return entry->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Vec3& p) const {
      std::size_t h = 0;
      for (const double c : {p.x, p.y, p.z}) h = h * 0x9E3779B97F4A7C15u + std::hash<double>{}(c);
      return h;
    }
  };
  Mesh& mesh_;
  std::unordered_map<Vec3, int, Hash> numbers_;
};

std::uint64_t triangles_of(std::string_view bytes) {
  std::uint64_t count = 0;
  for (int i = 0; i < 4; ++i) count |= std::uint64_t((unsigned char)(bytes[80 + i])) << (8 * i);
  return count;
}
/// Binary files may begin with "solid", too: their size tells.
bool is_binary(std::string_view bytes) {
  return bytes.size() >= header && bytes.size() == header + row * triangles_of(bytes);
}
bool is_text(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || bytes.substr(begin, 5) != "solid") return false;
  const std::string_view start = bytes.substr(begin, 1000);
  return start.find("facet") != std::string_view::npos || start.find("endsolid") != std::string_view::npos;
}

void read_binary(const MeshSource& source, Mesh& mesh, Diagnostics& out) {
  ByteReader bytes(source.bytes, source.name, out);
  if (source.bytes.size() < header) {
    bytes.error("found " + std::to_string(source.bytes.size()) +
                " bytes, expected \"solid\" or a binary file of at least 84");
    return;
  }
  bytes.seek(header - 4);
  const auto count = bytes.take<std::uint32_t>("a number of triangles");
  if (!bytes.fits(count, row, "triangles")) return;
  if (bytes.remaining() > row * std::size_t(count))
    out.warning(source.name, "found " + std::to_string(bytes.remaining() - row * std::size_t(count)) +
                                 " bytes after the " + std::to_string(count) + " triangles: not used");
  Welder welder(mesh);
  for (std::uint32_t t = 0; t < count && !bytes.failed(); ++t) {
    bytes.seek(header + row * t + 12);
    std::array<int, 3> corner{};
    for (int& v : corner) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) {
        p[k] = bytes.take<float>("a coordinate");
        if (!std::isfinite(p[k])) return bytes.error("found a coordinate that is not finite");
      }
      v = welder.vertex(p);
    }
    mesh.triangles.push_back(corner);
  }
}

void read_text(const MeshSource& source, Mesh& mesh, Diagnostics& out) {
  WordReader words(source.bytes, source.name, out);
  Welder welder(mesh);
  const auto keyword = [&](const char* expected) {
    const std::string_view word = words.take();
    if (word == expected) return true;
    words.error("found " + (word.empty() ? "the end of the file" : quote(word)) + ", expected \"" + expected + "\"");
    return false;
  };
  while (!words.at_end()) {
    if (!keyword("solid")) return;
    // the name, any words up to the end of the line
    const std::string_view rest = words.rest();
    words.skip(std::min(rest.find('\n'), rest.size()));
    while (words.peek() == "facet") {
      words.take();
      double unused = 0;
      if (!keyword("normal")) return;
      for (int k = 0; k < 3; ++k) {  // often not a number where a triangle has no area; not used
        const std::string_view word = words.take();
        if (!parse_number(word, unused)) return words.error("found " + quote(word) + ", expected a number");
      }
      if (!keyword("outer") || !keyword("loop")) return;
      std::array<int, 3> corner{};
      for (int& v : corner) {
        Vec3 p;
        if (!keyword("vertex")) return;
        for (int k = 0; k < 3; ++k)
          if (!words.number(p[k], "coordinate")) return;
        v = welder.vertex(p);
      }
      if (!keyword("endloop") || !keyword("endfacet")) return;
      mesh.triangles.push_back(corner);
    }
    if (!keyword("endsolid")) return;
    const std::string_view name = words.rest();
    words.skip(std::min(name.find('\n'), name.size()));
  }
}

Mesh read(const MeshSource& source, Diagnostics& out) {
  Mesh mesh;
  if (is_text(source.bytes) && !is_binary(source.bytes))
    read_text(source, mesh, out);
  else
    read_binary(source, mesh, out);
  return mesh;
}

bool recognised(std::string_view bytes) { return is_binary(bytes) || is_text(bytes); }

}  // namespace

MeshFormat stl_format() { return {{"stl", "STL, text or binary", {".stl"}}, recognised, read}; }

}  // namespace verve
