// The papers' figures and tables, reproduced with our scenes: what is measured, what decides, and what is shown.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "figures/chart.h"

namespace verve::figures {

/// One measurement beside the bound that decides it.
struct Check {
  std::string what;      ///< "cpd: largest |H - H0| / H0"
  std::string measured;  ///< "3.1e-07"
  std::string bound;     ///< "at most 0.0001"
  std::string source;    ///< where the bound is from: "C27", "design 4.5"
  bool passed = false;
};

struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  ///< the first is the head
};

/// An encoded file, made while the figure was.
struct Picture {
  std::string name;  ///< of the file, "strip.png"
  std::string caption, bytes;
};

/// What a figure came to.
class Result {
 public:
  /// A value that is not a number passes no check.
  void at_most(const std::string& what, double value, double bound, const std::string& source,
               const std::string& unit = "");
  void at_least(const std::string& what, double value, double bound, const std::string& source,
                const std::string& unit = "");
  void between(const std::string& what, double value, double low, double high, const std::string& source,
               const std::string& unit = "");
  void holds(const std::string& what, bool passed, const std::string& measured, const std::string& bound,
             const std::string& source);

  void chart(Chart chart) { charts.push_back(std::move(chart)); }
  void table(Table table) { tables.push_back(std::move(table)); }
  /// Where and why this is not what the paper shows.
  void differs(std::string words) { remarks.push_back(std::move(words)); }

  std::vector<Check> checks;
  std::vector<Chart> charts;
  std::vector<Table> tables;
  std::vector<Picture> pictures;
  std::vector<std::string> remarks;
  double seconds = 0;
  int passed() const;
  int failed() const { return int(checks.size()) - passed(); }
};

/// Thrown out of a figure when the program is asked to stop.
struct Interrupted {};

struct Film;

/// How figures are made; shared by those that are made at the same time.
class Context {
 public:
  bool quick = false;
  bool pictures = true;
  std::string method;             ///< judged in place of the method that a figure is about; empty: that one
  std::function<bool()> stopped;  ///< asked after every frame

  /// The method under test.
  std::string ours(const std::string& usual = "cpd") const { return method.empty() ? usual : method; }
  /// `frames`, or in a quick run `fewer`.
  int frames(int frames, int fewer) const { return quick ? fewer : frames; }
  void check_stop() const {
    if (stopped && stopped()) throw Interrupted{};
  }
  /// A run that several figures look at is made by the first that asks for it.
  std::shared_ptr<const Film> shared(const std::string& key, const std::function<Film()>& make);

 private:
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const Film> film;
  };
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

/// A line of the registry.
struct Figure {
  const char* name;    ///< "cpd-fig7"
  const char* title;   ///< "A ball bounces"
  const char* shows;   ///< what the paper shows, in a sentence or two
  const char* source;  ///< of the bounds: "C32"
  double seconds;      ///< about, on one core
  double quick;        ///< likewise for --quick; 0: left out there
  void (*make)(Context&, Result&);
};
const std::vector<Figure>& registry();
const Figure* find(const std::string& name);

/// Makes a figure; whatever goes wrong on the way is a check that failed. Interrupted goes through.
Result make(const Figure& figure, Context& context);

}  // namespace verve::figures
