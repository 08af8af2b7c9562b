// A tree, its leaves, and grass, standing on y = 0.
#include <array>
#include <map>
#include <numbers>

#include "base/random.h"
#include "geometry/generators.h"
#include "geometry/implicit.h"
#include "geometry/stuffing.h"

namespace verve {

namespace {

/// Uniform in [0, 1).
double share(std::uint64_t seed, std::uint64_t index) { return 0.5 + 0.5 * random_signed(seed, index); }
Vec3 unit(const Vec3& a) { return a / norm(a); }

struct Limb {
  Vec3 a, b;
  double ra, rb;
};

/// A trunk, boughs around it and one upwards, and two branches on each, of height 1.
std::vector<Limb> limbs(std::uint64_t seed) {
  std::vector<Limb> out;
  const Vec3 foot{0, -0.05, 0}, knee{0.02, 0.2, -0.01}, fork{-0.005, 0.40, 0.01};
  out.push_back({foot, knee, 0.075, 0.055});
  out.push_back({knee, fork, 0.055, 0.048});
  for (int k = 0; k < 3; ++k) {  // roots
    const double angle = 2 * std::numbers::pi * (k + 0.4 * share(seed, 200 + k)) / 3;
    out.push_back({{0, 0.05, 0}, {0.13 * std::cos(angle), -0.03, 0.13 * std::sin(angle)}, 0.05, 0.025});
  }
  constexpr int boughs = 5;
  for (int k = 0; k < boughs; ++k) {
    const std::uint64_t own = seed * 64 + std::uint64_t(k);
    const bool leader = k + 1 == boughs;
    const double around = 2 * std::numbers::pi * (k + 0.2 * share(own, 0)) / (boughs - 1) + double(seed);
    // neighbours at different heights, so that their branches keep apart
    const double rise = leader ? 1.45 : (k % 2 ? 0.25 : 0.55) + 0.12 * share(own, 1);
    const Vec3 start = leader ? fork : knee + (fork - knee) * (k % 2 ? 0.6 : 0.95);
    const Vec3 along{std::cos(around) * std::cos(rise), std::sin(rise), std::sin(around) * std::cos(rise)};
    const Vec3 aside{-std::sin(around), 0, std::cos(around)}, up = cross(aside, along);
    const double length = (leader ? 0.30 : 0.26) + 0.04 * share(own, 3);
    out.push_back({start, start + along * length, 0.050, 0.038});
    // onward, to both sides and up; the sides of the leader lie between those of the boughs
    const std::array<std::pair<double, Vec3>, 4> branches{{{1.0, along * 0.9 + up * 0.45 + aside * 0.1},
                                                           {0.8, along * 0.65 + aside * 0.75 + up * 0.1},
                                                           {0.62, along * 0.65 - aside * 0.75 + up * 0.25},
                                                           {0.7, along * 0.5 + up * 0.85}}};
    for (std::uint64_t j = 0; j < branches.size(); ++j) {
      const Vec3 from = start + along * (length * branches[j].first);
      const Vec3 direction = unit(branches[j].second + random_in_ball(own, 10 + j) * 0.2);
      out.push_back({from, from + direction * (0.13 + 0.05 * share(own, 30 + j)), 0.037, 0.031});
    }
  }
  return out;
}

Expected<Mesh> stuff_tree(const Arguments& a, bool only_skin) {
  const std::vector<Limb> parts = limbs(std::uint64_t(a.whole("seed")));
  const auto distance = [&](const Vec3& p) {
    double d = 1e9;
    for (const Limb& l : parts) d = implicit::blend(d, implicit::limb(p, l.a, l.b, l.ra, l.rb), 0.02);
    return std::max(d, -p.y);
  };
  Vec3 lower{0, -0.05, 0}, upper{};
  for (const Limb& l : parts)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min({lower[k], l.a[k] - 0.1, l.b[k] - 0.1});
      upper[k] = std::max({upper[k], l.a[k] + 0.1, l.b[k] + 0.1});
    }
  const double spacing = 1 / a.number("resolution"), size = a.number("size");
  Expected<Mesh> mesh =
      only_skin ? stuffing_skin(distance, lower, upper, spacing) : tetrahedralize(distance, lower, upper, spacing);
  if (mesh)
    for (Vec3& p : mesh->vertices) p *= size;
  return mesh;
}

std::vector<ParameterInfo> tree_parameters() {
  std::vector<ParameterInfo> out = implicit_parameters("height", 28);
  out.push_back(count_parameter("seed", "another number, another tree", {35}, 0, 1e6));
  return out;
}

/// Each grows from a face of the bark: three vertices that coincide with those of the tree, to be held by them, and a
/// blade of five triangles at one side of the face.
Expected<Mesh> make_leaves(const Arguments& a) {
  const Expected<Mesh> tree = stuff_tree(a, true);
  if (!tree) return tree;
  const std::uint64_t seed = std::uint64_t(a.whole("seed")) + 1000;
  const double size = a.number("size"), length = a.number("leaf") * size, from = a.number("from") * size;
  const std::vector<Vec3>& x = tree->vertices;
  // sides of faces in a random order
  std::map<std::uint64_t, std::array<int, 2>> order;
  for (size_t t = 0; t < tree->triangles.size(); ++t) {
    const auto& [i, j, k] = tree->triangles[t];
    if (std::min({x[i].y, x[j].y, x[k].y}) < from) continue;
    for (int side = 0; side < 3; ++side) order[random_bits(seed, 3 * t + std::uint64_t(side))] = {int(t), side};
  }
  if (int(order.size()) < a.whole("count")) {
    Diagnostics out;
    out.error("leaves.count", "found " + std::to_string(a.whole("count")) + ", expected at most the " +
                                  std::to_string(order.size()) + " sides of faces above `from`");
    return out;
  }
  Mesh mesh;
  int grown = 0;
  for (const auto& [key, place] : order) {
    if (grown++ == a.whole("count")) break;
    const auto& face = tree->triangles[place[0]];
    const Vec3 &p = x[face[place[1]]], &q = x[face[(place[1] + 1) % 3]], &r = x[face[(place[1] + 2) % 3]];
    const Vec3 normal = unit(cross(q - p, r - p)), middle = (p + q) * 0.5;
    const Vec3 crown = unit(middle - Vec3{0, 0.45 * size, 0});
    const Vec3 along = unit(normal * 0.8 + crown * 0.6 + Vec3{0, 0.15, 0} + random_in_ball(key, 1) * 0.5);
    const Vec3 edge = q - p, across = unit(edge - along * dot(edge, along)), up = cross(across, along);
    const double l = length * (0.75 + 0.5 * share(key, 2)), half = 0.3 * l;
    const int v = int(mesh.vertices.size());
    mesh.vertices.insert(
        mesh.vertices.end(),
        {p, q, r, middle + along * (0.42 * l) - across * half + up * (0.1 * l), middle + along * (0.5 * l),
         middle + along * (0.42 * l) + across * half + up * (0.1 * l), middle + along * l - up * (0.06 * l)});
    // the face turned over, so that both sides of the edge p q are wound alike
    mesh.triangles.insert(mesh.triangles.end(), {{v, v + 1, v + 2},
                                                 {v + 1, v, v + 4},
                                                 {v, v + 3, v + 4},
                                                 {v + 1, v + 4, v + 5},
                                                 {v + 3, v + 6, v + 4},
                                                 {v + 4, v + 6, v + 5}});
  }
  return mesh;
}

/// Blades in clumps, each a strip one cell wide that narrows to a tip; its lowest cell is the root.
Expected<Mesh> make_grass(const Arguments& a) {
  const std::uint64_t seed = std::uint64_t(a.whole("seed"));
  const int blades = a.whole("blades"), clump = 6;
  const double width = a.number("width"), length = a.number("length"), height = a.number("height");
  Mesh mesh;
  for (int b = 0; b < blades; ++b) {
    const std::uint64_t own = seed * 1000003 + std::uint64_t(b),
                        group = seed * 1000003 + (1u << 30) + std::uint64_t(b / clump);
    Vec3 offset = random_in_ball(own, 0) * (0.35 * height);
    const Vec3 foot{width * (share(group, 0) - 0.5) + offset.x, 0, length * (share(group, 1) - 0.5) + offset.z};
    const double h = height * (0.6 + 0.4 * share(own, 2)) * (0.75 + 0.25 * share(group, 2)), half = 0.06 * height;
    const double turn = 2 * std::numbers::pi * share(own, 3);
    const Vec3 across{std::cos(turn), 0, std::sin(turn)};
    // leans away from the middle of its clump, more towards the tip
    const double lean = 0.35 * h;
    const Vec3 out = norm(offset) > 0 ? unit(Vec3{offset.x, 0, offset.z} + across * 1e-9) : across;
    const auto at = [&](double t, double side) {
      return foot + Vec3{0, h * t, 0} + out * (lean * t * t) + across * (side * half * (1 - 0.35 * t));
    };
    const int v = int(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(),
                         {at(0, -1), at(0, 1), at(0.16, -1), at(0.16, 1), at(0.6, -1), at(0.6, 1), at(1, 0)});
    mesh.triangles.insert(
        mesh.triangles.end(),
        {{v, v + 1, v + 3}, {v, v + 3, v + 2}, {v + 2, v + 3, v + 5}, {v + 2, v + 5, v + 4}, {v + 4, v + 5, v + 6}});
  }
  return mesh;
}

}  // namespace

Generator tree_generator() {
  return {{"tree", "trunk, boughs and branches without leaves, standing on y = 0", tree_parameters()},
          [](const Arguments& a) { return stuff_tree(a, a.only_skin()); }};
}
Generator leaves_generator() {
  std::vector<ParameterInfo> parameters = tree_parameters();
  parameters.push_back(count_parameter("count", "how many", {600}, 1, 1e5));
  ParameterInfo leaf = length_parameter("leaf", "length of one, in heights of the tree", 0.09);
  leaf.unit = "";
  parameters.push_back(leaf);
  ParameterInfo from = length_parameter("from", "where they begin, in heights of the tree", 0.42);
  from.unit = "";
  parameters.push_back(from);
  return {{"leaves",
           "sheets that grow from the faces of the tree of the same size, resolution and seed: three vertices of "
           "each coincide with its own",
           parameters},
          make_leaves};
}
Generator grass_generator() {
  return {
      {"grass",
       "blades in clumps, standing on y = 0, their roots below 0.1 of the height",
       {length_parameter("width", "of the patch, along x", 2), length_parameter("length", "of the patch, along z", 1),
        length_parameter("height", "of the tallest blades", 0.3), count_parameter("blades", "how many", {200}, 1, 1e5),
        count_parameter("seed", "another number, another patch", {1}, 0, 1e6)}},
      make_grass};
}

}  // namespace verve
