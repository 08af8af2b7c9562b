// Medit .mesh in ASCII: words in any layout, sections in any order, indices from 1.
// Frey, "MEDIT: an interactive mesh visualization software", INRIA RT-0253, 2001.
#include "base/text.h"
#include "geometry/mesh_formats.h"

namespace verve {

namespace {

struct Section {
  const char* name;
  int words;  // per row, reference included
};
// read past, with a note: nothing in a Mesh stands for them
constexpr Section skipped[] = {
    {"Quadrilaterals", 5},
    {"Hexahedra", 9},
    {"Hexaedra", 9},
    {"Prisms", 7},
    {"Pentahedra", 7},
    {"Pyramids", 6},
    {"Corners", 1},
    {"RequiredVertices", 1},
    {"Ridges", 1},
    {"RequiredEdges", 1},
    {"RequiredTriangles", 1},
    {"RequiredQuadrilaterals", 1},
    {"Normals", 3},
    {"NormalAtVertices", 2},
    {"NormalAtTriangleVertices", 3},
    {"NormalAtQuadrilateralVertices", 3},
    {"Tangents", 3},
    {"TangentAtVertices", 2},
    {"TangentAtEdges", 3},
    {"SubDomainFromGeom", 3},
    {"SubDomainFromMesh", 4},
};

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return out;
}

class Reader {
 public:
  explicit Reader(WordReader& words) : words_(words) {}

  Mesh read() {
    header();
    while (!words_.at_end() && !stop_) {
      const std::string name(words_.take());
      const std::string key = lower(name);
      if (key == "end") break;
      section(name, key);
    }
    if (!stop_ && vertices_line_ == 0) words_.error("found no section Vertices");
    check_range(mesh_.tetrahedra, tetrahedra_line_, "Tetrahedra");
    check_range(mesh_.triangles, triangles_line_, "Triangles");
    check_range(mesh_.edges, edges_line_, "Edges");
    return std::move(mesh_);
  }

 private:
  void header() {
    if (lower(words_.peek()) != "meshversionformatted") {
      words_.error("found " + quote(words_.peek()) + ", expected MeshVersionFormatted");
      stop_ = true;
      return;
    }
    words_.take();
    long long version = 0;
    if (words_.integer(version, "a version number") && (version < 1 || version > 4))
      words_.error("found version " + std::to_string(version) + ", expected 1 to 4");
  }

  void section(const std::string& name, const std::string& key) {
    const int line = words_.line();
    if (key == "dimension") return dimension();
    if (key == "vertices") {
      once(vertices_line_, line, name);
      return rows<4>(name, [&](const std::array<double, 4>& row) {
        mesh_.vertices.push_back({row[0], row[1], row[2]});
      });
    }
    if (key == "tetrahedra" || key == "tetraedra") {
      once(tetrahedra_line_, line, name);
      return elements<4>(name, mesh_.tetrahedra);
    }
    if (key == "triangles") {
      once(triangles_line_, line, name);
      return elements<3>(name, mesh_.triangles);
    }
    if (key == "edges") {
      once(edges_line_, line, name);
      return elements<2>(name, mesh_.edges);
    }
    if (key == "boundingbox" || key == "angleofcornerbound") {
      double unused = 0;
      for (int i = 0; i < (key == "boundingbox" ? 6 : 1); ++i) words_.number(unused, "number");
      return;
    }
    for (const Section& s : skipped)
      if (key == lower(s.name)) return skip(s, line);
    unknown(name);
  }

  void dimension() {
    long long value = 0;
    if (words_.integer(value, "a dimension") && value != 3) {
      words_.error("found Dimension " + std::to_string(value) + ", expected 3");
      stop_ = true;  // every row would be misread
    }
  }

  void once(int& seen, int line, const std::string& name) {
    if (seen > 0) words_.error("found a second section " + name + ", the first is in line " + std::to_string(seen));
    seen = line;
  }

  static bool is_word(std::string_view word) {
    return !word.empty() && ((word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z'));
  }

  /// True when a row can start here; otherwise the section is shorter than it says.
  bool row_starts(const std::string& name, std::size_t row, std::size_t count) {
    const std::string_view next = words_.peek();
    if (!next.empty() && !known(lower(next))) return true;
    words_.error((next.empty() ? "found the end of the file" : "found " + quote(next)) + " after " +
                 std::to_string(row) + " of " + std::to_string(count) + " rows, expected another row of " + name);
    return false;
  }

  template <int N, class Add>
  void rows(const std::string& name, const Add& add) {
    std::size_t count = 0;
    if (!words_.count(count, name)) return void(stop_ = true);
    for (std::size_t i = 0; i < count; ++i) {
      if (!row_starts(name, i, count)) return;
      std::array<double, N> row{};
      bool good = true;
      for (double& value : row) {
        if (words_.at_end() || known(lower(words_.peek()))) {
          words_.error((words_.at_end() ? "found the end of the file" : "found " + quote(words_.peek())) +
                       " inside row " + std::to_string(i + 1) + " of " + name + ", expected " + std::to_string(N) +
                       " numbers in a row");
          return;
        }
        good = words_.number(value, "number") && good;
      }
      if (!good) row.fill(1);  // said already, and 1 is good as a coordinate and as a vertex
      add(row);
    }
    surplus(name, count);
  }

  template <std::size_t N>
  void elements(const std::string& name, std::vector<std::array<int, N>>& out) {
    rows<N + 1>(name, [&](const std::array<double, N + 1>& row) {
      std::array<int, N> element;
      for (std::size_t i = 0; i < N; ++i) {
        if (!(row[i] >= 1 && row[i] <= 2147483647.0 && row[i] == double((long long)(row[i])))) {
          words_.error("found a vertex number " + format_number(row[i]) + " in " + name +
                       ", expected a whole number >= 1");
          element.fill(0);
          break;
        }
        element[i] = int(row[i]) - 1;
      }
      out.push_back(element);
    });
  }

  static bool known(const std::string& key) {
    for (const char* k : {"vertices", "tetrahedra", "tetraedra", "triangles", "edges", "end", "dimension",
                          "boundingbox", "angleofcornerbound"})
      if (key == k) return true;
    for (const Section& s : skipped)
      if (key == lower(s.name)) return true;
    return false;
  }

  void surplus(const std::string& name, std::size_t count) {
    if (words_.at_end() || is_word(words_.peek())) return;
    words_.error("found " + quote(words_.peek()) + " after the " + std::to_string(count) + " rows of " + name +
                 ", expected a section name: the count is too small or the rows are too long");
    while (!words_.at_end() && !is_word(words_.peek())) words_.take();
  }

  void skip(const Section& section, int line) {
    std::size_t count = 0;
    if (!words_.count(count, section.name)) return void(stop_ = true);
    for (std::size_t i = 0; i < count; ++i) {
      if (!row_starts(section.name, i, count)) return;
      double unused = 0;
      for (int k = 0; k < section.words; ++k)
        if (!words_.number(unused, "number")) return;
    }
    surplus(section.name, count);
    if (count > 0) words_.note_at(line, std::to_string(count) + " " + section.name + " are not used");
  }

  void unknown(const std::string& name) {
    std::vector<std::string> choices = {"Dimension", "Vertices", "Tetrahedra", "Triangles", "Edges", "End"};
    for (const Section& s : skipped) choices.push_back(s.name);
    const std::string near = nearest(name, choices);
    words_.error("found " + quote(name) + ", expected a section name" +
                 (near.empty() ? "" : " (nearest: " + near + ")"));
    while (!words_.at_end() && !is_word(words_.peek())) words_.take();
  }

  template <class Elements>
  void check_range(const Elements& elements, int line, const char* name) {
    const int n = int(mesh_.vertices.size());
    if (words_.failed()) return;
    for (std::size_t i = 0; i < elements.size(); ++i)
      for (const int v : elements[i])
        if (v >= n) {
          words_.error_at(line, std::string(name) + " row " + std::to_string(i + 1) + ": found vertex number " +
                                    std::to_string(v + 1) + ", expected 1 to " + std::to_string(n));
          break;
        }
  }

  WordReader& words_;
  Mesh mesh_;
  int vertices_line_ = 0, tetrahedra_line_ = 0, triangles_line_ = 0, edges_line_ = 0;
  bool stop_ = false;
};

Mesh read(const MeshSource& source, Diagnostics& out) {
  WordReader words(source.bytes, source.name, out);
  return Reader(words).read();
}

bool recognised(std::string_view bytes) {
  constexpr std::string_view mark = "MeshVersionFormatted";
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && bytes.substr(begin, mark.size()) == mark;
}

}  // namespace

MeshFormat medit_format() { return {{"medit", "Medit, text", {".mesh"}}, recognised, read}; }

}  // namespace verve
