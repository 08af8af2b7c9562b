// Files that a run writes piece by piece.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/new_file.h"

namespace verve {

/// A file under construction. Errors come back as text ("No space left on device"), empty when all went well.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// Writes to a file that is on its way, and goes on when it is there.
  void share(const NewFile& file);
  /// In one system call, unless the system takes only part of it.
  std::string write_at(std::uint64_t offset, std::span<const char> bytes);
  std::string cut_to(std::uint64_t size);
  std::string close();

 private:
  int descriptor_ = -1;
};

/// A text that grows by whole pieces and can be read at any moment.
class GrowingFile {
 public:
  /// Appears with `head` in it, in place of an older file, or not at all.
  std::string create(const std::filesystem::path& path, const std::string& head);
  /// In full, or the file stays as it was.
  std::string append(const std::string& text);

 private:
  OutputFile file_;
  std::uint64_t size_ = 0;
};

}  // namespace verve
