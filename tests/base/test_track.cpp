#include <doctest/doctest.h>

#include "verve/track.h"
#include "verve/vec.h"

using namespace verve;

TEST_CASE("a constant track has its value at all times") {
  const Track<double> t(3.0);
  CHECK(t.is_constant());
  CHECK_FALSE(t.empty());
  for (const double time : {-1e6, 0.0, 1e6}) CHECK(t.at(time) == 3.0);
}

TEST_CASE("an empty track has no value") {
  const Track<double> t;
  CHECK(t.empty());
  CHECK_FALSE(t.is_constant());
  CHECK_FALSE(t.at(0).has_value());
}

TEST_CASE("a track gives nothing before its first key and the last value after its last one") {
  Track<double> t;
  t.keys = {{1, 10.0}, {3, 20.0}};
  CHECK_FALSE(t.at(0.999).has_value());
  CHECK(t.at(1) == 10.0);
  CHECK(t.at(3) == 20.0);
  CHECK(t.at(100) == 20.0);
  CHECK_FALSE(t.is_constant());
}

TEST_CASE("between keys a linear track interpolates and a step track waits") {
  Track<double> t;
  t.keys = {{1, 10.0}, {3, 20.0}, {4, 0.0}};
  CHECK(*t.at(1.5) == doctest::Approx(12.5).epsilon(1e-15));
  CHECK(*t.at(3.75) == doctest::Approx(5.0).epsilon(1e-15));
  t.interpolation = Interpolation::step;
  CHECK(t.at(1.5) == 10.0);
  CHECK(t.at(2.999) == 10.0);
  CHECK(t.at(3) == 20.0);
}

TEST_CASE("a key without a value ends what was before it, at its own time") {
  Track<double> t;
  t.keys = {{0, 5.0}, {2, std::nullopt}, {4, 7.0}, {6, std::nullopt}};
  CHECK(t.at(1) == 5.0);  // nothing to go towards: the value holds
  CHECK_FALSE(t.at(2).has_value());
  CHECK_FALSE(t.at(3).has_value());
  CHECK(t.at(4) == 7.0);
  CHECK(t.at(5) == 7.0);
  CHECK_FALSE(t.at(6).has_value());
  CHECK_FALSE(t.at(60).has_value());
}

TEST_CASE("vectors interpolate and switches do not") {
  Track<Vec3> path;
  path.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{2, 4, -6}}};
  CHECK(*path.at(0.5) == Vec3{0.5, 1, -1.5});
  Track<bool> active;
  active.keys = {{0, true}, {1, false}, {2, true}};
  CHECK(active.at(0.5) == true);
  CHECK(active.at(1) == false);
  CHECK(active.at(1.9) == false);
  CHECK(active.at(2.1) == true);
}
