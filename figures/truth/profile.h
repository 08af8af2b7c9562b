// Which methods come nearest to the truth in a given time: performance and data profiles (Dolan and Moré 2002, Moré and
// Wild 2009) over the scenes of a study.
#pragma once

#include <string>
#include <vector>

#include "figures/truth/study.h"

namespace verve::figures {

/// Distance of a method from the truth within a budget; infinite where it has none. Not below what the truth itself is
/// known to.
double distance_within(const TruthCase& scene, const std::string& method, double budget);
/// The least of all methods.
double best_within(const TruthCase& scene, const std::vector<std::string>& methods, double budget);
/// Scenes of which anything is known: their truth came to its end, and some method can tell itself apart from it.
std::vector<const TruthCase*> decided(const std::vector<TruthCase>& cases);

/// Share of the scenes that a method has within a factor tau of the best method, all with the same budget.
double share_within(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                    const std::string& method, double budget, double tau);
/// Share of the scenes that a method has, with this budget, within a factor tau of the best that any has with the
/// largest.
double share_solved(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                    const std::string& method, double budget, double largest, double tau);

/// Those that are worth a curve: `always`, then those with the largest mean share over the budgets, `count` in all.
std::vector<std::string> leading(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                                 const std::vector<double>& budgets, const std::string& always, size_t count);

Chart performance_profile(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                          const std::vector<std::string>& shown, double budget);
Chart data_profile(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                   const std::vector<std::string>& shown, const std::vector<double>& budgets, double tau);

}  // namespace verve::figures
