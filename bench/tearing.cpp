// What tearing does to the time of a frame: those in which something tears, and those after them, which take the change
// into the matrix, beside all others.
#include <algorithm>
#include <limits>
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
  std::vector<double> least(frames, std::numeric_limits<double>::max());
  std::vector<char> changed(frames + 1, 0);
  pace.begin_rounds(options.quick ? 2 : 10, 3, 20);
  while (pace.next_round()) {
    simulation->reset();
    for (int f = 0; f < frames; ++f) {
      const StepReport report = simulation->step();
      if (!report) throw std::runtime_error(name + ": " + report.message);
      least[f] = std::min(least[f], report.milliseconds);
      if (report.torn > 0) changed[f] = changed[f + 1] = 1;
    }
  }
  out.torn = simulation->measure().torn, out.hash = simulation->state_hash();
  for (int f = 0; f < frames; ++f) {
    out.frames.add(least[f]);
    if (!changed[f]) continue;
    out.changed.add(least[f]);
    out.largest = std::max(out.largest, least[f]);
  }
  return out;
}

}  // namespace verve::bench
