#include "contact/shape_registry.h"

#include "base/registered.h"
#include "contact/shape_formula.h"
#include "verve/plugin.h"

namespace verve {

ShapeEntry plane_entry();
ShapeEntry sphere_entry();
ShapeEntry box_entry();
ShapeEntry capsule_entry();
ShapeEntry cylinder_entry();
ShapeEntry cone_entry();
ShapeEntry mesh_entry();

namespace {

/// The only list, which programs add to (register_shape).
std::vector<ShapeEntry>& entries() {
  static std::vector<ShapeEntry> all = growable<ShapeEntry>({plane_entry(),    sphere_entry(), box_entry(), capsule_entry(),
                                                             cylinder_entry(), cone_entry(),   mesh_entry()});
  return all;
}

/// A shape of functions that a program gives.
struct PluginShape {
  ShapeFunctions functions;
  Touch at(const Vec3& x) const {
    Touch out{0, {0, 1, 0}};
    out.distance = functions.distance(x, out.normal);
    return out;
  }
  Box bounds() const { return {functions.low, functions.high}; }
  ShapeFeatures features() const { return {}; }
  ShapeTriangles tessellate(double) const { return {functions.points, functions.triangles}; }
};

}  // namespace

const std::vector<ShapeEntry>& shape_registry() { return entries(); }

Diagnostics register_shape(ShapePlugin plugin) {
  Diagnostics out;
  const char* const where = "register_shape";
  check_plugin_name(where, plugin.name, find_shape(plugin.name), registered().shapes.size(), out);
  if (!plugin.make) out.error(where, "found no function `make`, expected one");
  for (const ShapeKey& key : plugin.keys)
    if (key.name != "size" && key.name != "radius" && key.name != "length" && key.name != "normal")
      out.error(where, "found key \"" + key.name + "\", expected one of size, radius, length, normal");
  if (out.has_errors()) return out;
  registry_of_plugins().shapes.push_back(plugin.name);
  ShapeEntry entry;
  entry.info = {plugin.name, plugin.help, plugin.keys};
  entry.make = [name = plugin.name, make = std::move(plugin.make)](const ColliderSpec& spec, const Mesh*) {
    PluginShape shape{make(spec)};
    if (!shape.functions.distance) throw std::invalid_argument("\"" + name + "\": found no function `distance`");
    return shape_of(shape);
  };
  entries().push_back(std::move(entry));
  return out;
}

const ShapeEntry* find_shape(const std::string& name) {
  for (const ShapeEntry& entry : shape_registry())
    if (entry.info.name == name) return &entry;
  return nullptr;
}

const std::vector<ShapeInfo>& shape_infos() {
  static std::vector<ShapeInfo> infos = growable<ShapeInfo>({}, shape_registry().size() + most_plugins);
  static std::mutex mutex;
  return following(infos, mutex, shape_registry(), [](const ShapeEntry& entry) { return entry.info; });
}

bool ShapeInfo::reads(std::string_view key) const {
  for (const ShapeKey& own : keys)
    if (own.name == key) return true;
  return false;
}

}  // namespace verve
