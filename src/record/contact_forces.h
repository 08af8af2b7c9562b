// contact_forces.npy: a row for each vertex that was touched in a frame.
#pragma once

#include <vector>

#include "record/output_file.h"
#include "verve/vec.h"

namespace verve {

/// As numpy.load() has it: an array of (frame, vertex, force).
struct ContactForceRow {
  std::int32_t frame, vertex;
  float force[3];
};
static_assert(sizeof(ContactForceRow) == 20);

/// The type of its elements in a header of NumPy.
inline constexpr const char* contact_force_type = "[('frame', '<i4'), ('vertex', '<i4'), ('force', '<f4', (3,))]";

class ContactForceFile {
 public:
  /// In place of an older file. Errors come back as text, empty when all went well.
  std::string create(const std::filesystem::path& path);
  /// One per vertex; those that are 0 are left out. What was written since the last keep() is replaced.
  std::string write(int frame, const std::vector<Vec3>& forces);
  void keep() { kept_ = written_; }

 private:
  OutputFile file_;
  std::uint64_t kept_ = 0, written_ = 0;  // rows
};

}  // namespace verve
