#include "integrators/fepr.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "integrators/island.h"

namespace verve {

namespace {

constexpr int grain = 256;
constexpr int most_iterations = 30, most_searches = 8;

Vec6 stack(const Vec3& a, const Vec3& b) { return {a.x, a.y, a.z, b.x, b.y, b.z}; }

}  // namespace

void ManifoldProjection::make_room(const Island& island) {
  step_x_.resize(island.rows()), step_v_.resize(island.rows());
  parts_.reserve(1 + island.rows() / grain);
}

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

/// Back along the last step by a share of it.
void ManifoldProjection::take_back(Island& island, double share) {
  Motion& m = island.motion;
  for (int i = 0; i < island.rows(); ++i) m.x[i] += step_x_[i] * share, m.v[i] += step_v_[i] * share;
  island.evaluate_motion();
}

Quantities ManifoldProjection::correct(Island& island, double h, const Settings& settings, StepOutcome& out) {
  Motion& m = island.motion;
  Reading now = read(island);
  if (aim_.momenta) ride(island, now), now = read(island);
  const Vec3 d_p = now.p - aim_.target.p, d_l = now.l - aim_.target.l;
  const double slack = 1 / (settings.spec.epsilon * settings.spec.epsilon * aim_.e_ref * h * h);  // of D^-1
  double s = 0, t = 0, sum = 0;
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
    double s_hh = p.gg + p.yy * inverse_h2, lambda = 0, step_s = 0, step_t = 0;
    Vec3 lambda_p{}, lambda_l{};
    if (!aim_.momenta) {
      lambda = s_hh > 0 ? c.h / s_hh : 0;
    } else {
      // the row of H less the centre's velocity times that of P: what is left is about the centre
      const double c_h = c.h - dot(now.velocity, c.p), along = dot(now.velocity, d_p);
      s_hh += along * along * slack;
      const Vec3 s_ph = d_p * (-along * slack), s_lh = p.gy + p.zy * inverse_h2;
      const auto turn = [](const Mat3& a) { return Mat3::identity() * (a(0, 0) + a(1, 1) + a(2, 2)) - a; };
      const Mat3 s_ll = turn(p.y2) + turn(p.z2) * inverse_h2 + outer(d_l, d_l * slack);
      const Mat3 s_pp = Mat3::identity() * (total_mass_ * inverse_h2) + outer(d_p, d_p * slack);
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
      step_s = (dot(d_p, lambda_p) - along * lambda) * slack;
      step_t = dot(d_l, lambda_l) * slack;
    }
    if (lambda == 0 && lambda_p == Vec3{} && lambda_l == Vec3{}) {  // nothing to put the energy into
      out.stationary = true;
      break;
    }
    move(island, now, h, lambda, lambda_p, lambda_l);
    ++out.iterations;
    now = read(island);
    // Along the step H - H* is c (1 - a) + k a^2. Where H is curved more than the step is short (a light vertex on a
    // stiff spring) the whole step leads far past H*: it ends where this parabola meets H*, fitted anew to where it has
    // led, or where it comes nearest.
    double length = 1, low = 0, high = 1, left = energy_error(now, m.energy);
    const auto shorten = [&](double to) {
      take_back(island, length - to);
      length = to;
      ++out.iterations;
      now = read(island);
      left = energy_error(now, m.energy);
    };
    const double enough = 0.5 * settings.tolerance * aim_.e_ref;
    // residuals of the momenta, too, cost energy on the way: an overshoot is what is more than half of those
    const double before = aim_.e_ref * std::max(norm(c.p), now.radius > 0 ? norm(c.l) / now.radius : 0) / aim_.scale_p;
    if (c.h < 0 && left > std::max(enough, 0.5 * before)) {
      for (int n = 0; n < most_searches && std::abs(left) > enough; ++n) {
        const double curvature = (left - c.h * (1 - length)) / (length * length);
        double to = 2 / (1 + std::sqrt(1 - 4 * curvature / c.h));
        (left > 0 ? high : low) = length;
        if (!(to > low && to < high)) to = 0.5 * (low + high);
        shorten(to);
      }
    } else if (c.h > 0 && left > 0.5 * std::max(c.h, before)) {
      shorten(0.5 * c.h / left);
    }
    s += length * step_s, t += length * step_t;
    sum += length * lambda * inverse_h2;
  }
  out.lambda = sum;
  slack_p_ = s, slack_l_ = t;
  // A weight that leaves the slack to what is impossible: what it takes is owed. Otherwise a base step that loses much
  // of L would have its way with 1e-5 of it in every step for good (pbd).
  if (aim_.momenta && settings.spec.epsilon >= 1) c.p = now.p - aim_.target.p, c.l = now.l - aim_.target.l;
  // p of generalised-alpha goes on with the velocity, as in a push
  if (m.history)
    for (int i = 0; i < island.rows(); ++i) m.p[i] += m.v[i] - base_v_[i];
  return c;
}

std::unique_ptr<Projection> make_fepr() { return std::make_unique<ManifoldProjection>(true); }
std::unique_ptr<Projection> make_energy_only() { return std::make_unique<ManifoldProjection>(false); }

}  // namespace verve
