#pragma once

namespace verve::test {

/// How often this program has asked for memory so far.
long allocations();

}  // namespace verve::test
