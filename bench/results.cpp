#include "bench/results.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace verve::bench {

double Times::least() const { return samples_.empty() ? 0 : *std::min_element(samples_.begin(), samples_.end()); }

double Times::median() const {
  if (samples_.empty()) return 0;
  std::vector<double> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

double Times::mean() const {
  double sum = 0;
  for (const double s : samples_) sum += s;
  return samples_.empty() ? 0 : sum / double(samples_.size());
}

const char* to_string(Precision precision) { return precision == Precision::float64 ? "double" : "float"; }

std::optional<TwoThreads> two_threads(const CaseResult& result) {
  const Variant *one = result.find("pd", Precision::float32, 1), *two = result.find("pd", Precision::float32, 2);
  if (!one || !two || one->local.empty() || two->local.empty()) return {};
  return TwoThreads{one->local.least() / two->local.least(), one->hash == two->hash};
}

const Variant* CaseResult::find(const std::string& solver, Precision precision, int threads) const {
  for (const Variant& v : variants)
    if (v.solver == solver && v.precision == precision && v.threads == threads) return &v;
  return nullptr;
}

double paired_ratio(const Variant& a, const Variant& b) {
  Times ratios;
  const std::vector<double>&of_a = a.iteration.samples(), &of_b = b.iteration.samples();
  for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) ratios.add(of_a[i] / of_b[i]);
  return ratios.median();
}

double FrameVariant::at_paper_iterations(const PaperRow& paper) const {
  return iteration.median() * paper.iterations + setup.median();
}
double FrameVariant::least_at_paper_iterations(const PaperRow& paper) const {
  return iteration.least() * paper.iterations + setup.least();
}

namespace {

struct CaseGroup {
  const char* group;
  const char* solver;
  const Times Variant::*times;
  bool baselines;  // solve the same problem
};
constexpr CaseGroup case_groups[] = {{"local", "pd", &Variant::local, true},
                                     {"global", "pd", &Variant::global, true},
                                     {"pd_iteration", "pd", &Variant::iteration, true},
                                     {"cpd_iteration", "cpd", &Variant::iteration, false},
                                     {"cpd_setup", "cpd", &Variant::setup, false},
                                     {"refactor", "pd", &Variant::refactor, false},
                                     {"sweep", "xpbd", &Variant::iteration, false}};

double least(const Variant& v, const Times Variant::*times) {
  return times == &Variant::iteration ? v.least_iteration() : (v.*times).least();
}

/// How many times longer the baseline takes, by the minima.
std::optional<double> ratio(const Variant* baseline, const Times Variant::*times, double ours) {
  if (!baseline || (baseline->*times).empty() || !(ours > 0)) return std::nullopt;
  return least(*baseline, times) / ours;
}

Row row_of(const char* group, const std::string& name, int vertices, int elements, const Variant& v,
           const Times Variant::*times) {
  Row row;
  row.group = group, row.name = name;
  row.vertices = vertices, row.elements = elements;
  row.threads = v.threads, row.precision = v.precision;
  row.ms_min = least(v, times), row.ms_median = (v.*times).median();
  row.error_h = v.error_h, row.hash = v.hash;
  return row;
}

}  // namespace

std::vector<Row> rows_of(const Results& results, const std::vector<std::string>& groups) {
  const auto wanted = [&](const char* group) {
    return groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end();
  };
  std::vector<Row> rows;
  for (const CaseGroup& g : case_groups) {
    if (!wanted(g.group)) continue;
    for (const CaseResult& c : results.cases) {
      const Variant* textbook = c.find("textbook", Precision::float64, 1);
      for (const Variant& v : c.variants) {
        if (v.solver != g.solver || (v.*g.times).empty()) continue;
        Row row = row_of(g.group, c.name, c.vertices, c.elements, v, g.times);
        if (g.baselines) {
          row.ratio_textbook = ratio(textbook, g.times, row.ms_min);
          row.ratio_scalar = ratio(c.find("scalar", v.precision, 1), g.times, row.ms_min);
        }
        rows.push_back(row);
      }
    }
  }
  if (wanted("frame")) {
    for (const FrameResult& f : results.frames) {
      for (const FrameVariant& v : f.variants) {
        Row row;
        row.group = "frame", row.name = f.name;
        row.vertices = f.vertices, row.elements = f.elements;
        row.threads = v.threads, row.precision = v.precision;
        row.ms_min = v.milliseconds.least(), row.ms_median = v.milliseconds.median();
        row.error_h = v.error_h, row.hash = v.hash;
        rows.push_back(row);
      }
    }
  }
  for (const bool factor : {false, true}) {
    const char* group = factor ? "growth_factor" : "growth_iteration";
    if (!wanted(group)) continue;
    for (const GrowthResult& g : results.growth) {
      for (const Variant& v : g.variants) {
        Row row = row_of(group, g.name, g.vertices, g.elements, v, &Variant::iteration);
        if (factor) {
          if (&v != &g.variants.back()) continue;  // factorised once, on the most threads
          row.ms_min = row.ms_median = g.factor_ms;
        }
        rows.push_back(row);
      }
    }
  }
  for (const ChangesResult& c : results.changes) {
    if (!wanted("woodbury")) break;
    Row row;
    row.group = "woodbury", row.name = c.name + "_rank" + std::to_string(c.rank);
    row.vertices = c.vertices, row.elements = c.elements;
    row.precision = c.precision;
    row.ms_min = c.set.least(), row.ms_median = c.set.median();
    row.hash = c.hash;
    rows.push_back(row);
  }
  for (const KernelResult& k : results.kernels) {
    if (!wanted("kernel")) break;
    Row row;
    row.group = "kernel", row.name = k.name;
    row.vertices = k.vertices, row.elements = k.elements;
    row.precision = k.precision;
    row.ms_min = k.own.least(), row.ms_median = k.own.median();
    row.hash = k.hash;
    rows.push_back(row);
  }
  for (const PairsResult& p : results.pairs) {
    if (!wanted("pairs")) break;
    Row row;
    row.group = "pairs", row.name = p.name + "_" + p.finder;
    row.vertices = p.vertices, row.elements = p.triangles, row.threads = p.threads;
    row.ms_min = p.milliseconds.least(), row.ms_median = p.milliseconds.median();
    row.hash = p.hash;
    rows.push_back(row);
  }
  for (const TearingResult& t : results.tearing) {
    if (!wanted("tearing")) break;
    Row row;
    row.group = "tearing", row.name = t.name;
    row.vertices = t.vertices, row.elements = t.elements;
    row.ms_min = t.frames.mean(), row.ms_median = t.changed.empty() ? 0 : t.largest;
    row.hash = t.hash;
    rows.push_back(row);
  }
  for (const WorldResult& w : results.worlds) {
    if (!wanted("world")) break;
    const auto add = [&](const char* what, double least, double median) {
      Row row;
      row.group = "world", row.name = w.name + what;
      row.vertices = w.vertices, row.elements = w.elements;
      row.ms_min = least, row.ms_median = median, row.hash = w.hash;
      rows.push_back(row);
    };
    add("_save", w.save.least(), w.save.median()), add("_restore", w.restore.least(), w.restore.median());
    add("_write", w.write.least(), w.write.median()), add("_join", w.frames.mean(), w.joining);
  }
  for (const char* group : {"contact", "budget"}) {
    if (!wanted(group)) continue;
    for (const ContactResult& c : group == std::string_view("contact") ? results.contacts : results.budgets) {
      Row row;
      row.group = group, row.name = c.name;
      row.vertices = c.vertices, row.elements = c.elements;
      row.ms_min = c.milliseconds.mean(), row.ms_median = c.longest;
      row.error_h = c.error_h, row.hash = c.hash;
      rows.push_back(row);
    }
  }
  for (const MinimiserResult& m : results.minimisers) {
    if (!wanted("minimisers")) break;
    for (const MinimiserResult::Point& p : m.points) {
      Row row;
      row.group = "minimisers", row.name = m.name + "_" + m.method + "_" + std::to_string(p.iterations);
      row.vertices = m.vertices, row.elements = m.elements;
      row.ms_min = p.milliseconds.least(), row.ms_median = p.milliseconds.median();
      row.error_h = p.left, row.hash = p.hash;
      rows.push_back(row);
    }
  }
  return rows;
}

const MinimiserResult::Point* MinimiserResult::reach(double share) const {
  for (const Point& p : points)
    if (p.left <= share) return &p;
  return nullptr;
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string out =
      "group,name,vertices,elements,threads,precision,ms_min,ms_median,ratio_textbook,ratio_scalar,error_h,hash\n";
  const auto cell = [](const std::optional<double>& value) {
    char buffer[32] = "";
    if (value) std::snprintf(buffer, sizeof buffer, "%.4g", *value);
    return std::string(buffer);
  };
  for (const Row& r : rows) {
    char line[320];
    std::snprintf(line, sizeof line, "%s,%s,%d,%d,%d,%s,%.6g,%.6g,%s,%s,%.3e,%016" PRIx64 "\n", r.group.c_str(),
                  r.name.c_str(), r.vertices, r.elements, r.threads, to_string(r.precision), r.ms_min, r.ms_median,
                  cell(r.ratio_textbook).c_str(), cell(r.ratio_scalar).c_str(), r.error_h, r.hash);
    out += line;
  }
  return out;
}

}  // namespace verve::bench
