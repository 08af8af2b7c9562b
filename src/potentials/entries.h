// A translation unit of the batches of some kernels, and of their lines in the registry. The build writes
//   #define VERVE_KERNEL_FILE "kernels/entries_2.h"
//   #include "potentials/entries.h"
#include "potentials/batch.h"

#undef VERVE_KERNEL_END
#define VERVE_KERNEL_END(Kernel) \
  VERVE_KERNEL_LOOPS(Kernel)     \
  VERVE_NAMESPACE_END            \
  namespace verve {              \
  template PotentialEntry entry<Kernel>(); \
  }

#include VERVE_KERNEL_FILE
