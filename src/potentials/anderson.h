// Anderson acceleration of a fixed-point iteration (Walker, Ni 2011), on memory of the caller.
#pragma once

#include <cstddef>

namespace verve {

class Anderson {
 public:
  static constexpr int most = 20;  // the longest window
  static constexpr std::size_t scratch_size(int n, int window = 5) { return std::size_t(2 * window + 2) * n; }
  Anderson(int n, double* scratch, int window = 5) : n_(n), window_(window), scratch_(scratch) {}
  void restart() { count_ = 0; }
  /// Where to go from x, given what the iteration makes of it; `next` may be either of them.
  void advance(const double* x, const double* image, double* next);

 private:
  double* residuals(int k) { return scratch_ + std::size_t(k) * n_; }         // differences of residuals
  double* images(int k) { return scratch_ + std::size_t(window_ + k) * n_; }  // differences of images
  double* last_residual() { return scratch_ + std::size_t(2 * window_) * n_; }
  double* last_image() { return scratch_ + std::size_t(2 * window_ + 1) * n_; }

  int n_, window_;
  double* scratch_;
  double gram_[most][most];  // products of the differences of residuals
  int count_ = 0;            // calls since the restart
};

}  // namespace verve
