// Where an island touches the world, and its bodies each other and themselves, during one step: an implicit unilateral
// penalty inside W. The places are found anew at every x (docs/contact.md says why none is frozen).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "contact/shapes.h"
#include "contact/surface.h"
#include "verve/vec.h"

namespace verve {

/// A direction in which a few vertices are pushed: sum of share_i x_i along `direction`, with a stiffness. The matrix
/// of the step gains stiffness j j^T with j = shares x direction.
struct ContactRow {
  int count = 0;
  std::array<int, 4> rows{};
  std::array<double, 4> share{};
  Vec3 direction;
  double stiffness = 0;

  double along(const Vec4* x) const {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += share[i] * dot(direction, x[rows[i]].xyz());
    return sum;
  }
};

/// What holds a place against sliding: a spring to the point where it took hold, which gives way at the Coulomb force.
struct Grip {
  int row = -1;       // the vertex, as the state counts
  int collider = -1;  // the other side: a collider, and `point` in its frame,
  int body = -1;      // or a body, and a point of a face, in rows of the state
  Vec3 point;
  std::array<int, 3> face{{-1, -1, -1}};
  std::array<double, 3> weights{};
  double cap = 0;  // force at which it slides
};

class Contacts {
 public:
  /// A vertex that may touch a collider.
  struct OnShape {
    int row, body;  // of the island
    int shape;      // in `shapes`
    int meeting;    // in `meetings`
    double thickness, stiffness, friction;
    int grip;      // in `grips`; -1: none
    Vec3 from;     // where the step began, with the distance
    Touch before;  // there: whoever comes out on the other side has come through
  };
  /// A vertex that may touch some faces, of which the nearest counts; or an edge that may touch another.
  struct OnFaces {
    int row, body, other;  // bodies of the island
    int first, last;       // in `faces`
    int meeting;           // -1: with itself
    double thickness, stiffness, friction;
    int grip;
  };
  struct Face {
    std::array<int, 3> rows;
    signed char side;             // of a sheet: on which the vertex was when the step began; 0: the skin of a solid
    std::array<Vec3, 6> outward;  // of its corners and edges (TrianglePart), where the step began
  };
  struct OnEdge {
    std::array<int, 4> rows;
    int body, other, meeting;
    double thickness, stiffness;
    Vec3 side;  // from the second to the first when the step began
  };

  /// All places at which a body touches a collider or another body, as one: sums at the last evaluation.
  struct Meeting {
    int body, other, collider;  // -1: none; other > body
    Vec3 normal, point;         // sums, weighted by the force
    double weight;              // 0: they do not touch
  };

  std::vector<Meeting> meetings;
  /// Of a new candidate.
  int meeting_of(int body, int other, int collider);

  std::vector<PlacedShape> shapes;  // as they are at the end of the step
  std::vector<OnShape> on_shapes;
  std::vector<OnFaces> on_faces;
  std::vector<Face> faces;
  std::vector<OnEdge> on_edges;
  std::vector<Grip> grips;

  bool empty() const { return on_shapes.empty() && on_faces.empty() && on_edges.empty(); }
  void clear();
  /// Coulomb forces follow the pressure for the first evaluations of a step, and are constant then.
  void begin_step() { evaluations_ = 0; }

  /// Adds the gradient; `energies` per body of the island, half of a pair to each. Leaves what touches in rows().
  double add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies);
  const std::vector<ContactRow>& rows() const { return rows_; }
  Touch touch(const OnShape& c, const Vec3& x) const;
  bool touching() const { return touching_; }
  /// Depth of the deepest place at the last evaluation.
  double depth() const { return depth_; }
  /// The part of W at the last evaluation that each body has against others and itself; half of a pair to each.
  double pair_energy(int body) const { return pair_energy_.empty() ? 0 : pair_energy_[body]; }
  /// And that of the springs that hold against sliding, which is not in pair_energy().
  double grip_energy(int body) const { return grip_energy_.empty() ? 0 : grip_energy_[body]; }

  /// After a step that ended at x: springs that pull too hard give way, those that hold nothing go. Adds what this
  /// takes from W to the losses of each body of the island.
  void settle_grips(const Vec4* x, std::span<double> losses);

 private:
  struct Place {  // of a grip: where it pulls
    Vec3 offset;  // tangential
    std::array<int, 4> rows;
    std::array<double, 4> share;
    std::array<int, 3> face;  // that it touches
    int count;
    double pressure, stiffness, cap;
    int body, other;
  };
  double touch(const OnFaces& c, const Vec4* x, ContactRow& row) const;
  double touch(const OnEdge& c, const Vec4* x, ContactRow& row) const;
  double push(const Vec4* x, Vec4* gradient, const ContactRow& row, double depth, int grip, double friction, int body,
              int other, int meeting, std::span<double> energies);
  double hold(const Vec4* x, Vec4* gradient, Grip& grip, const ContactRow& row, double pressure, double friction,
              int body, int other, std::span<double> energies);

  std::vector<ContactRow> rows_;
  std::vector<Place> places_;  // by grip
  bool touching_ = false;
  double depth_ = 0;
  std::vector<double> pair_energy_, grip_energy_;
  struct Found {
    double depth;
    ContactRow row;
  };
  std::vector<Found> found_;  // of on_faces, then of on_edges
  int evaluations_ = 0;

 public:
  /// From rows of the state to rows of the island, and back.
  std::vector<int> row_of_state, state_of_row;
};

}  // namespace verve
