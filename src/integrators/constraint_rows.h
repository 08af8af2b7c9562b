// The scalar constraints of an island, row by row: those of its potentials, of links between bodies and of soft
// anchors.
#pragma once

#include <string>
#include <vector>

#include "integrators/held_vertices.h"

namespace verve {

/// C_i(x) with Psi_i = k_i/2 C_i^2 (Potential::constraint). Links and soft anchors to the world are three rows each, C
/// = (x_b - x_a) and C = x - a. A row with compliance 1/k_i is a spring that a solve sees as implicit; one with
/// compliance 0 is held exactly.
class ConstraintRows {
 public:
  /// All smooth constraints of the island, with its anchors as they are for the coming step. `rigid`: those of the
  /// potentials have no compliance; hard links never have. The pattern is looked at again only when weights or anchors
  /// have changed; true when it is another than before.
  bool bind(Island& island, bool rigid);

  int size() const { return int(rows_.size()); }
  int corners(int i) const { return rows_[i].corners; }
  int vertex(int i, int corner) const { return vertex_[rows_[i].first + corner]; }
  double stiffness(int i) const { return rows_[i].stiffness; }
  double compliance(int i) const { return rows_[i].compliance; }
  bool rigid(int i) const { return rows_[i].compliance == 0; }
  /// Of a potential, not of an anchor or a link.
  bool of_potential(int i) const { return rows_[i].potential != nullptr; }

  /// C and its gradients at x.
  void evaluate(const std::vector<Vec4>& x);
  void evaluate(int i, const std::vector<Vec4>& x);
  double value(int i) const { return value_[i]; }
  /// What a projection of this row alone takes C for (Potential::full_step).
  double full_step(int i) const;
  const Vec3& gradient(int i, int corner) const { return gradient_[rows_[i].first + corner]; }
  /// r in units of the size of the element: for an edge, as a share of its length.
  double relative(int i, double r) const;
  /// (J v)_i.
  double rate(int i, const std::vector<Vec4>& v) const;
  /// out += J_i^T lambda.
  void add_force(int i, double lambda, std::vector<Vec4>& out) const;
  /// s such that the Hessian of a constraint of two vertices is s (I - n n^T) on their difference, n its direction; 0
  /// for constraints of more vertices, which have no closed form here.
  double curvature(int i) const { return curvature_[i]; }
  Vec3 direction(int i) const;  // n

  const HeldVertices& held() const { return held_; }
  /// "element 12 of potential "spring"".
  std::string describe(int i) const;

 private:
  struct Row {
    const Potential* potential;        // null: an anchor or a link
    const AnchorTerm* anchor;  // null: a potential
    int element, which, offset;        // of an anchor: place in its list, axis
    int first, corners;
    double stiffness, compliance;
  };

  HeldVertices held_;
  std::vector<Row> rows_;
  std::vector<int> vertex_, last_vertex_;
  std::vector<Vec3> gradient_;
  std::vector<double> value_, size_, curvature_;
  long version_ = -1;
  double extent_ = 1;
};

/// Potentials that cannot be held: "has no constraint that ...". Empty for those that can.
std::string smooth_refusal(const Potential& potential);

}  // namespace verve
