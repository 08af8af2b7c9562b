// VTK's legacy format, text or binary (big endian): unstructured grids and surfaces (POLYDATA), with the cells of
// version 5 (offsets and connectivity) or of those before it.
#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"
#include "geometry/vtk_cells.h"

namespace verve {

namespace {

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out)
      : source_(source), out_(out), words_(source.bytes, source.name, out) {}

  Mesh read() {
    header();
    while (good_ && !words_.at_end() && section(std::string(words_.take()))) continue;
    if (good_ && mesh_.vertices.empty()) fail("found no POINTS");
    if (good_) add_cells();
    if (good_) cells_.finish(mesh_, source_.name, out_);
    return std::move(mesh_);
  }

 private:
  struct Lists {
    std::vector<std::vector<long long>> rows;
    long long type = 0;  // of all of them; 0: in types_
  };

  bool fail(const std::string& what) {
    if (good_) words_.error(what);
    return good_ = false;
  }

  /// Four lines: the version, a title, ASCII or BINARY, DATASET and its kind.
  void header() {
    const auto line = [&] {
      const std::string_view rest = words_.rest();
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string text(rest.substr(0, end));
      words_.skip(end + 1);
      while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
      return text;
    };
    const std::string first = line();
    if (!first.starts_with("# vtk DataFile Version")) return void(fail("found " + quote(first) + ", expected \"# vtk DataFile Version\""));
    line();
    const std::string kind = line();
    if (kind != "ASCII" && kind != "BINARY") return void(fail("found " + quote(kind) + ", expected ASCII or BINARY"));
    binary_ = kind == "BINARY";
    if (words_.take() != "DATASET") return void(fail("expected DATASET"));
    const std::string_view dataset = words_.take();
    if (dataset != "UNSTRUCTURED_GRID" && dataset != "POLYDATA")
      fail("found " + quote(dataset) + ", expected UNSTRUCTURED_GRID or POLYDATA");
  }

  /// False at the end of what is of use.
  bool section(const std::string& name) {
    if (name == "POINTS") return points();
    if (name == "CELLS") return lists(0);
    if (name == "LINES") return lists(4);
    if (name == "POLYGONS") return lists(7);
    if (name == "TRIANGLE_STRIPS") return lists(6);
    if (name == "VERTICES") return lists(1);
    if (name == "CELL_TYPES") {
      std::size_t count = 0;
      if (!words_.count(count, "cell types")) return good_ = false;
      begin_bytes();
      types_.clear();
      for (std::size_t i = 0; i < count && good_; ++i) types_.push_back(whole("int"));
      return good_;
    }
    if (name == "METADATA") {  // up to an empty line
      const std::size_t end = std::min(words_.rest().find("\n\n"), words_.rest().size());
      words_.skip(end);
      return true;
    }
    if (name == "POINT_DATA" || name == "CELL_DATA" || name == "FIELD") return false;
    return fail("found " + quote(name) + ", expected POINTS, CELLS, CELL_TYPES, POLYGONS or LINES");
  }

  void begin_bytes() {
    if (binary_) words_.skip(words_.rest().find('\n') == std::string_view::npos ? 0 : words_.rest().find('\n') + 1);
  }
  template <class T>
  T raw() {
    const std::string_view rest = words_.rest();
    if (rest.size() < sizeof(T)) return fail("found the end of the file, expected a number"), T(0);
    Diagnostics unused;
    ByteReader bytes(rest.substr(0, sizeof(T)), "", unused, true);
    words_.skip(sizeof(T));
    return bytes.take<T>("a number");
  }
  double real(const std::string& type) {
    double value = 0;
    if (binary_)
      value = type == "double" ? raw<double>() : raw<float>();
    else if (!words_.number(value, "coordinate"))
      good_ = false;
    if (good_ && !std::isfinite(value)) fail("found a coordinate that is not finite");
    return value;
  }
  long long whole(const std::string& type) {
    if (binary_) return type == "int" ? raw<std::int32_t>() : raw<std::int64_t>();
    long long value = 0;
    if (!words_.integer(value, "a whole number")) good_ = false;
    return value;
  }

  bool points() {
    std::size_t count = 0;
    if (!words_.count(count, "points")) return good_ = false;
    const std::string type(words_.take());
    if (type != "float" && type != "double") return fail("found the type " + quote(type) + ", expected float or double");
    begin_bytes();
    for (std::size_t i = 0; i < count && good_; ++i) {
      Vec3 p;
      for (int k = 0; k < 3; ++k) p[k] = real(type);
      mesh_.vertices.push_back(p);
    }
    return good_;
  }

  bool lists(long long type) {
    std::size_t count = 0, size = 0;
    if (!words_.count(count, "cells") || !words_.count(size, "numbers")) return good_ = false;
    Lists out;
    out.type = type;
    const std::size_t begin = words_.rest().find_first_not_of(" \t\r\n");  // bytes are no words to look at
    if (begin != std::string_view::npos && words_.rest().substr(begin, 8) == "OFFSETS ") {
      const auto numbers = [&](const char* name, std::size_t n) {
        std::vector<long long> values;
        if (words_.take() != name) return fail(std::string("expected ") + name), values;
        const std::string kind = words_.take() == "vtktypeint64" ? "long" : "int";
        begin_bytes();
        for (std::size_t i = 0; i < n && good_; ++i) values.push_back(whole(kind));
        return values;
      };
      const auto offsets = numbers("OFFSETS", count), points = numbers("CONNECTIVITY", size);
      for (std::size_t i = 1; i < offsets.size() && good_; ++i) {
        if (offsets[i] < offsets[i - 1] || offsets[i] > (long long)(points.size()) || offsets[i - 1] < 0)
          return fail("found an offset of " + std::to_string(offsets[i]) + ", expected " + std::to_string(offsets[i - 1]) +
                      " to " + std::to_string(points.size()));
        out.rows.emplace_back(points.begin() + offsets[i - 1], points.begin() + offsets[i]);
      }
    } else {
      begin_bytes();
      for (std::size_t i = 0; i < count && good_; ++i) {
        const long long n = whole("int");
        if (good_ && (n < 0 || std::size_t(n) > size)) return fail("found a cell of " + std::to_string(n) + " points");
        out.rows.emplace_back();
        for (long long k = 0; k < n && good_; ++k) out.rows.back().push_back(whole("int"));
      }
    }
    lists_.push_back(std::move(out));
    return good_;
  }

  void add_cells() {
    for (const Lists& list : lists_) {
      if (list.type == 0 && types_.size() != list.rows.size())
        return void(fail("found " + std::to_string(types_.size()) + " CELL_TYPES, expected one for each of the " +
                         std::to_string(list.rows.size()) + " CELLS"));
      for (std::size_t i = 0; i < list.rows.size(); ++i) {
        const std::string fault = cells_.add(list.type ? list.type : types_[i], list.rows[i], mesh_.vertices.size());
        if (fault.empty()) continue;
        out_.error(source_.name + ": cell " + std::to_string(i), fault);
        good_ = false;
        return;
      }
    }
  }

  const MeshSource& source_;
  Diagnostics& out_;
  WordReader words_;
  Mesh mesh_;
  VtkCells cells_;
  std::vector<Lists> lists_;
  std::vector<long long> types_;
  bool binary_ = false, good_ = true;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) { return bytes.substr(0, 22) == "# vtk DataFile Version"; }

}  // namespace

MeshFormat vtk_format() { return {{"vtk", "VTK legacy, text or binary", {".vtk"}}, recognised, read}; }

}  // namespace verve
