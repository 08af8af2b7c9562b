// The checks of verve/contract_tests.h on everything that is registered from the start; new entries are covered at once.
#include <doctest/doctest.h>

#include "verve/contract_tests.h"
#include "verve/registry.h"

using namespace verve;

TEST_CASE("every potential fulfils its contract") {
  REQUIRE(potential_infos().size() > 30);
  for (const PotentialInfo& info : potential_infos()) CHECK(test_potential(info.name).text() == "");
}

TEST_CASE("every method fulfils its contract") {
  REQUIRE(method_infos().size() > 30);
  for (const MethodInfo& info : method_infos()) CHECK(test_method(info.name).text() == "");
}

TEST_CASE("every shape of colliders fulfils its contract") {
  REQUIRE(shape_infos().size() >= 7);
  for (const ShapeInfo& info : shape_infos()) CHECK(test_shape(info.name).text() == "");
}

TEST_CASE("what is not registered is said to be") {
  CHECK(test_potential("none").text().find("it is registered") != std::string::npos);
  CHECK(test_method("none").text().find("it is registered") != std::string::npos);
  CHECK(test_shape("none").text().find("it is registered") != std::string::npos);
}
