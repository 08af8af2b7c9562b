// Wavefront .obj: v, f (any polygon) and l lines, by objects (o) and groups (g); vt, vn, usemtl and colours after the
// coordinates of vertices are kept for the way out, with colours from mtllib.
#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

constexpr const char* silent[] = {"vp", "s", "p", "usemap", "maplib", "mg", "lod"};

/// A line that names a vertex or texture coordinate: checked at the end, for it may name those that follow it.
struct Reference {
  int line, number;  // counted from 0
};

/// Names may have spaces in them.
std::string rest_of_line(const std::vector<std::string_view>& words) {
  return std::string(words[1].data(), words.back().data() + words.back().size());
}

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out) : source_(source), out_(out), report_("", source.name, out) {}

  Mesh read() {
    LineReader lines(source_.bytes, true);
    while (lines.next(words_))
      if (!words_.empty()) line_ = lines.line(), statement();
    check(vertices_, int(mesh_.vertices.size()), "vertex");
    check(uvs_, polygons_.uvs(), "texture coordinate");
    if (!report_.failed()) polygons_.finish(mesh_);
    return std::move(mesh_);
  }

 private:
  void statement() {
    const std::string_view key = words_[0];
    if (key == "v")
      vertex();
    else if (key == "f" || key == "l")
      element(key == "f");
    else if (key == "vt")
      texture_coordinate();
    else if (key == "vn")
      normal();
    else if (key == "o")
      in_object_ = source_.objects.take(words_.size() > 1 ? rest_of_line(words_) : ""), in_group_ = false;
    else if (key == "g")
      in_group_ = source_.objects.take(words_.size() > 1 ? rest_of_line(words_) : "");
    else if (key == "usemtl")
      material_ = words_.size() > 1 ? polygons_.material(rest_of_line(words_)) : -1;
    else if (key == "mtllib")
      for (std::size_t i = 1; i < words_.size(); ++i) library(std::string(words_[i]));
    else
      other(key);
  }

  void vertex() {
    Vec3 p;
    if (words_.size() < 4) {
      report_.error_at(line_, "found " + std::to_string(words_.size() - 1) + " coordinates, expected 3");
    } else {
      for (int k = 0; k < 3; ++k)
        if (!parse_number(words_[k + 1], p[k]) || !std::isfinite(p[k]))
          report_.error_at(line_, "found " + quote(words_[k + 1]) + ", expected a finite coordinate");
    }
    mesh_.vertices.push_back(p);  // also when broken, so that later numbers still match
    if (words_.size() < 7) return;
    std::array<double, 4> color{0, 0, 0, 1};
    for (int k = 0; k < 3; ++k)
      if (!parse_number(words_[k + 4], color[k]) || !(color[k] >= 0 && color[k] <= 1)) return;
    polygons_.vertex_color(color);
  }

  void normal() {
    Vec3 n;
    for (std::size_t k = 0; k < 3 && k + 1 < words_.size(); ++k)
      if (!parse_number(words_[k + 1], n[k])) n[k] = 0;
    normals_.push_back(polygons_.normal(n));
  }

  void texture_coordinate() {
    double uv[2] = {0, 0};
    for (std::size_t k = 0; k < 2 && k + 1 < words_.size(); ++k)
      if (!parse_number(words_[k + 1], uv[k]) || !std::isfinite(uv[k]))
        report_.error_at(line_, "found " + quote(words_[k + 1]) + ", expected a finite texture coordinate");
    polygons_.uv(uv[0], uv[1]);
  }

  /// A number from 1, or back from the end, as one from 0.
  bool index(std::string_view word, int count, const char* what, int& out) {
    long long number = 0;
    if (!parse_integer(word, number) || number == 0) {
      report_.error_at(line_, "found " + quote(word) + ", expected a " + what + " number like 3, 3/1/2, 3//2 or -1");
      return false;
    }
    if (number < -count || number > 2147483647) {
      report_.error_at(line_, "found " + std::string(what) + " number " + std::to_string(number) +
                                  ", expected 1 to the number of them, or -" + std::to_string(count) +
                                  " to -1 counted back from here");
      return false;
    }
    out = int(number > 0 ? number - 1 : count + number);
    return true;
  }

  void element(bool face) {
    const std::size_t count = words_.size() - 1, least = face ? 3 : 2;
    if (count < least || count > PolygonReader::most_corners)
      return report_.error_at(line_, "found " + std::to_string(count) + " vertices in " +
                                         (face ? "a face" : "a line") + ", expected " +
                                         (count < least ? "at least " + std::to_string(least)
                                                        : "at most " + std::to_string(PolygonReader::most_corners)));
    if (!in_object_ && !in_group_) return;
    int before = -1;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      const std::size_t slash = word.find('/');
      int v = 0, uv = -1, n = -1;
      if (!index(word.substr(0, slash), int(mesh_.vertices.size()), "vertex", v)) return polygons_.drop_corners();
      vertices_.push_back({line_, v});
      if (slash != std::string_view::npos) {
        const std::size_t other = word.find('/', slash + 1);
        const std::string_view second = word.substr(slash + 1, other - slash - 1);
        if (!second.empty()) {
          if (!index(second, polygons_.uvs(), "texture coordinate", uv)) return polygons_.drop_corners();
          uvs_.push_back({line_, uv});
        }
        long long number = 0;  // a normal that is not there is none: nothing depends on it
        if (other != std::string_view::npos && parse_integer(word.substr(other + 1), number)) {
          number += number < 0 ? (long long)(normals_.size()) : -1;
          if (number >= 0 && number < (long long)(normals_.size())) n = normals_[std::size_t(number)];
        }
      }
      if (face)
        polygons_.corner(v, uv, n);
      else if (before >= 0)
        mesh_.edges.push_back({before, v});
      before = v;
    }
    if (face) polygons_.end_polygon(material_);
  }

  void other(std::string_view key) {
    for (const char* s : silent)
      if (key == s) return;
    if (unknown_.size() >= 20 || std::find(unknown_.begin(), unknown_.end(), key) != unknown_.end()) return;
    unknown_.emplace_back(key);
    out_.warning(report_.place(line_), "found " + quote(key) + ", expected v, f or l: lines like this are not used");
  }

  /// Colours of materials, where the library is there: nothing depends on it.
  void library(const std::string& name) {
    std::error_code ignored;
    const std::filesystem::path file = source_.file.parent_path() / name;
    if (source_.file.empty() || !std::filesystem::is_regular_file(file, ignored)) return;
    Diagnostics unused;
    const auto text = load_text(file, unused);
    if (!text) return;
    LineReader lines(*text);
    std::vector<std::string_view> words;
    int material = -1;
    while (lines.next_filled(words)) {
      if (words[0] == "newmtl" && words.size() > 1) material = polygons_.material(rest_of_line(words));
      if (material < 0 || (words[0] != "Kd" && words[0] != "d")) continue;
      std::array<double, 4> color = polygons_.materials()[material].color;
      const std::size_t first = words[0] == "d" ? 3 : 0, count = words[0] == "d" ? 1 : 3;
      for (std::size_t k = 0; k < count && k + 1 < words.size(); ++k) {
        double value = 0;
        if (parse_number(words[k + 1], value) && value >= 0 && value <= 1) color[first + k] = value;
      }
      polygons_.color(material, color);
    }
  }

  void check(const std::vector<Reference>& references, int count, const char* what) {
    for (const Reference& r : references)
      if (r.number >= count)
        report_.error_at(r.line, "found " + std::string(what) + " number " + std::to_string(r.number + 1) +
                                     ", expected 1 to " + std::to_string(count));
  }

  const MeshSource& source_;
  Diagnostics& out_;
  WordReader report_;  // for its counted, placed errors
  Mesh mesh_;
  PolygonReader polygons_;
  std::vector<std::string_view> words_;
  std::vector<Reference> vertices_, uvs_;
  std::vector<std::string> unknown_;
  std::vector<int> normals_;  // by PolygonReader's numbers
  bool in_object_ = source_.objects.all(), in_group_ = false;
  int line_ = 0, material_ = -1;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }

}  // namespace

MeshFormat obj_format() { return {{"obj", "Wavefront, text", {".obj"}}, nullptr, read}; }

}  // namespace verve
