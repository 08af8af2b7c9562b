// How much memory the process holds.
#pragma once

namespace verve::bench {

struct Memory {
  double resident = 0, peak = 0;  ///< now, and the most since forget_peak() [MB]; 0 where the system does not tell
};
Memory memory_now();
/// Gives freed memory back and starts a new peak.
void forget_peak();

}  // namespace verve::bench
