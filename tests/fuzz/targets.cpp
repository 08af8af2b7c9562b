#include "targets.h"

namespace verve::fuzz {

std::span<const Target> targets() {
  static const Target all[] = {{"scene", scene},       {"set", override_value}, {"mesh", mesh},
                               {"run_folder", run_folder}, {"live", live},       {"snapshot", snapshot},
                               {"c_calls", c_calls},   {"physics", physics}};
  return all;
}

}  // namespace verve::fuzz
