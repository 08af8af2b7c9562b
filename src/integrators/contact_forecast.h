// What touches at x is not what touches where a step leads: a full step into what is near, or held back by what it
// leaves, would be cut to a fraction by the search that follows. So a plain step is one of a model that knows all rows.
#pragma once

#include <vector>

#include "integrators/contact_metric.h"

namespace verve {

/// The minimum, over all rows j of a ContactMetric, those that push and those that might, of
///   Q(d) = -g.d + 1/2 d^T A d + sum (V(p + j.d) - V'(p) j.d),   x -= d
/// (p < 0: apart; g has the slope of the active contacts in it), with V' the force k p between its bounds: at least 0
/// of what pushes, within the Coulomb force of friction, which slides beyond. Found by Newton's method: each turn
/// minimises the piece of Q that d lies in and goes as far there as Q falls. Q is convex and its slope at 0 is the true
/// one, so that any number of turns leads downhill.
///   The minimum of a piece is d = A^-1 (g - J^T m), where the forces of its rows are m more than at x, and all that
/// comes between two of them is a A^-1 g - A^-1 J^T m as well. So d is known by (a, m), and Q on it by products of rows
/// alone, y = J A^-1 g and S = J A^-1 J^T, with g.A^-1 g.
class ContactForecast {
 public:
  using Solve = ContactMetric::Solve;
  /// Of forces, relative. Less would do to steer an iteration that looks at the true forces, but not to tell whether Q,
  /// which is as stiff as what touches, falls: 1e-3 takes more turns, and longer.
  static constexpr double enough = 1e-5;

  /// Of the rows that `metric` was set to. Not `looks_ahead`: to the minimum of the piece that d = 0 lies in.
  void minimise(ContactMetric& metric, const std::vector<Vec4>& g, const std::vector<Vec4>& Ag, bool looks_ahead,
                const Solve& solve);

  // Where that is: d = a A^-1 g - A^-1 J^T m.

  double a() const { return a_; }
  const std::vector<double>& m() const { return m_; }
  /// The rows that push there: within their bounds.
  const std::vector<char>& pushes() const { return pushes_; }
  /// The digits did not suffice for Newton's method: the step says nothing of how far away the minimum of g is.
  bool stalled() const { return stalled_; }

 private:
  void begin(const std::vector<Vec4>& g, const std::vector<Vec4>& Ag);
  bool choose_pushes(double look);
  void find_target();
  void measure();
  double rise(double t) const;
  double longest_fall(double fall) const;
  void go(double length);
  double force_at(size_t row, double along) const;

  ContactMetric* metric_ = nullptr;  // of the last call, as what follows
  const Solve* solve_ = nullptr;
  size_t rows_ = 0;
  double g_Ag_ = 0;
  std::vector<double> y_;                     // J A^-1 g
  std::vector<double> force_;                 // at x
  double a_ = 0;                              // d,
  std::vector<double> m_, along_;             // and J d
  std::vector<char> pushes_;                  // the piece
  std::vector<double> bound_;                 // the force of rows that do not push
  std::vector<double> target_;                // m at its minimum
  double more_a_ = 1;                         // the way there,
  std::vector<double> more_, more_along_;     // likewise,
  double slope_ = 0, curvature_ = 0;          // of Q without its rows on it
  std::vector<double> dropped_, response_, change_;
  bool stalled_ = false;
};

}  // namespace verve
