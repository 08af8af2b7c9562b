// verve demo: one scene by CPD and by plain PD from the same start, a table of what each kept, one report of both.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "commands.h"
#include "comparison.h"
#include "flags.h"
#include "run.h"
#include "terminal.h"
#include "verve/scene_file.h"

namespace verve::cli {

int demo(const DemoOptions& options, Diagnostics problems) {
  std::vector<Override> overrides;
  if (read_count("--frames", options.frames, problems)) overrides.emplace_back("frames", options.frames);
  const std::optional<int> threads = read_count("--threads", options.threads, problems);

  std::vector<Contestant> contestants;
  const Expected<Scene> scene = read_scene(options.scene, overrides);
  append_new(problems, scene.diagnostics());
  for (const std::string& method : scene ? methods_for(*scene) : std::vector<std::string>{}) {
    Contestant& contestant = contestants.emplace_back();
    contestant.label = method;
    contestant.scene = *scene;
    contestant.scene.solver = solver_by_name(scene->solver, method);
    prepare(contestant, threads.value_or(0), problems);
  }
  if (problems.has_errors() || contestants.empty()) return refuse(problems, "nothing was written");
  const std::filesystem::path out = options.out.empty() ? "runs/demo" : options.out;
  FolderLock lock;
  if (!claim_directory(out.string(), lock, problems)) return refuse(problems, "nothing was written");
  report(problems);

  if (!options.quiet) {
    for (const std::string& line : wrap(scene->name + ": " + scene->description, terminal_width()))
      std::printf("%s\n", line.c_str());
    std::printf("%s\n\n", describe(*contestants[0].simulation).c_str());
  }

  int exit_code = exit_done;
  for (Contestant& contestant : contestants)
    if (exit_code == exit_done) exit_code = run(contestant, options.quiet);

  const std::filesystem::path page = out / "report.html";
  const Expected<bool> written =
      write_comparison(page, scene->name + ": CPD beside PD", scene->description, contestants);
  report(written.diagnostics());
  if (!written) return exit_failed;
  if (!options.quiet) {
    if (exit_code == exit_done) print_comparison(contestants, false);
    std::printf("\n%s\n", page.string().c_str());
  }
  return exit_code;
}

}  // namespace verve::cli
