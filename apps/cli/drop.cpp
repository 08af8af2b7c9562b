// verve drop: mesh files as they are, made solid and dropped on a floor.
#include "drop.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "commands.h"
#include "flags.h"
#include "run.h"
#include "verve/material.h"
#include "verve/mesh.h"
#include "verve/scene_file.h"

namespace verve::cli {

namespace {

// Frames of 1/60 s: an impact of a body of 0.3 m lasts some 50 ms.
constexpr double frame_time = 1.0 / 60;
// Between the floor and the lowest point, and between bodies side by side, in units of the size.
constexpr double height = 1, gap = 0.3;

/// The file as a body, its middle above `x`.
BodySpec body_of(const std::string& file, const Mesh& mesh, const DropSettings& settings, double& x) {
  BodySpec body;
  body.name = file_name(std::filesystem::path(file).stem().string());
  MeshSpec spec;
  spec.file = file, spec.object = settings.object;
  if (mesh.tetrahedra.empty()) {
    body.mesh.generator = "solid";
    body.mesh.parameters["cells"] = {settings.cells};
    body.embed = spec;
  } else {
    body.mesh = spec;
  }
  set_material(body, settings.material);

  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& p : mesh.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  if (settings.z_up) {  // turned about x: y becomes -z, z becomes y
    low = {low.x, low.z, -low.y}, high = {high.x, high.z, -high.y};
    std::swap(low.z, high.z);
    body.place.rotate = {-90, 0, 0};
  }
  const Vec3 extent = high - low;
  body.place.size = settings.size;
  const double scale = settings.size / std::max({extent.x, extent.y, extent.z}), half = 0.5 * extent.x * scale;
  x += half;
  const Vec3 middle = (low + high) * (0.5 * scale);
  body.place.translate = {x - middle.x, height * settings.size - low.y * scale, -middle.z};
  x += half + gap * settings.size;
  return body;
}

}  // namespace

bool is_mesh_file(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension) c = char(std::tolower(static_cast<unsigned char>(c)));
  for (const MeshFormatInfo& format : mesh_format_infos())
    if (std::find(format.extensions.begin(), format.extensions.end(), extension) != format.extensions.end()) return true;
  return false;
}

Expected<Scene> scene_of_drop(const std::vector<std::string>& files, const DropSettings& settings) {
  Diagnostics problems;
  Scene scene;
  double x = 0;
  for (const std::string& file : files) {
    const Expected<Mesh> mesh = read_mesh(file, MeshRepair::repair, settings.object);
    append_new(problems, mesh.diagnostics());
    if (!mesh) continue;
    if (mesh->tetrahedra.empty() && mesh->triangles.empty()) {
      problems.error(file, "found edges only, expected triangles or tetrahedra: there is nothing to fill");
      continue;
    }
    scene.bodies.push_back(body_of(file, *mesh, settings, x));
    for (std::size_t b = 0; b + 1 < scene.bodies.size(); ++b)  // the same name twice
      if (scene.bodies[b].name == scene.bodies.back().name) scene.bodies.back().name += "_" + std::to_string(scene.bodies.size());
  }
  if (problems.has_errors()) return problems;
  for (BodySpec& body : scene.bodies) body.place.translate.x -= 0.5 * (x - gap * settings.size);
  scene.name = scene.bodies[0].name;
  scene.description = "Dropped by verve drop: " + settings.material + ", " + std::to_string(scene.bodies.size()) +
                      (scene.bodies.size() == 1 ? " body" : " bodies") + ".";
  scene.step = frame_time;
  scene.frames = settings.frames;
  scene.gravity = {0, -9.81, 0};
  scene.solver.tolerance = 1e-4;  // the real-time setting: what a viewer can see, in seconds
  ColliderSpec floor;
  floor.name = "floor", floor.shape = "plane", floor.friction = 0.8;
  scene.colliders.push_back(floor);
  if (scene.bodies.size() > 1) scene.contact = ContactSpec{};
  return {std::move(scene), std::move(problems)};
}

int drop(const DropOptions& options, Diagnostics problems) {
  DropSettings settings;
  if (options.files.empty()) problems.error("FILE", "nothing given, expected mesh files to drop");
  if (!options.material.empty()) {
    if (read_choice("--material", options.material, material_names(3), problems)) settings.material = options.material;
  }
  settings.object = options.object;
  if (const auto size = read_positive("--size", options.size, problems)) settings.size = *size;
  if (const auto cells = read_whole("--cells", options.cells, 4, 400, problems)) settings.cells = *cells;
  if (const auto frames = read_count("--frames", options.frames, problems)) settings.frames = *frames;
  if (read_choice("--up", options.up, {"y", "z"}, problems)) settings.z_up = options.up == "z";
  if (problems.has_errors()) return refuse(problems, "nothing was written");
  const Expected<Scene> scene = scene_of_drop(options.files, settings);
  if (!scene) return refuse(scene.diagnostics(), "nothing was written");

  SimulateOptions run;
  run.out = options.out.empty() ? "runs/" + file_name(scene->name) : options.out;
  run.set = options.set, run.threads = options.threads, run.quiet = options.quiet;
  const int code = simulate_scene(write_scene(*scene), options.files[0], run, scene.diagnostics());
  if (code != exit_done) return code;
  PictureOptions picture_options;
  picture_options.source = run.out;
  picture_options.quiet = options.quiet;
  return picture(picture_options, {});
}

}  // namespace verve::cli
