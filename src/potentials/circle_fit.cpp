#include "potentials/circle_fit.h"

#include <algorithm>
#include <cmath>

#include "potentials/polar.h"

namespace verve {

namespace {

struct Circle {
  Vec3 center, normal;
  double radius = 0, distance = 0;  // sum of squared distances
};

void measure(int n, const Vec3* z, Circle& c) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const Vec3 d = z[i] - c.center;
    const double h = dot(c.normal, d);
    const double rho = norm(d - c.normal * h);
    sum += rho;
    squares += h * h;
  }
  c.radius = sum / n;
  c.distance = squares;
  for (int i = 0; i < n; ++i) {
    const Vec3 d = z[i] - c.center;
    const double off = norm(d - c.normal * dot(c.normal, d)) - c.radius;
    c.distance += off * off;
  }
}

constexpr int unknowns = 5;  // the centre, and two turns of the normal

/// Solves (H + shift 1) x = -g from the lower triangle of H; false if that is not positive definite.
bool solve(const double (&H)[unknowns][unknowns], double shift, const double (&g)[unknowns], double (&x)[unknowns]) {
  double L[unknowns][unknowns];
  for (int i = 0; i < unknowns; ++i) {
    for (int j = 0; j <= i; ++j) {
      double a = H[i][j] + (i == j ? shift : 0);
      for (int k = 0; k < j; ++k) a -= L[i][k] * L[j][k];
      if (i == j && !(a > 1e-14 * std::abs(H[i][i]))) return false;
      L[i][j] = i == j ? std::sqrt(a) : a / L[j][j];
    }
    x[i] = -g[i];
    for (int k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (int i = unknowns - 1; i >= 0; --i) {
    for (int k = i + 1; k < unknowns; ++k) x[i] -= L[k][i] * x[k];
    x[i] /= L[i][i];
  }
  return true;
}

/// Newton's method on f = sum (rho_i - mean rho)^2 + h_i^2 for points of unit size, with Levenberg's shift wherever f
/// is not convex or would not fall. True once it has converged. Stops early near `known`, where it would end.
bool refine(int n, const Vec3* z, Circle& c, int most_iterations, const Circle* known = nullptr) {
  double shift = 0;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    const Vec3 e1 = [&] {
      const Vec3 any = cross(c.normal, std::abs(c.normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
      return any / norm(any);
    }();
    const Vec3 e2 = cross(c.normal, e1);
    double g[unknowns] = {}, H[unknowns][unknowns] = {}, dr[unknowns] = {};
    for (int i = 0; i < n; ++i) {
      const Vec3 d = z[i] - c.center;
      const double h = dot(c.normal, d), u = dot(e1, d), v = dot(e2, d);
      const double rho = std::max(std::sqrt(u * u + v * v), 1e-8), by_rho = 1 / rho, off = rho - c.radius;
      // h and q = rho^2 = |d|^2 - h^2 by centre and turns; a turn by a takes the normal to normal cos a + e1 sin a
      const double dh[unknowns] = {-c.normal.x, -c.normal.y, -c.normal.z, u, v};
      double ddh[unknowns][unknowns] = {}, drho[unknowns];
      for (int k = 0; k < 3; ++k) ddh[k][3] = ddh[3][k] = -e1[k], ddh[k][4] = ddh[4][k] = -e2[k];
      ddh[3][3] = ddh[4][4] = -h;
      for (int k = 0; k < unknowns; ++k) {
        drho[k] = ((k < 3 ? -d[k] : 0) - h * dh[k]) * by_rho;
        dr[k] += drho[k];
        g[k] += 2 * (off * drho[k] + h * dh[k]);
      }
      for (int k = 0; k < unknowns; ++k)
        for (int l = 0; l <= k; ++l) {
          const double ddq = (k == l && k < 3 ? 1 : 0) - dh[k] * dh[l] - h * ddh[k][l];  // half of it
          const double ddrho = (ddq - drho[k] * drho[l]) * by_rho;
          H[k][l] += 2 * (drho[k] * drho[l] + off * ddrho + dh[k] * dh[l] + h * ddh[k][l]);
        }
    }
    for (int k = 0; k < unknowns; ++k)
      for (int l = 0; l <= k; ++l) H[k][l] -= 2 * dr[k] * dr[l] / n;

    double slope = 0;
    for (const double a : g) slope = std::max(slope, std::abs(a));
    if (slope <= 2e-16 * n) return true;
    bool fell = false;
    double moved = 0, used = 0;
    while (!fell && shift < 1e4) {
      double step[unknowns];
      if (!solve(H, shift, g, step)) {
        shift = std::max(4 * shift, 1e-6);
        continue;
      }
      used = shift;
      Circle next = c;
      next.center += Vec3{step[0], step[1], step[2]};
      next.normal += e1 * step[3] + e2 * step[4];
      next.normal = next.normal / norm(next.normal);
      measure(n, z, next);
      moved = 0;
      for (const double s : step) moved = std::max(moved, std::abs(s));
      // at the end f no longer falls in the digits it has
      if (next.distance < c.distance || moved < 1e-8) {
        c = next;
        fell = true;
        shift = shift > 1e-6 ? shift / 8 : 0;
      } else {
        shift = std::max(4 * shift, 1e-6);
      }
    }
    if (known && norm(cross(c.normal, known->normal)) < 0.02 && norm(c.center - known->center) < 0.02) return false;
    // the next step of Newton's own would be about the square of this one; a shifted one goes on at its own pace
    if (!fell || moved < (used > 0 ? 1e-15 : 1e-9) * (1 + c.radius) || c.radius > 1e4) return true;
  }
  return false;
}

}  // namespace

void project_onto_circle(int n, const Vec3* z, Vec3* p) {
  double size2 = 0;
  Mat3 moment{}, U, V;
  Vec3 sigma;
  for (int i = 0; i < n; ++i) size2 += dot(z[i], z[i]), moment = moment + outer(z[i], z[i]);
  if (!(size2 > 0)) {
    std::copy(z, z + n, p);
    return;
  }
  const double size = std::sqrt(size2 / n);
  for (int i = 0; i < n; ++i) p[i] = z[i] / size;
  rotation_svd(moment, U, sigma, V);

  Circle best;
  bool found = false, converged = false;
  // From the best plane a few steps lead to the nearest circle. Where that is far off, one in another principal plane
  // may be nearer.
  for (int axis = 2; axis >= 0; --axis) {
    if (found && best.distance < 0.15 * n) break;
    Circle c;
    c.normal = V.col[axis];
    // Kasa 1976: |x|^2 - 2 c.x + const = 0 in least squares is a linear system for the centre; moments about the mean
    const Vec3 e1 = V.col[(axis + 1) % 3], e2 = V.col[(axis + 2) % 3];
    double uu = 0, vv = 0, ub = 0, vb = 0;
    for (int i = 0; i < n; ++i) {
      const double u = dot(e1, p[i]), v = dot(e2, p[i]), b = 0.5 * (u * u + v * v);
      uu += u * u, vv += v * v, ub += u * b, vb += v * b;  // principal axes: no mixed moment
    }
    const double limit = 100;
    c.center =
        e1 * (uu > 0 ? std::clamp(ub / uu, -limit, limit) : 0) + e2 * (vv > 0 ? std::clamp(vb / vv, -limit, limit) : 0);
    measure(n, p, c);
    const bool done = refine(n, p, c, 20, found ? &best : nullptr);
    if (!found || c.distance < best.distance) best = c, converged = done;
    found = true;
  }
  if (!converged) refine(n, p, best, 100);
  for (int i = 0; i < n; ++i) {
    const Vec3 d = p[i] - best.center;
    Vec3 flat = d - best.normal * dot(best.normal, d);
    const double rho = norm(flat);
    if (!(rho > 0)) {
      flat = cross(best.normal, std::abs(best.normal.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
      flat = flat / norm(flat);
    } else {
      flat = flat / rho;
    }
    // by its difference to the point, so that a point on the circle stays there to the last digit
    const Vec3 change = flat * (best.radius - rho) - best.normal * dot(best.normal, d);
    p[i] = z[i] + change * size;
  }
}

}  // namespace verve
