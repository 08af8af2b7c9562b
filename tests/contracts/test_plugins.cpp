// Potentials, integrators, methods and shapes that a program registers. (examples/plugins does the same from outside, with
// the checks of verve/contract_tests.h.)
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "verve/contract_tests.h"
#include "verve/plugin.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

ParameterInfo number(const std::string& name, double value) {
  ParameterInfo out;
  out.name = name, out.default_value = {value}, out.minimum = 0;
  return out;
}

int throws_from = 1 << 30, calls = 0;  // of the law "fragile"

/// Green's strain of edges; a fragile one throws from a certain call on.
ConstitutiveLaw spring_like(double stiffness, bool fragile) {
  ConstitutiveLaw law;
  law.dimension = 1;
  law.energy = [stiffness, fragile](int elements, const Vec3* F, double* psi, Vec3* slope) {
    if (fragile && ++calls >= throws_from) throw std::runtime_error("the law has had enough");
    for (int e = 0; e < elements; ++e) {
      const double strain = 0.5 * (dot(F[e], F[e]) - 1);
      psi[e] = 0.5 * stiffness * strain * strain;
      slope[e] = F[e] * (stiffness * strain);
    }
  };
  return law;
}

PotentialPlugin green_edges(const std::string& name, bool fragile) {
  PotentialPlugin out;
  out.name = name, out.help = "Green's strain of edges", out.dimension = 1;
  out.parameters = {number("stiffness", 100), number("factor", 1)};
  out.law = [fragile](const PluginValues& v) { return spring_like(v.at("stiffness") * v.at("factor"), fragile); };
  out.check = [](const PluginValues& v) {
    return v.at("factor") > 1e3 ? std::string("found a factor above 1000") : std::string();
  };
  return out;
}

/// Pairs of vertices keep `length`.
PotentialPlugin pairs() {
  PotentialPlugin out;
  out.name = "pair_length", out.group = 2;
  out.parameters = {number("stiffness", 1e3), number("length", 0.5)};
  out.formula = [](const PluginValues& v) {
    return Formula{1, [length = v.at("length")](const Vec3* q, int, double* c, Vec3* gradient) {
                     const Vec3 d = q[1] - q[0];
                     c[0] = dot(d, d) - length * length;
                     gradient[0] = d * -2, gradient[1] = d * 2;
                   }};
  };
  return out;
}

void register_all() {
  static const bool once = [] {
    REQUIRE(register_potential(green_edges("green_edges", false)).text() == "");
    REQUIRE(register_potential(green_edges("fragile", true)).text() == "");
    REQUIRE(register_potential(pairs()).text() == "");
    IntegratorPlugin drift;  // explicit, and remembers how often it was called
    drift.name = "drift", drift.help = "symplectic Euler";
    drift.step = [](OwnStepView& view) {
      std::vector<Vec3> a(view.x.size());
      view.accelerate(view.x, a);
      for (size_t i = 0; i < a.size(); ++i) view.v[i] += a[i] * view.h, view.x[i] += view.v[i] * view.h;
      if (view.history.empty()) view.history = {0};
      if (++view.history[0] == 1000) throw 5;  // no std::exception
    };
    REQUIRE(register_integrator(drift).text() == "");
    MethodInfo method;
    method.name = "drift", method.integrator = "drift", method.minimizer = "own", method.conservation = "none";
    method.fall = 1, method.stable = false;
    REQUIRE(register_method(method).text() == "");
    IntegratorPlugin euler;
    euler.name = "euler_again", euler.help = "backward Euler";
    euler.begin = [](const IntegratorStep& s, std::span<IntegratorRow> rows) {
      for (IntegratorRow& r : rows) r.xb = r.x, r.u = r.v + r.acceleration * s.h;
    };
    REQUIRE(register_integrator(euler).text() == "");
    ShapePlugin ball;
    ball.name = "ball_again", ball.help = "a ball", ball.keys = {{"radius", ""}};
    ball.make = [](const ColliderSpec& spec) {
      if (spec.radius > 100) throw std::runtime_error("too large a ball");
      ShapeFunctions out;
      const double r = spec.radius;
      out.distance = [r](const Vec3& x, Vec3& n) {
        const double length = norm(x);
        n = length > 0 ? x / length : Vec3{0, 1, 0};
        return length - r;
      };
      out.high = {r, r, r}, out.low = -out.high;
      const Mesh drawn = generate_mesh("sphere", {{"frequency", {8}}, {"size", {2 * r}}}).value();
      out.points = drawn.vertices, out.triangles = drawn.triangles;
      for (Vec3& p : out.points) p = p * (r / norm(p));
      return out;
    };
    REQUIRE(register_shape(ball).text() == "");
    return true;
  }();
  (void)once;
}

Scene chain(const std::string& potential, const std::string& method = "newton") {
  Scene scene;
  BodySpec& body = scene.bodies.emplace_back();
  body.name = "chain", body.mesh.generator = "chain", body.mesh.parameters = {{"length", {1}}, {"vertices", {9}}};
  body.potentials.push_back({potential, {{"stiffness", Track<double>(500)}}});
  body.initial.stretch = {1.2, 1, 1};
  scene.solver.method = method;
  return scene;
}

}  // namespace

TEST_CASE("what is registered is found by name, in lists, scene files and refusals") {
  register_all();
  CHECK(registered().potentials == std::vector<std::string>{"green_edges", "fragile", "pair_length"});
  CHECK(potential_infos().back().name == "pair_length");
  CHECK(find_method("drift+energy_only") != nullptr);
  CHECK(integrator_names().back() == "euler_again");
  CHECK(own_step_names().back() == "drift");
  CHECK(shape_infos().back().name == "ball_again");
  const Expected<Scene> read = parse_scene(write_scene(chain("green_edges", "drift")), "scene");
  REQUIRE(read);
  CHECK(read->bodies[0].potentials[0].type == "green_edges");
  const std::string nearest =
      parse_scene(R"({"version": 1, "bodies": [{"name": "a", "mesh": {"generator": "chain"},
                      "potentials": [{"type": "green_edge"}]}]})", "scene").diagnostics().text();
  CHECK(nearest.find("green_edges") != std::string::npos);
}

TEST_CASE("what cannot be registered is refused with every reason, and changes nothing") {
  register_all();
  const size_t potentials = potential_infos().size(), methods = method_infos().size();
  const std::string text = register_potential({}).text();
  CHECK(text.find("found name \"\"") != std::string::npos);
  CHECK(text.find("neither law and formula") != std::string::npos);
  CHECK(text.find("no parameters") != std::string::npos);
  CHECK(register_potential(green_edges("tet_strain", false)).text().find("taken") != std::string::npos);
  CHECK(register_potential(green_edges("Green", false)).text().find("lower case") != std::string::npos);
  MethodInfo method;
  method.name = "own", method.integrator = "drift", method.minimizer = "newton", method.conservation = "nothing";
  CHECK(register_method(method).text().find("conservation: found \"nothing\"") != std::string::npos);
  method.conservation = "none";
  CHECK(register_method(method).text().find("minimizer") != std::string::npos);
  CHECK(register_integrator({}).has_errors());
  CHECK(register_shape({}).has_errors());
  CHECK(potential_infos().size() == potentials);
  CHECK(method_infos().size() == methods);
}

TEST_CASE("registered potentials, methods, integrators and shapes fulfil the contracts of Verve's own") {
  register_all();
  for (const char* name : {"green_edges", "fragile"}) CHECK(test_potential(name).text() == "");
  CHECK(test_method("drift").text() == "");
  CHECK(test_shape("ball_again").text() == "");
}

TEST_CASE("a law that is registered is the same as the one that is given, and follows its parameters") {
  register_all();
  Scene named = chain("green_edges"), given = chain("custom");
  given.bodies[0].potentials[0].law = std::make_shared<const ConstitutiveLaw>(spring_like(500, false));
  Simulation a = Simulation::create(named).value(), b = Simulation::create(given).value();
  for (int frame = 0; frame < 10; ++frame) {
    REQUIRE(a.step());
    REQUIRE(b.step());
    CHECK(a.state_hash() == b.state_hash());
  }
  const double before = a.measure().elastic;
  a.set_parameter(0, 0, "factor", 4);
  const std::vector<Vec3> x = a.positions(), v(x.size());
  REQUIRE(a.step());
  a.set_state(x, v);
  CHECK(a.measure().elastic == doctest::Approx(4 * before));
  CHECK_THROWS_AS(a.set_parameter(0, 0, "factor", 2e3), std::invalid_argument);
}

TEST_CASE("a formula that is registered holds for its groups and is written to snapshots, one that is given is refused") {
  register_all();
  Scene scene = chain("spring", "pd");
  BodySpec late = scene.bodies[0];
  late.name = "late";
  PotentialSpec& pair = late.potentials.emplace_back();
  pair.type = "pair_length", pair.groups = {{0, 8}};
  pair.parameters["stiffness"] = Track<double>(1e6), pair.parameters["length"] = Track<double>(0.6);
  late.dials.half_life = Track<double>(0.05);
  Simulation sim = Simulation::create(scene).value();
  const BodyId id = sim.add_body(std::move(sim.prepare(late).value()));
  for (int frame = 0; frame < 60; ++frame) REQUIRE(sim.step());
  const std::vector<Vec3> x = sim.positions();
  CHECK(norm(x[9] - x[17]) == doctest::Approx(0.6).epsilon(0.02));
  Simulation other = Simulation::create(scene).value();
  const Expected<Snapshot> read = Snapshot::from_bytes(sim.save().bytes(), "memory");
  REQUIRE(read);
  CHECK(other.restore(*read).text() == "");
  for (int frame = 0; frame < 5; ++frame) REQUIRE((sim.step() && other.step()));
  CHECK(sim.state_hash() == other.state_hash());

  sim.remove_body(id);
  late.potentials.pop_back();
  PotentialSpec& bare = late.potentials.emplace_back();
  bare.type = "formula", bare.groups = {{0, 8}};
  bare.formula = std::make_shared<const Formula>(pairs().formula({{"length", 0.6}}));
  sim.add_body(std::move(sim.prepare(late).value()));
  const Snapshot saved = sim.save();
  CHECK(saved.unwritable().text().find("body \"late\": potentials[1]: found \"formula\"") != std::string::npos);
  CHECK_THROWS_AS(saved.bytes(), std::invalid_argument);
  CHECK(write_snapshot("never.verve", saved).has_errors());
  CHECK(!std::filesystem::exists("never.verve"));
  REQUIRE(sim.step());
  const std::uint64_t next = sim.state_hash();
  CHECK(sim.restore(saved).text() == "");  // in memory it is as good as others
  REQUIRE(sim.step());
  CHECK(sim.state_hash() == next);
}

TEST_CASE("what functions of the caller's throw is an error of what was done, again and again, and nothing happens") {
  register_all();
  for (const int threads : {1, 2}) {
    calls = 0, throws_from = 1 << 30;
    Simulation sim = Simulation::create(chain("fragile"), {.threads = threads}).value();
    REQUIRE(sim.step());
    const std::uint64_t before = sim.state_hash();
    throws_from = calls + 3;
    for (int k = 0; k < 3; ++k) {
      const StepReport report = sim.step();
      CHECK(report.status == StepStatus::callback_failed);
      CHECK(report.message.find("the law has had enough") != std::string::npos);
      CHECK(sim.state_hash() == before);
    }
    CHECK(Simulation::create(chain("fragile")).diagnostics().text().find("has had enough") != std::string::npos);
    throws_from = 1 << 30;
    REQUIRE(sim.step());
    CHECK(sim.state_hash() != before);
  }
  Scene steps = chain("spring", "drift");
  steps.solver.substeps = 40;
  Simulation sim = Simulation::create(steps).value();
  for (int frame = 0; frame < 24; ++frame) REQUIRE(sim.step());
  const StepReport report = sim.step();
  CHECK(report.status == StepStatus::callback_failed);
  CHECK(report.message.find("no std::exception") != std::string::npos);

  Scene obstacle = chain("spring");
  ColliderSpec& ball = obstacle.colliders.emplace_back();
  ball.name = "ball", ball.shape = "ball_again", ball.radius = 200;
  CHECK(Simulation::create(obstacle).diagnostics().text().find("too large a ball") != std::string::npos);
  ColliderSpec small = ball;
  small.radius = 0.2, ball.radius = 0.1;
  Simulation beside = Simulation::create(obstacle).value();
  ColliderSpec large = small;
  large.name = "large", large.radius = 200, small.name = "small";
  CHECK(beside.add_collider(large).diagnostics().text().find("too large a ball") != std::string::npos);
  CHECK(beside.add_collider(small).has_value());
}
