// Between light and the bytes of pictures (IEC 61966-2-1).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace verve::render {

inline double encode_srgb(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}
inline double decode_srgb(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

inline std::uint8_t to_srgb(float linear) {
  // 16384 steps: a fifth of a byte where the curve is steepest
  static const auto table = [] {
    std::array<std::uint8_t, 16385> t{};
    for (int k = 0; k <= 16384; ++k) t[k] = std::uint8_t(std::lround(255 * encode_srgb(k / 16384.0)));
    return t;
  }();
  if (!(linear > 0)) return 0;
  return table[int(std::min(linear, 1.f) * 16384 + 0.5f)];
}

}  // namespace verve::render
