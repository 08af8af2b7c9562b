#include "verve/choices.h"

#include "verve/mesh.h"
#include "verve/track.h"

namespace verve {

namespace {
using Names = std::vector<std::string>;
}

template <>
const Names& choice_names<MassMatrix>() {
  static const Names names = {"lumped", "consistent"};
  return names;
}
template <>
const Names& choice_names<ContactResponse>() {
  static const Names names = {"implicit", "explicit", "planes"};
  return names;
}
template <>
const Names& choice_names<EnergyDirection>() {
  static const Names names = {"loss", "gradient"};
  return names;
}
template <>
const Names& choice_names<EnergyHold>() {
  static const Names names = {"total", "resolved"};
  return names;
}
template <>
const Names& choice_names<Acceleration>() {
  static const Names names = {"none", "chebyshev", "anderson"};
  return names;
}
template <>
const Names& choice_names<GlobalSolve>() {
  static const Names names = {"automatic", "direct", "half", "multigrid"};
  return names;
}
template <>
const Names& choice_names<StiffnessPer>() {
  static const Names names = {"projection", "step"};
  return names;
}
template <>
const Names& choice_names<Precision>() {
  static const Names names = {"double", "float"};
  return names;
}
template <>
const Names& choice_names<Interpolation>() {
  static const Names names = {"linear", "step"};
  return names;
}
template <>
const Names& choice_names<MeshRepair>() {
  static const Names names = {"refuse", "repair"};
  return names;
}

}  // namespace verve
