#include "integrators/consistent_mass.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "integrators/island.h"

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

void Island::balance_forces() {
  if (consistent() && !forcing.uniform)
    consistent_.divide(forcing.mass, forcing.force, forcing.acceleration, force_error);
}

/// The elastic acceleration that an integrator takes at x_n. What is held does not depend on it.
void Island::divide_elastic() { consistent_.divide(forcing.mass, motion.gradient, motion.elastic, elastic_error); }

/// D u and D xb for the step, and what they add to the sums over its start and to the columns of the constraints.
RowState Island::couple_start() {
  const Vec4 *x = motion.x.data(), *v = motion.v.data(), *xb = base_.xb.data(), *u = base_.u.data();
  const MassCoupling& d = consistent_.coupling;
  const int o = consistent_.first;  // sums of D x are the same about any origin; a near one spares digits
  const double inverse = 1 / base_.hh;
  RowState sum = ordered_sum<RowState>(rows_, grain, state_parts_, [&](int begin, int end) {
    RowState s;
    for (int i = begin; i < end; ++i) {
      const Vec4 Dr = consistent_.Dr[i] = d.row(xb, i), Du = consistent_.Du[i] = d.row(u, i), Dv = d.row(v, i);
      if (has_levers()) kr_[i] += Dr * (inverse * inverse);
      if (problem_.held) lin_[i] += Du * inverse;
      s.second = s.second + outer((xb[i] - xb[o]).xyz(), Dr.xyz());
      s.l += cross((x[i] - x[o]).xyz(), Dv.xyz());
      s.kinetic += 0.5 * dot(v[i] - v[o], Dv);
      s.kinetic_u += 0.5 * dot(u[i] - u[o], Du);
    }
    return s;
  });
  sum.second = (sum.second + transpose(sum.second)) * 0.5;
  return sum;
}

/// D v at the present iterate. D x - D xb loses no more than v = (x - xb)/hh does.
Vec4 Island::coupled_velocity(int i) const {
  return (consistent_.coupling.row(x_.data(), i) - consistent_.Dr[i]) * (1 / base_.hh);
}

/// After a pass: gg, kinetic energy and L of M_c in place of M. P and the power of the forces are the same.
void Island::couple_pass() {
  const double inverse = 1 / base_.hh;
  sums_.rows += ordered_sum<RowSums>(rows_, grain, sum_parts_, [&](int begin, int end) {
    RowSums s;
    for (int i = begin; i < end; ++i) {
      const Vec4 v = (x_[i] - base_.xb[i]) * inverse, Dv = coupled_velocity(i);
      gg_[i] += (Dv - consistent_.Du[i]) * inverse;
      s.kinetic += 0.5 * dot(v, Dv);
      if (problem_.momenta) s.l += cross(consistent_.Dr[i].xyz(), v.xyz());
    }
    return s;
  });
}

/// Of the columns of held momenta: sum A^-1(K r) (D r)^T and sum (D r) x A^-1 lin.
RowColumns Island::coupled_columns() {
  return ordered_sum<RowColumns>(rows_, grain, column_parts_, [&](int begin, int end) {
    RowColumns s;
    for (int i = begin; i < end; ++i) {
      const Vec3 Dr = consistent_.Dr[i].xyz();
      s.second = s.second + outer(Akr_[i].xyz(), Dr);
      s.l += cross(Dr, Alin_[i].xyz());
    }
    return s;
  });
}

/// sum (D r) x A^-1 gg
Vec3 Island::coupled_spin() {
  return ordered_sum<RowProducts>(rows_, grain, product_parts_,
                                  [&](int begin, int end) {
                                    RowProducts s;
                                    for (int i = begin; i < end; ++i)
                                      s.l += cross(consistent_.Dr[i].xyz(), Ag_[i].xyz());
                                    return s;
                                  })
      .l;
}

}  // namespace verve
