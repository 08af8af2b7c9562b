#include "base/json.h"
#include "verve/scene_file.h"
#include "verve_scene_files.h"

namespace verve {

const std::vector<BuiltinScene>& builtin_scenes() {
  static const std::vector<BuiltinScene> scenes = [] {
    std::vector<BuiltinScene> out;
    for (const verve_scene_files::File& file : verve_scene_files::all()) {
      std::string text(file.text);
      std::vector<JsonProblem> ignored;  // reported when the scene is read
      const Json root = parse_json(text, 0, ignored);
      const Json* description = root.find("description");
      out.push_back({std::string(file.name.substr(0, file.name.rfind('.'))), description ? description->text : "",
                     std::move(text)});
    }
    return out;
  }();
  return scenes;
}

}  // namespace verve
