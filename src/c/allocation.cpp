// Memory and messages of libverve by functions of the caller's. The operators replace those of the C++ library within
// libverve alone: it exports none of them, and brings that library along.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "c_parts.h"

namespace {

struct Allocator {
  void* (*allocate)(void* user, size_t size, size_t alignment) = nullptr;
  void (*release)(void* user, void* memory) = nullptr;
  void* user = nullptr;
};
/// Allocators are never forgotten: blocks refer to the one that they are of.
std::atomic<const Allocator*> current{nullptr};

/// In front of every block.
struct Header {
  const Allocator* of;  // null: malloc
  void* base;
};
static_assert(sizeof(Header) == 16);

void* allocate(size_t size, size_t alignment) {
  const size_t offset = std::max(alignment, sizeof(Header));
  if (size > SIZE_MAX - 2 * offset) return nullptr;
  const Allocator* const of = current.load(std::memory_order_acquire);
  void* const base = of ? of->allocate(of->user, size + offset, offset)
                     : alignment <= alignof(std::max_align_t)
                         ? std::malloc(size + offset)
                         : std::aligned_alloc(offset, (size + 2 * offset - 1) / offset * offset);
  if (!base) return nullptr;
  char* const block = static_cast<char*>(base) + offset;
  new (block - sizeof(Header)) Header{of, base};
  return block;
}

void release(void* block) noexcept {
  if (!block) return;
  const Header header = *reinterpret_cast<const Header*>(static_cast<char*>(block) - sizeof(Header));
  if (header.of) header.of->release(header.of->user, header.base);
  else std::free(header.base);
}

void* allocate_or_throw(size_t size, size_t alignment) {
  if (void* const block = allocate(size, alignment)) return block;
  throw std::bad_alloc();
}

struct Log {
  std::mutex mutex;
  void (*function)(void* user, const char* text) = nullptr;
  void* user = nullptr;
};
Log& log() {
  static Log& one = *new Log;
  return one;
}

}  // namespace

void* operator new(size_t size) { return allocate_or_throw(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return allocate_or_throw(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t a) { return allocate_or_throw(size, size_t(a)); }
void* operator new[](size_t size, std::align_val_t a) { return allocate_or_throw(size, size_t(a)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(size, size_t(a)); }
void* operator new[](size_t size, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(size, size_t(a)); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, size_t) noexcept { release(block); }
void operator delete[](void* block, size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { release(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { release(block); }

namespace verve_c {

void report(const verve::Diagnostics& notes) {
  Log& to = log();
  const std::lock_guard lock(to.mutex);
  if (!to.function) return;
  for (const verve::Diagnostic& item : notes.items()) {
    verve::Diagnostics one;
    one.items().push_back(item);
    std::string text = one.text();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    to.function(to.user, text.c_str());
  }
}

}  // namespace verve_c

extern "C" {

using namespace verve_c;

verve_status verve_set_allocator(void* (*allocate)(void* user, size_t size, size_t alignment),
                                 void (*release)(void* user, void* memory), void* user) {
  return guarded([&]() -> verve_status {
    if (bool(allocate) != bool(release))
      return fail(VERVE_MISUSE, "verve_set_allocator: found one function, expected both or neither");
    current.store(allocate ? new Allocator{allocate, release, user} : nullptr, std::memory_order_release);
    return VERVE_OK;
  });
}

verve_status verve_set_log(void (*function)(void* user, const char* text), void* user) {
  return guarded([&] {
    Log& to = log();
    const std::lock_guard lock(to.mutex);
    to.function = function, to.user = user;
  });
}

}  // extern "C"
