// Curves and bars as SVG, readable by themselves, on light and on dark paper; and the same numbers as a table.
#pragma once

#include <string>
#include <vector>

namespace verve::figures {

/// "0.00123", "1.2e-07", "3.4 ms": four digits at most, "not a number" for nan.
std::string with_unit(double value, const std::string& unit);
std::string escaped(const std::string& text);

/// The colour of a method that has one through all figures, or nothing.
std::string known_color(const std::string& label);

struct Curve {
  std::string name;
  std::vector<double> x, y;
  bool dashed = false, dots = false;
};

struct Chart {
  std::string name;  ///< of the files, "energy"
  std::string title, x, y;
  std::vector<Curve> curves;
  bool log_x = false, log_y = false;  ///< what is not above zero is left out
  struct Line {
    double y;
    std::string label;
  };
  std::vector<Line> lines{};  ///< bounds and truths, across the chart
  /// Of y, where one curve that blows up would flatten the others: what is beyond is cut off.
  double low = 0, high = 0;

  /// Bars in place of curves: one group per label, one bar per curve, whose y are the values. Logarithmic.
  std::vector<std::string> groups{};
};

/// A colour for each curve: that of its method, else the next that no other curve has.
std::vector<std::string> colors_of(const Chart& chart);
std::string svg(const Chart& chart);
/// One block of columns per curve.
std::string csv(const Chart& chart);

}  // namespace verve::figures
