#include "integrators/rest_columns.h"

#include "base/ranks.h"

namespace verve {

bool find_rest_columns(SystemMatrix::Factor& factor, const RestShape& rest, const std::vector<double>& mass,
                       const std::vector<AnchorTerm>& anchors) {
  auto& known = factor.at_rest;
  if (known.state == factor.state) return false;
  const size_t rows = mass.size();
  std::vector<Vec4>&Kr = known.arm, &AKr = known.lever;  // until they are what they are called
  Kr.assign(rows, Vec4()), AKr.assign(rows, Vec4());
  const double stiff = 1 / (factor.hh * factor.hh);
  for (size_t i = 0; i < rows; ++i) Kr[i] = rest.rows[i] * (mass[i] * stiff);
  for (const AnchorTerm& term : anchors)
    for (size_t i = 0; term.to_world && i < term.world.vertices.size(); ++i)
      Kr[term.world.vertices[i]] += rest.rows[term.world.vertices[i]] * term.world.weight(i);
  factor.solver.solve_once(Kr.data(), AKr.data(), nullptr, nullptr);
  known.arm_narrow.assign(rows, Float4()), known.lever_narrow.assign(rows, Float4());
  known.second = {};
  Mat3 lever_second;
  for (size_t i = 0; i < rows; ++i) {
    if (mass[i] <= 0) {
      known.lever[i] = known.arm[i] = Vec4();
      continue;
    }
    const Vec4 lever = AKr[i], arm = rest.rows[i] - lever;
    known.second = known.second + outer(arm.xyz(), Kr[i].xyz());
    lever_second = lever_second + outer(lever.xyz(), rest.rows[i].xyz() * mass[i]);
    known.arm[i] = arm;
    known.arm_narrow[i] = {float(arm.x), float(arm.y), float(arm.z), 0};
    known.lever_narrow[i] = {float(lever.x), float(lever.y), float(lever.z), 0};
  }
  known.second = sum_over_ranks(known.second);
  known.lever_second_inverse = pseudo_inverse(sum_over_ranks(lever_second), 1e-10);
  known.state = factor.state;
  return true;
}

}  // namespace verve
