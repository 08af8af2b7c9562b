#include "record/output_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace verve {

std::string last_system_error() { return std::generic_category().message(errno); }

OutputFile::OutputFile(OutputFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OutputFile::~OutputFile() { close(); }

std::string OutputFile::create(const std::filesystem::path& path) {
  close();
  descriptor_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0666);
  return descriptor_ < 0 ? last_system_error() : "";
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
  const std::filesystem::path part = path.string() + ".part";
  std::string error = file_.create(part);
  size_ = 0;
  if (error.empty()) error = append(head);
  std::error_code code;
  if (error.empty()) {
    std::filesystem::rename(part, path, code);
    if (code) error = code.message();
  }
  if (!error.empty()) file_.close(), std::filesystem::remove(part, code);
  return error;
}

std::string GrowingFile::append(const std::string& text) {
  const std::string error = file_.write_at(size_, text);
  if (error.empty())
    size_ += text.size();
  else
    file_.cut_to(size_);
  return error;
}

std::string write_whole_file(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path part = file.string() + ".part";
  OutputFile out;
  std::string error = out.create(part);
  if (!error.empty()) return error;
  error = out.write_at(0, text);
  if (const std::string closing = out.close(); error.empty()) error = closing;
  std::error_code code;
  if (error.empty()) {
    std::filesystem::rename(part, file, code);
    if (code) error = code.message();
  }
  if (!error.empty()) std::filesystem::remove(part, code);
  return error;
}

}  // namespace verve
