#include <doctest/doctest.h>

#include "figures/page.h"

using namespace verve::figures;

namespace {

/// As much of a PNG as says how large it is.
std::string png_of(int width, int height) {
  std::string out("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  for (const int n : {width, height})
    for (const int shift : {24, 16, 8, 0}) out += char(n >> shift & 255);
  return out;
}

std::vector<Made> example() {
  static const Figure figure{"cpd-fig7", "A ball <bounces>", "It comes back.", "C32", 1, 1, nullptr};
  Made made{&figure, {}};
  made.result.at_least("height", 0.9, 0.98, "C32");
  made.result.at_most("a \"quoted\", check", 1, 2, "C13");
  made.result.chart({"height", "Height", "time", "m", {{"cpd", {0, 1}, {2, 1}}}});
  made.result.table({"Heights", {{"run", "1st"}, {"cpd", "92 %"}}});
  made.result.pictures.push_back({"frames.png", "caption", png_of(640, 480)});
  made.result.differs("softer than the paper's");
  return {made};
}

}  // namespace

TEST_CASE("the page has every check, remark, chart, table and picture, and needs nothing from outside") {
  const std::string text = page(example(), false, "", 12);
  for (const char* part :
       {"FAIL", "pass", "height", "at least 0.98", "softer than the paper", "<svg", "92 %",
        "data:image/png;base64,iVBORw0KGgo", "width=\"640\" height=\"480\"", "A ball &lt;bounces&gt;", "1 passed",
        "1 failed", "prefers-color-scheme", "@media print", "verve figures cpd-fig7"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  // no script, no link to another host
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("src=\"http") == std::string::npos);
  CHECK(text.find("href=\"http") == std::string::npos);
  CHECK(text.find("url(") == std::string::npos);
  CHECK(page(example(), true, "pd", 12).find("<b>pd</b>") != std::string::npos);
}

TEST_CASE("checks.csv has a line per check, and the files of a figure are all there") {
  CHECK(checks_csv(example()) ==
        "figure,check,measured,bound,source,passed\n"
        "cpd-fig7,\"height\",\"0.9\",\"at least 0.98\",\"C32\",0\n"
        "cpd-fig7,\"a \"\"quoted\"\", check\",\"1\",\"at most 2\",\"C13\",1\n");
  std::string names;
  for (const auto& [name, bytes] : files_of(example()[0])) {
    names += name + " ";
    CHECK(!bytes.empty());
  }
  CHECK(names == "height.svg height.csv table1.csv frames.png ");
}
