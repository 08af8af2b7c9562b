#pragma once

#include <chrono>

namespace verve {

/// Adds the time between two calls to one account after another.
class Stopwatch {
 public:
  void book(double& milliseconds) {
    const auto now = std::chrono::steady_clock::now();
    milliseconds += std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace verve
