// What is needed to hand a run to other programs: its positions read back, and files of surfaces.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "verve/mesh.h"

namespace verve {

/// A format of files that hold one surface each: "obj", "ply".
struct SurfaceFormat {
  std::string name;  ///< also the extension
  std::string help;
  /// A whole file: the skin of tetrahedra, triangles, edges. `wide`: coordinates come back as the same doubles,
  /// otherwise as the same floats.
  std::string (*file)(const Mesh& mesh, bool wide);
};
const std::vector<SurfaceFormat>& surface_formats();

/// A line of torn.csv: an element of a body's mesh that is gone from a frame on.
struct TornElement {
  int frame = 0;
  std::string body;
  std::string kind;  ///< "tetrahedron", "triangle" or "edge"
  int element = 0;   ///< its place in the mesh's list of them
};
/// torn.csv of a run, finished or not, by frames. A last line that was cut short is left out.
Expected<std::vector<TornElement>> read_torn(const std::filesystem::path& file);

/// positions.npy of a run, finished or not, frame by frame.
class RecordedPositions {
 public:
  static Expected<RecordedPositions> open(const std::filesystem::path& file);
  RecordedPositions(RecordedPositions&&) noexcept;
  RecordedPositions& operator=(RecordedPositions&&) noexcept;
  ~RecordedPositions();
  int frames() const;
  int vertices() const;
  bool wide() const;  ///< doubles, not floats
  /// One per vertex, in the order of the meshes, bodies one after another. Throws std::out_of_range for a frame that
  /// is not there, std::runtime_error when it can no longer be read.
  std::vector<Vec3> frame(int frame) const;

 private:
  struct Impl;
  explicit RecordedPositions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// contact_forces.npy of a run, finished or not, frame by frame.
class RecordedForces {
 public:
  /// `vertices`: of the run.
  static Expected<RecordedForces> open(const std::filesystem::path& file, int vertices);
  RecordedForces(RecordedForces&&) noexcept;
  RecordedForces& operator=(RecordedForces&&) noexcept;
  ~RecordedForces();
  /// On each vertex [N]. Throws std::runtime_error when it cannot be read.
  std::vector<Vec3> frame(int frame) const;

 private:
  struct Impl;
  explicit RecordedForces(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
