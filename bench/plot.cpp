#include "bench/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace verve::bench {

namespace {

constexpr double width = 860, left = 170, right = 40, head = 44, foot = 52;
constexpr const char* colors[] = {"#1b6ca8", "#d1495b", "#66a182", "#8d6a9f",
                                  "#c98b1b", "#3f3f3f", "#2aa5a0", "#b0679a"};

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

std::string short_value(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}
/// 100, 1 k, 10 k, 100 k, 1 M
std::string count_of(double value) {
  if (value >= 1e6) return short_value(value / 1e6) + " M";
  return value >= 1e3 ? short_value(value / 1e3) + " k" : short_value(value);
}

/// Elements of one panel, drawn downwards from `top`.
class Panel {
 public:
  Panel(double top, double height, const std::string& title) : top_(top), height_(height) {
    text(left, top + 20, title, "start", 15, "#222", true);
  }
  double top() const { return top_ + head; }
  double bottom() const { return top_ + height_ - foot; }

  void line(double x1, double y1, double x2, double y2, const char* color, double thickness = 1) {
    svg_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
            "\" stroke=\"" + color + "\" stroke-width=\"" + number(thickness) + "\"/>\n";
  }
  void bar(double x, double y, double w, double h, const char* color) {
    svg_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(std::max(w, 0.5)) +
            "\" height=\"" + number(h) + "\" fill=\"" + color + "\"/>\n";
  }
  void dot(double x, double y, const char* color) {
    svg_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"3.5\" fill=\"" + color + "\"/>\n";
  }
  void text(double x, double y, const std::string& words, const char* anchor, int size = 12, const char* color = "#222",
            bool bold = false) {
    svg_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" font-size=\"" +
            std::to_string(size) + "\" fill=\"" + color + "\"" + (bold ? " font-weight=\"bold\"" : "") + ">" + words +
            "</text>\n";
  }
  void legend(const std::vector<std::string>& names) {
    double x = left;
    for (size_t i = 0; i < names.size(); ++i) {
      bar(x, top_ + 29, 10, 10, colors[i]);
      text(x + 14, top_ + 38, names[i], "start");
      x += 28 + 6.6 * double(names[i].size());
    }
  }
  const std::string& svg() const { return svg_; }

 private:
  double top_, height_;
  std::string svg_;
};

/// A logarithmic axis over whole decades.
class LogAxis {
 public:
  LogAxis(double least, double most, double from, double to) : from_(from), to_(to) {
    low_ = std::floor(std::log10(least) + 1e-9);
    high_ = std::max(low_ + 1, std::ceil(std::log10(most) - 1e-9));
  }
  double at(double value) const {
    return from_ + (to_ - from_) * (std::log10(std::max(value, std::pow(10, low_))) - low_) / (high_ - low_);
  }
  std::vector<double> decades() const {
    std::vector<double> out;
    for (double d = low_; d <= high_ + 0.5; ++d) out.push_back(std::pow(10, d));
    return out;
  }

 private:
  double low_, high_, from_, to_;
};

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// Both axes logarithmic; what is not above zero is left out.
std::string curves_panel(const std::string& title, const std::vector<Curve>& curves, double top, double height) {
  double low[2] = {1e300, 1e300}, high[2] = {0, 0};
  for (const Curve& c : curves)
    for (const auto& [x, y] : c.points) {
      if (!(x > 0 && y > 0)) continue;
      low[0] = std::min(low[0], x), high[0] = std::max(high[0], x);
      low[1] = std::min(low[1], y), high[1] = std::max(high[1], y);
    }
  Panel panel(top, height, title);
  const LogAxis x(low[0], high[0], left, width - right), y(low[1], high[1], panel.bottom(), panel.top() + 8);
  for (const double d : x.decades()) {
    panel.line(x.at(d), panel.bottom(), x.at(d), panel.top() + 8, "#e4e4e4");
    panel.text(x.at(d), panel.bottom() + 18, count_of(d), "middle");
  }
  for (const double d : y.decades()) {
    panel.line(left, y.at(d), width - right, y.at(d), "#e4e4e4");
    panel.text(left - 8, y.at(d) + 4, short_value(d), "end");
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < curves.size(); ++i) {
    const auto& points = curves[i].points;
    const char* color = colors[i % std::size(colors)];
    for (size_t k = 0; k < points.size(); ++k) {
      if (!(points[k].second > 0)) continue;
      panel.dot(x.at(points[k].first), y.at(points[k].second), color);
      if (k > 0 && points[k - 1].second > 0)
        panel.line(x.at(points[k - 1].first), y.at(points[k - 1].second), x.at(points[k].first), y.at(points[k].second),
                   color, 2);
    }
    names.push_back(curves[i].name);
  }
  panel.legend(names);
  return panel.svg();
}

std::string growth_panel(const Results& results, double top, double height) {
  std::vector<Curve> curves;
  for (const Variant& v : results.growth.front().variants)
    curves.push_back({"iteration, " + std::to_string(v.threads) + (v.threads == 1 ? " thread" : " threads"), {}});
  curves.push_back({"factorisation", {}});
  for (const GrowthResult& g : results.growth) {
    for (size_t i = 0; i < g.variants.size() && i + 1 < curves.size(); ++i)
      curves[i].points.push_back({g.elements, g.variants[i].least_iteration()});
    curves.back().points.push_back({g.elements, g.factor_ms});
  }
  return curves_panel("Growth: milliseconds over tetrahedra of a solid box (float)", curves, top, height);
}

/// What is left of g - min g in one step of `scene`, by every minimiser: over iterations, or over time.
std::string minimiser_panel(const Results& results, const std::string& scene, bool over_time, double top,
                            double height) {
  std::vector<Curve> curves;
  for (const MinimiserResult& m : results.minimisers) {
    if (m.name != scene) continue;
    Curve& curve = curves.emplace_back(Curve{m.method, {}});
    for (const MinimiserResult::Point& p : m.points)
      curve.points.push_back({over_time ? p.milliseconds.least() : p.iterations, p.left});
  }
  return curves_panel(scene + ": share of g left over " + (over_time ? "milliseconds" : "iterations"), curves, top,
                      height);
}

struct Bars {
  std::string label;
  std::vector<double> values;
};

double bars_height(size_t groups, size_t per_group) {
  return head + foot + double(groups) * (13 * double(per_group) + 10);
}

std::string bars_panel(const std::string& title, const std::vector<std::string>& legend, const std::vector<Bars>& bars,
                       const std::string& unit, double top) {
  Panel panel(top, bars_height(bars.size(), legend.size()), title);
  double least = 1, most = 1;
  for (const Bars& b : bars)
    for (const double v : b.values)
      if (v > 0) least = std::min(least, v), most = std::max(most, v);
  const LogAxis x(least, most, left, width - right - 40);
  for (const double d : x.decades()) {
    panel.line(x.at(d), panel.bottom(), x.at(d), panel.top(), "#e4e4e4");
    panel.text(x.at(d), panel.bottom() + 16, short_value(d) + unit, "middle");
  }
  double y = panel.top() + 4;
  for (const Bars& b : bars) {
    panel.text(left - 8, y + 6.5 * double(legend.size()) + 4, b.label, "end");
    for (size_t i = 0; i < b.values.size(); ++i, y += 13) {
      if (!(b.values[i] > 0)) continue;
      panel.bar(left, y, x.at(b.values[i]) - left, 11, colors[i]);
      panel.text(x.at(b.values[i]) + 4, y + 10, short_value(b.values[i]), "start", 11);
    }
    y += 10;
  }
  panel.legend(legend);
  return panel.svg();
}

/// Ratios of one group at the fewest and the most threads measured in float, and at one in double.
std::vector<Bars> ratio_bars(const std::vector<Row>& rows, const std::string& group, int most_threads) {
  std::vector<Bars> out;
  for (const Row& r : rows) {
    if (r.group != group || !r.ratio_textbook) continue;
    if (out.empty() || out.back().label != r.name) out.push_back({r.name, {0, 0, 0, 0}});
    std::vector<double>& v = out.back().values;
    const bool narrow = r.precision == Precision::float32;
    if (narrow && r.threads == 1) v[0] = *r.ratio_textbook, v[3] = r.ratio_scalar.value_or(0);
    if (narrow && r.threads == most_threads && most_threads > 1) v[1] = *r.ratio_textbook;
    if (!narrow && r.threads == 1) v[2] = *r.ratio_textbook;
  }
  return out;
}

}  // namespace

std::string plot_of(const Results& results, const std::vector<Row>& rows) {
  std::string body;
  double top = 10;
  if (!results.growth.empty()) {
    constexpr double height = 380;
    body += growth_panel(results, top, height);
    top += height;
  }
  std::vector<std::string> scenes;
  for (const MinimiserResult& m : results.minimisers)
    if (scenes.empty() || scenes.back() != m.name) scenes.push_back(m.name);
  for (const std::string& scene : scenes)
    for (const bool over_time : {false, true}) {
      constexpr double height = 420;
      body += minimiser_panel(results, scene, over_time, top, height);
      top += height;
    }
  int most_threads = 1;
  for (const Row& r : rows) most_threads = std::max(most_threads, r.threads);
  for (const char* group : {"local", "global", "pd_iteration"}) {
    const std::vector<Bars> bars = ratio_bars(rows, group, most_threads);
    if (bars.empty()) continue;
    const std::vector<std::string> legend{"textbook : float",
                                          "textbook : float, " + std::to_string(most_threads) + " threads",
                                          "textbook : double", "scalar float : float"};
    body += bars_panel(std::string(group) + ": how many times longer the baselines take", legend, bars, "×", top);
    top += bars_height(bars.size(), legend.size());
  }
  if (!results.frames.empty()) {
    std::vector<Bars> bars;
    for (const FrameResult& f : results.frames) {
      const FrameVariant& v = f.variants.front();
      bars.push_back({f.name, {f.paper.frame, v.milliseconds.mean(), v.at_paper_iterations(f.paper)}});
    }
    const std::vector<std::string> legend{"Kee et al. 2021", "Verve, mean (float, 1 thread)",
                                          "Verve at the paper's iterations"};
    body += bars_panel("Table 1: milliseconds per frame", legend, bars, "", top);
    top += bars_height(bars.size(), legend.size());
  }
  if (body.empty()) return "";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(top + 10) +
         "\" viewBox=\"0 0 " + number(width) + " " + number(top + 10) +
         "\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + body + "</svg>\n";
}

}  // namespace verve::bench
