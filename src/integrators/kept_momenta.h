// Which momenta a step holds: all of them, those about a pivot, or those that no contact resists.
#pragma once

#include <array>
#include <vector>

#include "contact/contacts.h"
#include "integrators/conservation.h"
#include "linear/small.h"
#include "verve/vec.h"

namespace verve {

/// Combinations of P and L/R, with R the radius of gyration: these are of one kind.
struct KeptMomenta {
  int count = 6;
  std::array<Vec6, 6> basis{};  // of fewer than six

  bool all() const { return count == 6; }
  /// These momenta, and no others.
  Quantities part(const Quantities& c, double radius) const;
  /// S_qq^+ of these combinations.
  StepProducts products(StepProducts s, double radius) const;
};

/// A contact without friction pushes along its normal alone: momenta that none of these wrenches changes are kept. On a
/// plane these are P along it and L about its normal; on a sphere L about its centre. Contacts are taken where the step
/// begins, `x`, and where it leads, `xb + hh u`; L is about `center`.
KeptMomenta find_free_momenta(const Contacts& contacts, const std::vector<Vec4>& x, const std::vector<Vec4>& xb,
                              const std::vector<Vec4>& u, double hh, const Vec3& center, double radius);

}  // namespace verve
