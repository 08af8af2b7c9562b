#include "recorded_run.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "flags.h"
#include "stage/shape.h"
#include "verve/scene_file.h"

namespace verve::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

std::vector<RemovedElements> RecordedRun::removed(int frame) const {
  std::vector<RemovedElements> out;
  if (torn.empty()) return out;
  for (int b = 0; b < simulation.bodies(); ++b) out.push_back(removed_by(torn, simulation.body_name(b), frame));
  return out;
}

std::optional<RecordedRun> open_run(const std::string& folder, Diagnostics& problems) {
  const fs::path run = folder;
  std::error_code error;
  if (folder.empty()) {
    problems.error("RUN_DIR", "nothing given, expected the folder of a run, as verve simulate leaves it");
    return std::nullopt;
  }
  if (!fs::is_directory(run, error)) {
    problems.error(folder, "no such folder, expected one that verve simulate has written");
    return std::nullopt;
  }
  Expected<RecordedPositions> positions = RecordedPositions::open(run / "positions.npy");
  append_new(problems, positions.diagnostics());
  Expected<Scene> scene = read_scene((run / "scene.json").string());
  if (!scene) append_new(problems, scene.diagnostics());  // what else there is to say was said when it was run
  std::optional<Simulation> simulation;
  if (scene) {
    Expected<Simulation> created = Simulation::create(*scene);
    if (!created) append_new(problems, created.diagnostics());
    if (created) simulation = std::move(*created);
  }
  bool good = positions && simulation;
  const auto refuse = [&](const char* file, const std::string& message) {
    problems.error((run / file).string(), message);
    good = false;
  };
  if (good && simulation->vertices() != positions->vertices())
    refuse("positions.npy", "found " + std::to_string(positions->vertices()) + " vertices, expected the " +
                                std::to_string(simulation->vertices()) + " of scene.json");
  std::vector<TornElement> torn;
  if (simulation && std::any_of(simulation->scene().bodies.begin(), simulation->scene().bodies.end(), can_tear)) {
    Expected<std::vector<TornElement>> read = read_torn(run / "torn.csv");
    append_new(problems, read.diagnostics());
    if (read)
      torn = std::move(*read);
    else
      good = false;
    for (const TornElement& t : torn) {
      const int b = simulation->find_body(t.body);
      const Mesh none, &mesh = b < 0 ? none : simulation->mesh(b);
      const size_t size = t.kind == "tetrahedron" ? mesh.tetrahedra.size()
                          : t.kind == "triangle"  ? mesh.triangles.size()
                                                  : mesh.edges.size();
      if (size_t(t.element) < size) continue;
      refuse("torn.csv", "found " + t.kind + " " + std::to_string(t.element) + " of \"" + t.body +
                             "\", expected one that scene.json has");
      break;
    }
  }
  std::optional<RecordedForces> forces;
  if (const fs::path file = run / "contact_forces.npy"; positions && fs::exists(file, error)) {
    Expected<RecordedForces> read = RecordedForces::open(file, positions->vertices());
    append_new(problems, read.diagnostics());
    if (read)
      forces = std::move(*read);
    else
      good = false;
  }
  if (positions && positions->frames() == 0) refuse("positions.npy", "found no frame");
  if (!good) return std::nullopt;
  return RecordedRun{std::move(*simulation), std::move(*positions), std::move(torn), std::move(forces)};
}

std::optional<FrameRange> read_frames(const std::string& text, int frames, Diagnostics& problems) {
  FrameRange out{0, frames - 1, 1};
  if (text.empty()) return out;
  const auto fail = [&](const std::string& found) {
    problems.error("--frames", "found " + found + ", expected A:B:STEP with frames from 0 to " +
                                   std::to_string(frames - 1) + " and a step >= 1, as in 0:100:5, :50 or 7");
    return std::nullopt;
  };
  const std::vector<std::string> parts = split(text, ':');
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
  return FrameRange{int(value[0]), int(value[1]), int(value[2])};
}

std::optional<std::vector<int>> read_frame_list(const std::string& text, int frames, Diagnostics& problems) {
  std::vector<int> out;
  bool good = true;
  for (const std::string& part : split(text, ',')) {
    std::optional<FrameRange> range;
    if (part.empty())
      problems.error("--frames", "found \"" + text + "\" with nothing between commas, expected frames as in 0,20,40");
    else
      range = read_frames(part, frames, problems);
    good = good && range;
    for (int k = 0; range && k < range->count(); ++k) out.push_back(range->first + k * range->step);
  }
  if (!good) return std::nullopt;
  return out;
}

}  // namespace verve::cli
