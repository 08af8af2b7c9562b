// Vertex block descent (Chen, Liu, Yang, Yuksel 2024, "Vertex Block Descent"): g is lowered vertex by vertex, with all
// others where they have come to by then (Gauss-Seidel). Vertices of one colour have no element in common: they may go
// on several threads, and which goes first makes no difference.
//
// Departure: the Hessian of a vertex is the diagonal of A, m/hh^2 + sum w a^2, in place of the exact one. For
// potentials that A bounds it is never less than that, so that no vertex ever raises g and none has to be searched;
// others are.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "integrators/island.h"
#include "integrators/minimizers/step_matrix.h"
#include "potentials/group_potential.h"

namespace verve {

namespace {

constexpr int vertices_per_task = 16;
/// Halves of the step of a vertex whose elements A does not bound, before it stays where it is.
constexpr int most_halvings = 8;
/// Pieces of the energy of contact that the step of a vertex may pass through.
constexpr int most_pieces = 6;

class VertexBlockDescent final : public Minimizer {
 public:
  VertexBlockDescent(const SolverSpec&, int rows)
      : y_(rows), rate_(rows), others_(rows), at_contact_(rows), shares_contact_(rows) {}
  bool needs_factor() const override { return false; }

  bool begin(Island& island) override {
    size_t known = 0, all = 0;
    island.each_potential([&](const Potential& p, int) {
      known += all < built_.size() && built_[all] == std::pair(&p, p.elements());
      ++all;
    });
    if (first_.empty() || known != all || known != built_.size()) build(island);
    matrix_.refresh(island, false);
    const SymmetricMatrix& m = matrix_.matrix();
    bool positive = true;
    block_.resize(m.size);
    for (int v = 0; v < m.size; ++v) {
      block_[v] = m.value[m.start[v]];
      positive = positive && block_[v] > 0;
    }
    bounded_ = island.elastic_energy().is_bounded();
    read_anchors(island);
    return positive;
  }

  double descend(Island& island, const std::vector<Vec4>& x, const std::vector<Vec4>&, std::vector<Vec4>& dx) override {
    const BaseStep& base = island.solver().base();
    y_ = x;
    for (size_t v = 0; v < x.size(); ++v) rate_[v] = (x[v] - base.xb[v]) * (1 / base.hh) - base.u[v];
    freeze_others(island, x);
    read_contacts(island, x);
    for (size_t c = 0; c + 1 < colour_.size(); ++c) {
      const int first = colour_[c];
      parallel_for(colour_[c + 1] - first, vertices_per_task, [&](int begin, int end, int chunk) {
        for (int i = first + begin; i < first + end; ++i)
          if (!shares_contact_[in_order_[i]]) relax(island, in_order_[i], room_.data() + size_t(chunk) * most_corners_);
      });
    }
    for (const int v : one_by_one_) relax(island, v, room_.data());
    for (const int v : contact_vertices_)
      if (shares_contact_[v] && !alone_[v]) relax(island, v, room_.data());
    island.add_work({.elements = elements_});
    double length2 = 0;
    for (size_t v = 0; v < x.size(); ++v) dx[v] = x[v] - y_[v];
    if (!island.contacts.grounded()) keep_center(island, dx);
    for (size_t v = 0; v < x.size(); ++v) length2 += block_[v] * dot(dx[v], dx[v]);
    return length2;
  }

 private:
  struct Incident {
    const Potential* potential;
    int offset;  // row of its first vertex
    int element, corner;
  };
  struct Tie {  // an anchor or a link
    int other;  // row; -1: the world
    Vec4 point;
    double weight;
  };
  struct Touch {  // a row of contact at a vertex
    const ContactRow* row;
    int corner;
  };

  /// Who meets whom, and the colours: each vertex, in order, takes the first that no neighbour has.
  void build(Island& island) {
    const int n = island.rows();
    one_by_one_.clear(), built_.clear(), most_corners_ = 1, elements_ = 0;
    island.each_potential([&](const Potential& p, int) { built_.push_back({&p, p.elements()}); });
    std::vector<int> count(n + 1, 0);
    const auto each = [&](auto&& visit) {
      island.each_potential([&](const Potential& p, int offset) {
        if (p.constraints() == 0) return;
        for (int e = 0; e < p.elements(); ++e)
          for (int c = 0; c < p.corners(e); ++c) visit(p, offset, e, c);
      });
    };
    alone_.assign(n, 0);
    std::vector<char> grouped(n, 0);
    each([&](const Potential& p, int offset, int e, int c) {
      ++count[p.vertex(e, c) + offset + 1];
      most_corners_ = std::max(most_corners_, p.corners(e));
      elements_ += double(p.corners(e)) * std::min(p.corners(e), 4);
      if (dynamic_cast<const GroupPotential*>(&p)) grouped[p.vertex(e, c) + offset] = 1;  // one scratch for all
    });
    first_.assign(count.begin(), count.end());
    for (int v = 0; v < n; ++v) first_[v + 1] += first_[v];
    incident_.resize(first_[n]);
    std::vector<int> next(first_.begin(), first_.end() - 1);
    each([&](const Potential& p, int offset, int e, int c) {
      incident_[next[p.vertex(e, c) + offset]++] = {&p, offset, e, c};
    });
    std::vector<std::vector<int>> linked(n);
    for (const AnchorTerm& term : island.anchor_terms())
      if (!term.to_world)
        for (const auto& [a, b] : term.links.pairs) linked[a].push_back(b), linked[b].push_back(a);
    const MassCoupling& coupling = island.consistent_mass().coupling;
    std::vector<int> colour(n, -1), taken;
    int colours = 0;
    for (int v = 0; v < n; ++v) {
      if (grouped[v]) {
        alone_[v] = 1, one_by_one_.push_back(v);
        continue;
      }
      const auto take = [&](int other) {
        if (colour[other] >= 0) taken[colour[other]] = v + 1;
      };
      for (int i = first_[v]; i < first_[v + 1]; ++i) {
        const Incident& on = incident_[i];
        for (int c = 0; c < on.potential->corners(on.element); ++c)
          take(on.potential->vertex(on.element, c) + on.offset);
      }
      for (const int other : linked[v]) take(other);
      for (int k = island.consistent() ? coupling.start[v] : 0; island.consistent() && k < coupling.start[v + 1]; ++k)
        take(coupling.column[k]);
      int free = 0;
      while (free < colours && taken[free] == v + 1) ++free;
      if (free == colours) taken.push_back(0), ++colours;
      colour[v] = free;
    }
    colour_.assign(colours + 1, 0);
    for (const int c : colour)
      if (c >= 0) ++colour_[c + 1];
    for (int c = 0; c < colours; ++c) colour_[c + 1] += colour_[c];
    in_order_.resize(colour_[colours]);
    int largest = 0;
    for (int c = 0; c < colours; ++c) largest = std::max(largest, colour_[c + 1] - colour_[c]);
    room_.resize(size_t(most_corners_) * std::max(1, chunk_count(largest, vertices_per_task)));
    std::vector<int> place(colour_.begin(), colour_.end() - 1);
    for (int v = 0; v < n; ++v)
      if (colour[v] >= 0) in_order_[place[colour[v]]++] = v;
  }

  void read_anchors(const Island& island) {
    ties_.clear();
    first_tie_.assign(island.rows() + 1, 0);
    const auto each = [&](auto&& visit) {
      for (const AnchorTerm& term : island.anchor_terms()) {
        if (term.to_world) {
          for (size_t i = 0; i < term.world.vertices.size(); ++i)
            visit(term.world.vertices[i], Tie{-1, term.world.points[i], term.world.weight(i)});
        } else {
          for (size_t i = 0; i < term.links.pairs.size(); ++i) {
            const auto& [a, b] = term.links.pairs[i];
            visit(a, Tie{b, {}, term.links.weight(i)}), visit(b, Tie{a, {}, term.links.weight(i)});
          }
        }
      }
    };
    each([&](int v, const Tie&) { ++first_tie_[v + 1]; });
    for (int v = 0; v < island.rows(); ++v) first_tie_[v + 1] += first_tie_[v];
    ties_.resize(first_tie_.back());
    next_tie_.assign(first_tie_.begin(), first_tie_.end() - 1);
    each([&](int v, const Tie& tie) { ties_[next_tie_[v]++] = tie; });
  }

  /// What has no energy of single elements pulls as it does at x.
  void freeze_others(Island& island, const std::vector<Vec4>& x) {
    std::fill(others_.begin(), others_.end(), Vec4());
    island.each_potential([&](Potential& p, int offset) {
      if (p.constraints() == 0) p.add_gradient(x.data() + offset, others_.data() + offset, Precision::float64);
    });
  }

  /// Rows of contact as the last evaluation, at x, has left them. Vertices that share one go after all others, one by
  /// one.
  void read_contacts(const Island& island, const std::vector<Vec4>& x) {
    for (const int v : contact_vertices_) at_contact_[v] = 0, shares_contact_[v] = 0;
    contact_vertices_.clear();
    for (std::vector<Touch>& touches : touches_) touches.clear();
    for (const auto* rows : {&island.contacts.rows(), &island.contacts.near_rows()})
      for (const ContactRow& row : *rows) {
        for (int i = 0; i < row.count; ++i) {
          const int v = row.rows[i];
          if (!at_contact_[v]) contact_vertices_.push_back(v), at_contact_[v] = int(contact_vertices_.size());
          const size_t place = at_contact_[v] - 1;
          if (touches_.size() <= place) touches_.resize(place + 1);
          touches_[place].push_back({&row, i});
          shares_contact_[v] |= row.count > 1;
        }
      }
    x_ = &x;
  }

  /// Energy of a row whose vertex is moved by d from y: the integral of its force, clamp(f - k t, low, high).
  static double row_energy(const ContactRow& row, double force, double t) {
    const auto integral = [&](double f) {  // over the depth, of clamp(f)
      if (f < row.low) return row.low * (f - row.low) / row.stiffness + 0.5 * row.low * row.low / row.stiffness;
      if (f > row.high) return row.high * (f - row.high) / row.stiffness + 0.5 * row.high * row.high / row.stiffness;
      return 0.5 * f * f / row.stiffness;
    };
    return integral(force - row.stiffness * t) - integral(force);
  }
  /// Of a row at y.
  double force_of(const ContactRow& row) const {
    double t = 0;
    for (int i = 0; i < row.count; ++i) t += dot(row.slope(i), (y_[row.rows[i]] - (*x_)[row.rows[i]]).xyz());
    return row.force - row.stiffness * t;
  }

  Vec4 end_of(const Tie& tie) const { return tie.other < 0 ? tie.point : y_[tie.other]; }

  /// What contact has more when a vertex goes from y to y + d.
  double contact_rise(int v, const Vec3& d) const {
    double sum = 0;
    if (!at_contact_[v]) return sum;
    for (const Touch& touch : touches_[at_contact_[v] - 1])
      sum += row_energy(*touch.row, force_of(*touch.row), dot(touch.row->slope(touch.corner), d));
    return sum;
  }

  /// Gradient of g by a vertex at y, but for its elements and contact.
  Vec3 outer_gradient(const Island& island, int v) const {
    const BaseStep& base = island.solver().base();
    Vec4 inertia = rate_[v] * island.forcing.mass[v];
    if (island.consistent()) inertia += island.consistent_mass().coupling.row(rate_.data(), v);
    Vec4 out = inertia * (1 / base.hh) + others_[v];
    for (int i = first_tie_[v]; i < first_tie_[v + 1]; ++i) out += (y_[v] - end_of(ties_[i])) * ties_[i].weight;
    return out.xyz();
  }
  /// Energy of its elements at y, and the gradient of that.
  double elastic(int v, Vec3* room, Vec3& gradient) const {
    gradient = {};
    double energy = 0;
    for (int i = first_[v]; i < first_[v + 1]; ++i) {
      const Incident& on = incident_[i];
      for (int which = 0; which < on.potential->constraints(); ++which) {
        const double k = on.potential->constraint_stiffness(on.element, which);
        if (!(k > 0)) continue;
        const double C = on.potential->constraint(on.element, which, y_.data() + on.offset, room);
        gradient += room[on.corner] * (k * C);
        energy += 0.5 * k * C * C;
      }
    }
    return energy;
  }

  /// The least of the quadratic model, contact in its pieces: H d = -gradient, H = block + sum k j j^T.
  Vec3 step_of(int v, const Vec3& gradient) const {
    if (!at_contact_[v]) return gradient * (-1 / block_[v]);
    const auto model = [&](const Vec3& d) {
      return dot(gradient, d) + 0.5 * block_[v] * dot(d, d) + contact_rise(v, d);
    };
    Vec3 d{};
    double value = 0;
    for (int piece = 0; piece < most_pieces; ++piece) {
      Mat3 H = Mat3::diagonal({block_[v], block_[v], block_[v]});
      Vec3 slope = gradient + d * block_[v];
      for (const Touch& touch : touches_[at_contact_[v] - 1]) {
        const ContactRow& row = *touch.row;
        const Vec3 j = row.slope(touch.corner);
        const double f = force_of(row) - row.stiffness * dot(j, d);
        slope -= j * std::clamp(f, row.low, row.high);
        if (f > row.low && f < row.high) H = H + outer(j * row.stiffness, j);
      }
      const Vec3 &a = H.col[0], &b = H.col[1], &c = H.col[2];  // Cramer's rule
      Vec3 change =
          Vec3{dot(slope, cross(b, c)), dot(a, cross(slope, c)), dot(a, cross(b, slope))} * (-1 / dot(a, cross(b, c)));
      double next = model(d + change);
      for (int n = 0; n < most_halvings && !(next <= value); ++n) change = change * 0.5, next = model(d + change);
      if (!(next < value)) break;
      d += change, value = next;
    }
    return d;
  }

  /// One vertex to the least that its model knows, and where that is no bound, no farther than g falls.
  void relax(const Island& island, int v, Vec3* room) {
    if (!(island.forcing.mass[v] > 0)) return;
    const double inverse = 1 / island.solver().base().hh;
    const Vec3 outside = outer_gradient(island, v);
    Vec3 inside;
    const double before = elastic(v, room, inside);
    Vec3 d = step_of(v, outside + inside);
    const Vec4 y = y_[v], rate = rate_[v];
    const auto go = [&] { y_[v] = y + Vec4(d), rate_[v] = rate + Vec4(d * inverse); };
    const auto back = [&] { y_[v] = y, rate_[v] = rate; };
    if (bounded_) return go();
    double curvature = island.forcing.mass[v] * inverse * inverse;  // what is quadratic
    for (int i = first_tie_[v]; i < first_tie_[v + 1]; ++i) curvature += ties_[i].weight;
    for (int n = 0; n <= most_halvings; ++n, d = d * 0.5) {
      const double rises = dot(outside, d) + 0.5 * curvature * dot(d, d) + contact_rise(v, d);
      go();
      Vec3 unused;
      if (rises + elastic(v, room, unused) <= before) return;
      back();
    }
  }

  StepMatrix matrix_;
  std::vector<std::pair<const Potential*, int>> built_;  // of what the lists below are made, elements of each
  std::vector<int> first_;                               // in incident_, by vertex
  std::vector<Incident> incident_;
  std::vector<int> colour_, in_order_;  // first of each colour, vertices by colours
  std::vector<int> one_by_one_;         // behind them
  std::vector<char> alone_;             // these
  std::vector<int> first_tie_, next_tie_;
  std::vector<Tie> ties_;
  std::vector<double> block_;
  std::vector<Vec4> y_, rate_, others_;  // where the sweep is, (y - xb)/hh - u, gradient of what is frozen
  std::vector<int> at_contact_;          // 1 + place in touches_; 0: nowhere
  std::vector<int> contact_vertices_;
  std::vector<char> shares_contact_;  // with other vertices, by row
  std::vector<std::vector<Touch>> touches_;
  const std::vector<Vec4>* x_ = nullptr;  // where the sweep began
  int most_corners_ = 1;
  std::vector<Vec3> room_;  // gradients of an element, for each task
  double elements_ = 0;     // Work::elements of a sweep
  bool bounded_ = true;
};

}  // namespace

std::unique_ptr<Minimizer> make_vbd(const SolverSpec& spec, int rows) {
  return std::make_unique<VertexBlockDescent>(spec, rows);
}

}  // namespace verve
