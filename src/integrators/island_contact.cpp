// What a step does about things that touch: the metric that knows them, and which momenta stay free of them.
#include <algorithm>
#include <cmath>

#include "integrators/island.h"

namespace verve {

namespace {

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
  int first = 0;
  const auto add = [&](Factor& factor, int rows) {
    factor.columns.bind(factor.solver, rows, factor.version + factor.anchor_version);
    blocks_.push_back({&factor.columns, first, factor.columns.generation()});
    first += rows;
  };
  if (slot_) add(*slot_, rows_);
  for (size_t k = 0; k < parts_.size(); ++k) add(*part_slots_[k], parts_[k]->rows_);
  metric_.bind(blocks_, rows_);
  has_metric_ = true;
  contact_b_.resize(rows_), contact_x_.resize(rows_);
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
    const Vec3 at = motion.x[c.row].xyz(), arm = (at - start_.center_n) * scale;
    const Vec3 n = contacts.shapes[c.shape].touch(at).normal;
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
    if (count == 6) break;
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
    if (model_.bodies[b].surface.solid_faces < int(model_.bodies[b].surface.faces.size())) return true;
  return false;
}

bool Island::lies_still(double tolerance) const {
  if (!contacts.touching()) return false;
  double kinetic = 0;
  for (int i = 0; i < rows_; ++i) kinetic += 0.5 * forcing.mass[i] * dot(motion.v[i], motion.v[i]);
  return kinetic < tolerance * motion.energy;
}

void Island::settle_grips(std::vector<double>& losses) {
  losses.assign(bodies_.size(), 0.0);
  if (contacts.grips.empty()) return;
  contacts.settle_grips(motion.x.data(), losses);
  for (size_t k = 0; k < bodies_.size(); ++k) contact_energy_[k] -= losses[k], motion.energy -= losses[k];
}

/// Of a plain step: Ag = A_c^-1 gg in place of A^-1 gg.
void Island::correct_plain() {
  const auto solve = [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { this->solve(b, x); };
  metric_.set(contacts.rows());
  if (metric_.empty()) return;
  metric_.gather(Ag_, y_[0]);
  metric_.multipliers(y_[0], contact_m_, solve);
  metric_.scatter(contact_m_, contact_b_);
  this->solve(contact_b_, contact_x_);
  for (int i = 0; i < rows_; ++i) Ag_[i] -= contact_x_[i];
}

/// Inner products under A_c^-1 in place of A^-1: less y^T (K^-1 + S)^-1 y' with y = J A^-1 of each column.
void Island::take_in_contacts(StepProducts& s, IterationProducts& k) {
  const auto solve = [this](const std::vector<Vec4>& b, std::vector<Vec4>& x) { this->solve(b, x); };
  metric_.set(contacts.rows());
  if (metric_.empty()) return;
  const int n = metric_.size();
  metric_.gather(Ag_, y_[6]);
  metric_.gather(Alin_, y_[7]);
  const Vec3 shift = start_.center - start_.origin;
  for (int a = 0; a < 6 && s.momenta; ++a) {
    y_[a].assign(n, 0.0);
    Vec3 axis{};
    axis[a % 3] = 1;
    for (int r = 0; r < n; ++r) {
      const ContactRow& row = metric_.rows()[r];
      for (int i = 0; i < row.count; ++i) {
        // columns of P and L as in move()
        const Vec3 column = a < 3 ? axis : cross(axis, Akr_[row.rows[i]].xyz() - shift);
        y_[a][r] += row.share[i] * dot(row.direction, column) * base_.hh;
      }
    }
  }
  for (int a = s.momenta ? 0 : 6; a < 8; ++a) metric_.multipliers(y_[a], z_[a], solve);
  k.gg_gg -= product(y_[6], z_[6]);
  k.lin_gg -= product(y_[7], z_[6]);
  s.lin_lin -= product(y_[7], z_[7]);
  if (!s.momenta) return;
  for (int a = 0; a < 6; ++a) {
    k.q_gg[a] -= product(y_[a], z_[6]);
    s.q_lin[a] -= product(y_[a], z_[7]);
    for (int b = 0; b < 6; ++b) s.s_qq[a][b] -= 0.5 * (product(y_[a], z_[b]) + product(y_[b], z_[a]));
  }
  s.s_qq_inverse = pseudo_inverse(s.s_qq, 1e-10);
  s = with_kept(s);
}

/// And the step itself: less A^-1 J^T (K^-1 + S)^-1 J of what it would be without, by way of Ag.
void Island::add_contacts(const Direction& d) {
  if (metric_.empty()) return;
  const int n = metric_.size();
  contact_m_.assign(n, 0.0);
  // the step is (1 + lambda) / scale times Ag, and so on
  const double g = 1 + d.lambda;
  for (int r = 0; r < n; ++r) {
    contact_m_[r] = z_[6][r] + z_[7][r] * (d.lambda / g);
    for (int a = 0; a < 6 && problem_.momenta; ++a) contact_m_[r] += z_[a][r] * (d.lambda_q[a] / g);
  }
  metric_.scatter(contact_m_, contact_b_);
  solve(contact_b_, contact_x_);
  for (int i = 0; i < rows_; ++i) Ag_[i] -= contact_x_[i];
}

}  // namespace verve
