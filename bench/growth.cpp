// Solid boxes from a thousand to a million tetrahedra: time, memory and fill.
#include <algorithm>

#include "bench/cases.h"
#include "bench/memory.h"
#include "bench/run.h"
#include "bench/subject.h"

namespace verve::bench {

GrowthResult measure_growth(const std::string& name, const Options& options, Pace& pace) {
  const auto& boxes = growth_boxes();
  const GrowthBox& box = *std::find_if(boxes.begin(), boxes.end(), [&](const GrowthBox& b) { return b.name == name; });
  forget_peak();
  const Memory before = memory_now();
  constexpr int iterations = 5;
  const Settings settings = fixed_iterations("pd", Precision::float32, iterations);

  GrowthResult out;
  out.name = name;
  pace.say(name + ": load");
  double begin = now();
  Subject subject(box_scene(name, box.cells), 0);
  out.load_ms = 1e3 * (now() - begin);
  out.vertices = subject.vertices(), out.elements = subject.elements();
  pace.say(name + ": factor");
  const double first = subject.step(settings, options.threads.back()).timings.setup;
  out.nonzeros = subject.island().solver().factor_nonzeros();
  const std::string description = subject.island().solver().description();
  out.solver = description.substr(0, description.find(','));

  for (const int threads : options.threads) {
    if (threads != 1 && threads != options.threads.back()) continue;
    Variant& v = out.variants.emplace_back();
    v.solver = "pd", v.precision = Precision::float32, v.threads = threads;
  }
  pace.begin_rounds(options.quick ? 0.3 : 3, 3, 100);
  for (int round = 1; pace.next_round(); ++round) {
    pace.say(name + ": round " + std::to_string(round));
    for (Variant& v : out.variants) {
      const StepOutcome step = subject.step(settings, v.threads);
      const StepTimings& t = step.timings;
      const double local = t.local / (iterations + 1), global = t.global / iterations,
                   rest = (t.conservation + t.update) / iterations;
      v.setup.add(t.setup), v.local.add(local), v.global.add(global), v.rest.add(rest);
      v.iteration.add(local + global + rest);
      v.error_h = step.error_h;
      v.hash = subject.hash();
    }
  }
  out.factor_ms = std::max(0.0, first - out.variants.back().setup.median());
  const Memory after = memory_now();
  out.megabytes = after.peak > before.resident ? after.peak - before.resident : 0;
  return out;
}

}  // namespace verve::bench
