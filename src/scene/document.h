// The steps between the text of a scene and a Scene. Problems carry the place and the path of the value they are about.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "verve/scene_file.h"

namespace verve {

struct Problem {
  Place place;
  std::string path;  ///< "bodies[0].density"
  std::string what;
  bool value_lost = false;  ///< the Scene holds a default instead: further complaints about it would mislead
};

/// Fills a Scene by the tables of scene_keys. Mesh files are looked for in `directory` (those of overrides: from here).
Scene scene_from_json(const Json& root, const std::filesystem::path& directory, std::vector<Problem>& problems);
/// Every key, in the order of the tables. T: any type that has keys.
template <class T>
Json to_json(const T& owner);

/// Sets one value in the tree, making objects on the way. Returns the path with names replaced by positions; empty when
/// the path leads nowhere, which is then among the problems.
std::string apply_override(Json& root, const Override& set, int text_number, std::vector<Problem>& problems);
/// Where the value at `path` was written, or the nearest value around it.
Place locate(const Json& root, const std::string& path);

/// The key table of docs/scenes.md.
std::string scene_reference();
/// The tables of docs/materials.md: numbers, and where they are from.
std::string material_reference();

}  // namespace verve
