// The stress that verve convert writes for ParaView, against the energy.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "model/element_stress.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

Scene bar(const std::string& potentials) {
  return parse_scene("{\"version\": 1, \"bodies\": [{\"name\": \"bar\", \"mesh\": {\"generator\": \"bar\", \"cells\": [4, 2, 2]}, "
                     "\"potentials\": [" + potentials + "]}]}", "test.json").value();
}
double elastic(Simulation& simulation, const std::vector<Vec3>& x) {
  simulation.set_state(x, std::vector<Vec3>(x.size()));
  return simulation.measure().elastic;
}

}  // namespace

TEST_CASE("stress does the work of the energy in every change of shape") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const char* potentials :
       {R"({"type": "tet_strain", "mu": 3000})", R"({"type": "corotated", "young": 5000, "poisson": 0.3})",
        R"({"type": "stable_neo_hookean", "young": 5000, "poisson": 0.4})",
        R"({"type": "tet_strain", "mu": 3000}, {"type": "tet_volume", "stiffness": 2e4})"}) {
    CAPTURE(potentials);
    const Scene scene = bar(potentials);
    Simulation simulation = Simulation::create(scene).value();
    const Mesh& mesh = simulation.mesh(0);
    std::vector<Vec3> x = mesh.vertices;
    for (Vec3& p : x) p = Vec3{p.x * 1.2 + 0.1 * p.y, p.y * 0.95, p.z * 1.05} + Vec3{unit(random), unit(random), unit(random)} * 0.01;
    ElementStress of(scene);
    const auto stress = of.of(0, x.data(), 0);
    for (int trial = 0; trial < 6; ++trial) {
      Mat3 A;
      for (int c = 0; c < 3; ++c) A.col[c] = {unit(random), unit(random), unit(random)};
      const double step = 1e-5;
      std::vector<Vec3> ahead = x, back = x;
      for (std::size_t v = 0; v < x.size(); ++v) ahead[v] += A * x[v] * step, back[v] -= A * x[v] * step;
      const double expected = (elastic(simulation, ahead) - elastic(simulation, back)) / (2 * step);
      double found = 0;
      for (std::size_t t = 0; t < stress.size(); ++t) {
        const auto& [a, b, c, d] = mesh.tetrahedra[t];
        const auto& [xx, yy, zz, xy, yz, zx] = stress[t];
        found += tet_volume(x[a], x[b], x[c], x[d]) *
                 (xx * A(0, 0) + yy * A(1, 1) + zz * A(2, 2) + xy * (A(0, 1) + A(1, 0)) + yz * (A(1, 2) + A(2, 1)) + zx * (A(2, 0) + A(0, 2)));
      }
      CHECK(found == doctest::Approx(expected).epsilon(1e-5));
    }
  }
}
