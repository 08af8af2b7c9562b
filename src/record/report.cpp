#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "record/output_file.h"
#include "record/report_data.h"
#include "record/report_run.h"
#include "verve/version.h"
#include "verve_record_files.h"

namespace verve {

namespace {

using Run = ReportRun::Content;

template <class T, class F>
void append_list(std::string& out, const std::vector<T>& items, F&& append_item) {
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ',';
    append_item(items[i]);
  }
  out += ']';
}

template <size_t n>
void append_numbers(std::string& out, const std::array<double, n>& values) {
  out += '[';
  for (size_t i = 0; i < n; ++i) {
    if (i) out += ',';
    append_json_number(out, values[i]);
  }
  out += ']';
}

void append_life(std::string& out, const char* name, const std::vector<std::uint32_t>& life) {
  if (life.empty()) return;
  out += std::string(",\"") + name + "\":\"";
  append_base64(out, life.data(), life.size() * sizeof(std::uint32_t));
  out += '"';
}

void append_surface(std::string& out, const ReportSurface& surface) {
  out += ",\"surface\":{\"triangles\":\"";
  append_base64(out, surface.triangles.data(), surface.triangles.size() * sizeof(std::uint32_t));
  out += "\",\"carriers\":\"";
  append_base64(out, surface.carriers.data(), surface.carriers.size() * sizeof(std::uint32_t));
  out += "\",\"weights\":\"";
  append_base64(out, surface.weights.data(), surface.weights.size() * sizeof(float));
  out += '"';
  append_life(out, "life", surface.life);
  out += '}';
}

void append_meshes(std::string& out, const std::vector<ReportMesh>& meshes) {
  append_list(out, meshes, [&](const ReportMesh& mesh) {
    out += "{\"name\":" + json_string(mesh.name) + ",\"color\":" + json_string(mesh.color) +
           ",\"vertices\":" + std::to_string(mesh.vertices.size()) + ",\"triangles\":\"";
    append_base64(out, mesh.triangles.data(), mesh.triangles.size() * sizeof(std::uint32_t));
    out += "\",\"edges\":\"";
    append_base64(out, mesh.edges.data(), mesh.edges.size() * sizeof(std::uint32_t));
    out += "\",\"restBox\":";
    append_numbers(out, mesh.rest_box);
    out += ",\"rest\":\"";
    append_base64(out, mesh.rest.data(), mesh.rest.size() * sizeof(std::uint16_t));
    out += '"';
    append_life(out, "life", mesh.life);
    append_life(out, "edgeLife", mesh.edge_life);
    if (!mesh.surface.triangles.empty()) append_surface(out, mesh.surface);
    out += '}';
  });
}

bool same_meshes(const std::vector<ReportMesh>& a, const std::vector<ReportMesh>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReportMesh& p, const ReportMesh& q) {
    return p.name == q.name && p.color == q.color && p.vertices == q.vertices && p.triangles == q.triangles &&
           p.edges == q.edges && p.rest_box == q.rest_box && p.rest == q.rest && p.surface == q.surface &&
           p.life == q.life && p.edge_life == q.edge_life;
  });
}

void append_curves(std::string& out, const Run& run) {
  static constexpr std::pair<const char*, double ReportPoint::*> curves[] = {
      {"time", &ReportPoint::time},
      {"kinetic", &ReportPoint::kinetic},
      {"elastic", &ReportPoint::elastic},
      {"contact", &ReportPoint::contact},
      {"external", &ReportPoint::external},
      {"total", &ReportPoint::total},
      {"heat", &ReportPoint::heat},
      {"work", &ReportPoint::work},
      {"target", &ReportPoint::target},
      {"momentum", &ReportPoint::momentum},
      {"spin", &ReportPoint::spin},
      {"iterations", &ReportPoint::iterations},
      {"milliseconds", &ReportPoint::milliseconds}};
  const std::vector<const ReportPoint*> points = run.points.list();
  out += "{\"frame\":";
  append_list(out, points, [&](const ReportPoint* p) { out += std::to_string(p->frame); });
  for (const auto& curve : curves) {  // no bindings: clang before 16 cannot capture them
    const auto member = curve.second;
    out += std::string(",\"") + curve.first + "\":";
    append_list(out, points, [&](const ReportPoint* p) { append_json_number(out, p->*member); });
  }
  static constexpr std::pair<const char*, double FrameQuality::*> measured[] = {
      {"roughness", &FrameQuality::roughness},
      {"constraintError", &FrameQuality::constraint_error},
      {"distance", &FrameQuality::distance},
      {"slowDistance", &FrameQuality::slow_distance}};
  for (const auto& curve : measured) {
    const auto member = curve.second;
    if (std::none_of(points.begin(), points.end(),
                     [&](const ReportPoint* p) { return std::isfinite(p->quality.*member); }))
      continue;
    out += std::string(",\"") + curve.first + "\":";
    append_list(out, points, [&](const ReportPoint* p) { append_json_number(out, p->quality.*member); });
  }
  out += '}';
}

void append_kept(std::string& out, const char* name, const Kept& kept) {
  out += std::string("\"") + name + "\":{\"text\":" + json_string(kept.text) + ",\"span\":" + json_string(kept.span) +
         "},";
}

void append_summary(std::string& out, const RunSummary& summary) {
  out += '{';
  append_kept(out, "energy", summary.energy);
  append_kept(out, "momentum", summary.momentum);
  append_kept(out, "spin", summary.spin);
  out += "\"elasticOscillation\":";
  append_json_number(out, summary.elastic_oscillation);
  out += ",\"iterations\":";
  append_json_number(out, summary.mean_iterations);
  out += ",\"milliseconds\":";
  append_json_number(out, summary.mean_milliseconds);
  out += ",\"roughness\":";
  append_json_number(out, summary.quality.roughness);
  out += ",\"constraintError\":";
  append_json_number(out, summary.quality.constraint_error);
  out += ",\"distance\":";
  append_json_number(out, summary.quality.distance);
  out += ",\"slowDistance\":";
  append_json_number(out, summary.quality.slow_distance);
  out += ",\"lastDistance\":";
  append_json_number(out, summary.last_distance);
  out += '}';
}

/// `share` of the frames, first and last among them.
std::vector<const ReportFrame*> spread(const std::vector<const ReportFrame*>& frames, double share) {
  const size_t n = frames.size();
  const size_t m = std::min(n, std::max<size_t>(2, size_t(share * double(n))));
  if (m == n) return frames;
  std::vector<const ReportFrame*> out;
  for (size_t i = 0; i < m; ++i) out.push_back(frames[(i * (n - 1) + (m - 1) / 2) / (m - 1)]);
  return out;
}

void append_frames(std::string& out, const std::vector<const ReportFrame*>& frames) {
  append_list(out, frames, [&](const ReportFrame* f) {
    out += "{\"frame\":" + std::to_string(f->frame) + ",\"time\":";
    append_json_number(out, f->time);
    out += ",\"center\":";
    append_numbers(out, std::array{f->center.x, f->center.y, f->center.z});
    out += ",\"boxes\":";
    append_list(out, f->boxes, [&](const std::array<double, 6>& box) { append_numbers(out, box); });
    if (!f->shown.empty()) {
      out += ",\"shown\":";
      append_list(out, f->shown, [&](const std::array<double, 6>& box) { append_numbers(out, box); });
    }
    out += ",\"positions\":\"";
    append_base64(out, f->positions.data(), f->positions.size() * sizeof(std::uint16_t));
    out += "\"}";
  });
}

std::string report_json(const std::string& title, const std::string& description,
                        const std::vector<const ReportRun*>& runs, const std::vector<AbsentRun>& absent,
                        double byte_limit) {
  // Geometry, shared by runs of the same scene.
  std::vector<const std::vector<ReportMesh>*> geometries;
  std::vector<size_t> geometry_of;
  for (const ReportRun* run : runs) {
    size_t g = 0;
    while (g < geometries.size() && !same_meshes(*geometries[g], content_of(*run)->meshes)) ++g;
    if (g == geometries.size()) geometries.push_back(&content_of(*run)->meshes);
    geometry_of.push_back(g);
  }
  std::string geometry;
  append_list(geometry, geometries, [&](const std::vector<ReportMesh>* meshes) { append_meshes(geometry, *meshes); });

  std::vector<std::string> heads;
  double fixed_bytes = double(geometry.size()), frame_bytes = 0, smallest_bytes = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Run& run = *content_of(*runs[i]);
    std::string& head = heads.emplace_back();
    head = "{\"label\":" + json_string(run.label) + ",\"method\":" + json_string(run.scene.solver.method) +
           ",\"vertices\":" + std::to_string(run.vertices) + ",\"elements\":" + std::to_string(run.elements) +
           ",\"geometry\":" + std::to_string(geometry_of[i]) + ",\"step\":";
    append_json_number(head, run.scene.step);
    head += ",\"mass\":";
    append_json_number(head, run.history.frames.back().mass);
    head += ",\"summary\":";
    append_summary(head, runs[i]->summary(runs));
    if (run.reference) head += ",\"reference\":true";
    if (run.failed) head += ",\"failed\":true";
    head += ",\"notes\":";
    append_list(head, run.notes, [&](const std::pair<std::string, std::string>& note) {
      head += '[' + json_string(note.first) + ',' + json_string(note.second) + ']';
    });
    head += ",\"curves\":";
    append_curves(head, run);
    fixed_bytes += double(head.size());
    const std::vector<const ReportFrame*> frames = run.frames.list();
    const double per_frame = double(frames[0]->positions.size()) * report_bytes_per_vertex / 3 +
                             100.0 * double(frames[0]->boxes.size() + frames[0]->shown.size()) +
                             150;  // boxes and other numbers, generously
    frame_bytes += per_frame * double(frames.size());
    smallest_bytes += per_frame * double(std::min<size_t>(2, frames.size()));
  }

  // What the curves leave goes to the playback; meshes of which not even two frames fit are not shown.
  const bool playback = fixed_bytes + smallest_bytes <= byte_limit;
  const double share = std::min(1.0, (byte_limit - fixed_bytes) / std::max(1.0, frame_bytes));
  std::string out = "{\"version\":\"" VERVE_VERSION "\",\"title\":" + json_string(title) +
                    ",\"description\":" + json_string(description) + ",\"geometries\":";
  out += playback ? geometry : "null";
  out += ",\"absent\":";
  append_list(out, absent, [&](const AbsentRun& run) {
    out += "{\"label\":" + json_string(run.label) + ",\"reason\":" + json_string(run.reason) + '}';
  });
  out += ",\"runs\":[";
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i) out += ",\n";
    out += heads[i] + ",\"frames\":";
    if (playback)
      append_frames(out, spread(content_of(*runs[i])->frames.list(), share));
    else
      out += "[]";
    out += '}';
  }
  return out + "]}";
}

/// Replaces every {{name}} of the template; what is put in is not searched again.
std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string out;
  for (;;) {
    const size_t begin = text.find("{{");
    const size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) return out += text;
    out += text.substr(0, begin);
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    const auto value = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == name; });
    out += value != values.end() ? value->second : verve_record_files::find(name);
    text.remove_prefix(end + 2);
  }
}

}  // namespace

Expected<bool> write_report(const std::filesystem::path& file, const std::string& title, const std::string& description,
                            const std::vector<const ReportRun*>& runs, const std::vector<AbsentRun>& absent) {
  if (runs.empty()) throw std::invalid_argument("write_report: found no runs, expected at least one");
  for (const ReportRun* run : runs)
    if (!run || !content_of(*run)) throw std::invalid_argument("write_report: found a null or moved-from run");

  double page_bytes = 0;
  for (const auto& asset : verve_record_files::all()) page_bytes += double(asset.text.size());
  const std::string data = report_json(title, description, runs, absent, report_byte_limit - page_bytes);
  const std::string page = fill(verve_record_files::find("report.html"), {{"title", html_text(title)}, {"data", data}});
  if (const std::string error = write_whole_file(file, page); !error.empty()) {
    Diagnostics problems;
    problems.error(file.string(), "cannot be written: " + error);
    return problems;
  }
  return true;
}

}  // namespace verve
