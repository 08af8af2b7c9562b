#include "integrators/held_vertices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace verve {

void HeldVertices::read(Island& island) {
  const int rows = island.rows();
  held_.assign(rows, 0), point_.resize(rows), inverse_mass_.resize(rows);
  joined_.clear();
  torn_ = -1;
  for (int r = 0; r < rows; ++r) {
    inverse_mass_[r] = island.forcing.inverse_mass[r];
    held_[r] = inverse_mass_[r] == 0;
    point_[r] = island.motion.x[r];
  }
  for (const AnchorTerm& term : island.anchor_terms()) {
    for (size_t i = 0; term.to_world && !term.world.hardness.empty() && i < term.world.vertices.size(); ++i) {
      const int r = term.world.vertices[i];
      if (held_[r] && inverse_mass_[r] == 0 && island.forcing.inverse_mass[r] > 0 &&
          point_[r].xyz() != term.world.points[i].xyz())
        torn_ = r;
      held_[r] = 1, inverse_mass_[r] = 0, point_[r] = term.world.points[i];
    }
    if (!term.to_world && !term.links.hardness.empty())
      joined_.insert(joined_.end(), term.links.pairs.begin(), term.links.pairs.end());
  }
}

void HeldVertices::place(const Island& island, double h, const std::vector<Vec4>& before, std::vector<Vec4>& x,
                         std::vector<Vec4>& v) const {
  for (int r = 0; r < int(x.size()); ++r) {
    if (!held_[r]) continue;
    x[r] = point_[r];
    v[r] = (point_[r] - before[r]) * (1 / h);
  }
  for (const auto& [a, b] : joined_) {
    const double ma = held_[a] ? 1 : held_[b] ? 0 : island.forcing.mass[a];
    const double mb = held_[a] ? 0 : held_[b] ? 1 : island.forcing.mass[b];
    const double share = ma / (ma + mb);
    const Vec4 mean = x[a] * share + x[b] * (1 - share), speed = v[a] * share + v[b] * (1 - share);
    x[a] = x[b] = mean, v[a] = v[b] = speed;
  }
}

void soft_gradient(Island& island, const std::vector<Vec4>& x, std::vector<Vec4>& gradient) {
  std::fill(gradient.begin(), gradient.end(), Vec4());
  island.each_potential([&](Potential& potential, int offset) {
    potential.add_gradient(x.data() + offset, gradient.data() + offset, Precision::float64);
  });
  for (const AnchorTerm& term : island.anchor_terms()) {
    if (term.to_world && term.world.hardness.empty()) term.world.add_gradient(x.data(), gradient.data());
    if (!term.to_world && term.links.hardness.empty()) term.links.add_gradient(x.data(), gradient.data());
  }
}

double longest_explicit_step(Island& island) {
  const int n = island.rows();
  HeldVertices held;
  held.read(island);
  SymmetricAssembly assembly;
  assembly.begin_pattern(n);
  for (int r = 0; r < n; ++r) assembly.add(r, r, 0);
  island.each_potential([&](const Potential& potential, int offset) { potential.add_weights(assembly, offset, 1); });
  for (const AnchorTerm& term : island.anchor_terms())
    if (!term.to_world && term.links.hardness.empty()) term.links.add_weights(assembly);
  assembly.finish_pattern();
  for (const AnchorTerm& term : island.anchor_terms())
    if (term.to_world && term.world.hardness.empty()) term.world.add_weights(assembly);
  const SymmetricMatrix& a = assembly.matrix();

  // on M^-1/2 A M^-1/2, which is symmetric: its Rayleigh quotients grow towards omega^2
  std::vector<double> root(n), y(n), z(n);
  for (int r = 0; r < n; ++r) {
    root[r] = std::sqrt(held.inverse_mass()[r]);
    y[r] = random_in_ball(7, r).x;
  }
  double square = 0;
  for (int k = 0; k < 100; ++k) {
    double size = 0;
    for (int r = 0; r < n; ++r) size += y[r] * y[r];
    if (!(size > 0)) break;
    for (int r = 0; r < n; ++r) y[r] /= std::sqrt(size), z[r] = 0;
    for (int c = 0; c < n; ++c) {
      for (int e = a.start[c]; e < a.start[c + 1]; ++e) {
        const int r = a.row[e];
        const double value = a.value[e] * root[r] * root[c];
        z[r] += value * y[c];
        if (r != c) z[c] += value * y[r];
      }
    }
    double quotient = 0;
    for (int r = 0; r < n; ++r) quotient += y[r] * z[r];
    const bool settled = std::abs(quotient - square) <= 1e-6 * quotient;
    square = quotient;
    if (settled) break;
    y.swap(z);
  }
  if (island.consistent()) square *= island.consistent_mass().spread();
  return square > 0 ? 2 / std::sqrt(square) : std::numeric_limits<double>::infinity();
}

}  // namespace verve
