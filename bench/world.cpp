// What a world that changes while it runs costs: going to and fro between snapshots, and taking in a body that was made
// beforehand.
#include <algorithm>
#include <stdexcept>

#include "bench/run.h"
#include "verve/scene_file.h"

namespace verve::bench {

std::vector<std::string> world_case_names() { return {"bear"}; }

WorldResult measure_world(const std::string& name, const Options& options, Pace& pace) {
  const Scene scene = read_scene(name).value();
  Simulation simulation = Simulation::create(scene, {.threads = 1}).value();
  const auto milliseconds = [](auto&& work) {
    const double begin = now();
    work();
    return 1e3 * (now() - begin);
  };
  WorldResult out;
  out.name = name, out.vertices = simulation.vertices(), out.elements = simulation.elements();
  const auto step = [&] {
    if (const StepReport report = simulation.step(); !report) throw std::runtime_error(name + ": " + report.message);
  };
  for (int f = 0; f < 10; ++f) step();
  const Snapshot start = simulation.save();

  // a frame apart, so that there is something to go back
  pace.begin_rounds(options.quick ? 0.5 : 2, 10, 300);
  while (pace.next_round()) {
    out.save.add(milliseconds([&] { static_cast<void>(simulation.save()); }));
    step();
    out.restore.add(milliseconds([&] { static_cast<void>(simulation.restore(start)); }));
    const Snapshot now_there = simulation.save();
    out.write.add(milliseconds([&] { static_cast<void>(now_there.bytes()); }));
  }

  // the same frames again and again: the least time of each is that of a quiet machine
  // (not at frame 20, for which the bear alone has three times the iterations of those around it)
  constexpr int frames = 40, joins = 22;
  std::vector<double> least(frames, 1e300);
  BodySpec twin = scene.bodies[0];
  twin.name = "twin", twin.place.translate += Vec3{30, 0, 0};
  twin.initial = {};  // at rest, as what is dropped into a world
  pace.begin_rounds(options.quick ? 3 : 10, 3, 20);
  while (pace.next_round()) {
    static_cast<void>(simulation.restore(start));
    PreparedBody prepared = simulation.prepare(twin).value();
    for (int f = 0; f < frames; ++f) {
      const double taken = milliseconds([&] {
        if (f == joins) simulation.add_body(std::move(prepared));
        step();
      });
      // two bodies take twice as long: what is compared is a frame of those that are there
      least[f] = std::min(least[f], f >= joins ? taken : 2 * taken);
    }
    out.hash = simulation.state_hash();
  }
  for (const double ms : least) out.frames.add(ms);
  out.joining = least[joins];
  out.longest = *std::max_element(least.begin(), least.end());
  return out;
}

}  // namespace verve::bench
