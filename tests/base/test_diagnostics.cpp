#include <doctest/doctest.h>

#include "verve/diagnostics.h"

using namespace verve;

TEST_CASE("a misspelt name is answered with the nearest known one") {
  const std::vector<std::string> names{"spring", "tet_strain", "volume", "bending"};
  CHECK(nearest("tet_strian", names) == "tet_strain");
  CHECK(nearest("sprng", names) == "spring");
  CHECK(nearest("Volume", names) == "volume");
  CHECK(nearest("spring", names) == "spring");
}

TEST_CASE("a shortened or lengthened name is near to the whole one") {
  const std::vector<std::string> names{"spring", "tet_strain", "generalized_alpha"};
  CHECK(nearest("strain", names) == "tet_strain");
  CHECK(nearest("alpha", names) == "generalized_alpha");
  CHECK(nearest("springs_and_more", names) == "spring");
}

TEST_CASE("nothing is suggested when nothing is near") {
  const std::vector<std::string> names{"spring", "tet_strain"};
  CHECK(nearest("qqqqqqqq", names).empty());
  CHECK(nearest("xy", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest("spring", {}).empty());
}

TEST_CASE("the list of choices names all of them and the nearest") {
  const std::vector<std::string> names{"linear", "step"};
  CHECK(expected_one_of("stepp", names) == "expected one of linear, step (nearest: step)");
  CHECK(expected_one_of("cubic_hermite", names) == "expected one of linear, step");
}

TEST_CASE("diagnostics print one line each, warnings and notes marked") {
  Diagnostics d;
  CHECK(d.empty());
  CHECK_FALSE(d.has_errors());
  d.warning("a.mesh:3", "2 tetrahedra were inverted and have been flipped");
  d.note("", "nothing to worry about");
  CHECK_FALSE(d.has_errors());
  d.error("step", "found -1, expected a number > 0 [s]");
  CHECK(d.has_errors());
  CHECK(d.text() ==
        "a.mesh:3: warning: 2 tetrahedra were inverted and have been flipped\n"
        "note: nothing to worry about\n"
        "step: found -1, expected a number > 0 [s]");
  Diagnostics all;
  all.append(d);
  all.append(d);
  CHECK(all.items().size() == 6);
}

TEST_CASE("an expected value is there with its notes, or throws every reason") {
  Diagnostics notes;
  notes.note("here", "something");
  const Expected<int> good(3, notes);
  CHECK(good);
  CHECK(good.value() == 3);
  CHECK(good.diagnostics().items().size() == 1);

  Diagnostics problems;
  problems.error("a", "first");
  problems.error("b", "second");
  const Expected<int> bad(problems);
  CHECK_FALSE(bad);
  CHECK_THROWS_WITH_AS(bad.value(), "a: first\nb: second", std::runtime_error);
}
