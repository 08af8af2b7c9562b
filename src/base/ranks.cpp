#include "base/ranks.h"

namespace verve {

namespace {
const Ranks* all_ranks = nullptr;  // of the process: set once, before anything is simulated
}

const Ranks* ranks() { return all_ranks; }
void set_ranks(const Ranks* all) { all_ranks = all; }

}  // namespace verve
