// Model, state and islands together, and the order of events in a frame.
#pragma once

#include <memory>
#include <vector>

#include "contact/contact_detector.h"
#include "contact/pair_table.h"
#include "contact/rest_penetration.h"
#include "integrators/island.h"
#include "integrators/kicks.h"
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
  void prepare_contacts(Island& island, double from, double to, double h, bool all);
  void prepare_planes(Island& island);
  void set_rest_penetrations(Island& island, double h);
  int contact_substeps(Island& island, double h);
  /// A vertex has come into a collider of which its body had no candidates.
  bool missed_contact(const Island& island, double time);
  void settle_contacts(Island& island);
  bool is_steady(const Island& island) const;
  std::optional<std::uint64_t> start_hash(const Island& island) const;
  bool stands(Island& island);
  bool stood(const Island& island) const;
  void stay(const Island& island);
  void note_meetings(const Island& island);
  void forget_meetings(const Island& island);
  bool is_impact(const Bounce& bounce) const;
  void rebound(double time);
  Vec3 collider_velocity(int collider, double time, const Vec3& point) const;
  void restore_contacts(const Island& island);
  /// Contact as a force that is constant during a frame (CPD Eq. 22), in place of one inside W: repulsion.cpp.
  bool repels() const { return scene.contact && scene.contact->response == "explicit"; }
  int feature_substeps(const Island& island, double h);
  bool has_contact() const { return !model.colliders.empty() || scene.contact; }
  /// Heaps: lying.cpp.
  bool is_slow(const Island& island) const;
  void put_to_sleep(Island& island, StepOutcome& outcome);
  void foresee_contacts();
  /// Bodies of different islands that touch where these have come to; true when there are more than before.
  bool find_new_contacts();
  template <class End, class Slack, class MayJoin>
  bool join_islands(End&& end, Slack&& slack, MayJoin&& may_join);
  void keep_substep(const Island& island);
  void return_to_substep(Island& island);
  bool update_anchors(double time);
  /// Anchor points as they are at the start of the frame, or a `fraction` into it.
  void place_anchors(Island& island, double time, double fraction = 0);
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
  /// What the dials ask for, what is owed and what is lost: ledger.cpp.
  double damping_of(int body, double time) const;
  void hold_momenta(Island& island, double time, double h);
  std::optional<double> dialled_energy(int body, double time) const;
  void inject_energy(Island& island, double time) const;
  Demand demand_on(const Island& island, double time, double h, int substeps) const;
  void settle(const Island& island, const StepOutcome& outcome, const Demand& demand);
  double owed_to(const Bounce& bounce) const;
  void pay(const Bounce& bounce, double paid);
  void book_impacts();
  void recall(Island& island) const;
  void load(Island& island) const;
  void store(const Island& island);
  void remember();
  void energy_changed(int body);
  void set_anchor_specs();
  struct Allowance {  // of an island in a frame, in Work::milliseconds
    double milliseconds = std::numeric_limits<double>::infinity();
    double begun = 0;
    int substeps = std::numeric_limits<int>::max();
    double spent(const Island& island) const { return limits() ? island.work().milliseconds() - begun : 0; }
    bool limits() const { return milliseconds < std::numeric_limits<double>::infinity(); }
    double left(const Island& island) const { return std::max(0.0, milliseconds - spent(island)); }
  };
  Allowance allowance_of(const Island& island) const;
  StepOutcome advance(Island& island, StepReport& report);
  StepOutcome advance_free(Island& island, StepReport& report);
  int plan_free_substeps(Island& island, double h, const Allowance& allowance);
  void lower_dialled_energy(Island& island, double time, double h);
  StepOutcome advance_contact(Island& island, StepReport& report, bool all);
  StepOutcome take_step(Island& island, double h, const Demand& demand, bool calm);
  bool falls_asleep(const Island& island);
  struct StepErrors {  // scaled residuals, the largest of a frame
    double p = 0, l = 0, h = 0;
    void add(const StepOutcome& outcome);
  };
  void write_report(const Island& island, int iterations, int substeps, const StepErrors& worst, StepReport& report);
  void back_to_start(Island& island, bool restarts);
  int plan_contact_substeps(Island& island, double h, const Allowance& allowance);
  bool settles(const Island& island) const;
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
  std::vector<FrictionAnchor> start_anchors_;
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
  struct {  // see keep_substep
    Motion motion;
    std::vector<BodyLedger> ledger;
    std::vector<FrictionAnchor> friction_anchors;
    std::vector<CachedContact> contacts;
    std::vector<Met> met;
  } kept_;
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
