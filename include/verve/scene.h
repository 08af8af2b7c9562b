// What is to be simulated, as plain data: from a JSON file (read_scene), a built-in name, or filled in from C++.
// Units are SI; y is up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verve/choices.h"
#include "verve/diagnostics.h"
#include "verve/formula.h"
#include "verve/mesh.h"
#include "verve/track.h"
#include "verve/vec.h"

namespace verve {

/// Which vertices: the union of whatever is given, in the coordinates of the body's mesh at rest
/// (after `place`). Nothing given selects nothing.
struct Selection {
  bool all = false;
  std::vector<int> indices;                       ///< in the order of the mesh
  std::optional<std::array<Vec3, 2>> box;         ///< lower and upper corner
  std::optional<std::pair<Vec3, double>> sphere;  ///< centre and radius
  std::optional<Vec3> nearest;                    ///< the one vertex nearest to a point
  std::vector<int> carried;                       ///< vertices of the carried surface: all that move them
  bool empty() const { return !all && indices.empty() && !box && !sphere && !nearest && carried.empty(); }
};

/// A mesh from a generator, from a file, or given by the caller.
struct MeshSpec {
  std::string generator;
  Parameters parameters;
  std::filesystem::path file;
  std::string object;  ///< of the file; empty: all of it
  MeshRepair repair = MeshRepair::repair;
  std::shared_ptr<const Mesh> mesh;
};

/// A deformation of a body's own rest shape, about its centre of mass, applied in this order.
struct PoseSpec {
  Vec3 stretch{1, 1, 1};  ///< factors along the axes
  Vec3 twist{0, 0, 0};    ///< about this axis, by its length per metre along it [degrees/m]
  Vec3 bend{0, 0, 0};     ///< curves the longest side of the body about this axis, by its length per metre [degrees/m]
};

/// One registered potential over the elements of a body that it applies to (tets, edges, ...).
struct PotentialSpec {
  std::string type;                                 ///< a name of potential_infos()
  std::map<std::string, Track<double>> parameters;  ///< each may change while the simulation runs
  /// Parameters that are not one number: a vector, or a value for each element of the body, in the order of the mesh.
  std::map<std::string, std::vector<double>> arrays{};
  std::optional<Selection> region{};         ///< only elements with all vertices in here
  std::vector<std::vector<int>> groups{};    ///< of vertices, for potentials that act on groups
  std::vector<MeshSpec> examples{};          ///< poses of the same mesh, for example-based potentials
  std::vector<PoseSpec> poses{};             ///< further examples: the body's own mesh, deformed
  std::shared_ptr<const Formula> formula{};  ///< for potential "formula", from programs only
  std::shared_ptr<const ConstitutiveLaw> law{};  ///< for potential "custom", likewise
  double projection = 1;                     ///< factor of solver.stiffness, for pbd alone
  /// Elements stretched beyond this, in lengths at rest, are removed (docs/tearing.md). No value: they never are.
  Track<double> tear{};
  /// What is strained beyond this flows (docs/plasticity.md): a strain, for bending a curvature [1/m]. None: it never
  /// does.
  std::optional<double> yield{};
  double hardening = 0;           ///< growth of that limit per strain that has flowed
  std::optional<double> creep{};  ///< rate at which strain beyond the limit flows [1/s]; none: at once
};

/// Placement of the rest shape, applied in this order.
struct Placement {
  double scale = 1;
  std::optional<double> size;  ///< in place of scale: of the longest side of what is seen, before it is rotated [m]
  Vec3 rotate{0, 0, 0};     ///< rotation vector [degrees]
  Vec3 translate{0, 0, 0};  ///< [m]
};

/// Start state relative to the placed rest shape. Deformations act about the centre of mass.
struct InitialState {
  Vec3 stretch{1, 1, 1};       ///< factors along the axes; zero and negative allowed
  Vec3 twist{0, 0, 0};         ///< about this axis, by its length per metre along it [degrees/m]
  std::optional<Vec3> squash;  ///< press all vertices into a centred box of this size [m]
  double noise = 0;            ///< each vertex moved at random within a ball of this radius [m]
  std::uint64_t seed = 1;
  Vec3 velocity{0, 0, 0};          ///< [m/s]
  Vec3 angular_velocity{0, 0, 0};  ///< about the centre of mass [rad/s]
};

/// What a user may turn while the body moves (CPD, Eq. 23-24). An empty track leaves the quantity to the ledger.
struct Dials {
  Track<Vec3> momentum;     ///< P* [kg m/s]; the change arrives as a rigid push, energy included
  Track<Vec3> spin;         ///< L* about the centre of mass [kg m^2/s]; likewise
  Track<double> energy;     ///< H* [J], compared with the `total` column of metrics.csv
  Track<double> half_life;  ///< of H - K [s]
  Track<double> damping;    ///< gamma of Eq. 24 [1/s] = ln 2 / half_life; give one of the two
};

/// What it is made of is density, potentials, dials.half_life and the surface below; set_material (material.h) fills in
/// all of them by the name of a material. Without potentials nothing holds it together.
struct BodySpec {
  std::string name;
  MeshSpec mesh;
  std::optional<MeshSpec> embed;  ///< a surface that the tetrahedra carry, placed with them; it has no mass
  Placement place;
  double density = 1000;       ///< [kg/m^3] tets, [kg/m^2] triangles, [kg/m] edges
  std::optional<double> mass;  ///< total [kg]; replaces density
  MassMatrix mass_matrix = MassMatrix::lumped;
  std::vector<PotentialSpec> potentials;
  InitialState initial;
  Dials dials;
  // The surface, where bodies touch (see ContactSpec).
  double thickness = 0;    ///< of a sheet or a skin around a solid [m]
  double friction = 0;     ///< Coulomb's; of a pair the geometric mean
  double restitution = 1;  ///< of a pair the lesser
  std::string color;       ///< "#rrggbb" for reports; empty: chosen
};

/// A rigid obstacle, fixed or on a path of keyframes. Lengths in metres, in its own frame: capsules and cylinders lie
/// along y, a plane passes through its position.
struct ColliderSpec {
  std::string name;
  std::string shape;             ///< one of shape_infos(), which read these:
  Vec3 normal{0, 1, 0};          ///< towards where things may be
  Vec3 size{1, 1, 1};            ///< along the axes
  double radius = 0.5;           ///< [m]
  double length = 1;             ///< along y [m]
  std::optional<MeshSpec> mesh;  ///< tetrahedra or a closed surface
  Track<Vec3> position{Vec3{}};  ///< [m]
  Track<Vec3> rotation{Vec3{}};  ///< rotation vector [degrees]
  double friction = 0;
  double restitution = 1;
  Track<bool> active{true};
};

/// What happens between two bodies, or a body and a collider, in place of what their surfaces say.
struct ContactPairSpec {
  std::string a, b;  ///< names of bodies or colliders; the same twice: a body with itself
  std::optional<double> friction, restitution;
  bool touch = true;  ///< false: they pass through each other
};

/// Bodies touch colliders always, each other and themselves where a scene says so.
struct ContactSpec {
  bool bodies = true;       ///< with each other
  bool self = false;        ///< with themselves
  double stiffness = 4000;  ///< of a vertex that touches, in units of its mass / step^2
  ContactResponse response = ContactResponse::implicit_penalty;
  double repulsion = 1;  ///< k_col of response explicit_force, in units of mass / (step^2 edge)
  std::vector<ContactPairSpec> pairs;
};

/// Zero-rest-length springs (CPD, Sec. 4.4) from selected vertices of a body to the world or to another body.
struct AnchorSpec {
  std::string name;
  std::string body;
  Selection vertices;
  Track<double> stiffness{1e4};  ///< per vertex [N/m]
  bool hard = false;             ///< in its place 1000 times what holds each vertex in the body: a constraint
  std::optional<Vec3>
      to_point;         ///< a common point in the world; default: where each vertex is when the anchor turns on
  std::string to_body;  ///< or: the nearest vertices (at rest) of another body
  Track<Vec3> path;     ///< displacement of the anchor points over time [m]
  Track<bool> active{true};
  std::optional<double> within{};  ///< with to_body: only vertices that have one of it so near at rest [m]
};

struct ForceSpec {
  std::string body;
  Selection vertices;   ///< shares the force by mass
  Vec3 force{0, 0, 0};  ///< total [N], constant
  Track<bool> active{true};
};

/// An impulse at one moment. Radius 0 pushes the body as if it were rigid; otherwise vertices within the radius
/// (in the moving configuration) share it with a smooth falloff.
struct PushSpec {
  std::string body;
  double time = 0;                 ///< [s]
  Vec3 impulse{0, 0, 0};           ///< [N s]
  std::optional<Vec3> point;       ///< in the world; default: the centre of mass
  std::optional<Vec3> rest_point;  ///< or: rides on the body, given at rest
  double radius = 0;               ///< [m]
};

/// Air that moves past a body, or that a body moves through. It acts on the triangles of sheets and on the skin of
/// solids: force = drag A |w - v| ((w - v).n) n on a triangle of area A and normal n.
struct WindSpec {
  std::string name;
  std::string body;
  Track<Vec3> velocity;  ///< w, of the air [m/s]; 0 is still air, no value no air at all
  double drag = 1.2;     ///< density of the air times a coefficient of shape [kg/m^3]
  Track<bool> active{true};
};

/// A method name sets all three axes (see method_infos()); an axis given as well overrides it.
struct SolverSpec {
  std::string method = "cpd";
  std::string integrator;  ///< "" = the method's
  std::string minimizer;
  std::string conservation;
  std::optional<EnergyDirection> direction;  ///< of cpd, along which H is corrected; default: the method's
  EnergyHold hold = EnergyHold::total;       ///< of direction loss
  Acceleration acceleration = Acceleration::none;  ///< of projective, jacobi and gauss_seidel
  int window = 5;                                  ///< pairs that lbfgs, steps that anderson remembers
  std::optional<double> rho;      ///< spectral radius at infinity of generalized_alpha and chung_hulbert, 0 … 1
  double newmark_beta = 0.25;     ///< of newmark, > 0
  double newmark_gamma = 0.5;     ///< likewise, >= 0.5; more than that damps
  double tolerance = 1e-6;        ///< of the scaled residuals
  std::optional<int> iterations;  ///< cap per step; default: the method's
  int substeps = 0;               ///< per frame; 0 = automatic
  double budget = 0;              ///< of a frame [ms], counted, not measured (docs/budget.md); 0 = none
  double epsilon = 1e-2;          ///< weight of alpha^2 in units of E_ref, `published` only
  double band = 1e-2;             ///< of blend: how far H may be from its target, in units of E_ref
  Precision precision = Precision::float64;
  GlobalSolve global = GlobalSolve::automatic;
  double stiffness = 1;  ///< of pbd: share of each correction that is applied
  StiffnessPer stiffness_per = StiffnessPer::projection;
  double constraint_damping = 0;  ///< of xpbd and compliant: beta / k of XPBD Eq. 26 [s]
};

struct Scene {
  std::string name = "untitled";
  std::string description;
  double step = 1.0 / 30;  ///< frame time [s]
  int frames = 300;
  Vec3 gravity{0, 0, 0};  ///< [m/s^2]
  SolverSpec solver;
  std::vector<BodySpec> bodies;
  std::vector<AnchorSpec> anchors;
  std::vector<ForceSpec> forces;
  std::vector<PushSpec> pushes;
  std::vector<WindSpec> winds;
  std::vector<ColliderSpec> colliders;
  std::optional<ContactSpec> contact;  ///< none: bodies pass through each other and themselves
};

/// Everything wrong with a scene's values, each place written as in the file ("bodies[0].potentials[1].stiffness").
/// Meshes are not loaded; Simulation::create reports on those.
Diagnostics check_scene(const Scene& scene);

}  // namespace verve
