// Bodies of hyperelastic materials in motion, and at rest under load against beam theory.
#include <doctest/doctest.h>

#include <Eigen/SparseCholesky>

#include "integrators/scenes_for_tests.h"
#include "potentials/shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

const std::string names[] = {"stvk", "neo_hookean", "stable_neo_hookean", "corotated"};

PotentialSpec hyperelastic(const std::string& name, double young, double poisson) {
  return {name, {{"young", Track<double>(young)}, {"poisson", Track<double>(poisson)}}};
}

/// A box of unit size that spins, stretched, about an axis that is none of its own.
Scene spinning_box(const std::string& name, const Vec3& stretch, double poisson, const std::string& method) {
  Scene scene = cube_scene(method);
  scene.bodies[0].potentials = {hyperelastic(name, 2.6e4, poisson)};
  scene.bodies[0].initial.stretch = stretch;
  return scene;
}

/// A bar of 1 m along x, 0.2 m high and wide, held at x = -0.5; cells of 0.2 m / n.
struct Cantilever {
  Mesh mesh;
  std::unique_ptr<Potential> potential;
  double young, poisson, density = 1000;
  static constexpr double length = 1, height = 0.2;

  Cantilever(const std::string& name, int n, double e, double nu)
      : mesh(mesh_of("box", {{"size", {length, height, height}}, {"cells", {5.0 * n, double(n), double(n)}}})),
        potential(make(*find_potential(name), mesh, {{"young", e}, {"poisson", nu}})),
        young(e),
        poisson(nu),
        cell_(height / n) {}

  bool held(int v) const { return mesh.vertices[v].x < -0.5 * length + 1e-9; }

  /// Weight of each vertex under unit gravity.
  std::vector<double> weights() const {
    std::vector<double> out(mesh.vertices.size(), 0.0);
    const auto& x = mesh.vertices;
    for (const auto& t : mesh.tetrahedra)
      for (const int v : t) out[v] += density * tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) / 4;
    return out;
  }

  /// Sag of the tip under its own weight: bending by Euler and Bernoulli, and shear with the coefficient of Cowper 1966
  /// for rectangles.
  double theory(double gravity) const {
    const double area = height * height, load = density * area * gravity, inertia = area * area / 12;
    const double shear = young / (2 * (1 + poisson)), kappa = 10 * (1 + poisson) / (12 + 11 * poisson);
    return load * std::pow(length, 4) / (8 * young * inertia) + load * length * length / (2 * kappa * shear * area);
  }

  /// The Hessian at x over the vertices that are free, from differences of the gradient. Vertices three cells apart
  /// share no element and are moved together.
  Eigen::SparseMatrix<double> stiffness(std::vector<Vec4> x) const {
    const int n = int(x.size());
    std::vector<int> color(n);
    std::vector<std::vector<int>> near(n);
    for (int v = 0; v < n; ++v) {
      const Vec3 g = (mesh.vertices[v] + Vec3{length, height, height} * 0.5) / cell_;
      color[v] = int(std::lround(g.x)) % 3 + 3 * (int(std::lround(g.y)) % 3) + 9 * (int(std::lround(g.z)) % 3);
    }
    for (const auto& t : mesh.tetrahedra)
      for (const int a : t)
        for (const int b : t) near[a].push_back(b);
    const double d = 1e-5 * cell_;
    std::vector<Eigen::Triplet<double>> entries;
    for (int c = 0; c < 27; ++c) {
      for (int axis = 0; axis < 3; ++axis) {
        Slope side[2];
        for (int s = 0; s < 2; ++s) {
          auto y = x;
          for (int v = 0; v < n; ++v)
            if (color[v] == c) (axis == 0 ? y[v].x : axis == 1 ? y[v].y : y[v].z) += s ? d : -d;
          side[s] = slope(*potential, y);
        }
        for (int v = 0; v < n; ++v) {
          if (color[v] != c || held(v)) continue;
          std::sort(near[v].begin(), near[v].end());
          near[v].erase(std::unique(near[v].begin(), near[v].end()), near[v].end());
          for (const int b : near[v]) {
            const Vec3 k = (side[1].gradient[b] - side[0].gradient[b]).xyz() / (2 * d);
            for (int i = 0; i < 3 && !held(b); ++i) entries.emplace_back(3 * b + i, 3 * v + axis, k[i]);
          }
        }
      }
    }
    for (int v = 0; v < n; ++v)
      for (int i = 0; i < 3 && held(v); ++i) entries.emplace_back(3 * v + i, 3 * v + i, young * cell_);
    Eigen::SparseMatrix<double> K(3 * n, 3 * n);
    K.setFromTriplets(entries.begin(), entries.end());
    return K;
  }

  /// Mean sag of the free end where gradient and weight balance, by Newton's method.
  double sag(double gravity) const {
    std::vector<Vec4> x = at_rest(mesh);
    const std::vector<double> weight = weights();
    double load = 0;
    for (const double w : weight) load += gravity * w;
    for (int k = 0;; ++k) {
      const Slope s = slope(*potential, x);
      Eigen::VectorXd rhs = Eigen::VectorXd::Zero(3 * x.size());
      for (int v = 0; v < int(x.size()); ++v) {
        if (held(v)) continue;
        rhs[3 * v] = -s.gradient[v].x, rhs[3 * v + 2] = -s.gradient[v].z;
        rhs[3 * v + 1] = -s.gradient[v].y - gravity * weight[v];
      }
      if (rhs.norm() <= 1e-6 * load) break;
      REQUIRE(k < 10);
      const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(stiffness(x));
      REQUIRE(factor.info() == Eigen::Success);
      const Eigen::VectorXd dx = factor.solve(rhs);
      for (int v = 0; v < int(x.size()); ++v) x[v] += Vec4(dx[3 * v], dx[3 * v + 1], dx[3 * v + 2]);
    }
    double sum = 0;
    int tip = 0;
    for (int v = 0; v < int(x.size()); ++v)
      if (mesh.vertices[v].x > 0.5 * length - 1e-9) sum += mesh.vertices[v].y - x[v].y, ++tip;
    return sum / tip;
  }

 private:
  double cell_;
};

/// By how much the end of a bar along x at x > 0 is turned about it, between -pi and pi.
double end_angle(const Simulation& sim) {
  const auto x = sim.positions();
  const Mesh& mesh = sim.mesh(0);
  double reach = 0, sine = 0, cosine = 0;
  for (const Vec3& v : mesh.vertices) reach = std::max(reach, v.x);
  for (size_t v = 0; v < x.size(); ++v) {
    const Vec3& r = mesh.vertices[v];
    if (r.x < reach - 1e-9) continue;
    cosine += r.y * x[v].y + r.z * x[v].z, sine += r.y * x[v].z - r.z * x[v].y;
  }
  return std::atan2(sine, cosine);
}

}  // namespace

TEST_CASE("CPD holds momenta and energy of spinning boxes of every hyperelastic material") {
  for (const std::string& name : names) {
    CAPTURE(name);
    Simulation sim = make(spinning_box(name, {1, 1.15, 1}, 0.3, "cpd"));
    const Run r = run(sim, 100);
    CHECK(largest(r.energy_error) <= 2e-6);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-12);
    CHECK(mean(r.iterations) <= 8);
    CHECK(deviation(r.elastic, 50, 100) >= 0.02);  // it still swings
  }
}

TEST_CASE("CPD holds momenta and energy far from rest and nearly incompressible (Inventory C25)") {
  // twice as long, at Poisson's ratio 0.45: where the matrix of PD is far from the Hessian and every step is searched
  for (const std::string& name : names) {
    CAPTURE(name);
    Simulation sim = make(spinning_box(name, {1, 2, 1}, 0.45, "cpd"));
    const Run r = run(sim, 40);
    MESSAGE(name << ": dH " << largest(r.energy_error) << ", iterations " << mean(r.iterations) << ", sub-steps "
                 << mean(r.substeps));
    CHECK(largest(r.energy_error) <= 2e-6);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(largest(r.spin_error) <= 1e-12);
  }
}

TEST_CASE("PD lowers the energy of stretched boxes of every hyperelastic material, frame by frame") {
  for (const std::string& name : names) {
    CAPTURE(name);
    Simulation sim = make(spinning_box(name, {1, 1.4, 1}, 0.3, "pd"));
    double last = sim.measure().total;
    const double start = last;
    for (int frame = 0; frame < 60; ++frame) {
      REQUIRE(sim.step());
      const double total = sim.measure().total;
      CHECK(total <= last * (1 + 1e-9));
      last = total;
    }
    CHECK(finite(sim));
    CHECK(last < 0.8 * start);
  }
}

TEST_CASE("a cantilever sags as beam theory says, the closer the finer the mesh") {
  // Tetrahedra with linear shape functions are too stiff in bending, by a share that falls with the square of the cell
  // size; extrapolated from two meshes, what is left are the next order and the held end, which theory lets contract.
  const double young = 1e6, poisson = 0.3, gravity = 0.1;  // sag of 4e-3 of the length: small
  double sag[3];
  for (int k = 0; k < 3; ++k) sag[k] = Cantilever("neo_hookean", 2 << k, young, poisson).sag(gravity);
  const double theory = Cantilever("neo_hookean", 1, young, poisson).theory(gravity);
  MESSAGE("sag over theory: " << sag[0] / theory << " " << sag[1] / theory << " " << sag[2] / theory << " extrapolated "
                              << (4 * sag[2] - sag[1]) / 3 / theory);
  CHECK(sag[0] < sag[1]);
  CHECK(sag[1] < sag[2]);
  CHECK(sag[2] < theory);
  CHECK((theory - sag[2]) < 0.4 * (theory - sag[1]));
  CHECK((4 * sag[2] - sag[1]) / 3 == doctest::Approx(theory).epsilon(0.03));
  // the other materials: the same for small strains
  for (const std::string& name : names)
    CHECK(Cantilever(name, 2, young, poisson).sag(gravity) == doctest::Approx(sag[0]).epsilon(1e-3));
}

TEST_CASE("a cantilever that PD lets come to rest sags as far as Newton's method says") {
  for (const std::string& name : names) {
    CAPTURE(name);
    const double gravity = 1;
    const Cantilever still(name, 2, 1e6, 0.3);
    Scene scene = scene_of(mesh_body(still.mesh, {hyperelastic(name, 1e6, 0.3)}), "pd");
    scene.gravity = {0, -gravity, 0};
    scene.step = 0.1;  // the main mode has a period of 1 s, and implicit Euler takes most of it in each
    AnchorSpec wall;
    wall.name = "wall", wall.body = "body", wall.stiffness = Track<double>(1e8);
    wall.vertices.box = {{Vec3{-1, -1, -1}, Vec3{-0.499, 1, 1}}};
    scene.anchors = {wall};
    Simulation sim = make(scene);
    for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
    double sum = 0;
    int tip = 0;
    const auto x = sim.positions();
    for (size_t v = 0; v < x.size(); ++v)
      if (still.mesh.vertices[v].x > 0.499) sum += still.mesh.vertices[v].y - x[v].y, ++tip;
    CHECK(sum / tip == doctest::Approx(still.sag(gravity)).epsilon(0.01));
  }
}

TEST_CASE("a bar twisted by three quarters of a turn untwists and winds up the other way") {
  for (const std::string& name : names) {
    CAPTURE(name);
    BodySpec bar =
        generated_body("bar", {{"length", {1.5}}, {"height", {0.3}}, {"width", {0.3}}, {"cells", {15, 3, 3}}},
                       hyperelastic(name, 1e5, 0.3));
    bar.name = "bar";
    bar.initial.twist = {180, 0, 0};
    Scene scene = scene_of(bar);
    AnchorSpec clamp;
    clamp.name = "clamp", clamp.body = "bar", clamp.stiffness = Track<double>(1e5);
    clamp.vertices.box = {{Vec3{-1, -1, -1}, Vec3{-0.749, 1, 1}}};
    scene.anchors = {clamp};
    Simulation sim = make(scene);
    // 180 degrees per metre over 1.5 m, half of it on either side of the middle
    const double start = end_angle(sim);
    CHECK(start == doctest::Approx(0.75 * 3.14159265358979).epsilon(1e-9));
    const double total = sim.measure().total;
    double worst = 0, turned = 0, last = start, furthest = 0, iterations = 0;
    for (int frame = 0; frame < 45; ++frame) {
      const StepReport report = sim.step();
      REQUIRE_MESSAGE(bool(report), report.message);
      iterations += report.iterations;
      double by = end_angle(sim) - last;
      by -= 2 * 3.14159265358979 * std::round(by / (2 * 3.14159265358979));
      last += by, turned += by, furthest = std::min(furthest, turned);
      worst = std::max(worst, std::abs(sim.measure().total - total) / total);
    }
    MESSAGE(name << ": turned by " << furthest << " rad, energy " << worst << ", iterations " << iterations / 45);
    CHECK(finite(sim));
    CHECK(worst <= 2e-6);
    // free of twist is a turn by -1.5 pi; past it, and more than half as far again
    CHECK(furthest < -1.5 * 1.5 * 3.14159265358979);
  }
}

TEST_CASE("CPD holds P, L and H of nearly incompressible bodies far from rest, and where it cannot they move on") {
  struct Start {
    const char* material;
    double poisson, stretch;
    bool holds;
  };
  // the last is beyond it (docs/minimisers.md): there H dips, and the spin stays
  for (const Start& start : {Start{"neo_hookean", 0.45, 2, true}, Start{"neo_hookean", 0.49, 3, true},
                             Start{"neo_hookean", 0.49, 0.3, true}, Start{"stable_neo_hookean", 0.49, 3, true},
                             Start{"corotated", 0.49, 3, true}, Start{"stvk", 0.49, 3, true},
                             Start{"stable_neo_hookean", 0.499, 4, false}}) {
    CAPTURE(std::string(start.material));
    CAPTURE(start.stretch);
    Scene scene;
    BodySpec body;
    body.name = "box";
    body.mesh.generator = "box";
    body.mesh.parameters = {{"size", {1, 1, 1}}, {"cells", {3, 3, 3}}};
    body.potentials.push_back({start.material, {{"young", Track<double>(3e4)}, {"poisson", Track<double>(start.poisson)}}});
    body.initial.stretch = {1, start.stretch, 1};
    body.initial.angular_velocity = {0.3, 2, 0.2};
    scene.bodies.push_back(body);
    Simulation sim = make(scene);
    const Measures m0 = sim.measure();
    double energy = 0, most = 0, spin = 0;
    for (int frame = 0; frame < (start.holds ? 40 : 6); ++frame) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      energy = std::max(energy, std::abs(m.total / m0.total - 1));
      most = std::max(most, m.total / m0.total);
      spin = std::max(spin, norm(m.spin - m0.spin) / norm(m0.spin));
    }
    MESSAGE(std::string(start.material), ", ", start.poisson, ", x ", start.stretch, ": dH ", energy, " dL ", spin);
    if (start.holds) CHECK(energy <= 2e-6);
    CHECK(most <= 1.05);
    // of a frame that gave up on H what is left of L is owed, a share of its scale R sqrt(2 m H), which is 50 times L
    CHECK(spin <= (start.holds ? 1e-9 : 1e-2));
  }
}
