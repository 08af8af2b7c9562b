// Contacts that a new look finds deeper than the last step left them.
#pragma once

#include <span>
#include <vector>

#include "contact/contact_cache.h"
#include "contact/contacts.h"

namespace verve {

/// A one-sided spring of energy 1/2 k max(0, depth - rest)^2.
struct Penetration {
  double stiffness = 0;  // [N/m]
  double depth = 0;      // as it is found [m]
  double pressed = 0;    // beyond its rest penetration, as the last step left it
  double rest = 0;       // without a force; in: as it should become, out: as it may be
};

/// A look at the same x with other stencils may find contacts deeper than the last step left them, or for the first
/// time. That energy has come from nothing, and nobody may have it: up to `budget` [J] is accepted (the caller's motion
/// pays for it), the rest becomes rest penetration. All contacts get the same share of what they would add.
void limit_new_energy(std::span<Penetration> contacts, double budget);

/// Rest penetrations of the candidates of a step: those of the cache, less `shrink` [m]; of contacts that are found for
/// the first time all of their depth, less that, for they never came in there; and what `budget` [J] does not allow.
/// `room` is kept by the caller.
void set_rest_penetrations(Contacts& contacts, const std::vector<CachedContact>& cache, double shrink, double budget,
                           std::vector<Penetration>& room);

/// Where two colliders come to overlap, by the way of one in the step, a point between them has no room: it is outside of
/// neither, whatever it does, and a penalty would store the work of an obstacle that nothing can stop and throw the point
/// out of there once one of them goes. What the overlap grows by becomes rest penetration, half in each, but for what the
/// point can be squeezed out sideways while they close: by their way times the sum of their normals, which is 0 where
/// these are opposite. `first` is kept by the caller: per point the last candidate that was seen.
void yield_between_colliders(Contacts& contacts, std::vector<int>& first);

}  // namespace verve
