// Elements in groups without a common vertex, for sweeps that move the vertices of one element after another.
#pragma once

#include <vector>

namespace verve {

/// Greedy colouring: each element, in the given order, takes the first colour that none of its vertices has yet.
/// `stencils[e * corners + c]` is a vertex. Returns the elements of each colour, in the order in which they came.
std::vector<std::vector<int>> colour_elements(const std::vector<int>& stencils, int corners,
                                              const std::vector<int>& order);

}  // namespace verve
