// What is made of a body before it is added.
#pragma once

#include <memory>

#include "integrators/island.h"
#include "verve/prepared_body.h"

namespace verve {

/// A body on its own: compiled, and as an island with its factors, which moves into those of the world as they are.
struct PreparedBody::Content {
  std::shared_ptr<const BodySpec> spec;
  Model model;  // of this body alone
  Matter matter;
  std::unique_ptr<Island> island;
};

}  // namespace verve
