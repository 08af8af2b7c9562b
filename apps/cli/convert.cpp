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
#include "run.h"
#include "terminal.h"
#include "verve/convert.h"
#include "verve/mesh.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;

struct Frames {
  int first = 0, last = 0, step = 1;
  int count() const { return last < first ? 0 : (last - first) / step + 1; }
};

/// "7", "A:B", "A:B:STEP", any of them left out; B is included.
std::optional<Frames> read_frames(const std::string& text, int frames, Diagnostics& problems) {
  Frames out{0, frames - 1, 1};
  if (text.empty()) return out;
  const auto fail = [&](const std::string& found) {
    problems.error("--frames", "found " + found + ", expected A:B:STEP with frames from 0 to " +
                                   std::to_string(frames - 1) + " and a step >= 1, as in 0:100:5, :50 or 7");
    return std::nullopt;
  };
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() > 3) return fail("\"" + text + "\"");
  std::array<long, 3> value{0, frames - 1, 1};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() && parts.size() > 1) continue;
    if (parts[i].empty() || parts[i].size() > 9 ||
        !std::all_of(parts[i].begin(), parts[i].end(), [](unsigned char c) { return std::isdigit(c); }))
      return fail("\"" + text + "\"");
    value[i] = std::strtol(parts[i].c_str(), nullptr, 10);
  }
  if (parts.size() == 1) value[1] = value[0];
  if (value[0] >= frames || value[1] >= frames || value[0] > value[1] || value[2] < 1) return fail(text);
  return Frames{int(value[0]), int(value[1]), int(value[2])};
}

/// What is shown of a body, and how it follows the vertices that are simulated.
struct Shape {
  std::string stem;  // of the files
  Mesh mesh;
  int first = 0;                         // vertex of the body in a frame
  std::vector<int> source;               // vertex of the body behind each of the mesh
  const Embedding* embedding = nullptr;  // instead, for a carried surface
  int count = 0;                         // vertices of the body
  int body = 0;

  void move(const std::vector<Vec3>& x) {
    if (embedding) {
      carry(*embedding, x.data() + first, mesh.vertices.data());
    } else {
      for (size_t v = 0; v < source.size(); ++v) mesh.vertices[v] = x[size_t(first) + source[v]];
    }
  }
};

bool tears(const BodySpec& body) {
  return std::any_of(body.potentials.begin(), body.potentials.end(), [](const auto& p) { return !p.tear.empty(); });
}

/// The elements of a body that are gone by a frame.
RemovedElements removed_by(const std::vector<TornElement>& torn, const std::string& body, int frame) {
  RemovedElements out;
  for (const TornElement& t : torn) {
    if (t.frame > frame || t.body != body) continue;
    (t.kind == "tetrahedron" ? out.tetrahedra : t.kind == "triangle" ? out.triangles : out.edges).push_back(t.element);
  }
  for (std::vector<int>* list : {&out.tetrahedra, &out.triangles, &out.edges}) std::sort(list->begin(), list->end());
  return out;
}

/// What is left of a shape; its vertices stay.
void tear_shape(const Simulation& simulation, const RemovedElements& removed, Shape& shape) {
  const Mesh& mesh = simulation.mesh(shape.body);
  if (shape.embedding) {
    const Mesh& carried = *simulation.embedded_mesh(shape.body);
    shape.mesh.triangles = without(carried, *shape.embedding, mesh, removed).triangles;
    return;
  }
  const Mesh left = without(mesh, removed);
  shape.mesh.triangles = surface(left), shape.mesh.edges = left.edges;
}

/// The carried surface where a body has one, else the skin of its tetrahedra with its own triangles, else all it has.
Shape shape_of(const Simulation& simulation, int body) {
  Shape out;
  const Mesh& mesh = simulation.mesh(body);
  out.first = simulation.first_vertex(body), out.count = int(mesh.vertices.size()), out.body = body;
  if (const Mesh* carried = simulation.embedded_mesh(body)) {
    out.mesh = *carried, out.embedding = simulation.embedding(body);
    return out;
  }
  out.mesh.triangles = surface(mesh), out.mesh.edges = mesh.edges;
  // inside of what tears every vertex may come to light
  std::vector<char> shown(mesh.vertices.size(), mesh.tetrahedra.empty() || tears(simulation.scene().bodies[body]));
  for (const auto& t : out.mesh.triangles)
    for (const int v : t) shown[v] = 1;
  for (const auto& e : out.mesh.edges)
    for (const int v : e) shown[v] = 1;
  std::vector<int> number(shown.size(), -1);
  for (size_t v = 0; v < shown.size(); ++v)
    if (shown[v]) number[v] = int(out.source.size()), out.source.push_back(int(v));
  for (auto& t : out.mesh.triangles)
    for (int& v : t) v = number[v];
  for (auto& e : out.mesh.edges)
    for (int& v : e) v = number[v];
  out.mesh.vertices.resize(out.source.size());
  return out;
}

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

  const fs::path run = options.run;
  std::optional<Simulation> simulation;
  std::optional<RecordedPositions> positions;
  std::error_code error;
  if (options.run.empty()) {
    problems.error("RUN_DIR", "nothing given, expected the folder of a run, as verve simulate leaves it");
  } else if (!fs::is_directory(run, error)) {
    problems.error(options.run, "no such folder, expected one that verve simulate has written");
  } else {
    Expected<RecordedPositions> recorded = RecordedPositions::open(run / "positions.npy");
    append_new(problems, recorded.diagnostics());
    if (recorded) positions = std::move(*recorded);
    Expected<Scene> scene = read_scene((run / "scene.json").string());
    append_new(problems, scene.diagnostics());
    if (scene) {
      Expected<Simulation> created = Simulation::create(*scene);
      append_new(problems, created.diagnostics());
      if (created) simulation = std::move(*created);
    }
  }
  if (simulation && positions && simulation->vertices() != positions->vertices())
    problems.error((run / "positions.npy").string(), "found " + std::to_string(positions->vertices()) +
                                                         " vertices, expected the " +
                                                         std::to_string(simulation->vertices()) + " of scene.json");
  std::vector<TornElement> torn;
  if (simulation && std::any_of(simulation->scene().bodies.begin(), simulation->scene().bodies.end(), tears)) {
    Expected<std::vector<TornElement>> read = read_torn(run / "torn.csv");
    append_new(problems, read.diagnostics());
    if (read) torn = std::move(*read);
    for (const TornElement& t : torn) {
      const int b = simulation->find_body(t.body);
      const Mesh none, &mesh = b < 0 ? none : simulation->mesh(b);
      const size_t size = t.kind == "tetrahedron" ? mesh.tetrahedra.size()
                          : t.kind == "triangle"  ? mesh.triangles.size()
                                                  : mesh.edges.size();
      if (size_t(t.element) < size) continue;
      problems.error((run / "torn.csv").string(), "found " + t.kind + " " + std::to_string(t.element) + " of \"" +
                                                      t.body + "\", expected one that scene.json has");
      break;
    }
  }
  std::optional<Frames> frames;
  if (positions && positions->frames() == 0)
    problems.error((run / "positions.npy").string(), "found no frame");
  else if (positions)
    frames = read_frames(options.frames, positions->frames(), problems);
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
  for (const int b : bodies) shapes.push_back(shape_of(*simulation, b));
  name_shapes(*simulation, bodies, shapes);

  // all of it beside its place first, so that a failure leaves everything as it was
  const fs::path out = options.out.empty() ? run / options.to : fs::path(options.out);
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
      const std::vector<Vec3> x = positions->frame(f);
      for (Shape& shape : shapes) {
        if (!torn.empty()) tear_shape(*simulation, removed_by(torn, simulation->body_name(shape.body), f), shape);
        shape.move(x);
        const std::string text = format.file(shape.mesh, positions->wide());
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
