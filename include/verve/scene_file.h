// Scene files: JSON in, JSON out. scenes/schema.json describes the format.
#pragma once

#include <string>
#include <vector>

#include "verve/scene.h"

namespace verve {

/// Overrides from the command line, "path=value": {"solver.tolerance", "1e-4"}, {"bodies[0].density", "500"}.
/// A value is read as JSON; a bare word is taken as a string.
using Override = std::pair<std::string, std::string>;

/// `name_or_path` is a built-in scene or a JSON file. Every problem of the file and of the overrides is reported,
/// with file:line:column and key. Relative paths inside are relative to the file.
Expected<Scene> read_scene(const std::string& name_or_path, const std::vector<Override>& overrides = {});
/// The same for text; `origin` stands in for the file name in diagnostics and as the base of relative paths.
Expected<Scene> parse_scene(const std::string& text, const std::string& origin,
                            const std::vector<Override>& overrides = {});
/// Fully resolved: every key is written, so that reading it back gives the same run.
std::string write_scene(const Scene& scene);
/// The JSON schema of the format, made from the same tables as the reader.
std::string scene_schema();

struct BuiltinScene {
  std::string name;
  std::string description;
  std::string text;
};
const std::vector<BuiltinScene>& builtin_scenes();

}  // namespace verve
