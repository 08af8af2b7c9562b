#include "integrators/contact_constraints.h"

#include <algorithm>
#include <cmath>

#include "integrators/island.h"

namespace verve {

namespace {

/// Of |g| h: what approaches more slowly rests, and nothing bounces (Mueller et al. 2020, Sec. 3.6).
constexpr double resting = 2;
/// Sweeps in a row, of steps that do not sweep by themselves: vertices on colliders need one, those between bodies,
/// which share vertices, some more.
constexpr int most_sweeps = 30;
/// Of the longest way of a vertex in the step: what is left of a contact then.
constexpr double of_the_way = 1e-3;

}  // namespace

void ContactConstraints::begin(Island& island, const std::vector<double>& inverse_mass) {
  contacts_ = &island.contacts, inverse_mass_ = &inverse_mass;
  gravity_ = norm(island.forcing.common);
  constraints_.clear();
  contacts_->each([&](Contacts::Candidate& c) {
    if (!std::isfinite(c.offset)) return;
    Constraint on{&c, 0, 0, c.row.scale * c.row.scale};
    for (int i = 0; i < c.row.count; ++i) {
      const double w = inverse_mass[c.row.rows[i]];
      const Vec3 slope = c.row.slope(i);
      on.weight += w * dot(slope, slope), on.tangential += w * c.row.share[i] * c.row.share[i];
    }
    if (on.weight > 0) constraints_.push_back(on);
  });
}

/// By a multiplier, at the place of contact: what the row says is each vertex's share of it.
void ContactConstraints::push(const Constraint& c, const Vec3& by, std::vector<Vec4>& x) const {
  const ContactRow& row = c.candidate->row;
  for (int i = 0; i < row.count; ++i) x[row.rows[i]] += Vec4(by * ((*inverse_mass_)[row.rows[i]] * row.share[i]));
}

double ContactConstraints::project(std::vector<Vec4>& x) {
  double deepest = 0;
  for (Constraint& c : constraints_) {
    const ContactRow& row = c.candidate->row;
    // Mueller et al. 2007, Eq. 8-9 for C = j.x - offset >= 0; lambda >= 0 over the whole step, so that what was pushed
    // too far comes back and nothing is held that others have pulled away
    const double depth = c.candidate->offset - row.along(x.data());
    const double change = std::max(-c.lambda, c.part * depth / c.weight);
    if (change == 0) continue;
    deepest = std::max(deepest, std::abs(depth));
    c.lambda += change;
    push(c, row.direction * (row.scale * change), x);
    const double bound = c.candidate->friction * row.scale * c.lambda;
    if (!(c.candidate->friction > 0)) continue;
    // Mueller et al. 2020, Sec. 3.5: the way along the surface since the step began is taken back, as far as Coulomb's
    // cone allows. (There all of it or nothing, and Eq. 30 for what slides; the same bound serves for both here.)
    const Vec3 n = direction(row.direction, {0, 1, 0});
    Vec3 slide = contacts_->slide(*c.candidate, x.data());
    slide = slide - n * dot(n, slide);
    Vec3 wanted = c.friction - slide / c.tangential;
    wanted = wanted - n * dot(n, wanted);
    const double length = norm(wanted);
    if (length > bound) wanted = wanted * (bound / length);
    push(c, wanted - c.friction, x);
    c.friction = wanted;
  }
  return deepest;
}

double ContactConstraints::project_all(double enough, std::vector<Vec4>& x) {
  const double first = project(x);
  double last = first;
  for (int k = 1; k < most_sweeps && last > enough; ++k) last = project(x);
  return first;
}

double ContactConstraints::least_way(const std::vector<Vec4>& start, const std::vector<Vec4>& x) {
  double longest = 0;
  for (size_t i = 0; i < x.size(); ++i) longest = std::max(longest, norm((x[i] - start[i]).xyz()));
  return of_the_way * longest;
}

void ContactConstraints::correct(double h, std::vector<Vec4>& x, std::vector<Vec4>& v) {
  if (empty()) return;
  free_ = x;
  project_all(least_way(contacts_->start, x), x);
  for (size_t i = 0; i < x.size(); ++i) v[i] += (x[i] - free_[i]) * (1 / h);
}

/// Of the two sides against each other.
Vec3 ContactConstraints::velocity(const Constraint& c, const std::vector<Vec4>& v, double h) const {
  const ContactRow& row = c.candidate->row;
  Vec3 out = contacts_->way(*c.candidate) * (-1 / h);
  for (int i = 0; i < row.count; ++i) out += v[row.rows[i]].xyz() * row.share[i];
  return out;
}

/// Mueller et al. 2020, Eq. 34: the normal velocity becomes -e times that before the step. What resting contacts and
/// the way out of a penetration have made of it goes; what was on its way out already stays. (The bound on what bounces
/// is on the velocity before the step: that after it is the gap over h, and says nothing of the impact.)
void ContactConstraints::restore(const std::vector<Vec4>& before, double h, std::vector<Vec4>& v) const {
  for (const Constraint& c : constraints_) {
    if (!(c.lambda > 0) || c.part < 1) continue;
    const ContactRow& row = c.candidate->row;
    const double size = norm(row.direction);
    const Vec3 n = row.direction / size;
    const double came = dot(n, velocity(c, before, h)), is = dot(n, velocity(c, v, h));
    const double e = came < -resting * gravity_ * h ? c.candidate->restitution : 0;
    const double wanted = came > 0 ? std::min(came, is) : -e * came;
    push(c, n * ((wanted - is) / c.tangential), v);
    // what this has pushed, friction holds: half of the weight, of steps that end with half a kick
    const double bound = c.candidate->friction * (wanted - is);
    if (!(bound > 0)) continue;
    Vec3 slip = velocity(c, v, h);
    slip = slip - n * dot(n, slip);
    const double speed = norm(slip);
    if (speed > 0) push(c, slip * (-std::min(1.0, bound / speed) / c.tangential), v);
  }
}

void ContactConstraints::finish(const std::vector<Vec4>& x, double h) const {
  contacts_->slip_losses.assign(contacts_->friction_anchors.size(), 0.0);
  for (const Constraint& c : constraints_) {
    Contacts::Candidate& candidate = *c.candidate;
    candidate.force = c.lambda / (h * h);
    if (candidate.anchor < 0) continue;
    const double work = -dot(c.friction, contacts_->slide(candidate, x.data())) / (h * h);
    contacts_->slip_losses[candidate.anchor] = std::max(0.0, work);
  }
}

}  // namespace verve
