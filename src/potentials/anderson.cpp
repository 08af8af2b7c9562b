#include "potentials/anderson.h"

#include <algorithm>
#include <cmath>

namespace verve {

void Anderson::advance(const double* x, const double* image, double* next) {
  const auto product = [&](const double* u, const double* v) {
    double sum = 0;
    for (int i = 0; i < n_; ++i) sum += u[i] * v[i];
    return sum;
  };
  const int m = std::min(count_, window_);
  if (count_ > 0) {
    const int slot = (count_ - 1) % window_;
    for (int i = 0; i < n_; ++i) {
      residuals(slot)[i] = image[i] - x[i] - last_residual()[i];
      images(slot)[i] = image[i] - last_image()[i];
    }
    for (int k = 0; k < m; ++k) gram_[k][slot] = gram_[slot][k] = product(residuals(k), residuals(slot));
  }
  ++count_;
  for (int i = 0; i < n_; ++i) last_residual()[i] = image[i] - x[i], last_image()[i] = image[i];

  // gamma = argmin |residual - sum gamma_k residuals(k)|: normal equations with a diagonal of one, and a trace of ridge
  // for differences that depend on each other
  double a[most][most], gamma[most], scale[most];
  for (int k = 0; k < m; ++k) {
    const double size = std::sqrt(gram_[k][k]);
    scale[k] = size > 0 ? 1 / size : 0;
    gamma[k] = product(residuals(k), last_residual()) * scale[k];
    for (int l = 0; l < k; ++l) a[k][l] = gram_[k][l] * scale[k] * scale[l];
    a[k][k] = 1 + 1e-13;
  }
  for (int k = 0; k < m; ++k) {  // Cholesky
    for (int l = 0; l <= k; ++l) {
      for (int j = 0; j < l; ++j) a[k][l] -= a[k][j] * a[l][j];
      a[k][l] = l < k ? a[k][l] / a[l][l] : std::sqrt(std::max(a[k][k], 1e-14));
    }
    for (int j = 0; j < k; ++j) gamma[k] -= a[k][j] * gamma[j];
    gamma[k] /= a[k][k];
  }
  for (int k = m - 1; k >= 0; --k) {
    for (int j = k + 1; j < m; ++j) gamma[k] -= a[j][k] * gamma[j];
    gamma[k] /= a[k][k];
  }
  for (int i = 0; i < n_; ++i) {
    double value = last_image()[i];
    for (int k = 0; k < m; ++k) value -= gamma[k] * scale[k] * images(k)[i];
    next[i] = value;
  }
}

}  // namespace verve
