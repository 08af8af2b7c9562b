#include "figures/stage.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/picture.h"

namespace verve::figures {

namespace {

using render::Image;
using render::View;

/// The points of a body that are drawn.
std::vector<Vec3> points_of(const Stage::Body& body, const std::vector<Vec3>& pose, const Vec3& shift) {
  std::vector<Vec3> x(pose.begin() + body.first, pose.begin() + body.first + body.vertices);
  if (body.carried) x = carry(*body.carried, x);
  for (Vec3& v : x) v += shift;
  return x;
}

Vec3 turned(const Vec3& degrees, const Vec3& v) {
  const double angle = norm(degrees) * std::numbers::pi / 180;
  if (angle == 0) return v;
  const Vec3 k = degrees / norm(degrees);
  return v * std::cos(angle) + cross(k, v) * std::sin(angle) + k * (dot(k, v) * (1 - std::cos(angle)));
}

/// A shape of revolution about y through (radius, height) pairs.
render::Surface revolved(const std::vector<std::array<double, 2>>& profile) {
  constexpr int around = 40;
  render::Surface out;
  for (const auto& [r, y] : profile)
    for (int k = 0; k < around; ++k) {
      const double a = 2 * std::numbers::pi * k / around;
      out.points.push_back({r * std::cos(a), y, r * std::sin(a)});
    }
  for (int i = 0; i + 1 < int(profile.size()); ++i)
    for (int k = 0; k < around; ++k) {
      const int a = i * around + k, b = i * around + (k + 1) % around;
      out.triangles.push_back({a, a + around, b});
      out.triangles.push_back({b, a + around, b + around});
    }
  return out;
}

render::Surface collider_surface(const ColliderSpec& c) {
  render::Surface out;
  const double r = c.radius, half = 0.5 * c.length;
  if (c.shape == "box") {
    for (int i = 0; i < 8; ++i)
      out.points.push_back(
          {(i & 1 ? 0.5 : -0.5) * c.size.x, (i & 2 ? 0.5 : -0.5) * c.size.y, (i & 4 ? 0.5 : -0.5) * c.size.z});
    out.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  } else if (c.shape == "cylinder") {
    out = revolved({{0, -half}, {r, -half}, {r, half}, {0, half}});
  } else if (c.shape == "sphere" || c.shape == "capsule") {
    std::vector<std::array<double, 2>> profile;
    const double shift = c.shape == "sphere" ? 0 : half;
    for (int i = 0; i <= 24; ++i) {
      const double a = std::numbers::pi * (i / 24.0 - 0.5);
      profile.push_back({r * std::cos(a), r * std::sin(a) + (i <= 12 ? -shift : shift)});
    }
    out = revolved(profile);
  }
  out.color = {0.42f, 0.43f, 0.46f};
  return out;
}

/// Colliders that are bodies; a plane is the floor.
void add_colliders(View& view, const Scene& scene, double time, const Vec3& shift) {
  for (const ColliderSpec& c : scene.colliders) {
    if (c.shape == "plane" || c.shape == "mesh" || !c.active.at(time).value_or(true)) continue;
    render::Surface s = collider_surface(c);
    const Vec3 turn = c.rotation.at(time).value_or(Vec3{}), to = c.position.at(time).value_or(Vec3{});
    for (Vec3& v : s.points) v = turned(turn, v) + to + shift;
    view.surfaces.push_back(std::move(s));
  }
}

/// The built-in font has ASCII alone.
std::string in_ascii(std::string text) {
  static constexpr std::pair<const char*, const char*> words[] = {{"γ", "gamma"}, {"μ", "mu"}, {"×", "x"}, {"±", "+-"}};
  for (const auto& [from, to] : words)
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, std::string_view(from).size(), to);
  return text;
}

View view_of(const Look& look, bool speed, double fastest) {
  const Film& film = *look.film;
  const std::vector<Vec3>& pose = film.poses[size_t(look.frame)];
  View view;
  view.value_max = std::max(fastest, 1e-12);
  const std::vector<Vec3>& before = film.poses[size_t(std::max(0, look.frame - 1))];
  for (size_t b = 0; b < film.stage->bodies.size(); ++b) {
    const Stage::Body& body = film.stage->bodies[b];
    // one body alone has the colour that its method has in the charts
    const std::string own = film.stage->bodies.size() == 1 ? known_color(film.scene.solver.method) : "";
    const std::string& hex = body.color.empty() ? own : body.color;
    const render::Color color = hex.empty() ? render::body_color(int(b)) : render::color_from_hex(hex);
    std::vector<Vec3> x = points_of(body, pose, look.shift);
    std::vector<float> values;
    if (speed) {
      const std::vector<Vec3> old = points_of(body, before, look.shift);
      for (size_t i = 0; i < x.size(); ++i) values.push_back(float(norm(x[i] - old[i]) / film.scene.step));
    }
    if (!body.skin.triangles.empty()) {
      render::Surface s;
      s.points = x, s.triangles = body.skin.triangles, s.color = color, s.values = values;
      s.two_sided = !body.solid;
      view.surfaces.push_back(std::move(s));
    }
    if (!body.skin.edges.empty()) {
      render::Curve c;
      c.points = x, c.edges = body.skin.edges, c.color = color, c.values = values;
      c.radius = float(std::max(0.5 * body.thickness, 0.01));
      view.curves.push_back(std::move(c));
    }
  }
  add_colliders(view, film.scene, film.shots[size_t(look.frame)].time, look.shift);
  return view;
}

std::vector<Vec3> all_points(const Look& look) {
  std::vector<Vec3> out;
  for (const Stage::Body& body : look.film->stage->bodies)
    for (const Vec3& v : points_of(body, look.film->poses[size_t(look.frame)], look.shift))
      if (std::isfinite(v.x + v.y + v.z)) out.push_back(v);
  return out;
}

Vec3 middle(const std::vector<Vec3>& points) {
  Vec3 sum{};
  for (const Vec3& p : points) sum += p / double(points.size());
  return sum;
}

std::vector<Image> draw_all(std::vector<Look> looks, const StripOptions& options) {
  std::vector<Vec3> seen;
  double fastest = 0;
  for (Look& look : looks) {
    std::vector<Vec3> points = all_points(look);
    if (options.follow && !points.empty()) {
      const Vec3 shift = middle(points) * -1.0;
      look.shift += shift;
      for (Vec3& p : points) p += shift;
    }
    seen.insert(seen.end(), points.begin(), points.end());
  }
  if (options.speed)
    for (const Look& look : looks) {
      const auto& now = look.film->poses[size_t(look.frame)];
      const auto& before = look.film->poses[size_t(std::max(0, look.frame - 1))];
      for (size_t i = 0; i < now.size(); ++i)
        fastest = std::max(fastest, norm(now[i] - before[i]) / look.film->scene.step);
    }
  double ground = 1e300;
  for (const Vec3& p : seen) ground = std::min(ground, p.y);
  if (options.floor) ground = 0, seen.push_back({0, 0, 0});
  if (seen.empty()) seen.push_back({});
  const render::Camera camera = render::frame_all(seen, options.direction, double(options.width) / options.height);
  std::vector<Image> images;
  for (const Look& look : looks) {
    View view = view_of(look, options.speed, fastest);
    view.camera = camera;
    view.floor = options.floor;
    view.floor_height = ground;
    Image image = render::draw(view, options.width, options.height);
    const std::string words =
        look.label.empty() ? look.film->label + ", frame " + std::to_string(look.frame) : look.label;
    render::label(image, 8, 8, in_ascii(words), {0.02f, 0.02f, 0.03f}, 1);
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

std::shared_ptr<const Stage> stage_of(const Simulation& simulation) {
  auto out = std::make_shared<Stage>();
  for (int b = 0; b < simulation.bodies(); ++b) {
    Stage::Body& body = out->bodies.emplace_back();
    const Mesh& mesh = simulation.mesh(b);
    const BodySpec& spec = simulation.scene().bodies[size_t(b)];
    body.first = simulation.first_vertex(b), body.vertices = int(mesh.vertices.size());
    body.color = spec.color, body.thickness = spec.thickness;
    const Mesh* carried = simulation.embedded_mesh(b);
    body.solid = carried || !mesh.tetrahedra.empty();
    body.skin.triangles = surface(carried ? *carried : mesh);
    if (carried) body.carried = std::make_shared<Embedding>(*simulation.embedding(b));
    body.skin.edges = mesh.edges;
  }
  return out;
}

void strip(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<Look>& looks, const StripOptions& options) {
  if (!context.pictures || looks.empty()) return;
  const std::vector<Image> images = draw_all(looks, options);
  result.pictures.push_back({name + ".png", caption, render::png(render::strip(images, options.columns, 4))});
}

void movie(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<const Film*>& films, int every, double frames_per_second, const StripOptions& options) {
  if (!context.pictures || context.quick || films.empty()) return;
  std::vector<Image> scenes;
  int frames = 1 << 30;
  for (const Film* f : films) frames = std::min(frames, f->frames());
  std::vector<Look> looks;
  for (int frame = 0; frame <= frames; frame += every)
    for (const Film* f : films) looks.push_back({f, frame, f->label});
  const std::vector<Image> images = draw_all(looks, options);
  for (size_t i = 0; i + films.size() <= images.size(); i += films.size())
    scenes.push_back(render::strip(std::span(images).subspan(i, films.size()), int(films.size()), 4));
  result.pictures.push_back({name + ".gif", caption, render::gif(scenes, frames_per_second)});
}

}  // namespace verve::figures
