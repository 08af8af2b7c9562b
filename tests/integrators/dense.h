// One step written out densely, from the formulas of the design: the oracle for what the program does with one factor
// and a few inner products.
#pragma once

#include <Eigen/LU>
#include <Eigen/QR>

#include "rig.h"

namespace verve::test {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

inline Vector flat(const std::vector<Vec4>& rows) {
  Vector out(3 * rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    out(3 * i) = rows[i].x, out(3 * i + 1) = rows[i].y, out(3 * i + 2) = rows[i].z;
  return out;
}

inline std::vector<Vec4> rows_of(const Vector& v) {
  std::vector<Vec4> out(v.size() / 3);
  for (size_t i = 0; i < out.size(); ++i) out[i] = {v(3 * i), v(3 * i + 1), v(3 * i + 2)};
  return out;
}

/// M/hh^2 + sum w A^T A, from the coefficients of each element; scalar.
inline Matrix dense_matrix(const Rig& rig, double hh) {
  Matrix a = Matrix::Zero(rig.rows(), rig.rows());
  for (int r = 0; r < rig.rows(); ++r) a(r, r) += rig.mass(r) / (hh * hh);
  for (const auto& p : rig.matter.bodies[0].potentials)
    for (int e = 0; e < p->elements(); ++e)
      for (int k = 0; k < p->rows(0); ++k)
        for (int i = 0; i < p->corners(0); ++i)
          for (int j = 0; j < p->corners(0); ++j)
            a(p->vertex(e, i), p->vertex(e, j)) += p->weight(e) * p->coefficient(e, k, i) * p->coefficient(e, k, j);
  for (const auto& term : rig.island->anchor_terms())
    for (const int v : term.world.vertices) a(v, v) += term.world.stiffness;
  return a;
}

inline Matrix three_fold(const Matrix& a) {
  Matrix out = Matrix::Zero(3 * a.rows(), 3 * a.cols());
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.cols(); ++j)
      for (int c = 0; c < 3; ++c) out(3 * i + c, 3 * j + c) = a(i, j);
  return out;
}

inline Vector solve(const Matrix& a, const Vector& b) { return a.fullPivLu().solve(b); }

/// g, H, P and L of one step as functions of x, with the targets as the design states them.
struct Problem {
  Rig& rig;
  Vector m, xb, u, f;
  double hh, beta;
  bool momenta;
  Matrix A;         // 3n x 3n
  Matrix Cq;        // 3n x 6: gradients of P and L
  Vector target_q;  // 6
  double target_h = 0;
  Matrix Dq;  // by what the momenta are put right: grad c_q, but L by turns of the affine image of the rest shape
  Vector w;   // what grad H has of grad c_q, about: by that part P and L are put right as they are

  /// `start` is the motion before the step, `rig.island->solver().base()` that of the step just made.
  Problem(Rig& r, const Motion& start, const std::string& method, double h) : rig(r), momenta(!r.island->anchored()) {
    const BaseStep& base = rig.island->solver().base();
    const int n = rig.rows();
    xb = flat(base.xb), u = flat(base.u), f = flat(rig.island->forcing.force);
    hh = base.hh;
    const bool published = method == "published", euler = method == "cpd_euler" || published;
    beta = published ? 0 : euler ? 0.5 * h : hh;
    m.resize(3 * n);
    for (int i = 0; i < n; ++i) m.segment<3>(3 * i).setConstant(rig.mass(i));
    A = three_fold(dense_matrix(rig, hh));
    const Vec3 c = rig.center(base.xb), cn = rig.center(start.x);
    if (!momenta && !published) A = free_to_turn(A, base.xb);
    Cq = Matrix::Zero(3 * n, 6);
    target_q = Vector::Zero(6);
    Vec3 p{}, l{};
    for (int i = 0; i < n; ++i) {
      const double mass = rig.mass(i);
      const Vec3 radius = base.xb[i].xyz() - c;
      for (int a = 0; a < 3; ++a) {
        Vec3 axis{};
        axis[a] = 1;
        const Vec3 turn = cross(axis, radius);  // e_a . (r x dx) = (e_a x r) . dx
        for (int k = 0; k < 3; ++k)
          Cq(3 * i + k, a) = k == a ? mass / hh : 0, Cq(3 * i + k, 3 + a) = mass * turn[k] / hh;
      }
      const Vec3 v = start.v[i].xyz(), force = rig.island->forcing.force[i].xyz(), rn = start.x[i].xyz() - cn;
      const Vec3 q = euler ? base.u[i].xyz() * mass : v * mass + force * h;
      p += q;
      l += cross(rn, q);
    }
    target_q << p.x, p.y, p.z, l.x, l.y, l.z;
    Dq = momenta && !published ? turns_of_rest(base.xb) : Cq;
    w = Vector::Zero(6);
    if (momenta && !published) {
      Vec3 drift = rig.momentum(base.u);
      Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
      for (int i = 0; i < n; ++i) {
        drift += rig.island->forcing.force[i].xyz() * -beta;
        const Vec3 r = base.xb[i].xyz() - c;
        const Eigen::Vector3d e(r.x, r.y, r.z);
        inertia += rig.mass(i) * (e.squaredNorm() * Eigen::Matrix3d::Identity() - e * e.transpose());
      }
      const Vec3 spin = rig.spin(start.x, start.v);
      const Eigen::Vector3d turn = inertia.inverse() * Eigen::Vector3d(spin.x, spin.y, spin.z);
      w << drift.x / rig.total_mass(), drift.y / rig.total_mass(), drift.z / rig.total_mass(), turn;
    }
    const double w = rig.energy(start.x);
    if (published) {
      target_h = rig.kinetic(start.v) + w + h * f.dot(flat(start.v));
    } else if (euler) {
      target_h = rig.kinetic(base.u) + w - beta * f.dot(u);
    } else {
      target_h = rig.kinetic(start.v) + w - f.dot(flat(start.x) - xb);
    }
  }

  /// Impulses e_a x m F rest for L, where F rest is the image for which A Y differs from grad c_L by nothing that an
  /// affine motion A^-1 K (W rest) would feel; grad c_L itself where second moments say that the shape is none.
  Matrix turns_of_rest(const std::vector<Vec4>& at) const {
    const int n = rig.rows();
    const Body& body = rig.model.bodies[0];
    const Vec3 rest_center = rig.center(body.rest), center = rig.center(at);
    Matrix rest(n, 3), r(n, 3), mass = Matrix::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      const Vec3 q = body.rest[i].xyz() - rest_center, d = at[i].xyz() - center;
      rest.row(i) << q.x, q.y, q.z;
      r.row(i) << d.x, d.y, d.z;
      mass(i, i) = rig.mass(i);
    }
    const Matrix lever = dense_matrix(rig, hh).llt().solve(mass * rest / (hh * hh));
    const Matrix F = (r.transpose() * mass * lever) * (rest.transpose() * mass * lever).inverse();
    const Matrix image = rest * F.transpose();
    const Matrix second = r.transpose() * mass * r, apart = second - image.transpose() * mass * image;
    if (apart.norm() > 0.2 * (second.trace() - second.norm())) return Cq;
    Matrix out = Cq;
    for (int i = 0; i < n; ++i)
      for (int a = 0; a < 3; ++a) {
        Vec3 axis{};
        axis[a] = 1;
        const Vec3 turn = cross(axis, {image(i, 0), image(i, 1), image(i, 2)});
        for (int k = 0; k < 3; ++k) out(3 * i + k, 3 + a) = rig.mass(i) * turn[k] / hh;
      }
    return out;
  }

  /// A without the resistance of its elastic part E to turns Z of the whole: A - E Z (Z^T E Z)^-1 Z^T E.
  Matrix free_to_turn(const Matrix& a, const std::vector<Vec4>& at) const {
    Matrix K = m.asDiagonal();
    K /= hh * hh;
    for (const auto& term : rig.island->anchor_terms())
      for (const int i : term.world.vertices)
        for (int k = 0; k < 3; ++k) K(3 * i + k, 3 * i + k) += term.world.stiffness;
    // of the affine image of the rest shape that is nearest to where the body is
    const Body& body = rig.model.bodies[0];
    const Vec3 rest_center = rig.center(body.rest), center = rig.center(at);
    Eigen::Matrix3d moment = Eigen::Matrix3d::Zero(), second = Eigen::Matrix3d::Zero();
    const auto eigen = [](const Vec3& v) { return Eigen::Vector3d(v.x, v.y, v.z); };
    for (int i = 0; i < rig.rows(); ++i) {
      const Eigen::Vector3d q = eigen(body.rest[i].xyz() - rest_center), d = eigen(at[i].xyz() - center);
      moment += rig.mass(i) * d * q.transpose(), second += rig.mass(i) * q * q.transpose();
    }
    const Eigen::Matrix3d map = moment * second.completeOrthogonalDecomposition().pseudoInverse();
    Matrix Z(a.rows(), 3);
    for (int i = 0; i < rig.rows(); ++i)
      for (int axis = 0; axis < 3; ++axis) {
        Vec3 e{};
        e[axis] = 1;
        const Eigen::Vector3d image = map * eigen(body.rest[i].xyz() - rest_center);
        const Vec3 turn = cross(e, {image[0], image[1], image[2]});
        for (int k = 0; k < 3; ++k) Z(3 * i + k, axis) = turn[k];
      }
    const Matrix EZ = (a - K) * Z;
    return a - EZ * Matrix(Z.transpose() * EZ).inverse() * EZ.transpose();
  }

  Vector v(const Vector& x) const { return (x - xb) / hh; }
  double W(const Vector& x) const { return rig.energy(rows_of(x)); }
  Vector grad_W(const Vector& x) const {
    std::vector<Vec4> g;
    rig.energy(rows_of(x), &g);
    return flat(g);
  }
  double g(const Vector& x) const {
    const Vector d = v(x) - u;
    return 0.5 * d.dot(m.cwiseProduct(d)) + W(x);
  }
  double H(const Vector& x) const {
    const Vector w = v(x);
    return 0.5 * w.dot(m.cwiseProduct(w)) + W(x) - beta * f.dot(w);
  }
  Vector grad_g(const Vector& x) const { return m.cwiseProduct(v(x) - u) / hh + grad_W(x); }
  Vector grad_H(const Vector& x) const { return grad_g(x) + m.cwiseProduct(u) / hh - (beta / hh) * f; }
  Vector c_q(const Vector& x) const { return Cq.transpose() * (x - xb) - target_q; }
  Vector momentum_estimate() const { return xb + hh * u; }
  /// All constraint gradients and residuals held by this island.
  Matrix C(const Vector& x) const {
    Matrix c(m.size(), momenta ? 7 : 1);
    if (momenta) c.leftCols(6) = Cq;
    c.rightCols(1) = grad_H(x);
    return c;
  }
  /// The terms beside them in the equation of motion, (1 + lambda) gg + lambda (lin - Cq w) + Dq lambda_q.
  Matrix D(const Vector& x) const {
    Matrix d = C(x);
    if (momenta) d.leftCols(6) = Dq, d.col(6) -= Cq * w;
    return d;
  }
  /// Of an iteration that takes (Dq - Cq)^T A^-1 gg for what it is where the step ends, given lambda: how the
  /// multipliers of P and L enter the equation of H beside dx.
  Matrix corner(const Vector& x, double lambda) const {
    Matrix out = Matrix::Zero(momenta ? 7 : 1, momenta ? 7 : 1);
    if (!momenta) return out;
    const double s = 1 + lambda;
    const Vector gg = grad_g(x), lin = grad_H(x) - gg - Cq * w;
    out.bottomLeftCorner(1, 6) = (solve(A, gg + lin - lin / s).transpose() * (Dq - Cq)) / s;
    return out;
  }
  Vector c(const Vector& x) const {
    Vector out(momenta ? 7 : 1);
    if (momenta) out.head(6) = c_q(x);
    out.tail(1)(0) = H(x) - target_h;
    return out;
  }
};

/// [K D; C^T B] [dx; lambda] = -[r; c], solved as one dense system.
struct KktSolution {
  Vector dx, lambda;
};
inline KktSolution kkt(const Matrix& K, const Matrix& D, const Matrix& C, const Matrix& B, const Vector& r,
                       const Vector& c) {
  const int n = int(K.rows()), q = int(C.cols());
  Matrix big = Matrix::Zero(n + q, n + q);
  // rows and columns scaled alike, so that a pivot means the same everywhere
  const double scale = K.diagonal().cwiseAbs().mean();
  Vector columns(q);
  for (int k = 0; k < q; ++k) columns(k) = scale / C.col(k).norm();
  big.topLeftCorner(n, n) = K;
  big.topRightCorner(n, q) = D * columns.asDiagonal();
  big.bottomLeftCorner(q, n) = (C * columns.asDiagonal()).transpose();
  big.bottomRightCorner(q, q) = columns.asDiagonal() * B * columns.asDiagonal();
  Vector rhs(n + q);
  rhs.head(n) = -r;
  rhs.tail(q) = -columns.cwiseProduct(c);
  const Vector solution = solve(big, rhs);
  return {solution.head(n), columns.cwiseProduct(solution.tail(q))};
}
/// With C = D and B = 0.
inline KktSolution kkt(const Matrix& K, const Matrix& C, const Vector& r, const Vector& c) {
  return kkt(K, C, C, Matrix::Zero(C.cols(), C.cols()), r, c);
}

inline AnchorSpec corner_anchor(double stiffness) {
  AnchorSpec a;
  a.body = "body";
  a.vertices.indices = {0, 1};
  a.stiffness = Track<double>(stiffness);
  return a;
}

/// Small systems of every kind: two tets; a box of tets and springs; the same held by anchors.
inline std::vector<std::unique_ptr<Rig>> small_systems() {
  std::vector<std::unique_ptr<Rig>> out;
  out.push_back(std::make_unique<Rig>(two_tets(), std::vector{strain(2e4)}));
  out.push_back(std::make_unique<Rig>(small_box(), std::vector{strain(1e4), springs(2e4)}));
  out.push_back(std::make_unique<Rig>(small_box(), std::vector{strain(1e4)}, std::vector{corner_anchor(3e4)}));
  return out;
}

}  // namespace verve::test
