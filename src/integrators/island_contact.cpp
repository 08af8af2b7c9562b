// What a step does about things that touch: the metric that knows them, and which momenta stay free of them.
#include <algorithm>
#include <cmath>

#include "integrators/island.h"

namespace verve {

namespace {

/// In which what will push is looked for anew.
constexpr int most_turns = 8;
/// Of forces, relative. Less would do to steer an iteration that looks at the true forces, but not to tell whether Q,
/// which is as stiff as what touches, falls: 1e-3 takes more turns, and longer.
constexpr double enough = 1e-5;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// What is left of `v` beside `count` orthonormal vectors, as a unit vector; false when that is nothing.
bool beside(const std::array<Vec6, 6>& basis, int count, Vec6& v, double least) {
  const double before = std::sqrt(dot(v, v));
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < count; ++k) {
      const double along = dot(v, basis[k]);
      for (int i = 0; i < 6; ++i) v[i] -= along * basis[k][i];
    }
  const double length = std::sqrt(dot(v, v));
  if (!(length > least * before)) return false;
  for (double& value : v) value /= length;
  return true;
}

}  // namespace

/// Columns of A^-1 at vertices that touch belong to the factors, which bodies that meet bring along.
void Island::find_metric() {
  blocks_.clear();
  for (const SolverParts::Part& part : factor_.parts()) {
    Factor& factor = *part.factor;
    factor.columns.bind(factor.solver, part.rows, factor.state);
    blocks_.push_back({&factor.columns, part.first, factor.columns.generation()});
  }
  find_turns();
  metric_.bind(blocks_, rows_, turns_, contacts.id_count());
  has_metric_ = true;
  for (auto& z : z_) z.clear();
  contact_b_.resize(rows_), contact_x_.resize(rows_);
}

/// Of solids that are a part of their own, as they are at xb. (Held momenta have columns of another kind, and what is
/// anchored and touches bends rather than turns. So do sheets and chains: the shape they have is no longer that of rest
/// turned, the turns of it cost energy, and without those of A the matrix would be no upper bound of that of W.)
void Island::find_turns() {
  if ((problem_.momenta && !problem_.whole) || anchored_ || minimizer_ || consistent() || contacts.planes) return;
  const auto add = [&](Island& part, Factor& factor, int first) {
    if (part.bodies_.size() != 1 || !part.is_solid()) return;
    part.solve_rest(factor, base_.hh);
    Mat3 moment{};
    for (int i = 0; i < part.rows_; ++i)
      moment = moment + outer(base_.xb[first + i].xyz() * forcing.mass[first + i], part.rest_.rows[i].xyz());
    turns_.add(first, factor.at_rest.arm, factor.at_rest.second, moment * part.rest_.inverse);
  };
  for (size_t k = 0; k < factor_.parts().size(); ++k)
    add(parts_.empty() ? *this : *parts_[k], *factor_.parts()[k].factor, factor_.parts()[k].first);
}

/// A contact without friction pushes along its normal alone: momenta that none of these wrenches changes are held. On a
/// plane these are P along it and L about its normal; on a sphere L about its centre. P and L/R, with R the radius of
/// gyration, are of one kind.
void Island::find_free_momenta() {
  Problem& p = problem_;
  std::array<Vec6, 6> resisted{};
  int count = 0;
  const double scale = start_.radius > 0 ? 1 / start_.radius : 0;
  for (const Contacts::OnShape& c : contacts.on_shapes) {
    // where the step begins, and where it leads: past an edge of a box or a mesh the normal is another one
    const Vec3 ends[2] = {c.at(motion.x.data()), c.at(base_.xb.data()) + c.at(base_.u.data()) * base_.hh};
    for (const Vec3& at : ends) {
      const Vec3 n = contacts.shapes[c.shape].touch(at).normal, arm = (at - start_.center_n) * scale;
      const auto resist = [&](const Vec3& force) {
        const Vec3 torque = cross(arm, force);
        Vec6 wrench = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
        if (count < 6 && beside(resisted, count, wrench, 1e-3)) resisted[count++] = wrench;
      };
      resist(n);
      if (c.friction > 0) {
        resist({n.y, n.z, n.x});
        resist({n.z, n.x, n.y});
        resist(cross(n, {n.y, n.z, n.x}));
      }
    }
    if (count == 6) break;
  }
  // faces and edges push on a corner of a collider, and on both ends of an edge, from anywhere
  for (const Vec3& point : contacts.points)
    for (int axis = 0; axis < 3 && count < 6; ++axis) {
      Vec3 force{};
      force[axis] = 1;
      const Vec3 torque = cross((point - start_.center_n) * scale, force);
      Vec6 wrench = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
      if (beside(resisted, count, wrench, 1e-3)) resisted[count++] = wrench;
    }
  p.kept = 0;
  for (int axis = 0; axis < 6; ++axis) {
    Vec6 v{};
    v[axis] = 1;
    // beside what is resisted and what is kept already
    if (!beside(resisted, count, v, 1e-3)) continue;
    if (!beside(p.basis, p.kept, v, 1e-3)) continue;
    p.basis[p.kept++] = v;
    if (p.kept == 6 - count) break;
  }
  if (p.kept == 0) p.momenta = false;
}

/// The momenta that are held, and no others.
Quantities Island::kept_part(const Quantities& c) const {
  const double r = start_.radius > 0 ? start_.radius : 1;
  const Vec6 scaled = {c.p.x, c.p.y, c.p.z, c.l.x / r, c.l.y / r, c.l.z / r};
  Vec6 sum{};
  for (int k = 0; k < problem_.kept; ++k) {
    const double along = dot(scaled, problem_.basis[k]);
    for (int i = 0; i < 6; ++i) sum[i] += along * problem_.basis[k][i];
  }
  return {{sum[0], sum[1], sum[2]}, {sum[3] * r, sum[4] * r, sum[5] * r}, c.h};
}

/// S_qq^+ of the combinations that are held.
StepProducts Island::with_kept(StepProducts s) const {
  if (!s.momenta || problem_.kept == 6) return s;
  const double r = start_.radius > 0 ? 1 / start_.radius : 0;
  std::array<Vec6, 6> w{};
  for (int k = 0; k < problem_.kept; ++k) {
    w[k] = problem_.basis[k];
    for (int i = 3; i < 6; ++i) w[k][i] *= r;
  }
  Mat6 small{};
  for (int k = 0; k < problem_.kept; ++k)
    for (int l = 0; l < problem_.kept; ++l) small[k][l] = dot(w[k], s.s_qq * w[l]);
  const Mat6 inverse = pseudo_inverse(small, 1e-10);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      s.s_qq_inverse[i][j] = 0;
      for (int k = 0; k < problem_.kept; ++k)
        for (int l = 0; l < problem_.kept; ++l) s.s_qq_inverse[i][j] += w[k][i] * inverse[k][l] * w[l][j];
    }
  return s;
}

/// A body that rests would start each step with a fall: what the last step made of gravity, the start expects of it
/// again.
void Island::rest_on_contacts() {
  const double size = dot(forcing.common, forcing.common);
  if (!forcing.uniform || size == 0 || problem_.statics) return;
  const double lift = base_.hh * (base_.hh - base_.kappa * motion.last_step);
  const bool known = motion.history;
  for (int i = 0; i < rows_; ++i) {
    const double falls =
        known ? std::clamp(dot(motion.q[i].xyz(), forcing.common) / size, 0.0, 1.0) : (contacts.touching() ? 0.0 : 1.0);
    x_[i] -= Vec4(forcing.common * (lift * (1 - falls)));
  }
  const RowArrays rows = arrays();
  pass([&](int begin, int end) { return arrive(rows, begin, end); });
}

bool Island::has_sheets() const {
  for (const int b : bodies_)
    if (matter_.bodies[b].surface.solid_faces < int(matter_.bodies[b].surface.faces.size())) return true;
  return false;
}

bool Island::rests(double tolerance) const {
  if (!contacts.touching()) return false;
  return kinetic(motion.v) < tolerance * motion.energy;
}

void Island::apply_slip(std::vector<double>& losses) {
  losses.assign(bodies_.size(), 0.0);
  if (contacts.friction_anchors.empty()) return;
  contacts.apply_slip(motion.x.data(), losses);
  for (size_t k = 0; k < bodies_.size(); ++k) {
    contact_energy_[k] -= losses[k], motion.energy -= losses[k];
    losses[k] += contacts.start_loss(int(k));
  }
}

/// Of what is near, that which a step without contact would bring close to touching: within half of how deep it would
/// go anywhere. The others, should something push them there, are for the next step to see.
void Island::find_relevant() {
  double deepest = 0;
  for (const ContactRow& row : contacts.rows())
    deepest = std::max(deepest, (row.force > 0 ? row.force / row.stiffness : 0) + row.along(Ag_.data()));
  relevant_along_.clear();
  for (const ContactRow& row : contacts.near_rows()) {
    relevant_along_.push_back(row.force / row.stiffness + row.along(Ag_.data()));
    deepest = std::max(deepest, relevant_along_.back());
  }
  relevant_.clear();
  for (size_t r = 0; r < relevant_along_.size(); ++r)
    if (relevant_along_[r] > -0.5 * deepest) relevant_.push_back(&contacts.near_rows()[r]);
}

/// What touches at x is not what touches where the step leads: a full step into what is near, or held back by what it
/// leaves, is cut to a fraction by the search that follows. So a plain step is one of the model
///   Q(d) = -g.d + 1/2 d^T A d + sum (V(p + j.d) - V'(p) j.d),   x -= d,
/// over all that is near (p < 0: apart; g has the slope of the active contacts in it), with V' the force k p between its bounds:
/// at least 0 of what pushes, within the Coulomb force of friction, which slides beyond. Found by Newton's method: each
/// turn minimises the piece of Q that d lies in and goes as far there as Q falls. Q is convex and its slope at 0 is the
/// true one, so that any number of turns leads downhill.
///   The minimum of a piece is d = A^-1 (g - J^T m), where the forces of its rows are m more than at x, and all that
/// comes between two of them is a A^-1 g - A^-1 J^T m as well. So d is known by (a, m), and Q on it by products of rows
/// alone, y = J A^-1 g and S = J A^-1 J^T, with g.A^-1 g. Only where it ends is d itself made, by one solve. Leaves it,
/// and which rows push at its end.
void Island::predict_contacts() {
  const auto solve = [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { this->solve(b, x); };
  work_.vertices += 6.0 * rows_;
  find_relevant();
  metric_.set(contacts.rows(), relevant_);
  const size_t all = size_t(metric_.size());
  Forecast& q = forecast_;
  pushes_.assign(all, 0);
  near_force_.resize(all), near_stiffness_.resize(all);
  q.force.assign(all, 0.0), q.m.assign(all, 0.0), along_.assign(all, 0.0), q.target.assign(all, 0.0);
  q.change.resize(all), q.dropped.resize(all), q.more.resize(all), q.more_along.resize(all), q.bound.resize(all);
  for (size_t r = 0; r < all; ++r) {
    const ContactRow& row = metric_.row(r);
    near_force_[r] = row.force, near_stiffness_[r] = row.stiffness;
    q.force[r] = std::clamp(row.force, row.low, row.high);
  }
  metric_.gather(Ag_, q.y);
  double g_Ag = 0;
  for (int i = 0; i < rows_; ++i) g_Ag += dot(gg_[i], Ag_[i]);

  const auto force_at = [&](size_t r, double along) {
    return std::clamp(near_force_[r] + near_stiffness_[r] * along, metric_.row(r).low, metric_.row(r).high);
  };
  // those within their bounds; the others have the force of a bound
  const auto choose_pushes = [&](double look) {
    bool same = true;
    for (size_t r = 0; r < all; ++r) {
      const double linear = near_force_[r] + near_stiffness_[r] * (along_[r] + look * q.more_along[r]);
      const ContactRow& row = metric_.row(r);
      const char pushes = linear > row.low && linear < row.high;
      q.bound[r] = std::clamp(linear, row.low, row.high);
      same = same && pushes == pushes_[r];
      pushes_[r] = pushes;
    }
    return same;
  };
  std::fill(q.more_along.begin(), q.more_along.end(), 0.0);
  choose_pushes(0);
  // to the minimum of the piece in which those push that do now; what no longer does loses its force
  const auto find_target = [&] {
    metric_.choose(pushes_);
    bool drops = false;
    for (size_t r = 0; r < all; ++r) {
      q.dropped[r] = pushes_[r] ? 0 : q.bound[r] - q.force[r];
      drops |= q.dropped[r] != 0;
    }
    if (drops) metric_.respond(q.dropped, q.response, solve);
    for (size_t r = 0; r < all; ++r)
      q.change[r] = (near_force_[r] - q.force[r]) / near_stiffness_[r] + q.y[r] - (drops ? q.response[r] : 0);
    if (!metric_.empty()) metric_.multipliers(q.change, q.target, solve, enough);
    for (size_t r = 0; r < all; ++r)
      if (!pushes_[r]) q.target[r] = q.dropped[r];
  };
  double a = 0, more_a = 1, slope = 0, curvature = 0;  // of Q without its rows
  const auto measure = [&] {
    more_a = 1 - a;
    for (size_t r = 0; r < all; ++r) q.more[r] = q.target[r] - q.m[r];
    metric_.respond(q.more, q.more_along, solve);
    for (size_t r = 0; r < all; ++r) q.more_along[r] = more_a * q.y[r] - q.more_along[r];
    const double g_more = more_a * g_Ag - product(q.y, q.more);
    slope = (a - 1) * g_more - product(q.m, q.more_along);
    curvature = more_a * g_more - product(q.more, q.more_along);
  };
  // Q' on the way there, which grows: up to where it is 0
  const auto rise = [&](double t) {
    double sum = slope + t * curvature;
    for (size_t r = 0; r < all; ++r)
      sum += (force_at(r, along_[r] + t * q.more_along[r]) - q.force[r]) * q.more_along[r];
    return sum;
  };
  const auto go = [&](double length) {
    a += length * more_a;
    for (size_t r = 0; r < all; ++r) q.m[r] += length * q.more[r], along_[r] += length * q.more_along[r];
  };
  double fallen = 0, look = 0;
  stalled_ = false;
  for (int turn = 0; turn < most_turns; ++turn) {
    find_target();
    measure();
    double fall = -rise(0), length = 1;
    if (!predicts_) {
      go(1);
      break;
    }
    if (turn == 0 && !(fall > 0)) {
      // digits do not suffice: downhill in the metric without contact
      std::fill(q.target.begin(), q.target.end(), 0.0);
      measure();
      fall = -rise(0);
      stalled_ = true;
    }
    if (turn > 0 && !(fall > 0) && look > 0) {  // looked too far
      look = 0;
      choose_pushes(0);
      continue;
    }
    if (!(rise(1) <= 1e-3 * fall)) {
      double low = 0;
      for (int n = 0; n < 24 && low < 0.9 * length; ++n) {
        const double middle = 0.5 * (low + length);
        (rise(middle) > 0 ? length : low) = middle;
      }
      length = low;
    }
    if (!(fall > 0) || length == 0) {
      stalled_ |= std::abs(fall) > 1e-3 * fallen;
      break;
    }
    go(length);
    // the next piece is that of where this one leads; where the way there is blocked at once, all that blocks it counts
    look = length < 0.1 ? 1 - length : 0;
    const bool same = choose_pushes(look);
    fallen += 0.5 * fall * length;
    if (length > 0.5 && (same || 0.5 * fall * length < 0.01 * fallen)) break;
    if (metric_.products() >= metric_.enough_products) break;
  }
  d_.resize(rows_), Ad_.resize(rows_);
  metric_.scatter(q.m, contact_b_);
  this->solve(contact_b_, contact_x_);
  for (int i = 0; i < rows_; ++i) d_[i] = Ag_[i] * a - contact_x_[i], Ad_[i] = gg_[i] * a - contact_b_[i];
}

/// Of a plain step: Ag = A_c^-1 gg in place of A^-1 gg.
void Island::correct_plain() {
  predict_contacts();
  Ag_.swap(d_);
}

/// Of a step that holds something: the plain step is d, and A_c that of the rows that push where it leads.
void Island::adopt_contacts() {
  predict_contacts();
  metric_.choose(pushes_);
  metric_.gather(d_, along_);
  d_norm2_ = 0;
  for (int i = 0; i < rows_; ++i) d_norm2_ += dot(Ad_[i], d_[i]);
  for (size_t r = 0; r < pushes_.size(); ++r)
    if (pushes_[r]) d_norm2_ += near_stiffness_[r] * along_[r] * along_[r];
  Ag_.swap(d_);
}

/// The columns of the constraints under A_c^-1 in place of A^-1, A_c^-1 b = A^-1 b - A^-1 J^T (K^-1 + S)^-1 J A^-1 b,
/// and what they do to H.
///   What touches within an island, and what pushes it along normals that its held momenta do not see, lets motions of
/// the whole pass: J Z = 0. So the columns of P and L are these, hh Z, rather than A_c^-1 grad c_q, which A, for which
/// a turn is a deformation, makes of them: any columns will do that can make up for the momenta, and these need no
/// solve.
void Island::take_in_contacts(StepProducts& s, IterationProducts& k) {
  const auto solve = [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { this->solve(b, x); };
  const double hh = base_.hh;
  const double fall = k.gg_gg;
  k.gg_gg = d_norm2_;
  if (problem_.releases_energy && (problem_.whole || !problem_.momenta)) return;  // H is not asked for
  k.touches = true;
  work_.vertices += 6.0 * rows_;
  k.lin_gg = 0;  // of A_c^-1 gg, which is not gg.A^-1 lin
  for (int i = 0; i < rows_; ++i) k.lin_gg += dot(lin_[i], Ag_[i]);
  k.h_gg = fall + k.lin_gg;
  Ac_lin_ = Alin_;
  z_[6].assign(metric_.size(), 0.0);
  Vec3 p{}, l{};
  const auto add_momenta = [&](int i, const Vec3& f) { p += f, l += cross(base_.xb[i].xyz() - start_.about, f); };
  const auto momenta = [&](double scale) {
    return Vec6{scale * p.x, scale * p.y, scale * p.z, scale * l.x, scale * l.y, scale * l.z};
  };
  if (!metric_.empty()) {
    metric_.gather(Alin_, y_[6]);
    z_[6].clear();
    metric_.multipliers(y_[6], z_[6], solve, enough);
    s.lin_lin -= product(y_[6], z_[6]);
    metric_.scatter(z_[6], contact_b_);
    this->solve(contact_b_, contact_x_);
    for (int i = 0; i < rows_; ++i) {
      Ac_lin_[i] -= contact_x_[i];
      if (s.momenta) add_momenta(i, contact_x_[i].xyz() * (forcing.mass[i] / hh));
    }
    const Vec6 less = momenta(1);
    for (int a = 0; a < 6 && problem_.whole; ++a) s.q_lin[a] -= less[a];
  }
  metric_.gather(Ac_lin_, lin_along_);
  k.h_lin = s.lin_lin;
  for (int i = 0; i < rows_; ++i) k.h_lin += dot(gg_[i], Ac_lin_[i]);
  if (!s.momenta) return;
  if (problem_.whole) {
    p = l = {};
    for (int i = 0; i < rows_; ++i) add_momenta(i, lin_[i].xyz() + gg_[i].xyz());
    k.h_q = momenta(hh);
    return;
  }

  // consistent mass: products of A_c^-1 grad c_q, less y^T (K^-1 + S)^-1 y' with y = J A^-1 of each
  const int n = metric_.size();
  const Vec3 shift = start_.center - start_.origin;
  for (int a = 0; a < 6; ++a) {
    y_[a].assign(n, 0.0);
    Vec3 axis{};
    axis[a % 3] = 1;
    for (int r = 0; r < n; ++r) {
      const ContactRow& row = metric_.row(r);
      for (int i = 0; i < row.count; ++i) {
        // columns of P and L as in move()
        const Vec3 column = a < 3 ? axis : cross(axis, Akr_[row.rows[i]].xyz() - shift);
        y_[a][r] += dot(row.slope(i), column) * hh;
      }
    }
    // P and L are held as well as these are known
    z_[a].clear();
    if (n > 0) metric_.multipliers(y_[a], z_[a], solve, enough);
  }
  for (int a = 0; a < 6 && n > 0; ++a) {
    s.q_lin[a] -= product(y_[a], z_[6]);
    for (int b = 0; b < 6; ++b) s.s_qq[a][b] -= 0.5 * (product(y_[a], z_[b]) + product(y_[b], z_[a]));
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  s = with_kept(s);
  for (int a = 0; a < 6; ++a) k.h_q[a] = k.q_gg[a] + s.q_lin[a];
}

/// And the step itself, where the columns of P and L are A_c^-1 grad c_q: by way of Ag.
void Island::add_contacts(const Direction& d) {
  if (problem_.whole || !problem_.momenta || metric_.empty()) return;
  contact_m_.assign(metric_.size(), 0.0);
  // the step is (1 + lambda) / scale times Ag, and so on
  for (int r = 0; r < metric_.size(); ++r)
    for (int a = 0; a < 6; ++a) contact_m_[r] += z_[a][r] * (d.lambda_q[a] / (1 + d.lambda));
  metric_.scatter(contact_m_, contact_b_);
  solve(contact_b_, contact_x_);
  for (int i = 0; i < rows_; ++i) Ag_[i] -= contact_x_[i];
}

}  // namespace verve
