// What libFuzzer calls: one program for each target.
#include <cstring>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  static const verve::fuzz::Target* const target = [] {
    for (const auto& each : verve::fuzz::targets())
      if (std::strcmp(each.name, VERVE_FUZZ_TARGET) == 0) return &each;
    std::abort();
  }();
  target->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
