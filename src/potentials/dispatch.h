// A translation unit of some kernels: their loops for every set of instructions, and the choice between them at run time.
// The build writes, for the kernel headers that registry.cpp includes, a few at a time,
//   #define VERVE_KERNEL_FILE "kernels/loops_3.h"
//   #include "potentials/dispatch.h"
//
// foreach_target.h reads this file again for each set of instructions (HWY_TARGET_INCLUDE), with the macros of Highway
// set for it; HWY_ONCE marks the last reading, which also defines the table of functions and the access to it. The
// tables are indexed by what the processor can do, found out at the first call.

#include "base/simd_targets.h"
#define VERVE_PACKS

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "potentials/dispatch.h"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include "potentials/kernel.h"

#undef VERVE_KERNEL_BEGIN
#undef VERVE_KERNEL_END
#undef VERVE_KERNEL_LOOPS
#define VERVE_KERNEL_BEGIN VERVE_NAMESPACE_BEGIN
#define VERVE_KERNEL_LOOPS(Kernel)                                                \
  static const BlockLoops& Kernel##_loops() {                                     \
    static const BlockLoops loops{hwy::TargetName(HWY_TARGET),                    \
                                  run_blocks<Kernel, GradientPack<Kernel>, true>, \
                                  run_blocks<Kernel, Pack<double>, false>,        \
                                  run_blocks<Kernel, Pack<float>, true>,          \
                                  run_blocks<Kernel, Pack<float>, false>,         \
                                  relax_elements<Kernel, Pack<double>>};          \
    return loops;                                                                 \
  }                                                                               \
  VERVE_NAMESPACE_END
#if HWY_ONCE
#define VERVE_KERNEL_END(Kernel)                   \
  VERVE_KERNEL_LOOPS(Kernel)                       \
  namespace verve {                                \
  struct Kernel;                                   \
  HWY_EXPORT(Kernel##_loops);                      \
  template <>                                      \
  const BlockLoops& block_loops<Kernel>() {        \
    return HWY_DYNAMIC_DISPATCH(Kernel##_loops)(); \
  }                                                \
  }
#else
#define VERVE_KERNEL_END(Kernel) VERVE_KERNEL_LOOPS(Kernel)
#endif

#include VERVE_KERNEL_FILE
