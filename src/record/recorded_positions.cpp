#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "record/npy.h"
#include "verve/convert.h"

namespace verve {

struct RecordedPositions::Impl {
  std::string name;
  mutable std::ifstream file;
  NpyHeader header;
};

RecordedPositions::RecordedPositions(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordedPositions::RecordedPositions(RecordedPositions&&) noexcept = default;
RecordedPositions& RecordedPositions::operator=(RecordedPositions&&) noexcept = default;
RecordedPositions::~RecordedPositions() = default;

Expected<RecordedPositions> RecordedPositions::open(const std::filesystem::path& path) {
  Diagnostics problems;
  auto impl = std::make_unique<Impl>();
  impl->name = path.string();
  impl->file.open(path, std::ios::binary);
  std::string begin(4096, '\0');
  if (impl->file) impl->file.read(begin.data(), std::streamsize(begin.size()));
  if (impl->file.bad() || !impl->file.is_open()) {
    problems.error(impl->name, "cannot be read, expected the positions of a run");
    return problems;
  }
  begin.resize(size_t(impl->file.gcount()));
  impl->file.clear();
  std::string fault = read_npy_header(begin, impl->header);
  const NpyHeader& h = impl->header;
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (fault.empty() && (h.frames > most || h.vertices > most))
    fault = "found more than " + std::to_string(most) + " frames or vertices";
  if (fault.empty()) {
    std::error_code code;
    const std::uint64_t there = std::filesystem::file_size(path, code), frame = h.vertices * (h.float64 ? 24 : 12);
    if (code || there < h.size + h.frames * frame)
      fault = "found " + std::to_string(frame ? (there - h.size) / frame : 0) + " whole frames, expected the " +
              std::to_string(h.frames) + " that its header counts";
  }
  if (!fault.empty()) {
    problems.error(impl->name, fault);
    return problems;
  }
  return RecordedPositions(std::move(impl));
}

int RecordedPositions::frames() const { return int(impl_->header.frames); }
int RecordedPositions::vertices() const { return int(impl_->header.vertices); }
bool RecordedPositions::wide() const { return impl_->header.float64; }

std::vector<Vec3> RecordedPositions::frame(int frame) const {
  if (frame < 0 || frame >= frames())
    throw std::out_of_range("frame " + std::to_string(frame) + " of " + std::to_string(frames()));
  const size_t numbers = size_t(vertices()) * 3, size = wide() ? 8 : 4;
  std::vector<char> bytes(numbers * size);
  impl_->file.seekg(std::streamoff(impl_->header.size + std::uint64_t(frame) * bytes.size()));
  impl_->file.read(bytes.data(), std::streamsize(bytes.size()));
  if (!impl_->file) {
    impl_->file.clear();
    throw std::runtime_error(impl_->name + ": frame " + std::to_string(frame) + " cannot be read");
  }
  std::vector<Vec3> out(vertices());
  for (size_t k = 0; k < numbers; ++k) {
    double value = 0;
    if (wide()) {
      std::memcpy(&value, &bytes[8 * k], 8);
    } else {
      float narrow = 0;
      std::memcpy(&narrow, &bytes[4 * k], 4);
      value = narrow;
    }
    out[k / 3][int(k % 3)] = value;
  }
  return out;
}

}  // namespace verve
