// What a frame and each of its steps will do, decided before they are taken: pure functions of what is known then, a
// table with a row for each mode, and every constant of planning. docs/step.md
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace verve {

/// What an island is doing.
enum class Mode : std::uint8_t { free, anchored, contact, driven, asleep };

/// On which integrator a step is based (Settings::base).
enum class Base : std::uint8_t {
  method,   // the method's own
  sheets,   // that for sheets and chains, where the method has one
  contact,  // that for islands with contacts, where the method has one
  fallback  // backward Euler, where the method has a fallback
};

/// Who brings H to its target, and how (Island::correct_energy).
enum class EnergyCorrection : std::uint8_t {
  none,
  bound,        // what it has too much goes, what is missing is owed
  after_solve,  // the solve has looked for H: what it missed
  restore,      // the solve was a plain one: all that it lost, as far as restitution says, or gained
  restore_parts, // likewise in an impact: to the rigid motion and to waves what each of them has lost
  along_loss     // likewise of a searched step in the air: along what it has lost
};

/// What the steps of a mode are, by a method that conserves.
struct ModeRow {
  Mode mode;
  const char* name;
  Base base;
  bool momenta;  // held in the solve: P and L, of a pivot L about it, beside contacts those that none resists
  bool energy;   // H, likewise
  EnergyCorrection correction;
};
inline constexpr std::array<ModeRow, 5> mode_table = {{
    {Mode::free, "free", Base::method, true, true, EnergyCorrection::after_solve},
    {Mode::anchored, "anchored", Base::method, true, true, EnergyCorrection::after_solve},
    {Mode::contact, "contact", Base::contact, true, false, EnergyCorrection::restore},
    {Mode::driven, "driven", Base::fallback, false, false, EnergyCorrection::none},
    {Mode::asleep, "asleep", Base::fallback, false, false, EnergyCorrection::none},  // no step at all
}};
constexpr const ModeRow& row_of(Mode mode) { return mode_table[size_t(mode)]; }

/// Constants of planning, with their units: [1] is a number without one. "Scenes" are built-in ones, "presets" those of
/// `verve list materials`.
namespace planning {

/// Sub-steps of a frame [1]; nothing may pass another thing unseen in fewer than it takes.
inline constexpr int most_substeps = 16;
/// Of these, for the sake of vibrations and impacts [1].
inline constexpr int most_for_vibration = 8;
/// h times the frequency of the deformation that a sub-step may have [rad]: in the air four and a half steps per
/// period. A mode runs late by a twelfth of the square of it. (Decision 014: with 1.6 a T-pipe was 7 times as far from
/// fine steps; with 1.3 a box of five frames per period takes more than 7 iterations.)
inline constexpr double free_phase = 1.4;
/// Likewise where steps are searched for their length: they take fewer iterations in all (presets from mirrored, flat and
/// random starts: 36 to 60 a frame in place of 40 to 140) and do not end in a fold.
inline constexpr double searched_phase = 0.8;
/// Likewise with contacts: apexes of balls of 1e4 to 1e9 Pa within 3 % of fine steps (decision 003).
inline constexpr double contact_phase = 0.8;
/// Strain of a cell in a sub-step with contacts, by what strikes and by its velocities [1]: a body that strikes faster
/// than waves run in it is crushed layer by layer, however low its frequency. (Presets dropped from 2 m: 20 apexes of 21
/// within 5 % of fine steps, with 0.125 19, with 0.5 16, without it 17. Decision 012.)
inline constexpr double most_crushing = 0.25;
/// Of the phase, below which the number of sub-steps comes down again [1].
inline constexpr double hysteresis = 0.7;
/// Of the averages of W and of the distance from the rest shape, what the next frame leaves [1].
inline constexpr double forgetting = 0.9;
/// Error of a step (StepOutcome::loss) above which the next frame has steps of half the length [1]: energy in modes that a
/// step does not resolve leaks into those that show. Half the length has a half to a quarter of the error; below a third
/// of the bound steps may be twice as long. Of sheets and chains, and of searched steps: other solids have few such
/// modes. (Decisions 006 and 018.)
inline constexpr double most_loss = 0.3, ease = 1.0 / 3;
/// Frames in succession that steps of twice the length would have done for, before sheets and chains take them: a change
/// of length makes what is stiff ring [1].
inline constexpr int easy_frames = 10;
/// Iterations of the hardest step of a frame, above which the next frame has steps of half the length, and below which
/// it may have steps of twice: two steps of half the length take no more iterations than one of this many [1]. (With 20
/// `bear` takes a fifth longer for a twentieth less distance: solids have little energy in what a step does not resolve.
/// Decision 004.)
inline constexpr int hard_solve = 20, hard_for_solids = 30, easy_solve = 10;
/// Iterations of a plain step, with contacts or searched for its length [1]: few need more than ten, and what is not done
/// then is not worth waiting for. Of all sub-steps of a frame together, but for the least that each of them may have:
/// what an iteration leaves of a short step is less, and an impact of eight is not to take eight times as long as what
/// lies still. (With 80 and 10 a ball of 1e9 Pa came back to 2.13 m of 2.30 in place of 2.24; with 120 and 15 half of
/// what this saves is lost. Decision 009.)
inline constexpr int most_iterations = 30, most_in_frame = 96, most_in_any_case = 12;
/// What a searched step in the air may take of the forces at x_n, and go on with of its rates: kinetic energy, over all
/// energy that there is [1]. (Little depends on it between 1 and 4; at 0.3 slivers stay inside out: decision 018.)
inline constexpr double most_explicit = 1;
/// Iterations without which a sub-step is not worth having, within a budget [1].
inline constexpr int worthwhile = 5;
/// What the columns of a step with contacts and its first look at them take, in iterations [1].
inline constexpr int preparation = 4;
/// Sub-steps for passing that a budget may take away: nothing passes more than the whole of a thin body [1].
inline constexpr int passing_reserve = 4;
/// Of the budget, the least that an island has when those that have met begin the frame anew [1].
inline constexpr double left_share = 0.25;

}  // namespace planning

/// What the plan of the next frame is to know of this one.
struct SubstepControl {
  int last = 1;                     // sub-steps
  int iterations = 0;               // the most that a step of it took
  int easy = 0;                     // frames in succession that fewer would have done for
  bool unresolved = false;          // some step of it could not begin where its forces at x_n lead (StepOutcome)
  double loss = 0;                  // mean of StepOutcome::loss over its steps
  double energy = 0, distance = 0;  // of the deformation, over the last frames
};

/// How far an island is from its rest shape: W [J] and half the mass-weighted square of the distance [kg m^2].
struct Deformation {
  double energy = 0, distance = 0;
};

/// What is known of an island before its frame.
struct PlanInput {
  bool conserves = true;    // the method holds P, L and H
  int fixed_substeps = 0;   // solver.substeps; 0: automatic
  double h = 0;             // of the frame [s]
  bool anchored = false;    // to the world
  bool searched = false;    // some potential has its steps searched for their length
  bool solid = true;        // tetrahedra alone
  bool sheets = false;      // some surface that encloses nothing
  bool contacts = false;    // something may touch
  bool settling = false;    // all contacts lose energy, and no impact is going on
  int passing = 1;          // sub-steps in which nothing passes another thing unseen
  double impact_phase = 0;  // h times the frequency of a compression by what is about to strike [rad]
  double crushing = 0;      // strain of a cell in the frame, by what is about to strike and by its velocities [1]
  std::optional<Deformation> deformation;  // none: at rest, or only its weight
  SubstepControl control;
  double time_left = std::numeric_limits<double>::infinity();  // [Work::milliseconds]
  double iteration_cost = 0;                                   // likewise, of a step,
  double detection_cost = 0;                                   // and of looking for contacts, in the whole frame
};

struct Plan {
  int substeps = 1;
  SubstepControl control;
};

/// Of a plain step of a frame of so many.
constexpr int plain_iterations(int substeps) {
  using namespace planning;
  return std::min(most_iterations, std::max(most_in_any_case, most_in_frame / substeps));
}

/// Whether the impact and the deformation have a say in the number of sub-steps: they cost an evaluation each.
bool plans_by_phase(const PlanInput& input);

Plan plan_frame(const PlanInput& input);

/// What is known of an island before a step.
struct StepInput {
  bool conserves = true;
  bool anchored = false, searched = false, solid = true, contacts = false, settling = false;  // as in PlanInput
  bool driven = false;         // a hard anchor or a collider moves it: its energy is not known beforehand
  bool at_rest = false;        // nothing moves but rigidly
  bool other_members = false;  // than in the last step: no rates to go on from
  bool plain_contact_base = true;  // of Base::contact: it ends where it is minimised, in one stage
  bool after_failure = false;  // numbers were not finite
  bool beside_contact = false; // others of the frame have contacts: what is owed is for the end of an impact to pay
  bool impact = false;         // something strikes, or did a moment ago, faster than gravity stops in a frame
  double restitution = 1;      // the largest of those that may touch
  /// Of searched steps in the air: Integrator::explicit_energy, of the method's base and of Base::contact, over the energy
  /// that there is.
  double explicit_share = 0, explicit_share_of_contact_base = 0;
  int substeps = 1;            // of the frame
  double time_limit = std::numeric_limits<double>::infinity();  // [Work::milliseconds]
};

struct StepPlan {
  Mode mode = Mode::free;
  Base base = Base::method;
  bool holds = true;           // the constraints of the method, in the solve
  bool plain = false;          // in the air: P and L in the solve, H after it
  bool after_failure = false;  // numbers were not finite: without pairs, and what is missing of H is owed
  int iterations = std::numeric_limits<int>::max();  // at most
  EnergyCorrection correction = EnergyCorrection::none;
  double returned = 1;         // share of a loss that comes back, in an impact of waves alone: restitution squared
  int substeps = 1;
  double time_limit = std::numeric_limits<double>::infinity();
};

StepPlan plan_step(const StepInput& input);

}  // namespace verve
