// Whole frames of the scenes of contact: how long they take, the longest beside the mean, what of it goes into finding
// pairs, and how deep bodies are in each other; as long as they take, and within a budget.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/run.h"
#include "contact/interpenetration.h"
#include "verve/scene_file.h"

namespace verve::bench {

namespace {

/// Chosen by trial, near what a frame in which something touches takes on the average without one (tug: half as much
/// again) [ms]. Others may come out worse: docs/budget.md.
constexpr std::pair<const char*, double> budgets[] = {
    {"ball", 9}, {"bears", 86},    {"strip", 5.5},  {"drape", 23},    {"stack", 4},
    {"bin", 50}, {"incline", 0.8}, {"crush", 0.25}, {"flag_torn", 3}, {"tug", 4.6}};

}  // namespace

std::vector<std::string> contact_case_names() {
  std::vector<std::string> out;
  for (const auto& [name, budget] : budgets) out.push_back(name);
  return out;
}

double contact_budget(const std::string& name) {
  for (const auto& [known, budget] : budgets)
    if (known == name) return budget;
  return 0;
}

ContactResult measure_contact(const std::string& name, double budget, const Options& options, Pace& pace) {
  Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  scene->solver.budget = budget;
  Expected<Simulation> simulation = Simulation::create(*scene, {.threads = 1});
  if (!simulation) throw std::runtime_error(simulation.diagnostics().text());
  ContactResult out;
  out.name = name, out.vertices = simulation->vertices(), out.elements = simulation->elements();
  out.bodies = simulation->bodies(), out.step = 1e3 * scene->step, out.budget = budget;
  std::vector<const Mesh*> meshes;
  std::vector<int> first;
  for (int b = 0; b < out.bodies; ++b)
    meshes.push_back(&simulation->mesh(b)), first.push_back(simulation->first_vertex(b));
  Interpenetration interpenetration(meshes, first);
  const int frames = options.quick ? std::min(scene->frames, 45) : scene->frames;
  // the same frames again and again: the least time of each is that of a quiet machine
  std::vector<StepReport> least;
  std::vector<char> touches;
  pace.begin_rounds(options.quick ? 0 : 20, options.quick ? 1 : 2, 10);
  for (int round = 0; pace.next_round(); ++round) {
    simulation->reset();
    for (int f = 0; f < frames && !pace.ask(); ++f) {
      pace.say(name + ": frame " + std::to_string(f + 1) + " of " + std::to_string(frames));
      const StepReport report = simulation->step();
      if (!report) throw std::runtime_error(name + ": frame " + std::to_string(f + 1) + ": " + report.message);
      if (round == 0) {
        least.push_back(report);
        touches.push_back(report.iterations > 0 && simulation->measure().contact > 0);
        const std::vector<Vec3> x = simulation->positions();
        using Points = Interpenetration::Points;
        out.deepest_vertex = std::max(out.deepest_vertex, interpenetration.deepest(x, Points::vertices).share);
        out.deepest = std::max(out.deepest, interpenetration.deepest(x).share);
        out.error_h = std::max(out.error_h, report.error_h);
      } else if (report.milliseconds < least[f].milliseconds) {
        least[f] = report;
      }
    }
    if (round == 0) out.hash = simulation->state_hash();
  }
  double detection = 0, all = 0;
  for (size_t f = 0; f < least.size(); ++f) {
    const StepReport& r = least[f];
    out.milliseconds.add(r.milliseconds);
    if (touches[f]) out.touching.add(r.milliseconds);
    out.longest = std::max(out.longest, r.milliseconds);
    detection += r.timings.detection, all += r.milliseconds;
    out.iterations += r.iterations / double(least.size());
  }
  out.detection = all > 0 ? detection / all : 0;
  return out;
}

}  // namespace verve::bench
