#include <algorithm>
#include <cmath>

#include "integrators/island.h"
#include "integrators/projection.h"

namespace verve {

namespace {

constexpr int most_trials = 60;
/// How near to H* a blend should end, in units of the band.
constexpr double aim_within = 0.1;
/// Local/global iterations of backward Euler after methods that count theirs otherwise: those of `pd`. Cut short it may
/// gain energy itself, in stiff bodies; then it is done again with as many more.
constexpr int usual_iterations = 10, times_more = 10;

/// Dinev, Liu and Kavan 2018, "Stabilizing Integrators for Real-Time Physics": a step that ends with too much energy is
/// mixed with the step of backward Euler from the same start, one with too little with that of forward Euler, as far
/// as it takes. Here the base may be any method, and a step within the band is left alone. docs/after_the_step.md
class Blend final : public Projection {
 public:
  Blend() : Projection(false, true) {}

 private:
  void make_room(const Island& island) override {
    start_ = island.motion;
    other_x_.resize(island.rows()), other_v_.resize(island.rows()), elastic_.resize(island.rows());
    if (island.consistent() && mass_.empty()) mass_ = island.consistent_mass();
  }

  /// Once; with the factor that backward Euler will need, however late.
  void make_euler(Island& island, double h, const Settings& settings) {
    euler_.integrator = make_implicit_euler({});
    euler_.spec = settings.spec;
    euler_.minimizer = settings.minimizer;
    euler_.conservation = Conservation::none;
    euler_.tolerance = settings.tolerance;
    euler_.substeps = 1;
    euler_.precision = settings.precision, euler_.solver = settings.solver, euler_.storage = settings.storage;
    StepOutcome ignored;
    backward(island, h, 1, ignored);
    island.evaluate_motion();
  }

  /// Leaves the state of a step of backward Euler in other_, the motion as it was.
  bool backward(Island& island, double h, int iterations, StepOutcome& out) {
    Motion& m = island.motion;
    end_ = m;
    euler_.iterations = iterations;
    m = start_;
    const StepOutcome step = island.step(h, euler_, {});
    out.iterations += step.iterations;
    out.timings += step.timings;
    other_x_.swap(m.x), other_v_.swap(m.v);
    m = end_;
    return step.status == StepOutcome::Status::converged || step.status == StepOutcome::Status::stopped;
  }

  void forward(const Island& island, double h) {
    const Forcing& f = island.forcing;
    if (island.consistent())
      mass_.divide(f.mass, start_.gradient, elastic_, 1e-15);
    else
      for (int i = 0; i < island.rows(); ++i) elastic_[i] = start_.gradient[i] * f.inverse_mass[i];
    for (int i = 0; i < island.rows(); ++i) {
      other_x_[i] = start_.x[i] + start_.v[i] * h;
      other_v_[i] = start_.v[i] + (f.acceleration[i] - elastic_[i]) * h;
    }
  }

  Quantities correct(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    Motion& m = island.motion;
    if (!euler_.integrator) make_euler(island, h, settings);
    // the energy of an anchored body has no zero of its own
    const double band = settings.spec.band * (island.anchored() ? aim_.e_ref : aim_.inner);
    double error = energy_error(read(island), m.energy);
    if (std::abs(error) <= std::max(band, settings.tolerance * aim_.e_ref)) return {{}, {}, error};
    const bool high = error > 0;
    const int iterations = settings.own_step ? usual_iterations : settings.iterations;
    if (!high) {
      forward(island, h);
    } else if (!backward(island, h, iterations, out)) {
      island.evaluate_motion();
      return {{}, {}, error};
    }

    // H - H* at a share of the other step; the sign changes between 0 and 1 unless even that is not enough
    const auto look = [&](double share) {
      for (int i = 0; i < island.rows(); ++i) {
        m.x[i] = base_x_[i] + (other_x_[i] - base_x_[i]) * share;
        m.v[i] = base_v_[i] + (other_v_[i] - base_v_[i]) * share;
      }
      island.evaluate_motion();
      ++out.iterations;
      return energy_error(read(island), m.energy);
    };
    // Forward Euler may lead beyond all numbers: what counts of an end is its sign
    const auto beyond = [high](double e) { return high ? e <= 0 : !(e < 0); };
    double near = 0, far = 1, share = 1, at_near = error;
    error = look(1);
    if (high && error > band && backward(island, h, times_more * iterations, out)) error = look(1);
    double at_far = error;
    if (!beyond(error)) {
      out.at_bound = true;
    } else {
      for (int n = 0; n < most_trials && !(std::abs(error) <= aim_within * band); ++n) {
        // false position, and halves (of the logarithm, for weights may be small) where that does not close in
        share = near + (far - near) * (at_near / (at_near - at_far));
        if (n % 3 == 2 || !(share > near && share < far)) share = near > 0 ? std::sqrt(near * far) : 0.1 * far;
        error = look(share);
        (beyond(error) ? far : near) = share;
        (beyond(error) ? at_far : at_near) = error;
      }
      if (!std::isfinite(error)) error = look(share = near);
    }
    out.lambda = high ? share : -share;
    // p of generalised-alpha goes on with the velocity, as in a push
    if (m.history)
      for (int i = 0; i < island.rows(); ++i) m.p[i] += m.v[i] - base_v_[i];
    return {{}, {}, error};
  }

  Settings euler_;  // of backward Euler
  Motion start_, end_;
  ConsistentMass mass_;
  std::vector<Vec4> other_x_, other_v_, elastic_;
};

}  // namespace

std::unique_ptr<Projection> make_blend() { return std::make_unique<Blend>(); }

}  // namespace verve
