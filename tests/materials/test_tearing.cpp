// Tearing of ropes, sheets and solids (Inventory P20, N32).
#include <doctest/doctest.h>

#include <numeric>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

PotentialSpec tearing(PotentialSpec potential, double limit) {
  potential.tear = limit;
  return potential;
}

/// Parts that hang together by what is left of a mesh; vertices on their own are parts too.
int parts(const Mesh& mesh) {
  std::vector<int> root(mesh.vertices.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  for (const auto& [a, b] : unique_edges(mesh)) root[find(a)] = find(b);
  int count = 0;
  for (int v = 0; v < int(root.size()); ++v) count += root[v] == v;
  return count;
}
int parts(const Simulation& sim) { return parts(without(sim.mesh(0), sim.removed_elements(0))); }

/// A bar that is pulled apart by its ends, and turns.
Scene bar(const std::string& method, double limit = 1.5) {
  Scene scene = scene_of(
      generated_body("box", {{"size", {2, 0.5, 0.5}}, {"cells", {8, 2, 2}}}, tearing(strain(1e4), limit)), method);
  scene.bodies[0].initial.stretch = {1.35, 1, 1};
  scene.bodies[0].initial.angular_velocity = {0.1, 0.2, 4};
  return scene;
}

/// A sheet of springs, pulled at one side.
Scene sheet(const std::string& method, PotentialSpec potential) {
  Scene scene = scene_of(generated_body("cloth", {{"columns", {9}}, {"rows", {7}}}, std::move(potential)), method);
  scene.bodies[0].mass = 0.5;
  scene.bodies[0].initial.stretch = {1.3, 1, 1};
  scene.bodies[0].initial.angular_velocity = {0, 3, 0};
  return scene;
}

double energy_scale(const Measures& m) { return m.kinetic + m.elastic; }

void go(Simulation& sim, int frames) {
  for (int i = 0; i < frames; ++i) {
    const StepReport report = sim.step();
    REQUIRE_MESSAGE(report, report.message);
  }
}

}  // namespace

TEST_CASE("P20: a rope loses the edges that are longer than their limit, and no others") {
  // heavy, so that nothing moves within a frame; stretches 1.1, 1.29, 1.31, 1.6
  Mesh rope;
  const double stretch[] = {1.1, 1.29, 1.31, 1.6};
  std::vector<Vec3> x{{0, 0, 0}};
  rope.vertices = x;
  for (int i = 0; i < 4; ++i) {
    const double length = 0.5 + 0.1 * i;
    rope.vertices.push_back(rope.vertices.back() + Vec3{length, 0, 0});
    x.push_back(x.back() + Vec3{length * stretch[i], 0, 0});
    rope.edges.push_back({i, i + 1});
  }
  for (const auto& [limit, expected] :
       {std::pair{1.65, std::vector<int>{}}, {1.35, {3}}, {1.3, {2, 3}}, {1.2, {1, 2, 3}}}) {
    CAPTURE(limit);
    BodySpec body = mesh_body(rope, {tearing(springs(1), limit)});
    body.density = 1e9;
    Simulation sim = make(scene_of(body));
    sim.set_state(x, std::vector<Vec3>(x.size()));
    const StepReport report = sim.step();
    REQUIRE(report);
    CHECK(sim.removed_elements(0).edges == expected);
    CHECK(report.torn == int(expected.size()));
    CHECK(sim.measure().torn == int(expected.size()));
    CHECK(parts(sim) == 1 + int(expected.size()));
  }
}

TEST_CASE("N32: the limit of a triangle or tetrahedron is its largest stretch, in whatever direction") {
  // turned, sheared and squashed: singular values are known, 1.4 the largest
  const auto turn = [](const Vec3& v, double angle) {
    return Vec3{v.x * std::cos(angle) - v.y * std::sin(angle), v.x * std::sin(angle) + v.y * std::cos(angle), v.z};
  };
  for (const bool solid : {false, true}) {
    CAPTURE(solid);
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 0.9, 0}, {0.3, 0.2, 0.8}};
    if (solid) {
      mesh.tetrahedra = {{0, 1, 2, 3}};
    } else {
      mesh.vertices.pop_back();
      mesh.triangles = {{0, 1, 2}};
    }
    std::vector<Vec3> x;
    for (const Vec3& v : mesh.vertices) {
      const Vec3 w = turn(v, 0.7);
      x.push_back(turn({1.4 * w.x, 0.6 * w.y, 0.9 * w.z}, -1.9));
    }
    for (const double limit : {1.41, 1.39}) {
      PotentialSpec potential{solid ? "tet_strain" : "tri_strain", {{"mu", Track<double>(1.0)}}};
      BodySpec body = mesh_body(mesh, {tearing(potential, limit)});
      body.mass = 1e9;
      Simulation sim = make(scene_of(body));
      sim.set_state(x, std::vector<Vec3>(x.size()));
      REQUIRE(sim.step());
      CHECK(sim.measure().torn == (limit < 1.4));
    }
  }
}

TEST_CASE("P20, N32: what tears keeps mass, P and L, and the energy of what goes is booked") {
  // springs at 1.3: at 1.45, as it was first, fine steps tear 2 or 3, too few for what is asked here, and at 1.34, as it was
  // then, whether the 16 that tear part the sheet is chance
  for (const Scene& scene : {bar("cpd"), sheet("cpd", tearing(springs(300), 1.3)),
                             sheet("cpd", tearing({"tri_strain", {{"mu", Track<double>(10.0)}}}, 1.4))}) {
    CAPTURE(scene.bodies[0].potentials[0].type);
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    const double scale = energy_scale(start), p = std::sqrt(2 * start.mass * scale);
    int torn = 0, tearing_frames = 0;
    double worst = 0;
    Measures last = start;
    for (int i = 0; i < 60; ++i) {
      const StepReport report = sim.step();
      REQUIRE(report);
      const Measures m = sim.measure();
      torn += report.torn, tearing_frames += report.torn > 0;
      CHECK(m.mass == start.mass);
      // round-off of one frame; L about the origin has levers of the size of the body
      CHECK(norm(m.momentum - last.momentum) <= 1e-12 * p);
      CHECK(norm(m.angular_momentum - last.angular_momentum) <= 1e-12 * p);
      if (report.torn > 0) CHECK(m.booked_loss > last.booked_loss);
      if (report.torn == 0) CHECK(m.booked_loss == last.booked_loss);
      worst = std::max(worst, std::abs(m.total + m.booked_loss - start.total));
      last = m;
    }
    CHECK(torn > 3);
    CHECK(last.torn == torn);
    CHECK(tearing_frames > 1);
    CHECK(last.booked_loss > 1e-3 * scale);
    // within the tolerance of a frame, which later ones repay
    CHECK(worst <= 2e-6 * scale);
    CHECK(parts(sim) > 1);
    MESSAGE("torn " << torn << " in " << tearing_frames << " frames, parts " << parts(sim) << ", loss "
                    << last.booked_loss / scale << ", H + loss to " << worst / scale);
  }
}

TEST_CASE("P20: below the limit nothing tears, and a scene with a limit moves as one without") {
  Scene with = bar("cpd", 3), without_limit = with;
  without_limit.bodies[0].potentials[0].tear = {};
  Simulation a = make(with), b = make(without_limit);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(a.step());
    REQUIRE(b.step());
    CHECK(a.state_hash() == b.state_hash());
  }
  CHECK(a.measure().torn == 0);
  CHECK(a.removed_elements(0).empty());
  CHECK(b.removed_elements(0).empty());
}

TEST_CASE("P20, N32: tearing gives the same bits on any number of threads, and again after a reset") {
  for (const std::string method : {"cpd", "xpbd"}) {
    Scene scene = bar(method);
    scene.bodies[0].mesh.parameters["cells"] = {16, 6, 6};  // several chunks
    std::vector<std::uint64_t> first;
    RemovedElements gone;
    for (const int threads : {1, 2, 3, 16}) {
      CAPTURE(threads);
      Simulation sim = make(scene, threads);
      for (const bool again : {false, true}) {
        if (again) {
          sim.reset();
          CHECK(sim.removed_elements(0).empty());
          CHECK(sim.measure().torn == 0);
          CHECK(sim.measure().booked_loss == 0);
        }
        std::vector<std::uint64_t> hashes;
        for (int i = 0; i < 12; ++i) {
          REQUIRE(sim.step());
          hashes.push_back(sim.state_hash());
        }
        if (first.empty()) first = hashes, gone = sim.removed_elements(0);
        CHECK(hashes == first);
        CHECK(sim.removed_elements(0) == gone);
        if (threads > 2) break;
      }
    }
    CHECK(gone.tetrahedra.size() > 3);
  }
}

TEST_CASE("P20, N32: a torn body moves as one whose lost elements have no stiffness") {
  for (const std::string method : {"cpd", "pd"}) {
    for (const bool solid : {false, true}) {  // a few edges by Woodbury's formula, or many tetrahedra by a new factor
      CAPTURE(method);
      CAPTURE(solid);
      Scene scene = solid ? bar(method, 1.3) : sheet(method, tearing(springs(300), 1.5));
      if (!solid) scene.bodies[0].initial = {}, scene.bodies[0].mass = 5000;
      scene.solver.tolerance = 1e-11, scene.solver.iterations = 300, scene.solver.substeps = 1;
      Simulation torn = make(scene);
      if (!solid) {
        std::vector<Vec3> x = torn.positions();
        for (Vec3& p : x)
          if (p.x > 0.49 && p.z > 0.49) p += {0.15, 0, 0.15};
        torn.set_state(x, torn.velocities());
      }
      go(torn, 1);
      const RemovedElements gone = torn.removed_elements(0);
      const Mesh left = without(torn.mesh(0), gone);
      REQUIRE(!gone.empty());
      Scene soft = scene;
      PotentialSpec& potential = soft.bodies[0].potentials[0];
      potential.tear = {}, potential.parameters.clear();
      if (solid) {
        std::vector<double>& mu = potential.arrays["mu"];
        mu.assign(torn.mesh(0).tetrahedra.size(), 1e4);
        for (const int t : gone.tetrahedra) mu[t] = 1e-8;
      } else {
        const auto edges = unique_edges(left);
        for (const auto& e : unique_edges(torn.mesh(0)))
          potential.arrays["stiffness"].push_back(std::binary_search(edges.begin(), edges.end(), e) ? 300 : 1e-8);
      }
      Simulation other = make(soft);
      const auto x = torn.positions(), v = torn.velocities();
      torn.set_state(x, v), other.set_state(x, v);
      const int factors = torn.factorizations();
      go(torn, 1), go(other, 1);
      CHECK(torn.factorizations() - factors == solid);
      double apart = 0, way = 0;
      const auto a = torn.positions(), b = other.positions();
      for (size_t k = 0; k < a.size(); ++k)
        apart = std::max(apart, norm(a[k] - b[k])), way = std::max(way, norm(a[k] - x[k]));
      // what the iterations leave, over the softest motion that resists
      CHECK(apart <= 1e-6 * way);
      MESSAGE(torn.measure().torn << " torn, apart by " << apart / way);
    }
  }
}

TEST_CASE("P20: vertices that have lost all their elements fly on as particles") {
  for (const std::string method : {"cpd", "pd", "newton", "xpbd", "symplectic_euler"}) {
    CAPTURE(method);
    Scene scene = bar(method, 1.0001);
    scene.gravity = {0, -9.81, 0};
    scene.bodies[0].initial.stretch = {2, 2, 2};
    Simulation sim = make(scene);
    const double stored = sim.measure().elastic;
    go(sim, 1);
    CHECK(sim.removed_elements(0).tetrahedra.size() == sim.mesh(0).tetrahedra.size());
    CHECK(parts(sim) == sim.vertices());
    CHECK(std::abs(sim.measure().elastic) <= 1e-14 * stored);  // round-off of what was booked
    const auto x = sim.positions(), v = sim.velocities();
    const auto mass = sim.masses();
    const Measures start = sim.measure();
    go(sim, 10);
    // in sub-steps a fall is that of as many shorter frames
    const double h = scene.step, fall = method_info(method).fall / std::max(1, scene.solver.substeps);
    double worst = 0, way = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const Vec3 expected = x[k] + v[k] * (10 * h) + scene.gravity * (0.5 * h * h * (100 + 10 * fall));
      worst = std::max(worst, norm(sim.positions()[k] - expected)), way = std::max(way, norm(expected - x[k]));
    }
    // what cpd had left over of H when everything tore, it repays
    CHECK(worst <= (method == "cpd" ? scene.solver.tolerance : 1e-12) * way);
    CHECK(sim.measure().elastic == 0);
    CHECK(sim.masses() == mass);
    CHECK(norm(sim.measure().momentum - start.momentum - scene.gravity * (start.mass * 10 * h)) <=
          1e-9 * norm(start.momentum - scene.gravity * start.mass));
  }
}

TEST_CASE("P20: everything that acts on an element goes with it") {
  // one triangle of a sheet is pulled out of shape; bending, hinges, springs and area follow
  const auto stiff = [](const char* type, double k) { return PotentialSpec{type, {{"stiffness", Track<double>(k)}}}; };
  Scene scene = sheet("cpd", tearing({"tri_strain", {{"mu", Track<double>(100.0)}}}, 1.25));
  scene.bodies[0].initial = {};
  scene.bodies[0].mass = 1e9;  // nothing moves before it tears
  for (PotentialSpec more : {stiff("bending", 0.01), stiff("hinge_bending", 0.01), stiff("spring", 50),
                             stiff("edge_strain", 50), PotentialSpec{"tri_area", {}}})
    scene.bodies[0].potentials.push_back(more);
  Simulation sim = make(scene);
  // all of it in one flight: what is left of the energy when everything has gone is nothing at all
  std::vector<Vec3> x = sim.positions();
  for (Vec3& p : x) p = {p.x * 2, p.y + 0.1 * std::sin(20 * p.x), p.z * 2};
  sim.set_state(x, std::vector<Vec3>(x.size()));
  const double start = sim.measure().elastic;
  CHECK(start > 0);
  go(sim, 1);
  CHECK(parts(sim) == sim.vertices());
  CHECK(std::abs(sim.measure().elastic) <= 1e-14 * start);
  CHECK(sim.measure().booked_loss == doctest::Approx(start));
  go(sim, 1);
  CHECK(sim.measure().elastic == 0);
}

TEST_CASE("P20: wind takes no hold of torn triangles") {
  Scene scene = sheet("pd", tearing({"tri_strain", {{"mu", Track<double>(1.0)}}}, 1.2));
  scene.bodies[0].initial = {};
  scene.bodies[0].mass = 1e6;
  scene.winds.push_back({"breeze", "cloth", Vec3{0, 5, 0}, 1.2, true});
  Simulation sim = make(scene);
  // stretched along x in its left half alone
  std::vector<Vec3> x = sim.positions();
  for (Vec3& p : x)
    if (p.x < -1e-9) p.x *= 1.5;
  sim.set_state(x, std::vector<Vec3>(x.size()));
  const Vec3 start = sim.measure().momentum;
  go(sim, 1);
  const Vec3 before = sim.measure().momentum;
  CHECK(before.y - start.y == doctest::Approx(1.2 * 25 * 1.25 / 30).epsilon(1e-6));
  CHECK(sim.removed_elements(0).triangles.size() * 2 == sim.mesh(0).triangles.size());
  go(sim, 1);
  CHECK(sim.measure().momentum.y - before.y == doctest::Approx(1.2 * 25 * 0.5 / 30).epsilon(1e-6));
}

TEST_CASE("N32: wind blows at the skin that tearing lays open") {
  Scene scene = bar("pd", 1.2);
  scene.bodies[0].initial = {};
  scene.bodies[0].mass = 1e9, scene.bodies[0].potentials[0].parameters["mu"] = 1.0;
  const Vec3 air{3, 1, -2};
  scene.winds.push_back({"breeze", "box", air, 1.2, true});
  Simulation sim = make(scene);
  std::vector<Vec3> x = sim.positions();
  for (Vec3& p : x)
    if (p.x > 0.1) p.x += 0.15;  // one layer of cells is 1.6 times as long
  sim.set_state(x, std::vector<Vec3>(x.size()));
  go(sim, 1);
  CHECK(parts(sim) == 2);
  // the force on each triangle, as docs/scenes.md has it; nothing has moved
  Vec3 force{};
  for (const auto& [a, b, c] : surface(without(sim.mesh(0), sim.removed_elements(0)))) {
    const Vec3 area = cross(x[b] - x[a], x[c] - x[a]) * 0.5;
    force += area * (1.2 * norm(air) * dot(air, area) / norm(area));
  }
  const Vec3 before = sim.measure().momentum;
  go(sim, 1);
  const Vec3 gained = sim.measure().momentum - before;
  CHECK(norm(gained - force / 30) <= 1e-6 * norm(gained));
}

TEST_CASE("P20, N32: what has come loose still touches the floor") {
  Scene scene = bar("cpd", 1.3);
  scene.gravity = {0, -9.81, 0};
  scene.bodies[0].place.translate = {0, 0.5, 0};
  scene.bodies[0].initial.angular_velocity = {0, 0, 0};
  scene.colliders.emplace_back();
  scene.colliders[0].name = "floor", scene.colliders[0].shape = "plane";
  Simulation sim = make(scene);
  go(sim, 1);
  const Mesh left = without(sim.mesh(0), sim.removed_elements(0));
  std::vector<char> used(left.vertices.size());
  for (const auto& t : left.tetrahedra)
    for (const int v : t) used[v] = 1;
  CHECK(std::count(used.begin(), used.end(), 0) > 5);
  double lowest = 0, fallen = 1;
  for (int i = 0; i < 40; ++i) {
    go(sim, 1);
    for (size_t v = 0; v < used.size(); ++v)
      if (!used[v]) lowest = std::min(lowest, sim.positions()[v].y), fallen = std::min(fallen, sim.positions()[v].y);
  }
  CHECK(fallen < 0.05);  // they have been there, with 2 to 3 m/s or 0.1 m per frame
  CHECK(lowest > -0.03);
}

TEST_CASE("P20: a frame that fails leaves what is torn as it was") {
  Simulation sim = make(bar("pd", 1.3)), other = make(bar("pd", 1.3));
  go(sim, 1), go(other, 1);
  const RemovedElements gone = sim.removed_elements(0);
  const auto x = sim.positions(), v = sim.velocities();
  std::vector<Vec3> wild = v;
  wild[0] = {1e200, 0, 0};
  sim.set_state(x, wild);
  CHECK(!sim.step());
  CHECK(sim.removed_elements(0) == gone);
  CHECK(sim.measure().booked_loss == other.measure().booked_loss);
  sim.set_state(x, v), other.set_state(x, v);
  for (int i = 0; i < 5; ++i) {
    go(sim, 1), go(other, 1);
    CHECK(sim.state_hash() == other.state_hash());
    CHECK(sim.removed_elements(0) == other.removed_elements(0));
  }
}

TEST_CASE("P20: a limit may change with time") {
  Scene scene = bar("cpd");
  Track<double> limit;
  limit.interpolation = Interpolation::step;
  limit.keys = {{0.2, 1.01}, {0.3, std::nullopt}};  // between frames 6 and 9
  scene.bodies[0].potentials[0].tear = limit;
  Simulation sim = make(scene);
  go(sim, 5);
  CHECK(sim.measure().torn == 0);
  go(sim, 1);
  CHECK(sim.measure().torn > 0);
  go(sim, 3);
  const int torn = sim.measure().torn;
  go(sim, 5);
  CHECK(sim.measure().torn == torn);
}

TEST_CASE("P20, N32: every method tears, or says why not") {
  int tearing_methods = 0;
  for (const MethodInfo& method : method_infos()) {
    CAPTURE(method.name);
    // those that hold lengths exactly let nothing stretch, and tear by round-off alone
    const bool exact = method.name == "hard" || method.name == "fast_projection" || method.name == "jakobsen";
    const double limit = exact ? 1 + 1e-14 : method.name == "pbd" ? 1.01 : 1.2;
    Scene scene = sheet(method.name, tearing(springs(20), limit));
    scene.bodies[0].initial.angular_velocity = {0, 1, 0};
    Expected<Simulation> made = Simulation::create(scene, {.threads = 1});
    if (!made) {
      CHECK(method.name == "quasistatic");
      CHECK(made.diagnostics().text().find("bodies[0].potentials[0].tear: found with integrator \"quasistatic\"") !=
            std::string::npos);
      continue;
    }
    ++tearing_methods;
    const Vec3 start = made->measure().momentum;
    double last = made->measure().booked_loss;
    for (int i = 0; i < 8; ++i) {
      const StepReport report = made->step();
      REQUIRE_MESSAGE(report, report.message);
      if (report.torn > 0) CHECK(made->measure().booked_loss >= last);
      last = made->measure().booked_loss;
    }
    CHECK(made->measure().torn > 0);
    CHECK(parts(*made) > 1);
    CHECK(std::isfinite(made->measure().total));
    CHECK(norm(made->measure().momentum - start) <= 1e-9);
    // what is left is not stretched beyond the limit
    const Mesh& rest = made->mesh(0);
    const auto x = made->positions();
    for (const auto& [a, b] : unique_edges(without(rest, made->removed_elements(0))))
      CHECK(norm(x[a] - x[b]) <= limit * (1 + 1e-14) * norm(rest.vertices[a] - rest.vertices[b]));
  }
  CHECK(tearing_methods + 1 == int(method_infos().size()));
}

TEST_CASE("P20: what cannot tear is refused with a reason") {
  const auto text = [](const Scene& scene) {
    const Expected<Simulation> made = Simulation::create(scene);
    return made ? std::string() : made.diagnostics().text();
  };
  const auto has = [](const std::string& all, const std::string& part) { return all.find(part) != std::string::npos; };
  Scene scene = sheet("cpd", tearing(springs(20), 0.9));
  CHECK(has(text(scene), "bodies[0].potentials[0].tear: found 0.9, expected a number > 1"));
  scene = sheet("cpd", springs(20));
  scene.bodies[0].potentials.push_back(tearing({"bending", {}}, 1.5));
  CHECK(has(text(scene),
            "bodies[0].potentials[1].tear: found beside \"bending\", which acts on vertices, expected it "
            "at a potential of edges, triangles or tetrahedra"));
  scene = bar("cpd");
  scene.bodies[0].potentials.push_back({"shape_matching", {}});
  CHECK(has(text(scene),
            "bodies[0].potentials[1]: \"shape_matching\" holds together more than single elements and "
            "cannot follow when the body tears (bodies[0].potentials[0].tear); these can: spring"));
  scene = bar("cpd");
  scene.bodies[0].mass_matrix = MassMatrix::consistent;
  CHECK(has(text(scene), "bodies[0].mass_matrix: found \"consistent\" for a body that tears"));
}
