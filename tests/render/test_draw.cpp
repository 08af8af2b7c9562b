// Pictures against what geometry says must be in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "base/parallel.h"
#include "base/random.h"
#include "render/picture.h"
#include "render/srgb.h"
#include "verve/mesh.h"

using namespace verve;
using namespace verve::render;

namespace {

Surface solid(const char* generator, const Parameters& parameters, const Vec3& at, Color color) {
  const Mesh mesh = generate_mesh(generator, parameters).value();
  Surface out{mesh.vertices, surface(mesh), color, {}, false};
  for (Vec3& p : out.points) p += at;
  return out;
}
Surface ball(const Vec3& at, double radius, Color color) {
  return solid("sphere", {{"size", {2 * radius}}, {"frequency", {40}}}, at, color);
}
/// Facing +z.
Surface square(const Vec3& at, double half, Color color) {
  Surface out{{{-half, -half, 0}, {half, -half, 0}, {half, half, 0}, {-half, half, 0}},
              {{0, 1, 2}, {0, 2, 3}},
              color,
              {},
              false};
  for (Vec3& p : out.points) p += at;
  return out;
}

View bare(std::vector<Surface> surfaces, double distance = 5) {
  View out;
  out.surfaces = std::move(surfaces);
  out.floor = out.shadows = false;
  out.camera = {{0, 0, distance}, {}, 40};
  return out;
}

std::array<int, 3> pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = image.rgb.data() + (size_t(y) * size_t(image.width) + size_t(x)) * 3;
  return {p[0], p[1], p[2]};
}
int sum(const Image& image, int x, int y) {
  const auto p = pixel(image, x, y);
  return p[0] + p[1] + p[2];
}
/// Largest difference of a channel.
int difference(const std::array<int, 3>& a, const std::array<int, 3>& b) {
  return std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])});
}

/// Where a point is seen [pixels], for a camera that does not look straight up or down.
std::array<double, 2> seen(const Camera& camera, const Vec3& p, int width, int height) {
  const Vec3 f0 = camera.target - camera.eye, f = f0 / norm(f0), r0 = cross(f, {0, 1, 0}), r = r0 / norm(r0),
             u = cross(r, f);
  const double focal = 0.5 * height / std::tan(camera.fov_degrees * std::numbers::pi / 360);
  const Vec3 d = p - camera.eye;
  return {0.5 * width + focal * dot(r, d) / dot(f, d), 0.5 * height - focal * dot(u, d) / dot(f, d)};
}

const Color red{0.8f, 0.1f, 0.1f}, blue{0.1f, 0.1f, 0.8f}, grey{0.5f, 0.5f, 0.5f};

}  // namespace

TEST_CASE("a sphere covers the disc that perspective makes of it") {
  const int n = 400;
  for (const double radius : {0.6, 1.2}) {
    const View with = bare({ball({}, radius, red)});
    const Image image = draw(with, n, n), empty = draw(bare({}), n, n);
    int covered = 0;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) covered += difference(pixel(image, x, y), pixel(empty, x, y)) > 0;
    // the cone that touches it: half angle asin(r / D)
    const double focal = 0.5 * n / std::tan(20 * std::numbers::pi / 180);
    const double disc = focal * std::tan(std::asin(radius / 5));
    // a pixel counts when any of its samples is covered: half a pixel more along the rim, and facets take off up to
    // e^2 / 8 r with e = r pi / 80 at the widest, below a tenth of a pixel
    CHECK(covered > std::numbers::pi * (disc - 0.5) * (disc - 0.5));
    CHECK(covered < std::numbers::pi * (disc + 1) * (disc + 1));
  }
}

TEST_CASE("edges are smooth: pixels on them lie between what is on either side") {
  View view = bare({square({}, 1, grey)});
  view.surfaces[0].points[1].y += 0.05;  // its lower edge crosses some twenty rows of pixels
  const Image image = draw(view, 200, 200);
  int between = 0;
  for (int x = 80; x < 120; ++x) {
    int steps = 0;
    for (int y = 100; y < 199; ++y) {
      const int a = sum(image, x, y), b = sum(image, x, y + 1);
      steps += std::abs(a - b) > 40;
    }
    between += steps == 2;  // in two steps, by a pixel of mixed colour
    CHECK(steps <= 2);
  }
  CHECK(between > 25);
}

TEST_CASE("light falls off from the lit side of a sphere to the other, without a step") {
  View view = bare({ball({}, 1.2, grey)});
  const int n = 300;
  const Image image = draw(view, n, n);
  // from the upper left, where the key light is, through the middle to the lower right
  const double radius = 0.9 * 0.5 * n / std::tan(20 * std::numbers::pi / 180) * std::tan(std::asin(1.2 / 5));
  const double dx = 0.62 / std::hypot(0.62, 1.15), dy = 1.15 / std::hypot(0.62, 1.15);
  int last = 1000, first = 0;
  for (int k = 0; k <= 50; ++k) {
    const double t = radius * (-0.45 + 1.4 * k / 50);
    const int here = sum(image, int(n / 2 + dx * t), int(n / 2 + dy * t));
    if (k == 0) first = here;
    CHECK(here <= last + 3);             // a unit of rounding in each channel
    if (k > 0) CHECK(last - here < 60);  // of 765
    last = here;
  }
  CHECK(first > last + 200);
}

TEST_CASE("a cube keeps its creases: each face has one colour, neighbours differ") {
  View view = bare({solid("cube", {{"cells", {2, 2, 2}}, {"size", {2}}}, {}, grey)});
  view.camera = {{3, 3, 4}, {}, 40};
  const int n = 300;
  const Image image = draw(view, n, n);
  const auto at = [&](const Vec3& p) {
    const auto s = seen(view.camera, p, n, n);
    return pixel(image, int(s[0]), int(s[1]));
  };
  // gloss and rim depend on where the eye is: a few steps within a face
  for (const auto& [a, b] :
       {std::pair{Vec3{-0.8, 1, -0.8}, Vec3{0.8, 1, 0.8}}, std::pair{Vec3{1, -0.8, 0.8}, Vec3{1, 0.8, -0.8}},
        std::pair{Vec3{-0.8, 0.8, 1}, Vec3{0.8, -0.8, 1}}})
    CHECK(difference(at(a), at(b)) < 14);
  CHECK(difference(at({0, 1, 0}), at({1, 0, 0})) > 25);
  CHECK(difference(at({0, 1, 0}), at({0, 0, 1})) > 25);
}

TEST_CASE("what is nearer hides what is behind it, in either order") {
  for (const bool swapped : {false, true}) {
    std::vector<Surface> both{square({0, 0, 0.5}, 0.5, red), square({0, 0, -0.5}, 1, blue)};
    if (swapped) std::swap(both[0], both[1]);
    const Image image = draw(bare(both), 200, 200);
    const auto middle = pixel(image, 100, 100), rim = pixel(image, 60, 100);
    CHECK(middle[0] > 2 * middle[2]);
    CHECK(rim[2] > 2 * rim[0]);
  }
}

TEST_CASE("two faces that cross do so where they meet") {
  // z = x / 2 and z = -x / 2: the red one is in front on the right
  Surface a = square({}, 1, red), b = square({}, 1, blue);
  for (Vec3& p : a.points) p.z = 0.5 * p.x;
  for (Vec3& p : b.points) p.z = -0.5 * p.x;
  const Image image = draw(bare({a, b}), 200, 200);
  for (int y = 80; y < 120; y += 7) {
    for (const int x : {70, 90, 98}) CHECK(pixel(image, x, y)[2] > 2 * pixel(image, x, y)[0]);
    for (const int x : {102, 110, 130}) CHECK(pixel(image, x, y)[0] > 2 * pixel(image, x, y)[2]);
  }
}

TEST_CASE("no background shows through the seams of a triangulation") {
  Surface fine;
  fine.color = grey;
  const int n = 37;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) {
      Vec3 p{2.0 * i / n - 1, 2.0 * j / n - 1, 0};
      const bool rim = i == 0 || j == 0 || i == n || j == n;
      if (!rim)
        p +=
            Vec3{random_signed(1, std::uint64_t(j * n + i)), random_signed(2, std::uint64_t(j * n + i)), 0} * (0.6 / n);
      fine.points.push_back(p);
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int v = j * (n + 1) + i;
      fine.triangles.push_back({v, v + 1, v + n + 2});
      fine.triangles.push_back({v, v + n + 2, v + n + 1});
    }
  View one = bare({square({}, 1, grey)}), many = bare({fine});
  one.background = many.background = {0, 1, 0};
  const Image a = draw(one, 211, 173), b = draw(many, 211, 173);
  int worst = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) worst = std::max(worst, difference(pixel(a, x, y), pixel(b, x, y)));
  CHECK(worst <= 1);
}

TEST_CASE("a ball casts its shadow where the key light says, and none without shadows") {
  View view = bare({ball({0, 1, 0}, 0.4, red)});
  view.floor = view.shadows = true;
  view.camera = {{0, 3, 6}, {0, 0.3, 0}, 40};
  const int w = 320, h = 240;
  const Image with = draw(view, w, h);
  view.shadows = false;
  const Image without = draw(view, w, h);
  // the camera looks along -z: the light comes along (-0.62, 1.15, 0.42)
  const Vec3 foot = Vec3{0, 1, 0} - Vec3{-0.62, 1.15, 0.42} * (1 / 1.15);
  const auto at = seen(view.camera, foot, w, h);
  const int x = int(at[0]), y = int(at[1]);
  // six tenths of the floor's light are the key's: encoded, 0.4 of the light is 0.66 of the byte
  CHECK(pixel(with, x, y)[1] < 0.75 * pixel(without, x, y)[1]);
  const auto mirrored = seen(view.camera, {-foot.x, 0, foot.z}, w, h);
  CHECK(pixel(with, int(mirrored[0]), int(mirrored[1]))[1] >
        0.9 * pixel(without, int(mirrored[0]), int(mirrored[1]))[1]);
  // and far away nothing has changed
  CHECK(difference(pixel(with, 5, h - 5), pixel(without, 5, h - 5)) <= 1);
}

TEST_CASE("a body lies in the shadow of another") {
  View view = bare({ball({0, 0, 0}, 0.5, grey)});
  view.shadows = true;
  const Image lit = draw(view, 200, 200);
  // a plate on the way to the light
  Surface plate = square({}, 0.8, blue);
  for (Vec3& p : plate.points) p = Vec3{p.x, 0, -p.y} + Vec3{-0.62, 1.15, 0.42} * 1.6;
  view.surfaces.push_back(plate);
  const Image shaded = draw(view, 200, 200);
  const auto at = seen(view.camera, {-0.15, 0.3, 0.37}, 200, 200);
  CHECK(sum(shaded, int(at[0]), int(at[1])) < 0.75 * sum(lit, int(at[0]), int(at[1])));
}

TEST_CASE("what lies below the floor is hidden by it, and the floor is seen from above only") {
  View view = bare({ball({0, -1, 0}, 0.4, red)});
  view.floor = true;
  view.camera = {{0, 3, 6}, {0, 0, 0}, 40};
  const Image above = draw(view, 120, 90);
  view.camera = {{0, -3, 6}, {0, -1, 0}, 40};
  const Image below = draw(view, 120, 90);
  const auto count_red = [](const Image& image) {
    int n = 0;
    for (int y = 0; y < image.height; ++y)
      for (int x = 0; x < image.width; ++x) n += pixel(image, x, y)[0] > 2 * pixel(image, x, y)[2];
    return n;
  };
  CHECK(count_red(above) == 0);
  CHECK(count_red(below) > 100);
}

TEST_CASE("pictures have the same bits on any number of threads") {
  View view;
  view.surfaces = {solid("bear", {{"resolution", {14}}}, {0, 0.6, 0}, red), square({0.2, 0.5, -1}, 0.7, blue)};
  view.surfaces[1].two_sided = true;
  view.curves.push_back(
      {{{-1, 1, 0}, {0, 1.4, 0.2}, {1, 1, 0}, {0, 1.8, 0}}, {{0, 1}, {1, 2}, {1, 3}}, 0.03f, grey, {}});
  view.camera = {{1, 2, 4}, {0, 0.5, 0}, 35};
  const int before = threads();
  set_threads(1);
  const Image one = draw(view, 333, 222);
  for (const int n : {2, 3, 5}) {
    set_threads(n);
    CHECK((draw(view, 333, 222).rgb == one.rgb));
  }
  set_threads(before);
}

TEST_CASE("values are shown by the colour scale between its two ends") {
  Surface s = square({}, 1, grey);
  s.values = {2, 4, 4, 2};
  View view = bare({s});
  view.value_min = 2, view.value_max = 4;
  const Image image = draw(view, 200, 200);
  const auto left = pixel(image, 55, 100), right = pixel(image, 145, 100);
  CHECK(left[2] > left[1]);        // violet
  CHECK(right[0] > 2 * right[2]);  // yellow
  CHECK(scale_color(-1).r == scale_color(0).r);
  CHECK(scale_color(NAN).g == scale_color(0).g);
  CHECK(scale_color(2).g == scale_color(1).g);
  double last = -1;  // brighter all the way
  for (int k = 0; k <= 100; ++k) {
    const Color c = scale_color(k / 100.0);
    const double light = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
    CHECK(light > last);
    last = light;
  }
}

TEST_CASE("curves are round: a rod has the width of its radius") {
  View view = bare({});
  view.curves.push_back({{{0, -1, 0}, {0, 0, 0}, {0, 1, 0}}, {{0, 1}, {1, 2}}, 0.2f, red, {}});
  const int n = 300;
  const Image image = draw(view, n, n), empty = draw(bare({}), n, n);
  int covered = 0;
  for (int x = 0; x < n; ++x) covered += difference(pixel(image, x, n / 2), pixel(empty, x, n / 2)) > 0;
  // eight sides between the circles of radius r and r cos(pi / 8); tangents from the eye at 5 m
  const double focal = 0.5 * n / std::tan(20 * std::numbers::pi / 180);
  CHECK(covered <= 2 * focal * 0.2 / std::sqrt(25 - 0.04) + 2);
  CHECK(covered >= 2 * focal * 0.2 * std::cos(std::numbers::pi / 8) / std::sqrt(25 - 0.04) - 1);
}

TEST_CASE("a camera frames all points, and no farther away than it must") {
  std::vector<Vec3> points;
  for (std::uint64_t k = 0; k < 500; ++k) points.push_back(random_in_ball(7, k) * 3 + Vec3{4, 5, 6});
  for (const Vec3& direction : {Vec3{0, 0, 1}, Vec3{1, 0.6, 0.3}, Vec3{-2, -1, 0.5}})
    for (const double aspect : {0.5, 1.0, 2.0}) {
      const Camera camera = frame_all(points, direction, aspect);
      double most = 0;
      for (const Vec3& p : points) {
        const auto at = seen(camera, p, 1, 1);
        most = std::max({most, std::abs(2 * at[0] - 1) / aspect, std::abs(2 * at[1] - 1)});
      }
      CHECK(most == doctest::Approx(0.9).epsilon(1e-9));
      const Vec3 back = camera.eye - camera.target;
      CHECK(norm(cross(back, direction)) < 1e-9 * norm(back) * norm(direction));
      CHECK(dot(back, direction) > 0);
    }
  const Camera one = frame_all(std::vector<Vec3>{{1, 2, 3}}, {0, 0, 1}, 1);
  CHECK(norm(one.target - Vec3{1, 2, 3}) < 1e-5);
}

TEST_CASE("a camera inside of a body, and bodies behind it, do no harm") {
  View view = bare({solid("cube", {{"cells", {3, 3, 3}}, {"size", {4}}}, {}, red), ball({0, 0, 50}, 1, blue)}, 1);
  view.shadows = true;
  const Image image = draw(view, 120, 90);
  for (int y = 0; y < 90; ++y)
    for (int x = 0; x < 120; ++x) REQUIRE(pixel(image, x, y)[0] > pixel(image, x, y)[2]);
}

TEST_CASE("corners that are not finite are left out with their triangles") {
  Surface s = square({}, 1, red);
  s.points[3].x = NAN;
  const Image image = draw(bare({s}), 100, 100);
  CHECK(pixel(image, 62, 60)[0] > 2 * pixel(image, 62, 60)[2]);
  CHECK(pixel(image, 38, 38)[0] < 2 * pixel(image, 38, 38)[2]);
}

TEST_CASE("misuse is refused with what was found and what was expected") {
  Surface s = square({}, 1, red);
  s.triangles.push_back({0, 1, 4});
  CHECK_THROWS_WITH_AS(draw(bare({s}), 10, 10), "draw: found point 4 in a surface, expected 0 to 3",
                       std::invalid_argument);
  s = square({}, 1, red);
  s.values = {1};
  CHECK_THROWS_AS(draw(bare({s}), 10, 10), std::invalid_argument);
  CHECK_THROWS_AS(draw(bare({}), 0, 10), std::invalid_argument);
}

TEST_CASE("strips put pictures side by side, labels stay where they are told") {
  const Image a{4, 3, std::vector<std::uint8_t>(36, 10)}, b{4, 3, std::vector<std::uint8_t>(36, 200)};
  const Image three[] = {a, b, a};
  const Image sheet = strip(three, 2, 1);
  CHECK(sheet.width == 9);
  CHECK(sheet.height == 7);
  CHECK(pixel(sheet, 0, 0)[0] == 10);
  CHECK(pixel(sheet, 4, 0)[0] == 255);
  CHECK(pixel(sheet, 5, 2)[0] == 200);
  CHECK(pixel(sheet, 3, 6)[0] == 10);
  CHECK(pixel(sheet, 8, 6)[0] == 255);

  for (const int scale : {1, 2, 3}) {
    Image page{200, 60, std::vector<std::uint8_t>(200 * 60 * 3, 255)};
    label(page, 10, 5, "Hg 1.5", {}, scale);
    int inside = 0;
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 200; ++x) {
        const bool ink = pixel(page, x, y)[0] < 250;
        const bool in = x >= 10 && y >= 5 && x < 10 + label_width("Hg 1.5", scale) && y < 5 + 9 * scale;
        if (ink) CHECK(in);
        inside += ink;
      }
    CHECK(inside > 40 * scale * scale);
  }
  Image page{20, 20, std::vector<std::uint8_t>(20 * 20 * 3, 255)};
  label(page, -5, 15, "cut off \xe2\x82\xac", {}, 2);  // no harm beyond the border
  CHECK(label_width("\xe2\x82\xac") == 6);
}
