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

/// Of any elements, as NumPy writes their type: "'<f4'", and shape: "(3, 4)".
std::string npy_header(const std::string& type, const std::string& shape);

/// What such a header says.
struct NpyHeader {
  std::int64_t frames = 0, vertices = 0;
  bool float64 = false;
  std::uint64_t size = 0;  ///< of the header: where the array begins
};
/// Reads the header at the beginning of `bytes`, also those that NumPy itself writes for an array of this kind. Returns
/// what is wrong with it, empty when nothing is.
std::string read_npy_header(const std::string& bytes, NpyHeader& out);
/// Likewise of one row after the other, of this type; `size`: of the header.
std::string read_npy_table_header(const std::string& bytes, const std::string& type, std::int64_t& rows,
                                  std::uint64_t& size);

}  // namespace verve
