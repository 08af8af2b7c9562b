#include <verve/verve.h>

#include <cstdio>

int main() {
  verve::Scene scene = verve::read_scene("cube").value();  // a built-in name or a JSON file
  scene.solver.tolerance = 1e-4;                           // plain data: change what you like
  verve::Simulation simulation = verve::Simulation::create(scene).value();
  for (int frame = 0; frame < 60; ++frame) {
    if (frame == 30) simulation.set_energy(0, 0.5 * simulation.measure(0).total);  // turn a dial while it runs
    if (const verve::StepReport report = simulation.step(); !report) return std::puts(report.message.c_str()), 1;
    std::printf("%2d: %8.4f J\n", frame, simulation.measure().total);
  }
}
