// Model, state and islands together, and the order of events in a frame.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "contact/contact_detector.h"
#include "contact/pair_table.h"
#include "contact/rest_penetration.h"
#include "integrators/anchors.h"
#include "integrators/frame_totals.h"
#include "integrators/islands.h"
#include "integrators/rigid_impulse.h"
#include "integrators/ledger.h"
#include "integrators/sleeping.h"
#include "integrators/state.h"
#include "integrators/vibration.h"
#include "integrators/wind.h"
#include "verve/contact.h"
#include "verve/forces.h"
#include "verve/ids.h"
#include "verve/prepared_body.h"
#include "verve/simulation.h"

namespace verve {

/// Factors for frames of h and for sub-steps of it, before the first frame, which would have to wait for them.
void make_factors(Island& island, double h, const Settings& settings);

class World {
 public:
  World(Scene scene, CompiledScene compiled, int threads, TaskRunner tasks = {});
  World(const World&) = delete;  // islands refer to model and matter
  World& operator=(const World&) = delete;

  void reset();
  StepReport step();
  Measures measure(int body) const;
  double total(int body) const;  // of measure()
  RigidImpulse impulse_on(int body);
  /// E_col at x of all repulsion springs, and minus its gradient, per row of the state (repulsion.cpp).
  double repel(const std::vector<Vec4>& x, std::vector<Vec4>& force);
  /// On each row of the state, at the last evaluation of the last step.
  std::vector<Vec4> contact_forces() const;
  int factorizations() const { return islands_.factorizations(); }
  long right_hand_sides() const;
  /// Bodies and shapes of a state that others have the places of now, compiled, by place.
  struct Occupants {
    std::map<int, CompiledBody> bodies;
    std::map<int, std::unique_ptr<const Shape>> shapes;
  };
  /// Those of `to`. None: `to` does not fit here, which may be as it likes; nothing has changed: check_state.cpp.
  std::optional<Occupants> occupants_of(const State& to, Diagnostics& problems) const;
  /// Everything as it was when the state was `to`: islands, factors, materials and surfaces follow it.
  void restore(const State& to, Occupants occupants = {});
  /// The motion was changed from outside: nothing remembered of it holds any more.
  void forget_history();
  void forces_changed();
  void set_step(double h);
  /// Factors of all bodies, before the first frame.
  void prepare();
  Anchors anchors() { return {scene, model, matter, state, islands_}; }
  /// Explicit methods with a step above what is stable at the start.
  void warn_of_long_steps(Diagnostics& notes);
  /// What of the scene no budget bounds.
  void warn_of_budget(Diagnostics& notes) const;
  const Island& island_of(int body) const { return islands_.of(body); }

  // Who comes and goes between frames: world_places.cpp, world_colliders.cpp.
  BodyId add_body(std::unique_ptr<PreparedBody::Content> prepared, const Spawn& spawn);
  void remove_body(int body);
  AnchorId add_anchor(const AnchorSpec& spec, Anchor anchor);
  ColliderId add_collider(const ColliderSpec& spec, std::unique_ptr<const Shape> shape);
  void remove_collider(int collider);
  void move_collider(int collider, const Pose& to, bool at_once);
  void switch_collider(int collider, bool active);
  // Winds and forces that last: world_forces.cpp.
  WindId add_wind(const WindSpec& spec);
  void remove_wind(int wind);
  ForceId add_force(const ForceSpec& spec, ConstantForce force);
  void remove_force(int force);
  Pose pose_of(int collider, double time) const;
  bool is_active(int collider, double time) const;
  /// A scene without empty places, as one reads it from a file.
  Scene present_scene() const;
  /// Forces of the coming frame: world_forces.cpp.
  void expect_forces();
  Vec4* applied_on(int body);
  void apply_rigid(int body, const Vec3& force, const Vec3& torque);
  ForceField field;
  const std::vector<Event>& events() const { return events_; }
  RemovedElements removed_from(int body) const;
  bool has_body(int body) const { return model.bodies[body].count > 0; }
  int vertices() const { return vertices_; }
  /// Time at which tracks are read: a hair late, so that a key at 3.7 s acts in frame 111 although 111/30 is below 3.7.
  double clock(double frame) const { return state.origin + frame * scene.step + 1e-10 * scene.step; }

  // By places: those that nobody has have an empty one.
  Scene scene;
  Model model;    // const while it steps
  Matter matter;  // follows the state
  Settings settings;
  State state;

 private:
  struct SubStep {
    double from, to;  // tracks are read at [s]
    double h;         // length [s]
    double fraction;  // of the frame that is done at its end
    int index, count;
    bool is_last() const { return index + 1 == count; }
  };
  struct TimeLimit {  // of an island in a frame, in Work::milliseconds
    double milliseconds = std::numeric_limits<double>::infinity();
    double begun = 0;
    double left(const Island& island) const {
      if (!(milliseconds < std::numeric_limits<double>::infinity())) return milliseconds;
      return std::max(0.0, milliseconds - (island.work().milliseconds() - begun));
    }
  };
  struct Attempt {               // what is different when a frame is taken again
    bool all_colliders = false;  // are candidates of contact, whatever a prediction says
    bool after_failure = false;  // by the fallback integrator
  };
  struct IslandFrame {  // a frame of an island
    Attempt attempt;
    PlanInput input;
    Plan plan;
    TimeLimit limit;
    bool look_again = false;       // for contacts, in the first sub-step
    bool moving_collider = false;  // at the last look: one that drives the island
    FrameTotals totals;            // so far
    void remember(const Settings& settings, SubstepControl& control) const;
  };

  // The stages of a frame, in their order: frame.cpp.
  void apply_events(double end);
  void advance_islands(StepReport& report);
  bool has_arrived(const Island& island) const;
  StepOutcome advance(Island& island, bool may_sleep, StepReport& report);
  void begin_frame(Island& island);
  StepOutcome take_frame(Island& island, const Attempt& attempt, StepReport& report);
  IslandFrame plan_island(Island& island, const Attempt& attempt);
  TimeLimit time_limit_of(const Island& island) const;
  PlanInput plan_input(Island& island, const TimeLimit& limit);
  SubStep sub_step(int index, int count) const;
  SubStep whole_frame() const { return sub_step(0, 1); }
  bool detect(Island& island, const SubStep& step, IslandFrame& frame);
  bool place_anchors(Island& island, const SubStep& step);
  bool find_contacts(Island& island, const SubStep& step, const Attempt& attempt, bool driven);
  Demand ask(Island& island, const SubStep& step, bool driven);
  StepInput step_input(const Island& island, const SubStep& step, bool driven, const IslandFrame& frame) const;
  StepOutcome take_step(Island& island, const StepPlan& plan, double h, const Demand& demand);
  void account(Island& island, const StepPlan& plan, const Demand& demand, StepOutcome& outcome, double h, bool last);
  void end_frame(double end, StepReport& report);
  /// After a frame: what islands know goes to the state, in which nothing else is missing then.
  void remember();

  // Events, and forces from outside: world.cpp, wind.cpp.
  void apply_pushes(double from, double to);
  void update_materials(double time);
  void update_forces();
  bool in_wind(const Island& island) const;
  void blow(Island& island, double time, double h);
  void book_wind(const Island& island);
  bool is_pushed(const Island& island) const;
  void add_applied(Island& island, double time, double h);
  void end_applied();

  // Views of the state: what dials ask for, what is owed and what is lost; what is at rest.
  Ledger ledger() { return {scene, model, settings, state}; }
  Sleeping sleeping() { return {scene, model, settings, pair_table_, state}; }

  // Which bodies move together: grouping.cpp.
  void rebuild_islands();
  /// Islands of bodies that are linked or touch each other.
  void group_islands();
  void join_predicted();
  template <class End>
  bool join_near_pile(End&& end);
  /// Bodies of different islands that touch where these have come to; true when there are more than before.
  bool find_new_contacts();
  template <class End, class Slack, class MayJoin>
  bool join_islands(End&& end, Slack&& slack, MayJoin&& may_join);

  // Islands at rest: sleeping.cpp.
  StepOutcome skip_frame(const Island& island);
  void put_to_sleep(Island& island, StepOutcome& outcome);
  bool settles(const Island& island) const;

  // Elements that go: tearing.cpp.
  /// Removes what is stretched beyond its limit, at the end of a frame.
  void tear(double time, StepReport& report);
  /// Elements and surface of a body, as state.gone says.
  void set_torn(int body);

  // Elements that flow: plasticity.cpp.
  /// What is strained beyond its limit flows, at the end of a frame.
  void flow();
  void book_softening(const std::vector<int>& bodies);
  /// The shapes without energy of a body, as state.plastic says.
  void set_flow(int body);
  /// Of a body of which nothing has flowed.
  std::vector<PlasticFlow> unstrained(int body) const;

  // Contact: touching.cpp.
  bool has_contact() const { return !model.colliders.empty() || scene.contact; }
  /// Contact as a force that is constant during a frame (CPD Eq. 22), in place of one inside W: repulsion.cpp.
  bool repels() const { return scene.contact && scene.contact->response == ContactResponse::explicit_force; }
  void compile_contact();
  void forget_neighbours(int body);
  /// Sides are bodies, and after them colliders.
  PairSurface pair_of(int a, int b) const { return pair_table_.of(a, b, state.friction); }
  ContactBody contact_body(int body) const;
  Vec3 collider_velocity(int collider, double from, double to, const Vec3& point) const;
  /// What the detector asks for: of colliders between two times, of an island in the coming step.
  std::span<const ColliderMotion> collider_motions(double from, double to);
  MovingBodies predict(const Island& island, double h);
  ContactDetector::Settings detector_settings() const;
  /// What may touch in the coming step. `all`: also what a straight prediction would not.
  /// True: a collider that moves, and drives the island as a hard anchor that moves does.
  bool prepare_contacts(Island& island, const SubStep& step, bool all, bool driven);
  void prepare_planes(Island& island);
  void set_rest_penetrations(Island& island, double h);
  int passing_substeps(Island& island, double h);
  double crushing(const Island& island, double h) const;
  int feature_substeps(const Island& island, double h);
  /// A vertex has come into a collider of which its body had no candidates.
  bool missed_contact(const Island& island, double time);
  void settle_contacts(Island& island);
  void restore_contacts(const Island& island);

  // What touched in a frame: world_contacts.cpp.
  void note_contacts(const Island& island, double h);
  void note_rebound(const Bounce& bounce, double impulse);
  void forget_contacts(const Island& island);
  void keep_contacts();
  void find_events();

  // Impacts: restitution.cpp.
  void note_meetings(const Island& island);
  void forget_meetings(const Island& island);
  bool is_impact(const Bounce& bounce) const;
  bool in_impact(const Island& island, double impact_phase) const;
  RigidImpulse impulse_on(Island& island, int local_body);
  void rebound(Island& island, const SubStep& step);
  void rebound(double time);
  void limit_rebound(const Bounce& bounce, RigidImpulse body, std::optional<RigidImpulse> other, double from,
                     double to);
  double largest_restitution(const Island& island) const;

  // Places: world_places.cpp.
  int free_rows(int count) const;
  void number_vertices();
  void occupy(int body, CompiledBody compiled, const Spawn& spawn, int first);
  void vacate(int body);
  std::string free_name(const std::string& wanted) const;
  void set_materials(int body, std::vector<ParameterValues> parameters, std::vector<ParameterValues> overrides);
  static bool is_fresh_body(int body, const State& from, const State& to);
  static bool is_fresh_collider(int collider, const State& from, const State& to);
  Scene scene_of(const State& of) const;
  bool restore_places(const State& from, const State& to, std::map<int, CompiledBody>& compiled);
  bool restore_colliders(const State& from, const State& to, std::map<int, std::unique_ptr<const Shape>>& shapes);
  WindSurface wind_surface_of(const WindSpec& spec) const;
  void restore_forces(const State& from, const State& to, bool other_bodies);
  void forces_on_changed(int body);
  void settle_colliders();

  /// The generations that each place has had, whatever the state has been restored to since: no id is given twice.
  class Generations {
   public:
    bool has_next(int place) const { return last(place) + 1 < BodyId::most_generations; }
    int next(int place) {
      const int out = last(place) + 1;
      if (place >= int(last_.size())) last_.resize(place + 1, 0);
      return last_[place] = out;
    }
    /// Places that are there from the start have had their first.
    void begin(int places) { last_.assign(places, 1); }
    /// Of a state from elsewhere.
    void know(int place, int generation) {
      if (place >= int(last_.size())) last_.resize(place + 1, 0);
      last_[place] = std::max(last_[place], generation);
    }

   private:
    int last(int place) const { return place < int(last_.size()) ? last_[place] : 0; }
    std::vector<int> last_;
  };

  int threads_;
  TaskRunner tasks_;  // in place of threads of our own; empty: none
  int vertices_ = 0;  // of all bodies
  std::vector<BodySpec> given_bodies_;
  std::vector<ColliderSpec> given_colliders_;
  std::vector<WindSpec> given_winds_;
  std::vector<ForceSpec> given_forces_;
  double given_step_;                      // of the scene, before set_step
  std::vector<AnchorSpec> given_anchors_;  // and before anchors were added and removed
  Generations body_generations_, collider_generations_, anchor_generations_, wind_generations_, force_generations_;
  State before_;                           // of the frame, in case it fails
  size_t remembered_ = 0;                  // by islands, in numbers
  Islands islands_;
  PairTable pair_table_;
  ContactDetector detector_;

  // of this frame
  std::vector<BodyLedger> start_ledger_;  // after its events, in case it must be cut finer
  std::vector<const Island*> arrived_;
  std::vector<Vec4> repulsion_;  // per row of the state; empty: none
  struct Met {                   // in a step
    int body, other, collider;
    Vec3 normal, point;
    bool still;  // at the end of the last one
  };
  std::vector<Met> met_;
  std::vector<PairContact> pairs_;
  std::vector<Event> events_;
  double detection_ = 0;  // StepTimings::detection
  double left_ = 0;       // of settings.budget, likewise

  // work space
  std::vector<ColliderMotion> collider_motions_;  // of the last question
  std::vector<Penetration> penetrations_;
  std::vector<int> seen_points_;  // of yield_between_colliders
  std::vector<LowRankTerm> plane_terms_;
  std::vector<char> in_pile_;   // bodies, of join_near_pile,
  std::vector<Vec3> ways_;      // and how far they go
  std::vector<Vec4> ahead_;     // where bodies would come to if nothing touched them
  std::vector<ContactDetector::SweptBody> swept_;
  std::vector<double> losses_;
  std::vector<double> slip_;
  std::vector<Vec3> field_x_, field_v_, field_f_;
  std::vector<double> field_mass_;
  WindWork wind_work_;
  Vibration vibration_;
  std::vector<int> torn_;
  std::vector<char> over_;  // of Tearing::find_over
  Motion before_step_;      // of an island with contacts, before its last sub-step
};

}  // namespace verve
