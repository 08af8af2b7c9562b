// What is fed with any bytes: each target ends the process where something is wrong, so that libFuzzer, a sanitizer or
// the replay of the corpora see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace verve::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
};
std::span<const Target> targets();

void scene(std::string_view bytes);
void override_value(std::string_view bytes);
void mesh(std::string_view bytes);
void run_folder(std::string_view bytes);
void live(std::string_view bytes);
void snapshot(std::string_view bytes);
void c_calls(std::string_view bytes);
void physics(std::string_view bytes);

/// What has to hold, whatever the bytes.
inline void hold(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

/// Choices by the bytes, one after another; zeros when they are used up.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  unsigned byte() {
    if (left_.empty()) return 0;
    const unsigned out = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return out;
  }
  int below(int n) { return int(byte() % unsigned(n)); }
  bool chance() { return byte() & 1; }
  double between(double low, double high) { return low + (high - low) * (byte() * 256 + byte()) / 65535.0; }
  template <class T, std::size_t n>
  T pick(const T (&choices)[n]) {
    return choices[byte() % n];
  }
  /// Up to a byte of this value, or to the end.
  std::string_view until(char end) {
    const std::size_t at = left_.find(end);
    const std::string_view out = left_.substr(0, at);
    left_.remove_prefix(at == std::string_view::npos ? left_.size() : at + 1);
    return out;
  }
  std::string_view rest() { return left_; }

 private:
  std::string_view left_;
};

}  // namespace verve::fuzz
