// Which vertices, edges and faces of bodies may touch each other, and colliders, in a step. Knows geometry, positions
// and what is remembered of earlier contacts; nothing of how a step is taken.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "contact/broad_phase.h"
#include "contact/contact_cache.h"
#include "contact/contacts.h"
#include "contact/pair_table.h"
#include "contact/shapes.h"
#include "contact/surface_normals.h"
#include "geometry/box.h"

namespace verve {

/// A point of the surface that a body carries, by vertices of the body.
struct CarriedPoint {
  std::array<int, 4> rows;
  std::array<double, 4> share;
};

/// A body as contact sees it. Lengths [m] are those of its rest shape.
struct ContactBody {
  const Surface* surface = nullptr;
  int first = 0, count = 0;      // its rows of the state
  const double* mass = nullptr;  // of these; 0: a vertex that feels nothing
  double inertia = 0;            // of which the stiffness is made [kg]
  double stiffness = 0;          // for the present length of a frame [N/m]
  double thickness = 0;          // kept from others
  double edge = 0;               // mean length
  /// Least width across a face; sheets and ropes have no inside to come through.
  double thin = std::numeric_limits<double>::infinity();
  /// In place of its vertices these touch colliders, where there are any, and are outside of its tetrahedra by so much.
  std::vector<CarriedPoint> carried;
  double outside = 0;
};

/// Bodies that move together through a step, in rows of their own.
struct MovingBodies {
  std::span<const int> bodies;      // as the detector counts them
  std::span<const int> offsets;     // first row of each
  std::span<const Vec4> x;          // where the step begins
  std::span<const Vec4> predicted;  // where it ends if nothing touches
  const double* mass = nullptr;     // per row; 0: a vertex that feels nothing
  int rows() const { return int(x.size()); }
};

/// A collider during a step.
struct ColliderMotion {
  Pose start, end;
  bool active = true;
  bool movable = false;  // in this step or in another
  bool moves() const {
    return norm(start.position - end.position) > 0 || norm(start.rotation.col[0] - end.rotation.col[0]) > 0 ||
           norm(start.rotation.col[1] - end.rotation.col[1]) > 0;
  }
};

/// What the steps before have left, by key.
struct ContactMemory {
  const std::vector<CachedContact>* contacts;
  const std::vector<FrictionAnchor>* friction_anchors;
};

class ContactDetector {
 public:
  /// Which pairs are looked for.
  struct Settings {
    bool bodies = false, self = false;
    bool features = true;            // corners and edges of colliders
    bool carried = true;             // surfaces that bodies carry, in place of their own vertices
    std::optional<double> friction;  // in place of all coefficients
  };

  ContactDetector();
  /// Bodies and shapes stay where they are; the table too.
  void compile(std::vector<ContactBody> bodies, std::vector<const Shape*> colliders, const PairTable& pairs);
  /// Another body in the place of one, or behind the last.
  void set_body(int b, ContactBody body);
  void set_collider(int c, const Shape* shape);
  const ContactBody& body(int b) const { return bodies_[b]; }
  /// The length of a frame: stiffnesses are in units of inertia / step^2.
  void set_step(double step);

  struct Found {
    double pairs = 0;              // that the broad phase found
    bool moving_collider = false;  // one that moves is among the candidates
  };
  /// Candidates of a step, into a cleared `out`. `all`: of colliders also those that the prediction does not reach.
  Found detect(const MovingBodies& moving, std::span<const ColliderMotion> colliders, const ContactMemory& memory,
               const Settings& settings, bool all, Contacts& out);

  struct Passing {
    int substeps = 1;
    bool searched = false;  // bodies are fast enough to ask
    double pairs = 0;       // that were looked at
  };
  /// Sub-steps in which nothing passes more than a quarter of a solid that it may meet.
  Passing substeps_between_bodies(const MovingBodies& moving, const Settings& settings);
  /// Sub-steps in which no solid goes farther than half of what its faces would have to come into a round shape to be
  /// on the other side of its middle.
  int substeps_for_features(const MovingBodies& moving, std::span<const ColliderMotion> colliders) const;

  /// Whether a vertex at moving.x is inside a collider, at its end, that it was no candidate of.
  bool missed(const MovingBodies& moving, std::span<const ColliderMotion> colliders, const Contacts& candidates);

  /// A body on its way, for find_meeting.
  struct SweptBody {
    int body = 0;
    int group = 0;  // bodies of one group are not looked for
    const Vec4 *from = nullptr, *to = nullptr;
    double slack = 0;  // added to its thickness
  };
  /// Pairs of bodies of different groups that meet on the way, or come within their slack of each other at its end. The
  /// lesser body first, in the order in which they are found, each once.
  std::span<const std::array<int, 2>> find_meeting(std::span<const SweptBody> swept);

  /// The repulsion springs of the CPD paper (contact/repulsion.h) at x, rows of the state, with colliders as they are
  /// at their start: adds their force and returns their energy.
  double repel(const Vec4* x, std::span<const ColliderMotion> colliders, const ContactSpec& spec, Vec4* force);

 private:
  struct EdgeSpot {  // of an edge of a body, where the step begins
    Vec3 from, along;
    const SurfaceNormals::Cone* cone;  // of a solid; null: nothing can touch it
  };
  struct Sweep {    // of a body through a step
    Box at, way;    // around its rows where the step begins, and with where it comes to if nothing touches
    double travel;  // the longest way of a vertex
  };
  struct Ball {
    Vec3 middle;
    double radius;
  };
  struct Step {  // what detect was asked
    const MovingBodies& moving;
    std::span<const ColliderMotion> colliders;
    const ContactMemory& memory;
    const Settings& settings;
    bool all;
    Contacts& out;
  };
  /// What of a body touches colliders: its vertices, or the points that it carries. Rows as those that move count them.
  int points(const ContactBody& body) const { return carries(body) ? int(body.carried.size()) : body.count; }
  bool carries(const ContactBody& body) const { return carried_ && !body.carried.empty(); }
  ContactRow point_of(const ContactBody& body, int offset, int point) const;
  PairSurface pair_of(int a, int b) const { return pairs_->of(a, b, friction_); }
  int side_of(int collider) const { return int(bodies_.size()) + collider; }
  void sweep_bodies(const MovingBodies& moving);
  void detect_shape(const Step& step, int collider, Found& found);
  void detect_features(const Step& step, int collider);
  void detect_pairs(const Step& step, Found& found);
  void remove_drift(const MovingBodies& moving);
  const std::vector<EdgeSpot>& edges_of(const MovingBodies& moving, int k);
  void add_edge_friction(const Step& step, Contacts::OnEdge& on, const Pose& pose, FrictionAnchor& fresh) const;

  std::vector<ContactBody> bodies_;
  std::vector<const Shape*> shapes_;
  std::vector<ShapeFeatures> features_;  // of these
  const PairTable* pairs_ = nullptr;
  std::optional<double> friction_;  // of the settings of the last call,
  bool carried_ = true;             // likewise

  // between groups, between bodies of one in a frame, and in a step
  std::unique_ptr<BroadPhase> meetings_, passages_, candidates_;
  // room that is kept from call to call
  std::vector<SweptSurface> swept_;
  std::vector<Pair> vertex_face_, edge_edge_;
  std::vector<std::array<int, 2>> met_;
  std::vector<Vec4> relative_;  // predicted, without the drift of all
  std::vector<double> travel_;  // lengths of the ways there, per row
  std::vector<Sweep> sweeps_;
  std::vector<SurfaceNormals> normals_;            // by body of those that move
  std::vector<std::vector<EdgeSpot>> edge_spots_;  // likewise; empty: not found yet
  std::vector<Box> around_;                        // bodies where a step has led
  std::vector<char> looked_;                       // by collider and point: it is a candidate
  std::vector<Vec3> feature_from_, feature_to_;    // points of a collider, where the step begins and where it ends
  std::vector<int> near_points_, near_lines_;      // of these, and its edges, those that come near a body,
  std::vector<int> near_faces_, near_edges_;       // of which these come near the collider
  std::vector<Ball> face_balls_, edge_balls_;      // around them
  std::vector<Box> face_groups_, edge_groups_;     // around so many of these
  std::vector<unsigned short> sides_;              // by vertex: on which sides of boxes it stays
};

/// Of the mean length of edges: how much farther than they are expected to come contacts are looked for.
constexpr double search_slack = 0.25;

/// Cosine between the normal of a vertex and that of a face that it may touch, at most. Above 0 vertices of a floor
/// would be met by the front of what slides over them, and at 0, as where boxes are aligned, round-off would decide.
constexpr double opposing = -0.2;

/// Of a cosine: by how much edges may turn in a step until they no longer touch.
constexpr double cone_slack = 0.1;

}  // namespace verve
