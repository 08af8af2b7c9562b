#include "linear/aligned.h"

#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace verve {

namespace {
constexpr size_t cache_line = 64, huge_page = size_t(1) << 21;
std::align_val_t alignment_of(size_t bytes) { return std::align_val_t(bytes < 2 * huge_page ? cache_line : huge_page); }
}  // namespace

void* allocate_aligned(size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes));
#ifdef __linux__
  // a wish: failure changes nothing but the speed
  if (alignment_of(bytes) == std::align_val_t(huge_page)) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory, size_t bytes) noexcept { ::operator delete(memory, alignment_of(bytes)); }

}  // namespace verve
