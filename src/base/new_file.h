// A file that is not there until it is complete, and a folder that only one writes to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace verve {

/// A file on its way to `target`. Until place() it has no name where the file system can do that (Linux), so that a
/// process that is ended leaves nothing behind, and otherwise one beside the target that nobody can guess and that was
/// not there. Errors come back as text ("No space left on device"), empty when all went well.
class NewFile {
 public:
  NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  std::string open(const std::filesystem::path& target);
  std::string write(std::string_view bytes);
  int descriptor() const { return descriptor_; }
  /// At its target, in place of what was there.
  std::string place();

 private:
  std::string make_name(bool link);
  std::filesystem::path target_, name_;  // name_: where it is, empty as long as it has no name
  int descriptor_ = -1;
  bool direct_ = false;  // to a device or a pipe: nothing is put in its place
};

/// Replaces `target` at one stroke: readers see the old file or the new one. On failure the old one stays.
std::string write_whole_file(const std::filesystem::path& target, std::string_view bytes);

/// Keeps others out of a folder for as long as it lives; a process that ends lets go of it.
class FolderLock {
 public:
  FolderLock() = default;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  /// Of a folder that is there. Empty when nobody else has it, or where it cannot be found out.
  std::string take(const std::filesystem::path& folder);

 private:
  int descriptor_ = -1;
};

/// "Permission denied": what the last failed system call said.
std::string last_system_error();

}  // namespace verve
