// Beside colliders that move: what they have done in a step, and the frame in which it is a step like any other.
//   Seen from a collider that moves evenly, it rests, and a step beside it is one beside a wall: what it has gained or lost
// by itself is the same there, and is given to or taken from the motion relative to the collider. The momentum that this
// takes from the collider, times its velocity, is work as well.
#include <algorithm>
#include <cmath>

#include "integrators/island.h"
#include "integrators/turn.h"

namespace verve {

/// The work of colliders in a step of length h that ends at the last evaluation. An integrator that goes on with the
/// forces of the last step (BDF2: a third of the impulse) does so at the speed that colliders have now. A step that ended
/// before its minimum, or went back from it, has other momenta than its forces say, by hh times the slope of g that is
/// left; in the frame of the colliders these are at rest, and that is no work there. (All impulses at the velocity that
/// colliders have half way: what turns along with one at a constant speed has its momentum turned, for no work.)
double Island::find_work(double h) {
  const double share = base_.hh / h;
  works_.assign(bodies_.size(), 0.0);
  contacts.add_work(works_);
  for (double& work : works_) work *= share;
  for (const ColliderLoad& load : memory.loads) {
    if (share == 1 || !contacts.shape_moves[load.collider]) continue;
    const Pose &from = contacts.shape_starts[load.collider], &to = contacts.shapes[load.collider].pose;
    const Vec3 at = load.at(), way = to.to_world(from.to_local(at)) - at;
    const Vec3 torque = load.torque - cross(at - from.position, load.force);
    works_[load.body] +=
        (1 - share) * (dot(load.force, way) + dot(torque, turn_between(from.rotation, to.rotation)));
  }
  double sum = 0;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    for (int i = offsets_[k]; frame_moves() && i < offsets_[k] + model_.bodies[bodies_[k]].count; ++i)
      works_[k] += base_.hh * dot(frame_.at((contacts.start[i] + x_[i]) * 0.5), gg_[i]);
    sum += works_[k];
  }
  return sum;
}

/// After it, at x_.
void Island::keep_loads(double h) {
  const double share = base_.hh / h;
  last_loads_ = memory.loads;
  memory.loads.clear();
  contacts.add_loads(x_.data(), share, memory.loads);
  for (const ColliderLoad& last : last_loads_) {
    if (share == 1) break;
    auto load = std::find_if(memory.loads.begin(), memory.loads.end(), [&](const ColliderLoad& l) {
      return l.body == last.body && l.collider == last.collider;
    });
    if (load == memory.loads.end())
      load = memory.loads.insert(load, ColliderLoad{.body = last.body, .collider = last.collider});
    const Pose &from = contacts.shape_starts[last.collider], &to = contacts.shapes[last.collider].pose;
    load->force += last.force * (1 - share);
    load->torque += (last.torque + cross(from.position - to.position, last.force)) * (1 - share);
    load->moment += to.to_world(from.to_local(last.at())) * (last.size * (1 - share));
    load->size += last.size * (1 - share);
  }
  // what is left of the slope of g is in the rates as well: as if the strongest did it
  for (size_t k = 0; k < bodies_.size() && frame_moves(); ++k) {
    ColliderLoad* most = nullptr;
    for (ColliderLoad& l : memory.loads)
      if (l.body == int(k) && (!most || norm(l.force) > norm(most->force))) most = &l;
    if (!most) continue;
    const Vec3 origin = contacts.shapes[most->collider].pose.position;
    for (int i = offsets_[k]; i < offsets_[k] + model_.bodies[bodies_[k]].count; ++i) {
      const Vec3 force = gg_[i].xyz() * share;
      most->force += force, most->torque += cross(x_[i].xyz() - origin, force);
    }
  }
}

/// The rigid motion that goes along with the colliders that resist at the last evaluation: that of the one, or of
/// several their mean by force. None where none of them moves.
void Island::find_frame(double h) {
  frame_ = {};
  if (!contacts.any_shape_moves()) return;
  contacts.find_resistances(resistances_);
  const Vec3 center = start_.center_n;
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
    weight += resistances_[s], frame_.velocity += own.velocity * resistances_[s], frame_.turn += own.turn * resistances_[s];
  }
  if (!(weight > 0)) return;
  frame_.center = center, frame_.velocity = frame_.velocity / weight, frame_.turn = frame_.turn / weight;
}

/// Where the step begins.
double Island::kinetic_in_frame() {
  if (!frame_moves()) return start_.kinetic;
  frame_v_.resize(rows_);
  return relative_motion(masses(), frame_, motion.x.data(), motion.v.data(), frame_v_.data());
}

void Island::enter_frame() {
  if (!frame_moves()) return;
  for (int i = 0; i < rows_; ++i) motion.v[i] -= frame_.at(motion.x[i]);
  frame_v_ = motion.v;
}

/// Returns the work of the impulses that were given in it.
double Island::leave_frame() {
  if (!frame_moves()) return 0;
  double sum = 0;
  for (int i = 0; i < rows_; ++i) frame_v_[i] = motion.v[i] - frame_v_[i];
  for (size_t k = 0; k < bodies_.size(); ++k)
    for (int i = offsets_[k]; i < offsets_[k] + model_.bodies[bodies_[k]].count; ++i) {
      Vec4 impulse = frame_v_[i] * forcing.mass[i];
      if (consistent()) impulse += consistent_.coupling.row(frame_v_.data(), i);
      const double work = dot(frame_.at((contacts.start[i] + motion.x[i]) * 0.5), impulse);
      works_[k] += work, sum += work;
    }
  for (int i = 0; i < rows_; ++i) motion.v[i] += frame_.at(motion.x[i]);
  return sum;
}

}  // namespace verve
