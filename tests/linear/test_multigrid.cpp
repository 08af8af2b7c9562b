// Multigrid against Eigen's factor in double.
#include <doctest/doctest.h>

#include <utility>

#include "base/parallel.h"
#include "count_allocations.h"
#include "linear/eigen_reference.h"
#include "linear/mesh_matrices.h"
#include "linear/multigrid.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Eight blocks of a box, stiff and soft in turn.
Body contrasted(Body body, double contrast) {
  body.stiffness = [contrast](const Vec3& p) { return ((p.x > 0) ^ (p.y > 0) ^ (p.z > 0)) ? 1e5 : 1e5 * contrast; };
  return body;
}

/// Interior vertices moved at random: dihedral angles down to a few degrees.
Body jittered(Body body, double amount) {
  for (size_t v = 0; v < body.mesh.vertices.size(); ++v) body.mesh.vertices[v] += random_in_ball(3, v) * amount;
  return body;
}

Body stiff(Body body, double stiffness) {
  body.stiffness = [stiffness](const Vec3&) { return stiffness; };
  return body;
}

std::vector<std::pair<std::string, std::vector<Body>>> bodies() {
  return {{"box", {box(14)}},
          {"stiff box", {stiff(box(14), 1e9)}},
          {"soft box, ruled by its mass", {stiff(box(14), 1e2)}},
          {"stiffness contrast", {contrasted(box(14), 1e4)}},
          {"slivers", {jittered(box(14), 0.5 / 14 * 0.5)}},
          {"flat cells", {box(14, 0.2)}},
          {"cloth", {generated("cloth", {{"columns", {60}}, {"rows", {60}}})}},
          {"chain", {generated("chain", {{"vertices", {3000}}})}},
          {"hippo", {generated("hippo")}},
          {"disconnected", {box(9), generated("cloth", {{"columns", {30}}, {"rows", {30}}}), stiff(box(9), 1e8)}},
          {"smaller than the coarsest level", {box(3)}}};
}

}  // namespace

TEST_CASE(
    "multigrid agrees with a factor in double on solids, sheets and chains, stiff and soft, good and bad meshes") {
  for (const auto& [name, list] : bodies()) {
    CAPTURE(name);
    SymmetricAssembly assembly;
    assemble(assembly, list);
    const SymmetricMatrix& m = assembly.matrix();
    const std::vector<Vec4> b = random_vectors(m.size, 1), expected = eigen_solve(m, b);
    Multigrid solver;
    REQUIRE(solver.set_up(m));
    CHECK(solver.size() == m.size);
    for (const double tolerance : {1e-4, 1e-10}) {
      CAPTURE(tolerance);
      solver.tolerance = tolerance;
      std::vector<Vec4> x(m.size);
      const Multigrid::Outcome outcome = solver.solve(b.data(), x.data());
      CHECK(outcome.converged);
      CHECK(outcome.error <= tolerance);
      // the estimate sees the error through the preconditioner, which is spectrally within a small factor of A
      CHECK(energy_error(m, x, expected) <= 3 * tolerance);
      for (const Vec4& row : x) REQUIRE(row.w == 0);
    }
    // the worst here are flat cells and slivers
    CHECK(solver.solve(b.data(), std::vector<Vec4>(m.size).data()).iterations <= 40);
  }
}

TEST_CASE("multigrid takes hardly more iterations for eight times the vertices") {
  for (const bool contrast : {false, true}) {
    CAPTURE(contrast);
    std::vector<int> iterations;
    for (const int cells : {6, 13, 27}) {
      SymmetricAssembly assembly;
      const Body body = box(cells);
      assemble(assembly, {contrast ? contrasted(body, 1e4) : body});
      const SymmetricMatrix& m = assembly.matrix();
      Multigrid solver;
      solver.tolerance = 1e-8;
      REQUIRE(solver.set_up(m));
      const std::vector<Vec4> b = random_vectors(m.size, 2);
      std::vector<Vec4> x(m.size);
      const Multigrid::Outcome outcome = solver.solve(b.data(), x.data());
      REQUIRE(outcome.converged);
      iterations.push_back(outcome.iterations);
      if (cells == 27) CHECK(solver.levels() >= 3);
    }
    CHECK(iterations[2] <= 1.5 * iterations[1]);
    CHECK(iterations[2] <= 25);
  }
}

TEST_CASE("multigrid gives the same bits on 1, 2, 3 and 16 threads, whatever was set up on which") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(22), generated("hippo")});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<Vec4> b = random_vectors(m.size, 3);
  std::vector<Vec4> first;
  for (const int count : {1, 2, 3, 16}) {
    set_threads(count);
    Multigrid solver;
    REQUIRE(solver.set_up(m));
    std::vector<Vec4> x(m.size);
    CHECK(solver.solve(b.data(), x.data()).converged);
    if (first.empty()) first = x;
    CHECK(same_bits(x, first));
  }
  set_threads(1);
}

TEST_CASE("each of the three systems goes its own way, whatever the others are") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(12)});
  const SymmetricMatrix& m = assembly.matrix();
  Multigrid solver;
  REQUIRE(solver.set_up(m));
  const std::vector<Vec4> b = random_vectors(m.size, 4);
  std::vector<Vec4> together(m.size), alone(m.size);
  solver.solve(b.data(), together.data());
  // a smooth right-hand side takes another number of iterations
  std::vector<Vec4> other = b;
  for (int i = 0; i < m.size; ++i) other[i].x = 0, other[i].y = 1;
  solver.solve(other.data(), alone.data());
  for (int i = 0; i < m.size; ++i) {
    REQUIRE(alone[i].z == together[i].z);
    REQUIRE(alone[i].x == 0);
  }
  // in place
  std::vector<Vec4> x = b;
  solver.solve(x.data(), x.data());
  CHECK(same_bits(x, together));
}

TEST_CASE("a warm start needs no iteration at the solution and fewer near it") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(12)});
  const SymmetricMatrix& m = assembly.matrix();
  Multigrid solver;
  REQUIRE(solver.set_up(m));
  const std::vector<Vec4> b = random_vectors(m.size, 5), expected = eigen_solve(m, b);
  std::vector<Vec4> x(m.size);
  const int cold = solver.solve(b.data(), x.data()).iterations;
  CHECK(cold >= 5);

  x = expected;
  CHECK(solver.solve(b.data(), x.data(), true).iterations == 0);
  CHECK(energy_error(m, x, expected) <= 1e-10);

  for (int i = 0; i < m.size; ++i) x[i] = expected[i] * (1 + 1e-5 * random_signed(6, i));
  const Multigrid::Outcome near = solver.solve(b.data(), x.data(), true);
  CHECK(near.converged);
  CHECK(near.iterations <= cold - 3);
  CHECK(energy_error(m, x, expected) <= 3e-10);
  // a guess far away does no harm
  for (int i = 0; i < m.size; ++i) x[i] = Vec4(random_in_ball(7, i) * 1e3);
  CHECK(solver.solve(b.data(), x.data(), true).converged);
  CHECK(energy_error(m, x, expected) <= 3e-10);
}

TEST_CASE("new values on the same pattern are solved as well as a fresh set-up does") {
  const Body soft = box(14), near = stiff(box(14), 1.02e5), hard = stiff(box(14), 1e6);
  const Body blocks = contrasted(box(14), 1e4);
  SymmetricAssembly assembly;
  assemble(assembly, {soft});
  Multigrid solver;
  REQUIRE(solver.set_up(assembly.matrix()));
  // `blocks` couples other vertices than `soft` does: the levels are built anew
  for (const Body& body : {near, hard, blocks, soft}) {
    CAPTURE(body.stiffness({1, 1, 1}));
    assembly.begin_values();
    add_body(assembly, body);
    const SymmetricMatrix& m = assembly.matrix();
    REQUIRE(solver.set_up(m));
    Multigrid fresh;
    REQUIRE(fresh.set_up(m));
    const std::vector<Vec4> b = random_vectors(m.size, 6), expected = eigen_solve(m, b);
    std::vector<Vec4> x(m.size);
    const Multigrid::Outcome kept = solver.solve(b.data(), x.data());
    CHECK(kept.converged);
    CHECK(energy_error(m, x, expected) <= 3e-10);
    CHECK(kept.iterations <= fresh.solve(b.data(), x.data()).iterations + 2);
  }
}

TEST_CASE("a matrix four times as large on the same pattern gives a quarter of the solution, to the bit") {
  Body body = contrasted(box(14), 1e4);
  SymmetricAssembly assembly;
  assemble(assembly, {body});
  const SymmetricMatrix& m = assembly.matrix();
  const std::vector<Vec4> b = random_vectors(m.size, 12);
  Multigrid solver;
  REQUIRE(solver.set_up(m));
  std::vector<Vec4> first(m.size), again(m.size);
  solver.solve(b.data(), first.data());
  body.density *= 4;
  body.stiffness = [old = body.stiffness](const Vec3& p) { return 4 * old(p); };
  assembly.begin_values();
  add_body(assembly, body);
  REQUIRE(solver.set_up(m));
  solver.solve(b.data(), again.data());
  for (Vec4& v : again) v = v * 4;
  CHECK(same_bits(again, first));
}

TEST_CASE("another matrix at the same address is another pattern") {
  SymmetricMatrix m;
  Multigrid solver;
  for (const int cells : {11, 12}) {
    SymmetricAssembly assembly;
    assemble(assembly, {box(cells)});
    m = assembly.matrix();
    REQUIRE(solver.set_up(m));
    const std::vector<Vec4> b = random_vectors(m.size, 7);
    std::vector<Vec4> x(m.size);
    CHECK(solver.solve(b.data(), x.data()).converged);
    CHECK(energy_error(m, x, eigen_solve(m, b)) <= 3e-10);
  }
}

TEST_CASE("one row, rows without neighbours, a right-hand side of zero") {
  for (const int n : {1, 2, 3000}) {
    SymmetricAssembly assembly;
    assembly.begin_pattern(n);
    for (int i = 0; i < n; ++i) assembly.add(i, i, 2 + i);
    assembly.finish_pattern();
    Multigrid solver;
    REQUIRE(solver.set_up(assembly.matrix()));
    std::vector<Vec4> b(n, Vec4{1, 0, -3}), x(n);
    CHECK(solver.solve(b.data(), x.data()).converged);
    for (int i = 0; i < n; ++i) {
      REQUIRE(x[i].x == doctest::Approx(1.0 / (2 + i)).epsilon(1e-9));
      REQUIRE(x[i].y == 0);
      REQUIRE(x[i].z == doctest::Approx(-3.0 / (2 + i)).epsilon(1e-9));
    }
    std::fill(b.begin(), b.end(), Vec4{});
    const Multigrid::Outcome outcome = solver.solve(b.data(), x.data());
    CHECK(outcome.converged);
    CHECK(outcome.iterations == 0);
    CHECK(length(x) == 0);
  }
}

TEST_CASE("the units of matrix and right-hand side do not change the iterations") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(12)});
  const SymmetricMatrix m = assembly.matrix();
  const std::vector<Vec4> b = random_vectors(m.size, 8);
  std::vector<Vec4> x(m.size), y(m.size);
  Multigrid solver;
  REQUIRE(solver.set_up(m));
  const int iterations = solver.solve(b.data(), x.data()).iterations;
  for (const double scale : {1e-60, 1e-30, 1e30, 1e60}) {
    SymmetricMatrix other = m;
    for (double& v : other.value) v *= scale;
    REQUIRE(solver.set_up(other));
    for (const double size : {1e-80, 1e80}) {
      std::vector<Vec4> c(b);
      for (Vec4& v : c) v = v * size;
      CHECK(std::abs(solver.solve(c.data(), y.data()).iterations - iterations) <= 1);
      for (Vec4& v : y) v = v * (scale / size);
      CHECK(energy_error(m, y, x) <= 3e-10);
    }
  }
}

TEST_CASE("a matrix that is not positive definite is reported, and the next good one works") {
  const Body body = box(12);
  SymmetricAssembly assembly;
  assemble(assembly, {body});
  const SymmetricMatrix good = assembly.matrix();
  const std::vector<Vec4> b = random_vectors(good.size, 9);
  std::vector<Vec4> x(good.size);
  Multigrid solver;

  SymmetricMatrix bad = good;
  bad.value[bad.start[100]] = -1;
  CHECK_FALSE(solver.set_up(bad));

  // indefinite with a positive diagonal: a coupling stronger than both its ends, or too little of every diagonal entry
  bad = good;
  for (int k = bad.start[100]; k < bad.start[101]; ++k)
    if (bad.row[k] == 101) bad.value[k] = 10 * bad.value[bad.start[100]];
  CHECK_FALSE((solver.set_up(bad) && solver.solve(b.data(), x.data()).converged));
  bad = good;
  for (int c = 0; c < bad.size; ++c) bad.value[bad.start[c]] *= 0.9;
  CHECK_FALSE((solver.set_up(bad) && solver.solve(b.data(), x.data()).converged));

  REQUIRE(solver.set_up(good));
  CHECK(solver.solve(b.data(), x.data()).converged);
  CHECK(energy_error(good, x, eigen_solve(good, b)) <= 3e-10);
}

TEST_CASE("running out of iterations is reported") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(12)});
  const SymmetricMatrix& m = assembly.matrix();
  Multigrid solver;
  REQUIRE(solver.set_up(m));
  solver.iteration_limit = 2;
  const std::vector<Vec4> b = random_vectors(m.size, 10);
  std::vector<Vec4> x(m.size);
  const Multigrid::Outcome outcome = solver.solve(b.data(), x.data());
  CHECK_FALSE(outcome.converged);
  CHECK(outcome.iterations == 2);
  CHECK(outcome.error > solver.tolerance);
  // what there is, is good to that error
  CHECK(energy_error(m, x, eigen_solve(m, b)) <= 3 * outcome.error);
}

TEST_CASE("solving with multigrid again and again allocates nothing") {
  SymmetricAssembly assembly;
  assemble(assembly, {box(14)});
  const SymmetricMatrix& m = assembly.matrix();
  for (const int count : {1, 2}) {
    set_threads(count);
    Multigrid solver;
    REQUIRE(solver.set_up(m));
    const std::vector<Vec4> b = random_vectors(m.size, 11);
    std::vector<Vec4> x(m.size);
    solver.solve(b.data(), x.data());
    const long before = allocations();
    for (int k = 0; k < 3; ++k) solver.solve(b.data(), x.data(), k == 2);
    CHECK(allocations() == before);
  }
  set_threads(1);
}
