// What a run kept of what it had: energy and momenta over the longest span in which nothing from outside changes them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "verve/record.h"
#include "verve/scene.h"

namespace verve {

/// Frames from … to with no push, dial, force or anchor between them that changes the quantity.
struct Span {
  int from = 0, to = 0;
  std::string why_not;  ///< what keeps changing the quantity when there is no such span
  bool empty() const { return to <= from; }
};

struct Spans {
  Span energy, momentum, spin;
};
/// Over `frames` steps of the scene, the first of which begins at time `start` [s]. What a program does to a running
/// simulation by hand is not in the scene and not seen. In the steps `torn` elements were lost, with their energy.
Spans undisturbed_spans(const Scene& scene, int frames, double start = 0, const std::vector<int>& torn = {});

/// All bodies together, frame by frame, and the size of the whole at the start.
struct History {
  std::vector<Measures> frames;
  double radius = 0;  ///< root mean square distance from the centre [m]
};
double root_mean_square_radius(const std::vector<Vec3>& positions);

/// "4.21 → 4.20 J (99.8 %)". The share of energy is 1 less the loss in units of `unit` [J]; momenta count along their
/// direction at the start of the span. The span of the result stays empty.
Kept kept_energy(const History& history, const Span& span, double unit);
Kept kept_momentum(const History& history, const Span& span);
Kept kept_spin(const History& history, const Span& span);

/// Largest finite kinetic + elastic energy of the span [J].
double energy_scale(const History& history, const Span& span);
/// Where the last third of `frames` >= 1 begins: what a run has come to.
constexpr size_t last_third(size_t frames) { return frames - std::max<size_t>(1, frames / 3); }
/// Standard deviation of the elastic energy over the last third [J].
double elastic_oscillation(const History& history);

}  // namespace verve
