// verve figures: every table and figure of the papers from our scenes, each with the measurement that decides it.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/parallel.h"
#include "checks.h"
#include "commands.h"
#include "figures/page.h"
#include "flags.h"
#include "interrupt.h"
#include "run.h"
#include "terminal.h"
#include "verve/registry.h"

namespace verve::cli {

namespace fs = std::filesystem;

namespace {

using namespace verve::figures;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double expected_seconds(const Figure& figure, bool quick) { return quick ? figure.quick : figure.seconds; }

/// What is done and under way, in units of what each figure is expected to take.
class Progress {
 public:
  Progress(double total, int figures, bool quiet)
      : total_(total), figures_(figures), quiet_(quiet), terminal_(isatty(STDOUT_FILENO)) {}

  void begin(const Figure& figure, double expected) { running_[figure.name] = {Clock::now(), expected}; }
  void end(const Figure& figure, double expected) {
    running_.erase(figure.name);
    done_ += expected, ++count_;
  }
  std::string line() const {
    const double elapsed = seconds_since(start_);
    double finished = done_;
    for (const auto& [name, run] : running_) finished += std::min(0.9 * run.second, seconds_since(run.first));
    std::string names;
    for (const auto& [name, run] : running_) names += (names.empty() ? "" : ", ") + name;
    const double share = std::min(1.0, finished / total_);
    return "figures " + std::to_string(count_) + "/" + std::to_string(figures_) + "  " +
           std::to_string(int(100 * share)) + " %  " +
           (share > 0.02 && share < 1 ? "ETA " + format_duration(elapsed / share - elapsed) : "") + "  " + names;
  }
  void show() {
    if (quiet_ || !terminal_) return;
    std::printf("\r%s\033[K", line().c_str());
    std::fflush(stdout);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stdout), std::fflush(stdout);
    shown_ = false;
  }
  bool terminal() const { return terminal_; }

 private:
  double total_, done_ = 0;
  int figures_, count_ = 0;
  bool quiet_, terminal_, shown_ = false;
  Clock::time_point start_ = Clock::now();
  std::map<std::string, std::pair<Clock::time_point, double>> running_;
};

std::vector<const Figure*> chosen_figures(const FiguresOptions& options, Diagnostics& problems) {
  std::vector<std::string> names;
  for (const Figure& f : registry()) names.push_back(f.name);
  std::vector<const Figure*> out;
  for (const std::string& name : options.names) {
    const Figure* figure = find(name);
    if (!figure)
      problems.error(name, "no such figure, " + expected_one_of(name, names));
    else if (std::find(out.begin(), out.end(), figure) == out.end())
      out.push_back(figure);
  }
  if (options.names.empty())
    for (const Figure& f : registry())
      if (!options.quick || f.quick > 0) out.push_back(&f);
  std::sort(out.begin(), out.end());  // as registered
  return out;
}

void list_figures() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Figure& f : registry())
    rows.emplace_back(f.name, std::string(f.title) + " (" + f.source + (f.quick > 0 ? "; in --quick" : "") + ")");
  print_columns(rows, 2);
}

/// Figures by `workers` threads, the longest first; each prints its checks when it is done. Stops at a signal.
std::vector<Made> make_all(const std::vector<const Figure*>& chosen, Context& context, int workers, bool quiet) {
  std::vector<const Figure*> queue = chosen;
  const auto expected = [&](const Figure* f) {
    return std::max(0.1, expected_seconds(*f, context.quick && f->quick > 0));
  };
  std::stable_sort(queue.begin(), queue.end(),
                   [&](const Figure* a, const Figure* b) { return expected(a) > expected(b); });
  double total = 0;
  for (const Figure* f : queue) total += expected(f);
  Progress progress(total, int(queue.size()), quiet);
  std::map<const Figure*, Result> results;
  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0;
  int busy = 0;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (next < queue.size() && !InterruptGuard::signal()) {
      const Figure* figure = queue[next++];
      progress.begin(*figure, expected(figure));
      lock.unlock();
      std::optional<Result> result;
      try {
        result = figures::make(*figure, context);
      } catch (const Interrupted&) {
      }
      lock.lock();
      progress.end(*figure, expected(figure));
      if (result) {
        progress.clear();
        if (!quiet) print_checks(*figure, *result);
        if (!quiet && !progress.terminal()) std::printf("%s\n", progress.line().c_str()), std::fflush(stdout);
        results.emplace(figure, std::move(*result));
      }
    }
    --busy;
    changed.notify_all();
  };
  std::vector<std::thread> threads;
  busy = std::min<int>(workers, int(queue.size()));
  const int count = busy;
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  {
    std::unique_lock lock(mutex);
    while (busy > 0) {
      progress.show();
      changed.wait_for(lock, std::chrono::milliseconds(200));
    }
    progress.clear();
  }
  for (std::thread& t : threads) t.join();
  std::vector<Made> out;
  for (const Figure* f : chosen)
    if (const auto found = results.find(f); found != results.end()) out.push_back({f, std::move(found->second)});
  return out;
}

}  // namespace

int figures(const FiguresOptions& options, Diagnostics problems) {
  const std::vector<const Figure*> chosen = chosen_figures(options, problems);
  const int workers = read_count("--threads", options.threads, problems).value_or(hardware_threads());
  if (!options.method.empty()) read_method("--method", options.method, problems);
  const fs::path out = options.out.empty() ? "runs/figures" : options.out;
  if (problems.has_errors()) return refuse(problems, "nothing was run");
  if (options.list) {
    list_figures();
    return exit_done;
  }
  FolderLock lock;
  if (!claim_directory(out.string(), lock, problems)) return refuse(problems, "nothing was run");

  InterruptGuard interrupt;
  Context context;
  context.quick = options.quick;
  context.pictures = !options.no_pictures;
  context.method = options.method;
  context.stopped = [] { return InterruptGuard::signal() != 0; };
  const Clock::time_point begin = Clock::now();
  const std::vector<Made> made = make_all(chosen, context, workers, options.quiet);
  const int signal = InterruptGuard::signal();

  int passed = 0, failed = 0;
  bool written = true;
  for (const Made& m : made) {
    passed += m.result.passed(), failed += m.result.failed();
    const fs::path folder = out / m.figure->name;
    written = prepare_directory(folder.string(), problems) && written;
    for (const auto& [name, bytes] : files_of(m))
      written = write_text((folder / name).string(), bytes, problems) && written;
  }
  written = write_text((out / "checks.csv").string(), checks_csv(made), problems) && written;
  written = write_text((out / "index.html").string(), page(made, options.quick, options.method, seconds_since(begin)),
                       problems) &&
            written;
  report(problems);
  if (!options.quiet) std::printf("\n%s\n", (out / "index.html").string().c_str());
  if (signal)
    std::fprintf(stderr, "verve: figures: interrupted after %d of %d; the page has those\n", int(made.size()),
                 int(chosen.size()));
  std::printf("%d passed, %d failed\n", passed, failed);
  if (signal) return 128 + signal;
  return failed || !written ? exit_failed : exit_done;
}

}  // namespace verve::cli
