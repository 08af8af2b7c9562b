// Plastic flow of solids, edges and bending (docs/plasticity.md).
#include <doctest/doctest.h>

#include <complex>
#include <numbers>

#include "integrators/scenes_for_tests.h"
#include "verve/snapshot.h"

using namespace verve;
using namespace verve::test;

namespace {

PotentialSpec flowing(PotentialSpec potential, double yield, double hardening = 0, std::optional<double> creep = {}) {
  potential.yield = yield, potential.hardening = hardening, potential.creep = creep;
  return potential;
}

/// What flows of a strain that is given from outside: a spring and a slider in a row, the slider with linear hardening.
struct Slider {
  double yield, hardening, plastic = 0, flowed = 0, loss = 0;
  /// Returns the elastic part. `energy` of it per volume.
  template <class Energy>
  double follow(double strain, Energy&& energy) {
    const double trial = strain - plastic, over = std::abs(trial) - (yield + hardening * flowed);
    if (over <= 0) return trial;
    const double amount = over / (1 + hardening);
    plastic += std::copysign(amount, trial), flowed += amount;
    loss += energy(trial) - energy(strain - plastic);
    return strain - plastic;
  }
};

/// So heavy that a frame moves nothing.
constexpr double heavy = 1e12;

Mesh tetrahedron() {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 0.9, 0}, {0.3, 0.2, 0.8}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  return mesh;
}
double volume_of(const Mesh& m) {
  const auto& x = m.vertices;
  return dot(cross(x[1] - x[0], x[2] - x[0]), x[3] - x[0]) / 6;
}

Mat3 rotation(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return Mat3{{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}}} * Mat3{{{{1, 0, 0}, {0, c, s}, {0, -s, c}}}};
}

void put(Simulation& sim, const std::vector<Vec3>& x) {
  sim.set_state(x, std::vector<Vec3>(x.size()));
  const StepReport report = sim.step();
  REQUIRE_MESSAGE(report, report.message);
}

/// There, back beyond the start, and there again: every branch of the loop.
std::vector<double> loop(double most, int steps) {
  std::vector<double> out;
  double last = 0;
  for (const double end : {most, -0.8 * most, 1.2 * most, 0.0}) {
    for (int i = 1; i <= steps; ++i) out.push_back(last + (end - last) * i / steps);
    last = end;
  }
  return out;
}

/// A soft block that flies, spins and flows.
Scene clay_block(const std::string& method) {
  Scene scene = scene_of(box_body(3, 1e4), method);
  scene.bodies[0].potentials[0] = flowing(scene.bodies[0].potentials[0], 0.05, 0.2);
  scene.bodies[0].initial.stretch = {1.4, 0.9, 1};
  scene.bodies[0].initial.angular_velocity = {0.2, 2, 0.1};
  return scene;
}

}  // namespace

TEST_CASE("a solid drawn out and pressed together follows the loop of a slider with hardening, turned or not") {
  for (const double hardening : {0.0, 0.5})
    for (const double angle : {0.0, 0.7}) {
      CAPTURE(hardening);
      CAPTURE(angle);
      const double mu = 3e4, yield = 0.04;
      const Mesh mesh = tetrahedron();
      BodySpec body = mesh_body(mesh, {flowing(strain(mu), yield, hardening)});
      body.mass = heavy;
      Simulation sim = make(scene_of(body, "pd"));
      // of a uniaxial stretch without change of volume the equivalent strain is ln l, and |dev| (1, -1/2, -1/2) of it
      const auto energy = [&](double e) {
        return mu * volume_of(mesh) * (sq(std::exp(e) - 1) + 2 * sq(std::exp(-0.5 * e) - 1));
      };
      Slider slider{yield, hardening};
      const Mat3 about = rotation(0.4), turn = rotation(angle);
      double worst = 0, peak = 0, t = 0;
      for (const double e : loop(0.25, 20)) {
        const double l = std::exp(e), s = 1 / std::sqrt(l);
        const Mat3 stretch = about * Mat3{{{{l, 0, 0}, {0, s, 0}, {0, 0, s}}}} * transpose(about);
        t += angle;
        const Mat3 F = rotation(t) * turn * stretch;
        std::vector<Vec3> x;
        for (const Vec3& v : mesh.vertices) x.push_back(F * v);
        put(sim, x);
        const double expected = energy(slider.follow(e, energy));
        worst = std::max(worst, std::abs(sim.measure().elastic - expected)), peak = std::max(peak, expected);
      }
      // the limit is met to arrived = 1e-4 of it; 2 % were asked for
      CHECK(worst <= 1e-3 * peak);
      CHECK(slider.loss > peak);
      CHECK(sim.measure().booked_loss == doctest::Approx(slider.loss).epsilon(2e-3));
      CHECK(sim.flowed_strain(0, 0)[0] == doctest::Approx(slider.flowed).epsilon(2e-3));
    }
}

TEST_CASE("a triangle flows in its plane as a slider does, and grows in area as it becomes thinner") {
  for (const char* type : {"tri_strain", "tri_corotated"}) {
    CAPTURE(type);
    const double mu = 500, yield = 0.03, hardening = 0.2;
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 0.9, 0}};
    mesh.triangles = {{0, 1, 2}};
    const double area = 0.5 * (0.9 - 0.02);
    PotentialSpec potential{type, {{"mu", Track<double>(mu)}}};
    if (std::string(type) == "tri_corotated") potential.parameters["lambda"] = 0.0;
    BodySpec body = mesh_body(mesh, {flowing(potential, yield, hardening)});
    body.mass = heavy;
    Simulation sim = make(scene_of(body, "pd"));
    Slider slider{yield, hardening};
    double worst = 0, peak = 0, t = 0;
    for (const double e : loop(0.2, 16)) {
      const double l = std::exp(e), s = 1 / std::sqrt(l);
      const Mat3 in = rotation(0), stretch = in * Mat3{{{{l, 0, 0}, {0, s, 0}, {0, 0, 1}}}} * transpose(in);
      t += 0.5;
      std::vector<Vec3> x;
      for (const Vec3& v : mesh.vertices) x.push_back(rotation(t) * (stretch * v));
      put(sim, x);
      const double elastic = slider.follow(e, [](double) { return 0.0; });
      const double expected =
          mu * area * std::exp(0.5 * slider.plastic) * (sq(std::exp(elastic) - 1) + sq(std::exp(-0.5 * elastic) - 1));
      worst = std::max(worst, std::abs(sim.measure().elastic - expected)), peak = std::max(peak, expected);
    }
    CHECK(worst <= 1e-3 * peak);
    CHECK(slider.flowed > 0.5);
    CHECK(sim.flowed_strain(0, 0)[0] == doctest::Approx(slider.flowed).epsilon(2e-3));
  }
}

TEST_CASE("an edge flows as a slider does, by every potential of edges") {
  for (const char* type : {"spring", "edge_strain"}) {
    CAPTURE(type);
    Mesh rope;
    rope.vertices = {{0, 0, 0}, {0.5, 0, 0}}, rope.edges = {{0, 1}};
    BodySpec body = mesh_body(rope, {flowing({type, {{"stiffness", Track<double>(100)}}}, 0.03, 0.3)});
    body.mass = heavy;
    Simulation sim = make(scene_of(body, "pd"));
    Slider slider{0.03, 0.3};
    double worst = 0, peak = 0;
    for (const double e : loop(0.2, 10)) {
      put(sim, {{0, 0, 0}, {0, 0.5 * std::exp(e), 0}});
      const double elastic = slider.follow(e, [](double) { return 0.0; }), rest = 0.5 * std::exp(e - elastic);
      const double expected = std::string(type) == "spring" ? 50 * sq(0.5 * std::exp(e) - rest)
                                                            : 50 * rest * sq(std::exp(elastic) - 1);
      worst = std::max(worst, std::abs(sim.measure().elastic - expected)), peak = std::max(peak, expected);
    }
    CHECK(worst <= 1e-3 * peak);
  }
}

TEST_CASE("hinges and rods keep a bend beyond their limit: both ways, and by the curvature that was asked for") {
  const double yield = 0.4, w = 2;
  SUBCASE("hinge") {
    Mesh sheet;
    sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {0.4, 0.7, 0}, {0.5, -0.8, 0}};
    sheet.triangles = {{0, 1, 2}, {1, 0, 3}};
    BodySpec body = mesh_body(sheet, {flowing({"hinge_bending", {{"stiffness", Track<double>(w)}}}, yield)});
    body.mass = heavy;
    Simulation sim = make(scene_of(body, "pd"));
    const double areas = 0.5 * 0.7 + 0.5 * 0.8, per_turn = std::sqrt(3.0) / areas, W = w / areas;
    // at the limit the energy is that of the curvature over a third of the triangles, but for the square of the sine
    CHECK(0.5 * W * sq(yield / per_turn) == doctest::Approx(0.5 * w * yield * yield * areas / 3));
    Slider slider{yield / per_turn, 0};
    double worst = 0;
    for (const double angle : loop(1.2, 16)) {
      std::vector<Vec3> x = sheet.vertices;
      x[3] = {0.5, -0.8 * std::cos(angle), 0.8 * std::sin(angle)};
      put(sim, x);
      const double elastic = slider.follow(angle, [](double) { return 0.0; });
      worst = std::max(worst, std::abs(sim.measure().elastic - W * (1 - std::cos(elastic))));
    }
    CHECK(worst <= 1e-3 * W * (1 - std::cos(yield / per_turn)));
    CHECK(slider.flowed > 3);
  }
  SUBCASE("rod") {
    Mesh rod;
    rod.vertices = {{-0.5, 0, 0}, {0, 0, 0}, {0.5, 0, 0}}, rod.edges = {{0, 1}, {1, 2}};
    BodySpec body = mesh_body(rod, {flowing({"rod_bending", {{"stiffness", Track<double>(w)}}}, yield)});
    body.mass = heavy;
    Simulation sim = make(scene_of(body, "pd"));
    const double length = 0.5;
    double kept = 0;
    for (const double angle : {0.1, 0.3, 0.9, 0.5, 0.2, 0.0}) {
      put(sim, {{-0.5, 0, 0}, {0, 0, 0}, {0.5 * std::cos(angle), 0.5 * std::sin(angle), 0}});
      const double z = 2 * std::sin(0.5 * angle);
      kept = std::clamp(kept, z - yield * length, z + yield * length);
      CHECK(sim.measure().elastic == doctest::Approx(0.5 * w / length * sq(z - kept)).epsilon(1e-3));
    }
    CHECK(kept == doctest::Approx(yield * length).epsilon(1e-3));  // straightened but for the elastic part
  }
}

TEST_CASE("creep: what is beyond the limit is gone by exp(-c t), however long a frame is") {
  const double mu = 1e4, yield = 0.02, c = 3, hardening = 0.25, e0 = 0.1;
  for (const double h : {0.01, 0.04}) {
    CAPTURE(h);
    const Mesh mesh = tetrahedron();
    BodySpec body = mesh_body(mesh, {flowing(strain(mu), yield, hardening, c)});
    body.mass = heavy;
    Scene scene = scene_of(body, "pd");
    scene.step = h;
    Simulation sim = make(scene);
    std::vector<Vec3> x;
    const double s = std::exp(-0.5 * e0);
    for (const Vec3& v : mesh.vertices) x.push_back({v.x * std::exp(e0), v.y * s, v.z * s});
    for (double t = h; t < 0.5; t += h) {
      put(sim, x);
      const double flowed = (e0 - yield) / (1 + hardening) * (1 - std::exp(-c * t));
      CHECK(sim.flowed_strain(0, 0)[0] == doctest::Approx(flowed).epsilon(1e-9));
    }
  }
}

TEST_CASE("what flows keeps mass, P and L, and the energy of it is booked") {
  for (const char* type : {"tet_strain", "stable_neo_hookean", "corotated"}) {
    CAPTURE(type);
    Scene scene = clay_block("cpd");
    PotentialSpec& potential = scene.bodies[0].potentials[0];
    potential.type = type, potential.parameters = {{"young", Track<double>(2.5e4)}};
    Simulation sim = make(scene);
    const Measures start = sim.measure();
    const double scale = start.kinetic + start.elastic, p = std::sqrt(2 * start.mass * scale);
    Measures last = start;
    double worst = 0;
    for (int i = 0; i < 60; ++i) {
      REQUIRE(sim.step());
      const Measures m = sim.measure();
      CHECK(norm(m.momentum - last.momentum) <= 1e-12 * p);
      CHECK(norm(m.angular_momentum - last.angular_momentum) <= 1e-12 * p);
      CHECK(m.booked_loss >= last.booked_loss);
      worst = std::max(worst, std::abs(m.total + m.booked_loss - start.total));
      last = m;
    }
    CHECK(last.booked_loss > 0.1 * start.elastic);
    CHECK(worst <= 2e-6 * scale);  // within the tolerance of a frame, as in bodies that tear
  }
}

TEST_CASE("creep from the start is a damper: a swing dies as that of a standard linear solid, monotonically") {
  // m/2 x'' = -k1 x - k2 (x - q), q' = c (x - q): the complex root of m/2 s^2 (s + c) + k1 (s + c) + k2 s
  const double m = 2, k1 = 200, k2 = 30, c = 12, h = 1.0 / 960;
  std::complex<double> s(-0.5, std::sqrt((k1 + k2) / (0.5 * m)));
  for (int n = 0; n < 50; ++n) {
    const auto f = (0.5 * m * s * s + k1) * (s + c) + k2 * s, slope = m * s * (s + c) + 0.5 * m * s * s + k1 + k2;
    s -= f / slope;
  }
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}}, mesh.edges = {{0, 1}};
  BodySpec body = mesh_body(mesh, {springs(k1), flowing(springs(k2), 1e-9, 0, c)});
  body.mass = 2 * m;  // reduced: m/2
  body.initial.stretch = {1.01, 1, 1};
  for (const char* method : {"newmark", "cpd"}) {
    CAPTURE(method);
    Scene scene = scene_of(body, method);
    scene.step = h;
    Simulation sim = make(scene);
    double most = 0, energy = sim.measure().total;
    const int frames = 1920, window = int(2 * std::numbers::pi / s.imag() / h) + 1;
    for (int i = 0; i < frames; ++i) {
      REQUIRE(sim.step());
      const Measures now = sim.measure();
      CHECK(now.booked_loss >= 0);
      CHECK(now.total <= energy * (1 + 1e-5));
      energy = now.total;
      if (i >= frames - window) most = std::max(most, std::abs(norm(sim.positions()[1] - sim.positions()[0]) - 1));
    }
    const double expected = 0.01 * std::exp(s.real() * frames * h);  // at the end; the window lasts a period
    CHECK(most <= 1.05 * expected * std::exp(-s.real() * window * h));
    CHECK(most >= 0.95 * expected);
  }
  // moved and turned as a whole it does not flow at all
  Scene rigid = clay_block("pd");
  rigid.bodies[0].potentials.push_back(flowing(strain(1e4), 1e-9, 0, c));
  rigid.bodies[0].initial = {}, rigid.bodies[0].mass = heavy;
  Simulation sim = make(rigid);
  std::vector<Vec3> x = sim.positions();
  for (Vec3& v : x) v = rotation(1.1) * v + Vec3{3, -2, 5};
  put(sim, x);
  const std::vector<double> flowed = sim.flowed_strain(0, 1);
  CHECK(*std::max_element(flowed.begin(), flowed.end()) <= 1e-10);
}

TEST_CASE("no potential gains by flowing, whatever it is strained by") {
  for (const PotentialInfo& info : potential_infos()) {
    if (!info.flows || (info.elements != "tetrahedra" && info.elements != "triangles")) continue;
    CAPTURE(info.name);
    Mesh mesh = tetrahedron();
    if (info.elements == "triangles") mesh.vertices.pop_back(), mesh.tetrahedra.clear(), mesh.triangles = {{0, 1, 2}};
    PotentialSpec potential;
    potential.type = info.name;
    BodySpec body = mesh_body(mesh, {flowing(potential, 0.02)});
    body.mass = heavy;
    Simulation sim = make(scene_of(body, "pd"));
    int flowed = 0;
    for (int k = 0; k < 40; ++k) {
      sim.reset();
      // from a tenth to three times the size along each axis, and sheared
      const auto random = [&](int i) { return 0.5 + 0.5 * std::sin(12.9898 * (k + 1) + 78.233 * i); };
      const Mat3 F = rotation(6 * random(0)) * Mat3{{{{0.1 + 2.9 * random(1), 0, 0},
                                                      {random(2) - 0.5, 0.1 + 2.9 * random(3), 0},
                                                      {random(4) - 0.5, random(5) - 0.5, 0.1 + 2.9 * random(6)}}}};
      std::vector<Vec3> x;
      for (const Vec3& v : mesh.vertices) x.push_back(F * v);
      put(sim, x);
      flowed += sim.flowed_strain(0, 0)[0] > 0;
      CHECK(sim.measure().booked_loss >= 0);
    }
    CHECK(flowed > 5);
  }
}

TEST_CASE("below its limit a body moves as one without, and the same bits come of any number of threads") {
  Scene with = clay_block("cpd"), without_limit = with;
  with.bodies[0].potentials[0].yield = 5;
  without_limit.bodies[0].potentials[0] = strain(1e4);
  Simulation a = make(with), b = make(without_limit);
  Simulation one = make(clay_block("cpd")), three = make(clay_block("cpd"), 3);
  for (int i = 0; i < 10; ++i) {
    REQUIRE((a.step() && b.step() && one.step() && three.step()));
    CHECK(a.state_hash() == b.state_hash());
    CHECK(one.state_hash() == three.state_hash());
  }
  CHECK(one.state_hash() != b.state_hash());
}

TEST_CASE("what has flowed is part of a snapshot, and reset mends it") {
  for (const char* method : {"cpd", "xpbd", "newton"}) {
    CAPTURE(method);
    Simulation sim = make(clay_block(method));
    const std::uint64_t begin = sim.state_hash();
    for (int i = 0; i < 8; ++i) REQUIRE(sim.step());
    const Snapshot snapshot = sim.save();
    const std::vector<double> flowed = sim.flowed_strain(0, 0);
    for (int i = 0; i < 8; ++i) REQUIRE(sim.step());
    const std::uint64_t end = sim.state_hash();
    CHECK(sim.flowed_strain(0, 0) != flowed);

    REQUIRE(sim.restore(snapshot).items().empty());
    CHECK(sim.flowed_strain(0, 0) == flowed);
    for (int i = 0; i < 8; ++i) REQUIRE(sim.step());
    CHECK(sim.state_hash() == end);

    Expected<Snapshot> read = Snapshot::from_bytes(snapshot.bytes(), "here");
    REQUIRE(read);
    Simulation other = make(clay_block(method));
    REQUIRE(other.restore(*read).items().empty());
    for (int i = 0; i < 8; ++i) REQUIRE(other.step());
    CHECK(other.state_hash() == end);

    sim.reset();
    CHECK(sim.state_hash() == begin);
    const std::vector<double> none = sim.flowed_strain(0, 0);
    CHECK(*std::max_element(none.begin(), none.end()) == 0);
    for (int i = 0; i < 16; ++i) REQUIRE(sim.step());
    CHECK(sim.state_hash() == end);
  }
}

TEST_CASE("bodies that flow come, go, are copied and gone back to with what has flowed of them") {
  Scene scene = clay_block("cpd");
  Simulation sim = make(scene);
  for (int i = 0; i < 4; ++i) REQUIRE(sim.step());
  BodySpec other = scene.bodies[0];
  other.name = "other";
  Expected<PreparedBody> prepared = sim.prepare(other);
  REQUIRE(prepared);
  Spawn far;
  far.place.position = {5, 0, 0};
  const BodyId added = sim.add_body(std::move(*prepared), far);
  CHECK(sim.flowed_strain(added, 0) == std::vector<double>(sim.flowed_strain(0, 0).size(), 0.0));
  for (int i = 0; i < 4; ++i) REQUIRE(sim.step());
  const Snapshot both = sim.save();
  const std::vector<double> flowed = sim.flowed_strain(added, 0);
  CHECK(*std::max_element(flowed.begin(), flowed.end()) > 0);
  Simulation copy = sim.clone();
  for (int i = 0; i < 4; ++i) REQUIRE((sim.step() && copy.step()));
  const std::uint64_t end = sim.state_hash();
  CHECK(copy.state_hash() == end);

  sim.remove_body(added);
  for (int i = 0; i < 2; ++i) REQUIRE(sim.step());
  REQUIRE(sim.restore(both).items().empty());
  CHECK(sim.flowed_strain(added, 0) == flowed);
  for (int i = 0; i < 4; ++i) REQUIRE(sim.step());
  CHECK(sim.state_hash() == end);
}

TEST_CASE("every method that drives solids lets them flow, and backward Euler flows alike by PD and by Newton") {
  for (const MethodInfo& method : methods_for_solids()) {
    if (blows_up(method)) continue;
    CAPTURE(method.name);
    Simulation sim = make(clay_block(method.name));
    for (int i = 0; i < 5; ++i) REQUIRE(sim.step());
    CHECK(finite(sim));
    // equilibria, and projections of all of the shape, leave no strain by the end of the first frame
    if (method.dynamic && method.name != "pbd") CHECK(sim.measure().booked_loss > 0);
  }
  // far: the matrix of PD follows what has flowed by steps, and must not show
  std::vector<Vec3> end[2];
  for (int k = 0; k < 2; ++k) {
    Scene scene = clay_block(k ? "newton" : "pd");
    scene.bodies[0].initial.stretch = {2.2, 0.7, 1};
    scene.solver.iterations = k ? 50 : 2000, scene.solver.tolerance = 1e-9;
    Simulation sim = make(scene);
    for (int i = 0; i < 20; ++i) REQUIRE(sim.step());
    end[k] = sim.positions();
    const std::vector<double> flowed = sim.flowed_strain(0, 0);
    CHECK(*std::max_element(flowed.begin(), flowed.end()) > 0.5);
  }
  double apart = 0;
  for (size_t v = 0; v < end[0].size(); ++v) apart = std::max(apart, norm(end[0][v] - end[1][v]));
  CHECK(apart < 1e-4);
  MESSAGE("PD and Newton are " << apart << " m apart");
}

TEST_CASE("what cannot flow is refused with a reason") {
  const auto text = [](const Scene& scene) {
    const Expected<Simulation> made = Simulation::create(scene, {.threads = 1});
    return made.diagnostics().text();
  };
  Scene scene = scene_of(generated_body("cloth", {{"columns", {4}}, {"rows", {4}}},
                                        {"bending", {{"stiffness", Track<double>(0.1)}}}));
  scene.bodies[0].potentials[0].yield = 0.1;
  CHECK(text(scene).find("bodies[0].potentials[0].yield: found beside \"bending\", which acts on vertices, "
                         "with no shape at rest of its elements that could flow; these have: spring, edge_strain") !=
        std::string::npos);
  scene.bodies[0].potentials[0].yield = -1;
  CHECK(text(scene).find("bodies[0].potentials[0].yield: found -1, expected a number > 0") != std::string::npos);
  scene = scene_of(box_body(1, 1e4));
  scene.bodies[0].potentials[0].creep = 2;
  CHECK(text(scene).find("bodies[0].potentials[0].creep: found without yield, expected the strain beyond which it "
                         "flows") != std::string::npos);
}
