// verve simulate on several ranks: the files of one process but the report, written together.
#include <algorithm>
#include <cstdio>

#include "base/file_name.h"
#include "base/new_file.h"
#include "base/text.h"
#include "commands.h"
#include "distributed/checkpoint.h"
#include "distributed/outputs.h"
#include "distributed/petsc_solver.h"
#include "distributed/shared_scene.h"
#include "integrators/measures.h"
#include "integrators/step_solver.h"
#include "verve/registry.h"

namespace verve::distributed {

namespace {

namespace fs = std::filesystem;

/// A number from a flag; 0 where it is not given.
int read_number(const char* flag, const std::string& text, Diagnostics& problems) {
  if (text.empty()) return 0;
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const long value = digits && text.size() < 9 ? std::stol(text) : 0;
  if (value < 1) problems.error(flag, "found \"" + text + "\", expected a number from 1 on");
  return int(value);
}

void read_word(const char* flag, const std::string& text, const char* one, const char* other, Diagnostics& problems) {
  if (!text.empty() && text != one && text != other)
    problems.error(flag, "found \"" + text + "\", expected " + one + " or " + other);
}

std::vector<Override> overrides_of(const Options& o, Diagnostics& problems) {
  std::vector<Override> out;
  for (const std::string& text : o.set) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      problems.error("--set", "found \"" + text + "\", expected path=value, as in solver.tolerance=1e-4");
    else
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (read_number("--frames", o.frames, problems)) out.emplace_back("frames", o.frames);
  if (!o.method.empty()) out.emplace_back("solver.method", o.method);
  if (!o.precision.empty()) out.emplace_back("solver.precision", o.precision);
  return out;
}

std::string six_digits(int frame) {
  std::string name = std::to_string(frame);
  return std::string(name.size() < 6 ? 6 - name.size() : 0, '0') + name;
}

/// Done by the first rank; all of them end where it fails.
template <class Do>
void on_first(const MpiRanks& ranks, Do&& action) {
  std::string error;
  if (ranks.rank() == 0) {
    try {
      error = action();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
  }
  all_or_none(ranks, error);
}

void print_end(const World& world, const MpiRanks& ranks, const Measures& start, double iterations, int frames,
               double seconds) {
  std::vector<Measures> each;
  for (size_t b = 0; b < world.model.bodies.size(); ++b) each.push_back(world.measure(int(b)));
  const Measures end = measures_of_all(each);
  const SolverCounts& solver = solver_counts();
  if (ranks.rank() > 0) return;
  std::printf("energy %s -> %s J, |P| %s -> %s kg m/s, |L| %s -> %s kg m2/s\n", format_value(start.total).c_str(),
              format_value(end.total).c_str(), format_value(norm(start.momentum)).c_str(),
              format_value(norm(end.momentum)).c_str(), format_value(norm(start.angular_momentum)).c_str(),
              format_value(norm(end.angular_momentum)).c_str());
  std::printf("%.1f iterations and %.3g ms per frame\n", iterations / std::max(1, frames),
              1e3 * seconds / std::max(1, frames));
  std::printf("global step: %s; %ld set-ups (%.3g s), %.2f iterations per solve, %.0f %% of the time\n",
              world.island_of(0).solver().description().c_str(), solver.set_ups, solver.set_up_seconds,
              double(solver.iterations) / double(std::max(1L, solver.solves)),
              seconds > 0 ? 100 * solver.seconds / seconds : 0.0);
}

}  // namespace

int simulate(const Options& o, const MpiRanks& ranks, Diagnostics problems) {
  const std::vector<Override> overrides = overrides_of(o, problems);
  read_word("--record", o.record, "float", "double", problems);
  read_word("--precision", o.precision, "float", "double", problems);
  const int every = read_number("--snapshot-every", o.snapshot_every, problems);
  const int threads = read_number("--threads", o.threads, problems);
  const int pieces = read_number("--pieces-every", o.pieces_every, problems);
  if (o.scene.empty())
    problems.error("SCENE", "nothing given, expected a built-in scene (verve list scenes) or a JSON file");
  if (problems.has_errors()) return refuse(problems, ranks);
  const Expected<Scene> read = read_scene(o.scene, overrides);
  problems.append(read.diagnostics());
  if (!read) return refuse(problems, ranks);
  Expected<std::unique_ptr<World>> made = make_shared_world(*read, ranks, std::max(1, threads));
  problems.append(made.diagnostics());
  if (!made) return refuse(problems, ranks);
  World& world = **made;
  const Scene& scene = *read;
  const VertexOrder order(world.model);
  if (!o.resume.empty()) read_checkpoint(o.resume, world, order, ranks);
  const int first = world.state.frame;
  if (first >= scene.frames) {
    problems.error("--resume", "found frame " + std::to_string(first) + ", expected one before the last frame, " +
                                   std::to_string(scene.frames) + ": see --frames");
    return refuse(problems, ranks);
  }
  report(problems, ranks);

  std::string name = scene.name == "untitled" ? fs::path(o.scene).stem().string() : file_name(scene.name);
  if (first > 0) name += "_from_" + std::to_string(first);
  const fs::path out = o.out.empty() ? fs::path("runs") / name : fs::path(o.out);
  FolderLock lock;
  on_first(ranks, [&]() -> std::string {
    std::error_code failed;
    fs::create_directories(every > 0 ? out / "snapshots" : out, failed);
    if (failed) return out.string() + ": cannot be created: " + failed.message();
    if (const std::string error = lock.take(out); !error.empty()) return out.string() + ": " + error;
    if (!o.resume.empty() && fs::equivalent(fs::path(o.resume).parent_path(), out / "snapshots", failed))
      return "--out: found the run that " + o.resume + " is of, expected another folder";
    for (const char* old : {"report.html", "torn.csv", "contact_forces.npy"}) fs::remove(out / old, failed);
    for (const auto& old : fs::directory_iterator(out / "snapshots", failed)) fs::remove(old.path(), failed);
    if (const std::string error = write_whole_file(out / "scene.json", write_scene(scene)); !error.empty())
      return (out / "scene.json").string() + ": " + error;
    return "";
  });

  const double tets = sum_over_ranks([&] {
    double sum = 0;
    for (const Matter::OfBody& body : world.matter.bodies)
      for (const auto& potential : body.potentials) sum += potential->elements();
    return sum;
  }());
  if (!o.quiet && ranks.rank() == 0)
    std::printf("%s (%s): %ld vertices, %.0f elements, %d frames on %d ranks\n", scene.name.c_str(),
                scene.solver.method.c_str(), order.vertices(), tets, scene.frames - first, ranks.size());
  std::fflush(stdout);

  SharedRecorder recorder(out, world, order, ranks, o.record == "double");
  recorder.frame({});
  std::vector<Measures> bodies;
  for (size_t b = 0; b < world.model.bodies.size(); ++b) bodies.push_back(world.measure(int(b)));
  const Measures start = measures_of_all(bodies);
  if (pieces) write_pieces(out / "pieces", world, ranks);
  const double begin = MPI_Wtime();
  double iterations = 0;
  for (int frame = first + 1; frame <= scene.frames; ++frame) {
    const StepReport step = world.step();
    if (!step)
      throw std::runtime_error(scene.name + ": frame " + std::to_string(frame) + " failed: " +
                               std::string(to_string(step.status)) + (step.message.empty() ? "" : ": ") + step.message);
    iterations += step.iterations;
    recorder.frame(step);
    if (every && frame % every == 0)
      write_checkpoint(out / "snapshots" / (six_digits(frame) + ".verve"), world, order, ranks);
    if (pieces && frame % pieces == 0) write_pieces(out / "pieces", world, ranks);
    const int tenth = std::max(1, (scene.frames - first) / 10);
    if (!o.quiet && ranks.rank() == 0 && ((frame - first) % tenth == 0 || frame == scene.frames)) {
      std::printf("frame %d of %d, %.3g s\n", frame, scene.frames, MPI_Wtime() - begin);
      std::fflush(stdout);
    }
  }
  if (!o.quiet) print_end(world, ranks, start, iterations, scene.frames - first, MPI_Wtime() - begin);
  if (!o.quiet && ranks.rank() == 0) std::printf("%s\n", (out / "metrics.csv").string().c_str());
  return exit_done;
}

}  // namespace verve::distributed
