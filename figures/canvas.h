// What a chart is drawn on: an SVG or a picture of pixels.
#pragma once

#include <string>
#include <vector>

#include "figures/chart.h"

namespace verve::figures {

inline constexpr double chart_width = 640;

/// Lengths in pixels of an SVG of chart_width, y downwards. Kinds of lines: "g" grid, "a" axis, "b" bound; of text: "t"
/// plain, "h" head.
class Canvas {
 public:
  struct Point {
    double x, y;
    bool begins;  ///< with no line to it from the one before
  };
  virtual ~Canvas() = default;
  virtual void line(double x1, double y1, double x2, double y2, const char* kind) = 0;
  /// `anchor`: "start", "middle" or "end"; upright text reads from below.
  virtual void text(double x, double y, const std::string& words, const char* anchor, const char* kind = "t",
                    bool upright = false) = 0;
  virtual void rect(double x, double y, double w, double h, const std::string& color) = 0;
  virtual void path(const std::vector<Point>& points, const std::string& color, bool dashed) = 0;
  virtual void dot(double x, double y, const std::string& color) = 0;
};

/// Gives the height that it takes.
double draw_chart(const Chart& chart, Canvas& canvas);

}  // namespace verve::figures
