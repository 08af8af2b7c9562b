// Charts as pixels, and the pixels and letters that pictures of figures share.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "figures/chart.h"
#include "render/picture.h"

namespace verve::figures {

/// What svg() draws, `scale` pixels for one of its.
render::Image image_of(const Chart& chart, int scale = 2);

/// The built-in font has ASCII alone.
std::string in_ascii(std::string text);

using Pixel = std::array<std::uint8_t, 3>;
Pixel pixel(const std::string& color);  ///< "#rrggbb"
/// Outside of the image: nothing.
void put(render::Image& image, int x, int y, const Pixel& color);

}  // namespace verve::figures
