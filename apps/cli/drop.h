// A scene around mesh files: each as large as asked, solid, above a floor.
#pragma once

#include <string>
#include <vector>

#include "verve/scene.h"

namespace verve::cli {

struct DropSettings {
  std::string material = "jelly";  ///< of verve list materials
  double size = 0.3;               ///< of the longest side [m]
  double cells = 24;               ///< along it, of what fills a surface
  bool z_up = false;               ///< in the files
  int frames = 150;
  std::string object{};  ///< of the files, by name; empty: all of each
};

/// Whether a file is a mesh, by its extension.
bool is_mesh_file(const std::string& file);
Expected<Scene> scene_of_drop(const std::vector<std::string>& files, const DropSettings& settings);

}  // namespace verve::cli
