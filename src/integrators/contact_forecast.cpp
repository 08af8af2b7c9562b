#include "integrators/contact_forecast.h"

#include <algorithm>
#include <cmath>

#include "integrators/row_products.h"

namespace verve {

namespace {

/// In which what will push is looked for anew.
constexpr int most_turns = 8;
/// Of the slope at the beginning of a way: what Q' may be at its end for all of it to be taken.
constexpr double level = 1e-3;
/// Halvings of a way on which Q does not fall to the end, and the share of what is known to fall that is enough.
constexpr int most_halvings = 24;
constexpr double well_known = 0.9;
/// Lengths of a way: one so short is blocked at once; one so long, in the same piece or with hardly a fall, is the last.
constexpr double blocked = 0.1, long_way = 0.5;
constexpr double little = 0.01;
/// Of what Q has fallen: a slope below this is round-off.
constexpr double round_off = 1e-3;

}  // namespace

double ContactForecast::force_at(size_t r, double along) const {
  const ContactRow& row = metric_->row(r);
  return std::clamp(row.force + row.stiffness * along, row.low, row.high);
}

void ContactForecast::begin(const std::vector<Vec4>& g, const std::vector<Vec4>& Ag) {
  rows_ = size_t(metric_->size());
  pushes_.assign(rows_, 0);
  for (std::vector<double>* zero : {&m_, &along_, &target_, &more_along_}) zero->assign(rows_, 0.0);
  for (std::vector<double>* any : {&force_, &change_, &dropped_, &more_, &bound_}) any->resize(rows_);
  for (size_t r = 0; r < rows_; ++r) {
    const ContactRow& row = metric_->row(r);
    force_[r] = std::clamp(row.force, row.low, row.high);
  }
  metric_->gather(Ag, y_);
  g_Ag_ = 0;
  for (size_t i = 0; i < g.size(); ++i) g_Ag_ += dot(g[i], Ag[i]);
  a_ = 0, more_a_ = 1, slope_ = curvature_ = 0;
  stalled_ = false;
}

/// Those within their bounds where d is, or `look` of the way ahead; the others have the force of a bound. True: the
/// same as before.
bool ContactForecast::choose_pushes(double look) {
  bool same = true;
  for (size_t r = 0; r < rows_; ++r) {
    const ContactRow& row = metric_->row(r);
    const double linear = row.force + row.stiffness * (along_[r] + look * more_along_[r]);
    const char pushes = linear > row.low && linear < row.high;
    bound_[r] = std::clamp(linear, row.low, row.high);
    same = same && pushes == pushes_[r];
    pushes_[r] = pushes;
  }
  return same;
}

/// The minimum of the piece in which those push that do now; what no longer does loses its force.
void ContactForecast::find_target() {
  metric_->choose(pushes_);
  bool drops = false;
  for (size_t r = 0; r < rows_; ++r) {
    dropped_[r] = pushes_[r] ? 0 : bound_[r] - force_[r];
    drops |= dropped_[r] != 0;
  }
  if (drops) metric_->respond(dropped_, response_, *solve_);
  for (size_t r = 0; r < rows_; ++r) {
    const ContactRow& row = metric_->row(r);
    change_[r] = (row.force - force_[r]) / row.stiffness + y_[r] - (drops ? response_[r] : 0);
  }
  if (!metric_->empty()) metric_->multipliers(change_, target_, *solve_, enough);
  for (size_t r = 0; r < rows_; ++r)
    if (!pushes_[r]) target_[r] = dropped_[r];
}

/// The way to the target.
void ContactForecast::measure() {
  more_a_ = 1 - a_;
  for (size_t r = 0; r < rows_; ++r) more_[r] = target_[r] - m_[r];
  metric_->respond(more_, more_along_, *solve_);
  for (size_t r = 0; r < rows_; ++r) more_along_[r] = more_a_ * y_[r] - more_along_[r];
  const double g_more = more_a_ * g_Ag_ - row_product(y_, more_);
  slope_ = (a_ - 1) * g_more - row_product(m_, more_along_);
  curvature_ = more_a_ * g_more - row_product(more_, more_along_);
}

/// Q' at a share of the way, which grows along it.
double ContactForecast::rise(double t) const {
  double sum = slope_ + t * curvature_;
  for (size_t r = 0; r < rows_; ++r)
    sum += (force_at(r, along_[r] + t * more_along_[r]) - force_[r]) * more_along_[r];
  return sum;
}

/// Up to where Q' is 0: the share of the way on which Q falls, by `fall` at its beginning.
double ContactForecast::longest_fall(double fall) const {
  if (rise(1) <= level * fall) return 1;
  double low = 0, high = 1;
  for (int n = 0; n < most_halvings && low < well_known * high; ++n) {
    const double middle = 0.5 * (low + high);
    (rise(middle) > 0 ? high : low) = middle;
  }
  return low;
}

void ContactForecast::go(double length) {
  a_ += length * more_a_;
  for (size_t r = 0; r < rows_; ++r) m_[r] += length * more_[r], along_[r] += length * more_along_[r];
}

void ContactForecast::minimise(ContactMetric& metric, const std::vector<Vec4>& g, const std::vector<Vec4>& Ag,
                               bool looks_ahead, const Solve& solve) {
  metric_ = &metric, solve_ = &solve;
  begin(g, Ag);
  choose_pushes(0);
  double fallen = 0, look = 0;
  for (int turn = 0; turn < most_turns; ++turn) {
    find_target();
    measure();
    if (!looks_ahead) return go(1);
    double fall = -rise(0);
    if (turn == 0 && !(fall > 0)) {
      // digits do not suffice: downhill in the metric without contact
      std::fill(target_.begin(), target_.end(), 0.0);
      measure();
      fall = -rise(0);
      stalled_ = true;
    }
    if (turn > 0 && !(fall > 0) && look > 0) {  // looked too far
      look = 0;
      choose_pushes(0);
      continue;
    }
    const double length = longest_fall(fall);
    if (!(fall > 0) || length == 0) {
      stalled_ |= std::abs(fall) > round_off * fallen;
      return;
    }
    go(length);
    // the next piece is that of where this one leads; where the way there is blocked at once, all that blocks it counts
    look = length < blocked ? 1 - length : 0;
    const bool same = choose_pushes(look);
    const double gain = 0.5 * fall * length;
    fallen += gain;
    if (length > long_way && (same || gain < little * fallen)) return;
    if (metric.is_spent()) return;
  }
}

}  // namespace verve
