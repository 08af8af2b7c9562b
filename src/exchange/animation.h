// Moving surfaces for other programs. A further format is one file with a function here and a line in formats.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "verve/mesh.h"

namespace verve {

/// A body over time.
struct AnimatedShape {
  std::string name;                      ///< as people wrote it
  std::string stem;                      ///< for files, each once
  std::array<double, 3> color{0.8, 0.8, 0.8};
  Mesh mesh;                             ///< in the first frame
  std::vector<Vec3> rest;                ///< of the vertices; empty where not all that are simulated are there
  double mass = 0;                       ///< [kg]
};

/// Frames are asked for one by one, so that a run of any length takes the memory of one frame.
class Animation {
 public:
  virtual ~Animation() = default;
  /// A shape in frames[k]. Vertices stay; elements may be fewer where something has torn. Valid until the next call.
  virtual const Mesh& at(int shape, int k) = 0;
  /// Of the tetrahedra that the last call of at() has left, xx, yy, zz, xy, yz, zx [Pa]; empty: not known.
  virtual std::vector<std::array<double, 6>> stress(int /*shape*/) { return {}; }
  /// Of the vertices of the last call of at() [N], of contact and friction; empty: not known.
  virtual std::vector<Vec3> contact_forces(int /*shape*/) { return {}; }

  std::string name;  ///< of the file, where all are in one
  std::vector<AnimatedShape> shapes;
  std::vector<int> frames;  ///< their numbers, ascending
  double step = 0;          ///< between two numbers [s]
  double metres_per_unit = 1;
  bool z_up = false;
  bool wide = false;  ///< recorded as doubles
  bool tears = false;
  bool quantized = false;  ///< wanted: numbers of 8 and 16 bits where the format has them
  double time(int k) const { return frames[std::size_t(k)] * step; }
};

struct AnimationFormat {
  std::string name, help;
  bool keeps_elements;  ///< cannot show that elements go
  /// Throws std::runtime_error with file and reason when it cannot be written.
  void (*write)(Animation& animation, const std::filesystem::path& folder);
};
const std::vector<AnimationFormat>& animation_formats();

void write_numbered(Animation& animation, const std::filesystem::path& folder, const std::string& format);
void write_usda(Animation& animation, const std::filesystem::path& folder);
void write_glb(Animation& animation, const std::filesystem::path& folder);
void write_pc2(Animation& animation, const std::filesystem::path& folder);
void write_mdd(Animation& animation, const std::filesystem::path& folder);
void write_vtu(Animation& animation, const std::filesystem::path& folder);
void write_vat(Animation& animation, const std::filesystem::path& folder);

}  // namespace verve
