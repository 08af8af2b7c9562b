#include "model/element_stress.h"

#include <algorithm>
#include <map>

namespace verve {

ElementStress::ElementStress(const Scene& scene) : scene_(scene), compiled_(compile(scene).value()) {}

std::vector<Stress> ElementStress::of(int index, const Vec3* positions, double time) {
  const Body& body = compiled_.model.bodies[index];
  const auto& tetrahedra = body.mesh.tetrahedra;
  const auto sorted = [](std::array<int, 4> t) {
    std::sort(t.begin(), t.end());
    return t;
  };
  std::map<std::array<int, 4>, int> place;
  for (std::size_t t = 0; t < tetrahedra.size(); ++t) place[sorted(tetrahedra[t])] = int(t);
  x_.resize(std::size_t(body.count));
  for (int r = 0; r < body.count; ++r) x_[r] = Vec4(positions[body.vertex_of_row[r]]);

  std::vector<Mat3> work(tetrahedra.size(), Mat3::diagonal({0, 0, 0}));  // corner forces times corners
  const Potentials& potentials = compiled_.matter.bodies[index].potentials;
  for (std::size_t k = 0; k < potentials.size(); ++k) {
    Potential& potential = *potentials[k];
    potential.set_parameters(parameters_at(scene_.bodies[index].potentials[k], time));
    std::size_t rows = 0;
    for (int e = 0; e < potential.elements(); ++e) rows += std::size_t(potential.rows(e));
    z_.resize(rows), projected_.resize(rows);
    potential.project(x_.data(), z_.data(), projected_.data());
    std::size_t first = 0;
    for (int e = 0; e < potential.elements(); first += std::size_t(potential.rows(e)), ++e) {
      if (potential.corners(e) != 4) continue;
      std::array<int, 4> corners{};
      for (int c = 0; c < 4; ++c) corners[c] = body.vertex_of_row[potential.vertex(e, c)];
      const auto found = place.find(sorted(corners));
      if (found == place.end()) continue;
      for (int c = 0; c < 4; ++c) {
        Vec3 gradient;
        for (int r = 0; r < potential.rows(e); ++r)
          gradient += (z_[first + r] - projected_[first + r]) * (potential.weight(e) * potential.coefficient(e, r, c));
        work[found->second] = work[found->second] + outer(gradient, positions[corners[c]]);
      }
    }
  }
  std::vector<Stress> out;
  for (std::size_t t = 0; t < tetrahedra.size(); ++t) {
    const auto& [a, b, c, d] = tetrahedra[t];
    const double volume = tet_volume(positions[a], positions[b], positions[c], positions[d]);
    const Mat3 s = work[t] * (volume != 0 ? 1 / std::abs(volume) : 0);
    out.push_back({s(0, 0), s(1, 1), s(2, 2), (s(0, 1) + s(1, 0)) / 2, (s(1, 2) + s(2, 1)) / 2, (s(2, 0) + s(0, 2)) / 2});
  }
  return out;
}

}  // namespace verve
