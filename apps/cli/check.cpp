// verve check: everything that simulate would refuse, without a run.
#include <cstdio>

#include "commands.h"
#include "flags.h"
#include "run.h"
#include "terminal.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::cli {

int check(const CheckOptions& options, Diagnostics problems) {
  const std::vector<Override> overrides = read_overrides(options.set, problems);
  if (options.scenes.empty())
    problems.error("SCENE", "nothing given, expected built-in scenes (verve list scenes) or JSON files");

  const Style style = style_of(stdout);
  for (const std::string& name : options.scenes) {
    const Expected<Scene> scene = read_scene(name, overrides);
    Diagnostics found = scene.diagnostics();
    if (scene) {
      const Expected<Simulation> simulation = Simulation::create(*scene);
      append_new(found, simulation.diagnostics());
      if (simulation && !found.has_errors())
        std::printf("%s%s%s: good: %s, %s, method %s\n", style.bold, name.c_str(), style.reset,
                    count(simulation->bodies(), "body", "bodies").c_str(), describe(*simulation).c_str(),
                    scene->solver.method.c_str());
    }
    append_new(problems, found);
  }
  std::fflush(stdout);
  if (problems.has_errors()) return refuse(problems, "see verve schema for the format of scene files");
  report(problems);
  return exit_done;
}

int schema(Diagnostics problems) {
  if (problems.has_errors()) return refuse(problems, "see verve schema --help");
  std::puts(scene_schema().c_str());
  return exit_done;
}

}  // namespace verve::cli
