// A potential, two integrators and a shape of colliders that Verve does not have: registered by names, asked what Verve's
// own must fulfil, and used in a scene.
#include <verve/contract_tests.h>
#include <verve/plugin.h>
#include <verve/verve.h>

#include <cmath>
#include <cstdio>

using verve::Vec3;

namespace {

/// St. Venant-Kirchhoff without lambda: Psi = mu |E|^2 with E = (F^T F - 1)/2, dPsi/dF = 2 mu F E.
verve::PotentialPlugin green() {
  verve::PotentialPlugin out;
  out.name = "green", out.help = "Green's strain of tetrahedra, squared";
  verve::ParameterInfo stiffness;
  stiffness.name = "stiffness", stiffness.unit = "Pa", stiffness.help = "2 mu", stiffness.minimum = 0;
  stiffness.default_value = {1e4};
  out.parameters = {stiffness};
  out.law = [](const verve::PluginValues& values) {
    verve::ConstitutiveLaw law;
    law.energy = [mu = values.at("stiffness") / 2](int elements, const Vec3* F, double* psi, Vec3* slope) {
      for (int e = 0; e < elements; ++e, F += 3, slope += 3) {
        psi[e] = 0;
        for (int k = 0; k < 3; ++k) slope[k] = {};
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) {
            const double strain = 0.5 * (dot(F[k], F[l]) - (k == l));
            psi[e] += mu * strain * strain;
            slope[k] += F[l] * (2 * mu * strain);
          }
      }
    };
    return law;
  };
  return out;
}

/// BDF2 (Curtiss and Hirschfelder 1952): x_{n+1} = (4 x_n - x_{n-1})/3 + 2h/3 v_{n+1}, and likewise for v. p and q are the
/// mean velocity and acceleration over the last step, so that x_{n-1} = x_n - h p.
verve::IntegratorPlugin two_step_bdf() {
  verve::IntegratorPlugin out;
  out.name = "two_step", out.help = "BDF2 in its two-step form";
  out.effective_step = [](double h) { return 2 * h / 3; };
  out.begin = [](const verve::IntegratorStep& s, std::span<verve::IntegratorRow> rows) {
    for (verve::IntegratorRow& r : rows) {
      if (s.first) {
        r.q = r.acceleration;
        r.p = r.v - r.q * (0.5 * s.h);  // on the parabola of free fall
      } else if (s.h != s.before) {
        r.p += r.q * (0.5 * (s.before - s.h));  // the mean over a step of another length
      }
      r.xb = r.x + r.p * (s.h / 3);
      r.u = r.v + r.q * (s.h / 3) + r.acceleration * s.hh;
    }
  };
  out.end = [](const verve::IntegratorStep& s, std::span<verve::IntegratorRow> rows) {
    for (verve::IntegratorRow& r : rows) r.p = (r.x_new - r.x) / s.h, r.q = (r.v_new - r.v) / s.h;
  };
  return out;
}

/// The classical method of Runge and Kutta, of fourth order: explicit, so that it needs short steps.
verve::IntegratorPlugin runge_kutta() {
  verve::IntegratorPlugin out;
  out.name = "runge_kutta", out.help = "the classical Runge-Kutta method";
  out.step = [](verve::OwnStepView& view) {
    const size_t n = view.x.size();
    std::vector<Vec3> x(view.x.begin(), view.x.end()), a(n), dx(n), dv(n), v(view.v.begin(), view.v.end());
    const double weights[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, ahead[] = {0.5, 0.5, 1, 0};
    for (int stage = 0; stage < 4; ++stage) {
      view.accelerate(x, a);
      for (size_t i = 0; i < n; ++i) {
        dx[i] += v[i] * (weights[stage] * view.h), dv[i] += a[i] * (weights[stage] * view.h);
        x[i] = view.x[i] + v[i] * (ahead[stage] * view.h);
        v[i] = view.v[i] + a[i] * (ahead[stage] * view.h);
      }
    }
    for (size_t i = 0; i < n; ++i) view.x[i] += dx[i], view.v[i] += dv[i];
  };
  return out;
}

/// All that is within half of `length` of a flat disc of this radius, about y.
verve::ShapePlugin disc() {
  verve::ShapePlugin out;
  out.name = "disc", out.help = "a disc with a round rim, its axis along y";
  out.keys = {{"radius", "without the rim"}, {"length", "thickness"}};
  out.make = [](const verve::ColliderSpec& spec) {
    const double radius = spec.radius, half = spec.length / 2;
    verve::ShapeFunctions shape;
    shape.distance = [radius, half](const Vec3& x, Vec3& normal) {
      const double outward = std::sqrt(x.x * x.x + x.z * x.z), beside = std::max(0.0, outward - radius);
      const Vec3 off{outward > 0 ? x.x / outward * beside : beside, x.y, outward > 0 ? x.z / outward * beside : 0};
      const double length = norm(off);
      normal = length > 0 ? off / length : Vec3{0, 1, 0};
      return length - half;
    };
    shape.high = {radius + half, half, radius + half}, shape.low = -shape.high;
    // the rim in rings, between a point below and one above
    const double pi = 3.14159265358979323846;
    const int around = 48, rings = 25;
    shape.points = {{0, -half, 0}};
    for (int i = 0; i < rings; ++i)
      for (int j = 0; j < around; ++j) {
        const double rise = pi * (double(i) / (rings - 1) - 0.5), turn = 2 * pi * j / around;
        const double r = radius + half * std::cos(rise);
        shape.points.push_back({r * std::cos(turn), half * std::sin(rise), r * std::sin(turn)});
      }
    shape.points.push_back({0, half, 0});
    const auto at = [&](int ring, int j) { return 1 + ring * around + j % around; };
    const int last = int(shape.points.size()) - 1;
    for (int j = 0; j < around; ++j) {
      shape.triangles.push_back({0, at(0, j), at(0, j + 1)});
      for (int i = 0; i + 1 < rings; ++i) {
        shape.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
        shape.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
      }
      shape.triangles.push_back({last, at(rings - 1, j + 1), at(rings - 1, j)});
    }
    return shape;
  };
  return out;
}

verve::MethodInfo method(const char* name, const char* integrator, const char* minimizer) {
  verve::MethodInfo out;
  out.name = name, out.integrator = integrator, out.minimizer = minimizer, out.conservation = "none";
  return out;
}

/// Errors, if there are any, and how many.
size_t say(const verve::Diagnostics& problems) {
  std::fputs(problems.text().c_str(), stdout);
  return problems.items().size();
}

}  // namespace

int main() {
  verve::MethodInfo kutta = method("runge_kutta", "runge_kutta", "own");
  kutta.stable = false;  // below a limit only
  size_t wrong = say(register_potential(green())) + say(register_integrator(two_step_bdf())) +
                 say(register_integrator(runge_kutta())) + say(register_method(method("pd_two_step", "two_step", "projective"))) +
                 say(register_method(method("newton_two_step", "two_step", "newton"))) + say(register_method(kutta)) +
                 say(register_shape(disc()));
  wrong += say(verve::test_registered());
  if (wrong > 0) return 1;

  // as a file would have it
  const verve::Scene scene = verve::parse_scene(R"({
    "version": 1, "step": 0.0166667, "gravity": [0, -9.81, 0], "solver": {"method": "newton_two_step"},
    "bodies": [{"name": "jelly", "mesh": {"generator": "box", "size": [0.4, 0.4, 0.4], "cells": [3, 3, 3]},
                "place": {"translate": [0.1, 0.6, 0]}, "restitution": 0,
                "potentials": [{"type": "green", "stiffness": 4e5}]}],
    "colliders": [{"name": "disc", "shape": "disc", "radius": 0.5, "length": 0.2, "friction": 0.5, "restitution": 0}]})",
                                                "scene").value();
  verve::Simulation simulation = verve::Simulation::create(scene).value();
  for (int frame = 0; frame < 120; ++frame)
    if (const verve::StepReport report = simulation.step(); !report) return std::puts(report.message.c_str()), 1;
  const double height = simulation.measure().center.y;
  std::printf("the jelly lies on the disc, its centre at %.2f m\n", height);
  return height > 0.2 && height < 0.35 ? 0 : 1;
}
