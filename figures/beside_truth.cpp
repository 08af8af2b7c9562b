#include "figures/beside_truth.h"

#include <cmath>
#include <numbers>

namespace verve::figures {

void judge_slow_motion(Result& result, const std::string& what, const std::string& name, const Film& ours,
                       const Film& truth, bool decays) {
  if (!truth.failure.empty() || ours.frames() < truth.frames()) {
    result.holds(what + ": runs beside the truth", false, ours.failure + truth.failure, "no failure", "docs/truth.md");
    return;
  }
  const SlowMode mode(simulation(ours.scene), truth.poses);
  const std::vector<double> q = mode.coordinate(ours.poses), q0 = mode.coordinate(truth.poses);
  const SlowError error = mode.error(q);
  const double periods = mode.period() > 0 ? truth.frames() / mode.period() : 0;
  const std::string span = " after " + with_unit(std::floor(10 * periods) / 10, "") + " periods";
  if (mode.measurable() && (decays || mode.kept() >= 0.9)) {
    result.between(what + ": amplitude of the slowest motion" + span + ", over truth's", error.amplitude, 0.9, 1.1,
                   "docs/truth.md", "×");
    const double turn = 2 * std::numbers::pi / mode.period();
    result.at_most(what + ": its phase" + span + ", behind truth or ahead", std::abs(error.phase),
                   5 + 2 * 360 * periods * turn * turn / 12, "docs/truth.md", "°");
  } else {
    const std::string why = mode.measurable()
                                ? "truth itself loses " + with_unit(std::round(100 * (1 - mode.kept())), "%") + " of it"
                                : "the run is too short, or its period less than 2.5 frames";
    result.differs(what + ": the slowest motion is not judged, because " + why + "; it has " +
                   with_unit(error.amplitude, "×") + " of truth's amplitude" + span + ".");
  }
  const std::vector<double> time = truth.column([](const Shot& s) { return s.time; });
  Chart chart{name, "Slowest motion beside truth", "time [s]", "q [√kg m]", {}};
  chart.curves = {{"truth", time, q0}, {ours.label, time, {q.begin(), q.begin() + std::ptrdiff_t(q0.size())}}};
  chart.curves[0].dashed = true;
  result.chart(std::move(chart));
}

double mean_distance(const Film& film, const Film& truth, int frames) {
  double sum = 0;
  for (size_t f = 1; f <= size_t(frames); ++f) {
    const std::vector<Vec3>&a = film.poses.at(f), &b = truth.poses.at(f);
    double square = 0;
    for (size_t i = 0; i < a.size(); ++i) square += dot(a[i] - b[i], a[i] - b[i]);
    sum += std::sqrt(square / double(a.size()));
  }
  return sum / frames;
}

double oscillation(const Film& film) {
  const std::vector<double> w = film.column([](const Shot& s) { return s.all.elastic; });
  return deviation(std::span(w).subspan(w.size() / 2)) / std::abs(film.shots[0].all.total);
}

void judge_oscillation(Result& result, const std::string& what, const Film& ours, const Film& truth) {
  result.between(what + ": oscillation, std of W over the last half, over truth's",
                 oscillation(ours) / oscillation(truth), 0.75, 1.25, "design 4.5", "×");
}

}  // namespace verve::figures
