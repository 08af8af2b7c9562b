#include <fstream>
#include <stdexcept>

#include "record/contact_forces.h"
#include "record/npy.h"
#include "verve/convert.h"

namespace verve {

struct RecordedForces::Impl {
  std::string name;
  mutable std::ifstream file;
  std::int64_t rows = 0;
  std::uint64_t header = 0;
  int vertices = 0;

  ContactForceRow row(std::int64_t i) const {
    ContactForceRow out{};
    file.seekg(std::streamoff(header + std::uint64_t(i) * sizeof out));
    file.read(reinterpret_cast<char*>(&out), sizeof out);
    if (!file) {
      file.clear();
      throw std::runtime_error(name + ": row " + std::to_string(i) + " cannot be read");
    }
    return out;
  }
  /// The first row of this frame or of one behind it: they are in the order of frames.
  std::int64_t first_of(int frame) const {
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      row(middle).frame < frame ? low = middle + 1 : high = middle;
    }
    return low;
  }
};

RecordedForces::RecordedForces(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordedForces::RecordedForces(RecordedForces&&) noexcept = default;
RecordedForces& RecordedForces::operator=(RecordedForces&&) noexcept = default;
RecordedForces::~RecordedForces() = default;

Expected<RecordedForces> RecordedForces::open(const std::filesystem::path& path, int vertices) {
  Diagnostics problems;
  auto impl = std::make_unique<Impl>();
  impl->name = path.string(), impl->vertices = vertices;
  impl->file.open(path, std::ios::binary);
  std::string begin(npy_header_size, '\0');
  if (impl->file) impl->file.read(begin.data(), std::streamsize(begin.size()));
  if (impl->file.bad() || !impl->file.is_open()) {
    problems.error(impl->name, "cannot be read, expected the contact forces of a run");
    return problems;
  }
  begin.resize(std::size_t(impl->file.gcount()));
  impl->file.clear();
  std::string fault = read_npy_table_header(begin, contact_force_type, impl->rows, impl->header);
  std::error_code code;
  const std::uint64_t there = std::filesystem::file_size(path, code);
  if (fault.empty() &&
      (code || impl->rows < 0 || there < impl->header ||
       (there - impl->header) / sizeof(ContactForceRow) < std::uint64_t(impl->rows)))
    fault = "found " + std::to_string((there - std::min(there, impl->header)) / sizeof(ContactForceRow)) +
            " whole rows, expected the " + std::to_string(impl->rows) + " that its header counts";
  if (!fault.empty()) {
    problems.error(impl->name, fault);
    return problems;
  }
  return RecordedForces(std::move(impl));
}

std::vector<Vec3> RecordedForces::frame(int frame) const {
  std::vector<Vec3> out(std::size_t(impl_->vertices));
  for (std::int64_t i = impl_->first_of(frame); i < impl_->rows; ++i) {
    const ContactForceRow row = impl_->row(i);
    if (row.frame != frame) break;
    if (row.vertex < 0 || row.vertex >= impl_->vertices)
      throw std::runtime_error(impl_->name + ": row " + std::to_string(i) + ": found vertex " +
                               std::to_string(row.vertex) + ", expected 0 to " + std::to_string(impl_->vertices - 1));
    out[std::size_t(row.vertex)] = {row.force[0], row.force[1], row.force[2]};
  }
  return out;
}

}  // namespace verve
