// Running a test on every set of instructions that this processor has.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "potentials/spring.h"

#ifdef VERVE_SIMD
#include <hwy/targets.h>
#endif

namespace verve::test {

#ifdef VERVE_SIMD
/// Calls f with packs of one lane, in plain arithmetic.
template <class F>
auto with_one_lane(F&& f) {
  struct Restore {
    std::int64_t before = hwy::SupportedTargets();
    ~Restore() {
      hwy::SetSupportedTargetsForTest(before);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } restore;
  hwy::SetSupportedTargetsForTest(HWY_SCALAR);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return f();
}

/// Calls check(name) with each set that the kernels are compiled for in turn made the best there is.
template <class F>
void for_each_target(F&& check) {
  std::vector<std::int64_t> targets{HWY_SCALAR};
  for (std::int64_t left = hwy::SupportedTargets(); left; left &= left - 1) targets.push_back(left & -left);
  struct Restore {
    ~Restore() {
      hwy::SetSupportedTargetsForTest(0);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  } restore;
  std::set<std::string> done;
  for (const std::int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name = block_loops<Spring>().instructions;
    if (!done.insert(name).second) continue;  // the processor knows more than we compile for: a lesser one stands in
    CAPTURE(name);
    check(name);
  }
}
#else
template <class F>
auto with_one_lane(F&& f) {
  return f();
}
template <class F>
void for_each_target(F&& check) {
  check(std::string("plain"));
}
#endif

}  // namespace verve::test
