#include "potentials/colours.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace verve {

std::vector<std::vector<int>> colour_elements(const std::vector<int>& stencils, int corners,
                                              const std::vector<int>& order) {
  int vertices = 0;
  for (const int v : stencils) vertices = std::max(vertices, v + 1);
  std::vector<std::vector<std::uint64_t>> taken(vertices);  // colours at each vertex, a bit each
  std::vector<std::vector<int>> out;
  for (const int e : order) {
    const int* stencil = stencils.data() + size_t(e) * corners;
    int colour = -1;
    for (size_t word = 0; colour < 0; ++word) {
      std::uint64_t used = 0;
      for (int i = 0; i < corners; ++i)
        if (word < taken[stencil[i]].size()) used |= taken[stencil[i]][word];
      if (~used) colour = int(64 * word) + std::countr_one(used);
    }
    for (int i = 0; i < corners; ++i) {
      std::vector<std::uint64_t>& words = taken[stencil[i]];
      if (words.size() <= size_t(colour) / 64) words.resize(colour / 64 + 1);
      words[colour / 64] |= std::uint64_t(1) << colour % 64;
    }
    if (colour >= int(out.size())) out.resize(colour + 1);
    out[colour].push_back(e);
  }
  return out;
}

}  // namespace verve
