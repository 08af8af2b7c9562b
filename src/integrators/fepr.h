// Projection on the manifold of constant P, L and H after the step, and on that of constant H alone. docs/fepr.md
#pragma once

#include "integrators/projection.h"

namespace verve {

/// Fast projection (Dinev et al. 2018b): from the result of the base step, in the metric D = diag(M, h^2 M, eps, eps)
/// of q = (x, v, s, t), one linearisation of the constraints after another,
///   (grad c^T D^-1 grad c) lambda = c,   q -= D^-1 grad c lambda.
/// The slack variables lead from the momenta that should be (s = t = 0, where they begin) to those of the base step
/// (s = t = 1): P, L and H need not be possible together. docs/fepr.md says what the publication leaves open.
/// Without momenta it is a projection on the energy alone (Hughes, Caughey and Liu 1978; LaBudde and Greenspan 1975).
class ManifoldProjection final : public Projection {
 public:
  explicit ManifoldProjection(bool momenta) : Projection(momenta, true) {}

  /// Derivatives of the constraints by one row: H by x is g, and by v is y; L by x is y cross e_a, and by v is
  /// e_a cross z. Where momenta are held y = M w and z = M r, with w and r about the centre of mass.
  struct Row {
    Vec3 g, y, z;
  };
  Row row(const Island& island, const Reading& now, int i) const;
  using Projection::read;

  double slack_p() const { return slack_p_; }  // s and t of the last step
  double slack_l() const { return slack_l_; }

 private:
  struct Products {  // under D^-1, the share of v without its 1/h^2
    double gg = 0, yy = 0;
    Vec3 gy, zy;
    Mat3 y2, z2;
    Products& operator+=(const Products& o) {
      gg += o.gg, yy += o.yy, gy += o.gy, zy += o.zy;
      y2 = y2 + o.y2, z2 = z2 + o.z2;
      return *this;
    }
  };

  void make_room(const Island& island) override;
  Quantities correct(Island& island, double h, const Settings& settings, StepOutcome& out) override;
  Products products(const Island& island, const Reading& now);
  void move(Island& island, const Reading& now, double h, double lambda, const Vec3& lambda_p, const Vec3& lambda_l);

  void take_back(Island& island, double share);

  double slack_p_ = 0, slack_l_ = 0;
  std::vector<Products> parts_;
  std::vector<Vec4> step_x_, step_v_;
};

}  // namespace verve
