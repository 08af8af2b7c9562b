// VTK's unstructured grids, appended raw, one for each body and frame, and a .pvd that puts them in time. With velocity
// and contact force at points, and of simulated tetrahedra the Green strain and the Cauchy stress.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "exchange/animation.h"
#include "exchange/output.h"
#include "exchange/vtu_grid.h"

namespace verve {

namespace {

/// |FᵀF - I| / 2 of a tetrahedron, by Frobenius' norm.
double green_strain(const std::vector<Vec3>& x, const std::vector<Vec3>& rest, const std::array<int, 4>& t) {
  const auto edges = [&](const std::vector<Vec3>& p) { return Mat3{{p[t[1]] - p[t[0]], p[t[2]] - p[t[0]], p[t[3]] - p[t[0]]}}; };
  const Mat3 F = edges(x) * inverse(edges(rest));
  return std::sqrt(squared_norm(transpose(F) * F - Mat3::identity())) / 2;
}

/// The stress of a pull along one axis that stores as much energy of shape.
double von_mises(const std::array<double, 6>& s) {
  const auto& [xx, yy, zz, xy, yz, zx] = s;
  return std::sqrt(((xx - yy) * (xx - yy) + (yy - zz) * (yy - zz) + (zz - xx) * (zz - xx)) / 2 +
                   3 * (xy * xy + yz * yz + zx * zx));
}

void write_frame(const Mesh& mesh, const AnimatedShape& shape, const std::vector<Vec3>& velocity,
                 const std::vector<Vec3>& forces, const std::vector<std::array<double, 6>>& stress, bool wide,
                 const std::filesystem::path& file) {
  VtuGrid grid(mesh, wide);
  grid.add_points("velocity", velocity);
  if (forces.size() == mesh.vertices.size()) grid.add_points("contact_force", forces, false);
  if (!mesh.tetrahedra.empty() && shape.rest.size() == mesh.vertices.size()) {
    std::vector<float> strain;
    for (const auto& t : mesh.tetrahedra) strain.push_back(float(green_strain(mesh.vertices, shape.rest, t)));
    strain.resize(grid.cells(), 0);
    grid.add_cells("strain", 1, strain);
    if (stress.size() == mesh.tetrahedra.size()) {
      std::vector<float> tensor, size;
      for (const auto& s : stress) tensor.insert(tensor.end(), s.begin(), s.end()), size.push_back(float(von_mises(s)));
      tensor.resize(6 * grid.cells(), 0), size.resize(grid.cells(), 0);
      grid.add_cells("stress", 6, tensor), grid.add_cells("von_mises_stress", 1, size);
    }
  }
  Output out(file);
  out.text(grid.text());
  out.close();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '"' ? "&quot;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

}  // namespace

void write_vtu(Animation& animation, const std::filesystem::path& folder) {
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(animation.frames.back()).size());
  std::string collection;
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
    const AnimatedShape& shape = animation.shapes[s];
    std::vector<Vec3> before, velocity(shape.mesh.vertices.size());
    for (std::size_t k = 0; k < animation.frames.size(); ++k) {
      std::string number = std::to_string(animation.frames[k]);
      number.insert(0, digits - std::min(digits, number.size()), '0');
      const std::string file = shape.stem + "_" + number + ".vtu";
      const Mesh& mesh = animation.at(int(s), int(k));
      if (k > 0)  // the mean since the frame before; of the first none is known
        for (std::size_t v = 0; v < velocity.size(); ++v)
          velocity[v] = (mesh.vertices[v] - before[v]) / (animation.time(int(k)) - animation.time(int(k) - 1));
      using Stress = std::vector<std::array<double, 6>>;
      write_frame(mesh, shape, velocity, animation.contact_forces(int(s)),
                  shape.rest.empty() ? Stress() : animation.stress(int(s)), animation.wide, folder / file);
      before = mesh.vertices;
      collection += "<DataSet timestep=\"" + shortest_number(animation.time(int(k))) + "\" part=\"" + std::to_string(s) +
                    "\" name=\"" + escaped(shape.name) + "\" file=\"" + escaped(file) + "\"/>\n";
    }
  }
  Output out(folder / (animation.name + ".pvd"));
  out.text("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n" + collection +
           "</Collection>\n</VTKFile>\n");
  out.close();
}

}  // namespace verve
