// W of an island but for contacts: the potentials of its bodies, and anchors.
#pragma once

#include <vector>

#include "integrators/system_matrix.h"
#include "model/model.h"

namespace verve {

class ElasticEnergy {
 public:
  /// Of bodies one after another. All arguments outlive it.
  ElasticEnergy(const Model& model, const Matter& matter, const std::vector<int>& bodies,
                const std::vector<AnchorTerm>& anchors);

  /// Adds the gradient of W at x and returns W.
  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision);

  // Of the last evaluation.

  /// By body; links count half for each end.
  const std::vector<double>& of_bodies() const { return of_bodies_; }
  /// The part of W that is not least at rest.
  double prestress() const { return prestress_; }
  /// As it was left by an evaluation in another frame.
  void recall(int local_body, double energy) { of_bodies_[local_body] = energy; }
  void recall_prestress(double energy) { prestress_ = energy; }

  /// Potentials have Hessians below what they add to the matrix: no step has to be searched for its length.
  bool is_bounded() const;
  /// Work::elements of an evaluation.
  double elements() const { return elements_; }
  /// Energy scale at rest, of potentials that do something there already: the largest.
  double scale_of_prestress() const;
  /// Potential::reference_energy of all, as weights are: `version` says which.
  double reference(long version);

 private:
  const std::vector<int>& bodies_;
  const std::vector<Anchor>& anchors_of_all_;
  const std::vector<AnchorTerm>& anchors_;
  struct OfBody {
    const Potentials* potentials;
    int first;  // row
    const SharedRows* shared;  // null: all of its rows are here
    std::vector<Vec4> x, gradient;  // of shared rows, with copies
  };
  std::vector<OfBody> parts_;
  std::vector<double> of_bodies_;
  double prestress_ = 0;
  double elements_ = 0;
  double reference_ = 0;
  long reference_version_ = -1;
};

}  // namespace verve
