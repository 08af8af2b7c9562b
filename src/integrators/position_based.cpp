// Position-based methods: a prediction, sweeps of projections over the constraints one after another, and velocities
// from where that leads. The projection itself is multiplier_change (potentials/relax_loop.h), the same for both:
//
//   pbd   Mueller, Heidelberger, Hennix, Ratcliff 2007, "Position Based Dynamics": no compliance, a share k of each
//         correction (PD Eq. 13 for k = 1)
//   xpbd  Macklin, Mueller, Chentanez 2016, "XPBD": compliance alpha = 1/(k h^2) from the potentials' own stiffness,
//         with the total multiplier, Eq. 18; with damping Eq. 26. With one iteration in each of many sub-steps this is
//         "Small Steps in Physics Simulation" (Macklin et al. 2019)
//
// Contacts are constraints without compliance, last in each sweep (ContactConstraints).
#include <algorithm>
#include <cmath>

#include "integrators/contact_constraints.h"
#include "integrators/island.h"
#include "integrators/own_step.h"
#include "potentials/kernel.h"

namespace verve {

namespace {

class PositionBased final : public OwnStep {
 public:
  PositionBased(const SolverSpec& spec, bool compliant) : spec_(spec), compliant_(compliant) {}

  void step(Island& island, double h, const Settings& settings, StepOutcome& out) override {
    Motion& motion = island.motion;
    predict(island, h);
    begin_constraints(island);
    Relaxation sweep;
    sweep.inverse_h2 = compliant_ ? 1 / (h * h) : 0;
    // beta = k tau: gamma = alpha~ beta~ / h = tau / h, with alpha~ = 1/(k h^2) and beta~ = h^2 beta
    sweep.damping = compliant_ ? spec_.constraint_damping / h : 0;
    for (int k = 0; k < settings.iterations; ++k) {
      size_t block = 0;
      island.each_potential([&](Potential& potential, int offset) {
        sweep.x = x_.data() + offset, sweep.start = motion.x.data() + offset;
        sweep.multipliers = multipliers_[block].lane;
        sweep.share = share(settings.iterations, potential.projection);
        potential.relax(sweep);
        block += blocks_for(potential);
      });
      sweep.x = x_.data(), sweep.start = motion.x.data();
      sweep.share = share(settings.iterations, 1);
      relax_anchors(island, sweep);
      contacts_.project(x_);
    }
    out.iterations = settings.iterations;
    before_ = motion.v;
    for (int i = 0; i < island.rows(); ++i) {
      x_[i].w = 0;
      motion.v[i] = (x_[i] - motion.x[i]) * (1 / h);
      motion.x[i] = x_[i];
    }
    contacts_.restore(before_, h, motion.v);
    contacts_.finish(motion.x, h);
  }

 private:
  struct alignas(block_size * sizeof(double)) Multipliers {
    double lane[block_size];
  };
  static size_t blocks_for(const Potential& potential) {
    return (size_t(potential.multipliers()) + block_size - 1) / block_size;
  }

  /// Of a correction, which pbd takes for the stiffness. After n projections by k' an error is (1 - k')^n of what it
  /// was (PBD Sec. 3.3).
  double share(int iterations, double factor) const {
    if (compliant_) return 1;
    const double k = std::min(1.0, spec_.stiffness * factor);
    return spec_.stiffness_per == StiffnessPer::step ? 1 - std::pow(1 - k, 1.0 / iterations) : k;
  }

  /// x_n + h v_n + h^2 a, with inverse masses beside it. What a hard anchor holds is where the anchor is and has
  /// infinite mass.
  void predict(Island& island, double h) {
    const Motion& motion = island.motion;
    const Forcing& forcing = island.forcing;
    x_.resize(island.rows());
    for (int i = 0; i < island.rows(); ++i) {
      x_[i] = motion.x[i] + (motion.v[i] + forcing.acceleration[i] * h) * h;
      x_[i].w = forcing.inverse_mass[i];
    }
    for (const AnchorTerm& term : island.anchor_terms()) {
      if (!term.to_world || term.world.hardness.empty()) continue;
      for (size_t i = 0; i < term.world.vertices.size(); ++i) x_[term.world.vertices[i]] = term.world.points[i];
    }
  }

  void begin_constraints(Island& island) {
    size_t blocks = 0, anchored = 0;
    island.each_potential([&](const Potential& potential, int) { blocks += blocks_for(potential); });
    for (const AnchorTerm& term : island.anchor_terms())
      anchored += term.to_world ? term.world.vertices.size() : term.links.pairs.size();
    inverse_mass_.resize(x_.size());
    for (size_t i = 0; i < x_.size(); ++i) inverse_mass_[i] = x_[i].w;
    contacts_.begin(island, inverse_mass_);
    multipliers_.assign(blocks + 1, {});  // one more: a potential without constraints points behind the last
    anchor_multipliers_.assign(anchored, {});
  }

  /// Anchors are three constraints in one, x - a or x1 - x0, whose gradients are the axes.
  void relax_anchors(Island& island, const Relaxation& sweep) {
    Vec4* lambda = anchor_multipliers_.data();
    const auto relax = [&](double k, bool hard, const Vec4& apart, const Vec4& moved, double weighted) {
      Vec4& l = *lambda++;
      if (!(k > 0) || !(weighted > 0)) return Vec4();
      const double alpha = hard ? 0 : sweep.inverse_h2 / k, part = hard ? 1 : sweep.share;
      const auto change = [&](double C, double total, double along) {
        return multiplier_change<double>(C, alpha, total, weighted, sweep.damping, along, part);
      };
      const Vec4 d(change(apart.x, l.x, moved.x), change(apart.y, l.y, moved.y), change(apart.z, l.z, moved.z));
      l += d;
      return d;
    };
    for (const AnchorTerm& term : island.anchor_terms()) {
      const bool hard = !(term.to_world ? term.world.hardness : term.links.hardness).empty();
      if (term.to_world) {
        for (size_t i = 0; i < term.world.vertices.size(); ++i) {
          Vec4& x = x_[term.world.vertices[i]];
          const double w = x.w;
          x += w * relax(term.world.weight(i), hard, x - term.world.points[i],
                         x - sweep.start[term.world.vertices[i]], w);
        }
      } else {
        for (size_t i = 0; i < term.links.pairs.size(); ++i) {
          const auto& [a, b] = term.links.pairs[i];
          const double wa = x_[a].w, wb = x_[b].w;
          const Vec4 apart = x_[b] - x_[a], before = sweep.start[b] - sweep.start[a];
          const Vec4 d = relax(term.links.weight(i), hard, apart, apart - before, wa + wb);
          x_[a] += -wa * d, x_[b] += wb * d;
        }
      }
    }
  }

  SolverSpec spec_;
  bool compliant_;
  std::vector<Vec4> x_;  // with inverse masses in w
  std::vector<Multipliers> multipliers_;
  std::vector<Vec4> anchor_multipliers_;
  ContactConstraints contacts_;
  std::vector<double> inverse_mass_;
  std::vector<Vec4> before_;  // v where the step begins
};

std::string refusal(const Potential& potential) {
  if (potential.constraints() > 0) return "";
  return potential.prestress() > 0 ? "pushes at rest already, so that no constraint of it could be met"
                                   : "has no constraint to be projected onto";
}

}  // namespace

OwnStepEntry pbd_entry() {
  return {"pbd", [](const SolverSpec& spec) -> std::unique_ptr<OwnStep> {
            return std::make_unique<PositionBased>(spec, false);
          },
          refusal};
}
OwnStepEntry xpbd_entry() {
  return {"xpbd", [](const SolverSpec& spec) -> std::unique_ptr<OwnStep> {
            return std::make_unique<PositionBased>(spec, true);
          },
          refusal};
}

}  // namespace verve
