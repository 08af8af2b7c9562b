// What the benchmark has measured, as data: rows of the CSV and the tables printed beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verve/simulation.h"

namespace verve::bench {

/// Repeats of one measurement [ms].
class Times {
 public:
  void add(double milliseconds) { samples_.push_back(milliseconds); }
  bool empty() const { return samples_.empty(); }
  double least() const;
  double median() const;
  const std::vector<double>& samples() const { return samples_; }  ///< in the order in which they were taken
  double mean() const;

 private:
  std::vector<double> samples_;
};

/// One line of the CSV.
struct Row {
  std::string group, name;
  int vertices = 0, elements = 0, threads = 1;
  Precision precision = Precision::float64;
  double ms_min = 0, ms_median = 0;
  std::optional<double> ratio_textbook, ratio_scalar;
  double error_h = 0;
  std::uint64_t hash = 0;
};
const char* to_string(Precision precision);

/// What was right about a solver's answer, judged by the textbook's matrix and projections.
struct Answer {
  double residual = 0;    ///< |grad g| after the iterations, relative to the start
  double difference = 0;  ///< largest distance of a vertex from the textbook's answer, relative to the size of the body
};

/// One way of running the iterations of a case: Verve at a precision and a number of threads, or a baseline.
struct Variant {
  std::string solver;  ///< "pd", "cpd", "xpbd", "scalar", "textbook"
  Precision precision = Precision::float64;
  int threads = 1;
  Times setup;                           ///< per step
  Times local, global, rest, iteration;  ///< per iteration; rest: inner products and the small system
  Times refactor;
  /// A whole iteration undisturbed: the least times of its parts together. Long before a busy machine leaves a whole
  /// iteration alone it has left each part alone once.
  double least_iteration() const { return local.least() + global.least() + rest.least(); }
  std::optional<Answer> answer;
  double error_h = 0;
  std::uint64_t hash = 0;
};
struct CaseResult {
  std::string name;
  int vertices = 0, elements = 0, iterations = 0;
  std::vector<Variant> variants;
  const Variant* find(const std::string& solver, Precision precision, int threads) const;
};

/// How many times longer an iteration of `a` takes than one of `b`, which took turns: the median over the rounds.
double paired_ratio(const Variant& a, const Variant& b);

/// What Kee et al. 2021, Sec. 5, evaluate in parallel, the energies and gradients of all elements, on two threads: how
/// many times faster than on one, and whether that is the 1.5 times and the same bits that are asked of it.
struct TwoThreads {
  double speedup = 0;
  bool same_bits = false;
  static constexpr double least = 1.5;
  bool holds() const { return speedup >= least && same_bits; }
};
/// Of plain PD in float; nothing where it was not measured on one and two threads.
std::optional<TwoThreads> two_threads(const CaseResult& result);

/// A row of Table 1 in Kee et al. 2021 [ms]: "init" is the set-up of a step, "ls" the small linear system.
struct PaperRow {
  const char* object;
  int vertices, elements;
  double iterations, frame, init, pd, ls;
};
struct FrameVariant {
  Precision precision = Precision::float64;
  int threads = 1;
  Times milliseconds;      ///< of each frame
  Times iteration, setup;  ///< of each frame, per iteration and per sub-step
  long iterations = 0;
  StepTimings sum;
  double error_h = 0;
  std::uint64_t hash = 0;
  /// Time per iteration x the paper's iterations + set-up of one step, by the medians over the frames [ms], and by the
  /// least: what a quiet machine takes.
  double at_paper_iterations(const PaperRow& paper) const;
  double least_at_paper_iterations(const PaperRow& paper) const;
};
struct FrameResult {
  std::string name, note;
  PaperRow paper{};
  int vertices = 0, elements = 0, frames = 0;
  std::vector<FrameVariant> variants;
};

struct GrowthResult {
  std::string name;
  std::string solver;  ///< of the global step, as it was chosen: "direct", "multigrid"
  int vertices = 0, elements = 0;
  long nonzeros = 0;     ///< of the factor
  double megabytes = 0;  ///< most memory held while loading, factoring and stepping; 0 where it cannot be told
  double load_ms = 0;    ///< mesh, elements, ordering
  double factor_ms = 0;  ///< assembly and symbolic and numeric factorisation, once
  std::vector<Variant> variants;
};

/// A few anchors set for a short while, on one thread.
struct ChangesResult {
  std::string name;
  int rank = 0, vertices = 0, elements = 0;
  Precision precision = Precision::float64;
  Times set;                         ///< taking the changes in
  Times plain_solve, changed_solve;  ///< three right-hand sides, without and with them
  Times refactor;
  double difference = 0;  ///< of the solution from that of a refactored matrix, relative
  std::uint64_t hash = 0;
};

/// A potential by itself, on one thread, taking turns with tet_strain.
struct KernelResult {
  std::string name, acts_on;
  int vertices = 0, elements = 0, reference_elements = 0;
  Precision precision = Precision::float64;
  Times own, reference;
  std::uint64_t hash = 0;
  double nanoseconds() const { return 1e6 * own.least() / elements; }  ///< per element
  double reference_nanoseconds() const { return 1e6 * reference.least() / reference_elements; }
};

/// Candidates for contact in frames of one situation, by one way of finding them.
struct PairsResult {
  std::string name, finder;
  int vertices = 0, triangles = 0, threads = 1;
  Times milliseconds;  ///< of each frame
  long pairs = 0;      ///< in the second frame, of vertices and faces and of edges
  std::uint64_t hash = 0;
};

/// Frames of a scene that tears, the least time of each over several runs, on one thread.
struct TearingResult {
  std::string name;
  int vertices = 0, elements = 0, torn = 0;
  Times frames, changed;  ///< all of them; those in which something tore, and those after them
  double largest = 0;     ///< of `changed`
  double change = 0;      ///< likewise, where each frame has no more iterations than the mean: the change alone
  std::uint64_t hash = 0;
};

/// Frames of a scene in which things touch, the least time of each over several runs, on one thread.
struct ContactResult {
  std::string name;
  int vertices = 0, elements = 0, bodies = 0;
  Times milliseconds;                      ///< of each frame
  double longest = 0;                      ///< of them
  Times touching;                          ///< of those in which something touches and has to be computed
  double step = 0;                         ///< of a frame, in the scene [ms]
  double budget = 0;                       ///< of a frame (SolverSpec::budget); 0: none
  double detection = 0;                    ///< share of the time that goes into finding contacts
  double deepest_vertex = 0, deepest = 0;  ///< in another body, as a share of its width (Interpenetration)
  double iterations = 0;                   ///< mean
  double error_h = 0;
  std::uint64_t hash = 0;
};

/// Snapshots of a scene in motion and going back to them, and frames in the middle of which a body like it joins, made
/// beforehand; on one thread.
struct WorldResult {
  std::string name;
  int vertices = 0, elements = 0;
  Times save, restore, write;  ///< in memory; as bytes
  Times frames;                ///< with two bodies (of those before the second one, twice the time), the least of each
  double joining = 0;          ///< the frame in which it joins, with that
  double longest = 0;          ///< of all
  std::uint64_t hash = 0;
};

/// How g = 1/2 |v - u|^2_M + W falls in one step of backward Euler, by one way of minimising it, on one thread.
struct MinimiserResult {
  struct Point {
    int iterations;
    Times milliseconds;  ///< of the whole step
    double left = 0;     ///< of g - min g, in units of what it is where the step begins
    std::uint64_t hash = 0;
  };
  std::string name, method;
  int vertices = 0, elements = 0;
  std::vector<Point> points;
  double per_iteration = 0;  ///< [ms]
  double work = 0;           ///< of an iteration with a factor: operations of its factorisations and solves
  /// The first point where no more than `share` is left; null when there is none.
  const Point* reach(double share) const;
};

struct Results {
  std::vector<CaseResult> cases;
  std::vector<FrameResult> frames;
  std::vector<GrowthResult> growth;
  std::vector<ChangesResult> changes;
  std::vector<KernelResult> kernels;
  std::vector<PairsResult> pairs;
  std::vector<TearingResult> tearing;
  std::vector<WorldResult> worlds;
  std::vector<MinimiserResult> minimisers;
  std::vector<ContactResult> contacts, budgets;
};

/// Rows of `groups` (all when empty), in a fixed order.
std::vector<Row> rows_of(const Results& results, const std::vector<std::string>& groups);
std::string csv_of(const std::vector<Row>& rows);

}  // namespace verve::bench
