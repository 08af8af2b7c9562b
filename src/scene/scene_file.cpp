#include <algorithm>
#include <fstream>
#include <iterator>

#include "model/model.h"
#include "scene/document.h"

namespace verve {

namespace {

bool begins_with_path(const std::string& path, const std::string& prefix) {
  if (path.compare(0, prefix.size(), prefix) != 0) return false;
  return prefix.empty() || path.size() == prefix.size() || path[prefix.size()] == '.' || path[prefix.size()] == '[';
}
bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// A complaint about a value that was never read, or about a name that could not be read, says nothing new.
bool follows_from(const std::vector<Problem>& problems, const std::string& path) {
  for (const Problem& problem : problems) {
    if (!problem.value_lost) continue;
    if (begins_with_path(path, problem.path) || begins_with_path(problem.path, path)) return true;
    const bool names_lost =
        begins_with_path(problem.path, "bodies") && (ends_with(problem.path, "]") || ends_with(problem.path, ".name"));
    if (names_lost && (ends_with(path, ".body") || ends_with(path, ".to_body"))) return true;
  }
  return false;
}

}  // namespace

Expected<Scene> parse_scene(const std::string& text, const std::string& origin,
                            const std::vector<Override>& overrides) {
  std::vector<Problem> problems;
  std::vector<JsonProblem> syntax;
  Json root = parse_json(text, 0, syntax);
  for (const JsonProblem& problem : syntax) problems.push_back({problem.place, problem.path, problem.what, true});

  std::vector<std::string> override_paths;
  Scene scene;
  if (!root.is(Json::Kind::invalid)) {
    if (root.is(Json::Kind::object))
      for (const Override& set : overrides)
        override_paths.push_back(apply_override(root, set, int(override_paths.size()) + 1, problems));
    scene = scene_from_json(root, std::filesystem::path(origin).parent_path(), problems);
    if (root.is(Json::Kind::object)) {
      const std::vector<Problem> structural = problems;
      const Diagnostics found_values = check_scene(scene);
      for (const Diagnostic& found : found_values.items())
        if (!follows_from(structural, found.where))
          problems.push_back({locate(root, found.where), found.where, found.what, false});
    }
  }

  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return a.place.text != b.place.text ? a.place.text < b.place.text : a.place.offset < b.place.offset;
  });
  Diagnostics out;
  for (const Problem& problem : problems) {
    if (problem.what.empty()) continue;  // only marks a value as lost
    std::string where;
    std::string path = problem.path;
    if (problem.place.text == 0) {
      const auto [line, column] = line_and_column(text, problem.place.offset);
      where = origin + ":" + std::to_string(line) + ":" + std::to_string(column);
    } else {
      const Override& set = overrides[size_t(problem.place.text) - 1];
      where = "--set " + set.first + "=" + set.second;
      if (path == override_paths[size_t(problem.place.text) - 1]) path.clear();
    }
    out.error(path.empty() ? where : where + ": " + path, problem.what);
  }
  if (out.has_errors()) {
    report_mesh_files(scene, out);
    return out;
  }
  return scene;
}

Expected<Scene> read_scene(const std::string& name_or_path, const std::vector<Override>& overrides) {
  std::vector<std::string> names;
  for (const BuiltinScene& scene : builtin_scenes()) {
    if (scene.name == name_or_path) return parse_scene(scene.text, scene.name + ".json", overrides);
    names.push_back(scene.name);
  }
  Diagnostics out;
  std::error_code failed;
  const std::filesystem::path path = name_or_path;
  if (!std::filesystem::exists(path, failed)) {
    const std::string near = nearest(name_or_path, names);
    out.error(name_or_path, "found no such file, expected a scene file or a built-in scene" +
                                (near.empty() ? " (verve list scenes shows them)" : " (nearest: " + near + ")"));
    return out;
  }
  if (!std::filesystem::is_regular_file(path, failed)) {
    out.error(name_or_path, std::filesystem::is_directory(path, failed)
                                ? "found a directory, expected a scene file"
                                : "found something else than a file, expected a scene file");
    return out;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    out.error(name_or_path, "cannot be read, expected a readable scene file");
    return out;
  }
  return parse_scene(text, name_or_path, overrides);
}

}  // namespace verve
