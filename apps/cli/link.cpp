// verve link: what the live page computes from a link, without a page. The same messages go to the same session, so the
// state is the same, bit by bit.
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "commands.h"
#include "flags.h"
#include "live/session.h"

namespace verve::cli {

int link(const LinkOptions& options, Diagnostics problems) {
  const std::optional<int> frames = read_whole("--frames", options.frames, 0, 1000000, problems);
  const int threads = read_count("--threads", options.threads, problems).value_or(0);
  if (options.link.empty()) problems.error("link", "found none, expected an address or the part after its #");
  if (problems.has_errors()) return refuse(problems, "nothing was run");
  live::Session session({.threads = threads});
  Json open = Json::object();
  open.set("type", "open"), open.set("link", options.link);
  for (const std::string& answer : session.handle(write_json(open))) {
    std::vector<JsonProblem> faults;
    const Json said = parse_json(answer, 0, faults);
    if (said.find("type")->text == "error") problems.error("", said.find("text")->text);
    if (const Json* notes = said.find("notes"))
      for (const Json& note : notes->items) problems.warning("", note.text);
  }
  if (problems.has_errors()) return refuse(problems, "nothing was run");
  report(problems);
  session.handle(R"({"type": "pause", "on": false})");  // a link may open paused
  for (int i = 0; i < frames.value_or(60); ++i) session.advance();
  for (int lane = 0; lane < session.lanes(); ++lane) {
    const Simulation& sim = session.simulation(lane);
    const Measures m = sim.measure();
    std::printf("%-12s frame %d, %.4g s, H %.6g J, hash %016llx\n", sim.scene().solver.method.c_str(), sim.frame(),
                sim.time(), m.total, static_cast<unsigned long long>(sim.state_hash()));
  }
  return exit_done;
}

}  // namespace verve::cli
