// A running simulation: one call per frame, dials that act in the next one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verve/scene.h"
#include "verve/snapshot.h"

namespace verve {

enum class StepStatus { ok, diverged, not_factorizable, infeasible };
std::string_view to_string(StepStatus status);

/// Where the time of a frame went [ms], summed over islands, sub-steps and attempts taken back.
struct StepTimings {
  double setup = 0;   ///< what is done once per step: base integrator, targets, the six columns of the constraints
  double local = 0;   ///< energies and gradients of all elements
  double global = 0;  ///< solves of the iterations
  double conservation = 0;  ///< inner products and the small system
  double update = 0;        ///< moving x, with the momenta and the kinetic energy there
  double detection = 0;  ///< contact detection: broad phase once a step, narrow phase, which is also in `setup`
                         ///< and `local`
  StepTimings& operator+=(const StepTimings& o) {
    setup += o.setup, local += o.local, global += o.global, conservation += o.conservation, update += o.update;
    detection += o.detection;
    return *this;
  }
};

/// What one frame cost and how well it held its targets. Residuals are scaled as in docs/cpd.md.
struct StepReport {
  StepStatus status = StepStatus::ok;
  std::string message;  ///< why, when status is not ok; the state is then as before
  int iterations = 0;   ///< summed over sub-steps and attempts taken back, the largest over islands
  int substeps = 1;
  double error_p = 0, error_l = 0, error_h = 0;
  double multiplier = 0;  ///< lambda_H of the last sub-step
  int torn = 0;           ///< elements that were beyond their limit at the end of the frame and are gone
  double milliseconds = 0;
  /// About how long it takes [ms], by a count of what was done: the same at every run and on any number of threads. 0
  /// for methods with steps of their own, which are not counted.
  double work = 0;
  StepTimings timings;
  explicit operator bool() const { return status == StepStatus::ok; }
};

/// Conserved quantities of one body, or of all.
struct Measures {
  double mass = 0;
  Vec3 momentum;                                               ///< P [kg m/s]
  Vec3 angular_momentum;                                       ///< L about the origin [kg m^2/s]
  Vec3 spin;                                                   ///< L about the centre of mass
  Vec3 center;                                                 ///< of mass [m]
  double kinetic = 0, elastic = 0, contact = 0, external = 0;  ///< [J]; external is the potential of constant forces
  double total = 0;                                            ///< their sum
  double target_total = 0;                                     ///< what the last step aimed at
  double booked_loss = 0;  ///< taken on purpose so far; wind's work counts as a negative loss
  double work = 0;         ///< of colliders that move, come or go, so far: total + booked_loss - work is held
  double heat = 0;         ///< what steps could not resolve so far (EnergyHold::resolved): total + heat is held
  double owed = 0;         ///< energy deficit: what the coming steps are to give back, below 0 to take
  int torn = 0;            ///< elements that have torn so far
  double multiplier = 0;
  int iterations = 0;  ///< of the last frame
  int substeps = 1;
  double error_p = 0, error_l = 0, error_h = 0;
};

inline constexpr int most_threads = 1024;
struct RunOptions {
  int threads = 0;  ///< 0 = as many as the machine has
};

/// Vertices and elements are numbered as in the scene's meshes, bodies one after another.
class Simulation {
 public:
  /// Loads or generates meshes, checks everything, builds the model. Never throws for bad input.
  static Expected<Simulation> create(const Scene& scene, const RunOptions& options = {});
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const Scene& scene() const;
  int bodies() const;
  const std::string& body_name(int body) const;
  int find_body(std::string_view name) const;  ///< -1 when there is none
  int vertices() const;
  int first_vertex(int body) const;
  int elements() const;              ///< potential terms, anchors left out
  const Mesh& mesh(int body) const;  ///< at rest, placed
  /// The surface that a body carries (BodySpec::embed), at rest, placed; null when it carries none.
  const Mesh* embedded_mesh(int body) const;
  /// How: by the vertices of mesh(body), counted from 0. Null when the body carries no surface.
  const Embedding* embedding(int body) const;
  /// What of mesh(body) is gone by now: torn, or left without what held it (docs/tearing.md).
  RemovedElements removed_elements(int body) const;

  /// Advances by one frame of scene().step. On failure nothing has changed.
  StepReport step();
  /// Back to the initial state.
  void reset();
  /// All that the coming frames depend on beside the scene: motions, ledgers, dials, contacts, anchors, materials.
  Snapshot save() const;
  /// Goes on from there: of this simulation or of another of the same bodies and method. Errors when it is of another;
  /// nothing has changed then.
  Diagnostics restore(const Snapshot& snapshot);
  int frame() const;
  double time() const;

  std::vector<Vec3> positions() const;
  std::vector<Vec3> velocities() const;
  std::vector<double> masses() const;  ///< lumped, of each vertex [kg]; 0 for vertices that no element uses
  /// One per vertex of embedded_mesh(body), where the body has carried it; empty without a surface.
  std::vector<Vec3> embedded_positions(int body) const;
  /// Sizes must equal vertices(); histories and ledgers restart from the given state.
  void set_state(const std::vector<Vec3>& positions, const std::vector<Vec3>& velocities);
  void set_time(double time, int frame);

  Measures measure(int body) const;
  Measures measure() const;          ///< of all bodies together
  std::uint64_t state_hash() const;  ///< equal bits, equal hash
  /// How far the elements are from where their potentials want them: root mean square of |z - p(z)|, weighted as in the
  /// global step, in units of |z| at rest (docs/compare.md). Without anchors, and without gas, which has no such place.
  /// Not a number when every z is zero at rest. Takes about as long as an unoptimised local step.
  double constraint_error() const;

  // Dials. They act in the next step and leave the rest of the ledger alone.
  void set_energy(int body, double total);  ///< aim for this `total`, then hold it
  void set_momentum(int body, const Vec3& momentum);
  void set_spin(int body, const Vec3& spin);     ///< about the centre of mass
  void set_half_life(int body, double seconds);  ///< of H - K; infinity switches it off
  void add_impulse(int body, const Vec3& impulse, const Vec3& point, double radius = 0);
  void set_gravity(const Vec3& gravity);
  void set_parameter(int body, int potential, const std::string& name, double value);  ///< material, live
  // Held, not only reached: what comes after pushes against it. Without a value the scene's own dial counts again.
  void hold_energy(int body, std::optional<double> total);
  void hold_momentum(int body, const std::optional<Vec3>& momentum);
  void hold_spin(int body, const std::optional<Vec3>& spin);
  void set_step(double seconds);          ///< length of the frames to come
  void set_iterations(int cap);           ///< per step
  void set_budget(double milliseconds);   ///< of a frame, as StepReport::work counts them; 0: no limit
  void set_friction(double coefficient);  ///< of everything that touches, in place of what the scene says
  int winds() const;
  int find_wind(std::string_view name) const;  ///< -1 when there is none
  void set_wind(int wind, const Vec3& velocity);
  /// Mean weight of each example pose of a potential, by the stiffness of the elements (PD Eq. 17-18); empty for
  /// potentials without examples. Computed from the present shape.
  std::vector<double> example_weights(int body, int potential) const;
  int anchors() const;
  int find_anchor(std::string_view name) const;  ///< -1 when there is none
  void set_anchor(int anchor, bool active);
  bool anchor_active(int anchor) const;
  void move_anchor(int anchor, const Vec3& displacement);  ///< relative to where it was activated
  /// An anchor that the scene does not have, as of the next step and after a reset; returns its number. Its energy
  /// counts for its body: anchoring vertices where they are changes nothing, moving it does work.
  int add_anchor(const AnchorSpec& spec);
  /// Removes it with the energy that its springs have. Its number may be given to the next one that is added; those
  /// of the others stay.
  void remove_anchor(int anchor);

  /// How many numeric factorisations have been made so far.
  int factorizations() const;
  /// What solves the global step of a body, with its size and why it was chosen; empty before the first step.
  std::string global_solver(int body) const;

 private:
  struct Impl;
  explicit Simulation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
