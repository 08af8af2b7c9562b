// Materials by name: what bodies made of them show is what the table says.
#include <doctest/doctest.h>

#include <Eigen/SparseCholesky>

#include "integrators/scenes_for_tests.h"
#include "linear/block_assembly.h"
#include "potentials/shapes.h"
#include "verve/material.h"
#include "verve/scene_file.h"

using namespace verve;
using namespace verve::test;

namespace {

Scene scene_with(const std::string& generator, const Parameters& parameters, const std::string& material) {
  Scene scene;
  BodySpec body;
  body.name = "body", body.mesh.generator = generator, body.mesh.parameters = parameters;
  set_material(body, material);
  scene.bodies.push_back(body);
  return scene;
}

/// The presets for tetrahedra.
std::vector<const MaterialInfo*> solids() {
  std::vector<const MaterialInfo*> out;
  for (const MaterialInfo& m : material_infos())
    if (m.dimension == 3) out.push_back(&m);
  REQUIRE(out.size() >= 7);
  return out;
}

int inverted(const Simulation& sim) {
  const auto x = sim.positions();
  int count = 0;
  for (const auto& t : sim.mesh(0).tetrahedra) count += !(tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) > 0);
  return count;
}

/// Slope of b over a, least squares.
double slope_of(const std::vector<std::pair<double, double>>& points) {
  double a = 0, b = 0, aa = 0, ab = 0;
  for (const auto& [u, v] : points) a += u, b += v, aa += u * u, ab += u * v;
  const double n = double(points.size());
  return (n * ab - a * b) / (n * aa - a * a);
}

/// A bar of 1 m along x, 0.2 m high and wide, that is bent by its own weight; cells of 0.2 m / n. At x = -0.5 the axial
/// motion is held, the other two on the lines through the middle alone: the section is free to contract, as beam
/// theory has it.
struct Beam {
  Mesh mesh;
  std::unique_ptr<Potential> potential;
  static constexpr double length = 1, height = 0.2;

  Beam(const PotentialSpec& material, int n)
      : mesh(mesh_of("box", {{"size", {length, height, height}}, {"cells", {5.0 * n, double(n), double(n)}}})) {
    ParameterValues values;
    for (const auto& [name, track] : material.parameters) values[name] = *track.at(0);
    potential = make(*find_potential(material.type), mesh, values);
  }

  bool held(int v, int axis) const {
    const Vec3& p = mesh.vertices[v];
    return p.x < -0.5 * length + 1e-9 && (axis == 0 || (axis == 1 ? std::abs(p.y) : std::abs(p.z)) < 1e-9);
  }

  /// Mean sag of the free end under unit acceleration, linear about rest.
  double sag(double density) {
    const std::vector<Vec4> x = at_rest(mesh);
    const int n = int(x.size());
    BlockAssembly blocks;
    blocks.begin_pattern(n);
    potential->add_hessian(nullptr, false, blocks, 0);
    blocks.finish_pattern();
    blocks.begin_values();
    potential->add_hessian(x.data(), false, blocks, 0);
    SymmetricMatrix m;
    expand(blocks.matrix(), m);
    std::vector<Eigen::Triplet<double>> entries;
    for (int c = 0; c < m.size; ++c)
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        const int r = m.row[k];
        if (held(r / 3, r % 3) || held(c / 3, c % 3)) {
          if (r == c) entries.emplace_back(r, r, m.value[k]);
          continue;
        }
        entries.emplace_back(r, c, m.value[k]);
        if (r != c) entries.emplace_back(c, r, m.value[k]);
      }
    Eigen::SparseMatrix<double> K(3 * n, 3 * n);
    K.setFromTriplets(entries.begin(), entries.end());
    Eigen::VectorXd load = Eigen::VectorXd::Zero(3 * n);
    for (const auto& t : mesh.tetrahedra)
      for (const int v : t)
        if (!held(v, 1))
          load[3 * v + 1] -=
              density / 4 *
              tet_volume(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]);
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(K);
    REQUIRE(factor.info() == Eigen::Success);
    const Eigen::VectorXd u = factor.solve(load);
    double sum = 0;
    int tip = 0;
    for (int v = 0; v < n; ++v)
      if (mesh.vertices[v].x > 0.5 * length - 1e-9) sum -= u[3 * v + 1], ++tip;
    return sum / tip;
  }

  /// Bending by Euler and Bernoulli, and shear by Timoshenko with the coefficient of Cowper 1966 for rectangles.
  static double theory(double young, double poisson, double density) {
    const double area = height * height, load = density * area, inertia = area * area / 12;
    const double shear = young / (2 * (1 + poisson)), kappa = 10 * (1 + poisson) / (12 + 11 * poisson);
    return load * std::pow(length, 4) / (8 * young * inertia) + load * length * length / (2 * kappa * shear * area);
  }
};

}  // namespace

TEST_CASE("pulled in a simulation, every solid preset shows its Young's modulus and Poisson's ratio within 2 %") {
  for (const MaterialInfo* m : solids()) {
    CAPTURE(m->name);
    Scene scene = scene_with("box", {{"size", {1, 0.2, 0.2}}, {"cells", {15, 3, 3}}}, m->name);
    scene.solver.method = "quasistatic";
    scene.solver.iterations = 3000;
    scene.solver.tolerance = 1e-9;
    AnchorSpec hold;
    hold.body = "body", hold.hard = true;
    hold.vertices.box = {{{-0.6, -1, -1}, {-0.499, 1, 1}}};
    scene.anchors.push_back(hold);
    const double strain = 1e-3, force = m->young * 0.04 * strain;
    ForceSpec& end = scene.forces.emplace_back();
    end.body = "body", end.force = {force, 0, 0};
    end.vertices.box = {{{0.499, -1, -1}, {0.6, 1, 1}}};
    Simulation sim = make(scene);
    for (int frame = 0; frame < 3; ++frame) REQUIRE(sim.step());
    // In the middle third: what the ends add, held and pulled unevenly, falls off by e^-4 and more per width.
    const auto x = sim.positions();
    std::vector<std::pair<double, double>> along, up, aside;
    for (size_t v = 0; v < x.size(); ++v) {
      const Vec3 r = sim.mesh(0).vertices[v];
      if (std::abs(r.x) > 0.17) continue;
      along.emplace_back(r.x, x[v].x), up.emplace_back(r.y, x[v].y), aside.emplace_back(r.z, x[v].z);
    }
    const double stretch = slope_of(along) - 1;
    // the force stays, the section narrows: of second order in the strain
    CHECK(force / 0.04 / stretch == doctest::Approx(m->young).epsilon(0.02));
    CHECK((1 - slope_of(up)) / stretch == doctest::Approx(m->poisson).epsilon(0.02));
    CHECK((1 - slope_of(aside)) / stretch == doctest::Approx(m->poisson).epsilon(0.02));
  }
}

TEST_CASE("a cantilever of every solid preset sags as beam theory says within 2 %") {
  // Linear tetrahedra are too stiff in bending by a share that falls with the square of the cell size: two meshes give
  // the limit. What is left is the next order, and near the held end the warping of the section, of the order of
  // (height / length)^2 times a small number.
  std::map<double, std::array<double, 3>> ratio;  // of sag and theory by Poisson's ratio: moduli and weights scale out
  for (const MaterialInfo* m : solids()) {
    CAPTURE(m->name);
    BodySpec body;
    set_material(body, *m);
    REQUIRE(body.potentials.size() == 1);
    const double theory = Beam::theory(m->young, m->poisson, m->density);
    const double coarse = Beam(body.potentials[0], 2).sag(body.density) / theory;
    if (!ratio.count(m->poisson))
      ratio[m->poisson] = {coarse, Beam(body.potentials[0], 4).sag(body.density) / theory,
                           Beam(body.potentials[0], 8).sag(body.density) / theory};
    const auto& r = ratio[m->poisson];
    CHECK(coarse == doctest::Approx(r[0]).epsilon(1e-9));
    const double limit = (4 * r[2] - r[1]) / 3;
    MESSAGE(m->name, ": ", r[0], " ", r[1], " ", r[2], " -> ", limit);
    CHECK(r[0] < r[1]);
    CHECK(r[1] < r[2]);
    CHECK(limit == doctest::Approx(1).epsilon(0.02));
  }
}

TEST_CASE("every solid preset comes back from mirrored, flat and random starts") {
  // A box of so few cells has folds that are stable, and a start may be as near to one as to the rest shape: of 84 that
  // differ by a millionth (of the random ones by their seed) one ends in a fold, with 4.3 % of the energy. Which does
  // is round-off; of these 21 starts one does, and two may.
  int folded = 0;
  for (const MaterialInfo* m : solids()) {
    for (const int start : {0, 1, 2}) {
      CAPTURE(m->name);
      CAPTURE(start);
      Scene scene = scene_with("box", {{"size", {0.3, 0.3, 0.3}}, {"cells", {3, 3, 3}}}, m->name);
      scene.solver.tolerance = 1e-4;
      InitialState& initial = scene.bodies[0].initial;
      if (start == 0) initial.stretch = {1, -1, 1};
      if (start == 1) initial.stretch = {1, 0, 1};
      if (start == 2) initial.noise = 0.1;  // as long as the cells
      Simulation sim = make(scene);
      CHECK(inverted(sim) > 0);
      const double begin = sim.measure().total;
      const int frames = int(std::ceil(8 * m->half_life / scene.step));
      for (int frame = 0; frame < frames; ++frame) {
        REQUIRE(sim.step());
        REQUIRE(sim.measure().total <= 1.01 * begin);
      }
      // half-lives leave 2^-8 of the energy, and a sixteenth of the displacement
      const bool back = inverted(sim) == 0 && sim.measure().elastic <= 0.01 * begin;
      folded += !back;
      CHECK(sim.measure().elastic <= 0.06 * begin);
    }
  }
  CHECK(folded <= 2);
}

TEST_CASE("what a body of a preset loses by its half-life is what the table says") {
  const MaterialInfo& jelly = *find_material("jelly");
  Scene scene = scene_with("box", {{"size", {0.3, 0.3, 0.3}}, {"cells", {3, 3, 3}}}, "jelly");
  scene.bodies[0].initial.stretch = {1.2, 1, 1};
  Simulation sim = make(scene);
  const double begin = sim.measure().total;
  const int frames = int(std::lround(2 * jelly.half_life / scene.step));
  for (int frame = 0; frame < frames; ++frame) REQUIRE(sim.step());
  // Eq. 24 takes gamma h of it per frame: ln(1 - gamma h) instead of -gamma h, of second order
  const double rate = std::log(2) / jelly.half_life * scene.step;
  CHECK(sim.measure().total / begin == doctest::Approx(std::pow(1 - rate, frames)).epsilon(1e-3));
  CHECK(sim.measure().total / begin == doctest::Approx(0.25).epsilon(0.15));
}

TEST_CASE("a body of every material, held at one end, hangs for a second without harm") {
  for (const MaterialInfo& m : material_infos()) {
    CAPTURE(m.name);
    const bool solid = m.dimension == 3;
    Scene scene =
        solid ? scene_with("box", {{"size", {0.3, 0.3, 0.3}}, {"cells", {3, 3, 3}}}, m.name)
        : m.dimension == 2
            ? scene_with("cloth", {{"width", {0.5}}, {"length", {0.2}}, {"columns", {11}}, {"rows", {5}}}, m.name)
            : scene_with("chain", {{"length", {0.5}}, {"vertices", {11}}}, m.name);
    scene.gravity = {0, -9.81, 0};
    scene.solver.tolerance = 1e-4;
    AnchorSpec hold;
    hold.body = "body", hold.hard = true;
    hold.vertices.box = {{{-1, -1, -1}, {solid ? -0.149 : -0.19, 1, 1}}};
    scene.anchors.push_back(hold);
    Simulation sim = make(scene);
    for (int frame = 0; frame < 30; ++frame) REQUIRE(sim.step());
    CHECK(finite(sim));
    double longest = 0;
    const auto x = sim.positions();
    const Mesh& mesh = sim.mesh(0);
    for (const auto& e : unique_edges(mesh))
      longest = std::max(longest, norm(x[e[0]] - x[e[1]]) / norm(mesh.vertices[e[0]] - mesh.vertices[e[1]]));
    // a sheet or a rope hardly stretches under its own weight, which falls 0.5 m: a factor of the static 0.2 %
    CHECK(longest < (solid ? 1.3 : 1.05));
  }
}

TEST_CASE("a rope held at one end falls as one with all of its stiffness does in fine steps") {
  const auto tip_of = [](Scene scene) {
    Simulation sim = make(scene);
    std::vector<double> out;
    for (int frame = 0; frame < 40; ++frame) {
      REQUIRE(sim.step());
      out.push_back(sim.positions().back().y);
    }
    return out;
  };
  Scene scene = scene_with("chain", {{"length", {0.5}}, {"vertices", {26}}}, "rope");
  scene.gravity = {0, -9.81, 0};
  scene.step = 1.0 / 60;
  scene.solver.tolerance = 1e-4;
  AnchorSpec hold;
  hold.body = "body", hold.hard = true;
  hold.vertices.box = {{{-1, -1, -1}, {-0.22, 1, 1}}};
  scene.anchors.push_back(hold);
  scene.bodies[0].dials = {};  // the fine steps hold nothing, and have no half-life
  const std::vector<double> preset = tip_of(scene);
  // the source's own: Young's modulus times the section, as no step of a frame could have it
  const MaterialInfo& rope = *find_material("rope");
  const double section = 0.25 * std::numbers::pi * rope.thickness * rope.thickness;
  Scene truth = scene;
  for (PotentialSpec& potential : truth.bodies[0].potentials)
    if (potential.type == "edge_strain") potential.parameters["stiffness"] = Track<double>(rope.young * section);
  truth.solver = SolverSpec{};
  truth.solver.method = "pd_bdf2", truth.solver.substeps = 64, truth.solver.iterations = 1000;
  const std::vector<double> fine = tip_of(truth);
  // A thirtieth of its length: the stretch of 0.2 % under a metre of its weight is a hundred times less, what is seen is
  // the phase of the swing.
  for (int frame = 0; frame < 40; ++frame) {
    CAPTURE(frame);
    CHECK(preset[frame] == doctest::Approx(fine[frame]).scale(1).epsilon(0.01));
  }
}
