// Which elements of a body flow, how far, and what that leaves of their shape without energy (docs/plasticity.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "potentials/potential.h"
#include "verve/scene.h"

namespace verve {

struct Body;

/// What has flowed of the elements of one potential.
struct PlasticFlow {
  std::vector<Vec3> rest;      // shape without energy: corners less the first, one element after another
  std::vector<double> flowed;  // strain that has flowed so far, whichever way
  std::shared_ptr<const std::vector<Vec3>> in_matrix;  // `rest` as the matrix of the global step has it

  bool operator==(const PlasticFlow& other) const {
    return rest == other.rest && flowed == other.flowed &&
           (in_matrix == other.in_matrix || *in_matrix == *other.in_matrix);
  }
};

class Plasticity {
 public:
  /// Of a body whose potentials are made.
  Plasticity(const Body& body, std::span<const std::unique_ptr<Potential>> potentials, const BodySpec& spec);

  /// Potentials that flow.
  int count() const { return int(parts_.size()); }
  int potential_of(int part) const { return parts_[part].potential; }
  /// As the mesh is.
  PlasticFlow at_rest(int part) const;
  /// What is strained beyond its limit at x flows, as far as it does in a time h. True: something has.
  bool flow(int part, const Potential& potential, const Vec4* x, double h, PlasticFlow& state) const;
  /// Some element has flowed so far that the matrix should follow.
  static bool has_left_matrix(const PlasticFlow& state);

 private:
  enum class Kind { edge, triangle, tetrahedron, hinge, joint };
  struct Part {
    int potential;
    Kind kind;
    int corners;
    double yield, hardening;
    std::optional<double> creep;
    std::vector<Vec3> rest;        // of the mesh
    std::vector<double> per_turn;  // of hinges and joints: curvature per angle, per |z|
  };
  std::vector<Part> parts_;
};

}  // namespace verve
