// NumPy's array format 1.0 for an array that grows along its first axis.
#pragma once

#include <cstdint>
#include <string>

namespace verve {

/// The header always has this size, so that the number of frames can be rewritten in place. A multiple of 64, as the
/// format asks, and within one memory page: a rewrite is never seen half done.
constexpr std::uint64_t npy_header_size = 192;

/// Shape (frames, vertices, 3), little endian, float64 or float32.
std::string npy_header(std::int64_t frames, std::int64_t vertices, bool float64);

}  // namespace verve
