// What tearing does to the time of a frame: those in which something tears, and those after them, which take the change
// into the matrix, beside all others.
#include <algorithm>
#include <stdexcept>

#include "bench/run.h"
#include "verve/scene_file.h"

namespace verve::bench {

std::vector<std::string> tearing_case_names() { return {"flag_torn", "tug"}; }

TearingResult measure_tearing(const std::string& name, const Options& options, Pace& pace) {
  const Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  Expected<Simulation> simulation = Simulation::create(*scene, {.threads = 1});
  if (!simulation) throw std::runtime_error(simulation.diagnostics().text());
  TearingResult out;
  out.name = name, out.vertices = simulation->vertices(), out.elements = simulation->elements();
  const int frames = options.quick ? std::min(scene->frames, 150) : scene->frames;
  // the same frames again and again: the least time of each is that of a quiet machine
  std::vector<StepReport> least(frames);
  std::vector<char> changed(frames + 1, 0);
  pace.begin_rounds(options.quick ? 2 : 10, 3, 20);
  while (pace.next_round()) {
    simulation->reset();
    for (int f = 0; f < frames; ++f) {
      const StepReport report = simulation->step();
      if (!report) throw std::runtime_error(name + ": " + report.message);
      if (!least[f].milliseconds || report.milliseconds < least[f].milliseconds) least[f] = report;
      if (report.torn > 0) changed[f] = changed[f + 1] = 1;
    }
  }
  out.torn = simulation->measure().torn, out.hash = simulation->state_hash();
  double iterations = 0;
  for (const StepReport& r : least) iterations += r.iterations / double(frames);
  for (int f = 0; f < frames; ++f) {
    const StepReport& r = least[f];
    out.frames.add(r.milliseconds);
    if (!changed[f]) continue;
    out.changed.add(r.milliseconds);
    out.largest = std::max(out.largest, r.milliseconds);
    const double iterating = r.timings.local + r.timings.global + r.timings.conservation + r.timings.update;
    const double more = std::max(0.0, 1 - iterations / std::max(1, r.iterations));
    out.change = std::max(out.change, r.milliseconds - more * iterating);
  }
  return out;
}

}  // namespace verve::bench
