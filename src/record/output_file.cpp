#include "record/output_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace verve {

OutputFile::OutputFile(OutputFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OutputFile::~OutputFile() { close(); }

void OutputFile::share(const NewFile& file) {
  close();
  descriptor_ = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
}

std::string OutputFile::write_at(std::uint64_t offset, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_system_error();
    if (written == 0) return "nothing could be written";
    bytes = bytes.subspan(size_t(written));
    offset += std::uint64_t(written);
  }
  return "";
}

std::string OutputFile::cut_to(std::uint64_t size) {
  return ::ftruncate(descriptor_, off_t(size)) < 0 ? last_system_error() : "";
}

std::string OutputFile::close() {
  if (descriptor_ < 0) return "";
  return ::close(std::exchange(descriptor_, -1)) < 0 ? last_system_error() : "";
}

std::string GrowingFile::create(const std::filesystem::path& path, const std::string& head) {
  NewFile file;
  std::string error = file.open(path);
  if (error.empty()) error = file.write(head);
  if (error.empty()) error = file.place();
  if (!error.empty()) return error;
  file_.share(file);
  size_ = head.size();
  return "";
}

std::string GrowingFile::append(const std::string& text) {
  const std::string error = file_.write_at(size_, text);
  if (error.empty())
    size_ += text.size();
  else
    file_.cut_to(size_);
  return error;
}

}  // namespace verve
