#include "record/kept.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace verve {

namespace {

template <class T>
bool changes(const Track<T>& track, double before, double after) {
  return !(track.at(before) == track.at(after));
}
template <class T>
bool acts(const Track<T>& track, double before, double after) {
  return track.at(before).has_value() || track.at(after).has_value();
}
bool acts(const Track<bool>& track, double before, double after) {
  return track.at(before).value_or(false) || track.at(after).value_or(false);
}

/// Collects the steps in which a quantity is disturbed; the longest gap is the span.
class SpanFinder {
 public:
  void disturbed(int step, const char* cause) {
    last_ = std::max(last_, step);
    cause_ = cause;
  }
  /// Call for every step in order, after its disturbances.
  void finish_step(int step) {
    if (last_ == step) start_ = step;
    if (step - start_ > best_.to - best_.from) best_ = {start_, step, ""};
  }
  Span span() const { return best_.empty() ? Span{0, 0, cause_} : best_; }

 private:
  int start_ = 0, last_ = 0;
  std::string cause_ = "no frames";  // holds until there is a step
  Span best_;
};

struct Finders {
  SpanFinder energy, momentum, spin;
  void all(int step, const char* cause) {
    energy.disturbed(step, cause), momentum.disturbed(step, cause), spin.disturbed(step, cause);
  }
};

void disturb_by_bodies(const Scene& scene, int step, double before, double after, Finders& find) {
  for (const BodySpec& body : scene.bodies) {
    for (const PotentialSpec& potential : body.potentials)
      for (const auto& [name, track] : potential.parameters)
        if (changes(track, before, after)) find.energy.disturbed(step, "changed with the material");
    const Dials& dials = body.dials;
    if (acts(dials.energy, before, after) || acts(dials.half_life, before, after) || acts(dials.damping, before, after))
      find.energy.disturbed(step, "set by a dial");
    // a dial of momentum or spin brings the energy of the change with it
    if (acts(dials.momentum, before, after))
      find.momentum.disturbed(step, "set by a dial"), find.energy.disturbed(step, "set by a dial");
    if (acts(dials.spin, before, after))
      find.spin.disturbed(step, "set by a dial"), find.energy.disturbed(step, "set by a dial");
  }
}

void disturb_by_anchors(const Scene& scene, int step, double before, double after, Finders& find) {
  for (const AnchorSpec& anchor : scene.anchors) {
    if (!acts(anchor.active, before, after)) continue;
    const bool world = anchor.to_body.empty();
    if (world)
      find.momentum.disturbed(step, "exchanged with an anchor"), find.spin.disturbed(step, "exchanged with an anchor");
    // an anchor that is activated where the vertices are stores no energy yet; releasing it drops what it stores
    const bool takes_hold = !anchor.active.at(before).value_or(false);
    const bool switches = changes(anchor.active, before, after);
    const bool works = changes(anchor.path, before, after) || changes(anchor.stiffness, before, after);
    if (works || (switches && !(takes_hold && world && !anchor.to_point)))
      find.energy.disturbed(step, "changed by a moving anchor");
  }
}

/// Shares below this are what rounding leaves over many frames.
constexpr double rounding = 1e-9;

std::string percent(double fraction) {
  char buffer[32];
  const double size = std::abs(fraction);
  if (size < rounding) return "0 %";
  std::snprintf(buffer, sizeof buffer, size < 0.0995 || size >= 1000 ? "%.2g %%" : "%.1f %%", 100 * fraction);
  return buffer;
}

Kept arrow(double from, double to, const char* unit, double fraction) {
  return {format_value(from) + " → " + format_value(to) + " " + unit + " (" + percent(fraction) + ")", "", fraction};
}

/// "" unless one of the values has left the numbers.
std::string not_finite(double from, double to) {
  if (!std::isfinite(from)) return "not finite";
  return std::isfinite(to) ? "" : format_value(from) + " → not finite";
}

/// `scale` is what the energy of the run could carry: measured against it, rounding is nothing to keep.
Kept kept_vector(const History& history, const Span& span, Vec3 Measures::*what, const char* unit, double scale) {
  const Vec3 from = history.frames[span.from].*what, to = history.frames[span.to].*what;
  Kept out;
  const bool something = norm(from) > rounding * scale;
  if (const std::string lost = not_finite(norm(from), norm(to)); !lost.empty())
    out.text = lost;
  else if (something)
    out = arrow(norm(from), norm(to), unit, dot(to, from) / dot(from, from));
  else
    out.text = norm(to) > rounding * scale ? "0 → " + format_value(norm(to)) + " " + unit : "none to keep";
  double largest = 0;
  for (int i = span.from; i <= span.to; ++i) largest = std::max(largest, norm(history.frames[i].*what - from));
  out.departure = largest > 0 ? largest / (something ? norm(from) : scale) : largest;
  return out;
}

}  // namespace

Spans undisturbed_spans(const Scene& scene, int frames, double start, const std::vector<int>& torn) {
  Finders find;
  for (int step = 1; step <= frames; ++step) {
    const double before = start + (step - 1) * scene.step, after = start + step * scene.step;
    const double slack = 1e-6 * scene.step;  // a push at the turn of two steps disturbs both
    for (const PushSpec& push : scene.pushes)
      if (push.time >= before - slack && push.time <= after + slack) find.all(step, "changed by pushes");
    for (const ForceSpec& force : scene.forces) {
      if (acts(force.active, before, after))
        find.momentum.disturbed(step, "changed by forces"), find.spin.disturbed(step, "changed by forces");
      if (changes(force.active, before, after)) find.energy.disturbed(step, "changed by forces");
    }
    for (const WindSpec& wind : scene.winds)
      if (acts(wind.active, before, after)) find.all(step, "changed by wind");
    if (!(scene.gravity == Vec3{})) find.momentum.disturbed(step, "changed by gravity");
    if (std::find(torn.begin(), torn.end(), step) != torn.end()) find.energy.disturbed(step, "lost by tearing");
    disturb_by_bodies(scene, step, before, after, find);
    disturb_by_anchors(scene, step, before, after, find);
    find.energy.finish_step(step), find.momentum.finish_step(step), find.spin.finish_step(step);
  }
  return {find.energy.span(), find.momentum.span(), find.spin.span()};
}

double root_mean_square_radius(const std::vector<Vec3>& positions) {
  Vec3 center;
  for (const Vec3& p : positions) center += p / double(positions.size());
  double sum = 0;
  for (const Vec3& p : positions) sum += dot(p - center, p - center) / double(positions.size());
  return std::sqrt(sum);
}

double energy_scale(const History& history, const Span& span) {
  double scale = 0;
  for (int i = span.from; i <= span.to; ++i)
    if (const double energy = history.frames[i].kinetic + history.frames[i].elastic; std::isfinite(energy))
      scale = std::max(scale, energy);
  return scale;
}

Kept kept_energy(const History& history, const Span& span, double unit) {
  if (span.empty()) return {span.why_not};
  const double first = history.frames[span.from].total, last = history.frames[span.to].total;
  if (const std::string lost = not_finite(first, last); !lost.empty()) return {lost};
  const double scale = energy_scale(history, span);
  const double noise = rounding * std::max(unit, scale);
  const auto cleared = [&](double energy) { return std::abs(energy) > noise ? energy : 0.0; };
  const double from = cleared(first), to = cleared(last);
  const bool something = unit > rounding * scale;
  Kept out;
  if (something)
    out = arrow(from, to, "J", 1 - (from - to) / unit);
  else  // a share of nothing
    out.text = to == from ? "none to keep" : format_value(from) + " → " + format_value(to) + " J";
  double largest = 0;
  for (int i = span.from; i <= span.to; ++i) largest = std::max(largest, std::abs(history.frames[i].total - first));
  out.departure = largest > 0 ? largest / (something ? unit : scale) : largest;
  return out;
}

Kept kept_momentum(const History& history, const Span& span) {
  if (span.empty()) return {span.why_not};
  const double scale = std::sqrt(2 * history.frames[span.from].mass * energy_scale(history, span));
  return kept_vector(history, span, &Measures::momentum, "kg m/s", scale);
}

Kept kept_spin(const History& history, const Span& span) {
  if (span.empty()) return {span.why_not};
  const double scale = history.radius * std::sqrt(2 * history.frames[span.from].mass * energy_scale(history, span));
  return kept_vector(history, span, &Measures::spin, "kg m²/s", scale);
}

double elastic_oscillation(const History& history) {
  const int n = int(history.frames.size()), first = int(last_third(size_t(n)));
  double mean = 0, squares = 0;
  for (int i = first; i < n; ++i) mean += history.frames[i].elastic / (n - first);
  for (int i = first; i < n; ++i) squares += std::pow(history.frames[i].elastic - mean, 2) / (n - first);
  return std::sqrt(squares);
}

}  // namespace verve
