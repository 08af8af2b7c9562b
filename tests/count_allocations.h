// Linked into a test program, replaces operator new by one that counts.
#pragma once

namespace verve::test {

/// How often this program has asked for memory so far.
long allocations();

}  // namespace verve::test
