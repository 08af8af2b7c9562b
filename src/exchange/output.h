// A file that is written piece by piece.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace verve {

class Output {
 public:
  explicit Output(const std::filesystem::path& file) : name_(file.string()), file_(std::fopen(name_.c_str(), "wb")) {
    if (!file_) fail();
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_) std::fclose(file_);
  }
  void text(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
    size_ += bytes.size();
  }
  /// Lowest byte first, or last.
  template <class T>
  void number(T value, bool big_endian = false) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if (big_endian != (std::endian::native == std::endian::big))
      for (std::size_t i = 0; i < sizeof value / 2; ++i) std::swap(raw[i], raw[sizeof value - 1 - i]);
    text({raw, sizeof raw});
  }
  std::size_t size() const { return size_; }
  void close() {
    std::FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(name_ + ": cannot be written: " + std::strerror(errno)); }
  std::string name_;
  std::FILE* file_;
  std::size_t size_ = 0;
};

}  // namespace verve
