#include "figures/chart_image.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "figures/canvas.h"

namespace verve::figures {

std::string in_ascii(std::string text) {
  static constexpr std::pair<const char*, const char*> words[] = {
      {"γ", "gamma"}, {"μ", "mu"}, {"τ", "tau"}, {"×", "x"}, {"±", "+-"}, {"≤", "<="}, {"α", "alpha"}, {"Δ", "d"}};
  for (const auto& [from, to] : words)
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, std::string_view(from).size(), to);
  return text;
}

Pixel pixel(const std::string& color) {
  Pixel out{};
  for (size_t c = 0; c < 3 && color.size() == 7; ++c)
    out[c] = std::uint8_t(std::stoi(color.substr(1 + 2 * c, 2), nullptr, 16));
  return out;
}

void put(render::Image& image, int x, int y, const Pixel& color) {
  if (x < 0 || y < 0 || x >= image.width || y >= image.height) return;
  for (size_t c = 0; c < 3; ++c) image.rgb[3 * (size_t(y) * size_t(image.width) + size_t(x)) + c] = color[c];
}

namespace {

class ImageCanvas final : public Canvas {
 public:
  /// Without a height: nothing is drawn.
  ImageCanvas(int scale, int height)
      : scale_(scale), image_{height > 0 ? int(chart_width) * scale : 0, height * scale, {}} {
    image_.rgb.assign(3 * size_t(image_.width) * size_t(image_.height), 255);
  }
  render::Image take() { return std::move(image_); }

  void line(double x1, double y1, double x2, double y2, const char* kind) override {
    const bool grid = *kind == 'g';
    stroke(x1, y1, x2, y2, grid ? Pixel{227, 230, 234} : Pixel{138, 146, 156}, 0.5, *kind == 'b' ? 3.0 : 0.0);
  }
  void text(double x, double y, const std::string& words, const char* anchor, const char* kind, bool upright) override {
    const std::string shown = in_ascii(words);
    const int width = render::label_width(shown, scale_), height = 9 * scale_;
    const double share = *anchor == 's' ? 0 : *anchor == 'm' ? 0.5 : 1;
    const render::Color ink = *kind == 'h' ? render::Color{0, 0, 0} : render::Color{0.03f, 0.03f, 0.04f};
    if (!upright) {
      const int left = int(std::lround(x * scale_ - share * width)),
                top = int(std::lround(y * scale_)) - height + scale_;
      render::label(image_, left, top, shown, ink, scale_);
      if (*kind == 'h') render::label(image_, left + 1, top, shown, ink, scale_);  // bold
      return;
    }
    render::Image flat{width, height, std::vector<std::uint8_t>(3 * size_t(width) * size_t(height), 255)};
    render::label(flat, 0, 0, shown, ink, scale_);
    const int left = int(std::lround(x * scale_)) - height, below = int(std::lround(y * scale_ + share * width));
    for (int v = 0; v < height; ++v)
      for (int u = 0; u < width; ++u) {
        const std::uint8_t* from = &flat.rgb[3 * (size_t(v) * size_t(width) + size_t(u))];
        if (from[0] < 200) put(image_, left + v, below - u, {from[0], from[1], from[2]});
      }
  }
  void rect(double x, double y, double w, double h, const std::string& color) override {
    for (int v = int(y * scale_); v < int((y + h) * scale_); ++v)
      for (int u = int(x * scale_); u < int((x + w) * scale_); ++u) put(image_, u, v, pixel(color));
  }
  void path(const std::vector<Point>& points, const std::string& color, bool dashed) override {
    for (size_t i = 1; i < points.size(); ++i)
      if (!points[i].begins)
        stroke(points[i - 1].x, points[i - 1].y, points[i].x, points[i].y, pixel(color), 0.8, dashed ? 5.0 : 0.0);
  }
  void dot(double x, double y, const std::string& color) override {
    disc(x * scale_, y * scale_, 3 * scale_, pixel(color));
  }

 private:
  void disc(double x, double y, double radius, const Pixel& color) {
    for (int v = int(std::floor(y - radius)); v <= int(std::ceil(y + radius)); ++v)
      for (int u = int(std::floor(x - radius)); u <= int(std::ceil(x + radius)); ++u)
        if (std::hypot(u - x, v - y) <= radius) put(image_, u, v, color);
  }
  void stroke(double x1, double y1, double x2, double y2, const Pixel& color, double radius, double dash) {
    const double length = std::hypot(x2 - x1, y2 - y1) * scale_;
    const int steps = 1 + int(2 * length);
    for (int i = 0; i <= steps; ++i) {
      const double t = double(i) / steps;
      if (dash > 0 && int(t * length / (dash * scale_)) % 2 == 1) continue;
      disc((x1 + t * (x2 - x1)) * scale_, (y1 + t * (y2 - y1)) * scale_, radius * scale_, color);
    }
  }
  int scale_;
  render::Image image_;
};

}  // namespace

render::Image image_of(const Chart& chart, int scale) {
  ImageCanvas measure(scale, 0);
  ImageCanvas canvas(scale, int(std::ceil(draw_chart(chart, measure))));
  draw_chart(chart, canvas);
  return canvas.take();
}

}  // namespace verve::figures
