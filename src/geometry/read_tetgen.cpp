// TetGen .node and .ele: numbered rows, from 0 or 1, with optional attributes and markers.
// Si, "TetGen, a Delaunay-based quality tetrahedral mesh generator", 2015; manual section 5.2.
#include "geometry/mesh_formats.h"

namespace verve {

namespace {

/// Rows carry their own number; it must count up from the first one.
bool row_number(WordReader& words, long long expected, const char* kind) {
  long long found = 0;
  if (!words.integer(found, (std::string("the number of a ") + kind).c_str())) return false;
  if (found == expected) return true;
  words.error("found " + std::string(kind) + " number " + std::to_string(found) + ", expected " +
              std::to_string(expected) + " (numbers count up from 0 or 1)");
  return false;
}

bool ended(WordReader& words, std::size_t row, std::size_t count, const char* kind) {
  if (!words.at_end()) return false;
  words.error("found the end of the file after " + std::to_string(row) + " of " + std::to_string(count) + " " + kind);
  return true;
}

void check_rest(WordReader& words, const char* kind, std::size_t count) {
  if (words.failed() || words.at_end()) return;
  words.error("found " + quote(words.peek()) + " after the " + std::to_string(count) + " " + kind +
              ", expected the end of the file: the count or the columns in the first line disagree with the rows");
}

/// Columns left out at the end of the header line count as none.
bool column_count(WordReader& words, int line, long long& value, const char* what, long long most) {
  value = 0;
  if (words.at_end() || words.line() != line) return true;
  if (!words.integer(value, what)) return false;
  if (value >= 0 && value <= most) return true;
  words.error("found " + std::to_string(value) + ", expected " + what + " from 0 to " + std::to_string(most));
  return false;
}

long long read_nodes(WordReader& words, Mesh& mesh) {
  std::size_t count = 0;
  long long dimension = 0, attributes = 0, markers = 0;
  if (!words.count(count, "points")) return 0;
  const int header = words.line();
  if (!words.integer(dimension, "a dimension")) return 0;
  if (dimension != 3) return words.error("found dimension " + std::to_string(dimension) + ", expected 3"), 0;
  if (!column_count(words, header, attributes, "a number of attributes", 1000)) return 0;
  if (!column_count(words, header, markers, "a number of boundary markers", 1)) return 0;

  long long base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (ended(words, i, count, "points")) return base;
    if (i == 0) {
      long long first = 0;
      const std::string word(words.peek());
      if (parse_integer(word, first) && (first == 0 || first == 1)) base = first;
    }
    if (!row_number(words, base + (long long)(i), "point")) return base;
    Vec3 p;
    for (int k = 0; k < 3; ++k) words.number(p[k], "coordinate");
    double unused = 0;
    for (long long k = 0; k < attributes + markers; ++k)
      words.number(unused, k < attributes ? "value of an attribute" : "boundary marker");
    if (words.failed() && words.at_end()) return base;
    mesh.vertices.push_back(p);
  }
  check_rest(words, "points", count);
  return base;
}

void read_elements(WordReader& words, Mesh& mesh, long long base) {
  std::size_t count = 0;
  long long corners = 0, attributes = 0;
  if (!words.count(count, "tetrahedra")) return;
  const int header = words.line();
  if (!words.integer(corners, "a number of nodes per tetrahedron")) return;
  if (corners != 4 && corners != 10)
    return words.error("found " + std::to_string(corners) + " nodes per tetrahedron, expected 4 or 10");
  if (!column_count(words, header, attributes, "a number of attributes", 1000)) return;
  if (corners == 10 && count > 0) words.note_at(header, "tetrahedra have 10 nodes: only their 4 corners are used");

  const long long n = (long long)(mesh.vertices.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (ended(words, i, count, "tetrahedra")) return;
    if (!row_number(words, base + (long long)(i), "tetrahedron")) return;
    std::array<int, 4> tet{};
    for (long long k = 0; k < corners; ++k) {
      long long v = 0;
      if (!words.integer(v, "a point number")) continue;
      if (v < base || v >= base + n)
        words.error("found point number " + std::to_string(v) + ", expected " + std::to_string(base) + " to " +
                    std::to_string(base + n - 1));
      else if (k < 4)
        tet[std::size_t(k)] = int(v - base);
    }
    double unused = 0;
    for (long long k = 0; k < attributes; ++k) words.number(unused, "value of an attribute");
    if (words.failed() && words.at_end()) return;
    mesh.tetrahedra.push_back(tet);
  }
  check_rest(words, "tetrahedra", count);
}

/// The same name with the other extension, in the case the given one has.
std::filesystem::path sibling(const std::filesystem::path& file, const char* lower, const char* upper) {
  const std::string extension = file.extension().string();
  std::filesystem::path other = file;
  return other.replace_extension(extension.size() > 1 && extension[1] >= 'A' && extension[1] <= 'Z' ? upper : lower);
}

Mesh read(const MeshSource& source, Diagnostics& out) {
  Mesh mesh;
  if (source.file.empty()) {
    out.error(source.name, "found one file of two, expected both .node and .ele: TetGen's meshes are read from disk");
    return mesh;
  }
  const std::filesystem::path node = sibling(source.file, ".node", ".NODE"), ele = sibling(source.file, ".ele", ".ELE");
  const auto node_text = load_text(node, out);
  const auto ele_text = load_text(ele, out);
  if (!node_text || !ele_text) return mesh;
  WordReader nodes(*node_text, node.string(), out);
  const long long base = read_nodes(nodes, mesh);
  if (nodes.failed()) return mesh;  // element numbers would all be out of range
  WordReader elements(*ele_text, ele.string(), out);
  read_elements(elements, mesh, base);
  return mesh;
}

}  // namespace

MeshFormat tetgen_format() { return {{"tetgen", "TetGen, both files by either name", {".node", ".ele"}}, nullptr, read}; }

}  // namespace verve
