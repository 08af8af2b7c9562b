#include "figures/truth/profile.h"

#include <algorithm>
#include <cmath>

namespace verve::figures {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Factors from 1 to 10 for the curves, evenly on a logarithmic axis.
std::vector<double> factors() {
  std::vector<double> out;
  for (int i = 0; i <= 60; ++i) out.push_back(std::pow(10, i / 60.0));
  return out;
}

}  // namespace

double distance_within(const TruthCase& scene, const std::string& method, double budget) {
  const TruthRun* run = scene.within(method, budget);
  if (!run) return infinite;
  const double d = scene.judged(*run);
  return std::isfinite(d) ? std::max(d, scene.truth_error) : infinite;
}

double best_within(const TruthCase& scene, const std::vector<std::string>& methods, double budget) {
  double out = infinite;
  for (const std::string& m : methods) out = std::min(out, distance_within(scene, m, budget));
  return out;
}

std::vector<const TruthCase*> decided(const std::vector<TruthCase>& cases) {
  std::vector<const TruthCase*> out;
  for (const TruthCase& c : cases)
    if (c.known() && std::any_of(c.runs.begin(), c.runs.end(), [](const TruthRun& r) { return r.good(); }))
      out.push_back(&c);
  return out;
}

double share_within(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                    const std::string& method, double budget, double tau) {
  int near = 0;
  for (const TruthCase* c : cases) {
    const double best = best_within(*c, methods, budget);
    near += best < infinite && distance_within(*c, method, budget) <= tau * best * (1 + 1e-12);
  }
  return cases.empty() ? 0 : double(near) / double(cases.size());
}

double share_solved(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                    const std::string& method, double budget, double largest, double tau) {
  int near = 0;
  for (const TruthCase* c : cases) {
    const double best = best_within(*c, methods, largest);
    near += best < infinite && distance_within(*c, method, budget) <= tau * best * (1 + 1e-12);
  }
  return cases.empty() ? 0 : double(near) / double(cases.size());
}

std::vector<std::string> leading(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                                 const std::vector<double>& budgets, const std::string& always, size_t count) {
  std::vector<std::pair<double, std::string>> order;
  for (const std::string& m : methods) {
    if (m == always) continue;
    double sum = 0;
    for (const double b : budgets)
      for (const double tau : {1.05, 1.5, 2.0, 4.0}) sum += share_within(cases, methods, m, b, tau);
    order.emplace_back(-sum, m);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  if (std::find(methods.begin(), methods.end(), always) != methods.end()) out.push_back(always);
  for (const auto& [sum, m] : order)
    if (out.size() < count) out.push_back(m);
  return out;
}

Chart performance_profile(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                          const std::vector<std::string>& shown, double budget) {
  const std::string ms = with_unit(budget, "ms");
  Chart out{"performance_" + with_unit(budget, "") + "ms",
            "Scenes within a factor τ of the best, " + ms + " per frame",
            "τ",
            "share of the scenes",
            {}};
  out.log_x = true, out.low = 0, out.high = 1;
  for (const std::string& m : shown) {
    Curve& curve = out.curves.emplace_back(Curve{m, {}, {}});
    for (const double tau : factors())
      curve.x.push_back(tau), curve.y.push_back(share_within(cases, methods, m, budget, tau));
  }
  return out;
}

Chart data_profile(const std::vector<const TruthCase*>& cases, const std::vector<std::string>& methods,
                   const std::vector<std::string>& shown, const std::vector<double>& budgets, double tau) {
  const double largest = budgets.back();
  Chart out{"data_profile",
            "Scenes within a factor " + with_unit(tau, "") + " of the best of " + with_unit(largest, "ms"),
            "ms per frame",
            "share of the scenes",
            {}};
  out.log_x = true, out.low = 0, out.high = 1;
  for (const std::string& m : shown) {
    Curve& curve = out.curves.emplace_back(Curve{m, {}, {}});
    curve.dots = true;
    for (const double b : budgets)
      curve.x.push_back(b), curve.y.push_back(share_solved(cases, methods, m, b, largest, tau));
  }
  return out;
}

}  // namespace verve::figures
