// verve truth: scenes by methods by equal time, each run beside a fine-step one; what must hold, profiles and a page.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>

#include "base/parallel.h"
#include "checks.h"
#include "commands.h"
#include "figures/page.h"
#include "figures/truth/lines.h"
#include "figures/truth/tables.h"
#include "flags.h"
#include "interrupt.h"
#include "run.h"
#include "terminal.h"
#include "verve/registry.h"
#include "verve/version.h"

namespace verve::cli {

namespace fs = std::filesystem;

namespace {

using namespace verve::figures;
using Clock = std::chrono::steady_clock;

/// The command line, read.
struct Request {
  std::vector<TruthScene> scenes, random;
  StudyOptions options;
  std::string method;
  int workers = 1;
  bool bars = true;
  bool variants = false;  ///< none but these
};

std::vector<TruthScene> chosen_scenes(const TruthOptions& options, bool& bars, Diagnostics& problems) {
  std::vector<TruthScene> known = truth_scenes();
  known.insert(known.end(), truth_variants().begin(), truth_variants().end());
  std::vector<std::string> names{"bars", "variants"};
  for (const TruthScene& s : known) names.push_back(s.name);
  std::vector<TruthScene> out;
  const auto add = [&](const TruthScene& scene) {
    if (std::none_of(out.begin(), out.end(), [&](const TruthScene& s) { return s.name == scene.name; }))
      out.push_back(scene);
  };
  bars = options.names.empty();
  for (const std::string& name : options.names) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const TruthScene& s) { return s.name == name; });
    if (name == "bars")
      bars = true;
    else if (name == "variants")
      for (const TruthScene& s : truth_variants()) add(s);
    else if (found == known.end())
      problems.error(name, "no such scene, " + expected_one_of(name, names));
    else
      add(*found);
  }
  if (!options.names.empty()) return out;
  // quick: a sheet, a solid and a chain, at three step sizes
  for (const TruthScene& s : truth_scenes())
    if (!options.quick || s.name == "cloth" || s.name == "cube" || s.name == "chain") out.push_back(s);
  return out;
}

Request read_request(const TruthOptions& options, Diagnostics& problems) {
  Request out;
  out.scenes = chosen_scenes(options, out.bars, problems);
  out.workers = read_count("--threads", options.threads, problems).value_or(hardware_threads());
  out.method = options.method.empty() ? SolverSpec{}.method : options.method;
  read_method("--method", out.method, problems);
  const int seed = read_whole("--seed", options.seed, 0, 1 << 30, problems).value_or(1);
  if (!options.seed.empty() && options.random.empty())
    problems.error("--seed", "found without --random, expected a number of scenes to draw");
  if (const auto count = read_whole("--random", options.random, 1, 1000, problems))
    out.random = random_truth_scenes(*count, std::uint64_t(seed));
  out.options.methods = split_list(options.methods);
  for (const std::string& m : out.options.methods) read_method("--methods", m, problems);
  out.variants = !out.scenes.empty() && std::all_of(out.scenes.begin(), out.scenes.end(), [](const TruthScene& s) {
    return s.set == TruthScene::Set::variants;
  });
  // variants are about lines, not about equal time
  out.options.budgets_only_own = out.variants && options.budgets.empty();
  if (options.methods.empty()) out.options.methods = options.quick || out.variants ? rivals() : stable_methods();
  if (std::find(out.options.methods.begin(), out.options.methods.end(), out.method) == out.options.methods.end())
    out.options.methods.insert(out.options.methods.begin(), out.method);
  if (!options.budgets.empty()) {
    out.options.budgets.clear();
    for (const std::string& word : split_list(options.budgets)) {
      if (word.empty())
        problems.error("--budgets", "found \"" + options.budgets + "\", expected numbers between commas");
      if (const auto ms = read_positive("--budgets", word, problems)) out.options.budgets.push_back(*ms);
    }
    std::sort(out.options.budgets.begin(), out.options.budgets.end());
  } else if (options.quick) {
    out.options.budgets = {0.5, 1, 2};
  }
  if (options.quick) out.options.frames = 45;
  return out;
}

void list_scenes() {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto list = [&](const std::vector<TruthScene>& scenes) {
    for (const TruthScene& s : scenes)
      rows.emplace_back(s.name, s.kind + ", " + std::to_string(s.frames) + " frames: " + s.base + " " + as_flags(s));
  };
  list(truth_scenes());
  rows.emplace_back("bars", "1280 tetrahedra of three materials, free and clamped");
  rows.emplace_back("variants", "all of these:");
  list(truth_variants());
  print_columns(rows, 2);
}

/// Sections of the page; the texts live as long as they do.
class Sections {
 public:
  Result& add(const std::string& name, const std::string& title, const std::string& shows) {
    for (const std::string& text : {name, title, shows}) texts_.push_back(text);
    const size_t n = texts_.size();
    figures_.push_back(
        {texts_[n - 3].c_str(), texts_[n - 2].c_str(), texts_[n - 1].c_str(), "docs/truth.md", 1, 1, nullptr});
    made.push_back({&figures_.back(), {}});
    return made.back().result;
  }
  std::vector<Made> made;

 private:
  std::deque<std::string> texts_;
  std::deque<Figure> figures_;
};

void add_cases(Sections& sections, const std::vector<TruthCase>& cases, const Request& request) {
  for (const TruthCase& c : cases)
    judge_scene(c, request.method, request.options,
                sections.add(c.scene.name, c.scene.kind + ", as " + c.scene.base,
                             "verve compare " + c.scene.base + " " + as_flags(c.scene) + " --frames " +
                                 std::to_string(c.scene.frames) + " --reference " + std::to_string(c.truth_steps)));
}

std::string introduction(const Request& request, int passed, int failed, double seconds, bool quick) {
  std::string budgets;
  for (const double b : request.options.budgets) budgets += (budgets.empty() ? "" : ", ") + with_unit(b, "");
  return "<p>" + std::to_string(request.scenes.size()) + " scenes and " + std::to_string(request.random.size()) +
         " drawn at random by " + std::to_string(request.options.methods.size()) +
         " methods, each with as many sub-steps and iterations as fill " + budgets +
         " ms per frame (processor time of one thread), beside a run in fine steps that stands for the truth. "
         "Distances, amplitudes, phases and energies are those of docs/truth.md. What must hold is judged of <b>" +
         escaped(request.method) + "</b> as it is by default; what does not is marked.</p>\n<p>" +
         verdict(passed, failed) + " in " + format_duration(seconds) +
         (quick ? ", <b>quick: few scenes and methods, short runs</b>" : "") + ". Verve " VERVE_VERSION ".</p>\n";
}

}  // namespace

int truth(const TruthOptions& options, Diagnostics problems) {
  const Request request = read_request(options, problems);
  const fs::path out = options.out.empty() ? "runs/truth" : options.out;
  if (problems.has_errors()) return refuse(problems, "nothing was run");
  if (options.list) {
    list_scenes();
    return exit_done;
  }
  FolderLock lock;
  if (!claim_directory(out.string(), lock, problems)) return refuse(problems, "nothing was run");

  InterruptGuard interrupt;
  Context context;
  context.quick = options.quick;
  context.stopped = [] { return InterruptGuard::signal() != 0; };
  const Clock::time_point begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::vector<TruthCase> ours, random;
  std::vector<BarRow> bars;
  try {
    const auto run = [&](const std::vector<TruthScene>& scenes, const char* label) {
      Progress progress(label, int(scenes.size() * request.options.methods.size()), options.quiet, "run");
      return study(context, scenes, request.options, request.workers, [&](int done) { progress.update(done); });
    };
    ours = run(request.scenes, "scenes");
    if (!request.random.empty() && !InterruptGuard::signal()) random = run(request.random, "random scenes");
    if (request.bars && !InterruptGuard::signal()) bars = bar_rows(context, request.method, request.workers);
  } catch (const Interrupted&) {  // of the bars; the page has what was finished
  }
  const int signal = InterruptGuard::signal();

  Sections sections, random_sections;
  if (!ours.empty()) {
    Result& all = sections.add("profiles", "All scenes", "Which methods come nearest to the truth in equal time.");
    show_lines(ours, request.method, all);
    if (!request.options.budgets_only_own) show_profiles(ours, request.method, request.options, all);
  }
  add_cases(sections, ours, request);
  if (!bars.empty())
    judge_bars(bars, sections.add("bars", "Bars of three materials",
                                  "Free ones are stretched by a tenth and released, clamped ones fall under their "
                                  "weight; the truth is an explicit run in 512 steps per frame."));
  if (!random.empty()) {
    show_profiles(random, request.method, request.options,
                  random_sections.add("random-profiles", "Random scenes",
                                      "The same of scenes that were drawn: no constant was chosen on them."));
    add_cases(random_sections, random, request);
  }
  int passed = 0, failed = 0, random_passed = 0, random_failed = 0;
  std::vector<std::pair<std::string, Check>> checks;
  for (const Made& m : sections.made) {
    passed += m.result.passed(), failed += m.result.failed();
    for (const Check& c : m.result.checks) checks.emplace_back(m.figure->name, c);
  }
  for (const Made& m : random_sections.made) {
    random_passed += m.result.passed(), random_failed += m.result.failed();
    for (const Check& c : m.result.checks) checks.emplace_back(m.figure->name, c);
  }
  std::vector<Made> made = sections.made;
  made.insert(made.end(), random_sections.made.begin(), random_sections.made.end());
  if (!options.quiet)
    for (const Made& m : made)
      if (!m.result.checks.empty()) print_checks(*m.figure, m.result);

  std::vector<TruthCase> all = ours;
  all.insert(all.end(), random.begin(), random.end());
  bool written = true;
  const auto write = [&](const char* name, const std::string& text) {
    written = write_text((out / name).string(), text, problems) && written;
  };
  write("runs.csv", runs_csv(all));
  write("scenes.csv", scenes_csv(all));
  write("profiles.csv", profiles_csv(ours, random, request.options));
  write("bars.csv", bars_csv(bars));
  write("checks.csv", checks_csv(made));
  write("truth.json", study_json(ours, random, bars, request.options, request.method, checks));
  for (const Made& m : made)
    for (const Picture& p : m.result.pictures)
      write((std::string(m.figure->name) == "profiles" ? p.name : "random_" + p.name).c_str(), p.bytes);
  write("index.html",
        page({"Verve: motion beside the truth", "Motion beside the truth",
              introduction(request, passed + random_passed, failed + random_failed, seconds(), options.quick), ""},
             made));
  report(problems);
  if (!options.quiet) std::printf("\n%s\n", (out / "index.html").string().c_str());
  if (!random.empty()) std::printf("random scenes: %d passed, %d failed\n", random_passed, random_failed);
  if (signal)
    std::fprintf(stderr, "verve: truth: interrupted after %d of %d scenes; the page has those\n", int(all.size()),
                 int(request.scenes.size() + request.random.size()));
  std::printf("%d passed, %d failed\n", passed, failed);
  if (signal) return 128 + signal;
  return failed || !written ? exit_failed : exit_done;
}

}  // namespace verve::cli
