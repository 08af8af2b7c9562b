#include "figures/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "figures/canvas.h"

namespace verve::figures {

namespace {

constexpr double width = chart_width, left = 74, right = 24;
constexpr const char* palette[] = {"#2f7ed8", "#e8833a", "#3fa35b", "#d64550",
                                   "#8e6bbf", "#b8962e", "#2aa5a0", "#c2659b"};

std::string at(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

std::string tick_label(double value, double step) {
  char buffer[32];
  if (std::abs(value) < 1e-9 * step) value = 0;
  if (value != 0 && (std::abs(value) >= 1e5 || std::abs(value) < 1e-3))
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
  else
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

/// A linear axis with round ticks, or a logarithmic one over decades.
class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to)
      : logarithmic_(logarithmic), from_(from), to_(to) {
    if (!(least <= most)) least = logarithmic ? 1 : 0, most = logarithmic ? 10 : 1;
    if (logarithmic && most < 200 * least && most > 1.2 * least) {
      // few decades: as far as the values go, with ticks at 1, 2 and 5
      low_ = std::log10(least), high_ = std::log10(most);
      for (int d = int(std::floor(low_)); d <= int(std::ceil(high_)); ++d)
        for (const double digit : {1, 2, 5})
          if (const double t = digit * std::pow(10, d); t >= least * (1 - 1e-9) && t <= most * (1 + 1e-9))
            ticks_.push_back(t);
      return;
    }
    if (logarithmic) {
      low_ = std::floor(std::log10(least) + 1e-9), high_ = std::max(low_ + 1, std::ceil(std::log10(most) - 1e-9));
      const int every = 1 + int(high_ - low_) / 8;
      for (int d = int(low_); d <= int(high_); d += every) ticks_.push_back(std::pow(10, d));
      return;
    }
    double span = most - least;
    // what is kept to four digits is drawn as a line, not as its noise between ticks that all read alike
    if (span <= 1e-4 * std::max(std::abs(least), std::abs(most)) || span <= 0) {
      const double pad = std::max(std::abs(least) * 0.05, 1e-12);
      least -= pad, most += pad, span = most - least;
    }
    const double rough = span / 5, power = std::pow(10, std::floor(std::log10(rough))), digit = rough / power;
    step_ = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
    low_ = std::floor(least / step_ + 1e-9) * step_, high_ = std::ceil(most / step_ - 1e-9) * step_;
    for (double t = low_; t < high_ + 0.5 * step_; t += step_) ticks_.push_back(t);
  }
  double operator()(double value) const {
    const double v = logarithmic_ ? std::log10(value) : value;
    return from_ + (to_ - from_) * (std::clamp(v, low_, high_) - low_) / (high_ - low_);
  }
  bool inside(double value) const {
    const double v = logarithmic_ ? std::log10(value) : value;
    return v >= low_ - 1e-9 * (high_ - low_) && v <= high_ + 1e-9 * (high_ - low_);
  }
  const std::vector<double>& ticks() const { return ticks_; }
  std::string label(double tick) const { return tick_label(tick, logarithmic_ ? tick : step_); }

 private:
  bool logarithmic_;
  double low_ = 0, high_ = 1, from_, to_, step_ = 1;
  std::vector<double> ticks_;
};

/// Pieces of one SVG.
class SvgCanvas final : public Canvas {
 public:
  void line(double x1, double y1, double x2, double y2, const char* kind) override {
    svg_ += "<line class=\"" + std::string(kind) + "\" x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) +
            "\" y2=\"" + at(y2) + "\"/>\n";
  }
  void text(double x, double y, const std::string& words, const char* anchor, const char* kind, bool upright) override {
    svg_ += "<text class=\"" + std::string(kind) + "\" x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" +
            anchor + "\"" + (upright ? " transform=\"rotate(-90 " + at(x) + " " + at(y) + ")\"" : "") + ">" +
            escaped(words) + "</text>\n";
  }
  void rect(double x, double y, double w, double h, const std::string& color) override {
    svg_ += "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(std::max(w, 0.5)) + "\" height=\"" + at(h) +
            "\" fill=\"" + color + "\"/>\n";
  }
  void path(const std::vector<Point>& points, const std::string& color, bool dashed) override {
    if (points.empty()) return;
    svg_ += "<path class=\"c\" d=\"";
    for (const Point& p : points) svg_ += (p.begins ? "M" : "L") + at(p.x) + " " + at(p.y);
    svg_ += "\" stroke=\"" + color + "\"" + (dashed ? " stroke-dasharray=\"5 4\"" : "") + "/>\n";
  }
  void dot(double x, double y, const std::string& color) override {
    svg_ += "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"3\" fill=\"" + color + "\"/>\n";
  }
  std::string finish(double height) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + at(chart_width) + " " + at(height) +
           "\" width=\"" + at(width) + "\" height=\"" + at(height) +
           "\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<style>"
           ".t{fill:var(--ink,#333)}.h{fill:var(--ink,#222);font-weight:600;font-size:14px}"
           ".g{stroke:var(--grid,#e3e6ea);stroke-width:1}.a{stroke:var(--axis,#8a929c);stroke-width:1}"
           ".b{stroke:var(--bound,#777);stroke-width:1;stroke-dasharray:2 3}.c{fill:none;stroke-width:1.7;"
           "stroke-linejoin:round}.p{fill:var(--paper,#fff)}"
           "@media (prefers-color-scheme:dark){.t,.h{fill:var(--ink,#d7dce2)}.g{stroke:var(--grid,#333a43)}"
           ".p{fill:var(--paper,#181c21)}}</style>\n<rect class=\"p\" width=\"100%\" height=\"100%\"/>\n" +
           svg_ + "</svg>\n";
  }

 private:
  std::string svg_;
};

/// Names beside their colours, in as many lines as it takes; gives the height.
double legend(Canvas& drawing, const Chart& chart, double top) {
  double x = left, y = top;
  const std::vector<std::string> colors = colors_of(chart);
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const double wide = 26 + 6.7 * double(chart.curves[i].name.size());
    if (x > left && x + wide > width - right) x = left, y += 17;
    drawing.rect(x, y - 8, 12, 4, colors[i]);
    drawing.text(x + 17, y - 2, chart.curves[i].name, "start");
    x += wide + 8;
  }
  return y - top + 17;
}

bool shown(const Chart& chart, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!chart.log_x || x > 0) && (!chart.log_y || y > 0);
}

/// At most some 1200 points of a long curve: of each stretch its least and its greatest.
std::vector<size_t> thinned(const Curve& curve) {
  constexpr size_t most = 600;
  std::vector<size_t> out;
  const size_t n = std::min(curve.x.size(), curve.y.size()), stretch = 1 + n / most;
  for (size_t begin = 0; begin < n; begin += stretch) {
    const size_t end = std::min(begin + stretch, n);
    if (stretch < 3) {
      for (size_t i = begin; i < end; ++i) out.push_back(i);
      continue;
    }
    const auto [low, high] =
        std::minmax_element(curve.y.begin() + std::ptrdiff_t(begin), curve.y.begin() + std::ptrdiff_t(end));
    const size_t a = size_t(low - curve.y.begin()), b = size_t(high - curve.y.begin());
    out.push_back(std::min(a, b));
    if (a != b) out.push_back(std::max(a, b));
  }
  return out;
}

double bars(const Chart& chart, Canvas& drawing) {
  drawing.text(left, 20, chart.title, "start", "h");
  const double head = 40 + legend(drawing, chart, 42), row = 13 * double(chart.curves.size()) + 10;
  const double bottom = head + row * double(chart.groups.size()), from = 150;
  double least = 1e300, most = 0;
  for (const Curve& c : chart.curves)
    for (const double v : c.y)
      if (v > 0) least = std::min(least, v), most = std::max(most, v);
  const Axis x(0.7 * least, most, true, from, width - right - 46);
  for (const double t : x.ticks()) {
    drawing.line(x(t), head, x(t), bottom, "g");
    drawing.text(x(t), bottom + 16, x.label(t), "middle");
  }
  double y = head + 5;
  const std::vector<std::string> colors = colors_of(chart);
  for (size_t g = 0; g < chart.groups.size(); ++g, y += 10) {
    drawing.text(from - 8, y + 0.5 * (row - 10) + 4, chart.groups[g], "end");
    for (size_t c = 0; c < chart.curves.size(); ++c, y += 13) {
      const double v = g < chart.curves[c].y.size() ? chart.curves[c].y[g] : 0;
      if (!(v > 0)) continue;
      drawing.rect(from, y, x(v) - from, 11, colors[c]);
      drawing.text(x(v) + 4, y + 10, with_unit(v, ""), "start");
    }
  }
  drawing.text(0.5 * (from + width - right), bottom + 34, chart.y, "middle");
  return bottom + 44;
}

}  // namespace

std::string with_unit(double value, const std::string& unit) {
  if (std::isnan(value)) return "not a number";
  char buffer[48];
  const double size = std::abs(value);
  if (value == std::floor(value) && size < 1e6)
    std::snprintf(buffer, sizeof buffer, "%.0f", value);
  else
    std::snprintf(buffer, sizeof buffer, size >= 1000 && size < 1e6 ? "%.0f" : size < 1e-2 ? "%.2g" : "%.4g", value);
  return buffer + (unit.empty()                                ? ""
                   : unit == "%" || unit == "×" || unit == "°" ? (unit == "%" ? " %" : unit)
                                                               : " " + unit);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    c == '<'   ? out += "&lt;"
    : c == '>' ? out += "&gt;"
    : c == '&' ? out += "&amp;"
    : c == '"' ? out += "&quot;"
               : out += c;
  return out;
}

std::string known_color(const std::string& label) {
  // those of the CPD paper's Fig. 2 where it has them
  struct Known {
    const char *label, *color;
  };
  static constexpr Known known[] = {{"cpd", "#2f7ed8"},           {"pd", "#e8833a"},
                                    {"pd+fepr", "#3fa35b"},       {"midpoint", "#d64550"},
                                    {"midpoint+fepr", "#8e6bbf"}, {"published", "#a0785a"},
                                    {"cpd_euler", "#2aa5a0"},     {"cpd_bdf2", "#b8962e"},
                                    {"truth", "#8a929c"},         {"Kee et al. 2021", "#8a929c"},
                                    {"pd+energy_only", "#c2659b"}};
  for (const Known& k : known)
    if (label == k.label) return k.color;
  return "";
}

std::vector<std::string> colors_of(const Chart& chart) {
  std::vector<std::string> out;
  for (const Curve& c : chart.curves) out.push_back(known_color(c.name));
  size_t next = 0;
  for (std::string& color : out) {
    if (!color.empty()) continue;
    const auto taken = [&] {
      return std::find(out.begin(), out.end(), palette[next % std::size(palette)]) != out.end();
    };
    for (size_t tries = 0; tries < std::size(palette) && taken(); ++tries) ++next;
    color = palette[next++ % std::size(palette)];
  }
  return out;
}

double draw_chart(const Chart& chart, Canvas& drawing) {
  if (!chart.groups.empty()) return bars(chart, drawing);
  drawing.text(left, 20, chart.title, "start", "h");
  const double top = 38 + legend(drawing, chart, 42), bottom = top + 240;
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
  for (const Curve& c : chart.curves)
    for (size_t i = 0; i < std::min(c.x.size(), c.y.size()); ++i) {
      if (!shown(chart, c.x[i], c.y[i])) continue;
      low[0] = std::min(low[0], c.x[i]), high[0] = std::max(high[0], c.x[i]);
      low[1] = std::min(low[1], c.y[i]), high[1] = std::max(high[1], c.y[i]);
    }
  for (const Chart::Line& l : chart.lines)
    if (!chart.log_y || l.y > 0) low[1] = std::min(low[1], l.y), high[1] = std::max(high[1], l.y);
  if (chart.high > chart.low) low[1] = std::max(low[1], chart.low), high[1] = std::min(high[1], chart.high);
  const Axis x(low[0], high[0], chart.log_x, left, width - right), y(low[1], high[1], chart.log_y, bottom, top);
  for (const double t : x.ticks()) {
    drawing.line(x(t), top, x(t), bottom, "g");
    drawing.text(x(t), bottom + 17, x.label(t), "middle");
  }
  for (const double t : y.ticks()) {
    drawing.line(left, y(t), width - right, y(t), "g");
    drawing.text(left - 7, y(t) + 4, y.label(t), "end");
  }
  drawing.line(left, bottom, width - right, bottom, "a");
  drawing.line(left, top, left, bottom, "a");
  const std::vector<std::string> colors = colors_of(chart);
  for (size_t c = 0; c < chart.curves.size(); ++c) {
    const Curve& curve = chart.curves[c];
    const std::string& color = colors[c];
    std::vector<Canvas::Point> points;
    bool pen_down = false;
    for (const size_t i : thinned(curve)) {
      const bool good = shown(chart, curve.x[i], curve.y[i]);
      if (good) {
        points.push_back({x(curve.x[i]), y(curve.y[i]), !pen_down});
        if (curve.dots && y.inside(curve.y[i])) drawing.dot(x(curve.x[i]), y(curve.y[i]), color);
      }
      pen_down = good;
    }
    drawing.path(points, color, curve.dashed);
  }
  for (const Chart::Line& l : chart.lines) {
    if (!y.inside(l.y)) continue;
    drawing.line(left, y(l.y), width - right, y(l.y), "b");
    drawing.text(width - right - 4, y(l.y) - 4, l.label, "end");
  }
  drawing.text(0.5 * (left + width - right), bottom + 35, chart.x, "middle");
  drawing.text(16, 0.5 * (top + bottom), chart.y, "middle", "t", true);
  return bottom + 46;
}

std::string svg(const Chart& chart) {
  SvgCanvas canvas;
  const double height = draw_chart(chart, canvas);
  return canvas.finish(height);
}

std::string csv(const Chart& chart) {
  const auto number = [](double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    return std::string(buffer);
  };
  const auto quoted = [](std::string text) {
    for (char& c : text)
      if (c == '"') c = '\'';
    return '"' + text + '"';
  };
  std::string out = "curve," + quoted(chart.groups.empty() ? chart.x : "group") + "," + quoted(chart.y) + "\n";
  for (const Curve& c : chart.curves)
    for (size_t i = 0; i < c.y.size(); ++i) {
      const std::string x = i < chart.groups.size() ? quoted(chart.groups[i]) : i < c.x.size() ? number(c.x[i]) : "";
      out += quoted(c.name) + "," + x + "," + number(c.y[i]) + "\n";
    }
  return out;
}

}  // namespace verve::figures
