// Energies by their stretches: closed forms of second derivatives, and proximal points.
#include <doctest/doctest.h>

#include "base/random.h"
#include "potentials/area_spring.h"
#include "potentials/corotated.h"
#include "potentials/neo_hookean.h"
#include "potentials/stable_neo_hookean.h"
#include "potentials/stretches.h"
#include "potentials/stvk.h"
#include "potentials/tet_strain.h"
#include "potentials/volume_spring.h"

using namespace verve;

namespace {

template <class Kernel, size_t N>
typename Kernel::template Element<double> element(const std::array<Vec3, N>& rest) {
  return Kernel::bind(typename Kernel::Params{}, rest);
}
const std::array<Vec3, 4> tet{Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}};
const std::array<Vec3, 3> tri{Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 1, 0}};

template <class Kernel, class Element>
void check_proximal(const Element& e) {
  CAPTURE(Kernel::name);
  constexpr int R = Kernel::rows;
  for (int seed = 0; seed < 200; ++seed) {
    Columns<double, R> q{};
    for (int r = 0; r < R; ++r) q[r][r] = 1, q[r] += random_in_ball(seed + 1, r) * (seed < 100 ? 0.3 : 1.5);
    const Columns<double, R> z = proximal<Kernel>(e, q);
    Columns<double, R> g{};
    const double there = energy_and_gradient<Kernel, double>(e, z, g);
    double slope = 0, away = 0, size = 0;
    for (int r = 0; r < R; ++r) {
      const Vec3 d = g[r] + (z[r] - q[r]) * e.weight;
      slope += dot(d, d), away += dot(z[r] - q[r], z[r] - q[r]), size += dot(q[r], q[r]);
    }
    CAPTURE(seed);
    // Newton's method ends at 1e-12, or where round-off hides that the energy falls: slope^2/2w < eps E, with E of up
    // to w (1 + |q|^4)
    CHECK(std::sqrt(slope) <= 3e-8 * e.weight * (1 + size));
    Columns<double, R> unused{};
    CHECK(there + 0.5 * e.weight * away <= energy_and_gradient<Kernel, double>(e, q, unused) * (1 + 1e-12));
  }
}

template <class Kernel, class Element>
void check_hessian(const Element& e) {
  CAPTURE(Kernel::name);
  for (int seed = 0; seed < 50; ++seed) {
    Vec3 s = Vec3{1, 1, 1} + random_in_ball(77, seed) * (seed < 25 ? 0.3 : 1.2);
    // as they are sorted: the largest first, only the last one negative
    const double sign = s.x * s.y * s.z < 0 ? -1 : 1;
    s = {std::abs(s.x), std::abs(s.y), std::abs(s.z)};
    if (s.x < s.y) std::swap(s.x, s.y);
    if (s.y < s.z) std::swap(s.y, s.z);
    if (s.x < s.y) std::swap(s.x, s.y);
    s.z *= sign;
    Vec3 slope, same;
    const Mat3 exact = stretch_hessian<Kernel>(e, s, slope);
    stretch_energy<Kernel>(e, s, same);
    CHECK(norm(slope - same) <= 1e-12 * (e.weight + std::sqrt(squared_norm(exact))));  // round-off of either
    const double d = 1e-5;
    for (int j = 0; j < 3; ++j) {
      Vec3 up = s, down = s, above, below;
      up[j] += d, down[j] -= d;
      stretch_energy<Kernel>(e, up, above), stretch_energy<Kernel>(e, down, below);
      // truncation d^2 psi''''/6 where J is near 0.2, otherwise round-off eps/d
      CHECK(norm(exact.col[j] - (above - below) / (2 * d)) <= 1e-6 * (e.weight + std::sqrt(squared_norm(exact))));
    }
  }
}

}  // namespace

TEST_CASE("second derivatives by stretches are those of the energy, inverted or not") {
  check_hessian<NeoHookean>(element<NeoHookean>(tet));
  check_hessian<StableNeoHookean>(element<StableNeoHookean>(tet));
  check_hessian<Stvk>(element<Stvk>(tet));
  check_hessian<VolumeSpring>(element<VolumeSpring>(tet));
  check_hessian<Corotated>(element<Corotated>(tet));
  check_hessian<TetStrain>(element<TetStrain>(tet));
}

TEST_CASE("a proximal point balances the energy with the pull to where it came from") {
  check_proximal<NeoHookean>(element<NeoHookean>(tet));
  check_proximal<StableNeoHookean>(element<StableNeoHookean>(tet));
  check_proximal<Stvk>(element<Stvk>(tet));
  check_proximal<Corotated>(element<Corotated>(tet));
  check_proximal<VolumeSpring>(element<VolumeSpring>(tet));
  check_proximal<AreaSpring>(element<AreaSpring>(tri));
}
