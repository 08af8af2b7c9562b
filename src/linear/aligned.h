// Memory for large arrays of numbers.
#pragma once

#include <cstddef>

namespace verve {

/// On cache lines at least; large pieces on huge pages where the system has them, which spares a pass through the
/// factor most of its address translations.
void* allocate_aligned(size_t bytes);
void free_aligned(void* memory, size_t bytes) noexcept;

/// An array of uninitialised numbers.
template <class T>
class Aligned {
 public:
  Aligned() = default;
  ~Aligned() { release(); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  /// Contents are lost; memory is kept when it suffices.
  void resize(size_t size) {
    if (size > capacity_) {
      release();
      data_ = static_cast<T*>(allocate_aligned(size * sizeof(T)));
      capacity_ = size;
    }
    size_ = size;
  }
  void release() {
    if (data_) free_aligned(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace verve
