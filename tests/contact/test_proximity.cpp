#include "contact/points.h"
#include "contact/proximity.h"

using namespace verve;
using namespace verve::test;

namespace {

/// By sampling: an upper bound that a finer grid brings down to the distance.
double sampled_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c, int n) {
  double least = INFINITY;
  for (int i = 0; i <= n; ++i)
    for (int j = 0; i + j <= n; ++j)
      least = std::min(least, norm(p - a - (b - a) * (double(i) / n) - (c - a) * (double(j) / n)));
  return least;
}

Vec3 point_of(const PointTriangle& t, const Vec3& a, const Vec3& b, const Vec3& c) {
  return a * t.weights[0] + b * t.weights[1] + c * t.weights[2];
}

}  // namespace

TEST_CASE("the nearest point of a triangle beats every other one and is where its weights say") {
  int parts[7] = {};
  for (int i = 0; i < 3000; ++i) {
    const Vec3 a = random_point(1, i), b = random_point(2, i), c = random_point(3, i), p = random_point(4, i, 2);
    const PointTriangle t = point_triangle(p, a, b, c);
    ++parts[int(t.part)];
    const Vec3 q = point_of(t, a, b, c);
    CHECK(norm(p - q - t.offset) < 1e-12);  // slivers: a height over an area, 1e-16 over 1e-4
    CHECK(std::abs(dot(t.offset, t.offset) - t.squared_distance) < 1e-12);
    CHECK(std::abs(t.weights[0] + t.weights[1] + t.weights[2] - 1) < 1e-15);
    for (const double w : t.weights) CHECK(w >= 0);
    // first-order condition of the least distance over a convex set: no corner lies beyond the plane through q
    for (const Vec3& corner : {a, b, c}) CHECK(dot(p - q, corner - q) < 1e-12);
  }
  for (const int count : parts) CHECK(count > 50);
  const Vec3 a = random_point(1, 1), b = random_point(2, 1), c = random_point(3, 1), p = random_point(4, 1, 2);
  CHECK(sampled_triangle(p, a, b, c, 400) >= std::sqrt(point_triangle(p, a, b, c).squared_distance) - 1e-15);
  CHECK(sampled_triangle(p, a, b, c, 400) < std::sqrt(point_triangle(p, a, b, c).squared_distance) + 0.01);
}

TEST_CASE("the slope of the distance of a point and a triangle is (n, -wa n, -wb n, -wc n)") {
  for (int i = 0; i < 500; ++i) {
    Vec3 x[4] = {random_point(5, i, 2), random_point(6, i), random_point(7, i), random_point(8, i)};
    const auto distance = [&] { return std::sqrt(point_triangle(x[0], x[1], x[2], x[3]).squared_distance); };
    const PointTriangle t = point_triangle(x[0], x[1], x[2], x[3]);
    const double d = distance(), e = 1e-6;
    if (d < 0.05) continue;  // the second derivative grows as 1/d
    const Vec3 n = t.offset / d;
    const double share[4] = {1, -t.weights[0], -t.weights[1], -t.weights[2]};
    for (int v = 0; v < 4; ++v)
      for (int k = 0; k < 3; ++k) {
        const double kept = x[v][k];
        x[v][k] = kept + e;
        const double up = distance();
        x[v][k] = kept - e;
        const double down = distance();
        x[v][k] = kept;
        // the slope is continuous between parts, its slope is not: an error of first order, e/d times a condition
        // number of the triangle
        CHECK(std::abs((up - down) / (2 * e) - share[v] * n[k]) < 2e-3);
      }
  }
}

TEST_CASE("triangles without area are their edges or their corner") {
  const Vec3 p{0.3, 1, 0};
  const PointTriangle line = point_triangle(p, {0, 0, 0}, {1, 0, 0}, {0.5, 0, 0});
  CHECK(line.squared_distance == 1);
  CHECK(norm(point_of(line, {0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}) - Vec3{0.3, 0, 0}) < 1e-15);
  const PointTriangle point = point_triangle(p, {1, 1, 1}, {1, 1, 1}, {1, 1, 1});
  CHECK(point.squared_distance == doctest::Approx(1.49).epsilon(1e-15));
  CHECK(point.part == TrianglePart::corner_a);
  for (int i = 0; i < 1000; ++i) {  // nearly without: a height of 1e-9 of the length
    const Vec3 a = random_point(10, i), b = random_point(11, i);
    const Vec3 c = a + (b - a) * 0.4 + random_point(12, i, 1e-9), q = random_point(13, i);
    const PointTriangle t = point_triangle(q, a, b, c);
    const SegmentSegment s = segment_segment(q, q, a, b);
    CHECK(std::abs(std::sqrt(t.squared_distance) - std::sqrt(s.squared_distance)) < 4e-9);
    for (const double w : t.weights) CHECK((w >= 0 && w <= 1));
  }
  CHECK(!(point_triangle({NAN, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}).squared_distance >= 0));
}

TEST_CASE("the nearest points of two segments beat every other pair") {
  int inside = 0, ends = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3 p0 = random_point(1, i), p1 = random_point(2, i), q0 = random_point(3, i), q1 = random_point(4, i);
    const SegmentSegment g = segment_segment(p0, p1, q0, q1);
    const Vec3 p = p0 + (p1 - p0) * g.s, q = q0 + (q1 - q0) * g.t;
    CHECK(norm(p - q - g.offset) < 1e-12);
    CHECK(std::abs(dot(g.offset, g.offset) - g.squared_distance) < 1e-12);
    CHECK((g.s >= 0 && g.s <= 1 && g.t >= 0 && g.t <= 1));
    // first-order conditions over the square of parameters, which is convex
    for (const Vec3& end : {p0, p1}) CHECK(dot(g.offset, end - p) > -1e-12);
    for (const Vec3& end : {q0, q1}) CHECK(dot(g.offset, end - q) < 1e-12);
    CHECK((g.on_p == SegmentPart::start) == (g.s == 0));
    CHECK((g.on_q == SegmentPart::end) == (g.t == 1));
    (g.on_p == SegmentPart::inside && g.on_q == SegmentPart::inside ? inside : ends)++;
    const SegmentSegment back = segment_segment(q0, q1, p0, p1);
    CHECK(std::abs(back.squared_distance - g.squared_distance) < 1e-12);
  }
  CHECK(inside > 300);
  CHECK(ends > 300);
}

TEST_CASE("the slope of the distance of two segments is ((1-s) n, s n, -(1-t) n, -t n)") {
  for (int i = 0; i < 500; ++i) {
    Vec3 x[4] = {random_point(5, i), random_point(6, i), random_point(7, i), random_point(8, i)};
    const auto distance = [&] { return std::sqrt(segment_segment(x[0], x[1], x[2], x[3]).squared_distance); };
    const SegmentSegment g = segment_segment(x[0], x[1], x[2], x[3]);
    const double d = distance(), e = 1e-6;
    if (d < 0.05) continue;
    const Vec3 n = g.offset / d;
    const double share[4] = {1 - g.s, g.s, g.t - 1, -g.t};
    for (int v = 0; v < 4; ++v)
      for (int k = 0; k < 3; ++k) {
        const double kept = x[v][k];
        x[v][k] = kept + e;
        const double up = distance();
        x[v][k] = kept - e;
        const double down = distance();
        x[v][k] = kept;
        CHECK(std::abs((up - down) / (2 * e) - share[v] * n[k]) < 2e-3);  // as for triangles
      }
  }
}

TEST_CASE("parallel, touching and pointlike segments have one answer, the middle of what they share") {
  const SegmentSegment facing = segment_segment({0, 0, 0}, {4, 0, 0}, {1, 1, 0}, {7, 1, 0});
  CHECK(facing.squared_distance == 1);
  CHECK(facing.s == doctest::Approx(2.5 / 4).epsilon(1e-15));  // share x from 1 to 4
  CHECK(facing.t == doctest::Approx(0.25).epsilon(1e-15));
  const SegmentSegment opposed = segment_segment({0, 0, 0}, {4, 0, 0}, {7, 1, 0}, {1, 1, 0});
  CHECK(opposed.s == doctest::Approx(facing.s).epsilon(1e-15));
  CHECK(opposed.t == doctest::Approx(0.75).epsilon(1e-15));
  const SegmentSegment apart = segment_segment({0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {2, 0, 0});
  CHECK(apart.squared_distance == 1);
  CHECK(apart.on_p == SegmentPart::end);
  CHECK(apart.on_q == SegmentPart::end);
  const SegmentSegment points = segment_segment({1, 1, 1}, {1, 1, 1}, {1, 1, 3}, {1, 1, 3});
  CHECK(points.squared_distance == 4);
  const SegmentSegment point = segment_segment({0.25, 1, 0}, {0.25, 1, 0}, {0, 0, 0}, {1, 0, 0});
  CHECK(point.t == 0.25);
  CHECK(segment_segment({0, 0, 0}, {1, 0, 0}, {0.5, -1, 0}, {0.5, 1, 0}).squared_distance == 0);
  CHECK(!(segment_segment({NAN, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 1, 1}).squared_distance >= 0));
  for (int i = 0; i < 500; ++i) {  // almost parallel: the distance is that of the parallel ones to the angle
    const Vec3 p0 = random_point(9, i), along = random_point(10, i), side = random_point(11, i);
    const Vec3 q0 = p0 + side - along * dot(side, along) * (1 / dot(along, along));
    for (const double angle : {1e-6, 1e-9, 1e-11, 1e-15}) {
      const SegmentSegment g = segment_segment(p0, p0 + along, q0, q0 + along + random_point(12, i, angle));
      CHECK(std::abs(std::sqrt(g.squared_distance) - norm(q0 - p0)) < 2 * angle + 1e-9);
    }
  }
}

TEST_CASE("signed distances follow the outward normals, and lose neither sign nor direction at zero") {
  const Vec3 up{0, 0, 1};
  CHECK(signed_distance({0, 0, 2}, 4, up).distance == 2);
  CHECK(signed_distance({0, 0, -2}, 4, up).distance == -2);
  CHECK(signed_distance({0, 0, -2}, 4, up).normal == up);
  CHECK(signed_distance({0, 0, 0}, 0, up * 3).normal == up);
  CHECK(signed_distance({1e-15, 0, 1e-17}, 1e-30, up, 1e-12).normal == up);
  // the crossed edges of two wedges, one pointing up and one down: apart by 0.1, then through each other
  for (const double gap : {0.1, -0.1, 0.0}) {
    const Vec3 p0{-1, 0, gap}, p1{1, 0, gap}, q0{0, -1, 0}, q1{0, 1, 0};
    const Touch t = signed_distance(segment_segment(p0, p1, q0, q1), p1 - p0, q1 - q0, {0, 0.1, -1}, {0.2, 0, 1}, 1e-9);
    CHECK(t.distance == doctest::Approx(gap).epsilon(1e-15));
    CHECK(norm(t.normal - up) < 1e-15);
  }
}
