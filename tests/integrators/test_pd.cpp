// Projective Dynamics by itself: what its paper claims (Bouaziz et al. 2014), and what holds.
#include <doctest/doctest.h>

#include "potentials/batch.h"
#include "potentials/spring.h"
#include "rig.h"
#include "verve/simulation.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Algorithm 1 of the paper on any batches, with its two half-steps apart: nothing in it knows what it projects onto.
struct LocalGlobal {
  std::vector<Potential*> batches;
  std::vector<double> mass;
  double h;
  Cholesky factor;
  SymmetricAssembly assembly;

  LocalGlobal(std::vector<Potential*> b, std::vector<double> m, double step)
      : batches(std::move(b)), mass(std::move(m)), h(step) {
    assembly.begin_pattern(int(mass.size()));
    for (size_t r = 0; r < mass.size(); ++r) assembly.add(int(r), int(r), mass[r] / (h * h));
    for (const Potential* p : batches) p->add_weights(assembly, 0, 1);
    assembly.finish_pattern();
    REQUIRE(factor.factorize(assembly.matrix(), false, Precision::float64));
  }

  using Targets = std::vector<std::vector<Vec3>>;
  Targets local(const std::vector<Vec4>& x) const {
    Targets out;
    for (const Potential* p : batches) {
      std::vector<Vec3> z(p->elements() * p->rows(0)), projected(z.size());
      p->project(x.data(), z.data(), projected.data());
      out.push_back(projected);
    }
    return out;
  }
  std::vector<Vec4> global(const std::vector<Vec4>& y, const Targets& targets) const {
    std::vector<Vec4> rhs(y.size());
    for (size_t r = 0; r < y.size(); ++r) rhs[r] = y[r] * (mass[r] / (h * h));
    for (size_t b = 0; b < batches.size(); ++b) {
      const Potential& p = *batches[b];
      for (int e = 0; e < p.elements(); ++e)
        for (int i = 0; i < p.rows(0); ++i)
          for (int c = 0; c < p.corners(0); ++c)
            rhs[p.vertex(e, c)] += Vec4(targets[b][e * p.rows(0) + i] * (p.weight(e) * p.coefficient(e, i, c)));
    }
    factor.solve(rhs.data(), rhs.data());
    return rhs;
  }
  /// Eq. 6 as a function of positions and projections both.
  double objective(const std::vector<Vec4>& x, const std::vector<Vec4>& y, const Targets& targets) const {
    double sum = 0;
    for (size_t r = 0; r < x.size(); ++r) sum += 0.5 * mass[r] / (h * h) * dot(x[r] - y[r], x[r] - y[r]);
    for (size_t b = 0; b < batches.size(); ++b) {
      const Potential& p = *batches[b];
      std::vector<Vec3> z(targets[b].size()), ignored(z.size());
      p.project(x.data(), z.data(), ignored.data());
      for (size_t k = 0; k < z.size(); ++k)
        sum += 0.5 * p.weight(int(k) / p.rows(0)) * dot(z[k] - targets[b][k], z[k] - targets[b][k]);
    }
    return sum;
  }
};

std::vector<Potential*> batches_of(Rig& rig) {
  std::vector<Potential*> out;
  for (const auto& p : rig.matter.bodies[0].potentials) out.push_back(p.get());
  return out;
}

double largest_difference(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, norm((a[i] - b[i]).xyz()));
  return worst;
}

}  // namespace

TEST_CASE("the objective rises in no half-step, from 1000 random starts (Inventory P01)") {
  Rig rig(small_box(), {strain(1e4), springs(1e4)});
  const LocalGlobal pd(batches_of(rig), rig.island->forcing.mass, frame);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    // from gently deformed to thrown about: crossed over and inverted
    rig.shake(seed % 3 == 0 ? 0.1 : 3.0, 10, seed);
    std::vector<Vec4> y = rig.island->motion.x, x = y;
    for (size_t r = 0; r < y.size(); ++r) y[r] += rig.island->motion.v[r] * frame;
    auto targets = pd.local(x);
    double last = pd.objective(x, y, targets);
    for (int k = 0; k < 8; ++k) {
      x = pd.global(y, targets);
      const double after_global = pd.objective(x, y, targets);
      targets = pd.local(x);
      const double after_local = pd.objective(x, y, targets);
      REQUIRE(after_global <= last * (1 + 1e-12));
      REQUIRE(after_local <= after_global * (1 + 1e-12));
      last = after_local;
    }
  }
}

TEST_CASE("the program's PD is Algorithm 1 (Inventory P01, M01)") {
  Rig rig(small_box(2), {strain(1e4), springs(1e3)});
  rig.shake(0.2, 2, 3);
  rig.push(1, 4);
  const Motion start = rig.island->motion;
  const LocalGlobal pd(batches_of(rig), rig.island->forcing.mass, frame);
  std::vector<Vec4> y = start.x;
  for (size_t r = 0; r < y.size(); ++r)
    y[r] += start.v[r] * frame + rig.island->forcing.acceleration[r] * (frame * frame);
  std::vector<Vec4> x = y;
  for (int k = 1; k <= 10; ++k) {
    x = pd.global(y, pd.local(x));
    rig.step_from(start, settings_for("pd", k));
    REQUIRE(largest_difference(x, rig.island->motion.x) <= 1e-12);
  }
}

TEST_CASE("starting from the momentum estimate damps less than starting from x_n, at 5 iterations (Inventory P01)") {
  Rig rig(small_box(2), {strain(1e5)});
  const LocalGlobal pd(batches_of(rig), rig.island->forcing.mass, frame);
  const auto energy_kept = [&](bool warm) {
    std::vector<Vec4> x = rig.model.initial_x, v(x.size());
    const Vec3 c = rig.center(x);
    for (size_t r = 0; r < x.size(); ++r) v[r] = Vec4(cross(Vec3{0, 2, 0.5}, x[r].xyz() - c) + Vec3{1, 0, 0});
    const double start = rig.kinetic(v) + rig.energy(x);
    for (int k = 0; k < 30; ++k) {
      std::vector<Vec4> y = x, before = x;
      for (size_t r = 0; r < x.size(); ++r) y[r] += v[r] * frame;
      if (warm) x = y;
      for (int i = 0; i < 5; ++i) x = pd.global(y, pd.local(x));
      for (size_t r = 0; r < x.size(); ++r) v[r] = (x[r] - before[r]) * (1 / frame);
    }
    return (rig.kinetic(v) + rig.energy(x)) / start;
  };
  const double warm = energy_kept(true), cold = energy_kept(false);
  CHECK(warm > cold);
  CHECK(warm > 1.1 * cold);
}

namespace {

/// Strain of triangles (PD Eq. 16): F is 3 x 2, its set that of matrices with orthonormal columns.
struct OwnTriStrain {
  static constexpr const char* name = "tri_strain";
  static constexpr int vertices = 3, rows = 2;
  struct Params {
    double stiffness = 1000;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "in the plane")};
    }
  };
  template <class T>
  struct Element {
    T weight, a, b, c;  // inverse of the rest edges (l, s; 0, t)
    constexpr T coefficient(int row, int i) const { return row == 0 ? (i == 0 ? a : T(0)) : (i == 0 ? b : c); }
    template <class U>
    Element<U> cast() const {
      return {U(weight), U(a), U(b), U(c)};
    }
  };
  static Element<double> bind(const Params& p, const std::array<Vec3, 3>& rest) {
    const Vec3 e = rest[1] - rest[0], d = rest[2] - rest[0];
    const double l = norm(e), s = dot(d, e) / l, t = norm(cross(e, d)) / l;
    return {p.stiffness * l * t / 2, 1 / l, -s / (l * t), 1 / t};
  }
  template <class T>
  static Columns<T, 2> project(const Element<T>&, const Columns<T, 2>& F) {
    // F (F^T F)^(-1/2), the root of a 2 x 2 matrix in closed form
    const T p = dot(F[0], F[0]), q = dot(F[0], F[1]), r = dot(F[1], F[1]);
    const T d = norm(cross(F[0], F[1])), n = std::sqrt(p + r + T(2) * d);
    const T k = T(1) / (d * n);
    return {(F[0] * (r + d) - F[1] * q) * k, (F[1] * (p + d) - F[0] * q) * k};
  }
};

}  // namespace

TEST_CASE("a new constraint, given as A and a projection, works without a change to the solver (Inventory P02)") {
  const Mesh cloth = generated("cloth", {{"columns", {7}}, {"rows", {6}}});
  std::vector<std::array<int, 3>> stencils = cloth.triangles;
  std::vector<std::array<Vec3, 3>> rest;
  for (const auto& t : stencils) rest.push_back({cloth.vertices[t[0]], cloth.vertices[t[1]], cloth.vertices[t[2]]});
  Batch<OwnTriStrain> batch(stencils, rest, {});
  const int n = int(cloth.vertices.size());
  std::vector<Vec4> x;
  for (int v = 0; v < n; ++v) x.push_back(Vec4(cloth.vertices[v] + random_in_ball(5, v) * 0.05));
  for (Vec4& v : x) v.x *= 1.3;

  // its gradient is the slope of its energy, so the projection is the nearest point
  std::vector<Vec4> gradient(n);
  const double e0 = batch.add_gradient(x.data(), gradient.data(), Precision::float64);
  CHECK(e0 > 0);
  const double d = 1e-6;
  double worst = 0, size = 0;
  for (int v = 0; v < n; ++v) {
    std::vector<Vec4> up = x, down = x;
    up[v].x += d, down[v].x -= d;
    worst = std::max(worst, std::abs((batch.energy(up.data()) - batch.energy(down.data())) / (2 * d) - gradient[v].x));
    size = std::max(size, std::abs(gradient[v].x));
  }
  CHECK(worst <= 1e-6 * size);

  // and the solver relaxes the cloth: strain goes, momentum stays
  LocalGlobal pd({&batch}, std::vector<double>(n, 0.01), frame);
  std::vector<Vec4> v(n, Vec4(1, 2, 3));
  for (int k = 0; k < 60; ++k) {
    std::vector<Vec4> y = x;
    for (int r = 0; r < n; ++r) y[r] += v[r] * frame;
    std::vector<Vec4> next = y;
    double last = pd.objective(next, y, pd.local(next));
    for (int i = 0; i < 10; ++i) {
      const auto targets = pd.local(next);
      next = pd.global(y, targets);
      const double now = pd.objective(next, y, pd.local(next));
      REQUIRE(now <= last * (1 + 1e-12) + 1e-20);
      last = now;
    }
    for (int r = 0; r < n; ++r) v[r] = (next[r] - x[r]) * (1 / frame);
    x = next;
  }
  CHECK(batch.energy(x.data()) < 1e-3 * e0);
  Vec3 mean{};
  for (int r = 0; r < n; ++r) mean += v[r].xyz() / double(n);
  // 600 solves for absolute positions of size 6, condition number about 1e3, divided by h
  CHECK(norm(mean - Vec3{1, 2, 3}) <= 1e-9);
}

TEST_CASE("differential coordinates need at least 5 times fewer iterations than A = B = 1 (Inventory P03)") {
  // One step of a stretched and bumpy sheet of 81 x 81, the paper's 19683 degrees of freedom. A = B = 1 passes news on
  // by one edge per iteration, at the pace of the ratio of stiffness to m/h^2.
  const Mesh cloth = generated("cloth", {{"columns", {81}}, {"rows", {81}}});
  const int n = int(cloth.vertices.size());
  const double k = 20;
  const auto edges = unique_edges(cloth);
  std::vector<std::array<Vec3, 2>> rest;
  for (const auto& e : edges) rest.push_back({cloth.vertices[e[0]], cloth.vertices[e[1]]});
  Batch<Spring> batch(edges, rest, {.stiffness = k});
  std::vector<double> mass(n, 1.0 / n);
  LocalGlobal pd({&batch}, mass, frame);
  std::vector<Vec4> y;
  for (int v = 0; v < n; ++v) {
    const Vec3 p = cloth.vertices[v];
    y.push_back(Vec4(p.x * 1.2, 0.02 * std::sin(6 * p.x) * std::cos(5 * p.z), p.z * 1.1));
  }
  std::vector<Vec4> solution = y;
  for (double moved = 1; moved > 1e-9;) {  // leaves some 20 times that, far below 1e-3 of the start
    const std::vector<Vec4> next = pd.global(y, pd.local(solution));
    moved = largest_difference(next, solution);
    solution = next;
  }
  const double start = largest_difference(y, solution);
  const auto error = [&](const std::vector<Vec4>& x) { return largest_difference(x, solution) / start; };

  std::vector<Vec4> x = y;
  int differential = 0;
  while (error(x) > 1e-3 && differential < 3000) x = pd.global(y, pd.local(x)), ++differential;

  // A = B = 1: each edge projects its two positions, w' = 2 k gives the same energy; the matrix is diagonal
  x = y;
  std::vector<double> diagonal(n);
  for (int v = 0; v < n; ++v) diagonal[v] = mass[v] / (frame * frame);
  for (const auto& e : edges)
    for (const int v : e) diagonal[v] += 2 * k;
  int plain = 0;
  while (error(x) > 1e-3 && plain < 6 * differential) {
    std::vector<Vec4> rhs(n);
    for (int v = 0; v < n; ++v) rhs[v] = y[v] * (mass[v] / (frame * frame));
    for (size_t e = 0; e < edges.size(); ++e) {
      const Vec3 a = x[edges[e][0]].xyz(), b = x[edges[e][1]].xyz(), middle = (a + b) * 0.5;
      const Vec3 half = (b - a) * (0.5 * norm(rest[e][1] - rest[e][0]) / norm(b - a));
      rhs[edges[e][0]] += Vec4(middle - half) * (2 * k);
      rhs[edges[e][1]] += Vec4(middle + half) * (2 * k);
    }
    for (int v = 0; v < n; ++v) x[v] = rhs[v] * (1 / diagonal[v]);
    ++plain;
  }
  MESSAGE("iterations to 1e-3: differential " << differential << ", identity at least " << plain);
  CHECK(differential < 3000);
  CHECK(plain >= 5 * differential);
}

TEST_CASE("PD keeps P in a closed system, but converged backward Euler loses L and H (Inventory P04, E2)") {
  // fully converged: what is lost is the integrator's, not that of an early stop
  Rig rig(small_box(), {springs(2e4)});
  Motion& m = rig.island->motion;
  const Vec3 c = rig.center(m.x);
  for (int r = 0; r < rig.rows(); ++r) {
    m.x[r] = Vec4(c + (m.x[r].xyz() - c) * 1.2);
    m.v[r] = Vec4(Vec3{1, 2, 3} + cross(Vec3{1, 3, 2}, m.x[r].xyz() - c));
  }
  rig.loaded();
  const Vec3 p0 = rig.momentum(m.v), l0 = rig.spin(m.x, m.v);
  const double internal0 = rig.kinetic(m.v) + m.energy - 0.5 * dot(p0, p0) / rig.total_mass();
  for (int k = 0; k < 60; ++k) {
    const StepOutcome out = rig.step(settings_for("pd", 3000, 1e-12));
    REQUIRE(out.status == StepOutcome::Status::converged);
    REQUIRE(norm(rig.momentum(m.v) - p0) <= 1e-12 * norm(p0));
  }
  const double kept_l = norm(rig.spin(m.x, m.v)) / norm(l0);
  const double kept_h = (rig.kinetic(m.v) + m.energy - 0.5 * dot(p0, p0) / rig.total_mass()) / internal0;
  MESSAGE("kept after 60 steps: L " << kept_l << ", H about the centre of mass " << kept_h);
  CHECK(kept_l < 0.9);
  CHECK(kept_l > 0.1);
  CHECK(kept_h < 0.5);
}

TEST_CASE("for two sets without a common point Gauss-Seidel alternates forever, PD settles (Inventory P05)") {
  // one edge and two springs over it, of length 1 and 2
  const std::vector<std::array<int, 2>> edge{{0, 1}};
  Batch<Spring> one(edge, {{Vec3{}, Vec3{1, 0, 0}}}, {.stiffness = 1e6}),
      two(edge, {{Vec3{}, Vec3{2, 0, 0}}}, {.stiffness = 1e6});
  const std::vector<Vec4> start{{0, 0, 0}, {0.3, 0.4, 0}};

  std::vector<Vec4> x = start;
  const auto gauss_seidel = [&](const Batch<Spring>& batch) {
    Vec3 z, p;
    batch.project(x.data(), &z, &p);
    const Vec4 correction = Vec4(p - z) * 0.5;  // equal masses share it
    x[0] -= correction, x[1] += correction;
    return norm((x[1] - x[0]).xyz());
  };
  for (int k = 0; k < 1000; ++k) {
    REQUIRE(gauss_seidel(one) == doctest::Approx(1).epsilon(1e-14));
    REQUIRE(gauss_seidel(two) == doctest::Approx(2).epsilon(1e-14));
  }

  const LocalGlobal pd({&one, &two}, {1, 1}, 1);
  x = start;
  double moved = 1;
  for (int k = 0; k < 200; ++k) {
    const std::vector<Vec4> next = pd.global(x, pd.local(x));  // each step a step of time: inertia vanishes in the end
    moved = largest_difference(x, next);
    x = next;
  }
  CHECK(moved <= 1e-12);
  CHECK(norm((x[1] - x[0]).xyz()) == doctest::Approx(1.5).epsilon(1e-10));
}

TEST_CASE("a free body falls g h^2 n(n+1)/2 in n implicit Euler steps under pd") {
  Scene scene;
  scene.solver.method = "pd";
  scene.gravity = {0, -9.81, 0};
  BodySpec body;
  body.name = "box";
  body.mesh.generator = "box";
  body.mesh.parameters = {{"cells", {2, 2, 2}}};
  body.potentials.push_back(strain(1e4));
  scene.bodies.push_back(body);
  auto made = Simulation::create(scene, {.threads = 1});
  REQUIRE(made.has_value());
  Simulation& sim = *made;
  const auto start = sim.positions();
  for (int n = 1; n <= 100; ++n) {
    REQUIRE(sim.step());
    const double fall = 9.81 * scene.step * scene.step * n * (n + 1) / 2;
    const auto now = sim.positions();
    for (size_t v = 0; v < now.size(); ++v) {
      REQUIRE(std::abs(start[v].y - now[v].y - fall) <= 1e-12 * (1 + fall));
      REQUIRE(std::abs(now[v].x - start[v].x) + std::abs(now[v].z - start[v].z) <= 1e-12);
    }
  }
}
