// Contacts as constraints on positions, C(x) >= 0, as position-based methods solve them: from the same candidates and
// stencils as the potential of contact (contact/contacts.h), which then has no energy.
#pragma once

#include <vector>

#include "contact/contacts.h"

namespace verve {

class Island;

/// Of one step, which begins at Contacts::start. Multipliers lambda count from zero there, as in XPBD; lambda / h^2 is
/// a force.
class ContactConstraints {
 public:
  /// The candidates of the island as they were looked up; `inverse_mass` by row, 0 of what is held.
  void begin(Island& island, const std::vector<double>& inverse_mass);
  bool empty() const { return constraints_.empty(); }
  /// Moves x by one sweep, contact after contact: out along the normal, then back along the surface as far as friction
  /// holds. Returns the longest way out [m].
  double project(std::vector<Vec4>& x);
  /// For steps that do not sweep: of where one has led, out of all contacts in as many sweeps as that takes, and v with
  /// it.
  void correct(double h, std::vector<Vec4>& x, std::vector<Vec4>& v);
  /// For steps that have constraints of their own, met at x: out of all contacts and onto them by turns, until the way
  /// out is a thousandth of that of the step. `project` returns whether it has met them, and has the last word.
  template <class Project>
  void take_turns(const std::vector<Vec4>& start, std::vector<Vec4>& x, Project&& project) {
    if (empty()) return;
    const double enough = least_way(start, x);
    for (int k = 0; k < most_turns; ++k) {
      const double out = project_all(enough, x);
      if (!(out > 0) || !project() || out <= enough) return;
    }
  }
  /// What impacts give back, after v has been made of x; `before` is v where the step began.
  void restore(const std::vector<Vec4>& before, double h, std::vector<Vec4>& v) const;
  /// Leaves forces and the work of friction to the contacts of the island.
  void finish(const std::vector<Vec4>& x, double h) const;

 private:
  struct Constraint {
    Contacts::Candidate* candidate;
    double weight;      // sum of w |grad C|^2 [1/kg]
    double tangential;  // sum of w share^2 [1/kg]
    double part;        // of a correction: less than 1 of edges that touch near their ends
    double lambda = 0;  // [kg m]
    Vec3 friction{};    // likewise, along the surface
  };
  static constexpr int most_turns = 100;
  static double least_way(const std::vector<Vec4>& start, const std::vector<Vec4>& x);
  /// Sweeps until none goes farther out than `enough`; how far the first one went.
  double project_all(double enough, std::vector<Vec4>& x);
  Vec3 velocity(const Constraint& c, const std::vector<Vec4>& v, double h) const;
  void push(const Constraint& c, const Vec3& by, std::vector<Vec4>& x) const;

  Contacts* contacts_ = nullptr;
  const std::vector<double>* inverse_mass_ = nullptr;
  std::vector<Constraint> constraints_;
  double gravity_ = 0;  // [m/s^2]
  std::vector<Vec4> free_;
};

}  // namespace verve
