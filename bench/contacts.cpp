// Whole frames of the scenes of contact: how long they take, the longest beside the mean, what of it goes into finding
// pairs, and how deep bodies are in each other; as long as they take, and with no more for any frame than they take on
// the average.
#include <algorithm>
#include <stdexcept>

#include "bench/run.h"
#include "contact/interpenetration.h"
#include "verve/scene_file.h"

namespace verve::bench {

namespace {

Simulation simulate(const Scene& scene) {
  Expected<Simulation> simulation = Simulation::create(scene, {.threads = 1});
  if (!simulation) throw std::runtime_error(simulation.diagnostics().text());
  return std::move(*simulation);
}

bool touches(const Simulation& simulation, const StepReport& report) {
  return report.iterations > 0 && simulation.measure().contact > 0;
}

StepReport step(Simulation& simulation, const std::string& name, int frame, int frames, Pace& pace) {
  pace.say(name + ": frame " + std::to_string(frame) + " of " + std::to_string(frames));
  StepReport report = simulation.step();
  if (!report) throw std::runtime_error(name + ": frame " + std::to_string(frame) + ": " + report.message);
  return report;
}

/// Of the frames in which something touches, or of all where nothing does; 0 where it was interrupted.
double mean_work(const std::string& name, const Scene& scene, int frames, Pace& pace) {
  Simulation simulation = simulate(scene);
  Times touching, all;
  for (int f = 0; f < frames && !pace.ask(); ++f) {
    const StepReport report = step(simulation, name, f + 1, frames, pace);
    all.add(report.work);
    if (touches(simulation, report)) touching.add(report.work);
  }
  if (pace.stopped()) return 0;
  return touching.empty() ? all.mean() : touching.mean();
}

}  // namespace

std::vector<std::string> contact_case_names() {
  return {"ball", "bears", "strip", "drape", "stack", "bin", "pile", "incline", "crush", "flag_torn", "tug"};
}

ContactResult measure_contact(const std::string& name, bool limited, const Options& options, Pace& pace) {
  Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  const int frames = options.quick ? std::min(scene->frames, 45) : scene->frames;
  if (limited) scene->solver.budget = mean_work(name, *scene, frames, pace);
  Simulation simulation = simulate(*scene);
  ContactResult out;
  out.name = name, out.vertices = simulation.vertices(), out.elements = simulation.elements();
  out.bodies = simulation.bodies(), out.step = 1e3 * scene->step, out.budget = scene->solver.budget;
  std::vector<const Mesh*> meshes;
  std::vector<int> first;
  for (int b = 0; b < out.bodies; ++b)
    meshes.push_back(&simulation.mesh(b)), first.push_back(simulation.first_vertex(b));
  Interpenetration interpenetration(meshes, first);
  // the same frames again and again: the least time of each is that of a quiet machine
  std::vector<StepReport> least;
  std::vector<char> touched;
  pace.begin_rounds(options.quick ? 0 : 20, options.quick ? 1 : 2, 10);
  for (int round = 0; pace.next_round(); ++round) {
    simulation.reset();
    for (int f = 0; f < frames && !pace.ask(); ++f) {
      const StepReport report = step(simulation, name, f + 1, frames, pace);
      if (round == 0) {
        least.push_back(report);
        touched.push_back(touches(simulation, report));
        const std::vector<Vec3> x = simulation.positions();
        using Points = Interpenetration::Points;
        out.deepest_vertex = std::max(out.deepest_vertex, interpenetration.deepest(x, Points::vertices).share);
        out.deepest = std::max(out.deepest, interpenetration.deepest(x).share);
        out.error_h = std::max(out.error_h, report.error_h);
      } else if (report.milliseconds < least[f].milliseconds) {
        least[f] = report;
      }
    }
    if (round == 0) out.hash = simulation.state_hash();
  }
  double detection = 0, all = 0;
  for (size_t f = 0; f < least.size(); ++f) {
    const StepReport& r = least[f];
    out.milliseconds.add(r.milliseconds);
    if (touched[f]) out.touching.add(r.milliseconds);
    out.longest = std::max(out.longest, r.milliseconds);
    detection += r.timings.detection, all += r.milliseconds;
    out.iterations += r.iterations / double(least.size());
  }
  out.detection = all > 0 ? detection / all : 0;
  return out;
}

}  // namespace verve::bench
