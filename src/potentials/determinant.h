// The nearest matrix with a given determinant, in terms of singular values. For numbers and for packs of them: see
// kernel.h.
#if defined(VERVE_DETERMINANT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_DETERMINANT_H
#undef VERVE_DETERMINANT_H
#else
#define VERVE_DETERMINANT_H
#endif

#include "potentials/kernel.h"

VERVE_NAMESPACE_BEGIN

/// min |t - s|^2 subject to t_0 ... t_n = c, t > 0, where the last s is the smallest in size and the only one that may
/// be negative (PD Eq. 24-25).
///
/// The update (26) of PD may cycle: it leaves out the curvature of the constraint. Instead, where the Lagrangian is
/// stationary t_i (t_i - s_i) is the same for all i, say nu; so all t follow from the last one, t:
///   nu = t (t - s),   t_i = (s_i + r_i) / 2,   r_i^2 = s_i^2 + 4 nu = (2 t - s)^2 + s_i^2 - s^2,
/// and one equation is left, g(t) = t t_0 ... = c. For det < c it has one root, beyond max(s, 0). For det > c the roots
/// lie in (0, s): at most one above s/2, where g rises, and others below it when c < det / 2, where the last value
/// rather than all of them shrinks. The roots with two values below half of theirs are not minima.
template <class T, int Others>
struct DeterminantProblem {
  T s[Others];       // others, each >= |last|
  T excess[Others];  // s_i^2 - last^2
  T last;

  DeterminantProblem(const std::array<T, Others>& others, const T& smallest) : last(smallest) {
    unroll<Others>([&](auto i) {
      s[i] = others[i];
      excess[i] = max(T((others[i] - smallest) * T(others[i] + smallest)), T(0));
    });
  }

  T other(const T& t, int i) const {
    const T m = T(2) * t - last;
    return T(0.5) * (s[i] + sqrt(m * m + excess[i]));
  }
  /// g(t) and p = t g'(t) / g(t); between 1 and 1 + Others above max(last / 2, 0).
  T product(const T& t, T& p) const {
    const T m = T(2) * t - last;
    T g = t, sum = T(0);
    unroll<Others>([&](auto i) {
      const T root = sqrt(m * m + excess[i]);
      const T value = T(0.5) * (s[i] + root), slope = root * value;  // value > 0 with t
      sum = sum + m / select(slope > T(0), slope, T(1));
      g = g * value;
    });
    p = T(1) + t * sum;
    return g;
  }
  T squared_distance(const T& t) const {
    T d = t - last, sum = d * d;
    unroll<Others>([&](auto i) {
      d = other(t, i) - s[i];
      sum = sum + d * d;
    });
    return sum;
  }
};

inline constexpr int determinant_iterations = 10;

/// The last value of the solution for det = the product of s below c > 0, or above. `guess` is the solution for s = 0:
/// the root of c of order Others + 1.
///
/// Newton's iteration on log g over log t, in which g is nearly a straight line; the power r^(1/p) that a step takes is
/// replaced by its rational approximation of second order. `steps` counts those to 1e-8, for tests.
template <class T, int Others>
T solve_determinant(const DeterminantProblem<T, Others>& problem, const T& det, const T& c, const T& guess,
                    int* steps = nullptr) {
  constexpr bool wide = sizeof(typename LaneOf<T>::Type) == sizeof(double);
  const T eps = T(Limits<T>::epsilon());
  // what the next step would still change is about the square of the last relative error
  const T enough = T(wide ? 1e-8 : 3e-4);
  const MaskOf<T> shrink = det > c;
  const T half = T(0.5) * problem.last;
  // t max(s_0, t) ... = c, as t_i is near the greater of s_i and t
  T start = guess;
  if constexpr (Others == 2) {
    const T by_one = problem.s[0], by_two = by_one * problem.s[1];
    const T one = sqrt(c / select(by_one > T(0), by_one, T(1))), two = c / select(by_two > T(0), by_two, T(1));
    start = min(start, select(by_one > T(0), one, start));
    start = min(start, select(by_two > T(0), two, start));
  } else {
    const T by_one = problem.s[0];
    start = min(start, select(by_one > T(0), T(c / select(by_one > T(0), by_one, T(1))), start));
  }
  T t = select(shrink, problem.last, T(max(start, problem.last)));
  const T floor = select(shrink, half, T(0));
  int k = 0;
  for (; k < determinant_iterations; ++k) {
    T p;
    const T g = problem.product(t, p);
    const T more = (p - T(1)) * g + (p + T(1)) * c, less = (p + T(1)) * g + (p - T(1)) * c;
    t = max(T(t * more / less), floor);
    if (all(abs(c - g) <= enough * c)) break;
  }
  if (steps) *steps = k;

  // Where the last value shrinks: from t = 0, where g = 0, Newton's iteration on g, kept between what is known to be
  // too small and what is known to be too large. g is at most t s_0 ..., so nothing lies there unless c < det / 2.
  const MaskOf<T> maybe = T(2) * c < det;
  if (any(maybe)) [[unlikely]] {
    T unused;
    const MaskOf<T> only = maybe & (problem.product(half, unused) > c);  // then the branch above s / 2 has no root
    T low = T(0), high = half, u = c * problem.last / select(maybe, det, T(1));
    u = select(maybe, u, half);
    T g = T(0);
    int taken = 0;
    for (int j = 0; j < 3 * determinant_iterations; ++j) {
      T p;
      g = problem.product(u, p);
      const MaskOf<T> done = (!maybe) | (abs(c - g) <= T(4) * eps * c);
      if (all(done)) break;
      if (steps && !all((!maybe) | (abs(c - g) <= T(1e-8) * c))) taken = j + 1;
      low = select(g < c, u, low), high = select(g < c, high, u);
      const T slope = p * g, next = u + u * (c - g) / select(slope > T(0), slope, T(1));
      const MaskOf<T> good = (slope > T(0)) & (next > low) & (next < high);
      u = select(done, u, select(good, next, T(T(0.5) * (low + high))));
    }
    const MaskOf<T> found = maybe & (abs(c - g) <= T(64) * eps * c);
    const MaskOf<T> nearer = problem.squared_distance(u) < problem.squared_distance(t);
    const MaskOf<T> chosen = only | (found & nearer);
    t = select(chosen, u, t);
    if (steps && any(chosen)) *steps = taken;
  }
  return t;
}

VERVE_NAMESPACE_END

#endif
