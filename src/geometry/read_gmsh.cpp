// Gmsh .msh, versions 2.2 and 4.1, text or binary: lines, triangles, quadrilaterals and tetrahedra, of second-order
// elements the corners. Geuzaine and Remacle, "Gmsh Reference Manual", chapter "MSH file format".
#include <unordered_map>

#include "geometry/mesh_bytes.h"
#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

struct Kind {
  int type, nodes, corners;  // corners 0: not used
};
constexpr Kind kinds[] = {{1, 2, 2},   {2, 3, 3},   {3, 4, 4},   {4, 4, 4},   {5, 8, 0},   {6, 6, 0},   {7, 5, 0},
                          {8, 3, 2},   {9, 6, 3},   {10, 9, 4},  {11, 10, 4}, {12, 27, 0}, {13, 18, 0}, {14, 14, 0},
                          {15, 1, 0},  {16, 8, 4},  {17, 20, 0}, {18, 15, 0}, {19, 13, 0}, {20, 9, 3},  {21, 10, 3},
                          {23, 15, 3}, {26, 4, 2},  {27, 5, 2},  {29, 20, 4}, {30, 35, 4}};

class Reader {
 public:
  Reader(const MeshSource& source, Diagnostics& out)
      : source_(source), out_(out), words_(source.bytes, source.name, out) {}

  Mesh read() {
    while (!words_.at_end() && good_) {
      const std::string section(words_.take());
      if (section.empty() || section[0] != '$') {
        fail("found " + quote(section) + ", expected a section like $Nodes");
        break;
      }
      if (section == "$MeshFormat")
        header();
      else if (section == "$Nodes")
        version_ == 0 ? fail("found $Nodes before $MeshFormat") : version_ < 3 ? nodes_2() : nodes_4();
      else if (section == "$Elements")
        version_ == 0 ? fail("found $Elements before $MeshFormat") : version_ < 3 ? elements_2() : elements_4();
      else if (!skip_to("$End" + section.substr(1)))
        break;
      else
        continue;
      const std::string end = "$End" + section.substr(1);
      if (good_ && words_.take() != end) fail("expected " + end);
    }
    if (good_ && mesh_.vertices.empty()) fail("found no nodes");
    if (unused_ > 0)
      out_.note(source_.name, std::to_string(unused_) + " points, hexahedra, prisms or pyramids are not used");
    if (good_) polygons_.finish(mesh_);
    return std::move(mesh_);
  }

 private:
  void fail(const std::string& what) {
    if (good_) words_.error(what);
    good_ = false;
  }
  bool skip_to(const std::string& end) {
    const std::size_t at = words_.rest().find(end);
    if (at == std::string_view::npos) return fail("found the end of the file, expected " + end), false;
    words_.skip(at + end.size());
    return true;
  }

  // --- numbers, as words or as bytes ---

  template <class T>
  T number(const char* what) {
    if (!good_) return 0;
    if (!binary_) {
      if constexpr (std::is_floating_point_v<T>) {
        double value = 0;
        if (!words_.number(value, what)) good_ = false;
        return value;
      } else {
        long long value = 0;
        if (!words_.integer(value, what)) good_ = false;
        return T(value);
      }
    }
    const std::string_view rest = words_.rest();
    if (rest.size() < sizeof(T)) return fail(std::string("found the end of the file, expected ") + what), T(0);
    char raw[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) raw[i] = rest[swap_ ? sizeof(T) - 1 - i : i];
    words_.skip(sizeof(T));
    T value;
    std::memcpy(&value, raw, sizeof value);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) fail("found a coordinate that is not finite");
    return value;
  }
  void begin_bytes() {  // the line ends before they begin
    if (binary_) words_.skip(words_.rest().find('\n') == std::string_view::npos ? 0 : words_.rest().find('\n') + 1);
  }
  bool fits(std::uint64_t count, std::size_t bytes, const char* what) {
    const std::uint64_t most = words_.rest().size() / (binary_ ? bytes : 2) + 1;
    if (count > most)
      fail("found a count of " + std::to_string(count) + " " + what + ", expected at most " + std::to_string(most) +
           ", which is what the rest of the file can hold");
    return good_;
  }

  void header() {
    double version = 0;
    long long kind = 0, size = 0;
    if (!words_.number(version, "a version") || !words_.integer(kind, "0 (text) or 1 (binary)") ||
        !words_.integer(size, "the size of a number"))
      return void(good_ = false);
    if (version != 2.2 && version != 2.1 && version != 2 && version != 4.1)
      return fail("found version " + std::to_string(version).substr(0, 3) + ", expected 2.2 or 4.1");
    version_ = version;
    if (kind == 0) return;
    if (size != 8) return fail("found numbers of " + std::to_string(size) + " bytes, expected 8");
    binary_ = true;
    begin_bytes();
    const auto one = number<std::int32_t>("the number 1");
    if (good_ && one != 1) {
      if (one != 0x01000000) return fail("found no 1 that tells the byte order");
      swap_ = true;
    }
  }

  void add_node(long long tag, const Vec3& p) {
    if (!good_) return;
    if (!number_.try_emplace(tag, int(mesh_.vertices.size())).second)
      return fail("found node " + std::to_string(tag) + " twice");
    mesh_.vertices.push_back(p);
  }
  Vec3 point() {
    Vec3 p;
    for (int k = 0; k < 3; ++k) p[k] = number<double>("coordinate");
    return p;
  }
  int node() {
    const long long tag = version_ < 3 || !binary_ ? (binary_ ? number<std::int32_t>("a node") : number<long long>("a node"))
                                                   : number<long long>("a node");
    if (!good_) return 0;
    const auto found = number_.find(tag);
    if (found == number_.end()) return fail("found node number " + std::to_string(tag) + ", which is none of $Nodes"), 0;
    return found->second;
  }
  const Kind* kind_of(long long type) {
    for (const Kind& k : kinds)
      if (k.type == type) return &k;
    fail("found elements of type " + std::to_string(type) + ", expected lines, triangles, quadrilaterals or tetrahedra");
    return nullptr;
  }
  void element(const Kind& kind) {
    int corner[4] = {};
    for (int k = 0; k < kind.nodes; ++k) {
      const int v = node();
      if (k < kind.corners) corner[k] = v;
    }
    if (!good_) return;
    const bool tetrahedron = kind.type == 4 || kind.type == 11 || kind.type == 29 || kind.type == 30;
    if (tetrahedron)
      mesh_.tetrahedra.push_back({corner[0], corner[1], corner[2], corner[3]});
    else if (kind.corners == 2)
      mesh_.edges.push_back({corner[0], corner[1]});
    else if (kind.corners > 2) {
      for (int k = 0; k < kind.corners; ++k) polygons_.corner(corner[k]);
      polygons_.end_polygon();
    } else
      unused_ += 1;
  }

  void nodes_2() {
    std::size_t count = 0;
    if (!words_.count(count, "nodes")) return void(good_ = false);
    begin_bytes();
    if (!fits(count, 28, "nodes")) return;
    for (std::size_t i = 0; i < count && good_; ++i) {
      const long long tag = binary_ ? number<std::int32_t>("a node number") : number<long long>("a node number");
      add_node(tag, point());
    }
  }
  void elements_2() {
    std::size_t count = 0;
    if (!words_.count(count, "elements")) return void(good_ = false);
    begin_bytes();
    if (!fits(count, 4, "elements")) return;
    for (std::size_t i = 0; i < count && good_;) {
      if (binary_) {  // blocks of elements of one kind
        const auto type = number<std::int32_t>("a type"), block = number<std::int32_t>("a number of elements"),
                   tags = number<std::int32_t>("a number of tags");
        const Kind* kind = good_ ? kind_of(type) : nullptr;
        if (!kind) return;
        if (block < 1 || tags < 0 || tags > 1000) return fail("found a block of " + std::to_string(block) + " elements");
        for (std::int32_t b = 0; b < block && good_; ++b, ++i) {
          for (std::int32_t t = 0; t < tags + 1; ++t) number<std::int32_t>("a tag");
          element(*kind);
        }
        continue;
      }
      number<long long>("an element number");
      const auto type = number<long long>("a type"), tags = number<long long>("a number of tags");
      const Kind* kind = good_ ? kind_of(type) : nullptr;
      if (!kind) return;
      for (long long t = 0; t < tags && good_; ++t) number<long long>("a tag");
      element(*kind);
      ++i;
    }
  }

  void nodes_4() {
    begin_bytes();
    const auto blocks = number<std::uint64_t>("a number of blocks"), count = number<std::uint64_t>("a number of nodes");
    number<std::uint64_t>("a node number"), number<std::uint64_t>("a node number");
    if (!good_ || !fits(count, 32, "nodes") || !fits(blocks, 20, "blocks")) return;
    std::vector<long long> tags;
    for (std::uint64_t b = 0; b < blocks && good_; ++b) {
      number<std::int32_t>("a dimension"), number<std::int32_t>("an entity");
      const auto parametric = number<std::int32_t>("0 or 1");
      const auto n = number<std::uint64_t>("a number of nodes");
      if (parametric != 0) return fail("found parametric coordinates, expected nodes without");
      if (!good_ || !fits(n, 32, "nodes")) return;
      tags.clear();
      for (std::uint64_t i = 0; i < n && good_; ++i) tags.push_back(number<long long>("a node number"));
      for (const long long tag : tags) add_node(tag, point());
    }
  }
  void elements_4() {
    begin_bytes();
    const auto blocks = number<std::uint64_t>("a number of blocks");
    number<std::uint64_t>("a number of elements");
    number<std::uint64_t>("an element number"), number<std::uint64_t>("an element number");
    if (!good_ || !fits(blocks, 20, "blocks")) return;
    for (std::uint64_t b = 0; b < blocks && good_; ++b) {
      number<std::int32_t>("a dimension"), number<std::int32_t>("an entity");
      const auto type = number<std::int32_t>("a type");
      const auto n = number<std::uint64_t>("a number of elements");
      const Kind* kind = good_ ? kind_of(type) : nullptr;
      if (!kind || !fits(n, 16, "elements")) return;
      for (std::uint64_t i = 0; i < n && good_; ++i) {
        number<std::uint64_t>("an element number");
        element(*kind);
      }
    }
  }

  const MeshSource& source_;
  Diagnostics& out_;
  WordReader words_;
  Mesh mesh_;
  PolygonReader polygons_;
  std::unordered_map<long long, int> number_;
  double version_ = 0;
  long long unused_ = 0;
  bool binary_ = false, swap_ = false, good_ = true;
};

Mesh read(const MeshSource& source, Diagnostics& out) { return Reader(source, out).read(); }
bool recognised(std::string_view bytes) {
  return bytes.substr(0, 11) == "$MeshFormat" || bytes.substr(0, 9) == "$Comments";
}

}  // namespace

MeshFormat gmsh_format() { return {{"gmsh", "Gmsh 2.2 or 4.1, text or binary", {".msh"}}, recognised, read}; }

}  // namespace verve
