#include "integrators/body_turns.h"

#include "linear/small.h"

namespace verve {

void BodyTurns::add(int first, const std::vector<Vec4>& rest_arm, const Mat3& second, const Mat3& shape) {
  const int last = first + int(rest_arm.size());
  arms_.resize(last);
  for (int i = first; i < last; ++i) arms_[i] = Vec4(shape * rest_arm[i - first].xyz());
  const Mat3 t = shape * second * transpose(shape);
  const Mat3 turns = Mat3::identity() * (t(0, 0) + t(1, 1) + t(2, 2)) - (t + transpose(t)) * 0.5;
  turns_.push_back({first, last, pseudo_inverse(turns, 1e-10)});
}

void BodyTurns::add_to(const std::vector<Vec4>& b, std::vector<Vec4>& x) const {
  for (const Turn& turn : turns_) {
    Vec3 sum{};
    for (int i = turn.first; i < turn.last; ++i) sum += cross(arms_[i].xyz(), b[i].xyz());
    const Vec3 by = turn.inverse * sum;
    for (int i = turn.first; i < turn.last; ++i) x[i] += Vec4(cross(by, arms_[i].xyz()));
  }
}

}  // namespace verve
