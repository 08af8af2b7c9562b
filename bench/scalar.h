// Projective Dynamics as a good programmer writes it without vector instructions: a closed-form polar decomposition,
// packed elements, vertices in the order of elimination, one pass through the factor for x, y and z. One thread.
#pragma once

#include "bench/problem.h"

namespace verve::bench {

/// `T` is the type of kernels and factor; positions and sums are double. x -= A^-1 grad g corrects the factor's error.
template <class T>
class ScalarCode final : public Baseline {
 public:
  ScalarCode(const PdProblem& problem, const PlainFactor& factor);

  void start() override;
  void local() override;
  void global() override;
  std::vector<Vec3> positions() const override;
  double energy() const { return energy_; }  // g at the x of the last local step

 private:
  struct Tet {
    int vertex[4];
    T weight, inverse_rest[9];  // by columns
  };
  struct Spring {
    int vertex[2];
    T weight, length;
  };
  struct Pin {
    int vertex;
    double weight;
    Vec3 point;
  };

  std::vector<int> order_;  // row -> vertex
  std::vector<double> inertia_;
  std::vector<Vec3> y_, x_, gradient_;
  std::vector<Tet> tets_;
  std::vector<Spring> springs_;
  std::vector<Pin> pins_;
  std::vector<int> start_, row_;
  std::vector<T> value_, inverse_diagonal_, work_;
  double energy_ = 0;
};

extern template class ScalarCode<float>;
extern template class ScalarCode<double>;

}  // namespace verve::bench
