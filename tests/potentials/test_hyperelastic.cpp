// The hyperelastic materials one F at a time, against closed forms.
#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <functional>

#include "matrices.h"
#include "potentials/corotated.h"
#include "potentials/logarithm.h"
#include "potentials/neo_hookean.h"
#include "potentials/stable_neo_hookean.h"
#include "potentials/stvk.h"

using namespace verve;
using namespace verve::test;

namespace {

using Moduli = LameParams::Moduli;

/// One material over a tetrahedron of unit volume: Psi and P = dPsi/dF.
struct Material {
  std::string name;
  double mu, lambda, weight;  // of small strain
  std::function<double(const Mat3& F, Mat3* P)> psi;

  double energy(const Mat3& F) const { return psi(F, nullptr); }
  Mat3 stress(const Mat3& F) const {
    Mat3 P;
    psi(F, &P);
    return P;
  }
};

template <class Kernel>
Material material(double young, double poisson) {
  LameParams params;
  params.young = young, params.poisson = poisson;
  const auto element = Kernel::bind(params, {Vec3{0, 0, 0}, {6, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  const Moduli m = params.moduli();
  return {Kernel::name, m.mu, m.lambda, element.weight, [element](const Mat3& F, Mat3* P) {
            Columns<double, 3> gradient;
            const double energy = Kernel::energy_gradient(element, F.col, gradient);
            if (P) P->col = gradient;
            return energy;
          }};
}

std::vector<Material> materials(double young, double poisson) {
  return {material<Stvk>(young, poisson), material<NeoHookean>(young, poisson),
          material<StableNeoHookean>(young, poisson), material<Corotated>(young, poisson)};
}

double product(const Mat3& a, const Mat3& b) {
  return dot(a.col[0], b.col[0]) + dot(a.col[1], b.col[1]) + dot(a.col[2], b.col[2]);
}
double size(const Mat3& a) { return std::sqrt(squared_norm(a)); }

/// d2Psi/dF2 from differences of P, symmetrised.
Eigen::Matrix<double, 9, 9> hessian(const Material& m, const Mat3& F) {
  Eigen::Matrix<double, 9, 9> H;
  const double d = 1e-5;
  for (int k = 0; k < 9; ++k) {
    Mat3 up = F, down = F;
    up(k % 3, k / 3) += d, down(k % 3, k / 3) -= d;
    const Mat3 slope = (m.stress(up) - m.stress(down)) * (0.5 / d);
    for (int i = 0; i < 9; ++i) H(i, k) = slope(i % 3, i / 3);
  }
  return 0.5 * (H + H.transpose());
}
Eigen::Matrix<double, 9, 1> curvatures(const Material& m, const Mat3& F) {
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 9, 9>>(hessian(m, F), Eigen::EigenvaluesOnly)
      .eigenvalues();
}

/// A rotation of stretches in [low, high].
Mat3 stretched(double low, double high, std::uint64_t k) {
  const auto s = [&](std::uint64_t seed) { return low + (high - low) * positive(seed, k); };
  return with_values({s(41), s(42), s(43)}, k);
}

/// The root of a growing f between low and high.
double root(double low, double high, const std::function<double(double)>& f) {
  REQUIRE(f(low) < 0);
  REQUIRE(f(high) > 0);
  for (int i = 0; i < 200; ++i) (f(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
  return 0.5 * (low + high);
}

}  // namespace

TEST_CASE("log(1 + x) and x - log(1 + x) keep their digits from 1e-18 to 1e30") {
  double worst[4] = {};
  for (std::uint64_t k = 0; k < 200000; ++k) {
    const double size = std::pow(10.0, -18 + 48 * positive(50, k));
    const double x = k % 2 ? size : -std::min(size, 0.9999 * positive(51, k));
    const long double value = std::log1p((long double)x);
    // where long double cancels, its series
    const long double z = x, excess = std::abs(x) < 1e-4 ? z * z * (0.5L - z * (1.0L / 3 - z * (0.25L - z * 0.2L)))
                                                         : z - value;
    const Log1p<double> wide(x);
    worst[0] = std::max<double>(worst[0], std::abs((wide.value - value) / value));
    worst[1] = std::max<double>(worst[1], std::abs((wide.excess - excess) / excess));
    const float y = float(x);
    if (std::abs(y) < 1e-15f || y <= -0.99f) continue;  // below, the excess is not a float
    const double value32 = std::log1p(double(y)), d = y;
    const double excess32 = std::abs(d) < 1e-3 ? d * d * (0.5 - d * (1.0 / 3 - d * (0.25 - d * 0.2))) : d - value32;
    const Log1p<float> narrow(y);
    worst[2] = std::max(worst[2], std::abs((narrow.value - value32) / value32));
    worst[3] = std::max(worst[3], std::abs((narrow.excess - excess32) / excess32));
  }
  CAPTURE(worst[0]);
  CAPTURE(worst[1]);
  CAPTURE(worst[2]);
  CAPTURE(worst[3]);
  // a few round-offs; the excess beyond sqrt(2) - 1 is a difference that keeps a sixth of its terms
  CHECK(worst[0] <= 6e-16);
  CHECK(worst[1] <= 4e-15);
  CHECK(worst[2] <= 3e-7);
  CHECK(worst[3] <= 2e-6);
}

TEST_CASE("the stress of hyperelastic materials is the slope of their energy, from strain 1e-3 to inversion") {
  for (const double poisson : {0.0, 0.3, 0.45}) {
    for (const Material& m : materials(1, poisson)) {
      CAPTURE(m.name);
      for (std::uint64_t k = 0; k < 400; ++k) {
        // strains of 1e-3 to 2, then nearly flat, then inverted
        const double strain = std::pow(10.0, -3 + 3.3 * positive(44, k));
        Mat3 F = random_rotation(23, k) + noise(k) * strain;
        if (k % 4 == 1) F = with_values({1 + positive(1, k), 0.7, 0.001 + 0.3 * positive(2, k)}, k);
        if (k % 4 == 2) F = with_values({1 + positive(1, k), 0.9, -0.05 - 0.7 * positive(2, k)}, k);
        if (m.name == "neo_hookean" && std::abs(det(F) - NeoHookean::J0) < 0.02) continue;  // third derivative jumps
        const Mat3 P = m.stress(F);
        // Differences of fourth order with d = 1e-3 of the strain: truncation of 1e-12 of the fifth derivative, which
        // beside the first grows like (strain/s)^4 for a smallest stretch s; round-off of eps / d.
        const double d = 1e-3 * std::min(strain, 0.1);
        Mat3 slope;
        for (int i = 0; i < 9; ++i) {
          const auto at = [&](double by) {
            Mat3 G = F;
            G(i % 3, i / 3) += by;
            return m.energy(G);
          };
          slope(i % 3, i / 3) = (8 * (at(d) - at(-d)) - (at(2 * d) - at(-2 * d))) / (12 * d);
        }
        CAPTURE(k);
        CAPTURE(strain);
        CAPTURE(det(F));
        // corotated: R turns fast where two stretches are nearly opposite
        REQUIRE(size(slope - P) <= 1e-7 * size(P));
      }
    }
  }
}

TEST_CASE("hyperelastic energies are never negative, and zero for rotations only, or mirror images with stvk") {
  for (const double poisson : {0.0, 0.2, 0.49}) {
    for (const Material& m : materials(1, poisson)) {
      CAPTURE(m.name);
      for (std::uint64_t k = 0; k < 20000; ++k) {
        const Mat3 F = noise(k) * std::pow(10.0, -2 + 4 * positive(45, k));
        REQUIRE(m.energy(F) > 0);
        // the energy of a strain of d is at least of the order of mu d^2 / 2
        const double d = std::pow(10.0, -12 + 11 * positive(46, k));
        const Mat3 near = random_rotation(23, k) * (Mat3::identity() + Mat3::diagonal({d, -d * positive(47, k), 0}));
        REQUIRE(m.energy(near) > 0.2 * m.mu * d * d);
        REQUIRE(m.energy(random_rotation(23, k)) <= 4e-30 * m.weight);
      }
      const Mat3 mirror = Mat3::diagonal({1, 1, -1});
      if (m.name == "stvk")
        CHECK(m.energy(mirror) == 0);
      else
        CHECK(m.energy(mirror) > m.mu);
      CHECK(std::isfinite(m.energy(Mat3{})));
    }
  }
}

TEST_CASE("hyperelastic energies do not change when space or material are turned") {
  for (const Material& m : materials(1, 0.3)) {
    CAPTURE(m.name);
    for (std::uint64_t k = 0; k < 1000; ++k) {
      const Mat3 F = k % 3 ? stretched(0.3, 2, k) : with_values({1.6, 1, -0.5 * positive(2, k)}, k);
      const Mat3 Q = random_rotation(61, k);
      const double e = m.energy(F), scale = 1e-13 * (e + squared_norm(F));
      REQUIRE(std::abs(m.energy(Q * F) - e) <= 100 * scale);
      REQUIRE(std::abs(m.energy(F * Q) - e) <= 100 * scale);
      const Mat3 P = m.stress(F);
      REQUIRE(size(m.stress(Q * F) - Q * P) <= 1e-11 * (size(P) + 1));
      REQUIRE(size(m.stress(F * Q) - P * Q) <= 1e-11 * (size(P) + 1));
    }
  }
}

TEST_CASE("for small strains every hyperelastic material is linear elasticity with the E and nu it was given") {
  const double young = 3e5;
  for (const double poisson : {0.0, 0.25, 0.48}) {
    // E and nu back from the moduli: the textbook way round
    const Moduli want{young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
    for (const Material& m : materials(young, poisson)) {
      CAPTURE(m.name);
      CHECK(m.mu == doctest::Approx(want.mu).epsilon(1e-14));
      CHECK(m.lambda == doctest::Approx(want.lambda).epsilon(1e-14));
      for (std::uint64_t k = 0; k < 100; ++k) {
        const Mat3 A = noise(k), eps = (A + transpose(A)) * 0.5, Q = random_rotation(62, k);
        const double trace = eps(0, 0) + eps(1, 1) + eps(2, 2);
        const double energy = want.mu * squared_norm(eps) + 0.5 * want.lambda * trace * trace;
        const Mat3 sigma = eps * (2 * want.mu) + Mat3::identity() * (want.lambda * trace);
        for (const double t : {1e-2, 1e-4, 1e-6}) {
          const Mat3 F = Q * (Mat3::identity() + A * t);
          // the next order is t times a number of about 1, times the ratio of the moduli
          REQUIRE(std::abs(m.energy(F) / (t * t) - energy) <= 10 * t * (want.mu + want.lambda));
          REQUIRE(size(m.stress(F) * (1 / t) - Q * sigma) <= (10 * t + 1e-9) * (want.mu + want.lambda) * 3);
        }
      }
    }
  }
}

TEST_CASE("a bar pulled or pressed along its axis follows the closed form of each material") {
  const double young = 2e4, poisson = 0.35;
  const auto kinds = materials(young, poisson);
  const Mesh mesh = mesh_of("box", {{"size", {2, 1, 1}}, {"cells", {4, 2, 2}}});
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const Material& m = kinds[kind];
    CAPTURE(m.name);
    const auto batch = make(*find_potential(m.name), mesh, {{"young", young}, {"poisson", poisson}});
    for (const double s : {0.5, 0.7, 0.9, 0.999, 1.001, 1.1, 1.5, 2.0}) {
      CAPTURE(s);
      if (m.name == "stvk" && s > 1.9) continue;  // narrows to nothing before that
      double q = 0, stress = 0;                   // transverse stretch, force per area at rest
      if (m.name == "stvk") {
        q = std::sqrt(1 - poisson * (s * s - 1)), stress = 0.5 * young * s * (s * s - 1);
      } else if (m.name == "corotated") {
        q = 1 - poisson * (s - 1), stress = young * (s - 1);
      } else if (m.name == "neo_hookean") {
        q = root(0.1, 3, [&](double a) { return m.mu * (a * a - 1) + m.lambda * std::log(s * a * a); });
        stress = m.mu * (s - q * q / s);
      } else {
        const double mu = m.mu * 4 / 3, lambda = m.lambda + m.mu * 5 / 6, alpha = 1 + 0.75 * mu / lambda;
        const auto shear = [&](double a) { return mu * (1 - 1 / (s * s + 2 * a * a + 1)); };
        q = root(0.1, 3, [&](double a) { return shear(a) + lambda * (s * a * a - alpha) * s; });
        stress = shear(q) * (s - q * q / s);
      }
      std::vector<Vec4> x;
      for (const Vec3& v : mesh.vertices) x.push_back(Vec4(Vec3{s * v.x, q * v.y, q * v.z}));
      const Slope slope = verve::test::slope(*batch, x);
      double pull = 0;
      for (size_t v = 0; v < x.size(); ++v) {
        Vec3 g = slope.gradient[v].xyz();
        const double along = mesh.vertices[v].x;
        if (std::abs(along) > 1 - 1e-9) pull += 0.5 * (along > 0 ? g.x : -g.x), g.x = 0;  // either end
        REQUIRE(norm(g) <= 1e-10 * young);                                                // nothing else is under force
      }
      CHECK(std::abs(pull - stress) <= 1e-10 * young);
    }
  }
}

TEST_CASE("at rest the weight 2 mu + 3/2 lambda lies in the middle of the curvatures of every hyperelastic material") {
  for (const double poisson : {0.0, 0.3, 0.45}) {
    for (const Material& m : materials(1, poisson)) {
      CAPTURE(m.name);
      const auto c = curvatures(m, random_rotation(23, 5));
      for (int i = 0; i < 3; ++i) CHECK(std::abs(c[i]) <= 1e-8);
      const double shape = 2 * m.mu, growth = 2 * m.mu + 3 * m.lambda;
      for (int i = 3; i < 8; ++i) CHECK(c[i] == doctest::Approx(shape).epsilon(1e-8));
      CHECK(c[8] == doctest::Approx(growth).epsilon(1e-8));
      CHECK(m.weight == doctest::Approx(0.5 * (shape + growth)).epsilon(1e-14));
    }
  }
}

TEST_CASE("no hyperelastic material is bounded by its weight, but moderate strain stays below twice the weight") {
  // A step of the global solve lowers the energy as long as the curvature along it is less than twice the weight.
  for (const double poisson : {0.1, 0.3, 0.45}) {
    for (const Material& m : materials(1, poisson)) {
      CAPTURE(m.name);
      CAPTURE(poisson);
      // Measured: all three stretches may be this far from 1. Near incompressibility the weight is a little more than
      // half of the largest curvature at rest, so little strain is left.
      const double reach = poisson < 0.4 ? 0.05 : 0.01;
      double moderate = 0;
      for (std::uint64_t k = 0; k < 2000; ++k)
        moderate = std::max(moderate, curvatures(m, stretched(1 - reach, 1 + reach, k))[8]);
      CHECK(moderate < 2 * m.weight);
      const double wild = curvatures(m, Mat3::diagonal({60, 0.05, 0.05}))[8];
      CHECK(wild > 2 * m.weight);
      CHECK_FALSE(make(*find_potential(m.name), mesh_of("cube"))->is_bounded());
    }
  }
}

TEST_CASE("the corotated material stays below twice its weight for all stretches up to 3, inverted or not") {
  for (const double poisson : {0.1, 0.3, 0.45, 0.49}) {
    const Material m = material<Corotated>(1, poisson);
    for (std::uint64_t k = 0; k < 3000; ++k) {
      const double longest = 3 * positive(41, k), middle = longest * positive(42, k);
      // the nearest rotation is not unique for s2 = -s3, and finite differences step across
      const Vec3 s{longest, middle, middle * (0.95 * number(43, k))};
      if (middle < 1e-2) continue;
      REQUIRE(curvatures(m, with_values(s, k))[8] <= (2 * m.mu + 3 * m.lambda) * (1 + 1e-6));
    }
    CHECK(2 * m.weight > 2 * m.mu + 3 * m.lambda);
  }
}

TEST_CASE("the curvatures of the corotated material are those of its formula") {
  for (const double poisson : {0.1, 0.4}) {
    const Material m = material<Corotated>(1, poisson);
    for (std::uint64_t k = 0; k < 200; ++k) {
      const Vec3 s{0.3 + 3 * positive(41, k), 0.3 + positive(42, k), 0.3 + positive(43, k)};
      std::vector<double> want(5, 2 * m.mu);
      want.push_back(2 * m.mu + 3 * m.lambda);
      for (int i = 0; i < 3; ++i)
        want.push_back(2 * m.mu + 2 * (m.lambda * (s.x + s.y + s.z - 3) - 2 * m.mu) / (s[i] + s[(i + 1) % 3]));
      std::sort(want.begin(), want.end());
      const auto c = curvatures(m, with_values(s, k));
      for (int i = 0; i < 9; ++i) REQUIRE(std::abs(c[i] - want[i]) <= 1e-7 * (std::abs(want[0]) + want[8]));
    }
  }
}

TEST_CASE("the Neo-Hookean energy goes on below J0 with the same value, slope and curvature, and pushes back") {
  for (const double poisson : {0.0, 0.3, 0.45}) {
    const Material m = material<NeoHookean>(1, poisson);
    const auto along = [&](double J) { return Mat3::diagonal({1.2, 0.9, J / (1.2 * 0.9)}); };
    const double J0 = NeoHookean::J0, d = 1e-7;
    const Mat3 below = along(J0 - d), above = along(J0 + d);
    const Mat3 closed = along(J0) * m.mu + cofactor(along(J0)) * ((m.lambda * std::log(J0) - m.mu) / J0);
    CHECK(m.energy(along(J0)) == doctest::Approx(m.mu * (0.5 * (squared_norm(along(J0)) - 3) - std::log(J0)) +
                                                 0.5 * m.lambda * std::log(J0) * std::log(J0))
                                     .epsilon(1e-14));
    CHECK(size(m.stress(below) - closed) <= 1e-4 * size(closed));
    CHECK(size(m.stress(above) - closed) <= 1e-4 * size(closed));
    // one curvature: 1e-3 apart they differ by the third derivative only
    const auto b = hessian(m, along(J0 - 1e-4)), a = hessian(m, along(J0 + 1e-4));
    CHECK((a - b).norm() <= 1e-2 * a.norm());
    // dPsi along the change that opens the element fastest: down the hill, the steeper the deeper
    double last = 0;
    for (double J = 0.5; J > -2; J -= 0.01) {
      const Mat3 F = Mat3::diagonal({1, 1, J});
      const double push = -m.stress(F)(2, 2);
      if (J < J0) CHECK(push > 0);
      if (J < J0 - 0.02 && J > -0.2) CHECK(push > last);
      last = push;
    }
  }
}

TEST_CASE("a collapsed element leaves the point in stable_neo_hookean, which is no minimum there") {
  for (const double poisson : {0.0, 0.3, 0.45}) {
    const Material m = material<StableNeoHookean>(1, poisson);
    // Smith et al. 2018: without the logarithm F = 0 would be a minimum; with it the curvature there is zero,
    // and a growth of all axes lowers the energy
    CHECK(m.energy(Mat3::identity() * 0.1) < m.energy(Mat3{}));
    CHECK(m.energy(Mat3::identity() * 0.02) < m.energy(Mat3{}));
    const Mat3 P = m.stress(Mat3::identity() * 0.02);
    CHECK(product(P, Mat3::identity()) < 0);
  }
}

TEST_CASE("moduli that contradict each other are refused") {
  for (const char* name : {"stvk", "neo_hookean", "stable_neo_hookean", "corotated"}) {
    const PotentialEntry* entry = find_potential(name);
    REQUIRE(entry);
    CHECK(entry->check({{"young", 1e5}, {"poisson", 0.3}}).empty());
    CHECK(entry->check({{"mu", 1e5}, {"lambda", 1e5}}).empty());
    CHECK(entry->check({{"young", 1e5}, {"lambda", 1e5}}).find("either mu with lambda or young with poisson") !=
          std::string::npos);
    CHECK(entry->check({{"mu", 1e5}}).find("only one of mu and lambda") != std::string::npos);
    const ParameterInfo& poisson = entry->info.parameters[1];
    CHECK(poisson.name == "poisson");
    CHECK((poisson.maximum == 0.5 && poisson.exclusive_maximum));
  }
}
