// Contacts of an island with colliders, and of its bodies with each other and themselves, during one step: an implicit
// one-sided penalty inside W. Stencils (rows, shares, normal, offset) are found by look() and stay as they are until
// the next: in between, the energy of contact is an exact one-sided quadratic in x.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "contact/contact_cache.h"
#include "contact/friction_anchor.h"
#include "contact/shapes.h"
#include "contact/surface.h"
#include "verve/vec.h"

namespace verve {

/// A direction in which a few vertices are pushed: sum of share_i x_i along `direction`, with a stiffness. The gradient
/// has -force j, the matrix of the step gains stiffness j j^T, with j = shares x direction.
struct ContactRow {
  int count = 0;
  std::array<int, 4> rows{};
  std::array<double, 4> share{};
  Vec3 direction;
  double stiffness = 0;
  double force = 0;  // stiffness times depth: below 0 where it does not touch
  double low = 0, high = std::numeric_limits<double>::infinity();  // what of that acts
  bool friction = false;
  int id = 0;        // among all that a step may have, the same at any x
  double scale = 1;  // of the shares: below 1 where two edges touch near their ends

  Vec3 slope(int i) const { return direction * (scale * share[i]); }
  void add_to(Vec4* gradient, double factor) const {
    for (int i = 0; i < count; ++i) gradient[rows[i]] += Vec4(slope(i) * factor);
  }
  double along(const Vec4* x) const {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += dot(slope(i), x[rows[i]].xyz());
    return sum;
  }
  /// Where it acts on a body that touches a collider.
  Vec3 place(const Vec4* x) const {
    Vec3 out{};
    for (int i = 0; i < count; ++i) out += x[rows[i]].xyz() * share[i];
    return out;
  }
};

/// Normals of the two sides of something: what was on the one and is on the other has come through. Those of two faces
/// that meet at an edge of a box, the rim of a cylinder or an edge of a tetrahedron are none: inside, the nearest of
/// them goes on from the other without a leap, and a plane beyond it would be one.
inline bool opposite(const Vec3& a, const Vec3& b) { return dot(a, b) < -0.5; }

/// Where rows are at a moment of a step: at x, or on their straight ways from there.
struct Moment {
  const Vec4* x;
  const Vec4* way = nullptr;
  double time = 0;  // share of the step
  Moment(const Vec4* at) : x(at) {}
  Moment(const Vec4* from, const Vec4* whole_way, double share) : x(from), way(whole_way), time(share) {}
  Vec3 operator[](int row) const { return time > 0 ? (x[row] + way[row] * time).xyz() : x[row].xyz(); }
};

class Contacts {
 public:
  /// What may touch in the coming step, and its stencil as look() found it.
  struct Candidate {
    int body = 0, other = -1;  // of the island; a collider is no body
    int pair = -1;             // in `touching_pairs`; -1: with itself
    int anchor = -1;           // in `friction_anchors`; -1: none
    double thickness = 0, stiffness = 0, friction = 0, restitution = 1;
    double slack = 0;          // distances that differ by less are equal (ties.h) [m]
    double rest = 0;           // penetration without a force [m] (CachedContact)
    double start_depth = 0;    // where the step begins, with colliders as they were then
    double way = 0;            // by how much more it is deep there once they have moved [m]
    double time = 0;           // share of the step after which the two meet on their ways: the stencil is that of then
    std::array<int, 4> key{};  // in the cache
    ContactRow row;
    double offset = 0;  // depth at x: offset - row.along(x); -infinity: it touches nothing
    double depth = 0;   // at the last evaluation, beyond `rest`
    double force = 0;   // where contacts are constraints, as the step has found it [N]
  };
  /// A point of a body that may touch a collider, by the vertices and shares of its row: a vertex, or a point of the
  /// surface that the tetrahedra carry.
  struct OnShape : Candidate {
    int point = 0;  // among those of the island: ContactDetector
    int shape = 0;  // in `shapes`
    Vec3 from;      // where the step began, with the distance
    Touch before;   // there: whoever comes out on the other side has come through
    Vec3 at(const Vec4* x) const { return row.place(x); }
  };
  /// A vertex that may touch some faces, of which the nearest counts; or an edge that may touch another. A point of a
  /// collider is of the body that it touches, and there is no other.
  struct OnFaces : Candidate {
    int vertex = 0;
    int first = 0, last = 0;  // in `faces`
  };
  struct Face {
    std::array<int, 3> rows;
    signed char side;          // of a sheet: on which the vertex was when the step began; 0: the skin of a solid
    unsigned char closed = 0;  // bit by bit: all faces that meet there are candidates too
    int normals = -1;          // in `outward`, of the skin of a solid
    bool is_closed(TrianglePart part) const { return closed >> int(part) & 1; }
  };
  struct OnEdge : Candidate {
    std::array<int, 4> rows{};
    int side = 1;  // 1: the first lies on the side of the second to which the cross product of the two looks; or -1
  };

  /// All places at which a body touches a collider or another body, as one: sums at the last evaluation.
  struct TouchingPair {
    int body, other, collider;  // -1: none; other > body
    Vec3 normal, point;         // sums, weighted by the force
    double weight;              // 0: they do not touch
  };

  /// Where the step began, and the ways to where it would lead if nothing touched.
  std::vector<Vec4> start, ways;
  /// Points of colliders where they are at the end of the step: as a row of a candidate, -1 - its place here.
  std::vector<Vec3> points;
  Vec3 at(const Moment& x, int row) const { return row >= 0 ? x[row] : points[-1 - row]; }

  std::vector<TouchingPair> touching_pairs;
  /// Of a new candidate; -1: with itself.
  int add_pair(int body, int other, int collider);
  /// Of the faces from `first` on, those of one vertex: finds out where they are closed.
  void close_faces(int first);
  /// The last one, if it has turned out to be none.
  void drop_pair();

  std::vector<PlacedShape> shapes;  // as they are at the end of the step
  std::vector<Pose> shape_starts;   // and at its start
  std::vector<char> shape_moves;    // during it
  std::vector<char> shape_movable;  // in this or some other step
  std::vector<OnShape> on_shapes;
  std::vector<OnFaces> on_faces;
  std::vector<Face> faces;
  /// Of corners and edges (TrianglePart) of faces, where the step began.
  std::vector<std::array<Vec3, 6>> outward;
  std::vector<OnEdge> on_edges;
  std::vector<FrictionAnchor> friction_anchors;
  std::vector<double> slip_losses;  // of these, by the last apply_slip()

  /// Colliders are the planes that they are where the step begins; the matrix has these already (SystemMatrix::planes).
  bool planes = false;
  /// Contacts are constraints (ContactConstraints) and have no energy: forces and the work of friction, `slip_losses`,
  /// are those that the step has found.
  bool constraints = false;
  /// Spent on look() since it was last set to 0 [ms].
  double milliseconds = 0;

  bool any_shape_moves() const { return std::find(shape_moves.begin(), shape_moves.end(), 1) != shape_moves.end(); }
  /// Colliders are among the candidates.
  bool grounded() const { return !on_shapes.empty() || !points.empty(); }
  bool empty() const { return on_shapes.empty() && on_faces.empty() && on_edges.empty(); }
  /// Nothing touches, of so many bodies and colliders.
  void clear(int bodies, int colliders);
  /// The next evaluation is at the x at which the last step ended: an anchor that other candidates would stretch slips,
  /// unless the other side has moved.
  void look_again() { looks_again_ = true, turned_ = Mat3::identity(); }
  /// The bounds of friction become those of the pressure at the last evaluation, at x; from one such change to the next
  /// they are constant, and W_t is a potential. Until its first change a new contact slides freely. Takes what this makes
  /// of W and its gradient there into `gradient` and `energies`.
  ///   A bound below the force that an anchor has at x_n lets it slip there: W(x_n) is less by start_loss().
  struct FrictionChange {
    double energy = 0;  // of W at x,
    double start = 0;   // and at x_n, where colliders are as they were then
    bool any = false;   // force has changed
  };
  enum class Follow {
    both,  // up and down
    down,  // far from the end of a step contacts press too hard, and would be braked by that
    up     // no bound falls below what holds at x_n: for methods whose targets are made of W(x_n) beforehand
  };
  FrictionChange follow_pressure(Follow follow, const Vec4* x, Vec4* gradient, std::span<double> energies);
  /// Sum of the changes of forces on a body by the last one.
  double friction_change(int body) const { return friction_change_[body]; }
  /// By how much the changes so far have lowered W(x_n), per body.
  double start_loss(int body) const { return start_loss_.empty() ? 0 : start_loss_[body]; }
  /// The point of the face in `row` that a new anchor joins its vertex to: not stretched at x. False: there is none.
  bool anchor_vertex(const ContactRow& row, const Vec4* x, FrictionAnchor& anchor) const;
  /// The points of two edges, or of an edge and a collider that was at `pose`, where their lines pass each other at x.
  /// False: too far from both, or as good as parallel.
  bool anchor_edges(const OnEdge& c, const Vec4* x, const Pose& pose, FrictionAnchor& anchor) const;
  /// The point of the face in `row` that touches a point of a collider, and that of the collider.
  void anchor_point(const ContactRow& row, const Vec4* x, const Pose& pose, FrictionAnchor& anchor) const;

  /// When a vertex and its faces, or two edges, of solids that go by more than `least` past each other meet on their
  /// ways (0: they touch where the step begins, or do not meet): sets their time.
  void find_meeting(OnFaces& c, double least);
  void find_meeting(OnEdge& c, double least);
  /// Finds the stencils of all candidates at x, of those that are to meet where their ways from x have led them then.
  void look(const Vec4* x);
  Moment moment(const Candidate& c, const Vec4* x) const { return {x, ways.data(), c.time}; }
  /// Turns the stencils between bodies with a rigid motion from `from` to `to`: they are as deep there as they were.
  void carry(const Vec4* from, const Vec4* to, const Mat3& turn);
  /// Of the collider of a candidate, in the step, where the two touch; 0 where it is a body.
  Vec3 way(const Candidate& c) const;
  /// How far one side has gone past the other since the step began, in all directions.
  Vec3 slide(const Candidate& c, const Vec4* x) const;
  /// Adds the gradient; `energies` per body of the island, half of a pair to each. Leaves active contacts in rows().
  double add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies);
  const std::vector<ContactRow>& rows() const { return rows_; }
  /// And candidates that are not active, as rows without a force.
  const std::vector<ContactRow>& near_rows() const { return near_; }
  Touch touch(const OnShape& c, const Vec3& x) const;
  template <class Visit>
  void each(Visit&& visit) {
    for (OnShape& c : on_shapes) visit(c);
    for (OnFaces& c : on_faces) visit(c);
    for (OnEdge& c : on_edges) visit(c);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (const OnShape& c : on_shapes) visit(c);
    for (const OnFaces& c : on_faces) visit(c);
    for (const OnEdge& c : on_edges) visit(c);
  }
  /// How deep it is beyond no rest penetration, below 0 where it does not touch, and which way is out.
  double touch(const OnFaces& c, const Moment& x, ContactRow& row) const;
  /// Likewise. Near the ends of the edges the row has a scale below 1, as has the depth of which the energy is 1/2 k of
  /// the square.
  double touch(const OnEdge& c, const Moment& x, ContactRow& row) const;
  /// Ids of rows are below this.
  int id_count() const { return ids_per_candidate * int(on_shapes.size() + on_faces.size() + on_edges.size()); }
  bool touching() const { return touching_; }
  /// Depth of the deepest place at the last evaluation.
  double depth() const { return depth_; }
  /// The part of W at the last evaluation that each body has against others, half of a pair to each, itself and
  /// colliders.
  double pair_energy(int body) const { return pair_energy_.empty() ? 0 : pair_energy_[body]; }
  /// And that of the springs of friction, which is not in pair_energy().
  double friction_energy(int body) const { return friction_energy_.empty() ? 0 : friction_energy_[body]; }

  /// Of these at the first evaluation after look_again(), what the ways of colliders have made of them: at the same x,
  /// with colliders where the step began, they are less by this.
  double pair_lift(int body) const { return pair_lift_.empty() ? 0 : pair_lift_[body]; }
  double friction_lift(int body) const { return friction_lift_.empty() ? 0 : friction_lift_[body]; }
  double lift() const;

  /// The work of colliders in a step that ended at the last evaluation, by forces that act through it as they are at its
  /// end: these times their ways. Adds it to `work`, per body of the island. The change of W is that, less what the
  /// convexity of a contact takes, and what the body itself has done against it.
  void add_work(std::span<double> work) const;
  /// The forces of colliders that may move, at the last evaluation at x, times `share`, onto `loads`.
  void add_loads(const Vec4* x, double share, std::vector<ColliderLoad>& loads) const;
  /// How strongly each collider pushes or holds the bodies at the last evaluation [N]; where nothing does, all that may.
  void find_resistances(std::vector<double>& by_collider) const;

  /// After a step that ended at x: anchors slip until their force is within its bound, those without contact end. Adds
  /// what this takes from W to the losses of each body of the island.
  void apply_slip(const Vec4* x, std::span<double> losses);

 private:
  /// The normal row of a candidate, and two of friction.
  static constexpr int ids_per_candidate = 3, friction_id = 1;
  struct FrictionPoint {  // of an anchor, at the last evaluation
    Vec3 offset;          // stretch, tangential to
    Vec3 normal;          // that of the contact
    std::array<int, 4> rows;
    std::array<double, 4> share;
    int count;
    int touches;                 // vertices of the contact now; 0: it is open
    std::array<int, 4> at_rows;  // these,
    std::array<double, 4> at;    // with these shares
    double coulomb;              // friction times pressure, now
    double stiffness;
    double cap;  // that was used
    int body, other;
    int id;        // of its first row,
    int row = -1;  // which is here in rows_; -1: it has no force
    /// On its own side.
    Vec3 force() const {
      const double length = norm(offset);
      return cap > 0 ? offset * (-(stiffness * length <= cap ? stiffness : cap / length)) : Vec3{};
    }
  };
  double push(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies);
  void note_touch(const Vec4* x, const Candidate& c);
  void note_constraints(const Vec4* x);
  void keep_near(ContactRow& row, double depth);
  bool move_anchor(const Vec4* x, FrictionAnchor& anchor, const FrictionPoint& place, const Vec3& offset) const;
  /// The collider of a candidate; -1: a body.
  int collider_of(const Candidate& c) const { return c.pair >= 0 ? touching_pairs[c.pair].collider : -1; }
  bool moves(int collider) const { return collider >= 0 && shape_moves[collider]; }
  /// Where a point that is fixed to a collider, and at x where the step begins, is at its end.
  Vec3 carried(int collider, const Vec3& x) const {
    return shapes[collider].pose.to_world(shape_starts[collider].to_local(x));
  }
  /// How far the point of a collider that an anchor joins its own to goes in the step.
  Vec3 way_of(const FrictionAnchor& anchor) const;
  bool anchor_on_face(const Vec4* x, FrictionAnchor& anchor, const std::array<int, 3>& face, const Vec3& at,
                      const Vec3& out) const;
  bool anchor_on_edges(const Vec4* x, FrictionAnchor& anchor, const std::array<int, 4>& rows, double s, double t,
                       const Vec3& offset, const Vec3& out) const;
  bool activate_from_start(FrictionAnchor& anchor, const FrictionPoint& place) const;
  void set_rows(FrictionAnchor& anchor, int own, int count, const std::array<int, 4>& rows) const;
  Vec3 find_stretch(const Vec4* x, const FrictionAnchor& anchor, FrictionPoint& place) const;
  double add_spring(FrictionPoint& place, double sign, Vec4* gradient, std::span<double> energies);
  void set_friction_rows(FrictionPoint& place);
  double add_friction(const Vec4* x, Vec4* gradient, FrictionAnchor& anchor, const ContactRow& row, double pressure,
                      double friction, int body, int other, std::span<double> energies);
  double add_friction_apart(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies);

  std::vector<ContactRow> rows_, near_;
  std::vector<FrictionPoint> friction_points_;  // by anchor
  std::vector<double> start_stretch_;           // likewise, at x_n with colliders as they were then
  std::vector<double> start_loss_, friction_change_;  // by body
  bool touching_ = false;
  double depth_ = 0;
  std::vector<double> pair_energy_, friction_energy_, pair_lift_, friction_lift_;
  /// Signed distance of a vertex from one of its faces, and the gradient of that.
  double distance_from(const Face& face, const PointTriangle& nearest, double slack, const Moment& x,
                       Vec3& gradient) const;
  PointTriangle nearest_on(const Face& face, const Moment& x, int vertex) const;
  template <class C>
  bool parts_at_start(const C& c) const;
  bool looks_again_ = false;
  Mat3 turned_ = Mat3::identity();  // of the stencils between bodies since then (carry)
  int& place_of(int body, int other, int collider) {
    return pair_at_[size_t(body) * sides_ + (other >= 0 ? other : bodies_ + collider)];
  }
  int bodies_ = 0, sides_ = 0;
  std::vector<int> pair_at_;  // in `touching_pairs`, by body and other side; -1: none

 public:
  /// From rows of the state to rows of the island, and back.
  std::vector<int> row_of_state, state_of_row;
};

}  // namespace verve
