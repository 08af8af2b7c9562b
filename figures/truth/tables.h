// A study as files for other programs.
#pragma once

#include "figures/truth/bars.h"
#include "figures/truth/profile.h"

namespace verve::figures {

/// One row per run; docs/truth.md describes the columns.
std::string runs_csv(const std::vector<TruthCase>& cases);
/// One row per scene.
std::string scenes_csv(const std::vector<TruthCase>& cases);
/// set,budget,method,tau,share: of the twelve ("ours") and of the random scenes apart.
std::string profiles_csv(const std::vector<TruthCase>& ours, const std::vector<TruthCase>& random,
                         const StudyOptions& options);
std::string bars_csv(const std::vector<BarRow>& bars);
/// All of the above and the checks in one document.
std::string study_json(const std::vector<TruthCase>& ours, const std::vector<TruthCase>& random,
                       const std::vector<BarRow>& bars, const StudyOptions& options, const std::string& method,
                       const std::vector<std::pair<std::string, Check>>& checks);

}  // namespace verve::figures
