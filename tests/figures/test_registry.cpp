// Every table and figure of both papers has an entry, and every entry can be judged.
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "figures/figure.h"
#include "figures/film.h"

using namespace verve;
using namespace verve::figures;

TEST_CASE("every table and figure of the papers has an entry (CPD: Table 1, Figs. 1-13; PD: Figs. 1, 3-12)") {
  CHECK(find("cpd-table1"));
  for (int n = 1; n <= 13; ++n) CHECK_MESSAGE(find("cpd-fig" + std::to_string(n)), n);
  for (int n = 1; n <= 12; ++n)
    if (n != 2) CHECK_MESSAGE(find("pd-fig" + std::to_string(n)), n);  // Fig. 2 is a drawing of a manifold
  for (const char* own : {"methods", "long-run", "robustness", "float", "step-size", "limits"}) CHECK(find(own));
  CHECK(find("cpd-fig99") == nullptr);
}

TEST_CASE("entries have names of their own, say what is shown and where their bounds are from") {
  std::set<std::string> names;
  double quick = 0;
  for (const Figure& f : registry()) {
    CAPTURE(f.name);
    CHECK(names.insert(f.name).second);
    CHECK(std::string(f.title).size() > 3);
    CHECK(std::string(f.shows).size() > 20);
    CHECK(std::string(f.source).size() > 2);
    CHECK(bool(f.make));
    CHECK(f.seconds > 0);
    CHECK(f.quick > 0);  // every figure has a quick form
    quick += f.quick;
  }
  CHECK(quick < 120);  // of the processor: the tests make all of them
}

TEST_CASE("a value at its bound passes, one beyond it and one that is no number fail") {
  Result r;
  r.at_most("a", 1, 1, "C1");
  r.at_most("b", 1.0000001, 1, "C1");
  r.at_most("c", std::nan(""), 1, "C1");
  r.at_least("d", 2, 2, "C1");
  r.at_least("e", 1.9999, 2, "C1");
  r.at_least("f", std::nan(""), 2, "C1");
  r.between("g", 1, 1, 3, "C1");
  r.between("h", 3, 1, 3, "C1");
  r.between("i", 3.1, 1, 3, "C1");
  r.between("j", 0.9, 1, 3, "C1");
  r.between("k", std::nan(""), 1, 3, "C1");
  r.at_least("l", INFINITY, 2, "C1");
  r.holds("m", false, "no", "yes", "C1");
  std::string passed;
  for (const Check& c : r.checks)
    if (c.passed) passed += c.what;
  CHECK(passed == "adghl");
  CHECK(r.passed() == 5);
  CHECK(r.failed() == 8);
  CHECK(r.checks[1].bound == "at most 1");
  CHECK(r.checks[2].measured == "not a number");
}

TEST_CASE("a figure that breaks down or measures nothing has failed, one that is interrupted says so") {
  Context context;
  const Figure breaks{"x", "", "", "", 1, 1, [](Context&, Result& r) {
                        r.at_most("before", 0, 1, "");
                        throw std::runtime_error("frame 3: diverged");
                      }};
  const Result broken = make(breaks, context);
  CHECK(broken.passed() == 1);
  CHECK(broken.failed() == 1);
  CHECK(broken.checks.back().measured == "frame 3: diverged");
  CHECK(make({"x", "", "", "", 1, 1, [](Context&, Result&) {}}, context).failed() == 1);
  context.stopped = [] { return true; };
  const Figure stops{"x", "", "", "", 1, 1, [](Context& c, Result&) { c.check_stop(); }};
  CHECK_THROWS_AS(make(stops, context), Interrupted);
}

TEST_CASE("a run that several figures look at is made once") {
  Context context;
  int made = 0;
  const auto maker = [&] {
    Film f;
    f.label = std::to_string(++made);
    return f;
  };
  const auto first = context.shared("a", maker), again = context.shared("a", maker), other = context.shared("b", maker);
  CHECK(first == again);
  CHECK(first->label == "1");
  CHECK(other->label == "2");
}
