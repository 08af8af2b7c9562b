// Conserved quantities of several bodies together.
#pragma once

#include <span>

#include "verve/simulation.h"

namespace verve {

class MeasureSum {
 public:
  void add(const Measures& body);
  Measures total() const;

 private:
  Measures all_;  // with the centre times the mass
};

inline Measures measures_of_all(std::span<const Measures> bodies) {
  MeasureSum sum;
  for (const Measures& body : bodies) sum.add(body);
  return sum.total();
}

}  // namespace verve
