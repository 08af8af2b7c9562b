#include <Eigen/Dense>
#include <algorithm>

#include "base/hash.h"
#include "base/parallel.h"
#include "contracts/findings.h"
#include "contracts/potential_subjects.h"
#include "verve/contract_tests.h"

namespace verve {

using namespace test;

namespace {

/// Size of the forces that cancel inside an element: sum of w |a| |z|.
double force_scale(const Potential& p, const std::vector<Vec4>& x) {
  double sum = 0;
  for (int e = 0; e < p.elements(); ++e)
    for (int r = 0; r < p.rows(e); ++r) {
      // z may be small where its terms are not: a flat sheet has no curvature
      double size = 0, reach = 0;
      for (int c = 0; c < p.corners(e); ++c) {
        size += std::abs(p.coefficient(e, r, c));
        reach += std::abs(p.coefficient(e, r, c)) * norm((x[p.vertex(e, c)] - x[p.vertex(e, 0)]).xyz());
      }
      sum += p.weight(e) * size * reach;
    }
  return sum;
}

void gradient_is_slope(const Mesh& mesh, Potential& batch, Findings& out) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<Vec4> x = deformed(mesh, 0.08, seed);
    const Slope s = slope(batch, x);
    // Central differences with step d of about eps^(1/3): truncation d^2 E'''/6 and round-off eps E/d are both near
    // 1e-10 of the gradient for edges of 0.5; a factor of 100 for the curvature.
    const double d = 1e-5;
    double worst = 0;
    for (size_t v = 0; v < x.size(); ++v) {
      for (double Vec4::*axis : {&Vec4::x, &Vec4::y, &Vec4::z}) {
        const double keep = x[v].*axis;
        x[v].*axis = keep + d;
        const double up = batch.energy(x.data());
        x[v].*axis = keep - d;
        const double down = batch.energy(x.data());
        x[v].*axis = keep;
        worst = std::max(worst, std::abs((up - down) / (2 * d) - s.gradient[v].*axis));
      }
    }
    out.below(worst, 1e-8 * length(s.gradient), "the gradient is the slope of the energy");
  }
}

void energy_alone(const Mesh& mesh, Potential& batch, Findings& out) {
  const auto x = deformed(mesh, 0.1, 4);
  // found another way it may cancel down to 1e-4 of its terms
  const double with_gradient = slope(batch, x).energy;
  out.below(std::abs(batch.energy(x.data()) - with_gradient), 1e-11 * std::abs(with_gradient),
            "the energy alone equals the one that comes with the gradient");
  const double in_float = slope(batch, x, Precision::float32).energy;
  out.below(std::abs(batch.energy(x.data(), Precision::float32) - in_float), 1e-2 * std::abs(in_float),
            "the energy alone equals the one that comes with the gradient, in float");
}

void no_net_force(const Mesh& mesh, Potential& batch, Findings& out) {
  for (const double shift : {0.0, 10.0}) {
    auto x = deformed(mesh, 0.1, 5);
    for (Vec4& v : x) v += Vec4(shift, -shift, shift);
    const Slope s = slope(batch, x);
    Vec3 force{}, torque{};
    double forces = 0, torques = 0;
    for (size_t v = 0; v < x.size(); ++v) {
      const Vec3 g = s.gradient[v].xyz(), r = x[v].xyz();
      force += g, torque += cross(r, g);
      forces += norm(g), torques += norm(r) * norm(g);
    }
    out.below(norm(force), 1e-14 * forces, "there is no net force");     // round-off of the sum
    out.below(norm(torque), 1e-13 * torques, "there is no net torque");  // and of the projections
  }
}

void nothing_at_rest(const PotentialInfo& info, const Mesh& mesh, Potential& batch, Findings& out) {
  const auto rest = at_rest(mesh);
  const Slope s = slope(batch, rest);
  out.expect(batch.reference_energy() > 0, "it has an energy scale");
  out.expect((batch.prestress() > 0) == info.prestressed, "prestress is what its entry says");
  if (info.prestressed) {  // its zero is a convention, and at rest it pushes: that is what it says it does
    out.below(std::abs(s.energy), 1e-14 * batch.reference_energy(), "there is no energy at rest");
    out.expect(length(s.gradient) >= 1e-2 * force_scale(batch, rest) / double(rest.size() * rest.size()),
               "it pushes at rest, as it says");
    return;
  }
  // the square of a strain of a few round-offs
  out.below(s.energy, 1e-29 * batch.reference_energy(), "there is no energy at rest");
  out.below(length(s.gradient), 1e-14 * force_scale(batch, rest), "there is no force at rest");
}

void signs(const PotentialInfo& info, const Mesh& mesh, Potential& batch, Findings& out) {
  for (std::uint64_t k = 0; k < 300; ++k) {
    std::vector<Vec4> x;
    for (size_t v = 0; v < mesh.vertices.size(); ++v) x.push_back(Vec4(random_in_ball(k, v) * (k % 3 ? 1.0 : 100.0)));
    const double e = batch.energy(x.data());
    out.expect(std::isfinite(e), "the energy is finite");
    const double rigid = batch.energy(moved(at_rest(mesh), random_rotation(3, k), random_in_ball(4, k)).data());
    if (info.prestressed) {  // linear, not quadratic, in the round-off of positions; and without a sign
      out.below(std::abs(rigid), 1e-13 * batch.reference_energy(), "the energy of rigid motions of the rest shape is 0");
      continue;
    }
    out.expect(info.slack ? e >= 0 : e > 0, "the energy is never negative, and 0 where nothing is deformed only");
    out.below(rigid, 1e-28 * batch.reference_energy(), "the energy of rigid motions of the rest shape is 0");
  }
}

void rigid_motions(const Mesh& mesh, Potential& batch, Findings& out) {
  const auto x = deformed(mesh, 0.1, 6);
  const Slope s = slope(batch, x);
  double energy = 0, gradient = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const Mat3 rotation = random_rotation(1, k);
    const Slope t = slope(batch, moved(x, rotation, random_in_ball(2, k) * 2.0));
    energy = std::max(energy, std::abs((t.energy - s.energy) / s.energy));
    gradient = std::max(gradient, distance(t.gradient, moved(s.gradient, rotation, {})) / length(s.gradient));
  }
  out.below(energy, 1e-12, "the energy does not change under rigid motions");
  out.below(gradient, 1e-12, "the gradient turns along with rigid motions");
}

void nearest_points(const Mesh& mesh, Potential& batch, Findings& out) {
  if (!batch.has_projection()) return;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    // gently deformed, and wild: inverted, crossed over
    if (seed >= 3 && !batch.projects_globally()) break;
    auto x = deformed(mesh, seed < 3 ? 0.1 : 1.0, seed);
    const Projection at = project(batch, x);
    for (std::uint64_t k = 0; k < 300; ++k) {
      // projections of other configurations are samples of the same sets: near ones and far ones
      auto y = x;
      const double reach = std::pow(10.0, random_signed(8, k) * 2);  // 0.01 to 100
      for (size_t v = 0; v < y.size(); ++v) y[v] += Vec4(random_in_ball(100 + k, v) * reach);
      const Projection sample = project(batch, y);
      for (int e = 0, r = 0; e < batch.elements(); ++e) {
        double best = 0, other = 0, size = 0;
        for (const int end = r + batch.rows(e); r < end; ++r) {
          best += dot(at.z[r] - at.p[r], at.z[r] - at.p[r]);
          other += dot(at.z[r] - sample.p[r], at.z[r] - sample.p[r]);
          size += dot(at.z[r], at.z[r]) + dot(at.p[r], at.p[r]);
        }
        out.below(best, other + 1e-14 * size, "no point of an element's set is nearer than its projection");
      }
    }
  }
}

void idempotent(const Mesh& mesh, Potential& batch, Findings& out) {
  if (!batch.has_projection()) return;
  const Projection at = project(batch, deformed(mesh, 0.3, 9));
  for (int e = 0, first = 0; e < batch.elements(); first += batch.rows(e), ++e) {
    // positions whose z is p: the least-norm solution of A x = p
    const int rows = batch.rows(e), corners = batch.corners(e);
    Eigen::MatrixXd A(rows, corners), p(rows, 3);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < corners; ++c) A(r, c) = batch.coefficient(e, r, c);
      for (int a = 0; a < 3; ++a) p(r, a) = at.p[first + r][a];
    }
    const Eigen::MatrixXd position = A.completeOrthogonalDecomposition().solve(p);
    std::vector<Vec4> x(mesh.vertices.size());
    for (int c = 0; c < corners; ++c) x[batch.vertex(e, c)] = Vec4(position(c, 0), position(c, 1), position(c, 2));
    const Projection again = project(batch, x);
    // of all rows, one of which may be small beside the others, and of their terms, which may cancel: curvatures do
    const double size = std::max(p.rowwise().norm().maxCoeff(), (A.cwiseAbs() * position.rowwise().norm()).maxCoeff());
    for (int r = first; r < first + rows; ++r) {
      out.below(norm(again.z[r] - at.p[r]), 1e-13 * size, "A x = p has a solution for a projection p");
      out.below(norm(again.p[r] - at.p[r]), 1e-13 * size, "projecting a projection changes nothing");
    }
  }
}

void same_bits(const PotentialEntry& entry, Findings& out) {
  const Mesh mesh = suitable_mesh(entry.info, true);
  const auto batch = make(entry, mesh);
  const auto x = deformed(mesh, 0.01, 11);
  const int threads_before = threads();
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 3, 16}) {
      set_threads(threads);
      const Slope s = slope(*batch, x, precision);
      BitHash hash;
      hash.add(s.energy);
      for (const Vec4& g : s.gradient) hash.add(g.x), hash.add(g.y), hash.add(g.z);
      hashes.push_back(hash.value());
    }
    for (const std::uint64_t h : hashes)
      out.expect(h == hashes[0], "energy and gradient have the same bits on 1, 2, 3 and 16 threads");
  }
  set_threads(threads_before);
}

}  // namespace

Diagnostics test_potential(const std::string& name) {
  Diagnostics problems;
  Findings out(problems, "potential \"" + name + "\"");
  const PotentialEntry* const entry = find_potential(name);
  if (!entry) return out.expect(false, "it is registered"), problems;
  try {
    const Mesh mesh = suitable_mesh(entry->info);
    const auto made = make(*entry, mesh);
    Potential& batch = *made;
    out.expect(batch.elements() > 0, "it has elements");
    gradient_is_slope(mesh, batch, out), energy_alone(mesh, batch, out), no_net_force(mesh, batch, out);
    nothing_at_rest(entry->info, mesh, batch, out), signs(entry->info, mesh, batch, out);
    rigid_motions(mesh, batch, out), nearest_points(mesh, batch, out), idempotent(mesh, batch, out);
    same_bits(*entry, out);
  } catch (const std::exception& thrown) {
    problems.error("potential \"" + name + "\"", thrown.what());
  }
  return problems;
}

}  // namespace verve
