#include "record/contact_forces.h"

#include <bit>

#include "record/npy.h"

namespace verve {

static_assert(std::endian::native == std::endian::little, "contact_forces.npy is written as it lies in memory");

std::string ContactForceFile::create(const std::filesystem::path& path) {
  kept_ = written_ = 0;
  NewFile made;
  std::string error = made.open(path);
  if (!error.empty()) return error;
  file_.share(made);
  error = file_.write_at(0, npy_header(contact_force_type, "(0,)"));
  return error.empty() ? made.place() : error;
}

std::string ContactForceFile::write(int frame, const std::vector<Vec3>& forces) {
  std::vector<ContactForceRow> rows;
  for (std::size_t v = 0; v < forces.size(); ++v) {
    const Vec3& f = forces[v];
    if (f.x != 0 || f.y != 0 || f.z != 0)
      rows.push_back({frame, std::int32_t(v), {float(f.x), float(f.y), float(f.z)}});
  }
  written_ = kept_ + rows.size();
  if (rows.empty()) return "";
  const char* bytes = reinterpret_cast<const char*>(rows.data());
  const std::string error = file_.write_at(npy_header_size + kept_ * sizeof(ContactForceRow),
                                           {bytes, rows.size() * sizeof(ContactForceRow)});
  if (!error.empty()) return error;
  return file_.write_at(0, npy_header(contact_force_type, "(" + std::to_string(written_) + ",)"));
}

}  // namespace verve
