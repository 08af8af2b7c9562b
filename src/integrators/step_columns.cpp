// What a step does once, before its first iteration: one pass over the state, the solve of the constraints' columns,
// and one pass that multiplies these and takes x to where the iteration begins.
#include <algorithm>
#include <cmath>

#include "integrators/rest_columns.h"
#include "integrators/step_solver.h"
#include "integrators/turn.h"

namespace verve {

namespace {

/// Of what an affine image of the rest shape leaves over of xb, in second moments: of the least moment of inertia.
constexpr double most_apart = 0.2;

/// Second moments and kinetic energy about means that lie at `a` and `v` from the origin of the sums.
Mat3 about_mean(const Mat3& second, double mass, const Vec3& a) { return second - outer(a, a * mass); }
double about_mean(double kinetic, double mass, const Vec3& v) {
  return std::max(0.0, kinetic - 0.5 * mass * dot(v, v));
}

}  // namespace

RowArrays StepSolver::arrays() {
  return {forcing.mass.data(),
          base_.xb.data(),
          base_.u.data(),
          forcing.uniform ? nullptr : forcing.force.data(),
          problem_.momenta,
          start_.about,
          x_.data(),
          gg_.data(),
          base_.hh};
}

bool StepSolver::find_factor(double hh, const Settings& settings) {
  factor_.clear(), entries_ = 0;
  if (island_.parts().empty()) {
    if (Factor* const factor = island_.matrix().factor_for(hh, settings.factor_kind())) factor_.add(*factor, 0, rows_);
  }
  int first = 0;
  for (Island* part : island_.parts()) {
    const Work before = part->matrix().work();
    Factor* const factor = part->matrix().factor_for(hh, settings.factor_kind());
    if (!factor) return factor_.clear(), false;
    work_.factors += part->matrix().work().factors - before.factors;
    work_.made += part->matrix().work().made - before.made;
    factor_.add(*factor, first, part->rows());
    first += part->rows();
  }
  entries_ = double(factor_.nonzeros());
  return bool(factor_);
}

/// Springs to one point exert no torque about it, springs to points on a line none about that line. Where no other
/// force acts, L about it is what it was, exactly: held, it keeps a swing from ending in vibration (docs/cpd.md). P
/// goes as the anchors make it.
void StepSolver::find_pivot() {
  Problem& p = problem_;
  if (!forcing.uniform || norm(forcing.common) != 0) return;
  struct Point {
    double there = 0;
    Vec3 at;
  };
  const auto first_of_ranks = [](const Point& own) {
    if (!ranks()) return own;
    for (const Point& p : gather_ranks(own))
      if (p.there > 0) return p;
    return Point{};
  };
  const auto each_point = [&](auto&& visit) {
    for (const AnchorTerm& term : island_.anchor_terms())
      for (size_t i = 0; term.to_world && i < term.world.points.size(); ++i)
        if (term.world.weight(i) > 0) visit(term.world.points[i]);
  };
  Point own;
  each_point([&](const Vec4& point) {
    if (!(own.there > 0)) own = {1, point.xyz()};
  });
  const Point first = first_of_ranks(own);
  if (!(first.there > 0)) return;
  Vec3 own_far{}, far{};
  each_point([&](const Vec4& point) {
    const Vec3 d = point.xyz() - first.at;
    if (dot(d, d) > dot(own_far, own_far)) own_far = d;
  });
  if (!ranks()) far = own_far;
  for (int r = 0; ranks() && r < ranks()->size(); ++r) {  // the same on all ranks, of equal ones the first
    const Vec3 d = of_rank(r == ranks()->rank(), own_far);
    if (dot(d, d) > dot(far, far)) far = d;
  }
  // one point but for the round-off of coordinates
  const double same = 1e-9 * (norm(first.at) + std::sqrt(2 * island_.rest().size / total_mass_));
  const bool axis = norm(far) > same;
  const Vec3 along = axis ? far / norm(far) : Vec3{};
  bool straight = true;
  if (axis)
    each_point([&](const Vec4& point) { straight = straight && norm(cross(along, point.xyz() - first.at)) <= same; });
  if (any_rank(!straight)) return;
  p.pivots = p.momenta = true;
  p.swings = p.of_rest = false;
  p.pivot = first.at;
  p.kept = {axis ? 1 : 3, {}};
  for (int k = 0; k < p.kept.count; ++k)
    for (int a = 0; a < 3; ++a) p.kept.basis[k][3 + a] = axis ? along[a] : double(a == k);
}

/// The base of the step, sums over it and the state at t_n, and the columns of the constraints: one pass. What is to be
/// about the centre of mass is summed about a row near it, and shifted.
void StepSolver::look_at_start(const Integrator& integrator, double h) {
  const auto [x, v, a] = island_.middle();
  // where xb and u of that row would be if it went on like this
  const RowOrigin o{problem_.pivots ? problem_.pivot : x + v * (h - base_.hh), x, v,
                    v + a * base_.hh};
  const RowArrays rows = arrays();
  relief_ = {};
  RowSides sides{};
  sides.origin = o.xb, sides.beta = problem_.beta, sides.common = forcing.common;
  if (narrow_) {
    sides.lin_narrow = lin_narrow_.data();
    if (has_levers()) sides.kr_narrow = kr_narrow_.data();
  } else {
    sides.lin = lin_.data();
    if (has_levers()) sides.kr = kr_.data();
  }
  if (consistent() && integrator.takes_elastic()) consistent_.divide_elastic(forcing, motion);
  const bool of_levers = problem_.of_rest && problem_.momenta;
  RowColumn rest;
  if (of_levers) {
    rest = column(factor_.own()->at_rest.lever, factor_.own()->at_rest.lever_narrow);
  } else if (problem_.of_rest) {
    rest.wide = island_.rest().rows.data();
  }
  RowState sum = sum_over_ranks(ordered_sum<RowState>(rows_, row_grain, state_parts_, [&](int begin, int end) {
    integrator.prepare(motion, forcing, h, base_, begin, end);
    if (problem_.held && !of_levers) column_rows(rows, sides, begin, end);
    return state_rows(rows, motion.x.data(), motion.v.data(), o, rest, begin, end);
  }));
  if (consistent())
    sum += consistent_.begin(rows, motion, has_levers() ? kr_.data() : nullptr, problem_.held ? lin_.data() : nullptr);
  const double m = total_mass_;
  const Vec3 db = sum.xb / m, dx = sum.x / m, dv = sum.v / m, du = sum.u / m;
  Start s;
  s.origin = o.xb;
  s.center = o.xb + db, s.center_n = o.x + dx;
  s.about = problem_.pivots ? problem_.pivot : s.center;
  s.momentum = (o.v + dv) * m, s.u = (o.u + du) * m;
  s.spin = sum.l - cross(dx, dv) * m;
  s.kinetic = about_mean(sum.kinetic, m, dv) + 0.5 * dot(s.momentum, s.momentum) / m;
  s.kinetic_u = about_mean(sum.kinetic_u, m, du) + 0.5 * dot(s.u, s.u) / m;
  const Mat3 second = about_mean(sum.second, m, db);
  const double trace = second(0, 0) + second(1, 1) + second(2, 2);
  s.radius = std::sqrt(std::max(0.0, trace) / m);
  s.inertia_inverse = pseudo_inverse(Mat3::identity() * trace - second, 1e-10);
  sum_forces(s);
  start_ = s;
  memory.radius = s.radius, memory.kinetic = s.kinetic;
  shape_moment_ = sum.moment;
  shape_ = sum.moment * (of_levers ? factor_.own()->at_rest.lever_second_inverse : island_.rest().inverse);
  if (!of_levers) return;
  if (fits_rest(second)) {
    sides.drift = relief_.p = (s.u - s.force * problem_.beta) / m;
    sides.turn = relief_.l = s.inertia_inverse * s.spin;
    sides.center = s.center, sides.relieved = true;
  } else {
    problem_.of_rest = false;
    if (narrow_) {
      sides.kr_narrow = kr_narrow_.data();
    } else {
      sides.kr = kr_.data();
    }
  }
  parallel_for(rows_, row_grain, [&](int begin, int end, int) { column_rows(rows, sides, begin, end); });
}

/// The affine image of the rest shape has the second moments of xb, `second`, to a share of the least moment of
/// inertia: what is left of xb is small, and turns about no axis are lost, as those of a chain that is straight at rest
/// would be.
bool StepSolver::fits_rest(const Mat3& second) const {
  const auto size = [](const Mat3& m) {
    double sum = 0;
    for (const Vec3& c : m.col) sum += dot(c, c);
    return std::sqrt(sum);
  };
  const double least_inertia = second(0, 0) + second(1, 1) + second(2, 2) - size(second);  // or less
  return size(second - shape_ * island_.rest().second * transpose(shape_)) <= most_apart * least_inertia;
}

void StepSolver::sum_forces(Start& s) const {
  if (forcing.uniform) {
    s.force = forcing.common * total_mass_;
    s.force_size = norm(s.force);
    s.force_drift = dot(s.force, s.center - s.center_n);
    s.force_x = dot(s.force, s.center_n);
    s.force_v = dot(forcing.common, s.momentum);
    s.force_a = dot(s.force, forcing.common);
    return;
  }
  struct {
    Vec3 force, torque, torque_b;
    double size = 0, drift = 0, x = 0, v = 0, a = 0;
  } sum;
  for (int i = 0; i < rows_; ++i) {
    const Vec3 f = forcing.force[i].xyz();
    sum.force += f;
    sum.size += norm(f);
    sum.torque += cross(motion.x[i].xyz() - s.center_n, f);
    sum.torque_b += cross(base_.xb[i].xyz() - s.center, f);
    sum.drift += dot(f, (base_.xb[i] - motion.x[i]).xyz());
    sum.x += dot(f, motion.x[i].xyz());
    sum.v += dot(f, motion.v[i].xyz());
    sum.a += dot(f, forcing.acceleration[i].xyz());
  }
  sum = sum_over_ranks(sum);
  s.force = sum.force, s.force_size = sum.size, s.torque = sum.torque, s.torque_b = sum.torque_b;
  s.force_drift = sum.drift, s.force_x = sum.x, s.force_v = sum.v, s.force_a = sum.a;
}

/// The right-hand sides of a step in one pass through the factor: A^-1 lin for H, and unless they are known from rest
/// A^-1(K r) with K = M/hh^2 + anchors for the three columns of L (permuted signs of one N x 3 solve) or the swing of
/// an anchored island. The columns of P are known in closed form, A^-1 grad c_P = hh e_a; so is what another origin of
/// r would change, since A e = K e.
void StepSolver::solve_columns() {
  if (loss_.on && !has_levers()) return;
  if (!has_levers()) {
    if (narrow_) {
      factor_.solve(lin_narrow_.data(), Alin_narrow_.data());
    } else {
      factor_.solve(lin_.data(), Alin_.data());
      if (!turns_.empty()) turns_.add_to(lin_, Alin_);
    }
    right_hand_sides_ += 3;
    return;
  }
  if (problem_.whole) {
    for (int i = 0; i < rows_; ++i) Akr_[i] = base_.xb[i] - Vec4(start_.origin);
    solve(lin_, Alin_);
    return;
  }
  for (const AnchorTerm& term : island_.anchor_terms()) {
    if (!term.to_world || problem_.pivots) continue;  // grad c_L has the masses alone
    for (size_t i = 0; i < term.world.vertices.size(); ++i) {
      const int v = term.world.vertices[i];
      const Vec4 more = (base_.xb[v] - Vec4(start_.origin)) * term.world.weight(i);
      if (narrow_) {
        Float4& kr = kr_narrow_[v];
        kr = {float(kr.x + more.x), float(kr.y + more.y), float(kr.z + more.z), 0};
      } else {
        kr_[v] += more;
      }
    }
  }
  if (loss_.on) {
    narrow_ ? factor_.solve(kr_narrow_.data(), lever_narrow_.data()) : factor_.solve(kr_.data(), Akr_.data());
    right_hand_sides_ += 3;
    return;
  }
  if (narrow_) {
    factor_.solve2(kr_narrow_.data(), lever_narrow_.data(), lin_narrow_.data(), Alin_narrow_.data());
  } else {
    factor_.solve2(kr_.data(), Akr_.data(), lin_.data(), Alin_.data());
  }
  right_hand_sides_ += 6;
}

/// Factor::at_rest of this island or a part of it.
void StepSolver::find_rest_columns(Factor& factor, const Island& of) {
  if (verve::find_rest_columns(factor, of.rest(), of.forcing.mass, of.anchor_terms())) right_hand_sides_ += 3;
}

/// Where the iteration begins: at the momentum estimate xb + hh u (PD Sec. 3.3), with the turn of the whole taken along
/// its arc. Straight on, a turn by theta stretches the body by theta^2/2, which for a stiff one is far from the
/// solution. The same pass multiplies the columns of the constraints.
void StepSolver::start_iterate(double h) {
  last_.counts = false;
  const RowArrays rows = arrays();
  RowColumn of_rest;
  if (problem_.of_rest) {
    const auto& known = factor_.own()->at_rest;
    of_rest = problem_.swings ? column(known.arm, known.arm_narrow) : column(known.lever, known.lever_narrow);
  }
  const RowColumn kr = has_levers() ? column(kr_, kr_narrow_) : RowColumn();
  const RowSolutions solutions{kr,
                               column(Akr_, lever_narrow_),
                               column(lin_, lin_narrow_),
                               column(Alin_, Alin_narrow_),
                               of_rest,
                               shape_,
                               problem_.swings,
                               start_.origin,
                               problem_.swings ? arm_.data() : Akr_.data(),
                               lever_narrow_.data()};
  column_parts_.resize(chunk_count(rows_, row_grain));
  const auto with_columns = [&](auto&& begin_rows) {
    pass([&](int begin, int end) {
      if (problem_.held) column_parts_[begin / row_grain] = multiply_columns(rows, solutions, begin, end);
      return begin_rows(begin, end);
    });
  };

  if (problem_.statics)  // from where it is: the momentum estimate is where it would fall to
    return with_columns([&](int begin, int end) {
      std::copy(base_.xb.begin() + begin, base_.xb.begin() + end, x_.begin() + begin);
      return arrive(rows, begin, end);
    });
  const Vec3 theta = (start_.inertia_inverse * start_.spin) * h;
  const double angle = norm(theta);
  if (!problem_.held || problem_.published || !(angle > 1e-6 && angle < 3))
    return with_columns([&](int begin, int end) { return straight_rows(rows, begin, end); });
  const Turn turn(theta);
  const Mat3 arc = turn.matrix() * inverse(Mat3::identity() + turn.w);
  const Vec3 center = start_.center + start_.u * (base_.hh / total_mass_);
  Vec3 to = center;
  // a free body's centre of mass flies straight on; held by the world it turns along
  if (anchored())
    to +=
        (turn.w * turn.cosine + turn.w2 * ((1 - turn.sine) / (angle * angle))) * (start_.momentum * (h / total_mass_));
  with_columns([&](int begin, int end) { return turn_rows(rows, center, to, arc, begin, end); });
}

/// What an anchored island swings by. A takes a turn of the whole for a deformation: its elastic part E = A - K, with
/// K = M/hh^2 + anchors, resists the three rotations Z although W does not. B = A - E Z (Z^T E Z)^-1 Z^T E has B Z = K
/// Z and is A elsewhere; by Woodbury
///   B^-1 = A^-1 + Y T^-1 Y^T,   Y = Z - A^-1 K Z,   T = (K Z)^T Y,
/// and with Z_a = e_a x r all of it follows from one N x 3 solve, A^-1 K r, about any origin. (Held L does the same for
/// a free island.)
///   Z may be the rotations of any shape, B is definite for all. Those of the affine image x = F rest that is nearest
/// to xb serve a single body as well as its own, and cost no solve: Y = F (rest - A^-1 K rest), known as long as A is.
///   So may the columns of L (docs/cpd.md): Y_a = hh e_a x F A^-1 K rest with F such that Y is the projection of A^-1
/// grad c_L, in the norm of A, onto the affine images of A^-1 K rest.
StepProducts StepSolver::column_products() {
  RowColumns sum;
  for (const RowColumns& part : column_parts_) sum += part;
  sum = sum_over_ranks(sum);
  if (consistent() && problem_.momenta) sum += consistent_.columns(Akr_.data(), Alin_.data());
  StepProducts s;
  s.momenta = problem_.momenta;
  s.lin_lin = sum.lin_lin;
  if (!problem_.momenta && !problem_.swings) return s;
  if (problem_.of_rest)
    sum.second = shape_ * (problem_.swings ? factor_.own()->at_rest.second * transpose(shape_) : transpose(shape_moment_));
  // (e_a x m r) . (e_b x A^-1 K r) = delta_ab tr T - T_ab
  const Mat3& t = sum.second;
  const Mat3 turns = Mat3::identity() * (t(0, 0) + t(1, 1) + t(2, 2)) - (t + transpose(t)) * 0.5;
  if (problem_.swings) {
    swing_ = {pseudo_inverse(turns, 1e-10), sum.lever_lin, {}};
    s.lin_lin += dot(swing_.lin, swing_.inverse * swing_.lin);
    return s;
  }
  const Vec3 p = sum.p / base_.hh, l = sum.l / base_.hh;
  s.q_lin = {p.x, p.y, p.z, l.x, l.y, l.z};
  if (problem_.of_rest) {
    const Vec3 apart = sum.lever_lin * base_.hh - l;
    s.lin_apart = {0, 0, 0, apart.x, apart.y, apart.z};
    s.relief = relief_;
  }
  for (int a = 0; a < 3; ++a) {  // P and L do not mix about the centre of mass
    s.s_qq[a][a] = total_mass_;
    for (int b = 0; b < 3; ++b) s.s_qq[3 + a][3 + b] = turns(a, b);
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  return s;
}

}  // namespace verve
