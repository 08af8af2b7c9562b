#include "potentials/potential.h"

#include "potentials/kernel.h"

namespace verve {

double Potential::metric(int element, int i, int j) const {
  double sum = 0;
  for (int r = 0; r < rows(element); ++r) sum += coefficient(element, r, i) * coefficient(element, r, j);
  return weight(element) * sum;
}

/// One element at a time through constraint(): for potentials whose elements differ in size.
void Potential::relax(const Relaxation& sweep) {
  double* lambda = sweep.multipliers;
  for (int e = 0; e < elements(); ++e) {
    const int n = corners(e);
    if (n > int(corner_gradients_.size())) corner_gradients_.resize(n);
    Vec3* g = corner_gradients_.data();
    for (int which = 0; which < constraints(); ++which, ++lambda) {
      const double k = constraint_stiffness(e, which);
      if (!(k > 0)) continue;
      const double C = constraint(e, which, sweep.x, g);
      double weighted = 0, along = 0;
      for (int i = 0; i < n; ++i) {
        const Vec4& x = sweep.x[vertex(e, i)];
        weighted += x.w * dot(g[i], g[i]);
        if (sweep.damping > 0) along += dot(g[i], (x - sweep.start[vertex(e, i)]).xyz());
      }
      if (!(weighted > 0)) continue;
      const double change =
          multiplier_change<double>(C, sweep.inverse_h2 / k, *lambda, weighted, sweep.damping, along, sweep.share);
      *lambda += change;
      for (int i = 0; i < n; ++i) {
        Vec4& x = sweep.x[vertex(e, i)];
        x += Vec4(g[i] * (x.w * change));
      }
    }
  }
}

}  // namespace verve
