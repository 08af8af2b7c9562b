#include "integrators/consistent_mass.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "model/model.h"

namespace verve {

namespace {

constexpr int grain = 256;
/// Of M_c^-1 f: the kick of a force must carry its momentum to round-off.
constexpr double force_error = 1e-15, elastic_error = 1e-10;

}  // namespace

void ConsistentMass::append(const Body& body) {
  if (coupling.start.empty()) coupling.start.push_back(0);
  const int rows = coupling.rows(), entries = int(coupling.column.size());
  for (int r = 0; r < body.count; ++r)
    coupling.start.push_back(entries + (body.coupling.empty() ? 0 : body.coupling.start[r + 1]));
  for (const int c : body.coupling.column) coupling.column.push_back(rows + c);
  coupling.weight.insert(coupling.weight.end(), body.coupling.weight.begin(), body.coupling.weight.end());
  coupling.dimension = std::max(coupling.dimension, body.coupling.dimension);
  if (coupling.empty()) return;
  while (coupling.start[first + 1] == 0) ++first;
  for (std::vector<Vec4>* a : {&Dr, &Du, &residual_, &direction_, &next_}) a->resize(coupling.rows());
}

/// Chebyshev semi-iteration, preconditioned by the diagonal: its eigenvalues lie in [1/2, (d + 2)/2] on any mesh
/// (Wathen 1987), so that the count of iterations is known beforehand and no sum is needed (Wathen and Rees 2009).
void ConsistentMass::divide(const std::vector<double>& mass, const std::vector<Vec4>& f, std::vector<Vec4>& x,
                            double error) {
  const double low = 0.5, high = 0.5 * spread(), middle = 0.5 * (high + low), half = 0.5 * (high - low);
  const double sigma = middle / half, rate = sigma + std::sqrt(sigma * sigma - 1);
  const int iterations = int(std::ceil(std::log(2 / error) / std::log(rate)));
  const int rows = coupling.rows();
  const auto inverse_diagonal = [&](int i) {
    double d = mass[i];
    for (int k = coupling.start[i]; k < coupling.start[i + 1]; ++k) d -= coupling.weight[k];
    return mass[i] > 0 ? 1 / d : 0;
  };
  parallel_for(rows, grain, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      residual_[i] = f[i] * inverse_diagonal(i);
      direction_[i] = residual_[i] * (1 / middle);
      x[i] = {};
    }
  });
  double before = 1 / sigma;
  for (int k = 0; k < iterations; ++k) {
    const double now = 1 / (2 * sigma - before), keep = now * before, turn = 2 * now / half;
    parallel_for(rows, grain, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) {
        const Vec4 d = direction_[i];
        x[i] += d;
        residual_[i] -= (d * mass[i] + coupling.row(direction_.data(), i)) * inverse_diagonal(i);
        next_[i] = d * keep + residual_[i] * turn;
      }
    });
    direction_.swap(next_);
    before = now;
  }
}

void ConsistentMass::divide_forces(Forcing& forcing) {
  divide(forcing.mass, forcing.force, forcing.acceleration, force_error);
}

void ConsistentMass::divide_elastic(const Forcing& forcing, Motion& motion) {
  divide(forcing.mass, motion.gradient, motion.elastic, elastic_error);
}

RowState ConsistentMass::begin(const RowArrays& rows, const Motion& motion, Vec4* kr, Vec4* lin) {
  const Vec4 *x = motion.x.data(), *v = motion.v.data(), *xb = rows.xb, *u = rows.u;
  const int o = first;  // sums of D x are the same about any origin; a near one spares digits
  const double inverse = 1 / rows.hh;
  RowState sum = ordered_sum<RowState>(coupling.rows(), grain, state_parts_, [&](int begin, int end) {
    RowState s;
    for (int i = begin; i < end; ++i) {
      Dr[i] = coupling.row(xb, i), Du[i] = coupling.row(u, i);
      const Vec4 Dv = coupling.row(v, i);
      if (kr) kr[i] += Dr[i] * (inverse * inverse);
      if (lin) lin[i] += Du[i] * inverse;
      s.second = s.second + outer((xb[i] - xb[o]).xyz(), Dr[i].xyz());
      s.l += cross((x[i] - x[o]).xyz(), Dv.xyz());
      s.kinetic += 0.5 * dot(v[i] - v[o], Dv);
      s.kinetic_u += 0.5 * dot(u[i] - u[o], Du[i]);
    }
    return s;
  });
  sum.second = (sum.second + transpose(sum.second)) * 0.5;
  return sum;
}

RowSums ConsistentMass::after_pass(const RowArrays& rows) {
  const double inverse = 1 / rows.hh;
  return ordered_sum<RowSums>(coupling.rows(), grain, sum_parts_, [&](int begin, int end) {
    RowSums s;
    for (int i = begin; i < end; ++i) {
      const Vec4 v = (rows.x[i] - rows.xb[i]) * inverse, Dv = velocity(rows.x, rows.hh, i);
      rows.gg[i] += (Dv - Du[i]) * inverse;
      s.kinetic += 0.5 * dot(v, Dv);
      if (rows.spin) s.l += cross(Dr[i].xyz(), v.xyz());
    }
    return s;
  });
}

RowColumns ConsistentMass::columns(const Vec4* Akr, const Vec4* Alin) {
  return ordered_sum<RowColumns>(coupling.rows(), grain, column_parts_, [&](int begin, int end) {
    RowColumns s;
    for (int i = begin; i < end; ++i) {
      s.second = s.second + outer(Akr[i].xyz(), Dr[i].xyz());
      s.l += cross(Dr[i].xyz(), Alin[i].xyz());
    }
    return s;
  });
}

Vec3 ConsistentMass::spin(const Vec4* Ag) {
  return ordered_sum<RowProducts>(coupling.rows(), grain, product_parts_,
                                  [&](int begin, int end) {
                                    RowProducts s;
                                    for (int i = begin; i < end; ++i) s.l += cross(Dr[i].xyz(), Ag[i].xyz());
                                    return s;
                                  })
      .l;
}

}  // namespace verve
