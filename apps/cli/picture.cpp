// verve picture: frames of a run or a scene as a strip (PNG) or a moving picture (GIF).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numbers>
#include <optional>

#include "base/parallel.h"
#include "commands.h"
#include "flags.h"
#include "interrupt.h"
#include "recorded_run.h"
#include "run.h"
#include "stage/stage.h"
#include "terminal.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;
using render::Image;
using render::Moment;
using render::Stage;

struct Size {
  int width = 480, height = 360;
};

std::optional<std::vector<double>> read_numbers(const std::string& text, char at) {
  std::vector<double> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    char* rest = nullptr;
    const double value = std::strtod(part.c_str(), &rest);
    if (part.empty() || *rest || !std::isfinite(value)) return std::nullopt;
    out.push_back(value);
    begin = end + 1;
  }
  return out;
}

Size read_size(const std::string& text, Diagnostics& problems) {
  Size out;
  if (text.empty()) return out;
  const auto n = read_numbers(text, 'x');
  if (n && n->size() == 2) {
    out = {int(std::clamp((*n)[0], 0.0, 1e6)), int(std::clamp((*n)[1], 0.0, 1e6))};
    if (out.width == (*n)[0] && out.height == (*n)[1] && out.width >= 16 && out.height >= 16 && out.width <= 4096 &&
        out.height <= 4096)
      return out;
  }
  problems.error("--size", "found \"" + text + "\", expected WIDTHxHEIGHT from 16x16 to 4096x4096, as in 640x480");
  return {};
}

struct Standpoint {
  Vec3 direction;
  double zoom = 1;
};

Standpoint read_camera(const std::string& text, Diagnostics& problems) {
  std::vector<double> n{30, 20, 1};
  if (!text.empty()) {
    auto given = read_numbers(text, ',');
    if (given && given->size() == 2) given->push_back(1);
    if (given && given->size() == 3 && std::abs((*given)[1]) <= 90 && (*given)[2] > 0 && (*given)[2] <= 100) {
      n = *given;
    } else {
      problems.error("--camera", "found \"" + text +
                                     "\", expected AROUND,UP[,ZOOM]: degrees, degrees from -90 to 90, and a factor "
                                     "above 0 up to 100, as in 30,20 or -60,10,1.5");
    }
  }
  const double around = n[0] * std::numbers::pi / 180, up = n[1] * std::numbers::pi / 180;
  return {{std::sin(around) * std::cos(up), std::sin(up), std::cos(around) * std::cos(up)}, n[2]};
}

std::vector<int> evenly(int frames, int wanted) {
  std::vector<int> out;
  for (int k = 0; k < wanted; ++k) {
    const int f = wanted == 1 ? 0 : int(std::lround(double(k) * (frames - 1) / (wanted - 1)));
    if (out.empty() || out.back() != f) out.push_back(f);
  }
  return out;
}

/// Moments of a run, read when they are wanted, or of a scene, simulated beforehand.
struct Film {
  std::optional<RecordedRun> recorded;
  std::optional<Simulation> simulation;
  std::map<int, Moment> kept;  // of a scene

  const Simulation& scene() const { return recorded ? recorded->simulation : *simulation; }
  Moment at(int frame, bool with_velocities) const {
    if (!recorded) return kept.at(frame);
    const double step = recorded->simulation.scene().step;
    Moment out{frame * step, recorded->positions.frame(frame), {}, recorded->removed(frame)};
    if (with_velocities) {
      // what is recorded are positions: backward differences, forward ones in the first frame
      const int other = frame > 0 ? frame - 1 : std::min(1, recorded->positions.frames() - 1);
      const std::vector<Vec3> x = recorded->positions.frame(other);
      out.velocities.resize(x.size());
      for (size_t v = 0; v < x.size(); ++v)
        out.velocities[v] = (out.positions[v] - x[v]) * ((frame > 0 ? 1 : -1) / step);
    }
    return out;
  }
};

/// Simulates as far as the last frame that is wanted.
int fill(Film& film, const std::vector<int>& wanted, bool with_velocities, bool quiet) {
  Simulation& s = *film.simulation;
  const auto keep = [&] {
    if (!std::binary_search(wanted.begin(), wanted.end(), s.frame())) return;
    Moment m{s.time(), s.positions(), {}, {}};
    if (with_velocities) m.velocities = s.velocities();
    bool torn = false;
    for (int b = 0; b < s.bodies(); ++b) m.removed.push_back(s.removed_elements(b)), torn |= !m.removed.back().empty();
    if (!torn) m.removed.clear();
    film.kept.emplace(s.frame(), std::move(m));
  };
  keep();
  const int frames = wanted.back();
  const RunResult result = run_frames(s, frames, s.scene().name, quiet, [&](const StepReport&) { keep(); });
  return result.complete() ? exit_done : explain(result, frames, s.scene().name);
}

}  // namespace

int picture(const PictureOptions& options, Diagnostics problems) {
  const Size size = read_size(options.size, problems);
  const Standpoint from = read_camera(options.camera, problems);
  read_choice("--color", options.color, {"body", "strain", "speed"}, problems);
  const auto coloring = options.color == "strain"  ? render::Coloring::strain
                        : options.color == "speed" ? render::Coloring::speed
                                                   : render::Coloring::body;
  const std::optional<int> columns = read_count("--columns", options.columns, problems);
  const std::optional<double> fps = read_positive("--fps", options.fps, problems);
  const std::optional<int> threads = read_count("--threads", options.threads, problems);
  const auto expect_ending = [&](const char* flag, const std::string& file, const std::string& ending) {
    if (!file.empty() && fs::path(file).extension() != ending)
      problems.error(flag, "found \"" + file + "\", expected a file that ends with " + ending);
  };
  expect_ending("--out", options.out, ".png");
  expect_ending("--movie", options.movie, ".gif");

  Film film;
  std::error_code error;
  int frames = 0;
  if (options.source.empty()) {
    problems.error("SOURCE", "nothing given, expected the folder of a run, a built-in scene or a JSON file");
  } else if (fs::is_directory(options.source, error)) {
    if (!options.set.empty()) problems.error("--set", "found with the folder of a run, expected only with a scene");
    film.recorded = open_run(options.source, problems);
    if (film.recorded) frames = film.recorded->positions.frames();
  } else {
    Expected<Scene> scene = read_scene(options.source, read_overrides(options.set, problems));
    append_new(problems, scene.diagnostics());
    if (scene) {
      Expected<Simulation> created = Simulation::create(*scene, {.threads = threads.value_or(0)});
      append_new(problems, created.diagnostics());
      if (created) film.simulation = std::move(*created), frames = scene->frames + 1;
    }
  }
  const bool strip = !options.out.empty() || options.movie.empty();
  std::vector<int> in_strip, in_movie;
  if (frames > 0) {
    const double step = film.scene().scene().step;
    if (!options.frames.empty()) {
      if (const auto list = read_frame_list(options.frames, frames, problems)) in_strip = in_movie = *list;
    } else {
      in_strip = evenly(frames, 5);
      const int stride = std::max(1, int(std::ceil(1 / (25.5 * step))));
      for (int f = 0; f < frames; f += stride) in_movie.push_back(f);
    }
    if (strip && in_strip.size() > 400)
      problems.error("--frames", "found " + std::to_string(in_strip.size()) + ", expected at most 400 in a strip");
  }
  if (problems.has_errors()) return refuse(problems, "nothing was written");
  if (!strip) in_strip.clear();
  if (options.movie.empty()) in_movie.clear();

  std::string out = options.out;
  if (strip && out.empty())
    out = film.recorded
              ? (fs::path(options.source) / "picture.png").string()
              : (fs::path("runs") / directory_name(film.scene().scene(), options.source) / "picture.png").string();
  for (const std::string& file : {strip ? out : std::string(), options.movie}) {
    if (file.empty()) continue;
    if (fs::is_directory(file, error)) problems.error(file, "found a folder, expected a file or nothing");
    const fs::path folder = fs::path(file).parent_path();
    prepare_directory(folder.empty() ? "." : folder.string(), problems);
  }
  if (problems.has_errors()) return refuse(problems, "nothing was written");
  report(problems);

  std::vector<int> wanted = in_strip;
  wanted.insert(wanted.end(), in_movie.begin(), in_movie.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  InterruptGuard interrupt;
  const bool speed = coloring == render::Coloring::speed;
  if (film.simulation)
    if (const int code = fill(film, wanted, speed, options.quiet); code != exit_done) return code;

  set_threads(threads.value_or(0));
  Stage stage(film.scene(), coloring);
  for (const int f : wanted) stage.include(film.at(f, speed));
  stage.look_from(from.direction, double(size.width) / size.height, from.zoom);
  std::map<int, Image> images;
  {
    Progress progress("picture", int(wanted.size()), options.quiet);
    for (const int f : wanted) {
      if (const int signal = InterruptGuard::signal()) {
        std::fprintf(stderr, "verve: picture: interrupted; nothing was written\n");
        return 128 + signal;
      }
      const Moment moment = film.at(f, speed);
      render::View view = stage.view(moment);
      view.wireframe = options.wireframe;
      Image image = draw(view, size.width, size.height);
      char text[64];
      std::snprintf(text, sizeof text, "frame %d  %.2f s", f, moment.time);
      if (!options.plain) annotate(image, stage, text);
      images.emplace(f, std::move(image));
      progress.update(int(images.size()));
    }
  }
  const auto list = [&](const std::vector<int>& which) {
    std::vector<Image> out_images;
    for (const int f : which) out_images.push_back(images.at(f));
    return out_images;
  };
  std::vector<std::pair<std::string, std::string>> files;
  if (strip) {
    const int n = int(in_strip.size()), rows = (n + 4) / 5;
    files.emplace_back(out, png(render::strip(list(in_strip), columns.value_or((n + rows - 1) / rows), 4)));
  }
  if (!in_movie.empty()) {
    const double step = film.scene().scene().step;
    const int stride = in_movie.size() > 1 ? std::max(1, in_movie[1] - in_movie[0]) : 1;
    files.emplace_back(options.movie, gif(list(in_movie), fps.value_or(1 / (step * stride))));
  }
  for (const auto& [file, bytes] : files)
    if (!write_text(file, bytes, problems)) {
      report(problems);
      return exit_failed;
    }
  if (!options.quiet)
    for (const auto& [file, bytes] : files)
      std::printf("%s: %s of %d x %d pixels, %.1f MB\n", file.c_str(),
                  count(long(file == out && strip ? in_strip.size() : in_movie.size()), "frame", "frames").c_str(),
                  size.width, size.height, double(bytes.size()) * 1e-6);
  return exit_done;
}

}  // namespace verve::cli
