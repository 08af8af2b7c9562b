#include "base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace verve {

namespace {
thread_local int thread_count = 1;
}

void set_threads(int threads) { thread_count = threads > 0 ? threads : hardware_threads(); }
int threads() { return thread_count; }

int hardware_threads() {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

// Waking threads costs some microseconds, about what eight chunks take: smaller loops run at once on the caller.
[[maybe_unused]] constexpr int fewest_chunks = 8;

void detail::run_chunks(int chunks, ChunkFunction function, void* context) {
#ifdef _OPENMP
  if (thread_count > 1 && chunks >= fewest_chunks) {
#pragma omp parallel for schedule(static) num_threads(thread_count)
    for (int chunk = 0; chunk < chunks; ++chunk) function(context, chunk);
    return;
  }
#endif
  for (int chunk = 0; chunk < chunks; ++chunk) function(context, chunk);
}

}  // namespace verve
