// The matrix of the global step on its own: what it is the sum of, made by hand, beside dense algebra.
#include "integrators/system_matrix.h"

#include "dense.h"
#include "rig.h"

using namespace verve;
using namespace verve::test;

namespace {

/// The matrix of one box with an anchor to the world at row 0.
struct MatrixRig {
  Scene scene = scene_of(box_body(3, 1e4));
  CompiledScene compiled = std::move(compile(scene).value());
  const Body& body = compiled.model.bodies[0];
  Potential& potential = *compiled.matter.bodies[0].potentials[0];
  std::vector<double> mass = body.mass;
  std::vector<AnchorTerm> anchors{1};
  SystemMatrix matrix{{&mass, &body.coupling, {{&compiled.matter.bodies[0].potentials, 0, true}}, &anchors}};
  double hh = 0.02;

  MatrixRig() { anchors[0] = {0, {{0}, {Vec4()}, 300, {}}, {}, true}; }

  /// From masses, coefficients of the elements, the anchor and planes, apart from SystemMatrix::assemble.
  Matrix dense() const {
    Matrix a = Matrix::Zero(body.count, body.count);
    for (int r = 0; r < body.count; ++r) a(r, r) = mass[r] / (hh * hh);
    for (int e = 0; e < potential.elements(); ++e)
      for (int k = 0; k < potential.rows(e); ++k)
        for (int i = 0; i < potential.corners(e); ++i)
          for (int j = 0; j < potential.corners(e); ++j)
            a(potential.vertex(e, i), potential.vertex(e, j)) +=
                potential.weight(e) * potential.coefficient(e, k, i) * potential.coefficient(e, k, j);
    for (const int v : anchors[0].world.vertices) a(v, v) += anchors[0].world.stiffness;
    for (const LowRankTerm& plane : matrix.planes()) a(plane.a, plane.a) += plane.weight;
    return a;
  }
  std::vector<Vec4> solution() {
    SystemMatrix::Factor* const factor = matrix.factor_for(hh, {});
    REQUIRE(factor);
    std::vector<Vec4> b(body.count), x(body.count);
    for (int r = 0; r < body.count; ++r) b[r] = Vec4(random_in_ball(3, r));
    factor->solver.solve(b.data(), x.data());
    return x;
  }
  /// Of what is solved for, in the largest row [1].
  double error() {
    const std::vector<Vec4> x = solution();
    Vector b(body.count);
    for (int r = 0; r < body.count; ++r) b(r) = random_in_ball(3, r).y;
    const Vector exact = solve(dense(), b);
    double most = 0;
    for (int r = 0; r < body.count; ++r) most = std::max(most, std::abs(x[r].y - exact(r)));
    return most / exact.cwiseAbs().maxCoeff();
  }
  void set_planes(int count) {
    std::vector<LowRankTerm> planes;
    for (int r = 0; r < count; ++r) planes.push_back({r, -1, 500.0 + r});
    matrix.set_planes(planes);
  }
};

/// Of a solve in double with a condition of about 1e3, and of a low-rank change on top of it.
constexpr double solve_error = 1e-11;

}  // namespace

TEST_CASE("a factor solves with masses, elements and anchors of its matrix") {
  MatrixRig rig;
  CHECK(rig.error() < solve_error);
  SymmetricAssembly assembly;
  bool has_pattern = false;
  for (int pass = 0; pass < 2; ++pass) {
    rig.matrix.assemble(assembly, has_pattern, rig.hh);
    const Matrix a = rig.dense();
    double most = 0;
    for (int c = 0; c < a.cols(); ++c)
      for (int k = assembly.matrix().start[c]; k < assembly.matrix().start[c + 1]; ++k)
        most = std::max(most, std::abs(assembly.matrix().value[k] - a(assembly.matrix().row[k], c)));
    CHECK(most < 1e-12 * a.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("each length of step and precision has a factor, made once") {
  MatrixRig rig;
  const SystemMatrix::Factor* const first = rig.matrix.factor_for(0.02, {});
  const SystemMatrix::Factor* const half = rig.matrix.factor_for(0.01, {});
  const SystemMatrix::Factor* const narrow = rig.matrix.factor_for(0.02, {.precision = Precision::float32});
  CHECK(first != half);
  CHECK(first != narrow);
  CHECK(half != narrow);
  CHECK(rig.matrix.factor_for(0.02, {}) == first);
  CHECK(rig.matrix.factor_for(0.01, {}) == half);
  CHECK(rig.matrix.factorizations() == 3);
  CHECK(rig.matrix.work().factors == 3);
}

TEST_CASE("a factor follows anchors and planes that come, change and go, and is made anew where they are many") {
  MatrixRig rig;
  CHECK(rig.error() < solve_error);
  rig.anchors[0].world.stiffness = 900, rig.matrix.terms_changed();
  CHECK(rig.error() < solve_error);
  rig.set_planes(3);
  CHECK(rig.error() < solve_error);
  rig.set_planes(0);
  rig.anchors[0].world.stiffness = 0, rig.matrix.terms_changed();
  CHECK(rig.error() < solve_error);
  CHECK(rig.matrix.factorizations() == 1);
  CHECK_FALSE(rig.matrix.set_planes({}));  // as they were
  REQUIRE(rig.body.count > LowRankUpdate::rank_limit);
  rig.set_planes(rig.body.count);
  CHECK(rig.error() < solve_error);
  CHECK(rig.matrix.factorizations() == 2);
}

TEST_CASE("a factor follows elements that go") {
  MatrixRig rig;
  CHECK(rig.error() < solve_error);
  std::vector<char> gone(rig.potential.elements());
  gone[0] = 1;
  rig.potential.set_removed(gone), rig.matrix.terms_changed();
  CHECK(rig.error() < solve_error);
  CHECK(rig.matrix.factorizations() == 1);
}

TEST_CASE("other weights make a factor anew, in the place of the old one") {
  MatrixRig rig;
  const SystemMatrix::Factor* const before = rig.matrix.factor_for(rig.hh, {});
  rig.potential.set_parameters({{"mu", 5e4}}), rig.matrix.weights_changed();
  CHECK(rig.error() < solve_error);
  CHECK(rig.matrix.factor_for(rig.hh, {}) == before);
  CHECK(rig.matrix.factorizations() == 2);
}

TEST_CASE("factors made from their records solve to the same bits") {
  MatrixRig rig, other;
  rig.solution();
  std::vector<char> gone(rig.potential.elements());
  gone[3] = 1;
  for (MatrixRig* r : {&rig, &other}) {
    r->potential.set_removed(gone), r->matrix.terms_changed();
    r->set_planes(2);
  }
  const std::vector<Vec4> x = rig.solution();  // of the factor with all elements, and changes
  std::vector<FactorRecord> records;
  rig.matrix.record(7, records);
  REQUIRE(records.size() == 1);
  const auto same = [&](const std::vector<Vec4>& y) {
    for (size_t r = 0; r < x.size(); ++r)
      if (x[r].xyz() != y[r].xyz()) return false;
    return true;
  };
  CHECK_FALSE(same(other.solution()));  // of a factor without the element: other round-off
  other.matrix.restore(7, records, {});
  CHECK(other.potential.removed() == gone);
  CHECK(same(other.solution()));
  other.matrix.restore(8, records, {});  // of another body: none is left
  records.clear();
  other.matrix.record(8, records);
  CHECK(records.empty());
}
