// Whole frames of the scenes of Table 1, through the public interface.
#include <algorithm>
#include <stdexcept>

#include "bench/cases.h"
#include "bench/run.h"

namespace verve::bench {

FrameResult measure_frames(const std::string& name, const Options& options, Pace& pace) {
  const TableScene table = table_scene(name);
  FrameResult out;
  out.name = name, out.note = table.note, out.paper = table.paper;
  out.frames = options.quick ? std::min(90, table.scene.frames) : table.scene.frames;
  std::vector<Simulation> simulations;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const int threads : options.threads) {
      Scene scene = table.scene;
      scene.solver.precision = precision;
      Expected<Simulation> made = Simulation::create(scene, {.threads = threads});
      if (!made) throw std::runtime_error(made.diagnostics().text());
      simulations.push_back(std::move(*made));
      FrameVariant& v = out.variants.emplace_back();
      v.precision = precision, v.threads = threads;
    }
  }
  out.vertices = simulations[0].vertices(), out.elements = simulations[0].elements();
  for (int frame = 1; frame <= out.frames && !pace.ask(); ++frame) {
    pace.say(name + ": frame " + std::to_string(frame) + " of " + std::to_string(out.frames));
    for (size_t i = 0; i < simulations.size(); ++i) {
      const StepReport report = simulations[i].step();
      if (!report) throw std::runtime_error(name + ": frame " + std::to_string(frame) + ": " + report.message);
      FrameVariant& v = out.variants[i];
      v.milliseconds.add(report.milliseconds);
      const StepTimings& t = report.timings;
      if (report.iterations > 0) v.iteration.add((t.local + t.global + t.conservation + t.update) / report.iterations);
      v.setup.add(t.setup / std::max(1, report.substeps));
      v.iterations += report.iterations;
      v.sum += t;
      v.error_h = std::max(v.error_h, report.error_h);
    }
  }
  for (size_t i = 0; i < simulations.size(); ++i) out.variants[i].hash = simulations[i].state_hash();
  return out;
}

}  // namespace verve::bench
