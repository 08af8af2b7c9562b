// Model, state and islands together, and the order of events in a frame.
#pragma once

#include <memory>
#include <vector>

#include "contact/contact_detector.h"
#include "contact/pair_table.h"
#include "contact/rest_penetration.h"
#include "integrators/island.h"
#include "integrators/kicks.h"
#include "integrators/ledger.h"
#include "integrators/state.h"
#include "integrators/wind.h"
#include "verve/simulation.h"

namespace verve {

class World {
 public:
  World(Scene scene, Model model, int threads);
  World(const World&) = delete;  // islands refer to the model
  World& operator=(const World&) = delete;

  void reset();
  StepReport step();
  Measures measure(int body) const;
  double total(int body) const;  // of measure()
  Kick kick(int body);
  /// E_col at x of all repulsion springs, and minus its gradient, per row of the state (repulsion.cpp).
  double repel(const std::vector<Vec4>& x, std::vector<Vec4>& force);
  int factorizations() const;
  long right_hand_sides() const;
  /// Everything as it was when the state was `to`: islands, factors, materials and surfaces follow it.
  void restore(const State& to);
  /// The motion was changed from outside: nothing remembered of it holds any more.
  void forget_history();
  void forces_changed();
  void set_step(double h);
  int add_anchor(const AnchorSpec& spec, Anchor anchor);
  void remove_anchor(int anchor);
  /// Explicit methods with a step above what is stable at the start.
  void warn_of_long_steps(Diagnostics& notes);
  const Island& island_of(int body) const { return *islands_[island_of_body_[body]]; }

  Scene scene;
  Model model;
  Settings settings;
  State state;

 private:
  struct SubStep {
    double from, to;  // tracks are read at [s]
    double h;         // length [s]
    double fraction;  // of the frame that is done at its end
  };
  SubStep whole_frame() const { return {clock(state.frame), clock(state.frame + 1), scene.step, 1}; }

  void rebuild_islands();
  /// Islands of bodies that are linked or touch each other.
  void group_islands();
  std::unique_ptr<Island> merge(const std::vector<int>& clusters);
  void compile_contact();
  void forget_neighbours(int body);
  /// Sides are bodies, and after them colliders.
  PairSurface pair_of(int a, int b) const { return pair_table_.of(a, b, state.friction); }
  Pose pose_of(int collider, double time) const;
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
  /// A vertex has come into a collider of which its body had no candidates.
  bool missed_contact(const Island& island, double time);
  void settle_contacts(Island& island);
  bool is_steady(const Island& island) const;
  std::optional<std::uint64_t> start_hash(const Island& island) const;
  bool begins_unchanged(Island& island) const;
  bool was_skipped(const Island& island) const;
  StepOutcome skip_frame(const Island& island);
  void note_meetings(const Island& island);
  void forget_meetings(const Island& island);
  bool is_impact(const Bounce& bounce) const;
  void rebound(Island& island, const SubStep& step);
  void rebound(double time);
  void limit_rebound(const Bounce& bounce, Kick body, std::optional<Kick> other, double time);
  Kick kick(Island& island, int k);  // of its k-th body, during its frame
  Vec3 collider_velocity(int collider, double time, const Vec3& point) const;
  void restore_contacts(const Island& island);
  /// Contact as a force that is constant during a frame (CPD Eq. 22), in place of one inside W: repulsion.cpp.
  bool repels() const { return scene.contact && scene.contact->response == ContactResponse::explicit_force; }
  int feature_substeps(const Island& island, double h);
  bool has_contact() const { return !model.colliders.empty() || scene.contact; }
  bool is_slow(const Island& island) const;
  bool falls_asleep(const Island& island);
  void put_to_sleep(Island& island, StepOutcome& outcome);
  bool has_other_members(const Island& island) const;
  void join_predicted();
  /// Bodies of different islands that touch where these have come to; true when there are more than before.
  bool find_new_contacts();
  template <class End, class Slack, class MayJoin>
  bool join_islands(End&& end, Slack&& slack, MayJoin&& may_join);
  bool update_anchors(double time);
  /// Anchor points as they are at the start of the frame, or a `fraction` into it.
  bool place_anchors(Island& island, double time, double fraction = 0);
  void settle_anchors(double time);
  void stiffen(Island& island, Island::AnchorTerm& term);
  std::vector<double> matrix_diagonal(int body, double inertia) const;
  std::vector<double> hardness_of(int anchor) const;
  void update_materials(double time);
  void update_forces();
  bool in_wind(const Island& island) const;
  void blow(Island& island, double time, double h);
  void book_wind(const Island& island);
  /// Removes what is stretched beyond its limit, at the end of a frame (tearing.cpp).
  void tear(double time, StepReport& report);
  void set_torn(int body);
  void follow_surface(int body);
  void apply_pushes(double from, double to);
  /// What dials ask for, what is owed and what is lost.
  Ledger ledger() { return {scene, model, settings, state}; }
  void recall(Island& island) const;
  void load(Island& island) const;
  void store(const Island& island);
  void remember();
  void energy_changed(int body);
  void set_anchor_specs();
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
  struct FrameTotals {
    int iterations = 0, most_iterations = 0, substeps = 0;
    double loss = 0;             // of all sub-steps
    double p = 0, l = 0, h = 0;  // scaled residuals, the largest
    void add_work(const StepOutcome& outcome);
    void add_errors(const StepOutcome& outcome);
  };
  /// The stages of a frame: frame.cpp.
  void apply_events(double end);
  void advance_islands(StepReport& report);
  StepOutcome advance(Island& island, bool may_sleep, StepReport& report);
  StepOutcome take_frame(Island& island, const Attempt& attempt, StepReport& report);
  void begin_frame(Island& island);
  bool detect(Island& island, const SubStep& step, const Attempt& attempt, bool driven);
  PlanInput plan_input(Island& island, const TimeLimit& limit);
  TimeLimit time_limit_of(const Island& island) const;
  Demand ask(Island& island, const SubStep& step, int substeps, bool first, bool driven);
  StepOutcome solve(Island& island, const StepPlan& plan, double h, const Demand& demand, size_t halvings = 0);
  StepOutcome take_step(Island& island, const StepPlan& plan, double h, const Demand& demand);
  void account(Island& island, const StepPlan& plan, const Demand& demand, StepOutcome& outcome, bool last);
  void write_report(const Island& island, const StepOutcome& last, const FrameTotals& totals, StepReport& report);
  void explain(const Island& island, const StepOutcome& outcome, StepReport& report) const;
  void end_frame(double end, StepReport& report);
  bool settles(const Island& island) const;
  bool in_impact(const Island& island, double impact_phase) const;
  double largest_restitution(const Island& island) const;
  /// Time at which tracks are read: a hair late, so that a key at 3.7 s acts in frame 111 although 111/30 is below 3.7.
  double clock(double frame) const { return state.origin + frame * scene.step + 1e-10 * scene.step; }

  int threads_;
  double given_step_;                                       // of the scene, before set_step
  std::vector<AnchorSpec> given_anchors_;                   // and before add_anchor and remove_anchor
  State before_;                                            // of the frame, in case it fails
  size_t remembered_ = 0;                                   // by islands, in numbers
  std::vector<BodyLedger> start_ledger_;                    // after its events, in case it must be cut finer
  std::vector<std::unique_ptr<Island>> clusters_, merged_;  // bodies that are linked; clusters that touch
  std::vector<Island*> islands_;                            // of these, those that the frame is made of
  std::vector<const Island*> arrived_;                      // in this frame
  PairTable pair_table_;
  ContactDetector detector_;
  std::vector<ColliderMotion> collider_motions_;  // of the last question
  std::vector<Penetration> penetrations_;
  std::vector<LowRankTerm> plane_terms_;
  std::vector<Vec4> repulsion_;  // of this frame, per row of the state; empty: none
  struct Met {                   // in a step of this frame
    int body, other, collider;
    Vec3 normal, point;
    bool still;  // at the end of the last one
  };
  std::vector<Met> met_;
  std::vector<Motion> starts_;  // of searched steps, by the number of halvings
  std::vector<char> in_pile_;   // bodies, of join_predicted
  double detection_ = 0;     // StepTimings::detection of this frame
  double left_ = 0;          // of settings.budget, likewise
  std::vector<Vec4> ahead_;  // where bodies would come to if nothing touched them
  std::vector<ContactDetector::SweptBody> swept_;
  std::vector<double> losses_;
  std::vector<int> island_of_body_, place_in_island_;
  WindWork wind_work_;
  std::vector<int> torn_;
  int retired_factorizations_ = 0;
};

/// The axes of a method and its numbers.
Settings resolve(const SolverSpec& spec);

}  // namespace verve
