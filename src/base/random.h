// Random numbers that are the same on every machine and do not depend on the order of calls.
#pragma once

#include <cmath>
#include <cstdint>

#include "verve/vec.h"

namespace verve {

/// SplitMix64 (Steele et al. 2014): one well-mixed number per (seed, index).
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ull + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Uniform in [-1, 1).
inline double random_signed(std::uint64_t seed, std::uint64_t index) {
  return double(std::int64_t(random_bits(seed, index)) >> 11) * 0x1p-52;
}

/// Uniform in the unit ball, by rejection from the cube.
inline Vec3 random_in_ball(std::uint64_t seed, std::uint64_t index) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t k = 3 * (index + (attempt << 40));
    const Vec3 p{random_signed(seed, k), random_signed(seed, k + 1), random_signed(seed, k + 2)};
    if (dot(p, p) <= 1) return p;
  }
}

}  // namespace verve
