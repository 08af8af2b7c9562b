#include "stage/stage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/finite.h"
#include "integrators/turn.h"
#include "model/model.h"

namespace verve::render {

namespace {

/// The next of 1, 2, 5, 10, … from x on.
double round_up(double x) {
  if (!(x > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double step : {1.0, 2.0, 5.0})
    if (x <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

/// |E|_F with E = (FᵀF − 1)/2 of each element, shared among its vertices by volume, area or length.
std::vector<double> strains(const Mesh& rest, const Vec3* x) {
  std::vector<double> sum(rest.vertices.size(), 0), weight(rest.vertices.size(), 0);
  const auto share = [&](const auto& element, double value, double size) {
    if (!std::isfinite(value)) return;
    for (const int v : element) sum[v] += size * value, weight[v] += size;
  };
  const std::vector<Vec3>& p = rest.vertices;
  for (const auto& t : rest.tetrahedra) {
    const Mat3 before{{p[t[1]] - p[t[0]], p[t[2]] - p[t[0]], p[t[3]] - p[t[0]]}};
    const Mat3 now{{x[t[1]] - x[t[0]], x[t[2]] - x[t[0]], x[t[3]] - x[t[0]]}};
    const Mat3 F = now * inverse(before);
    share(t, 0.5 * std::sqrt(squared_norm(transpose(F) * F - Mat3::identity())), std::abs(det(before)));
  }
  if (rest.tetrahedra.empty()) {
    for (const auto& t : rest.triangles) {
      const Vec3 a = p[t[1]] - p[t[0]], b = p[t[2]] - p[t[0]];
      // in axes of the triangle: a = (a0, 0), b = (b0, b1)
      const double a0 = norm(a), b0 = dot(a, b) / a0, b1 = norm(cross(a, b)) / a0;
      const Vec3 f0 = (x[t[1]] - x[t[0]]) / a0, f1 = (x[t[2]] - x[t[0]] - f0 * b0) / b1;
      const double e0 = dot(f0, f0) - 1, e1 = dot(f1, f1) - 1, e2 = dot(f0, f1);
      share(t, 0.5 * std::sqrt(e0 * e0 + e1 * e1 + 2 * e2 * e2), a0 * b1);
    }
    for (const auto& e : rest.edges) {
      const double before = norm(p[e[1]] - p[e[0]]), now = norm(x[e[1]] - x[e[0]]);
      share(e, 0.5 * std::abs(now * now / (before * before) - 1), before);
    }
  }
  for (size_t v = 0; v < sum.size(); ++v) sum[v] = weight[v] > 0 ? sum[v] / weight[v] : 0;
  return sum;
}

/// A sheet as it is with its thickness: both sides, and the rim between them.
Surface thickened(const Surface& sheet, double thickness) {
  std::vector<Vec3> normal(sheet.points.size());
  std::map<std::array<int, 2>, int> uses;
  for (const auto& t : sheet.triangles) {
    const Vec3 area = cross(sheet.points[t[1]] - sheet.points[t[0]], sheet.points[t[2]] - sheet.points[t[0]]);
    for (int k = 0; k < 3; ++k) {
      normal[t[k]] += area;
      ++uses[{std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])}];
    }
  }
  Surface out = sheet;
  out.two_sided = false;
  const int n = int(sheet.points.size());
  out.points.resize(2 * n);
  if (!sheet.values.empty()) out.values.insert(out.values.end(), sheet.values.begin(), sheet.values.end());
  for (int v = 0; v < n; ++v) {
    const double length = norm(normal[v]);
    const Vec3 half = length > 0 ? normal[v] * (0.5 * thickness / length) : Vec3{};
    out.points[v] = sheet.points[v] + half, out.points[n + v] = sheet.points[v] - half;
  }
  for (const auto& t : sheet.triangles) {
    out.triangles.push_back({t[0] + n, t[2] + n, t[1] + n});
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      if (uses[{std::min(a, b), std::max(a, b)}] != 1) continue;
      out.triangles.push_back({a, a + n, b + n});
      out.triangles.push_back({a, b + n, b});
    }
  }
  return out;
}

Vec3 value_at(const Track<Vec3>& track, double time) { return track.at(time).value_or(Vec3{}); }

/// A half-space is drawn from both sides.
Surface surface_of(const Shape& shape, double reach) {
  ShapeTriangles made = shape.tessellate(reach);
  Surface out;
  out.points = std::move(made.points), out.triangles = std::move(made.triangles);
  out.color = color_from_hex("#a9adb3"), out.two_sided = shape.flat_normal().has_value();
  return out;
}

Box box_of(const std::vector<Vec3>& points) {
  Box box;
  for (const Vec3& p : points)
    if (finite(p)) box.add(p);
  return box;
}

}  // namespace

Stage::Stage(const Simulation& simulation, Coloring coloring) : simulation_(&simulation), coloring_(coloring) {
  for (int b = 0; b < simulation.bodies(); ++b) shapes_.push_back(shown_body(simulation, b));
  for (const ColliderSpec& c : simulation.scene().colliders) {
    Diagnostics reported;  // when the simulation was made
    ShownCollider& shown = colliders_.emplace_back();
    shown.shape = make_shape(c, "collider", reported);
    shown.flat_normal = shown.shape->flat_normal();
    if (!shown.flat_normal) shown.surface = surface_of(*shown.shape, 0);
  }
}

std::vector<float> Stage::values_of(int body, const Moment& moment) const {
  const ShownBody& shape = shapes_[body];
  std::vector<double> all(shape.count, 0);
  if (coloring_ == Coloring::strain) {
    const Mesh& mesh = simulation_->mesh(body);
    const bool whole = moment.removed.empty() || moment.removed[body].empty();
    all = strains(whole ? mesh : without(mesh, moment.removed[body]), moment.positions.data() + shape.first);
  } else if (coloring_ == Coloring::speed && !moment.velocities.empty()) {
    for (int v = 0; v < shape.count; ++v) all[v] = norm(moment.velocities[size_t(shape.first) + v]);
  }
  std::vector<float> out(shape.mesh.vertices.size());
  for (size_t v = 0; v < out.size(); ++v) {
    if (!shape.embedding) {
      out[v] = float(all[shape.source[v]]);
      continue;
    }
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += shape.embedding->weights[v][k] * all[shape.embedding->vertices[v][k]];
    out[v] = float(std::max(0.0, sum));
  }
  return out;
}

void Stage::include(const Moment& moment) {
  times_.push_back(moment.time);
  if (lowest_ < 0)
    for (int v = 0; v < int(moment.positions.size()); ++v)
      if (lowest_ < 0 || moment.positions[v].y < lowest_at_.y) lowest_ = v, lowest_at_ = moment.positions[v];
  if (lowest_ >= 0) lowest_moved_ = std::max(lowest_moved_, norm(moment.positions[lowest_] - lowest_at_));
  std::vector<float> values;
  for (size_t b = 0; b < shapes_.size(); ++b) {
    ShownBody shape = shapes_[b];
    shape.move(moment.positions);
    std::array<size_t, 6> extreme{};
    const std::vector<Vec3>& p = shape.mesh.vertices;
    // a camera that sees the corners and some hundred others sees the body
    const size_t stride = std::max<size_t>(1, p.size() / 400);
    for (size_t v = 0; v < p.size(); ++v) {
      if (!finite(p[v])) continue;
      bounds_.add(p[v]);
      if (v % stride == 0) points_.push_back(p[v]);
      for (int k = 0; k < 3; ++k) {
        if (!(p[v][k] >= p[extreme[k]][k])) extreme[k] = v;
        if (!(p[v][k] <= p[extreme[3 + k]][k])) extreme[3 + k] = v;
      }
    }
    for (const size_t v : extreme)
      if (v < p.size() && finite(p[v])) points_.push_back(p[v]);
    if (coloring_ != Coloring::body) {
      const std::vector<float> own = values_of(int(b), moment);
      for (const float value : own)
        if (std::isfinite(value)) values.push_back(value);
    }
  }
  if (values.empty()) return;
  // all but the highest two hundredths: a corner that is pulled does not take the scale for itself
  const auto high = values.begin() + long(0.98 * double(values.size() - 1));
  std::nth_element(values.begin(), high, values.end());
  largest_ = std::max(largest_, double(*high));
}

double Stage::value_max() const { return round_up(largest_); }

bool Stage::is_ground(size_t collider) const {
  const ColliderSpec& c = simulation_->scene().colliders[collider];
  const std::optional<Vec3>& normal = colliders_[collider].flat_normal;
  return normal && c.position.is_constant() && c.rotation.is_constant() && c.active.is_constant() &&
         norm(value_at(c.rotation, 0)) == 0 && normal->y > 0.9999;
}

double Stage::floor_height() const {
  for (size_t c = 0; c < colliders_.size(); ++c)
    if (is_ground(c)) return value_at(simulation_->scene().colliders[c].position, 0).y;
  if (bounds_.empty()) return 0;
  const double size = norm(bounds_.high - bounds_.low);
  const bool stands = norm(simulation_->scene().gravity) > 0 && lowest_moved_ < 1e-3 * size;
  return bounds_.low.y - (stands ? 0 : 0.06 * size);
}

void Stage::look_from(const Vec3& direction, double aspect, double zoom) {
  std::vector<Vec3> points = points_;
  const double size = bounds_.empty() ? 1 : norm(bounds_.high - bounds_.low);
  // colliders as far as they are of the size of the bodies
  View view;
  for (size_t c = 0; c < colliders_.size(); ++c)
    for (const double time : times_) add_collider(c, time, view);
  for (const Surface& s : view.surfaces) {
    const Box box = box_of(s.points);
    if (s.two_sided || box.empty() || norm(box.high - box.low) > 2.5 * size) continue;
    points.insert(points.end(), s.points.begin(), s.points.end());
  }
  camera_ = frame_all(points, direction, aspect);
  camera_.eye = camera_.target + (camera_.eye - camera_.target) / std::max(zoom, 1e-3);
}

void Stage::add_body(ShownBody shape, const Moment& moment, View& out) const {
  if (!moment.removed.empty() && !moment.removed[shape.body].empty())
    shape.tear(*simulation_, moment.removed[shape.body]);
  shape.move(moment.positions);
  const BodySpec& spec = simulation_->scene().bodies[shape.body];
  const Color color = spec.color.empty() ? body_color(shape.body) : color_from_hex(spec.color);
  std::vector<float> values;
  if (coloring_ != Coloring::body) values = values_of(shape.body, moment);
  const Box box = box_of(shape.mesh.vertices);
  const double size = box.empty() ? 1 : norm(box.high - box.low);
  const bool sheet = !shape.embedding && simulation_->mesh(shape.body).tetrahedra.empty();
  if (!shape.mesh.triangles.empty()) {
    Surface s{shape.mesh.vertices, shape.mesh.triangles, color, values, sheet};
    // thinner than a pixel of a usual picture it is a sheet
    if (sheet && spec.thickness > 2e-3 * size) s = thickened(s, spec.thickness);
    out.surfaces.push_back(std::move(s));
  }
  if (!shape.mesh.edges.empty()) {
    double length = 0;
    for (const auto& e : shape.mesh.edges) length += norm(shape.mesh.vertices[e[1]] - shape.mesh.vertices[e[0]]);
    length /= double(shape.mesh.edges.size());
    const double guess = std::min(0.005 * size, 0.3 * length);
    const double radius = spec.thickness > 0 ? 0.5 * spec.thickness : std::max(guess, 1e-9);
    out.curves.push_back({shape.mesh.vertices, shape.mesh.edges, float(radius), color, values});
  }
}

void Stage::add_collider(size_t collider, double time, View& out) const {
  const ColliderSpec& spec = simulation_->scene().colliders[collider];
  if (!spec.active.at(time).value_or(false) || is_ground(collider)) return;
  const double size = bounds_.empty() ? 1 : norm(bounds_.high - bounds_.low);
  const ShownCollider& shown = colliders_[collider];
  Surface s = shown.flat_normal ? surface_of(*shown.shape, 0.6 * size) : shown.surface;
  Vec3 position = value_at(spec.position, time);
  const Mat3 turn = Turn(value_at(spec.rotation, time) * (std::numbers::pi / 180)).matrix();
  if (shown.flat_normal && !bounds_.empty()) {
    // that part of the plane which lies nearest to the bodies
    const Vec3 n = turn * *shown.flat_normal, to = (bounds_.low + bounds_.high) * 0.5 - position;
    position += to - n * dot(n, to);
  }
  for (Vec3& p : s.points) p = turn * p + position;
  out.surfaces.push_back(std::move(s));
}

View Stage::view(const Moment& moment) const {
  View out;
  out.camera = camera_, out.floor_height = floor_height();
  out.value_min = 0, out.value_max = value_max();
  for (const ShownBody& shape : shapes_) add_body(shape, moment, out);
  for (size_t c = 0; c < colliders_.size(); ++c)
    if (!hides(c, moment.time)) add_collider(c, moment.time, out);
  return out;
}

/// A wall that looks away from the camera stands in front of what it holds.
bool Stage::hides(size_t collider, double time) const {
  const std::optional<Vec3>& normal = colliders_[collider].flat_normal;
  if (!normal) return false;
  const ColliderSpec& spec = simulation_->scene().colliders[collider];
  const Mat3 turn = Turn(value_at(spec.rotation, time) * (std::numbers::pi / 180)).matrix();
  return dot(turn * *normal, camera_.eye - value_at(spec.position, time)) < 0;
}

void annotate(Image& image, const Stage& stage, std::string_view text) {
  const Color ink{0.03f, 0.035f, 0.045f};
  const int scale = std::clamp(image.height / 260, 1, 4), margin = 6 * scale;
  label(image, margin, margin, text, ink, scale);
  if (stage.coloring() == Coloring::body) return;
  const int width = std::min(image.width / 3, 130 * scale);
  legend(image, margin, image.height - margin - 31 * scale, width, stage.value_title(), 0, stage.value_max(), ink,
         scale);
}

}  // namespace verve::render
