// Frames of films side by side, by what `verve picture` draws.
#include <algorithm>
#include <cmath>
#include <map>

#include "figures/film.h"
#include "stage/stage.h"

namespace verve::figures {

namespace {

using render::Image;
using render::View;

/// The built-in font has ASCII alone.
std::string in_ascii(std::string text) {
  static constexpr std::pair<const char*, const char*> words[] = {{"γ", "gamma"}, {"μ", "mu"}, {"×", "x"}, {"±", "+-"}};
  for (const auto& [from, to] : words)
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, std::string_view(from).size(), to);
  return text;
}

/// A film on its stage. One body alone has the colour that its method has in the charts.
struct Set {
  explicit Set(const Film& film) : actors(simulation(colored(film))), stage(actors) {}
  static Scene colored(const Film& film) {
    Scene out = film.scene;
    if (out.bodies.size() == 1 && out.bodies[0].color.empty()) out.bodies[0].color = known_color(out.solver.method);
    return out;
  }
  Simulation actors;
  render::Stage stage;
};

void shift(View& view, const Vec3& by) {
  for (render::Surface& s : view.surfaces)
    for (Vec3& p : s.points) p += by;
  for (render::Curve& c : view.curves)
    for (Vec3& p : c.points) p += by;
}

Vec3 middle(const std::vector<Vec3>& points) {
  Vec3 sum{};
  for (const Vec3& p : points) sum += p / double(points.size());
  return sum;
}

std::vector<Image> draw_all(const std::vector<Look>& looks, const StripOptions& options) {
  std::map<const Film*, std::unique_ptr<Set>> sets;
  std::vector<View> views;
  std::vector<Vec3> seen;
  for (const Look& look : looks) {
    std::unique_ptr<Set>& set = sets[look.film];
    if (!set) set = std::make_unique<Set>(*look.film);
    const std::vector<Vec3>& pose = look.film->poses[size_t(look.frame)];
    render::Moment moment{look.film->shots[size_t(look.frame)].time, pose};
    if (size_t(look.frame) < look.film->removed.size()) moment.removed = look.film->removed[size_t(look.frame)];
    View& view = views.emplace_back(set->stage.view(moment));
    const Vec3 by = options.follow ? middle(pose) * -1.0 : Vec3{};
    if (options.follow) shift(view, by);
    for (const Vec3& p : pose)
      if (std::isfinite(p.x + p.y + p.z)) seen.push_back(p + by);
    view.floor = options.floor;
    view.floor_height = 0;
  }
  if (options.floor || seen.empty()) seen.push_back({});
  const render::Camera camera = render::frame_all(seen, options.direction, double(options.width) / options.height);
  std::vector<Image> images;
  for (size_t i = 0; i < looks.size(); ++i) {
    views[i].camera = camera;
    Image image = render::draw(views[i], options.width, options.height);
    const Look& look = looks[i];
    const std::string words =
        look.label.empty() ? look.film->label + ", frame " + std::to_string(look.frame) : look.label;
    render::label(image, 8, 8, in_ascii(words), {0.02f, 0.02f, 0.03f}, 1);
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

void strip(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<Look>& looks, const StripOptions& options) {
  if (!context.pictures || looks.empty()) return;
  context.check_stop();
  const std::vector<Image> images = draw_all(looks, options);
  result.pictures.push_back({name + ".png", caption, render::png(render::strip(images, options.columns, 4))});
}

void movie(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<const Film*>& films, int every, double frames_per_second, const StripOptions& options) {
  if (!context.pictures || context.quick || films.empty()) return;
  context.check_stop();
  int frames = options.last;
  for (const Film* f : films) frames = std::min(frames, f->frames());
  std::vector<Look> looks;
  for (int frame = 0; frame <= frames; frame += every)
    for (const Film* f : films) looks.push_back({f, frame, f->label});
  const std::vector<Image> images = draw_all(looks, options);
  std::vector<Image> scenes;
  for (size_t i = 0; i + films.size() <= images.size(); i += films.size())
    scenes.push_back(render::strip(std::span(images).subspan(i, films.size()), int(films.size()), 4));
  result.pictures.push_back({name + ".gif", caption, render::gif(scenes, frames_per_second)});
}

}  // namespace verve::figures
