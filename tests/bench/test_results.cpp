#include <doctest/doctest.h>

#include <cmath>

#include "bench/cases.h"
#include "bench/plot.h"
#include "bench/run.h"
#include "verve/registry.h"

using namespace verve;
using namespace verve::bench;

namespace {

Variant variant(const char* solver, Precision precision, int threads, double local, double global) {
  Variant v;
  v.solver = solver, v.precision = precision, v.threads = threads;
  for (const double slow : {1.5, 1.0, 1.2}) {
    v.local.add(local * slow), v.global.add(global * slow), v.rest.add(0);
    v.iteration.add((local + global) * slow);
  }
  v.hash = 0x12abc;
  return v;
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("repeats have a least, a median and a mean") {
  Times t;
  CHECK(t.median() == 0);
  for (const double ms : {4.0, 1.0, 3.0}) t.add(ms);
  CHECK(t.least() == 1);
  CHECK(t.median() == 3);
  t.add(100);
  CHECK(t.median() == 3.5);
  CHECK(t.mean() == 27);
}

TEST_CASE("two threads are to be 1.5 times as fast as one, with the same bits (Inventory C21)") {
  // the bench decides; here, that it can say no (nothing is asked of a clock in a test)
  CaseResult c;
  CHECK(!two_threads(c));
  const auto measured = [&](double one, double two, std::uint64_t hash) {
    c.variants = {variant("pd", Precision::float32, 1, one, 1), variant("pd", Precision::float32, 2, two, 1)};
    c.variants[1].hash = hash;
    return two_threads(c).value();
  };
  CHECK(measured(3, 2, 0x12abc).holds());
  CHECK(measured(3, 2, 0x12abc).speedup == doctest::Approx(1.5));
  CHECK(!measured(2.9, 2, 0x12abc).holds());
  CHECK(!measured(4, 2, 0x12abd).holds());
}

TEST_CASE("ratios are those of the minima, against the baseline of the same precision") {
  Results results;
  CaseResult& c = results.cases.emplace_back();
  c.name = "cube", c.vertices = 8, c.elements = 5;
  c.variants = {variant("pd", Precision::float32, 1, 1, 1), variant("pd", Precision::float64, 2, 2, 1),
                variant("scalar", Precision::float32, 1, 6, 4), variant("scalar", Precision::float64, 1, 9, 6),
                variant("textbook", Precision::float64, 1, 80, 20)};
  const std::vector<Row> rows = rows_of(results, {"local", "pd_iteration"});
  CHECK(csv_of(rows) ==
        "group,name,vertices,elements,threads,precision,ms_min,ms_median,ratio_textbook,ratio_scalar,error_h,hash\n"
        "local,cube,8,5,1,float,1,1.2,80,6,0.000e+00,0000000000012abc\n"
        "local,cube,8,5,2,double,2,2.4,40,4.5,0.000e+00,0000000000012abc\n"
        "pd_iteration,cube,8,5,1,float,2,2.4,50,5,0.000e+00,0000000000012abc\n"
        "pd_iteration,cube,8,5,2,double,3,3.6,33.33,5,0.000e+00,0000000000012abc\n");
  CHECK(rows_of(results, {"frame"}).empty());
}

TEST_CASE("a frame at the paper's iteration count is set-up and that many iterations") {
  FrameVariant v;
  for (const double ms : {1.0, 0.9, 7.0}) v.iteration.add(ms);  // the last frame was disturbed
  for (const double ms : {2.0, 30.0, 2.0}) v.setup.add(ms);
  PaperRow paper{};
  paper.iterations = 8.5;
  CHECK(v.at_paper_iterations(paper) == doctest::Approx(2 + 8.5 * 1.0));
  CHECK(v.least_at_paper_iterations(paper) == doctest::Approx(2 + 8.5 * 0.9));
}

TEST_CASE("the plot shows every box and every scene") {
  Results results;
  for (const int tets : {1000, 10000, 100000}) {
    GrowthResult& g = results.growth.emplace_back();
    g.elements = tets, g.factor_ms = 0.1 * tets;
    g.variants = {variant("pd", Precision::float32, 1, 1e-3 * tets, 1e-3 * tets),
                  variant("pd", Precision::float32, 2, 1e-3 * tets, 5e-4 * tets)};
  }
  FrameResult& f = results.frames.emplace_back();
  f.name = "some_scene", f.paper.frame = 12.5;
  f.variants.emplace_back().milliseconds.add(1.5);
  const std::string svg = plot_of(results, {});
  CHECK(occurrences(svg, "<circle") == 3 * 3);
  CHECK(occurrences(svg, "some_scene") == 1);
  CHECK(occurrences(svg, ">12.5<") == 1);
  CHECK(occurrences(svg, "nan") == 0);
  CHECK(plot_of({}, {}) == "");
}

TEST_CASE("the scenes of Table 1 are sound and of the paper's size") {
  for (const std::string& name : table_scene_names()) {
    CAPTURE(name);
    const TableScene t = table_scene(name);
    const Expected<Simulation> simulation = Simulation::create(t.scene);
    REQUIRE_MESSAGE(simulation.has_value(), simulation.diagnostics().text());
    CHECK(std::abs(simulation->vertices() - t.paper.vertices) < 0.1 * t.paper.vertices);
    CHECK(std::abs(simulation->elements() - t.paper.elements) < 0.1 * t.paper.elements);
    CHECK(t.paper.init + t.paper.pd + t.paper.ls == doctest::Approx(t.paper.frame).epsilon(0.02));
    CHECK(t.scene.solver.tolerance == 1e-4);
  }
}

TEST_CASE("a selection names what will be measured, in order") {
  Options options;
  CHECK(items_of(options).size() == 5 + 10 + 7 + 2 + potential_infos().size() + 9 + 2 + 11 + 11 + 1);
  options.quick = true;
  CHECK(items_of(options).size() == 5 + 10 + 5 + 2 + potential_infos().size() + 6 + 2 + 9 + 9 + 1);
  options.groups = {"cpd_setup", "growth_factor"};
  options.names = {"box105k", "bear"};
  const std::vector<Item> items = items_of(options);
  REQUIRE(items.size() == 3);
  CHECK(items[0].name == "bear");
  CHECK(items[1].name == "box105k");
  CHECK(items[2].kind == Item::Kind::growth);
  CHECK(thread_counts(1) == std::vector<int>{1});
  CHECK(thread_counts(6) == std::vector<int>{1, 2, 4, 6});
}
