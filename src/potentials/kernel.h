// How an element kernel is written.
//
// A kernel is one header: a struct of pure functions, templated on the number type T. Packing, SIMD, threads, summation
// and the registry entry come from Batch<Kernel>. tet_strain.h is an example to copy:
//
//   #if !defined(VERVE_TET_STRAIN_H) || defined(VERVE_PACKS)
//   #define VERVE_TET_STRAIN_H
//   #include "potentials/kernel.h"
//   VERVE_KERNEL_BEGIN
//   struct TetStrain { ... };
//   VERVE_KERNEL_END(TetStrain)
//   #endif
//
// with, in the struct:
//   name, help                        for people and scene files
//   Elements                          what it acts on: Edges, Triangles, Tetrahedra, Hinges (elements.h)
//   vertices, rows                    shape of A; z = A x has `rows` columns of 3
//   Params, Params::fields(), check() what the scene says (parameters.h)
//   Element<T>                        packed data: members of type T only (also Vec3T<T>, Mat3T<T>), among them
//                                     `weight`, and coefficient(row, i) of A on the difference x_{i+1} - x_0
//   bind(params, rest)                -> Element<double>, from the rest positions of the stencil
// and one or both of
//   project(element, z)               the nearest point of the element's set: Psi = w/2 |z - project(z)|^2
//   energy_gradient(element, z, g)    Psi itself, with g = dPsi/dz; `weight` then bounds its curvature
// and perhaps
//   energy(element, z)                Psi alone, where it is to be had for less
//   bounded = false                   `weight` does not bound the curvature everywhere: steps are searched for their
//                                     length
//   metric(element, i, j)             times `weight` what the global step takes for the Hessian, in place of A^T A;
//                                     symmetric and positive semi-definite, rows sum to zero
//   constraints, constraint(element, i, z, g), stiffness(element, i)
//                                     smooth scalar constraints C_i with Psi = sum of k_i/2 C_i^2 and g = dC_i/dz; in
//                                     their place C = sqrt(2 Psi / weight)
//   long_chain = true                 most operations wait for one before: as WebAssembly, two packs at once are faster
//   slack = true                      deformations exist that cost nothing, for the contract tests
// z is built from differences to the first vertex (taken in double before they are narrowed), so a kernel is
// translation-invariant by construction and keeps its precision far from the origin.
//
// T is double or float for one element, or a pack of up to 16 elements that go through the code together. So there are
// no branches on values: select(condition, a, b) takes the place of ?:, and any(condition) or all(condition) guards a
// detour for the few (base/simd.h). Name the types of intermediate results (T, not auto): a product of packs only
// becomes a number when it is stored or added to something.
//
// The odd include guard and the two macros are there because a kernel header is read several times. In ordinary code it
// is plain C++ in namespace verve, with T = double or float. The build makes translation units of the kernel headers
// that registry.cpp includes (dispatch.h), and those define VERVE_PACKS and read the headers once per set of
// instructions, in namespaces verve::N_SSE4, verve::N_AVX2, ..., with the compiler told to use them.
#if defined(VERVE_KERNEL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VERVE_KERNEL_H
#undef VERVE_KERNEL_H
#else
#define VERVE_KERNEL_H
#endif

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "potentials/block_loops.h"
#include "potentials/elements.h"
#include "potentials/parameters.h"

#ifdef VERVE_PACKS
#include "base/simd_pack.h"
#define VERVE_NAMESPACE_BEGIN \
  HWY_BEFORE_NAMESPACE();     \
  namespace verve {           \
  namespace HWY_NAMESPACE {
#define VERVE_NAMESPACE_END \
  }                         \
  }                         \
  HWY_AFTER_NAMESPACE();
#else
#include "base/simd.h"
#define VERVE_NAMESPACE_BEGIN namespace verve {
#define VERVE_NAMESPACE_END }
#define VERVE_KERNEL_BEGIN VERVE_NAMESPACE_BEGIN
#ifdef VERVE_SIMD
#define VERVE_KERNEL_LOOPS(Kernel) \
  template <>                      \
  const BlockLoops& block_loops<Kernel>();
#else
#define VERVE_KERNEL_LOOPS(Kernel)
#endif
#define VERVE_KERNEL_END(Kernel) \
  VERVE_KERNEL_LOOPS(Kernel)     \
  VERVE_NAMESPACE_END
#endif

#define VERVE_INLINE inline __attribute__((always_inline))
#define VERVE_FLATTEN __attribute__((flatten))
#define VERVE_NOINLINE __attribute__((noinline))

VERVE_NAMESPACE_BEGIN

template <class T, int Rows>
using Columns = std::array<Vec3T<T>, Rows>;

/// f(0), f(1), ... f(N - 1) with the number known to the compiler: arrays of packs then stay in registers.
template <int... i, class F>
VERVE_INLINE void unrolled(std::integer_sequence<int, i...>, const F& f) {
  (f(std::integral_constant<int, i>()), ...);
}
template <int N, class F>
VERVE_INLINE void unroll(const F& f) {
  unrolled(std::make_integer_sequence<int, N>(), f);
}

/// The array of f(0), ... f(N - 1). One that is declared first and filled later would be set to zero in between.
template <int... i, class F>
VERVE_INLINE auto collected(std::integer_sequence<int, i...>, const F& f) {
  return std::array{f(std::integral_constant<int, i>())...};
}
template <int N, class F>
VERVE_INLINE auto collect(const F& f) {
  return collected(std::make_integer_sequence<int, N>(), f);
}

template <class T>
Vec3T<T> select(const MaskOf<T>& mask, const Vec3T<T>& yes, const Vec3T<T>& no) {
  return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z)};
}

/// v / n for n = |v|; any direction will do at v = 0.
template <class T>
Vec3T<T> unit_or_axis(const Vec3T<T>& v, const T& n) {
  const MaskOf<T> point = n <= T(0);
  const T s = T(1) / select(point, T(1), n);
  return {select(point, T(1), T(v.x * s)), v.y * s, v.z * s};
}

/// Psi = w/2 |z - p|^2 for p = project(z) (CPD Eq. 4); its gradient needs no derivative of the projection, because the
/// projection is optimal.
template <class T, class Element, size_t Rows>
T distance_energy(const Element& e, const std::array<Vec3T<T>, Rows>& z, const std::array<Vec3T<T>, Rows>& p,
                  std::array<Vec3T<T>, Rows>& gradient) {
  T sum = T(0);
  unroll<int(Rows)>([&](auto r) {
    const Vec3T<T> d = z[r] - p[r];
    sum = sum + dot(d, d);
    gradient[r] = d * e.weight;
  });
  return T(0.5) * e.weight * sum;
}

/// Psi and dPsi/dz, whichever way the kernel gives them.
template <class Kernel, class T>
T energy_and_gradient(const typename Kernel::template Element<T>& e, const Columns<T, Kernel::rows>& z,
                      Columns<T, Kernel::rows>& gradient) {
  if constexpr (requires { Kernel::energy_gradient(e, z, gradient); }) {
    return Kernel::energy_gradient(e, z, gradient);
  } else {
    return distance_energy<T>(e, z, Kernel::project(e, z), gradient);
  }
}

template <class Kernel, class T>
T energy_alone(const typename Kernel::template Element<T>& e, const Columns<T, Kernel::rows>& z) {
  if constexpr (requires { Kernel::energy(e, z); }) {
    return Kernel::energy(e, z);
  } else {
    Columns<T, Kernel::rows> unused = z;
    return energy_and_gradient<Kernel, T>(e, z, unused);
  }
}

/// z = A x from the differences of the stencil.
template <class Kernel, class T>
Columns<T, Kernel::rows> reduce(const typename Kernel::template Element<T>& e, const Vec3T<T>* d) {
  return collect<Kernel::rows>([&](auto r) {
    Vec3T<T> z = d[0] * e.coefficient(r, 0);
    unroll<Kernel::vertices - 2>([&](auto i) { z = add_scaled(z, d[i + 1], e.coefficient(r, i + 1)); });
    return z;
  });
}

VERVE_NAMESPACE_END

#include "potentials/block_loop.h"

#endif
