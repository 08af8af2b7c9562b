#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "geometry/surface_formats.h"

namespace verve {

namespace {

/// The lowest byte first, on any machine.
template <class Unsigned, class Number>
void append(std::string& bytes, Number value) {
  const auto bits = std::bit_cast<Unsigned>(value);
  for (std::size_t i = 0; i < sizeof bits; ++i) bytes += char(bits >> (8 * i) & 255);
}

}  // namespace

std::string ply_file(const Mesh& mesh, bool wide) {
  const std::string number = wide ? "double" : "float";
  const auto faces = surface(mesh);
  std::string out = "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(mesh.vertices.size());
  for (const char* axis : {"x", "y", "z"}) out += "\nproperty " + number + " " + axis;
  const bool colored = mesh.look && !mesh.look->colors.empty();
  if (colored)
    for (const char* channel : {"red", "green", "blue", "alpha"}) out += std::string("\nproperty uchar ") + channel;
  out += "\nelement face " + std::to_string(faces.size()) + "\nproperty list uchar int vertex_indices\n";
  if (!mesh.edges.empty())
    out += "element edge " + std::to_string(mesh.edges.size()) + "\nproperty int vertex1\nproperty int vertex2\n";
  out += "end_header\n";
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3& p = mesh.vertices[v];
    for (const double c : {p.x, p.y, p.z}) {
      if (wide)
        append<std::uint64_t>(out, c);
      else
        append<std::uint32_t>(out, float(c));
    }
    if (colored)
      for (const double c : mesh.look->colors[v]) out += char(std::lround(255 * std::clamp(c, 0.0, 1.0)));
  }
  for (const auto& face : faces) {
    out += char(3);
    for (const int v : face) append<std::uint32_t>(out, std::int32_t(v));
  }
  for (const auto& edge : mesh.edges)
    for (const int v : edge) append<std::uint32_t>(out, std::int32_t(v));
  return out;
}

}  // namespace verve
