// What the tests of scene files share.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "verve/scene_file.h"

namespace verve {

/// The smallest complete scene, with room for more keys in the scene and in its body.
inline std::string small_scene(const std::string& scene_keys = "", const std::string& body_keys = "") {
  return "{\"version\": 1" + (scene_keys.empty() ? "" : ", " + scene_keys) +
         ", \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"generator\": \"cube\"}" +
         (body_keys.empty() ? "" : ", " + body_keys) + "}]}";
}

/// Every complaint about a text, one per line; empty when it is read.
inline std::string complaints(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Expected<Scene> scene = parse_scene(text, "test.json", overrides);
  return scene.diagnostics().text();
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// VERVE_UPDATE=1 rewrites the files that are made from the tables instead of comparing them.
inline bool update_files() { return std::getenv("VERVE_UPDATE") != nullptr; }

}  // namespace verve
