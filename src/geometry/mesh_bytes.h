// Binary mesh files: numbers of either byte order, never beyond the end, with faults reported by their byte.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "verve/diagnostics.h"

namespace verve {

class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string name, Diagnostics& out, bool big_endian = false)
      : bytes_(bytes), name_(std::move(name)), out_(out), swap_(big_endian != (std::endian::native == std::endian::big)) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  void seek(std::size_t position) { position_ = std::min(position, bytes_.size()); }
  bool failed() const { return failed_; }
  /// One per file: what follows a fault cannot be made sense of.
  void error(const std::string& what) {
    if (!failed_) out_.error(name_ + ": byte " + std::to_string(position_), what);
    failed_ = true;
  }
  /// A number of this type, 0 beyond the end, which is an error.
  template <class T>
  T take(const char* what) {
    T value{};
    if (failed_) return value;
    if (remaining() < sizeof value) {
      error(std::string("found the end of the file, expected ") + what);
      return value;
    }
    char raw[sizeof value];
    for (std::size_t i = 0; i < sizeof value; ++i)
      raw[i] = bytes_[position_ + (swap_ ? sizeof value - 1 - i : i)];
    std::memcpy(&value, raw, sizeof value);
    position_ += sizeof value;
    return value;
  }
  /// Whether `count` rows of `size` bytes can follow.
  bool fits(std::uint64_t count, std::size_t size, const std::string& what) {
    if (failed_) return false;
    if (size == 0 || count <= remaining() / size) return true;
    error("found a count of " + std::to_string(count) + " " + what + ", expected at most " +
          std::to_string(remaining() / size) + ", which is what the rest of the file can hold");
    return false;
  }

 private:
  std::string_view bytes_;
  std::string name_;
  Diagnostics& out_;
  std::size_t position_ = 0;
  bool swap_, failed_ = false;
};

}  // namespace verve
