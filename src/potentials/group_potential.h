// Potentials over groups of vertices: each group sees its positions relative to their weighted mean.
#pragma once

#include "potentials/potential.h"

namespace verve {

/// z_i = sqrt(m_i) (x_i - c), c = sum m_i x_i / sum m_i, for shares m_i of the vertices of a group; one row of A per
/// vertex. A^T A = diag(m) - m m^T / sum m: translations cost nothing, so that P is conserved, and so is L wherever the
/// energy of a group does not change under rotations. A is dense but known: z and A^T z take n operations, not n^2,
/// which is why this is not a SparsePotential. The matrix of the global step has all n^2 entries: hence most_vertices.
class GroupPotential : public Potential {
 public:
  static constexpr int most_vertices = 2000;

  int elements() const override { return int(weight_.size()); }
  int rows(int element) const override { return corners(element); }
  int corners(int element) const override { return first_[element + 1] - first_[element]; }
  int vertex(int element, int corner) const override { return vertex_[first_[element] + corner]; }
  double weight(int element) const override { return weight_[element]; }
  double coefficient(int element, int row, int corner) const override;
  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override;
  double energy(const Vec4* x, Precision precision = Precision::float64) override;
  void project(const Vec4* x, Vec3* z, Vec3* projected) const override;
  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override;
  double reference_energy() const override;
  /// C = sqrt(2 Psi / w): the distance to the element's set. One element at a time.
  int constraints() const override { return 1; }
  double constraint(int element, int which, const Vec4* x, Vec3* gradient) const override;

 protected:
  /// For the constructor of a potential: one call per group, with the rows of the state, shares > 0 and where the
  /// vertices are at rest. `scratch` is how many numbers group_projection needs to work with.
  void add_group(const std::vector<int>& vertices, const std::vector<double>& shares, const std::vector<Vec3>& rest);
  void finish(size_t scratch);
  void set_weight(int element, double weight) { weight_[element] = weight; }
  const Vec3* rest_z(int element) const { return rest_z_.data() + first_[element]; }
  double share(int element, int corner) const { return share_[first_[element] + corner]; }

  /// The point of the group's set that is nearest to z. Called from several threads at once.
  virtual void group_projection(int element, const Vec3* z, Vec3* projected, double* scratch) const = 0;
  /// Psi and dPsi/dz; w/2 |z - p|^2 unless it is something else.
  virtual double group_gradient(int element, const Vec3* z, Vec3* gradient, double* scratch) const;

 private:
  void reduce(const Vec4* x, int element, Vec3* z) const;
  double evaluate(const Vec4* x, Vec4* gradient);

  std::vector<double> weight_, total_;           // per group
  std::vector<int> first_{0}, vertex_;           // corners of all groups
  std::vector<double> share_, root_;             // m and its root, per corner
  std::vector<Vec3> rest_z_, z_, dz_;            // per corner
  std::vector<int> touched_, first_use_, uses_;  // per vertex in use: the corners it is
  std::vector<double> partial_;
  size_t scratch_size_ = 0;
  mutable std::vector<double> scratch_;  // per chunk
  int grain_ = 1;                        // groups per chunk
};

/// Volume, area or length that each vertex of a mesh stands for, of its elements of the highest dimension.
std::vector<double> vertex_shares(const Mesh& mesh);
/// 3, 2 or 1: of the elements that vertex_shares counts.
int dimension(const Mesh& mesh);

}  // namespace verve
