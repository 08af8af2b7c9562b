#include <algorithm>
#include <array>
#include <cmath>

#include "render/picture.h"
#include "render/srgb.h"

namespace verve::render {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Color color_from_hex(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return {};
  std::array<float, 3> out{};
  for (int k = 0; k < 3; ++k) {
    const int high = digit(text[1 + 2 * k]), low = digit(text[2 + 2 * k]);
    if (high < 0 || low < 0) return {};
    out[k] = float(decode_srgb((16 * high + low) / 255.0));
  }
  return {out[0], out[1], out[2]};
}

Color body_color(int body) {
  // those of report.html
  static constexpr std::array<std::string_view, 7> colors{"#e08a5b", "#4c9fb5", "#b7a24a", "#9b7fc4",
                                                          "#6fae72", "#d1728f", "#7f93a8"};
  return color_from_hex(colors[size_t(std::max(0, body)) % colors.size()]);
}

Color scale_color(double t) {
  // viridis of matplotlib (Smith and van der Walt 2015, CC0) at ten places
  static const auto table = [] {
    std::array<Color, 10> out;
    constexpr std::array<std::string_view, 10> places{"#440154", "#482878", "#3e4989", "#31688e", "#26828e",
                                                      "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"};
    for (size_t k = 0; k < out.size(); ++k) out[k] = color_from_hex(places[k]);
    return out;
  }();
  if (!(t > 0)) return table.front();
  if (t >= 1) return table.back();
  const double at = t * (table.size() - 1);
  const size_t k = size_t(at);
  const float s = float(at - double(k));
  return table[k] * (1 - s) + table[k + 1] * s;
}

}  // namespace verve::render
