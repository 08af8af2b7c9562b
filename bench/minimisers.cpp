// One step of backward Euler by every minimiser: what is left of the objective against iterations and against time (PD
// Fig. 11 and 12 for PD and Newton's method).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/run.h"
#include "bench/subject.h"
#include "linear/block_assembly.h"
#include "linear/symbolic.h"
#include "verve/scene_file.h"

namespace verve::bench {

namespace {

struct Way {
  const char *name, *method;
  Acceleration acceleration;
  int most;                             // iterations
  enum { none, constant, own } factor;  // what an iteration solves with
};
constexpr Way ways[] = {{"pd", "pd", Acceleration::none, 300, Way::constant},
                        {"pd_anderson", "pd", Acceleration::anderson, 300, Way::constant},
                        {"lbfgs", "lbfgs", Acceleration::none, 300, Way::constant},
                        {"newton", "newton", Acceleration::none, 20, Way::own},
                        {"admm", "admm", Acceleration::none, 300, Way::constant},
                        {"gauss_seidel", "gauss_seidel", Acceleration::none, 600, Way::none},
                        {"jacobi", "jacobi", Acceleration::none, 2000, Way::none},
                        {"jacobi_chebyshev", "jacobi", Acceleration::chebyshev, 2000, Way::none}};

/// Multiplications and additions that the fronts of a factor take, and a solve with it for one right-hand side.
struct Work {
  double factor = 0, solve = 0;
  explicit Work(const SymmetricMatrix& pattern) {
    std::vector<int> order(pattern.size);
    std::iota(order.begin(), order.end(), 0);  // islands are renumbered to a good one
    for (const Supernode& node : analyze(pattern, order).nodes)
      for (int column = 0; column < node.width; ++column) {
        const double entries = node.rows - column;
        factor += entries * entries, solve += 4 * entries;
      }
  }
};

/// Of an iteration of PD, whose factor is made once: three right-hand sides; of one of Newton's method: a factor of
/// three rows per vertex, and a solve. What the elements take is not in it.
double work_of(const Way& way, const Subject& subject) {
  if (way.factor == Way::none) return 0;
  const SymmetricAssembly assembly = subject.assemble();
  const SymmetricMatrix& scalar = assembly.matrix();
  if (way.factor == Way::constant) return 3 * Work(scalar).solve;
  BlockAssembly blocks;
  blocks.begin_pattern(scalar.size);
  for (int c = 0; c < scalar.size; ++c)
    for (int k = scalar.start[c]; k < scalar.start[c + 1]; ++k) blocks.add(scalar.row[k], c, 1.0);
  blocks.finish_pattern();
  SymmetricMatrix rows;
  expand(blocks.matrix(), rows);
  const Work work(rows);
  return work.factor + work.solve;
}

Settings settings_of(const Way& way, int iterations) {
  SolverSpec spec;
  spec.method = way.method;
  spec.acceleration = way.acceleration;
  Settings out = resolve(spec);
  out.iterations = iterations;
  out.tolerance = 0;
  return out;
}

double objective(Subject& subject) {
  const Island& island = subject.island();
  const BaseStep& b = island.solver().base();
  double sum = island.motion.energy;
  for (int r = 0; r < island.rows(); ++r) {
    const Vec4 d = (island.motion.x[r] - b.xb[r]) * (1 / b.hh) - b.u[r];
    sum += 0.5 * island.forcing.mass[r] * dot(d, d);
  }
  return sum;
}

}  // namespace

std::vector<std::string> minimiser_case_names() { return {"twisting_bar", "hippo"}; }

std::vector<MinimiserResult> measure_minimisers(const std::string& name, const Options& options, Pace& pace) {
  Expected<Scene> scene = read_scene(name);
  if (!scene) throw std::runtime_error(scene.diagnostics().text());
  return measure_minimisers(name, std::move(*scene), options, pace);
}

std::vector<MinimiserResult> measure_minimisers(const std::string& name, Scene scene, const Options& options,
                                                Pace& pace) {
  // from its start, which is as hard as it gets
  Subject subject(std::move(scene), 0);
  const Way& newton = ways[3];
  pace.say(name + ": minimum");
  subject.step(settings_of(newton, 40), 1);
  const double least = objective(subject);
  subject.step(settings_of(newton, 0), 1);
  const double most = objective(subject) - least;

  std::vector<MinimiserResult> out;
  for (const Way& way : ways) {
    const std::vector<std::string>& wanted = options.minimisers;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), way.name) == wanted.end()) continue;
    MinimiserResult& result = out.emplace_back();
    result.name = name, result.method = way.name;
    result.vertices = subject.vertices(), result.elements = subject.elements();
    result.work = work_of(way, subject);
    double iteration = 1e300;
    for (int k = 1; k <= way.most; k = std::max(k + 1, k * 5 / 4)) {
      if (pace.ask()) return out;
      pace.say(name + ": " + way.name + ", " + std::to_string(k));
      MinimiserResult::Point& point = result.points.emplace_back();
      point.iterations = k;
      subject.step(settings_of(way, k), 1);  // what is allocated or factorised once is not counted
      for (int repeat = 0; repeat < (options.quick ? 1 : 5); ++repeat) {
        const double begin = thread_time();
        subject.step(settings_of(way, k), 1);
        point.milliseconds.add(1e3 * (thread_time() - begin));
      }
      point.left = std::max(0.0, objective(subject) - least) / most;
      point.hash = subject.hash();
      iteration = std::min(iteration, point.milliseconds.least() / k);
      if (point.left <= 1e-9) break;
    }
    result.per_iteration = iteration;
  }
  return out;
}

}  // namespace verve::bench
