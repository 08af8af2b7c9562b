#include <algorithm>
#include <cmath>

#include "contracts/findings.h"
#include "contracts/method_contract.h"
#include "verve/contract_tests.h"
#include "verve/registry.h"
#include "verve/simulation.h"

namespace verve {

namespace {

PotentialSpec potential(const char* type, const char* parameter, double value) {
  return {type, {{parameter, Track<double>(value)}}};
}

BodySpec generated(const char* generator, const Parameters& parameters, PotentialSpec potential) {
  BodySpec body;
  body.name = generator, body.mesh.generator = generator, body.mesh.parameters = parameters;
  body.potentials.push_back(std::move(potential));
  return body;
}
BodySpec box(int cells, double mu) {
  const double n = cells;
  return generated("box", {{"size", {1, 1, 1}}, {"cells", {n, n, n}}}, potential("tet_strain", "mu", mu));
}

/// A method, by itself or with another integrator, and what it has to fulfil.
class MethodContract {
 public:
  MethodContract(const MethodInfo& method, const SolverSpec& solver, Findings& out)
      : method_(method), solver_(solver), out_(out) {}

  void run() {
    solid_ = bool(Simulation::create(scene(box(1, 1e4)), {.threads = 1}));  // some drive springs alone
    if (method_.dynamic && solid_) falls(), gains_momentum(), fails();
    rests();
    goes_on();
  }

 private:
  /// Explicit Euler blows up whatever moves, round-off included, at any step: nothing that lasts can be asked of it.
  bool blows_up() const { return axes_of(solver_)->integrator == "explicit_euler"; }

  Scene scene(BodySpec body) const {
    Scene out;
    out.solver = solver_;
    // those that are stable below a limit only are made for short steps
    if (!method_.stable) out.solver.substeps = 8;
    out.bodies.push_back(std::move(body));
    return out;
  }
  Simulation make(const Scene& scene) const { return Simulation::create(scene, {.threads = 1}).value(); }
  bool step(Simulation& sim, const char* claim) {
    const StepReport report = sim.step();
    if (!report) out_.expect(false, std::string(claim) + " (" + report.message + ")");
    return bool(report);
  }
  /// Stretched and spun.
  Scene lively(int cells) const {
    Scene out = scene(box(cells, 1e4));
    out.bodies[0].initial.stretch = {1, 1.5, 1};
    out.bodies[0].initial.angular_velocity = {0.3, 2, 0.2};
    return out;
  }
  Scene chain() const {
    Scene out = scene(generated("chain", {{"length", {1}}, {"vertices", {13}}}, potential("spring", "stiffness", 2e3)));
    out.gravity = {0, -9.81, 0};
    return out;
  }

  void falls() {
    const char* const claim = "a free body falls as far as the method says";
    Scene s = scene(box(2, 1e4));
    s.gravity = {0, -9.81, 0};
    s.bodies[0].initial.velocity = {1, 2, 0};
    Simulation sim = make(s);
    const Measures m0 = sim.measure();
    const int n = 60;
    for (int frame = 0; frame < n; ++frame)
      if (!step(sim, claim)) return;
    const Measures m = sim.measure();
    const int parts = std::max(1, s.solver.substeps);
    const double h = s.step / parts, t = n * s.step;
    // Backward Euler as the papers have it falls g h^2 n(n+1)/2; second order, or half a kick before and after: g t^2/2.
    const double fall = 9.81 * h * h * n * parts * (n * parts + method_.fall) / 2;
    out_.below(norm(m.center - m0.center - Vec3{t, 2 * t - fall, 0}), 1e-11, claim);
    out_.below(norm(m.momentum - m0.mass * Vec3{1, 2 - 9.81 * t, 0}), 1e-11 * m0.mass * 9.81 * t,
               "a free body gains momentum by its weight");
    out_.below(m.elastic, 1e-20 * 1e4, "a free body falls without deforming");
  }

  void gains_momentum() {
    if (blows_up()) return;
    const char* const claim = "momentum grows by force times time, whatever the body does inside";
    Scene s = lively(4);
    s.gravity = {0, -1, 0};
    ForceSpec force;
    force.body = "box", force.vertices.nearest = Vec3{0.5, 0.5, 0.5}, force.force = {300, 50, -20};
    s.forces.push_back(force);
    Simulation sim = make(s);
    const Measures m0 = sim.measure();
    double worst = 0;
    for (int frame = 1; frame <= 100; ++frame) {
      if (!step(sim, claim)) return;
      const Vec3 expected = m0.momentum + (force.force + s.gravity * m0.mass) * (frame * s.step);
      worst = std::max(worst, norm(sim.measure().momentum - expected) / norm(expected));
    }
    // velocities are differences of positions over a sub-step: n of them round n times as coarsely each
    out_.below(worst, 1e-12 * std::pow(method_.substeps, 1.5), claim);
  }

  void rests() {
    if (blows_up()) return;
    const char* const claim = "a body at rest stays at rest";
    for (const char* generator : {"box", "cloth", "chain"}) {
      const bool solid = std::string(generator) == "box";
      if (solid && !solid_) continue;
      const Parameters size =
          std::string(generator) == "cloth" ? Parameters{{"columns", {20}}, {"rows", {20}}} : Parameters{};
      Simulation sim = make(scene(generated(
          generator, size, solid ? potential("tet_strain", "mu", 1e4) : potential("spring", "stiffness", 1000))));
      const std::vector<Vec3> x0 = sim.positions();
      for (int frame = 0; frame < 100; ++frame)
        if (!step(sim, claim)) return;
      double off = 0;
      const std::vector<Vec3> x = sim.positions();
      for (size_t i = 0; i < x.size(); ++i) off = std::max(off, norm(x[i] - x0[i]));
      out_.below(off, 1e-12, claim);
    }
  }

  /// After a reset, whatever happened in between; and from a snapshot that was bytes, in another simulation.
  void goes_on() {
    const char* const claim = "a run can be taken";
    const Scene s = solid_ ? lively(3) : chain();
    Simulation sim = make(s);
    const std::uint64_t start = sim.state_hash();
    std::vector<std::uint64_t> hashes;
    std::vector<unsigned char> bytes;
    for (int frame = 0; frame < 24; ++frame) {
      if (frame == 9) bytes = sim.save().bytes();
      if (!step(sim, claim)) return;
      hashes.push_back(sim.state_hash());
    }
    const Expected<Snapshot> read = Snapshot::from_bytes(bytes, "memory");
    out_.expect(read.has_value(), "a snapshot can be read back from its bytes");
    if (!read) return;
    Simulation other = make(s);
    out_.expect(!other.restore(*read).has_errors(), "a snapshot can be taken on by another simulation");
    for (int frame = 9; frame < 24 && step(other, claim); ++frame)
      out_.expect(other.state_hash() == hashes[frame], "a snapshot goes on bit for bit");

    sim.set_gravity({0, -3, 0});
    sim.add_impulse(0, {1, 0, 0}, {});
    for (int frame = 0; frame < 3; ++frame)
      if (!step(sim, claim)) return;
    sim.reset();
    out_.expect(sim.frame() == 0 && sim.time() == 0 && sim.state_hash() == start, "a reset goes back to the start");
    for (int frame = 0; frame < 24 && step(sim, claim); ++frame)
      out_.expect(sim.state_hash() == hashes[frame], "a run after a reset is the same bit for bit");
  }

  void fails() {
    Simulation sim = make(lively(2));
    for (int frame = 0; frame < 3; ++frame)
      if (!step(sim, "a run can be taken")) return;
    const std::vector<Vec3> x = sim.positions(), v = sim.velocities();
    std::vector<Vec3> wild = v;
    for (size_t i = 0; i < wild.size(); ++i) wild[i] = Vec3{1, -1, 0.5} * (i % 2 ? 1e200 : -1e200);
    sim.set_state(x, wild);
    const std::uint64_t before = sim.state_hash();
    const StepReport r = sim.step();
    out_.expect(!r && r.status == StepStatus::diverged && !r.message.empty(), "a step that cannot be taken says why");
    out_.expect(sim.state_hash() == before && sim.frame() == 3, "a step that fails leaves the state as it was");
    sim.set_state(x, v);
    for (int frame = 0; frame < 10; ++frame)
      if (!step(sim, "a run goes on after a step that failed")) return;
    for (const Vec3& p : sim.positions())
      out_.expect(std::isfinite(p.x + p.y + p.z), "a run goes on after a step that failed");
  }

  const MethodInfo& method_;
  const SolverSpec& solver_;
  Findings& out_;
  bool solid_ = false;
};

}  // namespace

Diagnostics test_solver(const SolverSpec& solver, const std::string& of) {
  Diagnostics problems;
  Findings out(problems, of);
  const MethodInfo* const method = find_method(solver.method);
  if (!method) return out.expect(false, "it is registered"), problems;
  try {
    MethodContract(*method, solver, out).run();
  } catch (const std::exception& thrown) {
    problems.error(of, thrown.what());
  }
  return problems;
}

Diagnostics test_method(const std::string& name) {
  SolverSpec solver;
  solver.method = name;
  return test_solver(solver, "method \"" + name + "\"");
}

}  // namespace verve
