#include "integrators/collider_frame.h"

#include <algorithm>
#include <cmath>

#include "integrators/turn.h"

namespace verve {

namespace {

/// Calls visit(body, row) for all rows.
template <class Visit>
void each_row(std::span<const int> offsets, size_t rows, Visit&& visit) {
  for (size_t k = 0; k < offsets.size(); ++k)
    for (size_t i = offsets[k], end = k + 1 < offsets.size() ? offsets[k + 1] : rows; i < end; ++i) visit(k, i);
}

}  // namespace

/// An integrator that goes on with the forces of the last step (BDF2: a third of the impulse) does so at the speed that
/// colliders have now. A step that ended before its minimum, or went back from it, has other momenta than its forces
/// say, by hh times the slope of g that is left; in the frame of the colliders these are at rest, and that is no work
/// there. (All impulses at the velocity that colliders have half way: what turns along with one at a constant speed has
/// its momentum turned, for no work.)
///   As far as a step went back, it is no step of BDF2 in that frame either: there the forces of now have done the work of
/// the whole way, and those of the last step none. (At the carried x_n W has grown by less, since it is convex.)
double ColliderFrame::find_work(const StepEnd& end, const std::vector<ColliderLoad>& loads) {
  const double share = end.share(), now = end.kept * share + 1 - end.kept;
  const Contacts& contacts = end.contacts;
  works_.assign(end.offsets.size(), 0.0);
  contacts.add_work(works_);
  for (double& work : works_) work *= now;
  if (now != share && moves())  // what is more counts in the frame alone
    for (const ContactRow& row : contacts.rows())
      for (int i = 0; i < row.count; ++i) {
        const int at = row.rows[i];
        const auto body = std::upper_bound(end.offsets.begin(), end.offsets.end(), at) - end.offsets.begin() - 1;
        const Vec4 force(row.slope(i) * std::clamp(row.force, row.low, row.high));
        works_[body] += (share - now) * end.h * dot(frame_.at((contacts.start[at] + end.x[at]) * 0.5), force);
      }
  for (const ColliderLoad& load : loads) {
    if (share == 1 || !contacts.shape_moves[load.collider]) continue;
    const Pose &from = contacts.shape_starts[load.collider], &to = contacts.shapes[load.collider].pose;
    const Vec3 at = load.at(), way = to.to_world(from.to_local(at)) - at;
    const Vec3 torque = load.torque - cross(at - from.position, load.force);
    const double done = dot(load.force, way) + dot(torque, turn_between(from.rotation, to.rotation));
    const double along = end.h * (dot(load.force, frame_.at(Vec4(at)).xyz()) + dot(torque, frame_.turn));
    works_[load.body] += (1 - now) * done + (now - share) * along;
  }
  if (moves())
    each_row(end.offsets, end.x.size(), [&](size_t k, size_t i) {
      works_[k] += end.hh * dot(frame_.at((contacts.start[i] + end.x[i]) * 0.5), end.gg[i]);
    });
  double sum = 0;
  for (const double work : works_) sum += work;
  return sum;
}

void ColliderFrame::keep_loads(const StepEnd& end, std::vector<ColliderLoad>& loads) {
  const double share = end.share();
  const Contacts& contacts = end.contacts;
  last_loads_ = loads;
  loads.clear();
  contacts.add_loads(end.x.data(), share, loads);
  for (const ColliderLoad& last : last_loads_) {
    if (share == 1) break;
    auto load = std::find_if(loads.begin(), loads.end(), [&](const ColliderLoad& l) {
      return l.body == last.body && l.collider == last.collider;
    });
    if (load == loads.end())
      load = loads.insert(load, ColliderLoad{.body = last.body, .collider = last.collider});
    const Pose &from = contacts.shape_starts[last.collider], &to = contacts.shapes[last.collider].pose;
    load->force += last.force * (1 - share);
    load->torque += (last.torque + cross(from.position - to.position, last.force)) * (1 - share);
    load->moment += to.to_world(from.to_local(last.at())) * (last.size * (1 - share));
    load->size += last.size * (1 - share);
  }
  if (!moves()) return;
  // what is left of the slope of g is in the rates as well: as if the strongest did it
  for (size_t k = 0; k < end.offsets.size(); ++k) {
    ColliderLoad* most = nullptr;
    for (ColliderLoad& l : loads)
      if (l.body == int(k) && (!most || norm(l.force) > norm(most->force))) most = &l;
    if (!most) continue;
    const Vec3 origin = contacts.shapes[most->collider].pose.position;
    const size_t last = k + 1 < end.offsets.size() ? end.offsets[k + 1] : end.x.size();
    for (size_t i = end.offsets[k]; i < last; ++i) {
      const Vec3 force = end.gg[i].xyz() * share;
      most->force += force, most->torque += cross(end.x[i].xyz() - origin, force);
    }
  }
}

void ColliderFrame::find(const Contacts& contacts, const Vec3& center, double h) {
  frame_ = {};
  if (!contacts.any_shape_moves()) return;
  contacts.find_resistances(resistances_);
  const auto motion_of = [&](int collider) {
    RigidMotion out;
    if (!contacts.shape_moves[collider]) return out;
    const Pose &from = contacts.shape_starts[collider], &to = contacts.shapes[collider].pose;
    out.center = center, out.turn = turn_between(from.rotation, to.rotation) / h;
    out.velocity = (to.position - from.position) / h + cross(out.turn, center - to.position);
    return out;
  };
  double weight = 0;
  for (size_t s = 0; s < resistances_.size(); ++s) {
    const RigidMotion own = motion_of(int(s));
    weight += resistances_[s];
    frame_.velocity += own.velocity * resistances_[s], frame_.turn += own.turn * resistances_[s];
  }
  if (!(weight > 0)) return;
  frame_.center = center, frame_.velocity = frame_.velocity / weight, frame_.turn = frame_.turn / weight;
}

double ColliderFrame::kinetic(const Masses& masses, const std::vector<Vec4>& x, const std::vector<Vec4>& v,
                              double own) {
  if (!moves()) return own;
  v_.resize(v.size());
  return relative_motion(masses, frame_, x.data(), v.data(), v_.data());
}

void ColliderFrame::enter(const std::vector<Vec4>& x, std::vector<Vec4>& v) {
  if (!moves()) return;
  for (size_t i = 0; i < v.size(); ++i) v[i] -= frame_.at(x[i]);
  v_ = v;
}

double ColliderFrame::leave(const Masses& masses, const Contacts& contacts, std::span<const int> offsets,
                            const std::vector<Vec4>& x, std::vector<Vec4>& v) {
  if (!moves()) return 0;
  for (size_t i = 0; i < v.size(); ++i) v_[i] = v[i] - v_[i];
  double sum = 0;
  each_row(offsets, v.size(), [&](size_t k, size_t i) {
    Vec4 impulse = v_[i] * masses.mass[i];
    if (masses.coupling) impulse += masses.coupling->row(v_.data(), int(i));
    const double work = dot(frame_.at((contacts.start[i] + x[i]) * 0.5), impulse);
    works_[k] += work, sum += work;
  });
  for (size_t i = 0; i < v.size(); ++i) v[i] += frame_.at(x[i]);
  return sum;
}

}  // namespace verve
