// verve convert: the positions of a run as files that other programs open.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/new_file.h"
#include "commands.h"
#include "exchange/animation.h"
#include "flags.h"
#include "interrupt.h"
#include "model/element_stress.h"
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

/// Thrown out of a format's loop over the frames.
struct Interrupted {
  int signal;
};

/// The frames of a run as they are asked for.
class RunAnimation : public Animation {
 public:
  RunAnimation(const RecordedRun& run, std::vector<Shape> bodies, const FrameRange& range, double scale, bool up,
               bool quiet)
      : run_(run),
        bodies_(std::move(bodies)),
        scale_(scale),
        meshes_(int(bodies_.size()) * range.count()),
        progress_("convert", meshes_, quiet, "mesh") {
    const Simulation& simulation = run.simulation;
    for (int k = 0; k < range.count(); ++k) frames.push_back(range.first + k * range.step);
    step = simulation.scene().step, metres_per_unit = 1 / scale, z_up = up, wide = run.positions.wide();
    tears = !run.torn.empty();
    for (std::size_t s = 0; s < bodies_.size(); ++s) {
      AnimatedShape shape;
      shape.name = simulation.body_name(bodies_[s].body), shape.stem = bodies_[s].stem;
      const std::string& color = simulation.scene().bodies[bodies_[s].body].color;
      for (int k = 0; k < 3 && color.size() == 7; ++k)
        shape.color[k] = std::strtol(color.substr(1 + 2 * k, 2).c_str(), nullptr, 16) / 255.0;
      shapes.push_back(shape);
      shapes[s].mesh = at(int(s), 0);
      if (bodies_[s].mesh.tetrahedra.empty()) continue;
      for (const Vec3& p : simulation.mesh(bodies_[s].body).vertices) shapes[s].rest.push_back(placed(p));
    }
  }

  const Mesh& at(int s, int k) override {
    if (const int signal = InterruptGuard::signal()) throw Interrupted{signal};
    const int frame = frames[k];
    if (frame != loaded_) {
      positions_ = run_.positions.frame(frame), loaded_ = frame;
      for (const Vec3& p : positions_)
        if (!std::isfinite(p.x + p.y + p.z))
          throw std::runtime_error("found a position in frame " + std::to_string(frame) +
                                   " that is no number, expected all of them finite; --frames takes others");
    }
    Shape& shape = bodies_[s];
    if (!run_.torn.empty()) {
      const RemovedElements removed = removed_by(run_.torn, run_.simulation.body_name(shape.body), frame);
      if (shape.mesh.tetrahedra.empty()) {
        shape.tear(run_.simulation, removed);
      } else {
        const Mesh left = without(run_.simulation.mesh(shape.body), removed);
        shape.mesh.tetrahedra = left.tetrahedra, shape.mesh.triangles = left.triangles, shape.mesh.edges = left.edges;
      }
    }
    shape.move(positions_);
    frame_ = frame;
    if (served_ < meshes_) progress_.update(++served_);
    if (scale_ != 1 || z_up)
      for (Vec3& p : shape.mesh.vertices) p = placed(p);
    return shape.mesh;
  }

  std::vector<std::array<double, 6>> stress(int s) override {
    const Shape& shape = bodies_[s];
    if (shape.mesh.tetrahedra.empty()) return {};
    if (!stress_) stress_.emplace(run_.simulation.scene());
    std::vector<Stress> out = stress_->of(shape.body, positions_.data() + shape.first, frame_ * step);
    const RemovedElements removed = removed_by(run_.torn, run_.simulation.body_name(shape.body), frame_);
    for (auto gone = removed.tetrahedra.rbegin(); gone != removed.tetrahedra.rend(); ++gone) out.erase(out.begin() + *gone);
    if (z_up)
      for (auto& [xx, yy, zz, xy, yz, zx] : out) {
        std::swap(yy, zz), std::swap(xy, zx);
        xy = -xy, yz = -yz;
      }
    return out;
  }

 private:
  Vec3 placed(const Vec3& p) const { return (z_up ? Vec3{p.x, -p.z, p.y} : p) * scale_; }

  const RecordedRun& run_;
  std::vector<Shape> bodies_;
  double scale_;
  std::optional<ElementStress> stress_;  // made when it is asked for
  std::vector<Vec3> positions_;
  int loaded_ = -1, frame_ = 0, meshes_ = 0, served_ = 0;
  Progress progress_;
};

/// All of the mesh that is simulated, inside and all.
ShownBody simulated_body(const Simulation& simulation, int body) {
  ShownBody out;
  out.mesh = simulation.mesh(body);
  out.first = simulation.first_vertex(body), out.count = int(out.mesh.vertices.size()), out.body = body;
  out.source.resize(out.mesh.vertices.size());
  std::iota(out.source.begin(), out.source.end(), 0);
  return out;
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
  std::vector<Shape> shapes;
  for (const int b : bodies)
    shapes.push_back({options.simulated ? simulated_body(*simulation, b) : shown_body(*simulation, b)});
  name_shapes(*simulation, bodies, shapes);

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
    for (const Shape& shape : shapes)
      if (const long loose = loose_vertices(shape.mesh); loose > 0)
        problems.warning(shape.stem + ".obj", "has " + count(loose, "vertex", "vertices") +
                                                  " that no face uses: importers may leave them out, and then the "
                                                  "cache does not fit");
  report(problems);

  int signal = 0;
  {
    InterruptGuard interrupt;
    try {
      RunAnimation animation(*recorded, shapes, *frames, scale, options.up == "z", options.quiet);
      animation.name = file_name(simulation->scene().name);
      format.write(animation, part);
    } catch (const Interrupted& interrupted) {
      signal = interrupted.signal;
    } catch (const std::runtime_error& failed) {
      problems.error("convert", failed.what());
    }
  }
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(part, error)) bytes += fs::file_size(file.path(), error);
  if (!signal && !problems.has_errors()) move_in(part, out, shapes, options.to, problems);
  if (signal || problems.has_errors()) fs::remove_all(made, error);
  if (signal) {
    std::fprintf(stderr, "verve: convert: interrupted; nothing was written\n");
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
