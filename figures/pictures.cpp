// Frames of films side by side, by what `verve picture` draws.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "figures/chart_image.h"
#include "figures/film.h"
#include "stage/stage.h"

namespace verve::figures {

namespace {

using render::Image;
using render::View;

/// A film on its stage. One body alone has the colour that its method has in the charts.
struct Set {
  Set(const Film& film, render::Coloring coloring) : actors(simulation(colored(film))), stage(actors, coloring) {}
  static Scene colored(const Film& film) {
    Scene out = film.scene;
    if (out.bodies.size() == 1 && out.bodies[0].color.empty()) {
      const std::string own = known_color(film.label);
      out.bodies[0].color = own.empty() ? known_color(out.solver.method) : own;
    }
    return out;
  }
  Simulation actors;
  render::Stage stage;
  bool fits = true;
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

void paste(Image& onto, const Image& image, int left, int top) {
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t* from = &image.rgb[3 * (size_t(y) * size_t(image.width) + size_t(x))];
      put(onto, left + x, top + y, {from[0], from[1], from[2]});
    }
}

constexpr render::Color ink{0.02f, 0.02f, 0.03f};
constexpr int head = 17;  // pixels above a picture for its label: on the picture it would lie on bodies

struct Drawn {
  std::vector<Image> images;
  double value_max = 0;  // of the colour scale
};

Drawn draw_all(const std::vector<Look>& looks, const StripOptions& options) {
  std::map<const Film*, std::unique_ptr<Set>> sets;
  std::vector<render::Moment> moments;
  for (const Look& look : looks) {
    std::unique_ptr<Set>& set = sets[look.film];
    if (!set)
      set = std::make_unique<Set>(*look.film, options.strain ? render::Coloring::strain : render::Coloring::body);
    render::Moment& moment = moments.emplace_back();
    moment.time = look.film->shots[size_t(look.frame)].time, moment.positions = look.film->poses[size_t(look.frame)];
    if (size_t(look.frame) < look.film->removed.size()) moment.removed = look.film->removed[size_t(look.frame)];
    // one that has blown up must not shrink the others
    set->fits = set->fits && std::all_of(moment.positions.begin(), moment.positions.end(),
                                         [&](const Vec3& p) { return norm(p) < options.reach; });
    if (set->fits) set->stage.include(moment);
  }
  Drawn out;
  double floor = 1e300;
  for (const auto& [film, set] : sets) {
    if (!set->fits) continue;
    out.value_max = std::max(out.value_max, set->stage.value_max());
    floor = std::min(floor, set->stage.floor_height());
  }
  if (floor > 1e299) floor = 0;
  if (options.strain_max > 0) out.value_max = options.strain_max;
  std::vector<View> views;
  std::vector<Vec3> seen;
  for (size_t i = 0; i < looks.size(); ++i) {
    const render::Moment& moment = moments[i];
    View& view = views.emplace_back(sets[looks[i].film]->stage.view(moment));
    const Vec3 by = options.follow ? middle(moment.positions) * -1.0 : Vec3{};
    if (options.follow) shift(view, by);
    const auto see = [&](const Vec3& p) {
      if (norm(p) < options.reach) seen.push_back(p);
    };
    if (moment.removed.empty()) {
      for (const Vec3& p : moment.positions) see(p + by);
    } else {  // vertices that nothing is left of fall out of sight
      for (const render::Surface& s : view.surfaces)
        for (const auto& t : s.triangles)
          for (const int v : t) see(s.points[size_t(v)]);
    }
    view.floor = !options.follow;
    view.floor_height = options.floor_height.value_or(floor);
    view.value_max = out.value_max;
  }
  if (seen.empty()) seen.push_back({});
  const render::Camera camera = render::frame_all(seen, options.direction, double(options.width) / options.height);
  for (size_t i = 0; i < looks.size(); ++i) {
    views[i].camera = camera;
    Image image{options.width, options.height + head, {}};
    image.rgb.assign(3 * size_t(image.width) * size_t(image.height), 244);
    paste(image, render::draw(views[i], options.width, options.height), 0, head);
    const Look& look = looks[i];
    const std::string words =
        look.label.empty() ? look.film->label + ", frame " + std::to_string(look.frame) : look.label;
    render::label(image, 5, 4, in_ascii(words), ink, 1);
    out.images.push_back(std::move(image));
  }
  return out;
}

/// The picture with the colour scale below it.
Image with_scale(const Image& image, double value_max) {
  Image out{image.width, image.height + 44, {}};
  out.rgb.assign(3 * size_t(out.width) * size_t(out.height), 255);
  paste(out, image, 0, 0);
  render::legend(out, 6, image.height + 8, std::min(image.width - 12, 300), "strain |E|", 0, value_max, ink, 1);
  return out;
}

/// The curves of a chart up to one moment. Axes from zero to the largest value of the whole run: they stand still.
Image draw_curves(const Chart& chart, int width, int height, double now) {
  constexpr int left = 10, right = 10, top = 34, foot = 16;
  constexpr Pixel axis{150, 155, 165};
  Image out{width, height, std::vector<std::uint8_t>(3 * size_t(width) * size_t(height), 250)};
  double most_x = 0, most_y = 0;
  for (const Curve& c : chart.curves)
    for (size_t i = 0; i < c.x.size(); ++i) most_x = std::max(most_x, c.x[i]), most_y = std::max(most_y, c.y[i]);
  const auto across = [&](double x) { return left + (width - left - right) * x / most_x; };
  const auto up = [&](double y) { return height - foot - (height - top - foot) * y / (1.05 * most_y); };
  for (int x = left; x <= width - right; ++x) put(out, x, height - foot, axis);
  for (int y = top; y <= height - foot; ++y) put(out, left, y, axis);
  render::label(out, left, 4, in_ascii(chart.title), {0.02f, 0.02f, 0.03f}, 1);
  char range[32];
  std::snprintf(range, sizeof range, most_y < 10 ? "0 to %.2g" : "0 to %.0f", 1.05 * most_y);
  render::label(out, width - right - render::label_width(range), 4, range, {0.3f, 0.3f, 0.33f}, 1);
  render::label(out, width - right - render::label_width(chart.x), height - foot + 4, chart.x, {0.3f, 0.3f, 0.33f}, 1);
  int at = left;
  const std::vector<std::string> colors = colors_of(chart);
  for (size_t k = 0; k < chart.curves.size(); ++k) {
    const Curve& c = chart.curves[k];
    const Pixel color = pixel(colors[k]);
    for (int y = 20; y < 26; ++y)
      for (int x = at; x < at + 12; ++x) put(out, x, y, color);
    render::label(out, at + 16, 18, c.name, {0.02f, 0.02f, 0.03f}, 1);
    at += 30 + render::label_width(c.name);
    for (size_t i = 1; i < c.x.size() && c.x[i] <= now; ++i) {
      const double x0 = across(c.x[i - 1]), x1 = across(c.x[i]), y0 = up(c.y[i - 1]), y1 = up(c.y[i]);
      const int n = 1 + int(std::max(std::abs(x1 - x0), std::abs(y1 - y0)));
      for (int j = 0; j <= n; ++j) {
        const int x = int(std::lround(x0 + (x1 - x0) * j / n)), y = int(std::lround(y0 + (y1 - y0) * j / n));
        for (int dx = 0; dx < 2; ++dx)
          for (int dy = 0; dy < 2; ++dy) put(out, x + dx, y + dy, color);
      }
    }
  }
  return out;
}

}  // namespace

void strip(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<Look>& looks, const StripOptions& options) {
  if (!context.pictures || looks.empty()) return;
  context.check_stop();
  StripOptions size = options;
  if (context.quick) size.width /= 3, size.height /= 3;
  const Drawn drawn = draw_all(looks, size);
  const Image all = render::strip(drawn.images, options.columns, 4);
  result.pictures.push_back(
      {name + ".png", caption, render::png(options.strain ? with_scale(all, drawn.value_max) : all)});
}

void movie(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<const Film*>& films, int every, double frames_per_second, const StripOptions& options,
           const std::vector<Chart>& curves) {
  if (!context.pictures || context.quick || films.empty()) return;
  context.check_stop();
  int frames = options.last;
  for (const Film* f : films) frames = std::min(frames, f->frames());
  std::vector<Look> looks;
  for (int frame = 0; frame <= frames; frame += every)
    for (const Film* f : films) looks.push_back({f, frame, f->label});
  const std::vector<Image> images = draw_all(looks, options).images;
  std::vector<Image> scenes;
  for (size_t i = 0; i + films.size() <= images.size(); i += films.size()) {
    const Image bodies = render::strip(std::span(images).subspan(i, films.size()), int(films.size()), 4);
    if (curves.empty()) {
      scenes.push_back(bodies);
      continue;
    }
    constexpr int gap = 4, width = 190;
    const int count = int(curves.size()), height = (bodies.height - gap * (count - 1)) / count;
    Image both{bodies.width + gap + width, bodies.height, {}};
    both.rgb.assign(3 * size_t(both.width) * size_t(both.height), 255);
    paste(both, bodies, 0, 0);
    const double now = films[0]->shots[size_t(looks[i].frame)].time;
    for (int k = 0; k < count; ++k)
      paste(both, draw_curves(curves[size_t(k)], width, height, now), bodies.width + gap, k * (height + gap));
    scenes.push_back(std::move(both));
  }
  result.pictures.push_back({name + ".gif", caption, render::gif(scenes, frames_per_second)});
}

}  // namespace verve::figures
