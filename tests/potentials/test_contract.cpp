// What every registered potential must fulfil; new entries are covered at once.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "base/hash.h"
#include "base/parallel.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Calls check(entry, mesh, batch) for each potential of the registry on a small mesh.
template <class F>
void for_each_potential(F&& check) {
  REQUIRE(potential_registry().size() >= 2);
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info);
    const auto batch = make(entry, mesh);
    REQUIRE(batch->elements() > 0);
    check(entry, mesh, *batch);
  }
}

/// Size of the forces that cancel inside an element: sum of w |a| |z|.
double force_scale(const Potential& p, const std::vector<Vec4>& x) {
  double sum = 0;
  for (int e = 0; e < p.elements(); ++e)
    for (int r = 0; r < p.rows(e); ++r) {
      // z may be small where its terms are not: a flat sheet has no curvature
      double size = 0, reach = 0;
      for (int c = 0; c < p.corners(e); ++c) {
        size += std::abs(p.coefficient(e, r, c));
        reach += std::abs(p.coefficient(e, r, c)) * norm((x[p.vertex(e, c)] - x[p.vertex(e, 0)]).xyz());
      }
      sum += p.weight(e) * size * reach;
    }
  return sum;
}

}  // namespace

namespace {

/// The Hessian as a dense matrix.
Eigen::MatrixXd hessian_of(Potential& batch, const std::vector<Vec4>& x, bool definite) {
  BlockAssembly blocks;
  blocks.begin_pattern(int(x.size()));
  batch.add_hessian(nullptr, definite, blocks, 0);
  blocks.finish_pattern();
  blocks.begin_values();
  batch.add_hessian(x.data(), definite, blocks, 0);
  SymmetricMatrix m;
  expand(blocks.matrix(), m);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(m.size, m.size);
  for (int c = 0; c < m.size; ++c)
    for (int k = m.start[c]; k < m.start[c + 1]; ++k) out(m.row[k], c) = out(c, m.row[k]) = m.value[k];
  return out;
}

Eigen::MatrixXd differences_of_gradient(Potential& batch, std::vector<Vec4> x, double d) {
  const int n = int(x.size());
  Eigen::MatrixXd out(3 * n, 3 * n);
  double Vec4::*axes[] = {&Vec4::x, &Vec4::y, &Vec4::z};
  for (int v = 0; v < n; ++v) {
    for (int a = 0; a < 3; ++a) {
      const double keep = x[v].*axes[a];
      x[v].*axes[a] = keep + d;
      const Slope above = slope(batch, x);
      x[v].*axes[a] = keep - d;
      const Slope below = slope(batch, x);
      x[v].*axes[a] = keep;
      for (int w = 0; w < n; ++w)
        for (int b = 0; b < 3; ++b)
          out(3 * w + b, 3 * v + a) = (above.gradient[w].*axes[b] - below.gradient[w].*axes[b]) / (2 * d);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every Hessian is the slope of the gradient, and definite where that is asked for") {
  int claimed = 0;
  for_each_potential([&](const PotentialEntry& entry, const Mesh& mesh, Potential& batch) {
    if (!batch.has_hessian()) return;
    ++claimed;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::vector<Vec4> x = deformed(mesh, seed == 3 ? 0.25 : 0.08, seed);  // the last has inverted elements
      const Eigen::MatrixXd exact = hessian_of(batch, x, false);
      const double size = exact.cwiseAbs().maxCoeff();
      if (size == 0) continue;  // a slack one within its limits
      // Central differences over d = 1e-5 of edges of 0.5: truncation and round-off are both near 1e-9 of the Hessian,
      // a factor of 100 for the higher derivatives near the poles of inverted elements, as many for differences within
      // (stretches.h). Limits have kinks, across which both sides count: compared is what two distances agree on.
      const Eigen::MatrixXd wide = differences_of_gradient(batch, x, 2e-5);
      const Eigen::MatrixXd narrow = differences_of_gradient(batch, x, 1e-5);
      double worst = 0;
      int compared = 0;
      for (int i = 0; i < exact.rows(); ++i)
        for (int j = 0; j < exact.cols(); ++j) {
          if (std::abs(wide(i, j) - narrow(i, j)) > 1e-6 * size) continue;
          worst = std::max(worst, std::abs(exact(i, j) - narrow(i, j)));
          ++compared;
        }
      MESSAGE(entry.info.name, ", seed ", seed, ": ", worst / size, " of ", double(compared) / double(exact.size()));
      CHECK(worst <= 1e-6 * size);
      CHECK(compared >= 0.95 * double(exact.size()));

      const Eigen::MatrixXd definite = hessian_of(batch, x, true);
      const Eigen::VectorXd low = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(definite).eigenvalues();
      const double noise = 1e-13 * low.maxCoeff() * double(definite.rows());
      CHECK(low.minCoeff() >= -noise);
      // definite - exact is the sum of what was negative in the elements: it is never negative itself
      const Eigen::VectorXd more = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(definite - exact).eigenvalues();
      CHECK(more.minCoeff() >= -noise);
    }
  });
  CHECK(claimed == 17);
}

TEST_CASE("gradients are added to what is there, and leave the padding at zero") {
  for_each_potential([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    const auto x = deformed(mesh, 0.1, 4);
    const Slope s = slope(batch, x);
    std::vector<Vec4> twice = s.gradient;
    batch.add_gradient(x.data(), twice.data(), Precision::float64);
    for (size_t v = 0; v < x.size(); ++v) {
      REQUIRE(twice[v].x == 2 * s.gradient[v].x);
      REQUIRE(s.gradient[v].w == 0);
    }
  });
}

TEST_CASE("a translation by 1000 units keeps the precision of energy and gradient, in float as well") {
  for_each_potential([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    const auto x = deformed(mesh, 0.1, 7);
    const auto far = moved(x, Mat3::identity(), {1000, -1000, 1000});
    const Slope near64 = slope(batch, x), far64 = slope(batch, far);
    // the far positions are rounded to 1.1e-13, edges are 0.5 long and strains about 0.2
    CHECK(std::abs(far64.energy - near64.energy) <= 1e-11 * std::abs(near64.energy));
    CHECK(distance(far64.gradient, near64.gradient) <= 1e-11 * length(near64.gradient));
    // differences are taken in double, so the float kernel sees the same numbers up to single roundings of 6e-8
    const Slope near32 = slope(batch, x, Precision::float32), far32 = slope(batch, far, Precision::float32);
    CHECK(std::abs(far32.energy - near32.energy) <= 2e-6 * std::abs(near32.energy));
    CHECK(distance(far32.gradient, near32.gradient) <= 2e-6 * length(near32.gradient));
  });
}

TEST_CASE("the float kernel agrees with the double one to float precision") {
  for_each_potential([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto x = deformed(mesh, 0.1, seed);
      const Slope wide = slope(batch, x), narrow = slope(batch, x, Precision::float32);
      // a few tens of float round-offs of the forces that cancel
      REQUIRE(distance(narrow.gradient, wide.gradient) <= 2e-6 * force_scale(batch, x));
      REQUIRE(std::abs(narrow.energy - wide.energy) <= 1e-5 * std::abs(wide.energy));
    }
  });
}

TEST_CASE("the gradient is the sum of w A^T (z - p), and the energy that of w/2 |z - p|^2") {
  for_each_potential([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    const auto x = deformed(mesh, 0.2, 10);
    const Projection at = project(batch, x);
    double energy = 0;
    std::vector<Vec4> gradient(x.size());
    for (int e = 0, k = 0; e < batch.elements(); ++e) {
      for (int r = 0; r < batch.rows(e); ++r, ++k) {
        Vec3 z{};
        const Vec3 d = at.z[k] - at.p[k];
        energy += 0.5 * batch.weight(e) * dot(d, d);
        double size = 0;
        for (int c = 0; c < batch.corners(e); ++c) {
          size += norm(x[batch.vertex(e, c)].xyz()) * std::abs(batch.coefficient(e, r, c));
          z += x[batch.vertex(e, c)].xyz() * batch.coefficient(e, r, c);
          gradient[batch.vertex(e, c)] += Vec4(d * (batch.weight(e) * batch.coefficient(e, r, c)));
        }
        REQUIRE(norm(z - at.z[k]) <= 1e-13 * size);
      }
    }
    const Slope s = slope(batch, x);
    if (batch.has_projection()) CHECK(std::abs(s.energy - energy) <= 1e-13 * energy);
    CHECK(distance(s.gradient, gradient) <= 1e-13 * length(gradient));
  });
}

TEST_CASE("add_weights assembles the sum of w A^T A, or a metric of the potential's own") {
  for_each_potential([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    const int n = int(mesh.vertices.size()), offset = 3;
    SymmetricAssembly assembly;
    assembly.begin_pattern(n + offset);
    batch.add_weights(assembly, offset, 0.5);
    assembly.finish_pattern();
    std::vector<double> expected((n + offset) * (n + offset), 0.0);
    for (int e = 0; e < batch.elements(); ++e)
      for (int i = 0; i < batch.corners(e); ++i)
        for (int j = 0; j < batch.corners(e); ++j)
          for (int r = 0; r < batch.rows(e); ++r)
            expected[(batch.vertex(e, i) + offset) * (n + offset) + batch.vertex(e, j) + offset] +=
                0.5 * batch.weight(e) * batch.coefficient(e, r, i) * batch.coefficient(e, r, j);
    const double largest = *std::max_element(expected.begin(), expected.end());
    const SymmetricMatrix& m = assembly.matrix();
    if (batch.has_own_metric()) {
      // rows sum to zero, and nothing is pulled the wrong way: x^T A x >= 0
      std::vector<double> sum(m.size, 0.0), size(m.size, 0.0);
      for (int c = 0; c < m.size; ++c)
        for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
          sum[c] += m.value[k], size[c] += std::abs(m.value[k]);
          if (m.row[k] != c) sum[m.row[k]] += m.value[k], size[m.row[k]] += std::abs(m.value[k]);
        }
      for (int c = 0; c < m.size; ++c) REQUIRE(std::abs(sum[c]) <= 1e-13 * size[c]);
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        double form = 0, terms = 0;
        for (int c = 0; c < m.size; ++c)
          for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
            const double term =
                (m.row[k] == c ? 1 : 2) * m.value[k] * random_signed(seed, m.row[k]) * random_signed(seed, c);
            form += term, terms += std::abs(term);
          }
        REQUIRE(form >= -1e-13 * terms);
      }
      return;
    }
    for (int c = 0; c < m.size; ++c) {
      for (int k = m.start[c]; k < m.start[c + 1]; ++k) {
        double& entry = expected[m.row[k] * m.size + c];
        REQUIRE(std::abs(entry - m.value[k]) <= 1e-14 * largest);
        entry = expected[c * m.size + m.row[k]] = 0;
      }
    }
    for (const double left : expected) REQUIRE(left == 0);  // nothing of A^T A was left out
    // the rows of A sum to zero: translations cost nothing
    for (int e = 0; e < batch.elements(); ++e)
      for (int r = 0; r < batch.rows(e); ++r) {
        double sum = 0, size = 0;
        for (int c = 0; c < batch.corners(e); ++c)
          sum += batch.coefficient(e, r, c), size += std::abs(batch.coefficient(e, r, c));
        REQUIRE(std::abs(sum) <= 1e-15 * size);
      }
  });
}

TEST_CASE("scaling the stiffness scales energy, gradient and weights, in double and in float") {
  for_each_potential([](const PotentialEntry& entry, const Mesh& mesh, Potential& batch) {
    if (entry.info.name == "custom") return;  // beside an energy the stiffness says what bounds its Hessian
    // the first parameter of a potential is its stiffness; where stretch is apart from shear there are two
    const auto stiffness = [&](double k) {
      ParameterValues values{{entry.info.parameters[0].name, k}};
      for (const ParameterInfo& info : entry.info.parameters)
        if (info.name == "shear") values[info.name] = k / 4;
      return values;
    };
    const auto x = deformed(mesh, 0.1, 12);
    batch.set_parameters(stiffness(100));
    const Slope s = slope(batch, x), f = slope(batch, x, Precision::float32);
    const double weight = batch.weight(0), energy = batch.energy(x.data());
    for (const double factor : {0.0, 0.25, 1.0, 4.0, 1024.0}) {  // powers of two are exact
      batch.set_parameters(stiffness(100 * factor));
      CHECK(batch.energy(x.data()) == factor * energy);
      CHECK(batch.weight(0) == factor * weight);
      const Slope t = slope(batch, x), u = slope(batch, x, Precision::float32);
      CHECK(t.energy == factor * s.energy);
      for (size_t v = 0; v < x.size(); ++v) {
        REQUIRE(t.gradient[v].y == factor * s.gradient[v].y);
        REQUIRE(u.gradient[v].y == factor * f.gradient[v].y);
      }
    }
  });
}

TEST_CASE("a batch that was given rows in another order gives the same forces at those rows") {
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info);
    const int n = int(mesh.vertices.size());
    std::vector<int> row(n);
    for (int v = 0; v < n; ++v) row[v] = (v * 7 + 3) % n;
    REQUIRE(n % 7 != 0);
    const auto plain = make(entry, mesh);
    const auto shuffled = make(entry, mesh, {}, row);
    const auto x = deformed(mesh, 0.1, 13);
    std::vector<Vec4> y(n);
    for (int v = 0; v < n; ++v) y[row[v]] = x[v];
    const Slope a = slope(*plain, x), b = slope(*shuffled, y);
    CHECK(a.energy == b.energy);
    double worst = 0;
    for (int v = 0; v < n; ++v) worst = std::max(worst, norm((b.gradient[row[v]] - a.gradient[v]).xyz()));
    CHECK(worst <= 1e-13 * length(a.gradient));
  }
}

TEST_CASE("potentials are found by name") {
  for (const PotentialEntry& entry : potential_registry()) {
    CHECK(find_potential(entry.info.name) == &entry);
    CHECK_FALSE(entry.info.help.empty());
    CHECK_FALSE(entry.info.parameters.empty());
    CHECK(entry.check({}).empty());
  }
  CHECK(find_potential("no such potential") == nullptr);
  CHECK(potential_infos().size() == potential_registry().size());
}
