// verve convert: the positions of a run as files that other programs open.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>

#include "base/new_file.h"
#include "commands.h"
#include "flags.h"
#include "interrupt.h"
#include "recorded_run.h"
#include "run.h"
#include "stage/scene_animation.h"
#include "terminal.h"
#include "verve/convert.h"
#include "verve/mesh.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;

/// Whether a file is one of a series of this shape: it would be taken for a frame of the new one.
bool is_of_series(const std::string& name, const AnimatedShape& shape, const std::string& format) {
  const std::string begin = shape.stem + "_", end = "." + format;
  if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end)) return false;
  return std::all_of(name.begin() + long(begin.size()), name.end() - long(end.size()),
                     [](unsigned char c) { return std::isdigit(c); });
}

/// The first folder on the way to `path` that has to be made.
fs::path topmost_missing(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  while (path.has_parent_path() && path.parent_path() != path && !fs::exists(path.parent_path(), error))
    path = path.parent_path();
  return path;
}

/// Puts the finished files where they belong, in place of an earlier series.
bool move_in(const fs::path& part, const fs::path& out, const std::vector<AnimatedShape>& shapes,
             const std::string& format, Diagnostics& problems) {
  std::error_code error;
  if (!fs::exists(out, error)) {
    fs::rename(part, out, error);
  } else {
    for (const fs::directory_entry& file : fs::directory_iterator(out, error)) {
      const std::string name = file.path().filename().string();
      const auto replaced = [&](const AnimatedShape& shape) { return is_of_series(name, shape, format); };
      if (file.is_regular_file() && std::any_of(shapes.begin(), shapes.end(), replaced))
        fs::remove(file.path(), error);
    }
    std::vector<fs::path> files;
    for (const fs::directory_entry& file : fs::directory_iterator(part, error)) files.push_back(file.path());
    for (const fs::path& file : files)
      if (!error) fs::rename(file, out / file.filename(), error);
    if (!error) fs::remove(part, error);
  }
  if (error) problems.error(out.string(), "cannot be written: " + error.message());
  return !error;
}

/// Thrown out of a format's loop over the frames.
struct Interrupted {
  int signal;
};

AnimationFrames frames_of(const RecordedRun& run, const FrameRange& range) {
  AnimationFrames out;
  for (int k = 0; k < range.count(); ++k) out.numbers.push_back(range.first + k * range.step);
  out.positions = [&run](int frame) { return run.positions.frame(frame); };
  if (run.forces) out.contact_forces = [&run](int frame) { return run.forces->frame(frame); };
  out.torn = run.torn, out.wide = run.positions.wide();
  return out;
}

int interrupted(int signal) {
  std::fprintf(stderr, "verve: convert: interrupted; nothing was written\n");
  return 128 + signal;
}

long loose_vertices(const Mesh& mesh) {
  std::vector<char> used(mesh.vertices.size(), 0);
  for (const auto& t : surface(mesh))
    for (const int v : t) used[v] = 1;
  for (const auto& e : mesh.edges)
    for (const int v : e) used[v] = 1;
  return std::count(used.begin(), used.end(), 0);
}

}  // namespace

int convert(const ConvertOptions& options, Diagnostics problems) {
  std::vector<std::string> formats;
  for (const AnimationFormat& format : animation_formats()) formats.push_back(format.name);
  if (options.to.empty())
    problems.error("--to", "nothing given, " + expected_one_of("", formats));
  else
    read_choice("--to", options.to, formats, problems);

  if (options.quantize && options.to != "glb")
    problems.error("--quantize", "found with --to " + options.to + ", expected with --to glb");
  read_choice("--up", options.up, {"y", "z"}, problems);
  const double scale = read_positive("--scale", options.scale, problems).value_or(1);

  std::optional<RecordedRun> recorded = open_run(options.run, problems);
  const Simulation* simulation = recorded ? &recorded->simulation : nullptr;
  std::optional<FrameRange> frames;
  if (recorded) frames = read_frames(options.frames, recorded->positions.frames(), problems);
  std::vector<int> bodies;
  if (simulation && options.body.empty()) {
    bodies.resize(simulation->bodies());
    std::iota(bodies.begin(), bodies.end(), 0);
  } else if (simulation) {
    std::vector<std::string> names;
    for (int b = 0; b < simulation->bodies(); ++b) names.push_back(simulation->body_name(b));
    if (read_choice("--body", options.body, names, problems)) bodies.push_back(simulation->find_body(options.body));
  }
  if (problems.has_errors()) return refuse(problems, "nothing was written");

  const AnimationFormat& format = *std::find_if(animation_formats().begin(), animation_formats().end(),
                                                [&](const AnimationFormat& f) { return f.name == options.to; });
  int signal = 0, served = 0;
  InterruptGuard interrupt;
  Progress progress("convert", int(bodies.size()) * frames->count(), options.quiet, "mesh");
  const auto before_mesh = [&] {
    if (const int signal = InterruptGuard::signal()) throw Interrupted{signal};
    if (served < int(bodies.size()) * frames->count()) progress.update(++served);
  };
  std::optional<SceneAnimation> animation;
  const auto attempt = [&](const auto& part_of_it) {
    try {
      part_of_it();
    } catch (const Interrupted& interrupted) {
      signal = interrupted.signal;
    } catch (const std::runtime_error& failed) {
      problems.error(options.run, failed.what());
    }
    return signal == 0 && !problems.has_errors();
  };
  const AnimationChoice choice{bodies, scale, options.up == "z", options.simulated};
  if (!attempt([&] { animation.emplace(*simulation, frames_of(*recorded, *frames), choice, before_mesh); }))
    return signal ? interrupted(signal) : refuse(problems, "nothing was written");
  const std::vector<AnimatedShape>& shapes = animation->shapes;

  // all of it beside its place first, so that a failure leaves everything as it was
  std::error_code error;
  const fs::path out = options.out.empty() ? fs::path(options.run) / options.to : fs::path(options.out);
  const fs::path part = fs::path(out / ".").parent_path().string() + ".verve-part";
  const fs::path made = topmost_missing(part);
  if (fs::exists(out, error) && !fs::is_directory(out, error))
    problems.error(out.string(), "found a file, expected a folder or nothing");
  FolderLock lock;
  if (fs::is_symlink(part, error) || (fs::exists(part, error) && !fs::is_directory(part, error)))
    problems.error(part.string(), "found a file or a link, expected nothing: it is where files are until all are there");
  else if (const std::string other = lock.take(part); !other.empty())
    problems.error(part.string(), other);
  if (problems.has_errors()) return refuse(problems, "nothing was written");
  if (!problems.has_errors()) {
    fs::remove_all(part, error);  // of a conversion that was killed
    if (prepare_directory(part.string(), problems) && fs::exists(out, error)) prepare_directory(out.string(), problems);
  }
  if (problems.has_errors()) {
    fs::remove_all(made, error);
    return refuse(problems, "nothing was written");
  }
  if (format.keeps_elements && !recorded->torn.empty())
    problems.warning("--to " + format.name, "elements that tear stay in it: usda, vtu, obj, ply and stl show them go");
  if (options.to == "pc2" || options.to == "mdd")
    for (const AnimatedShape& shape : shapes)
      if (const long loose = loose_vertices(shape.mesh); loose > 0)
        problems.warning(shape.stem + ".obj", "has " + count(loose, "vertex", "vertices") +
                                                  " that no face uses: importers may leave them out, and then the "
                                                  "cache does not fit");
  report(problems);

  animation->quantized = options.quantize;
  attempt([&] { format.write(*animation, part); });
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(part, error)) bytes += fs::file_size(file.path(), error);
  if (!signal && !problems.has_errors()) move_in(part, out, shapes, options.to, problems);
  if (signal || problems.has_errors()) fs::remove_all(made, error);
  if (signal) return interrupted(signal);
  if (problems.has_errors()) {
    report(problems);
    return exit_failed;
  }
  if (!options.quiet) {
    std::printf("%s: %s of %s, %.1f MB\n", out.string().c_str(), count(frames->count(), "frame", "frames").c_str(),
                count(long(shapes.size()), "body", "bodies").c_str(), double(bytes) * 1e-6);
  }
  return exit_done;
}

}  // namespace verve::cli
