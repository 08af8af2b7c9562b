// verve convert: the positions of a run to numbered surfaces that other programs open.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "commands.h"
#include "flags.h"
#include "interrupt.h"
#include "recorded_run.h"
#include "run.h"
#include "stage/shape.h"
#include "terminal.h"
#include "verve/convert.h"
#include "verve/mesh.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;

/// What is shown of a body, and the name of its files.
struct Shape : ShownBody {
  std::string stem{};
};

/// Names of files: those of the bodies, each once.
void name_shapes(const Simulation& simulation, const std::vector<int>& bodies, std::vector<Shape>& shapes) {
  std::map<std::string, int> uses;
  for (int b = 0; b < simulation.bodies(); ++b) ++uses[file_name(simulation.body_name(b))];
  for (size_t k = 0; k < bodies.size(); ++k) {
    const std::string stem = file_name(simulation.body_name(bodies[k]));
    shapes[k].stem = uses[stem] > 1 ? stem + "_" + std::to_string(bodies[k]) : stem;
  }
}

/// "block_0012.obj"
std::string file_name(const Shape& shape, int frame, int digits, const std::string& format) {
  std::string number = std::to_string(frame);
  number.insert(0, size_t(std::max(0, digits - int(number.size()))), '0');
  return shape.stem + "_" + number + "." + format;
}

/// Whether a file is one of a series of this shape: it would be taken for a frame of the new one.
bool is_of_series(const std::string& name, const Shape& shape, const std::string& format) {
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
bool move_in(const fs::path& part, const fs::path& out, const std::vector<Shape>& shapes, const std::string& format,
             Diagnostics& problems) {
  std::error_code error;
  if (!fs::exists(out, error)) {
    fs::rename(part, out, error);
  } else {
    for (const fs::directory_entry& file : fs::directory_iterator(out, error)) {
      const std::string name = file.path().filename().string();
      if (file.is_regular_file() && std::any_of(shapes.begin(), shapes.end(),
                                                [&](const Shape& shape) { return is_of_series(name, shape, format); }))
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

}  // namespace

int convert(const ConvertOptions& options, Diagnostics problems) {
  std::vector<std::string> formats;
  for (const SurfaceFormat& format : surface_formats()) formats.push_back(format.name);
  if (options.to.empty())
    problems.error("--to", "nothing given, " + expected_one_of("", formats));
  else
    read_choice("--to", options.to, formats, problems);

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

  const SurfaceFormat& format = *std::find_if(surface_formats().begin(), surface_formats().end(),
                                              [&](const SurfaceFormat& f) { return f.name == options.to; });
  std::vector<Shape> shapes;
  for (const int b : bodies) shapes.push_back({shown_body(*simulation, b)});
  name_shapes(*simulation, bodies, shapes);

  // all of it beside its place first, so that a failure leaves everything as it was
  std::error_code error;
  const fs::path out = options.out.empty() ? fs::path(options.run) / options.to : fs::path(options.out);
  const fs::path part = fs::path(out / ".").parent_path().string() + ".verve-part";
  const fs::path made = topmost_missing(part);
  if (fs::exists(out, error) && !fs::is_directory(out, error))
    problems.error(out.string(), "found a file, expected a folder or nothing");
  if (!problems.has_errors()) {
    fs::remove_all(part, error);  // of a conversion that was killed
    if (prepare_directory(part.string(), problems) && fs::exists(out, error)) prepare_directory(out.string(), problems);
  }
  if (problems.has_errors()) {
    fs::remove_all(made, error);
    return refuse(problems, "nothing was written");
  }
  report(problems);

  const int digits = std::max(4, int(std::to_string(frames->last).size()));
  int done = 0, signal = 0;
  std::uintmax_t bytes = 0;
  {
    InterruptGuard interrupt;
    Progress progress("convert", frames->count(), options.quiet);
    for (int f = frames->first; f <= frames->last && !problems.has_errors(); f += frames->step) {
      if ((signal = InterruptGuard::signal())) break;
      const std::vector<Vec3> x = recorded->positions.frame(f);
      for (Shape& shape : shapes) {
        if (!recorded->torn.empty())
          shape.tear(*simulation, removed_by(recorded->torn, simulation->body_name(shape.body), f));
        shape.move(x);
        const std::string text = format.file(shape.mesh, recorded->positions.wide());
        bytes += text.size();
        if (!write_text((part / file_name(shape, f, digits, options.to)).string(), text, problems)) break;
      }
      progress.update(++done);
      if (frames->last - f < frames->step) break;  // before it overflows
    }
  }
  if (!signal && !problems.has_errors()) move_in(part, out, shapes, options.to, problems);
  if (signal || problems.has_errors()) fs::remove_all(made, error);
  if (signal) {
    std::fprintf(stderr, "verve: convert: interrupted after %d of %d frames; nothing was written\n", done,
                 frames->count());
    return 128 + signal;
  }
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
