#include "record/report_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "verve/mesh.h"

namespace verve {

namespace {

// Told apart by most colour-blind readers, on light and dark ground.
constexpr const char* body_colors[] = {"#e08a5b", "#4c9fb5", "#b7a24a", "#9b7fc4", "#6fae72", "#d1728f", "#7f93a8"};

/// Lower corner and extent of `count` points; coordinates that are not finite do not count.
template <class At>
std::array<double, 6> box_of(size_t count, const At& at) {
  std::array<double, 6> box;
  for (int axis = 0; axis < 3; ++axis) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; ++i)
      if (const double x = at(i)[axis]; std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
    if (!(low <= high)) low = high = 0;
    box[axis] = low;
    box[axis + 3] = std::isfinite(high - low) ? high - low : 0;
  }
  return box;
}

/// Positions of the chosen vertices as fractions of the box of those that are seen; non-finite coordinates go to the
/// middle of the box, what is outside to its border.
void quantize(const std::vector<Vec3>& positions, const std::vector<int>& chosen, const std::vector<int>& seen,
              std::array<double, 6>& box, std::vector<std::uint16_t>& out) {
  box = box_of(seen.size(), [&](size_t i) -> const Vec3& { return positions[seen[i]]; });
  for (const int v : chosen) {
    for (int axis = 0; axis < 3; ++axis) {
      const double s = box[axis + 3] > 0 ? (positions[v][axis] - box[axis]) / box[axis + 3] : 0;
      out.push_back(std::uint16_t(std::lround(65535 * (std::isfinite(s) ? std::clamp(s, 0.0, 1.0) : 0.5))));
    }
  }
}

constexpr std::uint32_t for_ever = 0xffffffff;

/// Elements of n vertices each, over `frames`: those that are not among `now` are gone from this frame on, and those
/// that are new appear in it.
template <class Now>
void update_life(std::vector<std::uint32_t>& elements, std::vector<std::uint32_t>& life, const Now& now,
                 std::uint32_t frame) {
  constexpr size_t n = std::tuple_size_v<typename Now::value_type>;
  using Element = std::array<std::uint32_t, n>;
  if (life.empty())
    for (size_t i = 0; i < elements.size() / n; ++i) life.insert(life.end(), {0u, for_ever});
  std::map<Element, size_t> alive;
  for (size_t i = 0; i < elements.size() / n; ++i) {
    Element e;
    std::copy_n(elements.begin() + long(i * n), n, e.begin());
    if (life[2 * i + 1] == for_ever) alive[e] = i;
  }
  for (const auto& element : now) {
    Element e;
    std::copy(element.begin(), element.end(), e.begin());
    if (alive.erase(e)) continue;
    elements.insert(elements.end(), e.begin(), e.end());
    life.insert(life.end(), {frame, for_ever});
  }
  for (const auto& [e, i] : alive) life[2 * i + 1] = frame;
}

bool tears(const BodySpec& body) {
  return std::any_of(body.potentials.begin(), body.potentials.end(), [](const auto& p) { return !p.tear.empty(); });
}

/// `whole`: all vertices, in their order, so that any of them may come to light.
ReportMesh visible_part(const Mesh& mesh, int first_vertex, const Mesh* surface_mesh, const Embedding* embedding,
                        bool whole) {
  ReportMesh out;
  std::vector<int> number(mesh.vertices.size(), -1);
  std::vector<int> local;
  const auto use = [&](int v) {
    if (number[v] < 0) number[v] = int(local.size()), local.push_back(v);
    return std::uint32_t(number[v]);
  };
  for (size_t v = 0; whole && v < mesh.vertices.size(); ++v) use(int(v));
  for (const auto& t : surface(mesh))
    for (const int v : t) out.triangles.push_back(use(v));
  for (const auto& e : mesh.edges)
    for (const int v : e) out.edges.push_back(use(v));
  if (surface_mesh) {
    for (const auto& t : surface_mesh->triangles)
      out.surface.triangles.insert(out.surface.triangles.end(), t.begin(), t.end());
    for (size_t i = 0; i < embedding->vertices.size(); ++i)
      for (int k = 0; k < 4; ++k) {
        out.surface.carriers.push_back(use(embedding->vertices[i][k]));
        out.surface.weights.push_back(float(embedding->weights[i][k]));
      }
  }
  quantize(mesh.vertices, local, local, out.rest_box, out.rest);
  for (const int v : local) out.vertices.push_back(first_vertex + v);
  return out;
}

std::vector<ReportMesh> visible_parts(const Simulation& simulation) {
  std::vector<ReportMesh> out;
  const auto& specs = simulation.scene().bodies;
  for (int body = 0; body < simulation.bodies(); ++body) {
    out.push_back(visible_part(simulation.mesh(body), simulation.first_vertex(body), simulation.embedded_mesh(body),
                               simulation.embedding(body), size_t(body) < specs.size() && tears(specs[body])));
    out.back().name = simulation.body_name(body);
    if (size_t(body) < specs.size()) out.back().color = specs[body].color;
    if (out.back().color.empty()) out.back().color = body_colors[body % std::size(body_colors)];
  }
  return out;
}

size_t frames_that_fit(const std::vector<ReportMesh>& meshes, int max_frames) {
  double vertices = 0;
  for (const ReportMesh& mesh : meshes) vertices += double(mesh.vertices.size());
  const double fit = report_byte_limit / std::max(1.0, vertices * report_bytes_per_vertex);
  return size_t(std::min<double>(std::max(1, max_frames) + 1.0, std::max(2.0, fit)));  // frame 0 comes on top
}

constexpr size_t max_points = 6000;

std::string span_text(const Span& span, const ReportRun::Content& run) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "from %.3g s to %.3g s", run.start + span.from * run.scene.step,
                run.start + span.to * run.scene.step);
  return span.empty() ? "" : buffer;
}

/// Over the frames from `first` on in which it was measured; not a number where it never was.
double mean_of(const std::vector<FrameQuality>& frames, size_t first, double FrameQuality::*what) {
  double sum = 0;
  int count = 0;
  for (size_t i = first; i < frames.size(); ++i)
    if (!std::isnan(frames[i].*what)) sum += frames[i].*what, ++count;
  return sum / count;
}

}  // namespace

ReportRun::Content::Content(std::string label_, const Simulation& simulation, int total_frames, int max_frames,
                      const FrameQuality& first)
    : label(std::move(label_)),
      vertices(simulation.vertices()),
      elements(simulation.elements()),
      meshes(visible_parts(simulation)),
      frames(frames_that_fit(meshes, max_frames), size_t(std::max(0, total_frames)) + 1),
      points(max_points, size_t(std::max(0, total_frames)) + 1),
      scene(simulation.scene()),
      start(simulation.time()) {
  history.radius = root_mean_square_radius(simulation.positions());
  add(simulation, {}, first);
}

void ReportRun::Content::follow_tears(const Simulation& simulation) {
  torn.resize(meshes.size()), seen.resize(meshes.size());
  for (int b = 0; b < int(meshes.size()); ++b) {
    const int now = simulation.measure(b).torn;
    if (now == torn[b]) continue;
    torn[b] = now;
    const auto frame = std::uint32_t(simulation.frame());
    const RemovedElements removed = simulation.removed_elements(b);
    const Mesh left = without(simulation.mesh(b), removed);
    ReportMesh& mesh = meshes[b];
    update_life(mesh.triangles, mesh.life, surface(left), frame);
    if (!mesh.edges.empty()) update_life(mesh.edges, mesh.edge_life, left.edges, frame);
    if (const Mesh* carried = simulation.embedded_mesh(b))
      update_life(mesh.surface.triangles, mesh.surface.life,
                  without(*carried, *simulation.embedding(b), simulation.mesh(b), removed).triangles, frame);
    // vertices on their own may fly far, and are not drawn
    std::vector<int> used;
    for (const auto& t : surface(left)) used.insert(used.end(), t.begin(), t.end());
    for (const auto& e : left.edges) used.insert(used.end(), e.begin(), e.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (int& v : used) v += simulation.first_vertex(b);
    if (!simulation.embedded_mesh(b)) seen[b] = std::move(used);
  }
}

void ReportRun::Content::add(const Simulation& simulation, const StepReport& report, const FrameQuality& measured) {
  follow_tears(simulation);
  const Measures m = simulation.measure();
  const int frame = simulation.frame();
  const double time = simulation.time();

  ReportPoint point{frame,
                    time,
                    m.kinetic,
                    m.elastic,
                    m.contact,
                    m.external,
                    m.total,
                    m.target_total,
                    m.heat,
                    m.work,
                    norm(m.momentum),
                    norm(m.spin),
                    double(report.iterations),
                    report.milliseconds,
                    measured};
  if (!history.frames.empty()) sum_iterations += report.iterations, sum_milliseconds += report.milliseconds;
  history.frames.push_back(m);
  quality.push_back(measured);
  points.add(point);

  ReportFrame shot{frame, time, m.center, {}, {}, {}};
  const std::vector<Vec3> x = simulation.positions();
  for (size_t b = 0; b < meshes.size(); ++b)
    quantize(x, meshes[b].vertices, seen[b].empty() ? meshes[b].vertices : seen[b], shot.boxes.emplace_back(),
             shot.positions);
  // what is seen of a body may be far smaller than the cage that carries it: the page's camera and ground go by this
  shot.shown = shot.boxes;
  bool carried = false;
  for (size_t b = 0; b < meshes.size(); ++b) {
    if (meshes[b].surface.triangles.empty()) continue;
    carried = true;
    const std::vector<Vec3> y = simulation.embedded_positions(int(b));
    shot.shown[b] = box_of(y.size(), [&](size_t i) -> const Vec3& { return y[i]; });
  }
  if (!carried) shot.shown.clear();
  frames.add(std::move(shot));
}

ReportRun::ReportRun(std::string label, const Simulation& simulation, int total_frames, int max_frames,
                     const FrameQuality& quality)
    : content_(std::make_unique<Content>(std::move(label), simulation, total_frames, max_frames, quality)) {}
ReportRun::ReportRun(ReportRun&&) noexcept = default;
ReportRun& ReportRun::operator=(ReportRun&&) noexcept = default;
ReportRun::~ReportRun() = default;
const ReportRun::Content* content_of(const ReportRun& run) { return run.content_.get(); }

void ReportRun::note(std::string column, std::string text) {
  content_->notes.emplace_back(std::move(column), std::move(text));
}
void ReportRun::mark_as_reference() { content_->reference = true; }
void ReportRun::mark_as_failed() { content_->failed = true; }

void ReportRun::frame(const Simulation& simulation, const StepReport& report, const FrameQuality& quality) {
  if (simulation.vertices() != content_->vertices)
    throw std::invalid_argument("ReportRun::frame: found " + std::to_string(simulation.vertices()) +
                                " vertices, expected " + std::to_string(content_->vertices) +
                                " (those of the simulation it was made with)");
  content_->add(simulation, report, quality);
}

RunSummary ReportRun::summary(const std::vector<const ReportRun*>& beside) const {
  const Content& r = *content_;
  const Spans spans = r.spans();
  double scale = energy_scale(r.history, {0, r.steps(), ""}), span_scale = energy_scale(r.history, spans.energy);
  for (const ReportRun* other : beside) {
    const Content& o = *other->content_;
    if (o.failed) continue;
    scale = std::max(scale, energy_scale(o.history, {0, o.steps(), ""}));
    span_scale = std::max(span_scale, energy_scale(o.history, o.spans().energy));
  }
  // Where constant forces act the zero of `total` is arbitrary, and no share of it means anything.
  const bool true_zero = r.scene.gravity == Vec3{} && r.scene.forces.empty();
  const double unit = true_zero ? r.history.frames[spans.energy.from].total : span_scale;

  RunSummary out;
  out.energy = kept_energy(r.history, spans.energy, unit), out.energy.span = span_text(spans.energy, r);
  out.momentum = kept_momentum(r.history, spans.momentum), out.momentum.span = span_text(spans.momentum, r);
  out.spin = kept_spin(r.history, spans.spin), out.spin.span = span_text(spans.spin, r);
  const double oscillation = elastic_oscillation(r.history);
  out.elastic_oscillation = scale > 0 || !std::isfinite(oscillation) ? oscillation / scale : 0;
  if (r.steps() > 0) {
    out.mean_iterations = r.sum_iterations / r.steps();
    out.mean_milliseconds = r.sum_milliseconds / r.steps();
  }
  const size_t n = r.quality.size(), late = last_third(n);
  out.quality.roughness = mean_of(r.quality, late, &FrameQuality::roughness);
  out.quality.constraint_error = mean_of(r.quality, 0, &FrameQuality::constraint_error);
  out.quality.distance = mean_of(r.quality, 0, &FrameQuality::distance);
  out.quality.slow_distance = mean_of(r.quality, 0, &FrameQuality::slow_distance);
  for (const FrameQuality& q : r.quality)
    if (!std::isnan(q.distance)) out.last_distance = q.distance;
  return out;
}

}  // namespace verve
