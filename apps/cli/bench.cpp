// verve bench: what everything costs, beside the CPD paper's table and beside two baselines.
#include "bench/run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/new_file.h"
#include "base/parallel.h"
#include "bench/plot.h"
#include "commands.h"
#include "flags.h"
#include "interrupt.h"
#include "run.h"
#include "terminal.h"

namespace verve::cli {

namespace {

using namespace verve::bench;
using Table = std::vector<std::vector<std::string>>;

/// A line that renews itself on a terminal, one line per item in a pipe.
class BenchProgress final : public Observer {
 public:
  explicit BenchProgress(bool quiet) : quiet_(quiet), terminal_(isatty(STDOUT_FILENO)) {}
  ~BenchProgress() override { clear(); }

  void working(const std::string& what, int item, int items) override {
    if (quiet_) return;
    if (terminal_) {
      std::printf("\rbench  %d/%d  %s\033[K", item, items, what.c_str());
      shown_ = true;
    } else if (item != last_item_) {
      std::printf("bench: %d of %d, %s\n", item, items, what.c_str());
    }
    last_item_ = item;
    std::fflush(stdout);
  }
  bool stop() override { return InterruptGuard::signal() != 0; }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stdout), std::fflush(stdout);
    shown_ = false;
  }

 private:
  bool quiet_, terminal_, shown_ = false;
  int last_item_ = 0;
};

std::vector<std::string> read_choices(const char* flag, const std::string& text, const std::vector<std::string>& known,
                                      Diagnostics& problems) {
  std::vector<std::string> out;
  for (const std::string& word : split_list(text)) {
    if (word.empty()) {
      problems.error(flag, "found \"" + text + "\", expected names with single commas between them");
    } else if (read_choice(flag, word, known, problems)) {
      out.push_back(word);
    }
  }
  return out;
}

/// Found out before anything is measured, by the file that write_text begins with.
bool check_writable(const std::string& file, Diagnostics& problems) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    problems.error(file, "is a directory, expected a file");
    return false;
  }
  NewFile probe;
  if (const std::string reason = probe.open(file); !reason.empty()) {
    problems.error(file, "cannot be written: " + reason);
    return false;
  }
  return true;
}

std::string ms(double value) { return value > 0 ? format_value(value) : "–"; }
std::string fixed(double value, int digits) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}
std::string times(double baseline, double ours) { return ours > 0 ? fixed(baseline / ours, 1) + "×" : "–"; }

void print_headed(const char* title, const Table& table) {
  const Style style = style_of(stdout);
  std::printf("\n%s%s%s\n", style.bold, title, style.reset);
  print_table(table);
}

std::string label(const Variant& v) {
  return v.solver + " " + to_string(v.precision) + (v.threads > 1 ? ", " + std::to_string(v.threads) + " threads" : "");
}

void print_iterations(const std::vector<CaseResult>& cases) {
  Table table{{"case", "solver", "local", "global", "rest", "iteration", "median", "textbook", "scalar"}};
  Table answers{{"case", "solver", "residual", "difference"}};
  for (const CaseResult& c : cases) {
    const Variant* textbook = c.find("textbook", Precision::float64, 1);
    bool first = true;
    for (const Variant& v : c.variants) {
      if (v.iteration.empty()) continue;
      const Variant* scalar = c.find("scalar", v.precision, 1);
      const bool same_problem = v.solver != "cpd" && v.solver != "xpbd";
      table.push_back({first ? c.name : "", label(v), ms(v.local.least()), ms(v.global.least()), ms(v.rest.least()),
                       ms(v.least_iteration()), ms(v.iteration.median()),
                       textbook && same_problem ? times(textbook->least_iteration(), v.least_iteration()) : "",
                       scalar && same_problem ? times(scalar->least_iteration(), v.least_iteration()) : ""});
      if (v.answer && v.threads == 1) {
        char residual[32], difference[32];
        std::snprintf(residual, sizeof residual, "%.6e", v.answer->residual);
        std::snprintf(difference, sizeof difference, "%.1e", v.answer->difference);
        answers.push_back({first ? c.name : "", label(v), residual, difference});
      }
      first = false;
    }
  }
  if (table.size() == 1) return;
  print_headed("One iteration [ms, least of the repeats], and how many times longer the baselines take", table);
  if (answers.size() > 1)
    print_headed("Same answer? |grad g| left after the iterations, and distance from the textbook's positions",
                 answers);
}

void print_kernels(const std::vector<CaseResult>& cases) {
  Table table{{"case", "precision", "threads", "local: textbook", "scalar", "global: textbook", "scalar"}};
  for (const CaseResult& c : cases) {
    const Variant* textbook = c.find("textbook", Precision::float64, 1);
    if (!textbook) continue;
    bool first = true;
    for (const Variant& v : c.variants) {
      if (v.solver != "pd") continue;
      const Variant* scalar = c.find("scalar", v.precision, 1);
      table.push_back({first ? c.name : "", to_string(v.precision), std::to_string(v.threads),
                       times(textbook->local.least(), v.local.least()), times(scalar->local.least(), v.local.least()),
                       times(textbook->global.least(), v.global.least()),
                       times(scalar->global.least(), v.global.least())});
      first = false;
    }
  }
  if (table.size() > 1) print_headed("The two kernels: how many times longer the baselines take", table);
}

void print_conservation(const std::vector<CaseResult>& cases) {
  Table table{{"case", "precision", "threads", "pd", "cpd", "cpd / pd", "set-up", "in iterations"}};
  for (const CaseResult& c : cases) {
    bool first = true;
    for (const Variant& v : c.variants) {
      const Variant* pd = c.find("pd", v.precision, v.threads);
      if (v.solver != "cpd" || !pd || pd->iteration.empty()) continue;
      const double one = v.least_iteration();
      table.push_back({first ? c.name : "", to_string(v.precision), std::to_string(v.threads),
                       ms(pd->least_iteration()), ms(one), fixed(paired_ratio(v, *pd), 2), ms(v.setup.least()),
                       fixed(v.setup.least() / one, 2)});
      first = false;
    }
  }
  if (table.size() > 1) print_headed("What conservation adds: one iteration, and the set-up of a step [ms]", table);
}

void print_threads(const std::vector<CaseResult>& cases, const std::vector<int>& threads) {
  if (threads.size() < 2) return;
  Table table{{"case", "solver"}};
  for (const int n : threads) table[0].push_back(std::to_string(n) + (n == 1 ? " thread" : " threads"));
  table[0].push_back("same bits");
  for (const CaseResult& c : cases) {
    for (const Variant& one : c.variants) {
      if (one.threads != 1 || (one.solver != "pd" && one.solver != "cpd") || one.iteration.empty()) continue;
      std::vector<std::string> row{c.name, label(one)};
      bool same = true;
      for (const int n : threads) {
        const Variant* v = c.find(one.solver, one.precision, n);
        row.push_back(n == 1 ? ms(one.least_iteration())
                             : ms(v->least_iteration()) + " (" +
                                   fixed(one.least_iteration() / v->least_iteration(), 2) + "×)");
        same = same && v->hash == one.hash;
      }
      row.push_back(same ? "yes" : "NO");
      table.push_back(row);
    }
  }
  if (table.size() > 1) print_headed("Threads: one iteration [ms]", table);
  for (const CaseResult& c : cases)
    if (const auto pair = two_threads(c); pair && c.name == "bear")
      std::printf("%s  bear, energies and gradients on two threads: %s× as fast (at least %s×), %s bits\n",
                  pair->holds() ? "pass" : "FAIL", fixed(pair->speedup, 2).c_str(), fixed(TwoThreads::least, 1).c_str(),
                  pair->same_bits ? "the same" : "OTHER");
}

void print_refactor(const std::vector<CaseResult>& cases) {
  Table table{{"case", "precision", "threads", "refactor", "in iterations"}};
  for (const CaseResult& c : cases) {
    for (const Variant& v : c.variants) {
      if (v.refactor.empty()) continue;
      table.push_back({c.name, to_string(v.precision), std::to_string(v.threads), ms(v.refactor.least()),
                       v.iteration.empty() ? "" : fixed(v.refactor.least() / v.least_iteration(), 1)});
    }
  }
  if (table.size() > 1) print_headed("A new matrix with the old pattern: assembly and factorisation [ms]", table);
}

void print_frames(const std::vector<FrameResult>& frames) {
  if (frames.empty()) return;
  Table table{{"scene", "vertices", "elements", "iterations", "(paper)", "set-up", "local", "global", "conserv.",
               "other", "frame", "median", "(paper)", "at paper's it.", "least"}};
  std::string notes;
  for (const FrameResult& f : frames) {
    for (const FrameVariant& v : f.variants) {
      const double n = f.frames, mean = v.milliseconds.mean();
      const bool first = &v == &f.variants.front();
      const double booked = (v.sum.setup + v.sum.local + v.sum.global + v.sum.conservation) / n;
      const std::string how =
          std::string(to_string(v.precision)) + (v.threads > 1 ? ", " + std::to_string(v.threads) + " threads" : "");
      table.push_back({first ? f.name + (f.note.empty() ? "" : " *") : "  " + how,
                       first ? std::to_string(f.vertices) : "", first ? std::to_string(f.elements) : "",
                       fixed(double(v.iterations) / n, 1), first ? fixed(f.paper.iterations, 1) : "",
                       ms(v.sum.setup / n), ms(v.sum.local / n), ms(v.sum.global / n), ms(v.sum.conservation / n),
                       ms(mean - booked), ms(mean), ms(v.milliseconds.median()), first ? fixed(f.paper.frame, 1) : "",
                       ms(v.at_paper_iterations(f.paper)), ms(v.least_at_paper_iterations(f.paper))});
    }
    if (!f.note.empty()) notes += (notes.empty() ? "* " : ", ") + f.name + ": " + f.note;
  }
  print_headed("Table 1 of Kee et al. 2021 [ms per frame, mean; first line of a scene: float, 1 thread]", table);
  if (!notes.empty()) std::printf("%s\n", notes.c_str());
}

void print_growth(const std::vector<GrowthResult>& growth) {
  if (growth.empty()) return;
  Table table{{"box", "vertices", "tets", "solver", "nonzeros", "memory [MB]", "load", "factor"}};
  for (const Variant& v : growth.front().variants)
    table[0].push_back("iteration, " + std::to_string(v.threads) + (v.threads == 1 ? " thread" : " threads"));
  table[0].push_back("ns per tet");
  for (const GrowthResult& g : growth) {
    std::vector<std::string> row{g.name,
                                 std::to_string(g.vertices),
                                 std::to_string(g.elements),
                                 g.solver,
                                 std::to_string(g.nonzeros),
                                 fixed(g.megabytes, 0),
                                 ms(g.load_ms),
                                 ms(g.factor_ms)};
    for (const Variant& v : g.variants) row.push_back(ms(v.least_iteration()));
    row.push_back(fixed(1e6 * g.variants.front().least_iteration() / g.elements, 0));
    table.push_back(row);
  }
  print_headed("Growth of a solid box (PD, float) [ms]", table);
}

void print_changes(const std::vector<ChangesResult>& changes) {
  if (changes.empty()) return;
  Table table{{"case", "precision", "rank", "set", "solve", "(without)", "refactor", "difference"}};
  for (const ChangesResult& c : changes) {
    char difference[32];
    std::snprintf(difference, sizeof difference, "%.1e", c.difference);
    table.push_back({c.name, to_string(c.precision), std::to_string(c.rank), ms(c.set.least()),
                     ms(c.changed_solve.least()), ms(c.plain_solve.least()), ms(c.refactor.least()), difference});
  }
  print_headed("Anchors that come and go: Woodbury's formula beside a new factor [ms, 1 thread]", table);
}

void print_potentials(const std::vector<KernelResult>& kernels) {
  if (kernels.empty()) return;
  Table table{{"potential", "acts on", "elements", "precision", "ns per element", "of tet_strain"}};
  for (const KernelResult& k : kernels)
    table.push_back({k.name, k.acts_on, std::to_string(k.elements), to_string(k.precision), fixed(k.nanoseconds(), 1),
                     fixed(k.nanoseconds() / k.reference_nanoseconds(), 2) + "×"});
  print_headed("Each potential by itself: energy and gradient [1 thread]", table);
}

void print_pairs(const std::vector<PairsResult>& pairs) {
  if (pairs.empty()) return;
  Table table{{"frames", "triangles", "pairs", "found by", "threads", "least", "median", "of tree", "same pairs"}};
  const PairsResult* first = nullptr;
  for (const PairsResult& p : pairs) {
    const bool begins = !first || first->name != p.name;
    if (begins) first = &p;
    table.push_back(
        {begins ? p.name : "", begins ? std::to_string(p.triangles) : "", begins ? std::to_string(p.pairs) : "",
         p.finder, std::to_string(p.threads), ms(p.milliseconds.least()), ms(p.milliseconds.median()),
         times(p.milliseconds.median(), first->milliseconds.median()), p.hash == first->hash ? "yes" : "NO"});
  }
  print_headed("Finding pairs that may touch [ms per frame]", table);
}

void print_tearing(const std::vector<TearingResult>& tearing) {
  if (tearing.empty()) return;
  Table table{{"scene", "elements", "torn", "mean frame", "mean where torn", "largest where torn", "of the mean",
               "at mean iterations", "of the mean"}};
  for (const TearingResult& t : tearing)
    table.push_back({t.name, std::to_string(t.elements), std::to_string(t.torn), ms(t.frames.mean()),
                     t.changed.empty() ? "-" : ms(t.changed.mean()), t.changed.empty() ? "-" : ms(t.largest),
                     t.changed.empty() ? "-" : times(t.largest, t.frames.mean()),
                     t.changed.empty() ? "-" : ms(t.change),
                     t.changed.empty() ? "-" : times(t.change, t.frames.mean())});
  print_headed("Frames of bodies that tear [ms, 1 thread]", table);
}

void print_worlds(const std::vector<WorldResult>& worlds) {
  if (worlds.empty()) return;
  Table table{{"scene", "vertices", "save", "restore", "as bytes", "mean frame", "frame that joins", "longest", "of the mean"}};
  for (const WorldResult& w : worlds)
    table.push_back({w.name, std::to_string(w.vertices), ms(w.save.median()), ms(w.restore.median()),
                     ms(w.write.median()), ms(w.frames.mean()), ms(w.joining), ms(w.longest),
                     times(w.longest, w.frames.mean())});
  print_headed("Snapshots, and a second body that joins [ms, 1 thread]", table);
}

void print_contacts(const std::vector<ContactResult>& contacts) {
  if (contacts.empty()) return;
  const bool limited = contacts[0].budget > 0;
  Table table{{"scene", "bodies", "vertices", "mean frame", "of real time", "mean that touches", "longest",
               "of those that touch", "of all", "finding pairs", "iterations", "deepest vertex", "deepest point"}};
  if (limited) table[0].insert(table[0].begin() + 3, "budget"), table[0].push_back("H off, of E_ref");
  for (const ContactResult& c : contacts) {
    table.push_back({c.name, std::to_string(c.bodies), std::to_string(c.vertices), ms(c.milliseconds.mean()),
                     times(c.step, c.milliseconds.mean()), c.touching.empty() ? "-" : ms(c.touching.mean()),
                     ms(c.longest), c.touching.empty() ? "-" : times(c.longest, c.touching.mean()),
                     times(c.longest, c.milliseconds.mean()), fixed(100 * c.detection, 1) + " %",
                     fixed(c.iterations, 1), c.bodies > 1 ? fixed(100 * c.deepest_vertex, 2) + " %" : "-",
                     c.bodies > 1 ? fixed(100 * c.deepest, 2) + " %" : "-"});
    if (limited)
      table.back().insert(table.back().begin() + 3, ms(c.budget)), table.back().push_back(fixed(c.error_h, 3));
  }
  print_headed(limited ? "The same, each frame within the mean of those that touch [ms, 1 thread]"
                       : "Frames in which things touch [ms, 1 thread]",
               table);
}

void print_minimisers(const std::vector<MinimiserResult>& minimisers) {
  if (minimisers.empty()) return;
  Table table{{"step", "method", "ms per iteration", "Mflop in the factor", "1e-2", "", "1e-4", "", "1e-8", ""}};
  for (const MinimiserResult& m : minimisers) {
    std::vector<std::string> row{m.name, m.method, ms(m.per_iteration), m.work > 0 ? fixed(1e-6 * m.work, 2) : "-"};
    for (const double share : {1e-2, 1e-4, 1e-8}) {
      const MinimiserResult::Point* p = m.reach(share);
      row.push_back(p ? std::to_string(p->iterations) : "-");
      row.push_back(p ? ms(p->milliseconds.least()) + " ms" : "");
    }
    table.push_back(row);
  }
  print_headed("One step of backward Euler: iterations and time until that much of g is left [1 thread]", table);
}

}  // namespace

int bench(const BenchOptions& options, Diagnostics problems) {
  Options chosen;
  chosen.quick = options.quick;
  // two even on one core: rows for 1 and 2 threads are always there, unless fewer are asked for
  const int most = read_count("--threads", options.threads, problems).value_or(std::max(2, hardware_threads()));
  if (most > most_threads) {
    problems.error("--threads", "found " + options.threads + ", expected at most " + std::to_string(most_threads));
  } else {
    chosen.threads = thread_counts(most);
  }
  chosen.groups = read_choices("--only", options.only, all_groups(), problems);
  chosen.names = read_choices("--name", options.name, all_names(), problems);
  if (!problems.has_errors() && items_of(chosen).empty())
    problems.error("--only, --name", "found nothing to measure: no " + (options.only.empty() ? "group" : options.only) +
                                         " of " + (options.name.empty() ? "any name" : options.name) +
                                         (options.quick ? " with --quick" : ""));

  std::filesystem::path csv = options.csv, plot = options.plot;
  if (!problems.has_errors() && csv.empty()) {
    csv = "runs/bench/bench.csv";
    prepare_directory("runs/bench", problems);
  }
  if (plot.empty()) plot = std::filesystem::path(csv).replace_extension(".svg");
  std::error_code ignored;
  if (!problems.has_errors() && std::filesystem::weakly_canonical(std::filesystem::absolute(csv), ignored) ==
                                    std::filesystem::weakly_canonical(std::filesystem::absolute(plot), ignored))
    problems.error("--csv", "found " + csv.string() + " for the table and the plot, expected two files");
  if (!problems.has_errors()) check_writable(csv.string(), problems);
  if (!problems.has_errors()) check_writable(plot.string(), problems);
  if (problems.has_errors()) return refuse(problems, "nothing was measured");

  InterruptGuard interrupt;
  BenchProgress progress(options.quiet);
  const double begin = now();
  const Results results = bench::run(chosen, progress);
  progress.clear();
  const int signal = InterruptGuard::signal();

  const std::vector<Row> rows = rows_of(results, chosen.groups);
  if (!options.quiet) {
    print_iterations(results.cases);
    print_kernels(results.cases);
    print_conservation(results.cases);
    print_threads(results.cases, chosen.threads);
    print_refactor(results.cases);
    print_frames(results.frames);
    print_growth(results.growth);
    print_changes(results.changes);
    print_potentials(results.kernels);
    print_pairs(results.pairs);
    print_tearing(results.tearing);
    print_worlds(results.worlds);
    print_contacts(results.contacts);
    print_contacts(results.budgets);
    print_minimisers(results.minimisers);
  }
  if (rows.empty()) {
    std::fprintf(stderr, "verve: bench: interrupted before anything was measured; nothing was written\n");
    return 128 + signal;
  }
  const std::string picture = plot_of(results, rows);
  const bool written = write_text(csv.string(), csv_of(rows), problems) &&
                       (picture.empty() || write_text(plot.string(), picture, problems));
  report(problems);
  if (!written) return exit_failed;
  if (!options.quiet) {
    std::printf("\n%s: %s in %s\n", csv.string().c_str(), count(long(rows.size()), "row", "rows").c_str(),
                format_duration(now() - begin).c_str());
    if (!picture.empty()) std::printf("%s\n", plot.string().c_str());
  }
  if (signal) std::fprintf(stderr, "verve: bench: interrupted; what was measured is in %s\n", csv.string().c_str());
  return signal ? 128 + signal : exit_done;
}

}  // namespace verve::cli
