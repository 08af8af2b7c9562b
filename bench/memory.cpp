#include "bench/memory.h"

#include <cstdio>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace verve::bench {

// proc(5): VmRSS and VmHWM of /proc/self/status; writing 5 to clear_refs resets the latter.
Memory memory_now() {
  Memory out;
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (!file) return out;
  char line[256];
  double kilobytes = 0;
  while (std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "VmRSS: %lf", &kilobytes) == 1) out.resident = kilobytes / 1024;
    if (std::sscanf(line, "VmHWM: %lf", &kilobytes) == 1) out.peak = kilobytes / 1024;
  }
  std::fclose(file);
  return out;
}

void forget_peak() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) std::fputs("5", file), std::fclose(file);
}

}  // namespace verve::bench
