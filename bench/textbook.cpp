#include "bench/textbook.h"

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>
#include <stdexcept>

namespace verve::bench {

namespace {

Eigen::Matrix3d rotation(const Eigen::Matrix3d& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d U = svd.matrixU();
  const Eigen::Matrix3d& V = svd.matrixV();
  if ((U * V.transpose()).determinant() < 0) U.col(2) = -U.col(2);
  return U * V.transpose();
}

Eigen::Matrix3d to_eigen(const Mat3& a) {
  Eigen::Matrix3d out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out(r, c) = a(r, c);
  return out;
}

}  // namespace

struct Textbook::Impl {
  struct Tet {
    std::array<int, 4> vertex;
    Eigen::Matrix3d inverse_rest;
    Eigen::Matrix<double, 4, 3> gradient;  // rows of A^T
    double weight;
  };

  const PdProblem& problem;
  std::vector<Tet> tets;
  Eigen::SparseMatrix<double> A;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> solver;
  Eigen::MatrixXd y, x, rhs;  // N x 3

  explicit Impl(const PdProblem& p) : problem(p) {
    const int n = p.vertices();
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < n; ++i) entries.emplace_back(i, i, p.mass[i] > 0 ? p.mass[i] / (p.h * p.h) : 1);
    for (const PdProblem::Tet& t : p.tets) {
      Tet tet{t.vertex, to_eigen(t.inverse_rest), {}, t.weight};
      tet.gradient.bottomRows<3>() = tet.inverse_rest;
      tet.gradient.row(0) = -tet.inverse_rest.colwise().sum();
      const Eigen::Matrix4d block = t.weight * tet.gradient * tet.gradient.transpose();
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) entries.emplace_back(t.vertex[i], t.vertex[j], block(i, j));
      tets.push_back(tet);
    }
    for (const PdProblem::Spring& s : p.springs) {
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) entries.emplace_back(s.vertex[i], s.vertex[j], i == j ? s.weight : -s.weight);
    }
    for (const PdProblem::Pin& pin : p.pins) entries.emplace_back(pin.vertex, pin.vertex, pin.weight);
    A.resize(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    solver.compute(A);
    if (solver.info() != Eigen::Success) throw std::runtime_error("textbook baseline: matrix not positive definite");
    y.resize(n, 3);
    for (int i = 0; i < n; ++i) y.row(i) << p.y[i].x, p.y[i].y, p.y[i].z;
    x = y;
    rhs.resize(n, 3);
  }

  void local(const Eigen::MatrixXd& at) {
    for (int i = 0; i < at.rows(); ++i) {
      const double m = problem.mass[i];
      rhs.row(i) = m > 0 ? Eigen::RowVector3d(m / (problem.h * problem.h) * y.row(i)) : Eigen::RowVector3d(at.row(i));
    }
    for (const Tet& t : tets) {
      Eigen::Matrix3d edges;
      for (int i = 0; i < 3; ++i) edges.col(i) = (at.row(t.vertex[i + 1]) - at.row(t.vertex[0])).transpose();
      const Eigen::Matrix3d R = rotation(edges * t.inverse_rest);
      const Eigen::Matrix<double, 4, 3> pull = t.weight * t.gradient * R.transpose();
      for (int i = 0; i < 4; ++i) rhs.row(t.vertex[i]) += pull.row(i);
    }
    for (const PdProblem::Spring& s : problem.springs) {
      const Eigen::RowVector3d d = at.row(s.vertex[1]) - at.row(s.vertex[0]);
      const Eigen::RowVector3d p = s.weight * s.length * d.normalized();
      rhs.row(s.vertex[1]) += p;
      rhs.row(s.vertex[0]) -= p;
    }
    for (const PdProblem::Pin& pin : problem.pins)
      rhs.row(pin.vertex) += pin.weight * Eigen::RowVector3d(pin.point.x, pin.point.y, pin.point.z);
  }
};

Textbook::Textbook(const PdProblem& problem) : impl_(std::make_unique<Impl>(problem)) {}
Textbook::~Textbook() = default;
void Textbook::start() { impl_->x = impl_->y; }
void Textbook::local() { impl_->local(impl_->x); }
void Textbook::global() { impl_->x = impl_->solver.solve(impl_->rhs); }

std::vector<Vec3> Textbook::positions() const {
  std::vector<Vec3> out;
  for (int i = 0; i < impl_->x.rows(); ++i) out.push_back({impl_->x(i, 0), impl_->x(i, 1), impl_->x(i, 2)});
  return out;
}

double Textbook::residual_at(const std::vector<Vec3>& x) {
  Eigen::MatrixXd at(x.size(), 3);
  for (size_t i = 0; i < x.size(); ++i) at.row(i) << x[i].x, x[i].y, x[i].z;
  impl_->local(at);
  return (impl_->A * at - impl_->rhs).norm();
}

PlainFactor Textbook::factor() const {
  const auto& l = impl_->solver.matrixL().nestedExpression();
  const int n = int(l.rows());
  PlainFactor out;
  out.start.push_back(0);
  out.diagonal.resize(n);
  out.row.reserve(l.nonZeros()), out.value.reserve(l.nonZeros());
  for (int j = 0; j < n; ++j) {
    for (Eigen::SparseMatrix<double>::InnerIterator it(l, j); it; ++it) {
      if (it.row() == j) {
        out.diagonal[j] = it.value();
      } else {
        out.row.push_back(int(it.row())), out.value.push_back(it.value());
      }
    }
    out.start.push_back(int(out.row.size()));
  }
  out.order.resize(n);
  for (int v = 0; v < n; ++v) out.order[impl_->solver.permutationP().indices()[v]] = v;
  return out;
}

Mat3 rotation_by_jacobi_svd(const Mat3& F) {
  const Eigen::Matrix3d R = rotation(to_eigen(F));
  Mat3 out;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out(r, c) = R(r, c);
  return out;
}

}  // namespace verve::bench
