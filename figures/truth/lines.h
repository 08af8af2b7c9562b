// What must hold of the method under test on a scene of a study, and what is shown beside it.
#pragma once

#include "figures/truth/bars.h"
#include "figures/truth/profile.h"

namespace verve::figures {

/// With which the method under test is compared: plain steps on three bases and the conserving ones that were there.
const std::vector<std::string>& rivals();

/// Checks: distance at most 1.05 of the least of the rivals, each as it is by default; amplitude of the slowest motion
/// within 10 % where the truth keeps it; H (with heat and booked loss) to the tolerance; roughness at most 1.2 of the
/// truth's; of variants, iterations beside those of cpd_gradient. What cannot be decided is a remark that says why. Charts and tables of the scene.
void judge_scene(const TruthCase& scene, const std::string& method, const StudyOptions& options, Result& result);
/// What the lines of all scenes are about, in one table.
void show_lines(const std::vector<TruthCase>& cases, const std::string& method, Result& result);
/// Profiles over scenes: charts, tables, and a picture of the two charts that say most.
void show_profiles(const std::vector<TruthCase>& cases, const std::string& method, const StudyOptions& options,
                   Result& result);
/// Rms tip error, amplitude and time of each bar.
void judge_bars(const std::vector<BarRow>& bars, Result& result);

}  // namespace verve::figures
