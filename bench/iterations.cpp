// Single iterations of PD and CPD beside the baselines.
#include <algorithm>
#include <memory>
#include <tuple>

#include "bench/cases.h"
#include "bench/run.h"
#include "bench/scalar.h"
#include "bench/subject.h"
#include "bench/textbook.h"

namespace verve::bench {

namespace {

constexpr Precision precisions[] = {Precision::float32, Precision::float64};

double size_of(const std::vector<Vec3>& x) {
  Vec3 lower = x[0], upper = x[0];
  for (const Vec3& p : x)
    for (int i = 0; i < 3; ++i) lower[i] = std::min(lower[i], p[i]), upper[i] = std::max(upper[i], p[i]);
  return norm(upper - lower);
}

double largest_distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, norm(a[i] - b[i]));
  return largest;
}

/// Verve: all from the timings that a step keeps itself. The local step runs once more than the others, to see the
/// residuals of the last iterate.
void measure(Subject& subject, const Settings& settings, int threads, Variant& out) {
  subject.step(settings, threads);  // brings back into the caches what the others drove out, as the step before does
  const StepOutcome step = subject.step(settings, threads);
  const StepTimings& t = step.timings;
  // a position-based step consists of its sweeps, and of two passes over the rows
  const int local_steps = step.iterations + (out.solver == "xpbd" ? 0 : 1);
  const double local = t.local / local_steps, global = t.global / std::max(1, step.iterations),
               rest = out.solver == "xpbd" ? 0 : (t.conservation + t.update) / std::max(1, step.iterations);
  out.setup.add(t.setup);
  out.local.add(local), out.global.add(global), out.rest.add(rest);
  out.iteration.add(local + global + rest);
  out.error_h = step.error_h;
  out.hash = subject.hash();
}

/// Assembly and numeric factorisation with the pattern known: by what a change of material lengthens the set-up.
void measure_refactor(Subject& subject, const Settings& settings, Variant& out) {
  subject.island().matrix_changed();
  out.refactor.add(subject.step(settings, out.threads).timings.setup - out.setup.least());
}

/// The first iteration only warms the caches; each of the others is a sample of its own. In processor time, which other
/// programs do not lengthen: on a busy machine Verve may look slower than it is, a baseline may not.
void measure(Baseline& solver, int iterations, Variant& out) {
  solver.start();
  for (int k = 0; k <= iterations; ++k) {
    const double begin = thread_time();
    solver.local();
    const double middle = thread_time();
    solver.global();
    const double end = thread_time();
    if (k == 0) continue;
    out.local.add(1e3 * (middle - begin)), out.global.add(1e3 * (end - middle));
    out.iteration.add(1e3 * (end - begin));
    out.rest.add(0);
  }
}

bool is_ours(const Variant& v) { return v.solver == "pd" || v.solver == "cpd" || v.solver == "xpbd"; }

class Judge {
 public:
  Judge(Textbook& textbook, const PdProblem& problem, int iterations) : textbook_(textbook) {
    textbook.start();
    for (int k = 0; k < iterations; ++k) textbook.local(), textbook.global();
    reference_ = textbook.positions();
    first_residual_ = textbook.residual_at(problem.y);
    size_ = size_of(reference_);
  }
  Answer operator()(const std::vector<Vec3>& x) {
    return {textbook_.residual_at(x) / first_residual_, largest_distance(x, reference_) / size_};
  }
  const std::vector<Vec3>& reference() const { return reference_; }

 private:
  Textbook& textbook_;
  std::vector<Vec3> reference_;
  double first_residual_ = 0, size_ = 0;
};

}  // namespace

CaseResult measure_iterations(const std::string& name, const Options& options, Pace& pace) {
  const auto wanted = [&](const char* group) {
    return options.groups.empty() ||
           std::find(options.groups.begin(), options.groups.end(), group) != options.groups.end();
  };
  const bool with_pd = wanted("local") || wanted("global") || wanted("pd_iteration") || wanted("cpd_iteration");
  const bool with_cpd = wanted("cpd_iteration") || wanted("cpd_setup");
  const bool with_baselines = wanted("local") || wanted("global") || wanted("pd_iteration");

  const IterationCase c = iteration_case(name);
  Subject subject(c.scene, c.warm_up);
  CaseResult out{name, subject.vertices(), subject.elements(), c.iterations, {}};
  const auto add = [&](const char* solver, Precision precision, int threads) {
    Variant& v = out.variants.emplace_back();
    v.solver = solver, v.precision = precision, v.threads = threads;
  };
  for (const char* solver : {"pd", "cpd"}) {
    const bool pd = std::string(solver) == "pd";
    if (pd ? !with_pd && !wanted("refactor") : !with_cpd) continue;
    for (const Precision precision : precisions)
      for (const int threads : options.threads) add(solver, precision, threads);
  }
  if (wanted("sweep"))
    for (const int threads : options.threads) add("xpbd", Precision::float64, threads);
  const PdProblem problem = subject.problem();
  std::unique_ptr<Textbook> textbook;
  std::vector<std::unique_ptr<Baseline>> scalar;
  std::unique_ptr<Judge> judge;
  if (with_baselines && !pace.ask()) {
    pace.say(name + ": factor of the baselines");
    textbook = std::make_unique<Textbook>(problem);
    const PlainFactor factor = textbook->factor();
    scalar.push_back(std::make_unique<ScalarCode<float>>(problem, factor));
    scalar.push_back(std::make_unique<ScalarCode<double>>(problem, factor));
    for (const Precision precision : precisions) add("scalar", precision, 1);
    add("textbook", Precision::float64, 1);
    judge = std::make_unique<Judge>(*textbook, problem, c.iterations);
  }
  const auto baseline = [&](const Variant& v) -> Baseline& {
    return v.solver == "textbook" ? *textbook : *scalar[v.precision == Precision::float32 ? 0 : 1];
  };

  // answers first: this makes every factor as well
  pace.say(name + ": answers");
  std::vector<Settings> settings;
  for (Variant& v : out.variants) {
    if (pace.ask()) return out;
    const bool ours = is_ours(v);
    settings.push_back(ours ? fixed_iterations(v.solver, v.precision, c.iterations) : Settings());
    if (ours) subject.step(settings.back(), v.threads);
    if (!judge || v.solver == "cpd" || v.solver == "xpbd") continue;  // these solve something else
    if (!ours) {
      Baseline& solver = baseline(v);
      solver.start();
      for (int k = 0; k < c.iterations; ++k) solver.local(), solver.global();
    }
    v.answer = (*judge)(ours ? subject.positions() : baseline(v).positions());
  }

  // What is compared with each other comes one after the other: pd and cpd of each precision and number of threads.
  std::vector<size_t> turns;
  for (size_t i = 0; i < out.variants.size(); ++i) turns.push_back(i);
  std::stable_sort(turns.begin(), turns.end(), [&](size_t a, size_t b) {
    const auto key = [](const Variant& v) { return std::tuple(!is_ours(v), v.precision, v.threads); };
    return key(out.variants[a]) < key(out.variants[b]);
  });
  // Of a large case baselines take most of the time: with the fewest rounds that they settle in, few of ours would be
  // left undisturbed.
  const int fewest = 16, fewest_of_baselines = 3, most = options.quick ? 30 : 200;
  pace.begin_rounds(options.quick ? 1.5 : 10, fewest, most);
  for (int round = 1; pace.next_round(); ++round) {
    pace.say(name + ": round " + std::to_string(round));
    for (const size_t i : turns) {
      Variant& v = out.variants[i];
      if (is_ours(v)) {
        measure(subject, settings[i], v.threads, v);
      } else if (round <= fewest_of_baselines || round % 8 == 0) {
        measure(baseline(v), v.solver == "textbook" ? 2 : 4, v);
      }
    }
  }

  if (wanted("refactor")) {
    pace.begin_rounds(options.quick ? 0.3 : 2, 2, 20);
    while (pace.next_round()) {
      pace.say(name + ": refactor");
      for (size_t i = 0; i < out.variants.size(); ++i) {
        if (out.variants[i].solver == "pd") measure_refactor(subject, settings[i], out.variants[i]);
      }
    }
  }
  return out;
}

}  // namespace verve::bench
