// Potentials whose elements differ in size: z = A x with any number of rows over any number of vertices (PD Eq. 7).
// Where all elements are alike, and many, a kernel is faster (kernel.h).
#pragma once

#include "potentials/potential.h"

namespace verve {

class SparsePotential : public Potential {
 public:
  struct Coefficient {
    int vertex;  // row of the state
    double value;
  };

  int elements() const override { return int(weight_.size()); }
  int rows(int element) const override { return first_row_[element + 1] - first_row_[element]; }
  int corners(int element) const override { return first_corner_[element + 1] - first_corner_[element]; }
  int vertex(int element, int corner) const override { return corner_[first_corner_[element] + corner]; }
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
  void relax(const Relaxation& sweep) override;

 protected:
  /// For the constructor of a potential: one call per element. Every row must sum to zero, so that translations cost
  /// nothing.
  void add_element(double weight, const std::vector<std::vector<Coefficient>>& rows);
  /// After the last element; `rest` is where the vertices are at rest.
  void finish(const Vec4* rest);
  void set_weight(int element, double weight) { weight_[element] = weight; }
  /// Multiplies a row of A, for parameters that weigh the rows of an element against each other; 1 until then.
  void set_row_scale(int element, int row, double scale) { row_scale_[first_row_[element] + row] = scale; }
  /// z at rest, rows unscaled.
  const Vec3* rest_z(int element) const { return rest_z_.data() + first_row_[element]; }

  /// Energy of an element and dPsi/dz. Called from several threads at once, each element once.
  virtual double element_gradient(int element, const Vec3* z, Vec3* gradient) = 0;
  /// The point of its set that is nearest; only where has_projection().
  virtual void element_projection(int element, const Vec3* z, Vec3* projected) const;
  /// Before the elements are visited, with all z: for potentials whose elements have something in common.
  virtual void prepare(const std::vector<Vec3>& /*z*/) {}

 private:
  void reduce(const Vec4* x, int element, Vec3* z) const;
  double evaluate(const Vec4* x, Vec4* gradient);

  std::vector<double> weight_;
  std::vector<int> first_row_{0}, first_corner_{0}, corner_;  // per element
  std::vector<int> first_entry_{0}, entry_corner_;            // per row: which corner of the element
  std::vector<double> entry_value_;
  std::vector<int> touched_, first_use_, use_row_;  // per vertex in use: the rows it is part of
  std::vector<double> use_value_;
  std::vector<Vec3> z_, dz_, rest_z_;
  std::vector<double> row_scale_, rest_size_, partial_;  // rest_size_: of the terms of z, squared, per row
};

/// Psi = w/2 |z - p|^2 for p = element_projection(z): what most of them are.
class ProjectedPotential : public SparsePotential {
 public:
  bool has_projection() const override { return true; }

 protected:
  double element_gradient(int element, const Vec3* z, Vec3* gradient) override;
};

}  // namespace verve
