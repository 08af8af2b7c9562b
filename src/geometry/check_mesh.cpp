#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "verve/mesh.h"

namespace verve {

namespace {

// An element is degenerate when its volume (area) is below this fraction of its longest edge to the third (second)
// power, or its longest edge below this fraction of the mesh's bounding box. Coordinates in double carry about 1e-16
// of the box, so that shapes flatter than 1e-10 are noise, while elements that are merely small are kept.
constexpr double degenerate_fraction = 1e-10;

/// Counts one kind of fault.
struct Tally {
  std::size_t count = 0, first = 0;
  void add(std::size_t index) {
    if (count++ == 0) first = index;
  }
};

class Checker {
 public:
  Checker(Mesh& mesh, MeshRepair repair, const std::string& where, Diagnostics& out)
      : mesh_(mesh), repair_(repair), where_(where), out_(out) {}

  void run() {
    if (mesh_.vertices.empty())
      return out_.error(where_, "empty mesh: found no vertices, expected at least one element");
    if (elements() == 0)
      return out_.error(where_, "empty mesh: found " + std::to_string(mesh_.vertices.size()) +
                                    " vertices and no elements, expected tetrahedra, triangles or edges");
    const bool finite = check_finite();
    const bool in_range = check_range(mesh_.tetrahedra, "tetrahedra") & check_range(mesh_.triangles, "triangles") &
                          check_range(mesh_.edges, "edges");
    if (!finite || !in_range) return;  // nothing further can be measured

    measure_box();
    check_elements(mesh_.tetrahedra, "tetrahedra", "volume below 1e-10 of the longest edge cubed");
    check_elements(mesh_.triangles, "triangles", "area below 1e-10 of the longest edge squared");
    check_elements(mesh_.edges, "edges", "length below 1e-10 of the bounding box");
    check_inverted();
    check_unreferenced();
    if (elements() == 0) out_.error(where_, "empty mesh: every element was degenerate");
  }

 private:
  std::size_t elements() const { return mesh_.tetrahedra.size() + mesh_.triangles.size() + mesh_.edges.size(); }

  bool check_finite() {
    Tally bad;
    for (std::size_t i = 0; i < mesh_.vertices.size(); ++i) {
      const Vec3& p = mesh_.vertices[i];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) bad.add(i);
    }
    if (bad.count == 0) return true;
    const Vec3& p = mesh_.vertices[bad.first];
    out_.error(where_, std::to_string(bad.count) + " non-finite vertices, first at index " + std::to_string(bad.first) +
                           ": found " + format_numbers({p.x, p.y, p.z}) + ", expected finite coordinates [m]");
    return false;
  }

  template <class Elements>
  bool check_range(const Elements& elements, const char* kind) {
    const int n = int(mesh_.vertices.size());
    Tally bad;
    int found = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
      for (const int v : elements[i])
        if (v < 0 || v >= n) {
          if (bad.count == 0) found = v;
          bad.add(i);
          break;
        }
    if (bad.count == 0) return true;
    out_.error(where_, std::to_string(bad.count) + " " + kind + " with an index out of range, first at index " +
                           std::to_string(bad.first) + ": found vertex " + std::to_string(found) + ", expected 0 to " +
                           std::to_string(n - 1));
    return false;
  }

  void measure_box() {
    Vec3 low = mesh_.vertices[0], high = low;
    for (const Vec3& p : mesh_.vertices)
      for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
    box_ = norm(high - low);
  }

  /// Six times the volume of the tetrahedron scaled to a longest edge of one: no power of a tiny or huge length under-
  /// or overflows.
  double scaled_volume(const std::array<int, 4>& tet, double longest) const {
    const auto leg = [&](int i) { return (mesh_.vertices[tet[i]] - mesh_.vertices[tet[0]]) / longest; };
    return dot(cross(leg(1), leg(2)), leg(3));
  }

  template <std::size_t N>
  bool degenerate(const std::array<int, N>& element) const {
    const auto at = [&](int i) -> const Vec3& { return mesh_.vertices[element[i]]; };
    double longest = 0;
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = i + 1; j < N; ++j) {
        if (element[i] == element[j]) return true;
        longest = std::max(longest, norm(at(i) - at(j)));
      }
    if (longest <= degenerate_fraction * box_) return true;
    if constexpr (N == 4) return std::abs(scaled_volume(element, longest)) / 6 <= degenerate_fraction;
    if constexpr (N == 3)
      return norm(cross((at(1) - at(0)) / longest, (at(2) - at(0)) / longest)) / 2 <= degenerate_fraction;
    return false;
  }

  template <std::size_t N>
  void check_elements(std::vector<std::array<int, N>>& elements, const std::string& kind, const char* meaning) {
    std::vector<char> drop(elements.size(), 0);
    Tally flat;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (degenerate(elements[i])) flat.add(i), drop[i] = 1;

    Tally twice;
    std::vector<std::array<int, N>> keys(elements);
    for (auto& key : keys) std::sort(key.begin(), key.end());
    std::vector<std::size_t> order(elements.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    std::vector<char> repeated(elements.size(), 0);
    for (std::size_t i = 1; i < order.size(); ++i)
      if (keys[order[i]] == keys[order[i - 1]]) repeated[order[i]] = 1;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (repeated[i] && !drop[i]) twice.add(i), drop[i] = 1;

    report(flat, "degenerate " + kind + " (" + meaning + ")", "dropped");
    report(twice, "duplicated " + kind + " (same vertices as an earlier one)", "dropped");
    if (repair_ == MeshRepair::refuse || flat.count + twice.count == 0) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (!drop[i]) elements[kept++] = elements[i];
    elements.resize(kept);
  }

  void check_inverted() {
    Tally inverted;
    for (std::size_t i = 0; i < mesh_.tetrahedra.size(); ++i) {
      auto& t = mesh_.tetrahedra[i];
      if (degenerate(t) || scaled_volume(t, norm(mesh_.vertices[t[1]] - mesh_.vertices[t[0]])) > 0) continue;
      inverted.add(i);
      if (repair_ == MeshRepair::repair) std::swap(t[2], t[3]);
    }
    report(inverted, "inverted tetrahedra (negative volume)", "flipped");
  }

  void check_unreferenced() {
    std::vector<char> used(mesh_.vertices.size(), 0);
    for (const auto& t : mesh_.tetrahedra)
      for (const int v : t) used[v] = 1;
    for (const auto& t : mesh_.triangles)
      for (const int v : t) used[v] = 1;
    for (const auto& e : mesh_.edges)
      for (const int v : e) used[v] = 1;
    Tally unused;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (!used[i]) unused.add(i);
    report(unused, "unreferenced vertices (used by no element)", "kept without mass");
  }

  void report(const Tally& fault, const std::string& what, const char* remedy) {
    if (fault.count == 0) return;
    const std::string text =
        std::to_string(fault.count) + " " + what + ", first at index " + std::to_string(fault.first);
    if (repair_ == MeshRepair::repair)
      out_.warning(where_, text + ": " + remedy);
    else
      out_.error(where_, text + ", expected none (or let the mesh be repaired)");
  }

  Mesh& mesh_;
  MeshRepair repair_;
  const std::string& where_;
  Diagnostics& out_;
  double box_ = 0;
};

}  // namespace

void check_mesh(Mesh& mesh, MeshRepair repair, const std::string& where, Diagnostics& out) {
  Checker(mesh, repair, where, out).run();
}

}  // namespace verve
