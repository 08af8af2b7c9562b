#include "contact/shape_registry.h"

namespace verve {

ShapeEntry plane_entry();
ShapeEntry sphere_entry();
ShapeEntry box_entry();
ShapeEntry capsule_entry();
ShapeEntry cylinder_entry();
ShapeEntry cone_entry();
ShapeEntry mesh_entry();

// The only list.
std::span<const ShapeEntry> shape_registry() {
  static const ShapeEntry entries[] = {plane_entry(),    sphere_entry(), box_entry(), capsule_entry(),
                                       cylinder_entry(), cone_entry(),   mesh_entry()};
  return entries;
}

const ShapeEntry* find_shape(const std::string& name) {
  for (const ShapeEntry& entry : shape_registry())
    if (entry.info.name == name) return &entry;
  return nullptr;
}

const std::vector<ShapeInfo>& shape_infos() {
  static const std::vector<ShapeInfo> infos = [] {
    std::vector<ShapeInfo> out;
    for (const ShapeEntry& entry : shape_registry()) out.push_back(entry.info);
    return out;
  }();
  return infos;
}

bool ShapeInfo::reads(std::string_view key) const {
  for (const ShapeKey& own : keys)
    if (own.name == key) return true;
  return false;
}

}  // namespace verve
