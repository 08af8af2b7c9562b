#include "base/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

namespace verve {

namespace {

constexpr int most_names = 100;

std::string random_suffix() {
  std::random_device device;
  char text[24];
  std::snprintf(text, sizeof text, ".%08x%08x.part", unsigned(device()), unsigned(device()));
  return text;
}

}  // namespace

std::string last_system_error() { return std::generic_category().message(errno); }

NewFile::~NewFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// Gives the file a name of its own: a link to what has none, or a new file.
std::string NewFile::make_name(bool link) {
  const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
  for (int i = 0; i < most_names; ++i) {
    name_ = target_.string() + random_suffix();  // before there is such a file: memory may run out here
    int made = -1;
    if (link)
      made = ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW);
    else
      made = descriptor_ = ::open(name_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
    if (made >= 0) return "";
    name_.clear();
    if (errno != EEXIST) break;
  }
  return last_system_error();
}

std::string NewFile::open(const std::filesystem::path& target) {
  target_ = target;
  struct stat there {};
  if (::stat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    direct_ = true;
    descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor_ >= 0 ? "" : last_system_error();
  }
#ifdef O_TMPFILE
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    // these three: a kernel or a file system that has no files without names
    if (descriptor_ >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
      return descriptor_ >= 0 ? "" : last_system_error();
  }
#endif
  return make_name(false);
}

std::string NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_system_error();
    if (written == 0) return "nothing could be written";
    bytes.remove_prefix(std::size_t(written));
  }
  return "";
}

std::string NewFile::place() {
  if (direct_) return "";
  if (name_.empty()) {
    if (std::string error = make_name(true); !error.empty()) return error;
  }
  if (::rename(name_.c_str(), target_.c_str()) != 0) return last_system_error();
  name_.clear();
  return "";
}

std::string write_whole_file(const std::filesystem::path& target, std::string_view bytes) {
  NewFile file;
  std::string error = file.open(target);
  if (error.empty()) error = file.write(bytes);
  if (error.empty()) error = file.place();
  return error;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string FolderLock::take(const std::filesystem::path& folder) {
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return "";
  return "found another run that is being written here, expected a folder of its own";
}

}  // namespace verve
