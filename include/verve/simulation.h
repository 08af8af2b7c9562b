// A running simulation: one call per frame, dials that act in the next one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verve/contact.h"
#include "verve/forces.h"
#include "verve/ids.h"
#include "verve/prepared_body.h"
#include "verve/published_frame.h"
#include "verve/queries.h"
#include "verve/scene.h"
#include "verve/snapshot.h"

namespace verve {

enum class StepStatus { ok, diverged, not_factorizable, infeasible, callback_failed };
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
  Vec3 multiplier_p, multiplier_l;  ///< and lambda_P [m/s] and lambda_L [1/s]: with which velocity and turn those push
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
/// Calls task(0) to task(count - 1), on any threads at once, and returns when all have returned.
using TaskRunner = std::function<void(int count, const std::function<void(int)>& task)>;
struct RunOptions {
  int threads = 0;        ///< 0 = as many as the machine has; of several simulations side by side, each has its own
  TaskRunner tasks = {};  ///< the caller's threads in place of Verve's: `threads` tasks at most are given at once
};

/// Vertices and elements are numbered as in the scene's meshes, bodies one after another.
class Simulation {
 public:
  /// Loads or generates meshes, checks everything, builds the model. Never throws for bad input, nor for what functions of
  /// the caller's throw (formulas, laws, plug-ins): that is an error.
  static Expected<Simulation> create(const Scene& scene, const RunOptions& options = {});
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  /// By the numbers of bodies, colliders and anchors; those that have been removed have an empty specification there.
  const Scene& scene() const;
  /// As it is now, without them: what write_scene can write and `create` takes.
  Scene present_scene() const;
  int bodies() const;  ///< numbers are below this; of those that have been removed nobody may have it now
  bool has_body(BodyId body) const;
  BodyId body_id(int number) const;  ///< of the body that has this number now
  const std::string& body_name(BodyId body) const;
  BodyId find_body(std::string_view name) const;  ///< -1 when there is none
  int vertices() const;
  int first_vertex(BodyId body) const;
  int elements() const;              ///< potential terms, anchors left out
  const Mesh& mesh(BodyId body) const;  ///< at rest, placed
  /// The surface that a body carries (BodySpec::embed), at rest, placed; null when it carries none.
  const Mesh* embedded_mesh(BodyId body) const;
  /// How: by the vertices of mesh(body), counted from 0. Null when the body carries no surface.
  const Embedding* embedding(BodyId body) const;
  /// What of mesh(body) is gone by now: torn, or left without what held it (docs/tearing.md).
  RemovedElements removed_elements(BodyId body) const;
  /// Strain that has flowed so far, of each element of a potential of the body (docs/plasticity.md). Empty: it has no
  /// yield.
  std::vector<double> flowed_strain(BodyId body, int potential) const;

  /// Advances by one frame of scene().step. On failure nothing has changed.
  StepReport step();
  /// Back to the initial state.
  void reset();
  /// All that the coming frames depend on beside the scene: motions, ledgers, dials, contacts, anchors, materials.
  Snapshot save() const;
  /// Goes on from there: of this simulation or of another of the same bodies and method. Errors when it is of another;
  /// nothing has changed then.
  Diagnostics restore(const Snapshot& snapshot);
  /// Another one that goes on bit for bit as this one does.
  Simulation clone() const;
  int frame() const;
  double time() const;

  // Into the caller's memory: three numbers per vertex, `stride` bytes apart (0: one after another). No memory is asked
  // for. Without a body: of all.
  template <class Number>
  void read_positions(Number* out, std::size_t stride = 0) const;
  template <class Number>
  void read_positions(BodyId body, Number* out, std::size_t stride = 0) const;
  template <class Number>
  void read_velocities(Number* out, std::size_t stride = 0) const;
  /// Of vertices of the surface, unit, by area; 0 of others. Sheets and solids.
  template <class Number>
  void read_normals(BodyId body, Number* out, std::size_t stride = 0) const;
  /// Of the surface that a body carries: one per vertex of embedded_mesh(body).
  template <class Number>
  void read_embedded_positions(BodyId body, Number* out, std::size_t stride = 0) const;
  template <class Number>
  void read_embedded_normals(BodyId body, Number* out, std::size_t stride = 0) const;
  /// All positions, where they stay until bodies come or go: every step renews them.
  std::span<const Vec3> position_view() const;
  /// From now on every step, reset and restore leaves a copy of the frame that published() hands out.
  void publish(bool on = true);
  /// The last frame that was left, null before publish(). From any thread, also while this one steps; who keeps it
  /// keeps it as it is.
  std::shared_ptr<const PublishedFrame> published() const;

  std::vector<Vec3> positions() const;
  std::vector<Vec3> velocities() const;
  std::vector<double> masses() const;  ///< lumped, of each vertex [kg]; 0 for vertices that no element uses
  /// One per vertex of embedded_mesh(body), where the body has carried it; empty without a surface.
  std::vector<Vec3> embedded_positions(BodyId body) const;
  /// Sizes must equal vertices(); histories and ledgers restart from the given state.
  void set_state(const std::vector<Vec3>& positions, const std::vector<Vec3>& velocities);
  void set_time(double time, int frame);

  Measures measure(BodyId body) const;
  Measures measure() const;          ///< of all bodies together
  std::uint64_t state_hash() const;  ///< equal bits, equal hash
  /// How far the elements are from where their potentials want them: root mean square of |z - p(z)|, weighted as in the
  /// global step, in units of |z| at rest (docs/compare.md). Without anchors, and without gas, which has no such place.
  /// Not a number when every z is zero at rest. Takes about as long as an unoptimised local step.
  double constraint_error() const;

  // Where things are now. Surfaces are those of the meshes that are simulated.
  /// The first thing that a ray meets, from either side. `direction` of any length.
  std::optional<RayHit> cast_ray(const Vec3& origin, const Vec3& direction, double longest = 1e300) const;
  /// The nearest point of all surfaces, or of one body.
  std::optional<SurfacePoint> closest_point(const Vec3& point, double farthest = 1e300, BodyId of = {}) const;
  /// Bodies of which something is in a ball, or in a box along the axes, or that contain it. By their numbers.
  std::vector<BodyId> overlap_ball(const Vec3& center, double radius) const;
  std::vector<BodyId> overlap_box(const Vec3& low, const Vec3& high) const;
  /// What touched in the last frame, and what happened in it.
  std::vector<Contact> contacts() const;
  /// On each vertex, of contact and friction, at the end of the last step [N]; 0 before the first, and after restore().
  std::vector<Vec3> contact_forces() const;
  const std::vector<Event>& events() const;
  /// The bodies that moved together in the last frame, itself among them.
  std::vector<BodyId> island(BodyId body) const;

  // Dials. They act in the next step and leave the rest of the ledger alone.
  void set_energy(BodyId body, double total);  ///< aim for this `total`, then hold it
  void set_momentum(BodyId body, const Vec3& momentum);
  void set_spin(BodyId body, const Vec3& spin);     ///< about the centre of mass
  void set_half_life(BodyId body, double seconds);  ///< of H - K; infinity switches it off
  void add_impulse(BodyId body, const Vec3& impulse, const Vec3& point, double radius = 0);
  void set_velocity(BodyId body, const Vec3& velocity);          ///< of the centre of mass [m/s]: set_momentum
  void set_angular_velocity(BodyId body, const Vec3& velocity);  ///< [rad/s]: set_spin, by the inertia that it has now
  // Forces of the coming frame [N, N m], constant in it, in the directions of now; several add up. Their work is booked
  // as that of a wind is: in booked_loss, below 0.
  /// At a point as on a rigid body, without a point at the centre of mass; or shared within a radius, as add_impulse.
  void add_force(BodyId body, const Vec3& force, const std::optional<Vec3>& point = {}, double radius = 0);
  void add_force(BodyId body, const Vec3& force, const Selection& region);  ///< shared by mass
  void add_forces(BodyId body, std::span<const Vec3> per_vertex);
  void add_torque(BodyId body, const Vec3& torque);  ///< as on a rigid body
  /// In every step from now on, until it is called with an empty function.
  void set_field(ForceField field);
  void set_gravity(const Vec3& gravity);
  void set_parameter(BodyId body, int potential, const std::string& name, double value);  ///< material, live
  // Held, not only reached: what comes after pushes against it. Without a value the scene's own dial counts again.
  void hold_energy(BodyId body, std::optional<double> total);
  void hold_momentum(BodyId body, const std::optional<Vec3>& momentum);
  void hold_spin(BodyId body, const std::optional<Vec3>& spin);
  void set_step(double seconds);          ///< length of the frames to come
  void set_iterations(int cap);           ///< per step
  void set_budget(double milliseconds);   ///< of a frame, as StepReport::work counts them; 0: no limit
  void set_friction(double coefficient);  ///< of everything that touches, in place of what the scene says
  /// Mean weight of each example pose of a potential, by the stiffness of the elements (PD Eq. 17-18); empty for
  /// potentials without examples. Computed from the present shape.
  std::vector<double> example_weights(BodyId body, int potential) const;
  int anchors() const;
  AnchorId find_anchor(std::string_view name) const;  ///< -1 when there is none
  void set_anchor(AnchorId anchor, bool active);
  bool anchor_active(AnchorId anchor) const;
  std::vector<Vec3> anchor_points(AnchorId anchor) const;  ///< where it holds its vertices; empty while it is not active
  void move_anchor(AnchorId anchor, const Vec3& displacement);  ///< relative to where it was activated
  /// An anchor that the scene does not have, as of the next step and after a reset; returns its number. Its energy
  /// counts for its body: anchoring vertices where they are changes nothing, moving it does work.
  AnchorId add_anchor(const AnchorSpec& spec);
  /// Removes it with the energy that its springs have. Its number may be given to the next one that is added; those
  /// of the others stay.
  void remove_anchor(AnchorId anchor);

  // Winds, and forces that last: of the scene, or added. They go with the body that they act on.
  int winds() const;                              ///< numbers are below this, as of bodies
  WindId find_wind(std::string_view name) const;  ///< -1 when there is none
  bool has_wind(WindId wind) const;
  Expected<WindId> add_wind(const WindSpec& spec);  ///< as of the next step
  void remove_wind(WindId wind);
  void set_wind(WindId wind, const Vec3& velocity);  ///< of the air, in place of its keyframes [m/s]
  int forces() const;                                ///< likewise
  bool has_force(ForceId force) const;
  /// Its potential counts as external energy from the next step on, as that of one of the scene.
  Expected<ForceId> add_lasting_force(const ForceSpec& spec);
  void remove_force(ForceId force);

  // Bodies and colliders that come and go. An id stays that of the one it was given for (verve/ids.h).
  /// Makes mesh, materials, surface and factors of a body, for the solver and the frames of the scene as it was created.
  /// May be called from another thread while this one steps.
  Expected<PreparedBody> prepare(const BodySpec& spec) const;
  /// Makes the factors of all bodies that are there now, for which the first frame would have to wait. The frames that
  /// follow are the same to the last bit.
  void prepare();
  /// As of the next step. The others are not moved by it: who does not meet it goes on as without it, bit for bit.
  BodyId add_body(PreparedBody&& body, const Spawn& spawn = {});
  /// With its anchors, forces and winds.
  void remove_body(BodyId body);
  int colliders() const;                                 ///< numbers are below this, as of bodies
  ColliderId find_collider(std::string_view name) const;  ///< -1 when there is none
  bool has_collider(ColliderId collider) const;
  Expected<ColliderId> add_collider(const ColliderSpec& spec);
  void remove_collider(ColliderId collider);
  /// In the next step it moves there from where it is, evenly and about one axis, and pushes with the velocity that this
  /// takes; without another call it stays there. Its work is booked (Measures::work). In place of its keyframes.
  void move_collider(ColliderId collider, const Placing& to);
  /// It is there at once, without a velocity.
  void place_collider(ColliderId collider, const Placing& at);
  Placing collider_placing(ColliderId collider) const;
  void set_collider(ColliderId collider, bool active);

  /// How many numeric factorisations have been made so far.
  int factorizations() const;
  /// What solves the global step of a body, with its size and why it was chosen; empty before the first step.
  std::string global_solver(BodyId body) const;

 private:
  struct Impl;
  explicit Simulation(std::unique_ptr<Impl> impl);
  static Expected<Simulation> create_or_throw(const Scene& scene, const RunOptions& options);
  Expected<PreparedBody> prepare_or_throw(const BodySpec& spec) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verve
