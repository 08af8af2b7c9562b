#include "stage/scene_animation.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <stdexcept>

#include "base/file_name.h"

namespace verve {

namespace {

/// All of the mesh that is simulated.
ShownBody simulated_body(const Simulation& simulation, int body) {
  ShownBody out;
  out.mesh = simulation.mesh(body);
  out.first = simulation.first_vertex(body), out.count = int(out.mesh.vertices.size()), out.body = body;
  out.source.resize(out.mesh.vertices.size());
  std::iota(out.source.begin(), out.source.end(), 0);
  return out;
}

/// #rrggbb
std::array<double, 3> color_of(const std::string& text, std::array<double, 3> otherwise) {
  for (int k = 0; k < 3 && text.size() == 7; ++k)
    otherwise[k] = std::strtol(text.substr(1 + 2 * k, 2).c_str(), nullptr, 16) / 255.0;
  return otherwise;
}

}  // namespace

SceneAnimation::SceneAnimation(const Simulation& simulation, AnimationFrames source, const AnimationChoice& choice,
                               std::function<void()> before_mesh)
    : simulation_(simulation),
      source_(std::move(source)),
      before_mesh_(std::move(before_mesh)),
      scale_(choice.units_per_metre) {
  name = file_name(simulation.scene().name);
  frames = source_.numbers, step = simulation.scene().step, wide = source_.wide, tears = !source_.torn.empty();
  metres_per_unit = 1 / scale_, z_up = choice.z_up;
  std::map<std::string, int> uses;
  for (int b = 0; b < simulation.bodies(); ++b) ++uses[file_name(simulation.body_name(b))];
  for (const int b : choice.bodies) {
    bodies_.push_back(choice.simulated ? simulated_body(simulation, b) : shown_body(simulation, b));
    AnimatedShape shape;
    shape.name = simulation.body_name(b), shape.stem = file_name(shape.name);
    if (uses[shape.stem] > 1) shape.stem += "_" + std::to_string(b);  // each once
    shape.color = color_of(simulation.scene().bodies[b].color, shape.color);
    shape.mass = simulation.measure(b).mass;
    const ShownBody& body = bodies_.back();
    if (!body.embedding && body.source.size() == simulation.mesh(b).vertices.size())
      for (const Vec3& p : simulation.mesh(b).vertices) shape.rest.push_back(turned(p) * scale_);
    shapes.push_back(std::move(shape));
  }
  for (std::size_t s = 0; s < shapes.size(); ++s) shapes[s].mesh = at(int(s), 0);
}

void SceneAnimation::load(int frame) {
  if (frame == loaded_) return;
  positions_ = source_.positions(frame), loaded_ = frame;
  for (const ShownBody& body : bodies_)
    for (int v = 0; v < body.count; ++v) {
      const Vec3& p = positions_[std::size_t(body.first + v)];
      if (!(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)))
        throw std::runtime_error("frame " + std::to_string(frame) + ": vertex " + std::to_string(v) + " of \"" +
                                 simulation_.body_name(body.body) + "\": found a position that is not finite");
    }
}

void SceneAnimation::tear(ShownBody& shape) {
  const RemovedElements removed = removed_by(source_.torn, simulation_.body_name(shape.body), loaded_);
  if (shape.mesh.tetrahedra.empty()) {
    shape.tear(simulation_, removed);
    return;
  }
  const Mesh left = without(simulation_.mesh(shape.body), removed);
  shape.mesh.tetrahedra = left.tetrahedra, shape.mesh.triangles = left.triangles, shape.mesh.edges = left.edges;
}

const Mesh& SceneAnimation::at(int s, int k) {
  if (before_mesh_) before_mesh_();
  load(frames[std::size_t(k)]);
  ShownBody& shape = bodies_[std::size_t(s)];
  if (tears) tear(shape);
  shape.move(positions_);
  if (scale_ != 1 || z_up)
    for (Vec3& p : shape.mesh.vertices) p = turned(p) * scale_;
  return shape.mesh;
}

std::vector<std::array<double, 6>> SceneAnimation::stress(int s) {
  const ShownBody& shape = bodies_[std::size_t(s)];
  if (shape.mesh.tetrahedra.empty()) return {};
  if (!stress_) stress_.emplace(simulation_.scene());
  std::vector<Stress> out = stress_->of(shape.body, positions_.data() + shape.first, loaded_ * step);
  const RemovedElements removed = removed_by(source_.torn, simulation_.body_name(shape.body), loaded_);
  for (auto gone = removed.tetrahedra.rbegin(); gone != removed.tetrahedra.rend(); ++gone)
    out.erase(out.begin() + *gone);
  if (z_up)
    for (auto& [xx, yy, zz, xy, yz, zx] : out) {
      std::swap(yy, zz), std::swap(xy, zx);
      xy = -xy, yz = -yz;
    }
  return out;
}

std::vector<Vec3> SceneAnimation::contact_forces(int s) {
  const ShownBody& shape = bodies_[std::size_t(s)];
  if (!source_.contact_forces || shape.embedding) return {};
  if (forces_of_ != loaded_) forces_ = source_.contact_forces(loaded_), forces_of_ = loaded_;
  std::vector<Vec3> out;
  for (const int v : shape.source) out.push_back(turned(forces_[std::size_t(shape.first + v)]));
  return out;
}

}  // namespace verve
