// Wavefront .obj: v, f (any polygon, fanned into triangles) and l lines; everything else describes looks.
#include "geometry/mesh_text.h"

namespace verve {

namespace {

constexpr const char* silent[] = {"vt",     "vn", "vp",     "g",      "o",  "s",  "usemtl",
                                  "mtllib", "p",  "usemap", "maplib", "mg", "lod"};

/// One logical line as words; a backslash joins lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  bool next(std::vector<std::string_view>& words) {
    words.clear();
    if (position_ >= text_.size()) return false;
    line = line_;
    bool more = true;
    while (more && position_ < text_.size()) {
      std::size_t end = text_.find('\n', position_);
      if (end == std::string_view::npos) end = text_.size();
      std::string_view row = text_.substr(position_, end - position_);
      position_ = end + 1;
      ++line_;
      row = row.substr(0, row.find('#'));
      while (!row.empty() && (row.back() == '\r' || row.back() == ' ' || row.back() == '\t')) row.remove_suffix(1);
      more = !row.empty() && row.back() == '\\';
      if (more) row.remove_suffix(1);
      split(row, words);
    }
    return true;
  }
  int line = 0;

 private:
  static void split(std::string_view row, std::vector<std::string_view>& words) {
    constexpr std::string_view spaces = " \t\r\f\v";
    for (std::size_t i = row.find_first_not_of(spaces); i != std::string_view::npos;) {
      const std::size_t j = std::min(row.find_first_of(spaces, i), row.size());
      words.push_back(row.substr(i, j - i));
      i = row.find_first_not_of(spaces, j);
    }
  }
  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
};

struct Reference {
  int line;
  int vertex;  // counted from 0
};

}  // namespace

Mesh read_obj(const std::filesystem::path& file, Diagnostics& out) {
  const auto text = load_text(file, out);
  return text ? parse_obj(*text, file.string(), out) : Mesh();
}

Mesh parse_obj(const std::string& text, const std::string& name, Diagnostics& out) {
  Mesh mesh;
  WordReader report("", name, out);           // for its counted, placed errors
  std::vector<Reference> references;          // checked at the end: a face may name vertices that follow it
  std::vector<int> polygon;
  std::vector<std::string> unknown;

  const auto corners = [&](const std::vector<std::string_view>& words, int line) {
    polygon.clear();
    for (std::size_t i = 1; i < words.size(); ++i) {
      long long index = 0;
      const std::string_view number = words[i].substr(0, words[i].find('/'));
      if (!parse_integer(number, index) || index == 0) {
        report.error_at(line, "found " + quote(words[i]) + ", expected a vertex number like 3, 3/1/2, 3//2 or -1");
        return false;
      }
      const long long n = (long long)(mesh.vertices.size());
      if (index < -n || index > 2147483647) {
        report.error_at(line, "found vertex number " + std::to_string(index) +
                                  ", expected 1 to the number of vertices, or -" + std::to_string(n) +
                                  " to -1 counted back from here");
        return false;
      }
      polygon.push_back(int(index > 0 ? index - 1 : n + index));
    }
    return true;
  };

  Lines lines(text);
  std::vector<std::string_view> words;
  while (lines.next(words)) {
    if (words.empty()) continue;
    const int line = lines.line;
    const std::string_view key = words[0];
    if (key == "v") {
      Vec3 p;
      if (words.size() < 4) {
        report.error_at(line, "found " + std::to_string(words.size() - 1) + " coordinates, expected 3");
      } else {
        for (int k = 0; k < 3; ++k)
          if (!parse_number(words[k + 1], p[k]) || !std::isfinite(p[k]))
            report.error_at(line, "found " + quote(words[k + 1]) + ", expected a finite coordinate");
      }
      mesh.vertices.push_back(p);  // also when broken, so that later numbers still match
    } else if (key == "f" || key == "l") {
      if (!corners(words, line)) continue;
      const std::size_t least = key == "f" ? 3 : 2;
      if (polygon.size() < least) {
        report.error_at(line, "found " + std::to_string(polygon.size()) + " vertices in " +
                                  (key == "f" ? "a face" : "a line") + ", expected at least " + std::to_string(least));
        continue;
      }
      for (const int v : polygon) references.push_back({line, v});
      if (key == "f")
        for (std::size_t i = 2; i < polygon.size(); ++i)
          mesh.triangles.push_back({polygon[0], polygon[i - 1], polygon[i]});
      else
        for (std::size_t i = 1; i < polygon.size(); ++i) mesh.edges.push_back({polygon[i - 1], polygon[i]});
    } else {
      bool quiet = false;
      for (const char* s : silent) quiet = quiet || key == s;
      for (const std::string& u : unknown) quiet = quiet || key == u;
      if (!quiet && unknown.size() < 20) {
        unknown.emplace_back(key);
        out.warning(report.place(line), "found " + quote(key) + ", expected v, f or l: lines like this are not used");
      }
    }
  }
  const int n = int(mesh.vertices.size());
  for (const Reference& r : references)
    if (r.vertex >= n)
      report.error_at(r.line,
                      "found vertex number " + std::to_string(r.vertex + 1) + ", expected 1 to " + std::to_string(n));
  return mesh;
}

}  // namespace verve
