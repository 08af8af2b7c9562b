// A hash of the bits of a state: equal hashes stand for equal results across threads and runs.
#pragma once

#include <cstdint>
#include <cstring>

namespace verve {

/// FNV-1a over 64-bit words.
class BitHash {
 public:
  void add(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash_ = (hash_ ^ bits) * 1099511628211ull;
    hash_ ^= hash_ >> 29;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

}  // namespace verve
