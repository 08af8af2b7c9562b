#include <verve/verve.h>

#include <cstdio>

int main() {
  verve::Scene scene;  // plain data; or verve::read_scene("bear").value(), or a JSON file
  verve::BodySpec& bear = scene.bodies.emplace_back();
  bear.name = "bear", bear.mesh.generator = "bear", bear.mesh.parameters["resolution"] = {8};
  verve::set_material(bear, "jelly");  // density, stiffness, friction, damping; `verve list materials` has others
  bear.dials.half_life = {};           // what is changed afterwards wins: this one wobbles for ever
  bear.initial.stretch = {1, 1.3, 1};
  scene.solver.tolerance = 1e-4;
  verve::Simulation simulation = verve::Simulation::create(scene).value();
  for (int frame = 0; frame < 60; ++frame) {
    if (frame == 30) simulation.set_energy(0, 0.5 * simulation.measure(0).total);  // turn a dial while it runs
    if (const verve::StepReport report = simulation.step(); !report) return std::puts(report.message.c_str()), 1;
    std::printf("%2d: %8.4f J\n", frame, simulation.measure().total);
  }
}
