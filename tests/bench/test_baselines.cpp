// A ratio to a baseline means something only when both compute the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "bench/cases.h"
#include "bench/scalar.h"
#include "bench/subject.h"
#include "bench/textbook.h"

using namespace verve;
using namespace verve::bench;

namespace {

Scene small_box(const Vec3& stretch) {
  Scene scene = box_scene("small", 4);
  scene.bodies[0].initial.stretch = stretch;
  scene.bodies[0].initial.noise = 0.02;
  return scene;
}

/// Springs, pins and gravity.
Scene small_sheet() {
  Scene scene;
  scene.name = "sheet";
  scene.gravity = {0, -9.81, 0};
  BodySpec& body = scene.bodies.emplace_back();
  body.name = "sheet";
  body.mesh.generator = "cloth";
  body.mesh.parameters = {{"columns", {9}}, {"rows", {7}}};
  body.density = 0.2;
  body.potentials.push_back({"spring", {{"stiffness", Track<double>(40)}}});
  body.initial.noise = 0.01;
  AnchorSpec& corners = scene.anchors.emplace_back();
  corners.name = "corners", corners.body = "sheet";
  corners.vertices.indices = {0, 8};
  corners.stiffness = Track<double>(1000);
  return scene;
}

struct Histories {
  std::vector<double> textbook, scalar64, scalar32, verve64, verve32;  // |grad g| / |grad g at the start|
};

Histories histories(Subject& subject, int iterations) {
  const PdProblem problem = subject.problem();
  Textbook textbook(problem);
  const PlainFactor factor = textbook.factor();
  ScalarCode<double> wide(problem, factor);
  ScalarCode<float> narrow(problem, factor);
  Textbook judge(problem);
  const double first = judge.residual_at(problem.y);
  Histories out;
  const auto run = [&](Baseline& solver, std::vector<double>& history) {
    solver.start();
    for (int k = 0; k < iterations; ++k) {
      solver.local(), solver.global();
      history.push_back(judge.residual_at(solver.positions()) / first);
    }
  };
  run(textbook, out.textbook), run(wide, out.scalar64), run(narrow, out.scalar32);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    for (int k = 1; k <= iterations; ++k) {
      const StepOutcome step = subject.step(fixed_iterations("pd", precision, k), 1);
      CHECK(step.iterations == k);
      (precision == Precision::float64 ? out.verve64 : out.verve32)
          .push_back(judge.residual_at(subject.positions()) / first);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("baselines and Verve have the same residual after every iteration") {
  struct Example {
    const char* name;
    Scene scene;
    int warm_up;
  };
  // flattened and turned inside out: F has one negative singular value, smaller than the others
  for (const Example& e : {Example{"stretched", small_box({1, 1.3, 1}), 2},
                           Example{"inverted", small_box({1.1, -0.4, 0.9}), 0}, Example{"sheet", small_sheet(), 2}}) {
    CAPTURE(std::string(e.name));
    Subject subject(e.scene, e.warm_up);
    const Histories h = histories(subject, 12);
    for (size_t k = 0; k < h.textbook.size(); ++k) {
      CAPTURE(k);
      const double expected = h.textbook[k];
      // round-off of a few hundred operations, amplified by how far apart stiffness and mass are
      const double wide = 1e-9 * expected + 1e-12, narrow = 2e-3 * expected + 1e-5;
      CHECK(std::abs(h.scalar64[k] - expected) <= wide);
      CHECK(std::abs(h.verve64[k] - expected) <= wide);
      CHECK(std::abs(h.scalar32[k] - expected) <= narrow);
      CHECK(std::abs(h.verve32[k] - expected) <= narrow);
    }
    CHECK(h.textbook.back() < 0.5 * h.textbook.front());  // it is a history worth comparing
  }
}

TEST_CASE("the objective of the scalar code never rises") {
  Subject subject(small_box({1, 1.3, 1}), 0);
  const PdProblem problem = subject.problem();
  const Textbook textbook(problem);
  ScalarCode<double> solver(problem, textbook.factor());
  solver.start();
  double last = INFINITY;
  for (int k = 0; k < 20; ++k) {
    solver.local();
    CHECK(solver.energy() <= last * (1 + 1e-14));
    last = solver.energy();
    solver.global();
  }
}

TEST_CASE("the plain factor is a factor of the textbook's matrix") {
  Subject subject(small_sheet(), 0);
  const PdProblem problem = subject.problem();
  const Textbook textbook(problem);
  const PlainFactor f = textbook.factor();
  const int n = problem.vertices();
  std::vector<std::vector<double>> L(n, std::vector<double>(n, 0.0)), A = L;
  for (int j = 0; j < n; ++j) {
    L[j][j] = f.diagonal[j];
    for (int k = f.start[j]; k < f.start[j + 1]; ++k) L[f.row[k]][j] = f.value[k];
  }
  for (int i = 0; i < n; ++i) A[i][i] = problem.mass[i] / (problem.h * problem.h);
  for (const PdProblem::Spring& s : problem.springs) {
    const auto [a, b] = s.vertex;
    A[a][a] += s.weight, A[b][b] += s.weight, A[a][b] -= s.weight, A[b][a] -= s.weight;
  }
  for (const PdProblem::Pin& pin : problem.pins) A[pin.vertex][pin.vertex] += pin.weight;
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += L[i][k] * L[j][k];
      largest = std::max(largest, std::abs(sum - A[f.order[i]][f.order[j]]));
    }
  }
  CHECK(largest < 1e-11 * 1000);  // round-off relative to the largest entry, a pin
}

TEST_CASE("a subject starts every step from the same state") {
  Subject subject(small_box({1, 1.3, 1}), 3);
  for (const char* method : {"pd", "cpd"}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      const Settings settings = fixed_iterations(method, precision, 4);
      subject.step(settings, 1);
      const std::uint64_t hash = subject.hash();
      subject.step(fixed_iterations("pd", Precision::float64, 2), 1);
      CHECK(subject.hash() != hash);
      subject.step(settings, 2);
      CHECK(subject.hash() == hash);
    }
  }
}
