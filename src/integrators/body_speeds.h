// Velocities of the bodies of an island, by which changes of them are judged: a small body beside a large one is to be
// as exact.
#pragma once

#include <vector>

#include "integrators/island.h"

namespace verve {

class BodySpeeds {
 public:
  /// Of each body, its rms velocity where the step begins and what forces make of it, in the units of a change. True:
  /// all are at rest.
  bool find(const Island& island, double h);
  /// A change dv of the velocity of a body, over its speed.
  double share(int body, double dv) const;
  /// Of all bodies the largest share of the rms change of velocity from one x to another.
  double largest_change(const Island& island, const std::vector<Vec4>& from, const std::vector<Vec4>& to,
                        double hh) const;

 private:
  std::vector<double> speeds_;
};

}  // namespace verve
