#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "contact/shape_registry.h"
#include "contracts/findings.h"
#include "verve/contract_tests.h"

namespace verve {

namespace {

Vec3 random_point(std::uint64_t seed, std::uint64_t index, double size) {
  return Vec3{random_signed(seed, 3 * index), random_signed(seed, 3 * index + 1), random_signed(seed, 3 * index + 2)} *
         size;
}

struct Subject {
  const Shape& shape;
  bool is_mesh;  // of many faces, the first of those that are equally near to ties.h counts
  Vec3 center;   // where to put points so that many are inside and many outside
  double size;
};

/// d is a distance and n its gradient exactly when x - d n is on the surface (d = 0 there) and no point of the surface is
/// nearer: d changes no faster than the point moves, checked between random pairs.
void feet(const Subject& s, Findings& out) {
  int inside = 0, outside = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3 x = s.center + random_point(1, i, 0.8 * s.size), y = s.center + random_point(2, i, 1.5 * s.size);
    const Touch tx = s.shape.touch(x), ty = s.shape.touch(y);
    out.below(std::abs(norm(tx.normal) - 1), 1e-14, "the normal has length 1");
    // rounding of coordinates of size 1 to 10 and of one square root
    out.below(std::abs(s.shape.touch(x - tx.normal * tx.distance).distance), (s.is_mesh ? tie : 1e-13) * (1 + s.size),
              "the foot of every point lies on the surface");
    out.below(std::abs(tx.distance - ty.distance), norm(x - y) * (1 + 1e-13),
              "the distance changes no faster than the point moves");
    (tx.distance < 0 ? inside : outside)++;
  }
  out.expect(inside > 50 && outside > 50, "the distance is negative inside and positive outside, in its bounds");
}

void slopes(const Subject& s, Findings& out) {
  const double e = 1e-6 * s.size;
  int kinks = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 x = s.center + random_point(3, i, 1.2 * s.size);
    const Touch t = s.shape.touch(x);
    Vec3 slope;
    for (int k = 0; k < 3; ++k) {
      Vec3 up = x, down = x;
      up[k] += e, down[k] -= e;
      slope[k] = (s.shape.touch(up).distance - s.shape.touch(down).distance) / (2 * e);
    }
    // second derivative 1/d: an error e^2/d^2 of central differences and 1e-16/1e-6 of rounding; kinks are where two
    // points of the surface are equally near, met by one point in some hundreds
    if (!(norm(slope - t.normal) <= 1e-4)) ++kinks;
  }
  out.below(kinks, 10, "the normal is the slope of the distance");
}

void same_bits(const Subject& s, Findings& out) {
  std::vector<Vec4> x;
  for (int i = 0; i < 3000; ++i) x.push_back(Vec4(random_point(8, i, 1.5)));
  std::vector<Touch> one(x.size()), many(x.size());
  const int threads_before = threads();
  set_threads(1);
  s.shape.touch(x.data(), int(x.size()), one.data());
  const auto same = [](const Touch& a, const Touch& b) { return a.distance == b.distance && a.normal == b.normal; };
  for (const int threads : {2, 3, 16}) {
    set_threads(threads);
    s.shape.touch(x.data(), int(x.size()), many.data());
    for (size_t i = 0; i < x.size(); ++i) out.expect(same(one[i], many[i]), "any number of threads gives the same bits");
  }
  set_threads(threads_before);
  for (size_t i = 0; i < x.size(); ++i)
    out.expect(same(s.shape.touch(x[i].xyz()), one[i]), "many points at once give the same bits as one by one");
}

void drawing(const Subject& s, Findings& out) {
  const ShapeTriangles drawn = s.shape.tessellate(2);
  out.expect(!drawn.triangles.empty(), "something is drawn");
  for (const Vec3& p : drawn.points)
    out.below(std::abs(s.shape.touch(p).distance), 1e-14 * (1 + norm(p)), "what is drawn has its corners on the surface");
  double volume = 0, moved = 0;
  const Vec3 o{3, -2, 5};
  for (const auto& [a, b, c] : drawn.triangles) {
    const Vec3 &p = drawn.points[a], &q = drawn.points[b], &r = drawn.points[c];
    volume += dot(p, cross(q, r)) / 6, moved += dot(p - o, cross(q - o, r - o)) / 6;
    if (s.is_mesh) continue;  // a mesh of its own
    // a chord of the 48-gons is off by 4 degrees at most, a triangle at the pole of a ball by twice that
    out.expect(dot(direction(cross(q - p, r - p), {}), s.shape.touch((p + q + r) / 3).normal) > 0.97,
               "what is drawn looks outward");
  }
  if (s.shape.flat_normal()) return;
  // closed: the volume is the same about any origin, and no more than that of the box
  const Box box = s.shape.bounds();
  const Vec3 size = box.high - box.low;
  out.expect(volume > 0, "what is drawn has a volume");
  out.below(volume, size.x * size.y * size.z * (1 + 1e-12), "what is drawn lies in the bounds");
  out.below(std::abs(moved - volume), 1e-9 * std::abs(volume), "what is drawn is closed");
}

}  // namespace

Diagnostics test_shape(const std::string& name) {
  Diagnostics problems;
  Findings out(problems, "shape \"" + name + "\"");
  const ShapeEntry* const entry = find_shape(name);
  if (!entry) return out.expect(false, "it is registered"), problems;
  try {
    ColliderSpec spec;
    spec.shape = name;
    spec.normal = {1, 2, -3}, spec.size = {0.6, 1, 1.6}, spec.radius = 0.4, spec.length = 1.1;
    const bool is_mesh = entry->info.reads("mesh");
    const Mesh bear = is_mesh ? skin_of(generate_mesh("bear", {{"resolution", {12}}}).value()) : Mesh();
    const std::unique_ptr<Shape> shape = entry->make(spec, &bear);
    const Box box = shape->bounds();
    const bool bounded = std::isfinite(norm(box.low)) && std::isfinite(norm(box.high));
    out.expect(bounded == !shape->flat_normal().has_value(), "half-spaces alone are unbounded");
    const Subject subject{*shape, is_mesh, bounded ? (box.low + box.high) * 0.5 : Vec3{},
                          bounded ? 0.5 * norm(box.high - box.low) : 1.5};
    feet(subject, out), slopes(subject, out), same_bits(subject, out), drawing(subject, out);
  } catch (const std::exception& thrown) {
    problems.error("shape \"" + name + "\"", thrown.what());
  }
  return problems;
}

}  // namespace verve
