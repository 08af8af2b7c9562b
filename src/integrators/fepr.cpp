#include "integrators/fepr.h"

#include <cmath>
#include <cstdlib>

#include "base/parallel.h"
#include "integrators/island.h"

namespace verve {

namespace {

constexpr int grain = 256;
constexpr int most_iterations = 30;

Vec6 stack(const Vec3& a, const Vec3& b) { return {a.x, a.y, a.z, b.x, b.y, b.z}; }

}  // namespace

ManifoldProjection::Row ManifoldProjection::row(const Island& island, const Reading& now, int i) const {
  const Motion& m = island.motion;
  const Forcing& f = island.forcing;
  const double mass = f.mass[i];
  Row r;
  r.g = m.gradient[i].xyz() - f.force[i].xyz();
  r.y = m.v[i].xyz() * mass;
  if (aim_.momenta) {
    r.g += now.force * (mass / total_mass_);  // the centre of mass stays where ride() has put it
    r.y -= now.velocity * mass;
    r.z = (m.x[i].xyz() - now.center) * mass;
  }
  if (island.consistent()) {
    const MassCoupling& d = island.consistent_mass().coupling;
    r.y += d.row(m.v.data(), i).xyz();
    if (aim_.momenta) r.z += d.row(m.x.data(), i).xyz();
  }
  return r;
}

ManifoldProjection::Products ManifoldProjection::products(const Island& island, const Reading& now) {
  return ordered_sum<Products>(island.rows(), grain, parts_, [&](int begin, int end) {
    Products s;
    for (int i = begin; i < end; ++i) {
      const double inverse = island.forcing.inverse_mass[i];
      const Row r = row(island, now, i);
      s.gg += inverse * dot(r.g, r.g), s.yy += inverse * dot(r.y, r.y);
      if (!aim_.momenta) continue;
      s.gy += cross(r.g, r.y) * inverse, s.zy += cross(r.z, r.y) * inverse;
      s.y2 = s.y2 + outer(r.y, r.y * inverse), s.z2 = s.z2 + outer(r.z, r.z * inverse);
    }
    return s;
  });
}

/// q -= D^-1 grad c lambda
void ManifoldProjection::move(Island& island, const Reading& now, double h, double lambda, const Vec3& lambda_p,
                              const Vec3& lambda_l) {
  const double inverse_h2 = 1 / (h * h);
  step_x_.resize(island.rows()), step_v_.resize(island.rows());
  parallel_for(island.rows(), grain, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      const double inverse = island.forcing.inverse_mass[i];
      const Row r = row(island, now, i);
      step_x_[i] = Vec4((r.g * lambda + cross(r.y, lambda_l)) * inverse);
      step_v_[i] = Vec4((r.y * lambda + cross(lambda_l, r.z)) * (inverse * inverse_h2));
      if (inverse > 0) step_v_[i] += Vec4(lambda_p * inverse_h2);
    }
  });
  Motion& m = island.motion;
  for (int i = 0; i < island.rows(); ++i) m.x[i] -= step_x_[i], m.v[i] -= step_v_[i];
  island.evaluate_motion();
}

Quantities ManifoldProjection::correct(Island& island, double h, const Settings& settings, StepOutcome& out) {
  Motion& m = island.motion;
  Reading now = read(island);
  if (aim_.momenta) ride(island, now), now = read(island);
  const Vec3 d_p = now.p - aim_.target.p, d_l = now.l - aim_.target.l;
  const double eps = settings.spec.epsilon * aim_.e_ref * h * h;
  static const double start = std::getenv("FEPR_B") ? 0 : 1;
  double s = start, t = start, sum = 0;
  Quantities c;
  for (int k = 0;; ++k) {
    c = {{}, {}, energy_error(now, m.energy)};
    if (aim_.momenta) c.p = now.p - aim_.target.p - d_p * s, c.l = now.l - aim_.target.l - d_l * t;
    if (!std::isfinite(c.h) || met(island, c, now, h, settings.tolerance)) break;
    if (k == most_iterations) {
      out.stationary = true;
      break;
    }
    const Products p = products(island, now);
    const double inverse_h2 = 1 / (h * h);
    double s_hh = p.gg + p.yy * inverse_h2, lambda = 0;
    Vec3 lambda_p{}, lambda_l{};
    if (!aim_.momenta) {
      lambda = s_hh > 0 ? c.h / s_hh : 0;
    } else {
      // the row of H less the centre's velocity times that of P: what is left is about the centre
      const double c_h = c.h - dot(now.velocity, c.p), along = dot(now.velocity, d_p);
      s_hh += along * along / eps;
      const Vec3 s_ph = d_p * (-along / eps), s_lh = p.gy + p.zy * inverse_h2;
      const auto turn = [](const Mat3& a) { return Mat3::identity() * (a(0, 0) + a(1, 1) + a(2, 2)) - a; };
      const Mat3 s_ll = turn(p.y2) + turn(p.z2) * inverse_h2 + outer(d_l, d_l * (1 / eps));
      const Mat3 s_pp = Mat3::identity() * (total_mass_ * inverse_h2) + outer(d_p, d_p * (1 / eps));
      Mat6 s_qq{};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) s_qq[i][j] = s_pp(i, j), s_qq[3 + i][3 + j] = s_ll(i, j);
      const Mat6 inverse = pseudo_inverse(s_qq, 1e-10);
      const Vec6 s_qh = stack(s_ph, s_lh), c_q = stack(c.p, c.l), reduced = inverse * s_qh;
      const double sigma = s_hh - dot(s_qh, reduced);
      if (sigma > 1e-11 * s_hh) lambda = (c_h - dot(reduced, c_q)) / sigma;
      Vec6 rest = c_q;
      for (int i = 0; i < 6; ++i) rest[i] -= s_qh[i] * lambda;
      const Vec6 q = inverse * rest;
      lambda_p = {q[0], q[1], q[2]}, lambda_l = {q[3], q[4], q[5]};
      s += (dot(d_p, lambda_p) - along * lambda) / eps;
      t += dot(d_l, lambda_l) / eps;
    }
    if (lambda == 0 && lambda_p == Vec3{} && lambda_l == Vec3{}) {  // nothing to put the energy into
      out.stationary = true;
      break;
    }
    move(island, now, h, lambda, lambda_p, lambda_l);
    sum += lambda * inverse_h2;
    ++out.iterations;
    now = read(island);
  }
  out.lambda = sum;
  slack_p_ = s, slack_l_ = t;
  // p of generalised-alpha goes on with the velocity, as in a push
  if (m.history)
    for (int i = 0; i < island.rows(); ++i) m.p[i] += m.v[i] - base_v_[i];
  return c;
}

std::unique_ptr<Projection> make_fepr() { return std::make_unique<ManifoldProjection>(true); }
std::unique_ptr<Projection> make_energy_only() { return std::make_unique<ManifoldProjection>(false); }

}  // namespace verve
