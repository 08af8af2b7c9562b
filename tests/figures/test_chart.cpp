#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "figures/chart.h"
#include "figures/chart_image.h"

using namespace verve::figures;

namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

}  // namespace

TEST_CASE("a chart has a path per curve, its names escaped, and no value that is not finite") {
  Chart chart{"name", "a < b & c", "x", "y", {{"one", {0, 1, 2}, {0, NAN, 4}}, {"two", {0, 1, 2}, {1, 2, INFINITY}}}};
  chart.lines = {{2, "bound"}};
  const std::string text = svg(chart);
  CHECK(text.find("a &lt; b &amp; c") != std::string::npos);
  CHECK(count(text, "<path") == 2);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
  CHECK(text.find(">bound<") != std::string::npos);
  CHECK(count(text, "<svg") == 1);
  CHECK(count(text, "</svg>") == 1);
}

TEST_CASE("a logarithmic chart leaves out what is not above zero") {
  Chart chart{"n", "t", "x", "y", {{"one", {1, 10, 100}, {0, 1e-3, 1e3}}}, true, true};
  const std::string text = svg(chart);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(count(text, "M") >= 1);
}

TEST_CASE("a chart with nothing in it, or with one constant, is still a chart") {
  CHECK(svg({"n", "t", "x", "y", {}}).find("</svg>") != std::string::npos);
  const std::string flat = svg({"n", "t", "x", "y", {{"c", {0, 1}, {5, 5}}}});
  CHECK(flat.find("nan") == std::string::npos);
  // kept to six digits: ticks that differ, not six times "1"
  const std::string kept = svg({"n", "t", "x", "y", {{"c", {0, 1, 2}, {1, 1 + 1e-6, 1 - 1e-6}}}});
  CHECK(count(kept, ">1<") <= 2);  // one of them on the other axis
}

TEST_CASE("a long curve is thinned out and keeps its spikes") {
  Curve curve{"c", {}, {}};
  for (int i = 0; i < 100000; ++i) curve.x.push_back(i), curve.y.push_back(i == 54321 ? 7.0 : 0.0);
  const std::string text = svg({"n", "t", "x", "y", {curve}});
  CHECK(text.size() < 60000);
  // the spike reaches the top of the axis, which ends at 7
  CHECK(text.find("L") != std::string::npos);
  CHECK(text.find(" 55.0") != std::string::npos);
}

TEST_CASE("bars have a group per label and a bar per curve") {
  Chart chart{"n", "t", "", "ms", {{"paper", {}, {10, 20}}, {"ours", {}, {1, 0}}}};
  chart.groups = {"bear", "cube"};
  const std::string text = svg(chart);
  CHECK(text.find(">bear<") != std::string::npos);
  CHECK(count(text, "<rect") == 1 + 2 + 3);  // paper, legend, bars above zero
  CHECK(csv(chart) ==
        "curve,\"group\",\"ms\"\n\"paper\",\"bear\",10\n\"paper\",\"cube\",20\n\"ours\",\"bear\",1\n\"ours\",\"cube\","
        "0\n");
}

TEST_CASE("numbers are written short, with their unit") {
  CHECK(with_unit(0.00012345, "") == "0.00012");
  CHECK(with_unit(3, "ms") == "3 ms");
  CHECK(with_unit(12.3456, "%") == "12.35 %");
  CHECK(with_unit(2.5, "×") == "2.5×");
  CHECK(with_unit(123456.7, "J") == "123457 J");
  CHECK(with_unit(NAN, "J") == "not a number");
}

TEST_CASE("a method has its colour in every chart, and no two curves share one while there are enough") {
  Chart chart{"n", "t", "x", "y", {{"ours", {}, {}}, {"pd", {}, {}}, {"theirs", {}, {}}, {"cpd", {}, {}}}};
  const std::vector<std::string> colors = colors_of(chart);
  CHECK(colors[1] == known_color("pd"));
  CHECK(colors[3] == known_color("cpd"));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < i; ++j) CHECK(colors[i] != colors[j]);
}

TEST_CASE("a chart as pixels has the size of the SVG and each curve in its colour") {
  Chart chart{
      "n", "A title", "τ", "share", {{"cpd", {1, 2, 4}, {0, 0.5, 1}}, {"pd", {1, 2, 4}, {0.5, 0.5, 0.5}, true}}};
  chart.log_x = true;
  chart.lines = {{0.2, "bound"}};
  const verve::render::Image image = image_of(chart, 2);
  CHECK(image.width == 1280);
  CHECK(svg(chart).find("height=\"" + std::to_string(image.height / 2)) != std::string::npos);
  const auto pixels = [&](const std::string& color) {
    int n = 0;
    for (size_t i = 0; i + 2 < image.rgb.size(); i += 3)
      n += pixel(color) == Pixel{image.rgb[i], image.rgb[i + 1], image.rgb[i + 2]};
    return n;
  };
  // a curve across the chart is two pixels high at least; a dashed one has half of that
  CHECK(pixels(known_color("cpd")) > 2 * 900);
  CHECK(pixels(known_color("pd")) > 900);
  CHECK(pixels(known_color("pd")) < pixels(known_color("cpd")));
  CHECK(in_ascii("τ ≤ 2×") == "tau <= 2x");
}

TEST_CASE("a logarithmic axis of few decades goes as far as its values, with ticks at 1, 2 and 5") {
  const Chart chart{"n", "t", "x", "y", {{"one", {0.5, 4, 16}, {1, 2, 3}}}, true};
  const std::string text = svg(chart);
  for (const char* tick : {">0.5<", ">1<", ">2<", ">5<", ">10<"}) CHECK_MESSAGE(count(text, tick) >= 1, tick);
  CHECK(count(text, ">0.1<") == 0);
  CHECK(count(text, ">100<") == 0);
}
