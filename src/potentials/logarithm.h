// The logarithm for numbers and for packs of them: see kernel.h.
#if defined(VERVE_LOGARITHM_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_LOGARITHM_H
#undef VERVE_LOGARITHM_H
#else
#define VERVE_LOGARITHM_H
#endif

#include "potentials/kernel.h"

VERVE_NAMESPACE_BEGIN

/// log(1 + x) and how far x exceeds it, x - log(1 + x), each to a few round-offs of itself, also where x is small and
/// the excess about x^2/2. For finite x > -1 with 1 + x a normal number.
///
/// 1 + x = 2^k (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1), and with s = f / (2 + f)
///   log(1 + f) = 2 atanh s = f - s (f - R(s^2)),  R(z) = 2z/3 + 2z^2/5 + ...
/// with the coefficients of fdlibm (e_log.c, e_logf.c; off by less than 2^-58 and 2^-34).
template <class T>
struct Log1p {
  T value, excess;

  explicit Log1p(const T& x) {
    constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
    T k;
    const T mantissa = split_exponent(T(x + T(1)), k);
    const MaskOf<T> near = (k <= T(0)) & (k >= T(0));
    const T f = select(near, x, T(mantissa - T(1)));  // without the round-off of 1 + x
    const T s = f / (f + T(2)), z = s * s;
    T r;
    if constexpr (wide) {
      r = T(1.479819860511658591e-01) * z + T(1.531383769920937332e-01);
      r = r * z + T(1.818357216161805012e-01);
      r = r * z + T(2.222219843214978396e-01);
      r = r * z + T(2.857142874366239149e-01);
      r = r * z + T(3.999999999940941908e-01);
      r = r * z + T(6.666666666666735130e-01);
    } else {
      r = T(0.24279078841) * z + T(0.28498786688);
      r = r * z + T(0.40000972152);
      r = r * z + T(0.66666662693);
    }
    const T bend = s * (f - r * z);
    // log 2 in two parts: the first has zeros where k adds digits
    const T high = wide ? T(6.93147180369123816490e-01) : T(6.9313812256e-01);
    const T low = wide ? T(1.90821492927058770002e-10) : T(9.0580006145e-06);
    value = k * high + ((k * low - bend) + f);
    excess = select(near, bend, T(x - value));
  }
};

VERVE_NAMESPACE_END

#endif
