// Shapes that colliders can have. Each is a file in contact/shapes; the scene reader, its checks, the schema, the docs,
// `verve list`, pictures and the live page know of them from here.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "contact/shapes.h"
#include "verve/mesh.h"
#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

struct ShapeEntry {
  ShapeInfo info;
  /// Of the keys of a collider that the shape lists, which check_scene has accepted. `surface`: what the key "mesh" has
  /// loaded, closed (check_closed); null for shapes that do not list it.
  std::function<std::unique_ptr<Shape>(const ColliderSpec& spec, const Mesh* surface)> make;
};

const std::vector<ShapeEntry>& shape_registry();
/// Null when there is none of that name.
const ShapeEntry* find_shape(const std::string& name);

}  // namespace verve
