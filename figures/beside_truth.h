// Motion judged beside a fine-step run.
#pragma once

#include "figures/reference.h"

namespace verve::figures {

/// Amplitude of the slowest motion within 10 % of the truth's at the end of `truth`, and how far it is behind: no more
/// than twice what the trapezoid rule, the least dispersive of the family, is behind after so many periods,
/// (ωh)²/12 of a period each, and 5°. Not judged, with words why, where the run is too short or the truth itself loses
/// it, unless that is what the scene does (`decays`: a sheet in whose folds the swing ends). `what` begins the checks
/// ("cpd, pendulum"); `name` is that of the chart of both.
void judge_slow_motion(Result& result, const std::string& what, const std::string& name, const Film& ours,
                       const Film& truth, bool decays = false);
/// Distance of the vertices from the truth's, root mean square over them and mean over frames 1 to `frames` [m].
double mean_distance(const Film& film, const Film& truth, int frames);
/// Standard deviation of the elastic energy over the last half of a run, over its total energy at the start: how
/// strongly it vibrates.
double oscillation(const Film& film);
/// That of `ours` within a quarter of the truth's (design 4.5).
void judge_oscillation(Result& result, const std::string& what, const Film& ours, const Film& truth);

}  // namespace verve::figures
