#include "integrators/constraint_rows.h"

#include <algorithm>
#include <cmath>

namespace verve {

std::string smooth_refusal(const Potential& potential) {
  if (potential.constraints() > 0 && potential.has_smooth_constraints()) return {};
  return "has no constraint that passes smoothly through zero";
}

bool ConstraintRows::bind(Island& island, bool rigid) {
  held_.read(island);
  if (version_ == island.version()) return false;
  version_ = island.version();
  rows_.clear();
  vertex_.swap(last_vertex_);
  vertex_.clear();
  island.each_potential([&](const Potential& p, int offset) {
    if (!smooth_refusal(p).empty()) return;
    for (int e = 0; e < p.elements(); ++e) {
      for (int c = 0; c < p.constraints(); ++c) {
        const double k = p.constraint_stiffness(e, c);
        if (!(k > 0)) continue;
        rows_.push_back({&p, nullptr, e, c, offset, int(vertex_.size()), p.corners(e), k, rigid ? 0 : 1 / k});
        for (int i = 0; i < p.corners(e); ++i) vertex_.push_back(p.vertex(e, i) + offset);
      }
    }
  });
  for (const AnchorTerm& term : island.anchor_terms()) {
    const bool hard = term.to_world ? !term.world.hardness.empty() : !term.links.hardness.empty();
    if (term.to_world && hard) continue;  // prescribed, no row
    const size_t count = term.to_world ? term.world.vertices.size() : term.links.pairs.size();
    for (size_t i = 0; i < count; ++i) {
      const double k = term.to_world ? term.world.weight(i) : term.links.weight(i);
      if (!(k > 0)) continue;
      for (int axis = 0; axis < 3; ++axis) {
        rows_.push_back(
            {nullptr, &term, int(i), axis, 0, int(vertex_.size()), term.to_world ? 1 : 2, k, hard ? 0 : 1 / k});
        if (term.to_world) {
          vertex_.push_back(term.world.vertices[i]);
        } else {
          vertex_.push_back(term.links.pairs[i][0]), vertex_.push_back(term.links.pairs[i][1]);
        }
      }
    }
  }
  gradient_.resize(vertex_.size());
  value_.resize(rows_.size()), size_.resize(rows_.size()), curvature_.resize(rows_.size());
  extent_ = 0;
  for (const Vec4& x : island.motion.x) extent_ = std::max(extent_, norm((x - island.motion.x[0]).xyz()));
  if (!(extent_ > 0)) extent_ = 1;
  return vertex_ != last_vertex_;
}

void ConstraintRows::evaluate(const std::vector<Vec4>& x) {
  for (int i = 0; i < size(); ++i) evaluate(i, x);
}

void ConstraintRows::evaluate(int i, const std::vector<Vec4>& x) {
  const Row& row = rows_[i];
  Vec3* g = gradient_.data() + row.first;
  const int* v = vertex_.data() + row.first;
  if (row.anchor) {
    Vec3 axis{};
    axis[row.which] = 1;
    const Vec4 d = row.anchor->to_world ? x[v[0]] - row.anchor->world.points[row.element] : x[v[1]] - x[v[0]];
    value_[i] = dot(d.xyz(), axis);
    g[row.corners - 1] = axis;
    if (row.corners == 2) g[0] = -axis;
    size_[i] = extent_, curvature_[i] = 0;
    return;
  }
  value_[i] = row.potential->constraint(row.element, row.which, x.data() + row.offset, g);
  double steepest = 0, extent = 0;
  for (int c = 0; c < row.corners; ++c) {
    steepest = std::max(steepest, norm(g[c]));
    extent = std::max(extent, norm((x[v[c]] - x[v[0]]).xyz()));
  }
  size_[i] = steepest * extent;
  curvature_[i] = row.corners == 2 && extent > 0 ? norm(g[1]) / extent : 0;
}

double ConstraintRows::full_step(int i) const {
  const Row& row = rows_[i];
  return row.potential ? row.potential->full_step(row.element, row.which, value_[i]) : value_[i];
}

double ConstraintRows::relative(int i, double r) const {
  // bounded where an element has shrunk to a point
  return r == 0 ? 0 : std::abs(r) / (size_[i] + std::abs(value_[i]));
}

double ConstraintRows::rate(int i, const std::vector<Vec4>& v) const {
  const Row& row = rows_[i];
  double sum = 0;
  for (int c = 0; c < row.corners; ++c) sum += dot(gradient_[row.first + c], v[vertex_[row.first + c]].xyz());
  return sum;
}

void ConstraintRows::add_force(int i, double lambda, std::vector<Vec4>& out) const {
  const Row& row = rows_[i];
  for (int c = 0; c < row.corners; ++c) out[vertex_[row.first + c]] += Vec4(gradient_[row.first + c] * lambda);
}

Vec3 ConstraintRows::direction(int i) const {
  const Vec3& g = gradient_[rows_[i].first + 1];
  const double n = norm(g);
  return n > 0 ? g / n : Vec3{};
}

std::string ConstraintRows::describe(int i) const {
  const Row& row = rows_[i];
  if (row.anchor) return std::string(row.anchor->to_world ? "an anchor" : "a link between bodies");
  return "element " + std::to_string(row.element) + " of \"" + std::string(row.potential->name()) + "\"";
}

}  // namespace verve
