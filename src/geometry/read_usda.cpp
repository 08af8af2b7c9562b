// Universal Scene Description as text: Mesh prims with points, faces and texture coordinates, where their Xform prims
// put them. Of points that move the first sample. Layers that reference others, variants and instances are not
// followed. metersPerUnit and upAxis are applied.
#include <map>
#include <numbers>

#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

struct Fault {
  int line;
  std::string what;
};

/// A value as far as it matters here: all its numbers in a row, and its words.
struct Value {
  std::vector<double> numbers;
  std::vector<std::string> words;
  int line = 0;
};
using Prim = std::map<std::string, Value>;

struct Transform {
  Mat3 linear = Mat3::identity();
  Vec3 offset{};
  Transform operator*(const Transform& b) const { return {linear * b.linear, linear * b.offset + offset}; }
};

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out) : source_(source), out_(out), text_(source.bytes) {}

  Mesh read() {
    try {
      take();  // past the first line, which is a comment
      if (token_ == "(") {
        take();
        Prim layer;
        while (token_ != ")") statement(layer, ")");
        take();
        if (const auto unit = layer.find("metersPerUnit"); unit != layer.end() && unit->second.numbers.size() == 1)
          unit_ = unit->second.numbers[0];
        if (const auto up = layer.find("upAxis"); up != layer.end() && up->second.words.size() == 1)
          z_up_ = up->second.words[0] == "Z";
      }
      Transform world;
      if (z_up_) world.linear = {{Vec3{1, 0, 0}, Vec3{0, 0, -1}, Vec3{0, 1, 0}}};
      world.linear = world.linear * unit_;
      while (!token_.empty()) prims(world, 0, source_.objects.all());
      if (unit_ != 1 || z_up_)
        out_.note(source_.name, std::string("brought to metres") + (z_up_ ? " and y up" : ""));
      polygons_.finish(mesh_);
    } catch (const Fault& fault) {
      out_.error(source_.name + ":" + std::to_string(fault.line), fault.what);
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Fault{line_, what}; }
  std::string found() const { return token_.empty() && !quoted_ ? "the end of the file" : quote(token_); }

  // --- tokens: words and numbers, strings, punctuation ---

  void take() {
    quoted_ = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '#')
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ';')
        ++at_;
      else
        break;
    }
    token_ = {};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '"' || c == '\'' || c == '@') {
      quoted_ = true;
      const std::string_view triple = text_.substr(at_, 3);
      const bool long_string = triple.size() == 3 && triple[1] == c && triple[2] == c;
      const std::size_t begin = at_ + (long_string ? 3 : 1);
      std::size_t end = begin;
      while (end < text_.size() && !(long_string ? text_.substr(end, 3) == triple : text_[end] == c))
        end += text_[end] == '\\' ? 2 : 1;
      if (end >= text_.size()) fail("found a string that does not end");
      token_ = text_.substr(begin, end - begin);
      line_ += int(std::count(token_.begin(), token_.end(), '\n'));
      at_ = end + (long_string ? 3 : 1);
      return;
    }
    constexpr std::string_view marks = "()[]{}=,:";
    std::size_t end = at_;
    if (c == '<') {
      end = std::min(text_.find('>', at_), text_.size() - 1) + 1;
    } else if (marks.find(c) != std::string_view::npos) {
      ++end;
    } else {  // names have colons in them: primvars:st
      while (end < text_.size() && std::string_view(" \t\r\n()[]{}=,;\"'@<#").find(text_[end]) == std::string_view::npos &&
             !(text_[end] == ':' && (c == '-' || c == '.' || (c >= '0' && c <= '9'))))
        ++end;
      if (end == at_) ++end;
    }
    token_ = text_.substr(at_, end - at_);
    at_ = end;
  }
  void expect(std::string_view mark) {
    if (token_ != mark || quoted_) fail("found " + found() + ", expected \"" + std::string(mark) + "\"");
    take();
  }
  bool at_mark(std::string_view mark) const { return token_ == mark && !quoted_; }

  /// Past what is open `depth` times.
  void close(int depth) {
    while (depth > 0) {
      if (token_.empty() && !quoted_) fail("found the end of the file inside of brackets");
      if (!quoted_ && (token_ == "(" || token_ == "[" || token_ == "{")) ++depth;
      if (!quoted_ && (token_ == ")" || token_ == "]" || token_ == "}")) --depth;
      take();
    }
  }
  void skip_block() {
    take();
    close(1);
  }
  /// Numbers and words of a value, whatever its brackets.
  Value plain() {
    Value out;
    out.line = line_;
    int depth = 0;
    do {
      if (token_.empty() && !quoted_) fail("found the end of the file inside of a value");
      double number = 0;
      if (!quoted_ && (token_ == "(" || token_ == "["))
        ++depth;
      else if (!quoted_ && (token_ == ")" || token_ == "]"))
        --depth;
      else if (!quoted_ && parse_number(token_, number))
        out.numbers.push_back(number);
      else if (!at_mark(","))
        out.words.emplace_back(token_);
      take();
    } while (depth > 0);
    return out;
  }
  /// The same; of samples { time: value, ... } the first.
  Value value() {
    if (!at_mark("{")) return plain();
    take();
    Value out;
    double time = 0;
    if (!quoted_ && parse_number(token_, time)) {
      take();
      expect(":");
      out = plain();
    }
    close(1);
    return out;
  }

  /// [custom|uniform|...] type name [= value] [( metadata )], or key = value; ends before `end`.
  void statement(Prim& prim, std::string_view end) {
    if (token_.empty() && !quoted_) fail("found the end of the file, expected \"" + std::string(end) + "\"");
    if (quoted_) return take();  // documentation
    std::string name;
    while (!at_mark("=") && !at_mark("(") && !at_mark("{") && !at_mark(end)) {
      if (token_.empty() && !quoted_) fail("found the end of the file, expected \"" + std::string(end) + "\"");
      const int line = line_;
      if (!at_mark("[") && !at_mark("]") && !at_mark(",")) name = token_;
      take();
      // an attribute without a value ends with its line
      if (line_ != line && !at_mark("=")) return;
    }
    if (at_mark("=")) {
      take();
      prim[name] = value();
    }
    if (at_mark("(")) {
      take();
      Prim metadata;
      while (!at_mark(")")) statement(metadata, ")");
      take();
      if (const auto kind = metadata.find("interpolation"); kind != metadata.end() && !kind->second.words.empty())
        prim[name + ":interpolation"] = kind->second;
    }
    if (at_mark("{")) skip_block();
  }

  // --- prims ---

  /// `wanted`: what is above it is, and with it all that is below.
  void prims(const Transform& above, int depth, bool wanted) {
    if (depth > 200) fail("found prims nested deeper than 200");
    if (at_mark("over") || at_mark("class") || at_mark("variantSet")) {  // not there by themselves
      while (!at_mark("{")) {
        if (token_.empty() && !quoted_) fail("found the end of the file, expected \"{\"");
        take();
      }
      skip_block();
      return;
    }
    if (!at_mark("def")) fail("found " + found() + ", expected def");
    take();
    std::string type;
    if (!quoted_) type = token_, take();
    if (!quoted_) fail("found " + found() + ", expected the name of a prim");
    const std::string name(token_);
    const int line = line_;
    take();
    if (at_mark("(")) skip_block();
    expect("{");
    Prim prim;
    // children may come before the transforms of their parent, so that they are read in a second pass
    struct Child {
      std::size_t at;
      int line;
    };
    std::vector<Child> children;
    while (!at_mark("}")) {
      if (at_mark("def") || at_mark("over") || at_mark("class") || at_mark("variantSet")) {
        if (at_mark("def")) children.push_back({at_ - 3, line_});
        while (!at_mark("{")) {
          if (at_mark("(")) {
            skip_block();
            continue;
          }
          if (token_.empty() && !quoted_) fail("found the end of the file, expected \"{\"");
          take();
        }
        skip_block();
      } else {
        statement(prim, "}");
      }
    }
    take();
    const std::size_t after = at_;
    const std::string_view token = token_;
    const bool quoted = quoted_;
    const int line_after = line_;
    const Transform here = above * transform(prim);
    wanted = ((type == "Mesh" || type == "Xform") && source_.objects.take(name)) || wanted;
    if (type == "Mesh" && wanted) mesh(prim, here, name, line);
    for (const Child& child : children) {
      at_ = child.at, line_ = child.line;
      take();
      prims(here, depth + 1, wanted);
    }
    at_ = after, token_ = token, quoted_ = quoted, line_ = line_after;
  }

  static const Value* find(const Prim& prim, const std::string& key) {
    for (const std::string& k : {key, key + ".timeSamples"})
      if (const auto found = prim.find(k); found != prim.end()) return &found->second;
    return nullptr;
  }

  Transform transform(const Prim& prim) const {
    Transform out;
    const Value* order = find(prim, "xformOpOrder");
    if (!order) return out;
    for (const std::string& op : order->words) {
      if (op == "!resetXformStack!") continue;
      const Value* v = find(prim, op);
      if (!v) throw Fault{order->line, "found no value of " + quote(op)};
      const auto needs = [&](std::size_t n) {
        if (v->numbers.size() != n)
          throw Fault{v->line, "found " + std::to_string(v->numbers.size()) + " numbers in " + op + ", expected " +
                                   std::to_string(n)};
      };
      const std::string kind = op.substr(0, op.find(':', 8));
      Transform one;
      if (kind == "xformOp:translate") {
        needs(3);
        one.offset = {v->numbers[0], v->numbers[1], v->numbers[2]};
      } else if (kind == "xformOp:scale") {
        needs(3);
        one.linear = Mat3::diagonal({v->numbers[0], v->numbers[1], v->numbers[2]});
      } else if (kind == "xformOp:transform") {
        needs(16);  // rows, for row vectors
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) one.linear(c, r) = v->numbers[std::size_t(4 * r + c)];
        one.offset = {v->numbers[12], v->numbers[13], v->numbers[14]};
      } else if (kind == "xformOp:orient") {
        needs(4);
        const double w = v->numbers[0], x = v->numbers[1], y = v->numbers[2], z = v->numbers[3];
        one.linear = {{Vec3{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                       Vec3{2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                       Vec3{2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}};
      } else if (kind.starts_with("xformOp:rotate")) {
        const std::string axes = kind.substr(14);  // X, or XYZ: the first is applied first
        needs(axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i) {
          if (axes[i] < 'X' || axes[i] > 'Z') throw Fault{v->line, "found " + quote(op)};
          const int axis = axes[i] - 'X', a = (axis + 1) % 3, b = (axis + 2) % 3;
          const double angle = v->numbers[axes.size() == 1 ? 0 : std::size_t(axis)] * std::numbers::pi / 180;
          Mat3 turn = Mat3::identity();
          turn(a, a) = turn(b, b) = std::cos(angle), turn(b, a) = std::sin(angle), turn(a, b) = -std::sin(angle);
          one.linear = turn * one.linear;
        }
      } else {
        throw Fault{v->line, "found " + quote(op) + ", expected translate, scale, rotate, orient or transform"};
      }
      out = out * one;
    }
    return out;
  }

  /// By PolygonReader's numbers: one for each of the points or of the corners; else there are none.
  std::vector<int> normals_of(const Prim& prim, std::size_t points, std::size_t corners) {
    const Value *normals = find(prim, "primvars:normals"), *indices = find(prim, "primvars:normals:indices");
    if (!normals) normals = find(prim, "normals"), indices = nullptr;
    std::vector<int> out;
    if (!normals) return out;
    for (std::size_t i = 0; i + 2 < normals->numbers.size(); i += 3)
      out.push_back(polygons_.normal({normals->numbers[i], normals->numbers[i + 1], normals->numbers[i + 2]}));
    if (indices) {
      std::vector<int> direct;
      for (const double i : indices->numbers)
        direct.push_back(i >= 0 && i < double(out.size()) ? out[std::size_t(i)] : -1);
      out = std::move(direct);
    }
    return out.size() == points || out.size() == corners ? out : std::vector<int>{};
  }

  void mesh(const Prim& prim, const Transform& at, const std::string& name, int line) {
    const Value *points = find(prim, "points"), *counts = find(prim, "faceVertexCounts"),
                *indices = find(prim, "faceVertexIndices");
    if (!points || !counts || !indices)
      throw Fault{line, "found a Mesh " + quote(name) + " without points, faceVertexCounts or faceVertexIndices"};
    if (points->numbers.size() % 3 || points->numbers.empty())
      throw Fault{points->line, "found " + std::to_string(points->numbers.size()) + " coordinates, expected three for each point"};
    const std::size_t n = points->numbers.size() / 3;
    const int first = int(mesh_.vertices.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 p{points->numbers[3 * i], points->numbers[3 * i + 1], points->numbers[3 * i + 2]};
      if (!std::isfinite(p.x + p.y + p.z)) throw Fault{points->line, "found a point that is not finite, number " + std::to_string(i)};
      mesh_.vertices.push_back(at.linear * p + at.offset);
    }
    const Value *uvs = find(prim, "primvars:st"), *uv_indices = find(prim, "primvars:st:indices"),
                *kind = find(prim, "primvars:st:interpolation");
    const int first_uv = polygons_.uvs();
    const std::size_t uv_count = uvs ? uvs->numbers.size() / 2 : 0;
    for (std::size_t i = 0; i < uv_count; ++i) polygons_.uv(uvs->numbers[2 * i], uvs->numbers[2 * i + 1]);
    const bool per_vertex = kind && !kind->words.empty() && kind->words[0] == "vertex";
    const Value* side = find(prim, "orientation");
    const bool left = (side && !side->words.empty() && side->words[0] == "leftHanded") != (det(at.linear) < 0);
    const std::vector<int> normals = normals_of(prim, n, indices->numbers.size());
    std::size_t corner = 0;
    struct Corner {
      int vertex, uv, normal;
    };
    std::vector<Corner> face;
    for (const double count : counts->numbers) {
      if (!(count >= 3) || count > double(PolygonReader::most_corners) || corner + std::size_t(count) > indices->numbers.size())
        throw Fault{counts->line, "found a face of " + std::to_string((long long)(count)) + " corners, expected 3 to " +
                                      std::to_string(std::min(PolygonReader::most_corners, indices->numbers.size() - corner))};
      face.clear();
      for (std::size_t k = 0; k < std::size_t(count); ++k, ++corner) {
        const double v = indices->numbers[corner];
        if (!(v >= 0 && v < double(n)))
          throw Fault{indices->line, "found point number " + std::to_string((long long)(v)) + ", expected 0 to " + std::to_string(n - 1)};
        double uv = per_vertex ? v : double(corner);
        if (uv_indices) uv = uv < double(uv_indices->numbers.size()) ? uv_indices->numbers[std::size_t(uv)] : -1;
        const std::size_t which = normals.size() == n ? std::size_t(v) : corner;
        face.push_back({first + int(v), uv >= 0 && uv < double(uv_count) ? first_uv + int(uv) : -1,
                        normals.empty() ? -1 : normals[which]});
      }
      if (left) std::reverse(face.begin(), face.end());
      for (const Corner& c : face) polygons_.corner(c.vertex, c.uv, c.normal);
      polygons_.end_polygon();
    }
  }

  const MeshSource& source_;
  Diagnostics& out_;
  std::string_view text_, token_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool quoted_ = false, z_up_ = false;
  double unit_ = 1;
  Mesh mesh_;
  PolygonReader polygons_;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) { return bytes.substr(0, 5) == "#usda"; }

}  // namespace

MeshFormat usda_format() { return {{"usda", "USD, text", {".usda"}}, recognised, read}; }

}  // namespace verve
