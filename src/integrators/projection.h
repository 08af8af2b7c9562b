// The third axis after the step: what is held is put right once the base method has done its step, whatever it is.
// docs/fepr.md, docs/after_the_step.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "integrators/conservation.h"
#include "verve/vec.h"

namespace verve {

class Island;
struct Demand;
struct Settings;
struct StepOutcome;

/// An island at one moment: momenta, energy and moments about its centre of mass.
struct Reading {
  Vec3 center, velocity, p, l;
  double kinetic = 0;  // about the centre
  double work = 0;     // sum of f.(x - center)
  Vec3 force, torque;  // torque about the centre
  double force_size = 0;
  Mat3 inertia;
  double radius = 0;  // of gyration
};

/// What a step should end with, known before it begins: the targets of docs/cpd.md for constant forces.
struct Aim {
  Reading start;
  Quantities target;  // h = kinetic + W - f.(x - c_n)
  Vec3 center;        // where constant forces take the centre of mass of a free island
  bool momenta = false;
  double before = 0;  // h at the start
  double rigid = 0;   // K
  double inner = 0;   // what the target leaves for motion about the centre of mass of a free island
  double e_ref = 0, scale_p = 0;
  double keep = 1;     // Demand::keep
};

class Projection {
 public:
  virtual ~Projection() = default;
  /// Before the step of length h, with W and its gradient known at island.motion.x.
  void begin(const Island& island, double h, const Demand& demand);
  /// After it: corrects x and v of the motion, and leaves W and its gradient there. What is left of the residuals goes
  /// to the outcome; a correction that led nowhere is taken back.
  void finish(Island& island, double h, const Settings& settings, const Demand& demand, StepOutcome& out);

 protected:
  explicit Projection(bool momenta, bool energy) : holds_momenta_(momenta), holds_energy_(energy) {}
  /// Makes room before the first correction, which may come late, and keeps what it will need of the start.
  virtual void make_room(const Island& /*island*/) {}
  /// Returns the residuals that the ledger will owe, of what is held.
  virtual Quantities correct(Island& island, double h, const Settings& settings, StepOutcome& out) = 0;

  /// Of the motion as it is.
  Reading read(const Island& island);
  /// H - H* of a reading with elastic energy W, without the cancellation of what a fast body carries along.
  double energy_error(const Reading& now, double elastic) const;
  /// Within the tolerance, or sunk into the round-off of positions and sums.
  bool met(const Island& island, const Quantities& c, const Reading& now, double h, double tolerance) const;
  /// A free island goes where its momentum and constant forces take it: c_n + h P_n/m + h^2 F/2m. With it the energy
  /// about the centre is all there is to put right, and free fall is exact after any base.
  void ride(Island& island, const Reading& now) const;
  /// P and L by a rigid change of velocity.
  void restore_momenta(Island& island) const;

  Aim aim_;
  double total_mass_ = 0;
  std::vector<Vec4> base_x_, base_v_;  // what the base step left

 private:
  struct Means {
    Vec3 x, v;
    Means& operator+=(const Means& o) {
      x += o.x, v += o.v;
      return *this;
    }
  };
  struct Moments {
    Vec3 l, force, torque;
    double kinetic = 0, work = 0, force_size = 0;
    Mat3 second;
    Moments& operator+=(const Moments& o) {
      l += o.l, force += o.force, torque += o.torque;
      kinetic += o.kinetic, work += o.work, force_size += o.force_size;
      second = second + o.second;
      return *this;
    }
  };
  const bool holds_momenta_, holds_energy_;
  std::vector<Means> mean_parts_;
  std::vector<Moments> moment_parts_;
};

struct ProjectionEntry {
  std::string name;      // on the third axis
  bool momenta, energy;  // what it holds on a free island; on an anchored one energy at most
  std::unique_ptr<Projection> (*make)();
};
/// What is behind post_step_names().
const std::vector<ProjectionEntry>& projection_registry();
const ProjectionEntry* find_projection(std::string_view name);

std::unique_ptr<Projection> make_fepr();
std::unique_ptr<Projection> make_energy_only();
std::unique_ptr<Projection> make_energy_budget();
std::unique_ptr<Projection> make_momentum_tracking();
std::unique_ptr<Projection> make_blend();
std::unique_ptr<Projection> make_a_search();
std::unique_ptr<Projection> make_velocity_filter();

}  // namespace verve
