#include "base/registered.h"

#include "verve/plugin.h"

namespace verve {

Registered& registry_of_plugins() {
  static Registered all;
  return all;
}

const Registered& registered() { return registry_of_plugins(); }

}  // namespace verve
