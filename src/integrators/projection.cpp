#include "integrators/projection.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/parallel.h"
#include "integrators/island.h"
#include "integrators/rigid_impulse.h"
#include "integrators/step_solver.h"

namespace verve {

namespace {

constexpr int grain = 256;
constexpr double epsilon = 2.220446049250313e-16;

Mat3 symmetric(const Mat3& a) { return (a + transpose(a)) * 0.5; }

RigidImpulse whole_island(Island& island) {
  Motion& m = island.motion;
  return {island.forcing.mass.data(),        m.x.data(), m.v.data(), m.p.data(), island.rows(), island.total_mass(),
          &island.consistent_mass().coupling};
}

}  // namespace

const std::vector<ProjectionEntry>& projection_registry() {
  static const std::vector<ProjectionEntry> entries{
      {"fepr", true, true, make_fepr},
      {"energy_only", false, true, make_energy_only},
      {"energy_budget", true, true, make_energy_budget},
      {"momentum", true, false, make_momentum_tracking},
      {"blend", false, true, make_blend},
      {"a_search", false, true, make_a_search},
      {"damping", false, false, make_velocity_filter},
  };
  return entries;
}

const ProjectionEntry* find_projection(std::string_view name) {
  for (const ProjectionEntry& entry : projection_registry())
    if (entry.name == name) return &entry;
  return nullptr;
}

Reading Projection::read(const Island& island) {
  const Motion& m = island.motion;
  const Forcing& f = island.forcing;
  const Vec3 o = m.x[0].xyz();  // sums about a point of the island spare digits far from the origin
  const Means means = ordered_sum<Means>(island.rows(), grain, mean_parts_, [&](int begin, int end) {
    Means s;
    for (int i = begin; i < end; ++i) {
      s.x += (m.x[i].xyz() - o) * f.mass[i];
      s.v += m.v[i].xyz() * f.mass[i];
    }
    return s;
  });
  Reading out;
  out.center = o + means.x / island.total_mass();
  out.p = means.v;
  out.velocity = means.v / island.total_mass();
  const Moments sum = ordered_sum<Moments>(island.rows(), grain, moment_parts_, [&](int begin, int end) {
    Moments s;
    for (int i = begin; i < end; ++i) {
      const Vec3 r = m.x[i].xyz() - out.center, w = m.v[i].xyz() - out.velocity, force = f.force[i].xyz();
      s.l += cross(r, w) * f.mass[i];
      s.kinetic += 0.5 * f.mass[i] * dot(w, w);
      s.second = s.second + outer(r, r * f.mass[i]);
      s.force += force, s.torque += cross(r, force);
      s.work += dot(force, r), s.force_size += norm(force);
    }
    return s;
  });
  const MassCoupling& coupling = island.consistent_mass().coupling;
  Mat3 second = sum.second;
  out.l = sum.l, out.kinetic = sum.kinetic;
  if (island.consistent()) {
    out.l += coupling.spin(m.x.data(), m.v.data());
    out.kinetic += coupling.kinetic(m.v.data());
    second = symmetric(second + coupling.second(m.x.data()));
  }
  out.force = sum.force, out.torque = sum.torque, out.work = sum.work, out.force_size = sum.force_size;
  const double trace = second(0, 0) + second(1, 1) + second(2, 2);
  out.inertia = Mat3::identity() * trace - second;
  out.radius = std::sqrt(std::max(0.0, trace) / island.total_mass());
  return out;
}

/// Targets, K and scales as in StepSolver::pose (docs/cpd.md), with v itself in place of (x - xb)/hh.
void Projection::begin(const Island& island, double h, const Demand& demand) {
  total_mass_ = island.total_mass();
  base_x_.resize(island.rows()), base_v_.resize(island.rows());
  make_room(island);
  Aim a;
  a.start = read(island), a.keep = demand.keep;
  const Reading& s = a.start;
  const double m = total_mass_;
  a.momenta = holds_momenta_ && !island.anchored();
  a.target.p = s.p + s.force * h + (a.momenta ? demand.debt.p : Vec3{});
  a.target.l = s.l + s.torque * h + (a.momenta ? demand.debt.l : Vec3{});
  a.center = s.center + s.velocity * h + s.force * (0.5 * h * h / m);
  const double now = 0.5 * m * dot(s.velocity, s.velocity) + s.kinetic + island.motion.energy - s.work;
  a.before = now;
  a.target.h = now + (holds_energy_ ? demand.debt.h : 0);
  // a dial is in the units of metrics.csv, with the forces' potential about the origin
  if (demand.set_energy && holds_energy_) a.target.h = demand.energy + dot(s.force, s.center);

  const double translation = 0.5 * dot(a.target.p, a.target.p) / m;
  const double turning = 0.5 * dot(a.target.l, pseudo_inverse(s.inertia, 1e-10) * a.target.l);
  // in the frame of H: what the forces have given the centre of mass by the end of the step is not in H
  const double given = dot(s.force, a.center - s.center);
  a.rigid = translation + turning - given - s.work;
  if (holds_energy_)
    a.target.h -= (1 - demand.keep) *
                  (island.anchored() ? 2 * s.kinetic + m * dot(s.velocity, s.velocity) : a.target.h - a.rigid);

  const double inner = s.kinetic + island.motion.energy;
  const double whole = 0.5 * m * dot(s.velocity, s.velocity);
  a.e_ref = std::max({inner, 1e-16 * m * s.radius * s.radius / (h * h), 1e-300});
  if (island.anchored()) {
    a.e_ref = std::max({a.e_ref, whole + inner, 1e-2 * s.force_size * s.radius});
  } else {
    a.e_ref = std::max({a.e_ref, turning, 1e-9 * translation});
    a.inner = std::abs(a.target.h - translation + given + s.work);
    a.e_ref = std::max(a.e_ref, a.inner);
  }
  island.each_potential([&](const Potential& potential, int) {  // as in StepSolver::pose
    a.e_ref = std::max(a.e_ref, 1e-2 * potential.prestress());
  });
  a.scale_p = std::sqrt(2 * m * a.e_ref);
  aim_ = a;
}

double Projection::energy_error(const Reading& now, double elastic) const {
  const Aim& a = aim_;
  const double m = total_mass_;
  const double inner =
      a.target.h - 0.5 * dot(a.target.p, a.target.p) / m + dot(a.start.force, a.center - a.start.center);
  return 0.5 * dot(now.p - a.target.p, now.p + a.target.p) / m - dot(a.start.force, now.center - a.center) +
         (now.kinetic + elastic - now.work - inner);
}

bool Projection::met(const Island& island, const Quantities& c, const Reading& now, double h, double tolerance) const {
  const double speed = std::sqrt(2 * now.kinetic / total_mass_) + norm(now.velocity);
  const double noise_p = total_mass_ * (4 * epsilon * (norm(now.center) + now.radius) / h + 64 * epsilon * speed);
  const double noise_h =
      noise_p * speed +
      64 * epsilon * (now.kinetic + std::abs(island.motion.energy) + std::abs(now.work) + total_mass_ * speed * speed);
  const double enough = std::max(tolerance * aim_.scale_p, noise_p);
  if (norm(c.p) > enough || norm(c.l) > enough * now.radius) return false;
  return std::abs(c.h) <= std::max(tolerance * aim_.e_ref, noise_h);
}

void Projection::ride(Island& island, const Reading& now) const {
  const Vec4 shift(aim_.center - now.center);
  for (int i = 0; i < island.rows(); ++i)
    if (island.forcing.mass[i] > 0) island.motion.x[i] += shift;
}

void Projection::restore_momenta(Island& island) const {
  RigidImpulse impulse = whole_island(island);
  impulse.set_momentum(aim_.target.p);
  impulse.set_spin(aim_.target.l);
}

void Projection::finish(Island& island, double h, const Settings& settings, const Demand& demand, StepOutcome& out) {
  const auto begin = std::chrono::steady_clock::now();
  Motion& m = island.motion;
  base_x_ = m.x, base_v_ = m.v;
  // the base step may have left W in float
  if (!island.is_evaluated() || settings.precision == Precision::float32) island.evaluate_motion();
  Quantities owed;
  if (island.solver().plan().holds) {
    const int before = out.iterations;
    out.lambda = 0;
    owed = correct(island, h, settings, out);
    Reading now = read(island);
    if (!std::isfinite(m.energy) || !std::isfinite(now.kinetic) || !std::isfinite(dot(now.l, now.l))) {
      m.x = base_x_, m.v = base_v_;
      m.history = false;
      island.evaluate_motion();
      now = read(island);
      owed = {now.p - aim_.target.p, now.l - aim_.target.l, energy_error(now, m.energy)};
      out.stationary = true;
      out.iterations = before;
    }
    const double h_error = energy_error(now, m.energy);
    out.e_ref = aim_.e_ref;
    out.rigid_energy = aim_.rigid;
    out.impossible = holds_energy_ && aim_.momenta && demand.lowers() && aim_.target.h < aim_.rigid;
    out.rose = h_error + aim_.target.h > aim_.before + settings.tolerance * aim_.e_ref;
    out.residual = {aim_.momenta ? owed.p : Vec3{}, aim_.momenta ? owed.l : Vec3{}, h_error};
    out.error_h = std::abs(h_error) / aim_.e_ref;
    if (!island.anchored()) {
      out.error_p = norm(now.p - aim_.target.p) / aim_.scale_p;
      out.error_l = now.radius > 0 ? norm(now.l - aim_.target.l) / (now.radius * aim_.scale_p) : 0;
    }
  }
  out.timings.conservation +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace verve
