// Files written in pieces that are either there or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace verve {

/// A file under construction. Errors come back as text ("No space left on device"), empty when all went well.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  std::string create(const std::filesystem::path& path);
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

/// "Permission denied": what the last failed system call said.
std::string last_system_error();

/// Replaces `file` by `text` at one stroke: readers see the old file or the new one. On failure the old one stays.
std::string write_whole_file(const std::filesystem::path& file, const std::string& text);

}  // namespace verve
