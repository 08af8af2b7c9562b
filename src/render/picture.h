// Pictures without a window: surfaces and rods, lit and shaded, as PNG and GIF. The same bits on any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verve/vec.h"

namespace verve::render {

/// Linear light, 0 … 1.
struct Color {
  float r = 0, g = 0, b = 0;
  friend constexpr Color operator+(const Color& a, const Color& b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
  friend constexpr Color operator*(const Color& a, const Color& b) { return {a.r * b.r, a.g * b.g, a.b * b.b}; }
  friend constexpr Color operator*(const Color& a, float s) { return {a.r * s, a.g * s, a.b * s}; }
};
/// "#rrggbb" as people write it (sRGB); black for anything else.
Color color_from_hex(std::string_view text);
/// Colours that are told apart, for the first, second, … body.
Color body_color(int body);
/// viridis: perceptually even from 0 (violet) to 1 (yellow), also in grey and for the colour-blind.
Color scale_color(double t);

/// sRGB bytes, row by row from the top.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb{};
};

struct Surface {
  std::vector<Vec3> points{};
  std::vector<std::array<int, 3>> triangles{};  ///< counterclockwise from outside
  Color color{0.5f, 0.5f, 0.5f};
  std::vector<float> values{};  ///< one per point, shown by the colour scale in place of the colour
  bool two_sided = false;       ///< a sheet: lit from either side, and some light comes through
};

/// Rods and ropes, round.
struct Curve {
  std::vector<Vec3> points{};
  std::vector<std::array<int, 2>> edges{};
  float radius = 0.01f;  ///< [m]
  Color color{0.5f, 0.5f, 0.5f};
  std::vector<float> values{};  ///< as of a surface
};

struct Camera {
  Vec3 eye{0, 1, 5}, target{};  ///< y is up
  Real fov_degrees = 35;        ///< from the lower edge to the upper
};

struct View {
  std::vector<Surface> surfaces{};
  std::vector<Curve> curves{};
  bool floor = true;  ///< a grid that fades out, seen from above only
  Real floor_height = 0;
  Camera camera{};
  Color background{0.83f, 0.86f, 0.90f};
  Real value_min = 0, value_max = 1;  ///< of Surface::values, at the ends of the colour scale
  bool shadows = true, wireframe = false;
};

/// Throws std::invalid_argument for sizes below 1 or above 16384, indices out of range and values that are not one per
/// point. Triangles with a corner that is not finite are left out.
Image draw(const View& view, int width, int height);

/// The nearest camera that looks against `direction` (from the points to the eye) and sees all the points, with a
/// margin. Give it the points of a whole run, and the camera stands still.
Camera frame_all(std::span<const Vec3> points, const Vec3& direction, double aspect);

/// Pictures in rows of `columns`, `gap` pixels of white between them.
Image strip(std::span<const Image> images, int columns, int gap);

/// Text in a small built-in font, its upper left corner at (x, y); 6 x 9 pixels per character times `scale`.
void label(Image& image, int x, int y, std::string_view text, Color color, int scale = 1);
/// Width in pixels that label() takes.
int label_width(std::string_view text, int scale = 1);
/// The colour scale with its title and the values at its ends and between, in a box of this width.
void legend(Image& image, int x, int y, int width, std::string_view title, Real value_min, Real value_max, Color ink,
            int scale = 1);

/// Whole files.
std::string png(const Image& image);
/// Plays for ever. One palette for all frames, chosen from their colours, dithered where it moves and where it does
/// not. Throws std::invalid_argument unless there is a frame and all are of one size.
std::string gif(std::span<const Image> images, double frames_per_second);

}  // namespace verve::render
