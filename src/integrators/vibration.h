// How fast the bodies of an island vibrate: what a frame is cut into sub-steps by.
#pragma once

#include <optional>
#include <vector>

#include "integrators/island.h"

namespace verve {

/// Speed at which what a row of `near_rows` is about strikes [m/s]; 0: no faster than gravity makes it in three steps
/// of h, as what lies down, or settles.
double strike_speed(const ContactRow& row, const Island& island, double h);

/// Functions of an island as it is; what is kept is work space.
class Vibration {
 public:
  /// W over the square of the distance to the best rigid fit of the rest shape is the square of a frequency. None: that
  /// distance is round-off.
  std::optional<Deformation> deformation(const Island& island);

  /// Likewise of what is about to be struck, which is not deformed yet: of the bodies that may come to touch in the
  /// coming step and do not so far, by a compression of the whole along what they will touch; as a phase, in radians
  /// per step of h. The first half of that period is how long an impact takes.
  double impact_phase(const Island& island, double h);
  /// Something is: it comes faster than gravity makes it in three steps of h.
  bool strikes(const Island& island, double h);

 private:
  struct Struck {
    bool pressed = false;
    Vec3 along;
  };
  void find_struck(const Island& island, double h);
  double stiffness_along(const Island& island, int body, const Vec3& n);

  std::vector<RowShape> shape_parts_;
  std::vector<double> distance_parts_;
  std::vector<Struck> struck_;  // by body
  std::vector<Vec4> x_, gradient_;
};

}  // namespace verve
