// The piecewise quadratic model of contacts beside all of its pieces, and the matrix with contacts beside dense algebra:
// on rows made by hand, without a scene.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "integrators/contact_solve.h"
#include "integrators/kept_momenta.h"

using namespace verve;

namespace {

constexpr int vertices = 8;
constexpr double hh = 0.1;

double random(std::uint64_t seed, int i) { return random_in_ball(seed, std::uint64_t(i)).x; }

/// Vertices in a chain of springs: A = M/hh^2 + springs, scalar; and some rows of contact that push them.
struct Problem {
  std::vector<double> mass;
  Eigen::MatrixXd scalar;  // A of one coordinate
  SystemMatrix::Factor factor;
  SolverParts parts;
  BodyTurns turns;
  std::vector<ContactRow> touching, near;
  std::vector<Vec4> g, Ag;
  const ContactSolve::Solve solve = [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) {
    parts.solve(b.data(), x.data());
  };

  Problem(std::uint64_t seed, int rows) {
    SymmetricAssembly assembly;
    assembly.begin_pattern(vertices);
    scalar = Eigen::MatrixXd::Zero(vertices, vertices);
    const auto add = [&](int i, int j, double value) {
      assembly.add(i, j, value);
      scalar(i, j) += value;
      if (i != j) scalar(j, i) += value;
    };
    for (int i = 0; i < vertices; ++i) {
      mass.push_back(1 + 0.5 * random(seed, i));
      add(i, i, mass[i] / (hh * hh));
    }
    for (int i = 0; i + 1 < vertices; ++i) add(i, i, 300), add(i + 1, i + 1, 300), add(i + 1, i, -300);
    assembly.finish_pattern();
    REQUIRE(factor.solver.factorize(assembly.matrix(), false, Precision::float64));
    factor.state = 1;
    parts.add(factor, 0, vertices);
    g.resize(vertices), Ag.resize(vertices);
    for (int i = 0; i < vertices; ++i) g[i] = Vec4(random_in_ball(seed + 1, i) * 200);
    solve(g, Ag);
    for (int r = 0; r < rows; ++r) {
      ContactRow row;
      row.id = r;
      row.count = 1 + int(4 * std::abs(random(seed + 2, r)));
      for (int i = 0; i < row.count; ++i)
        row.rows[i] = (r * 3 + i) % vertices, row.share[i] = i == 0 ? 1 : -1.0 / (row.count - 1);
      const Vec3 n = random_in_ball(seed + 3, r);
      row.direction = n / norm(n);
      row.stiffness = std::pow(10, 3 + 2 * random(seed + 4, r));
      row.force = 40 * random(seed + 5, r);
      if (r % 3 == 2) row.friction = true, row.low = -15, row.high = 15;
      const bool acts = row.friction || row.force > 0;
      (acts ? touching : near).push_back(row);
    }
  }
  std::vector<const ContactRow*> all() const {
    std::vector<const ContactRow*> out;
    for (const ContactRow& row : touching) out.push_back(&row);
    for (const ContactRow& row : near) out.push_back(&row);
    return out;
  }
};

Eigen::VectorXd flat(const std::vector<Vec4>& x) {
  Eigen::VectorXd out(3 * x.size());
  for (size_t i = 0; i < x.size(); ++i) out.segment<3>(3 * i) << x[i].x, x[i].y, x[i].z;
  return out;
}
Eigen::VectorXd slope_of(const ContactRow& row) {
  Eigen::VectorXd j = Eigen::VectorXd::Zero(3 * vertices);
  for (int i = 0; i < row.count; ++i) {
    const Vec3 s = row.slope(i);
    j.segment<3>(3 * row.rows[i]) += Eigen::Vector3d(s.x, s.y, s.z);
  }
  return j;
}
Eigen::MatrixXd dense(const Problem& p) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(3 * vertices, 3 * vertices);
  for (int i = 0; i < vertices; ++i)
    for (int j = 0; j < vertices; ++j) out.block<3, 3>(3 * i, 3 * j) = p.scalar(i, j) * Eigen::Matrix3d::Identity();
  return out;
}
double force_of(const ContactRow& row, double along) {
  return std::clamp(row.force + row.stiffness * along, row.low, row.high);
}

/// Q(d) by its definition; the energy of a row is the integral of its force.
double value(const Problem& p, const Eigen::VectorXd& d) {
  double sum = -flat(p.g).dot(d) + 0.5 * d.dot(dense(p) * d);
  for (const ContactRow* row : p.all()) {
    const double t = slope_of(*row).dot(d), k = row->stiffness;
    const auto energy = [&](double f) {  // V, up to a constant, where k p = f
      const double c = std::clamp(f, row->low, row->high);
      return (c * (f - c) + 0.5 * c * c) / k;
    };
    sum += energy(row->force + k * t) - energy(row->force) - force_of(*row, 0) * t;
  }
  return sum;
}

/// The minimum of Q: of all choices of which rows are at which bound the one that agrees with itself.
Eigen::VectorXd least(const Problem& p) {
  const auto rows = p.all();
  int choices = 1;
  for (size_t r = 0; r < rows.size(); ++r) choices *= 3;
  for (int choice = 0; choice < choices; ++choice) {
    Eigen::MatrixXd A = dense(p);
    Eigen::VectorXd b = flat(p.g);
    bool possible = true;
    for (int r = 0, left = choice; r < int(rows.size()); ++r, left /= 3) {
      const ContactRow& row = *rows[r];
      const Eigen::VectorXd j = slope_of(row);
      const double now = force_of(row, 0), bound = left % 3 == 1 ? row.low : row.high;
      if (left % 3 == 0) {
        A += row.stiffness * j * j.transpose(), b -= (row.force - now) * j;
      } else if (std::isfinite(bound)) {
        b -= (bound - now) * j;
      } else {
        possible = false;
      }
    }
    if (!possible) continue;
    const Eigen::VectorXd d = A.ldlt().solve(b);
    for (int r = 0, left = choice; possible && r < int(rows.size()); ++r, left /= 3) {
      const double f = rows[r]->force + rows[r]->stiffness * slope_of(*rows[r]).dot(d);
      possible = left % 3 == 0   ? f >= rows[r]->low && f <= rows[r]->high
                 : left % 3 == 1 ? f <= rows[r]->low
                                 : f >= rows[r]->high;
    }
    if (possible) return d;
  }
  FAIL("no choice agrees with itself");
  return {};
}

/// A and what the rows that push at d add to it.
Eigen::MatrixXd with_rows(const Problem& p, const Eigen::VectorXd& d) {
  Eigen::MatrixXd out = dense(p);
  for (const ContactRow* row : p.all()) {
    const Eigen::VectorXd j = slope_of(*row);
    const double f = row->force + row->stiffness * j.dot(d);
    if (f > row->low && f < row->high) out += row->stiffness * j * j.transpose();
  }
  return out;
}

}  // namespace

TEST_CASE("a plain step with contacts is the minimum of the piecewise quadratic model, beside all of its pieces") {
  int exact = 0, touched = 0, better = 0;
  constexpr int problems = 200;
  for (int n = 0; n < problems; ++n) {
    CAPTURE(n);
    Problem p(100 + 10 * n, 5);
    const Eigen::VectorXd best = least(p);
    const double lowest = value(p, best);
    REQUIRE(lowest <= 0);
    ContactSolve contact;
    contact.begin(p.parts, vertices, p.turns, 5);
    std::vector<Vec4> d = p.Ag;
    contact.correct({p.touching, p.near}, p.g, d, p.solve);
    const double reached = value(p, flat(d));
    CHECK(reached >= lowest - 1e-9 * std::abs(lowest));
    // a turn that gains less than a hundredth is the last
    CHECK(reached <= 0.98 * lowest);
    exact += (flat(d) - best).norm() < 1e-4 * best.norm();
    touched += (flat(p.Ag) - best).norm() > 0.1 * best.norm();
    // without a look at what pushes where the step leads
    contact.stop_looking_ahead();
    d = p.Ag;
    contact.correct({p.touching, p.near}, p.g, d, p.solve);
    better += value(p, flat(d)) > reached + 1e-3 * std::abs(lowest);
  }
  CHECK(touched > problems / 2);  // contacts matter
  CHECK(exact >= 0.9 * problems);
  CHECK(better > problems / 4);
}

TEST_CASE("columns of the constraints under active contacts are those of the dense matrix") {
  for (const bool whole : {false, true}) {
    for (int n = 0; n < 30; ++n) {
      CAPTURE(whole);
      CAPTURE(n);
      Problem p(5000 + 10 * n, 5);
      ContactSolve contact;
      contact.begin(p.parts, vertices, p.turns, 5);
      std::vector<Vec4> d = p.Ag;
      contact.adopt({p.touching, p.near}, p.g, d, p.solve);
      const Eigen::MatrixXd A = dense(p), Ac = with_rows(p, flat(d));
      const Eigen::LDLT<Eigen::MatrixXd> of_A(A), of_Ac(Ac);
      const auto near = [](double a, double b, double size) { return std::abs(a - b) <= 2e-4 * size; };
      const double norm2 = flat(d).dot(Ac * flat(d));
      CHECK(near(contact.norm2(), norm2, norm2));

      std::vector<Vec4> xb(vertices), lin(vertices), Alin(vertices), kr(vertices), lever(vertices);
      Vec3 about{};
      double total = 0;
      for (int i = 0; i < vertices; ++i) {
        xb[i] = Vec4(random_in_ball(9000 + n, i)), lin[i] = Vec4(random_in_ball(9500 + n, i) * 100);
        about += xb[i].xyz() * p.mass[i], total += p.mass[i];
      }
      about = about / total;
      for (int i = 0; i < vertices; ++i) kr[i] = Vec4(xb[i].xyz() - about) * (p.mass[i] / (hh * hh));
      p.solve(lin, Alin), p.solve(kr, lever);
      Eigen::MatrixXd C(3 * vertices, 6);  // grad c_P, grad c_L
      for (int i = 0; i < vertices; ++i)
        for (int a = 0; a < 3; ++a) {
          Vec3 e{};
          e[a] = 1;
          const Vec3 turn = cross(e, xb[i].xyz() - about) * (p.mass[i] / hh);
          C.block<3, 1>(3 * i, a) = Eigen::Vector3d(e.x, e.y, e.z) * (p.mass[i] / hh);
          C.block<3, 1>(3 * i, 3 + a) = Eigen::Vector3d(turn.x, turn.y, turn.z);
        }
      const Eigen::VectorXd L = flat(lin), G = flat(p.g);
      StepProducts step;
      IterationProducts iteration;
      const Eigen::MatrixXd s = C.transpose() * of_A.solve(C), now = C.transpose() * of_Ac.solve(C);
      const Eigen::VectorXd q = C.transpose() * of_A.solve(L), q_now = C.transpose() * of_Ac.solve(L);
      for (int a = 0; a < 6; ++a) {
        step.q_lin[a] = q[a];
        for (int b = 0; b < 6; ++b) step.s_qq[a][b] = s(a, b);
      }
      step.lin_lin = L.dot(of_A.solve(L));
      const ConstraintColumns columns{p.mass, xb, hh, about, lin, Alin, lever, Vec3{}, whole};
      contact.take_in(columns, G.dot(flat(d)), p.g, d, step, iteration, p.solve);

      const Eigen::VectorXd AcL = of_Ac.solve(L);
      CHECK((flat(contact.corrected_lin()) - AcL).norm() <= 2e-4 * AcL.norm());
      CHECK(near(step.lin_lin, L.dot(AcL), L.dot(AcL)));
      CHECK(near(iteration.lin_gg, L.dot(flat(d)), L.norm() * flat(d).norm()));
      CHECK(near(iteration.h_lin, L.dot(AcL) + G.dot(AcL), (L.norm() + G.norm()) * AcL.norm()));
      for (int a = 0; a < 6; ++a) {
        CHECK(near(step.q_lin[a], q_now[a], C.col(a).norm() * AcL.norm()));
        if (whole) continue;
        for (int b = 0; b < 6; ++b) CHECK(near(step.s_qq[a][b], now(a, b), std::sqrt(s(a, a) * s(b, b))));
      }
    }
  }
}

TEST_CASE("momenta that no contact resists, and their products") {
  // a corner of a collider resists all forces through it: L about it is what is left
  Contacts contacts;
  contacts.points = {{0.3, -0.2, 0.7}};
  const Vec3 center{0.1, 0.2, 0.3};
  const double radius = 0.4;
  const KeptMomenta about_corner = find_free_momenta(contacts, {}, {}, {}, 0.1, center, radius);
  REQUIRE(about_corner.count == 3);
  for (int axis = 0; axis < 3; ++axis) {
    Vec3 force{};
    force[axis] = 1;
    const Vec3 torque = cross(contacts.points[0] - center, force);
    const Quantities kept = about_corner.part({force, torque, 2}, radius);
    CHECK(norm(kept.p) < 1e-12);
    CHECK(norm(kept.l) < 1e-12);
    CHECK(kept.h == 2);
    // what is about the corner is kept as it is
    const Vec3 spin = force, push = cross(contacts.points[0] - center, spin) / (radius * radius);
    const Quantities all = about_corner.part({push, spin, 0}, radius);
    CHECK(norm(all.p - push) < 1e-12);
    CHECK(norm(all.l - spin) < 1e-12);
  }
  // two corners leave the turn about the line through them, three nothing
  contacts.points.push_back({1, 0, 0});
  CHECK(find_free_momenta(contacts, {}, {}, {}, 0.1, center, radius).count == 1);
  contacts.points.push_back({0, 1, 0});
  CHECK(find_free_momenta(contacts, {}, {}, {}, 0.1, center, radius).count == 0);
  contacts.points.clear();
  CHECK(find_free_momenta(contacts, {}, {}, {}, 0.1, center, radius).all());

  // S^+ = W (W^T S W)^-1 W^T of the kept combinations W
  StepProducts step;
  Eigen::Matrix<double, 6, 6> S = Eigen::Matrix<double, 6, 6>::Random();
  S = S * S.transpose() + Eigen::Matrix<double, 6, 6>::Identity();
  Eigen::Matrix<double, 6, 3> W;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) step.s_qq[i][j] = S(i, j);
    for (int k = 0; k < 3; ++k) W(i, k) = about_corner.basis[k][i] * (i < 3 ? 1 : 1 / radius);
  }
  const Eigen::Matrix<double, 6, 6> expected = W * (W.transpose() * S * W).inverse() * W.transpose();
  const StepProducts out = about_corner.products(step, radius);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) CHECK(std::abs(out.s_qq_inverse[i][j] - expected(i, j)) < 1e-10 * expected.norm());
}
