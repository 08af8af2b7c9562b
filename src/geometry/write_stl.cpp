#include <bit>
#include <cstdint>

#include "geometry/surface_formats.h"

namespace verve {

std::string stl_file(const Mesh& mesh, bool) {
  const auto faces = surface(mesh);
  std::string out = "binary STL of verve";
  out.resize(80, ' ');
  const auto append = [&](std::uint32_t bits, int bytes = 4) {
    for (int i = 0; i < bytes; ++i) out += char(bits >> (8 * i) & 255);
  };
  append(std::uint32_t(faces.size()));
  for (const auto& [a, b, c] : faces) {
    const Vec3 n = cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a]);
    const double length = norm(n);
    for (const Vec3& p : {length > 0 ? n / length : Vec3{}, mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]})
      for (const double x : {p.x, p.y, p.z}) append(std::bit_cast<std::uint32_t>(float(x)));
    append(0, 2);
  }
  return out;
}

}  // namespace verve
