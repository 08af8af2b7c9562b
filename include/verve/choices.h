// Fixed choices of a scene: an enum each, and the names of its values in scene files, messages and the schema. Choices
// that can be added to (methods and their axes, potentials, shapes, materials, generators) are names in registries:
// registry.h, material.h, mesh.h.
#pragma once

#include <string>
#include <vector>

namespace verve {

enum class MassMatrix {
  lumped,     ///< mass at the vertices alone
  consistent  ///< spread through the elements as their motion is
};

enum class ContactResponse {
  implicit_penalty,  ///< "implicit": a penalty inside W (docs/contact.md)
  explicit_force,    ///< "explicit": a force at the start of the frame (CPD Eq. 22, docs/contact_methods.md)
  planes             ///< half-spaces as projective constraints (PD Sec. 6, docs/contact_methods.md)
};

/// Along what conservation "cpd" corrects H (docs/cpd.md).
enum class EnergyDirection {
  loss,     ///< what the base integrator has lost in the step
  gradient  ///< the gradient of H, as printed
};

/// What direction "loss" holds (docs/cpd.md).
enum class EnergyHold {
  total,    ///< H
  resolved  ///< H and the heat of what the step cannot resolve
};

/// Of the steps of the minimisers "projective", "jacobi" and "gauss_seidel" (docs/minimisers.md).
enum class Acceleration { none, chebyshev, anderson };

/// What solves the global step (docs/performance.md).
enum class GlobalSolve {
  automatic,  ///< what suits the size
  direct,     ///< a sparse factor
  half,       ///< the same, kept in half precision where Precision is float32
  multigrid
};

/// What SolverSpec::stiffness of "pbd" is a share of.
enum class StiffnessPer {
  projection,  ///< each correction
  step         ///< what all iterations of a step correct together
};

enum class Precision { float64, float32 };

enum class Interpolation;  // track.h
enum class MeshRepair;     // mesh.h

/// Names of the values of an enum above, in their order.
template <class Choice>
const std::vector<std::string>& choice_names();
template <>
const std::vector<std::string>& choice_names<MassMatrix>();
template <>
const std::vector<std::string>& choice_names<ContactResponse>();
template <>
const std::vector<std::string>& choice_names<EnergyDirection>();
template <>
const std::vector<std::string>& choice_names<EnergyHold>();
template <>
const std::vector<std::string>& choice_names<Acceleration>();
template <>
const std::vector<std::string>& choice_names<GlobalSolve>();
template <>
const std::vector<std::string>& choice_names<StiffnessPer>();
template <>
const std::vector<std::string>& choice_names<Precision>();
template <>
const std::vector<std::string>& choice_names<Interpolation>();
template <>
const std::vector<std::string>& choice_names<MeshRepair>();

template <class Choice>
const std::string& choice_name(Choice value) {
  return choice_names<Choice>()[size_t(value)];
}

}  // namespace verve
