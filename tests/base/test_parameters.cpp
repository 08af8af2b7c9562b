#include <doctest/doctest.h>

#include <limits>

#include "verve/parameters.h"

using namespace verve;

namespace {

ParameterInfo number(const char* name, const char* unit, double minimum, bool exclusive = false) {
  ParameterInfo p;
  p.name = name, p.unit = unit, p.default_value = {1}, p.minimum = minimum, p.exclusive_minimum = exclusive;
  return p;
}

std::vector<ParameterInfo> known() {
  std::vector<ParameterInfo> out{number("stiffness", "N/m", 0, true), number("poisson", "", 0)};
  out[1].maximum = 0.5, out[1].exclusive_maximum = true;
  ParameterInfo cells = number("cells", "", 1);
  cells.default_value = {1, 1, 1}, cells.integer = true;
  out.push_back(cells);
  ParameterInfo weights = number("weights", "kg", 0);
  weights.list = true;
  out.push_back(weights);
  return out;
}

std::string complaints(const Parameters& given, const std::string& where = "mesh") {
  Diagnostics out;
  check_parameters(given, known(), where, out);
  return out.text();
}

}  // namespace

TEST_CASE("what is expected of a parameter is said in words") {
  const auto k = known();
  CHECK(describe_expected(k[0]) == "a number > 0 [N/m]");
  CHECK(describe_expected(k[1]) == "a number >= 0 and < 0.5");
  CHECK(describe_expected(k[2]) == "3 whole numbers >= 1");
  CHECK(describe_expected(k[3]) == "a list of numbers >= 0 [kg]");
}

TEST_CASE("parameters in range pass") {
  CHECK(complaints({}).empty());
  CHECK(complaints({{"stiffness", {1e-300}}, {"poisson", {0}}, {"cells", {1, 2, 3}}}).empty());
  CHECK(complaints({{"weights", {}}}).empty());
  CHECK(complaints({{"weights", {1, 2, 3, 4, 5}}}).empty());
}

TEST_CASE("bounds count as they are written: exclusive ones exclude") {
  CHECK(complaints({{"stiffness", {0}}}) == "mesh.stiffness: found 0, expected a number > 0 [N/m]");
  CHECK(complaints({{"poisson", {0.5}}}) == "mesh.poisson: found 0.5, expected a number >= 0 and < 0.5");
  CHECK(complaints({{"poisson", {-0.1}}}) == "mesh.poisson: found -0.1, expected a number >= 0 and < 0.5");
}

TEST_CASE("wrong sizes, fractions and values that are not finite are refused") {
  CHECK(complaints({{"cells", {1, 2}}}) == "mesh.cells: found [1, 2], expected 3 whole numbers >= 1");
  CHECK(complaints({{"cells", {1, 2, 2.5}}}) == "mesh.cells: found [1, 2, 2.5], expected 3 whole numbers >= 1");
  CHECK_FALSE(complaints({{"stiffness", {}}}).empty());
  CHECK_FALSE(complaints({{"stiffness", {std::numeric_limits<double>::quiet_NaN()}}}).empty());
  CHECK_FALSE(complaints({{"stiffness", {std::numeric_limits<double>::infinity()}}}).empty());
  CHECK_FALSE(complaints({{"weights", {1, -1}}}).empty());
}

TEST_CASE("every faulty parameter is reported at once, unknown ones with the nearest name") {
  Diagnostics out;
  check_parameters({{"stifness", {1}}, {"poisson", {2}}, {"cells", {0, 1, 1}}}, known(), "", out);
  CHECK(out.items().size() == 3);
  CHECK(out.text().find(
            "stifness: unknown key, expected one of stiffness, poisson, cells, weights (nearest: stiffness)") !=
        std::string::npos);
}
