// The rotation nearest to a 3x3 matrix, and the decomposition it can be had from. For numbers and for packs of them:
// see kernel.h.
#if defined(VERVE_POLAR_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_POLAR_H
#undef VERVE_POLAR_H
#else
#define VERVE_POLAR_H
#endif

#include "potentials/kernel.h"
#include "potentials/polar_in_double.h"

VERVE_NAMESPACE_BEGIN

template <class T>
Mat3T<T> select(const MaskOf<T>& mask, const Mat3T<T>& yes, const Mat3T<T>& no) {
  return {{select<T>(mask, yes.col[0], no.col[0]), select<T>(mask, yes.col[1], no.col[1]),
           select<T>(mask, yes.col[2], no.col[2])}};
}

/// F = U diag(sigma) V^T with U, V rotations; sigma.x >= sigma.y >= |sigma.z|, and sigma.z < 0 when det F < 0.
/// Identities and zeros for an F that is zero or not finite. One-sided Jacobi (Hestenes 1958): accurate for flat,
/// inverted and badly scaled F alike. `start`: a rotation that is nearly V spares most of the sweeps.
template <class T>
VERVE_NOINLINE void rotation_svd(const Mat3T<T>& F, Mat3T<T>& U, Vec3T<T>& sigma, Mat3T<T>& V,
                                 const Mat3T<T>* start = nullptr) {
  const T eps = T(Limits<T>::epsilon());
  T largest = T(0);
  for (const Vec3T<T>& c : F.col) largest = max(max(largest, abs(c.x)), max(abs(c.y), abs(c.z)));
  const T sum = (F.col[0].x + F.col[0].y + F.col[0].z) + (F.col[1].x + F.col[1].y + F.col[1].z) +
                (F.col[2].x + F.col[2].y + F.col[2].z);  // shows what a comparison does not: NaN
  const MaskOf<T> usable = (largest > T(0)) & (abs(sum) <= T(9) * largest) & (largest < T(Limits<T>::infinity()));

  // Turn pairs of columns until all are at right angles; B = F V. Scaled so that squares neither over- nor underflow.
  const Mat3T<T> identity = Mat3T<T>::identity();
  // 1 / largest overflows for the smallest of numbers: divide instead
  Mat3T<T> B = select<T>(usable, Mat3T<T>{{F.col[0] / largest, F.col[1] / largest, F.col[2] / largest}}, identity);
  V = identity;
  if (start) V = *start, B = B * V;
  // A turn by the tangent t leaves about t c of another product c that was zero, so a sweep of small turns of small
  // products is the last: what it leaves is below the round-off of the products themselves, and so is `least`. To look
  // for less would go on turning by round-off for ever.
  const T least = T(2) * eps, calm = sqrt(T(0.125) * eps);
  for (int sweep = 0; sweep < 12; ++sweep) {
    bool settled = true;
    constexpr int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (const auto& [i, j] : pairs) {
      const T a = dot(B.col[i], B.col[i]), b = dot(B.col[j], B.col[j]), c = dot(B.col[i], B.col[j]);
      const T size = sqrt(a * b);
      const MaskOf<T> turn = abs(c) > least * size;
      if (!any(turn)) continue;
      const T theta = (b - a) / (T(2) * c);
      const T tangent = T(1) / (abs(theta) + sqrt(theta * theta + T(1)));
      const T t = select(turn, select(theta < T(0), T(-tangent), tangent), T(0));
      settled = settled && all((!turn) | ((abs(c) <= calm * size) & (tangent <= calm)));
      const T cs = T(1) / sqrt(t * t + T(1)), sn = t * cs;
      for (Mat3T<T>* m : {&B, &V}) {
        const Vec3T<T> p = m->col[i], q = m->col[j];
        m->col[i] = add_scaled(p * cs, q, T(-sn));
        m->col[j] = add_scaled(p * sn, q, cs);
      }
    }
    if (settled) break;
  }

  // longest column first
  Vec3T<T> length{norm(B.col[0]), norm(B.col[1]), norm(B.col[2])};
  constexpr int exchanges[3][2] = {{0, 1}, {1, 2}, {0, 1}};
  for (const auto& [i, j] : exchanges) {
    const MaskOf<T> swap = length[i] < length[j];
    const T shorter = select(swap, length[i], length[j]);
    length[i] = select(swap, length[j], length[i]), length[j] = shorter;
    for (Mat3T<T>* m : {&B, &V}) {
      const Vec3T<T> later = select<T>(swap, m->col[i], m->col[j]);
      m->col[i] = select<T>(swap, m->col[j], m->col[i]), m->col[j] = later;
    }
  }
  V.col[2] = select<T>(det(V) < T(0), -V.col[2], V.col[2]);

  U.col[0] = B.col[0] / length.x;
  // A second column lost in round-off has no direction of its own: any at right angles will do.
  const MaskOf<T> steep = abs(U.col[0].x) < T(0.6);
  const Vec3T<T> axis{select(steep, T(1), T(0)), select(steep, T(0), T(1)), T(0)};
  U.col[1] = select<T>(length.y > T(4) * eps * length.x, B.col[1] / length.y, cross(U.col[0], axis));
  for (int twice = 0; twice < 2; ++twice) {
    U.col[1] = add_scaled(U.col[1], U.col[0], T(-dot(U.col[0], U.col[1])));
    U.col[1] = U.col[1] / norm(U.col[1]);
  }
  U.col[2] = cross(U.col[0], U.col[1]);
  // F V = U diag(sigma); the sign of the last one follows from the handedness.
  sigma = {length.x * largest, length.y * largest, dot(U.col[2], F * V.col[2])};

  U = select<T>(usable, U, identity), V = select<T>(usable, V, identity);
  sigma = select<T>(usable, sigma, Vec3T<T>{T(0), T(0), T(0)});
}

/// Nearest rotation by that decomposition: the way out where FOAM is ill-conditioned. Never inlined, to keep the common
/// path short.
template <class T>
VERVE_NOINLINE Mat3T<T> nearest_rotation_svd(const Mat3T<T>& F) {
  Mat3T<T> U, V;
  Vec3T<T> sigma;
  rotation_svd(F, U, sigma, V);
  return U * transpose(V);
}

/// lambda = tr(R^T F) for the rotation R nearest to F, by FOAM (Markley 1993, "Attitude determination using vector
/// observations: a fast optimal matrix algorithm"): the largest root of
///   (l^2 - |F|^2)^2 - 8 l det F - 4 |cof F|^2 = 0.
/// No stored state, no iteration on the rotation itself. Made for deformation gradients, sizes of about 1.
template <class T>
struct Foam {
  static constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
  // (s1+s2)(s2+s3)(s3+s1) for |F| = sqrt(3), the norm of a rotation, where it is 8; small when the nearest rotation is
  // nearly not unique. R is off by about eps / zeta^2.
  static constexpr double least_zeta = wide ? 0.1 : 0.5;

  Mat3T<T> cof;
  T size2, lambda, kappa, zeta;
  MaskOf<T> reliable;

  explicit Foam(const Mat3T<T>& F, double least = least_zeta) : cof(cofactor(F)), size2(squared_norm(F)) {
    const T d8 = T(8) * dot(F.col[0], cof.col[0]);  // 8 det F
    const T c4 = T(4) * squared_norm(cof);
    // All four roots are real (sums of signed singular values), so Halley's iteration falls monotonically from an upper
    // bound onto the largest, at third order. sqrt(3)|F| is a bound, and so is what needs no root: (3 + |F|^2) / 2, the
    // same for a rotation.
    lambda = T(0.5) * size2 + T(1.5);
    T step, bend, slope2;
    const auto take_step = [&](auto) {
      const T l2 = lambda * lambda, q = l2 - size2;
      const T p = q * q - (d8 * lambda + c4);
      const T slope = T(4) * lambda * q - d8;
      bend = (T(6) * l2 - T(2) * size2) * p;  // p times half of the second derivative
      slope2 = slope * slope;
      step = p * slope / (slope2 - bend);
      lambda = lambda - step;
    };
    // what is left is about step (bend / slope^2)^2
    const auto is_done = [&] {
      return !(abs(step) * (bend * bend) > T(Limits<T>::epsilon()) * lambda * (slope2 * slope2));
    };
    // most packs need as many steps as are taken without a look, which spares the processor from guessing
    constexpr int blind = wide ? 3 : 2;
    unroll<blind>(take_step);
    MaskOf<T> done = is_done();
    for (int k = blind; k < 12 && !all(done); ++k) {
      take_step(k);
      done = is_done();
    }
    kappa = T(0.5) * (lambda * lambda - size2);
    zeta = kappa * lambda - T(0.125) * d8;
    const T scale = size2 * T(1.0 / 3);
    reliable = done & (zeta > T(0)) & (zeta * zeta > T(least * least) * (scale * scale * scale)) & (size2 > T(0.01)) &
               (size2 < T(1000));
  }
};

/// R from lambda: rational, R = [(kappa + |F|^2) F + lambda cof F - F F^T F] / zeta.
template <class T>
Mat3T<T> rotation_of(const Foam<T>& foam, const Mat3T<T>& F) {
  const T s = T(1) / foam.zeta, f = (foam.kappa + foam.size2) * s, c = foam.lambda * s;
  const Vec3T<T>&a = F.col[0], &b = F.col[1], &e = F.col[2];
  const T ab = dot(a, b) * s, ae = dot(a, e) * s, be = dot(b, e) * s;
  const T aa = f - dot(a, a) * s, bb = f - dot(b, b) * s, ee = f - dot(e, e) * s;
  const auto column = [&](const Vec3T<T>& cof, const T& x, const T& y, const T& z) {
    return add_scaled(add_scaled(add_scaled(cof * c, a, x), b, y), e, z);
  };
  return {{column(foam.cof.col[0], aa, T(-ab), T(-ae)), column(foam.cof.col[1], T(-ab), bb, T(-be)),
           column(foam.cof.col[2], T(-ae), T(-be), ee)}};
}

/// The nearest rotations of those lanes of floats for which `wanted` is not zero. Mostly that is one or two of a pack,
/// for which a decomposition of all would be a waste.
template <class T>
VERVE_NOINLINE void nearest_rotations_in_double(const Mat3T<T>& F, const T& wanted, Mat3T<T>& R) {
  constexpr int count = int(sizeof(T) / sizeof(float));
  float f[9][count], r[9][count], w[count];
  std::memcpy(f, &F, sizeof(f)), std::memcpy(r, &R, sizeof(r)), std::memcpy(w, &wanted, sizeof(w));
  for (int l = 0; l < count; ++l)
    if (w[l] != 0) verve::nearest_rotation_in_double(&f[0][l], &r[0][l], count);
  std::memcpy(static_cast<void*>(&R), r, sizeof(r));
}

/// R in SO(3) with the largest tr(R^T F), which minimises |F - R|.
template <class T>
Mat3T<T> nearest_rotation(const Mat3T<T>& F) {
  const Foam<T> foam(F);
  Mat3T<T> R = rotation_of(foam, F);
  if (!all(foam.reliable)) [[unlikely]] {
    const Mat3T<T> copy = F;  // what is handed to a function has to be in memory: not F itself
    if constexpr (Foam<T>::wide) {
      R = select<T>(foam.reliable, R, nearest_rotation_svd(copy));
    } else {
      Mat3T<T> patched = R;
      nearest_rotations_in_double<T>(copy, select(foam.reliable, T(0), T(1)), patched);
      R = patched;
    }
  }
  return R;
}

VERVE_NAMESPACE_END

#endif
