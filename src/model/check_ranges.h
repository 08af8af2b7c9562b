// What the tables in scene_keys say of each key by itself: numbers finite and in range, names among the choices,
// keyframes in order.
#pragma once

#include <string>
#include <vector>

#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

/// All keys of a scene but the parameters of its potentials,
void check_ranges(const Scene& scene, Diagnostics& out);
/// and these, by one value for all elements or by one for each. Sizes aside: how many elements there are is not known
/// yet.
void check_track(const ParameterInfo& info, const Track<double>& track, const std::string& where, Diagnostics& out);
void check_array(const ParameterInfo& info, const std::vector<double>& found, const std::string& where,
                 Diagnostics& out);

/// Names and places as messages give them.
inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }
inline std::string join(const std::string& where, const std::string& key) {
  return where.empty() ? key : where + "." + key;
}
inline std::string at(const std::string& where, size_t index) { return where + "[" + std::to_string(index) + "]"; }

}  // namespace verve
