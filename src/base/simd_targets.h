// Which sets of instructions nothing is compiled for; to be included before hwy/foreach_target.h. Registers whose size
// is not known to the compiler cannot be members of a class; SSSE3 without SSE4 is too rare to compile everything once
// more for it. VERVE_LEFT_OUT_SETS: in a build for one machine alone (CMake's VERVE_SIMD_SETS) those that it has no use for.
#pragma once

#ifndef VERVE_LEFT_OUT_SETS
#define VERVE_LEFT_OUT_SETS 0
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | VERVE_LEFT_OUT_SETS)
#endif
