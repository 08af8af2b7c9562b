// A scene compiled for simulation: the Model, which is const while it steps, and the Matter, which follows the State.
// Between frames bodies and colliders may join and leave (World::add_body and the like). Each has a place, named by its
// number, and stays what it is there: nobody else is moved by a newcomer. A place that is free has an empty body.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contact/shapes.h"
#include "contact/surface.h"
#include "linear/shared_rows.h"
#include "model/mass_coupling.h"
#include "model/plasticity.h"
#include "model/tearing.h"
#include "potentials/potential.h"
#include "verve/scene.h"

namespace verve {

/// A body's vertices are renumbered to an elimination order with little fill, so that the global step reads and writes
/// the state in place; `vertex_of_row` leads back to the order of the mesh, in which everything is shown.
struct Body {
  std::string name;
  Mesh mesh;                 // at rest, placed, in the user's order
  Placement place;           // with its scale
  int first = 0, count = 0;  // rows of this body in the state; no rows: nobody has this place
  int first_vertex = 0;      // among those of all bodies, as they are shown
  std::vector<int> row_of_vertex, vertex_of_row;
  std::vector<double> mass;  // per row [kg]; 0 for vertices that no element uses
  double total_mass = 0;
  MassCoupling coupling;                    // in rows; empty: lumped
  std::vector<Vec4> rest;                   // per row
  std::shared_ptr<const SharedRows> shared;  // its rows here, of a body that several processes share; null: all
  std::vector<ParameterValues> parameters;  // of its potentials, at time 0
  Mesh embedded;                            // surface at rest, placed; without triangles: none
  Embedding embedding;                      // of its vertices, by vertices of `mesh`
  std::unique_ptr<const Tearing> tearing;   // null: nothing tears
  std::unique_ptr<const Plasticity> plasticity;  // null: nothing flows
};

struct Anchor {
  int body = 0;  // -1: it has gone
  std::vector<int> rows;  // of the body, counted from its first
  int other = -1;         // body at the other end; -1 = the world
  std::vector<int> other_rows;
};

struct ConstantForce {
  int body = -1;  // -1: it has gone
  std::vector<int> rows;
  std::vector<double> share;  // of the total force, sums to 1
  Vec3 force;
};

/// What a wind acts on: triangles of a sheet, or the skin of a solid.
struct WindSurface {
  int body = -1;  // -1: it has gone
  std::vector<std::array<int, 3>> triangles;  // rows of the body
  std::vector<int> rows, first_use, use;      // the vertices in use, and the triangles of each
};

/// A rigid obstacle. Where it is at a time is for the scene's tracks to say.
struct Collider {
  std::string name;
  std::unique_ptr<const Shape> shape;
};

/// What is the same in all frames. (Deques: what refers to a body goes on doing so when others come.)
struct Model {
  std::deque<Body> bodies;
  std::vector<ConstantForce> forces;
  std::deque<Collider> colliders;
  int rows = 0;  // of the state, free ones among them
  std::vector<Vec4> initial_x, initial_v;
};

using Potentials = std::vector<std::unique_ptr<Potential>>;  // of a body: one per PotentialSpec

/// What the state determines of the bodies, made for speed: the state has the parameters of materials, which elements
/// are gone, and which anchors were added. Whoever changes these in the state changes it here too (World).
struct Matter {
  struct OfBody {
    Potentials potentials;  // with materials and elements as they are now
    Surface surface;        // what is left of it, in rows; empty where nothing can be touched
  };
  std::deque<OfBody> bodies;
  std::vector<Anchor> anchors;
  std::vector<WindSurface> wind_surfaces;  // one per WindSpec
};

struct CompiledScene {
  Model model;
  Matter matter;  // as it is at time 0
};

/// A body of a scene, without rows of a state as yet.
struct CompiledBody {
  Body body;
  Matter::OfBody matter;
};

/// What of a body is here, where processes share it: owned vertices of the whole, then copies, by row.
struct BodyShare {
  std::vector<int> vertices;
  std::shared_ptr<const SharedRows> rows;
};
/// Decides that of the next body, which is whole and has neither rows nor potentials.
using ShareBody = std::function<BodyShare(const Body& whole)>;

/// Loads meshes and builds batches. The scene must have passed check_scene. With `share` only what is here is left of
/// each body, its elements where their first vertex is; nothing of it can touch or tear, and it carries no surface.
Expected<CompiledScene> compile(const Scene& scene, const ShareBody& share = {});
/// One body of it. None: with the reasons in `out`.
std::optional<CompiledBody> compile_body(const BodySpec& spec, const std::string& where, Diagnostics& out);
/// Where its vertices are and how they move at the start, by row.
void set_initial_state(const Body& body, const InitialState& initial, Vec4* x, Vec4* v);
/// What a force or a wind acts on; a body of -1 where there is none of that name.
ConstantForce compile_force(const ForceSpec& spec, const Model& model, const std::string& where, Diagnostics& out);
WindSurface compile_wind(const WindSpec& spec, const Model& model, const std::string& where, Diagnostics& out);
/// The place of the body of that name; -1: there is none.
int find_body(const Model& model, const std::string& name);

/// The vertices that an anchor holds; a body of -1 where there is none of that name.
Anchor compile_anchor(const AnchorSpec& spec, const Model& model, const std::string& where, Diagnostics& out);
/// Likewise among bodies by their places; null: nobody has it.
Anchor compile_anchor(const AnchorSpec& spec, std::span<const Body* const> bodies, const std::string& where, Diagnostics& out);

/// Values of a potential's parameters at a time, from the scene's tracks.
ParameterValues parameters_at(const PotentialSpec& spec, double time);
/// A material has a value at all times: before its first key, that of the key.
std::optional<double> parameter_at(const Track<double>& track, double time);

/// The triangles of a mesh or the skin of its tetrahedra, as they are in the file.
Expected<Mesh> load_surface(const MeshSpec& spec, const std::string& where);
/// The shape of a collider of a scene that check_scene has accepted; null where its mesh is none.
std::unique_ptr<Shape> make_shape(const ColliderSpec& spec, const std::string& where, Diagnostics& out);
/// Triangles are those of the body's mesh, or what is left of its surface.
WindSurface make_wind_surface(int index, const Body& body, const std::vector<std::array<int, 3>>& triangles);
/// Of what is left of the body's mesh; vertices without elements are part of it once something has torn.
Surface touchable_surface(const Body& body, const RemovedElements& removed);
/// The colliders of a scene, and the surfaces of its bodies where something can touch them.
void compile_contact(const Scene& scene, CompiledScene& compiled, Diagnostics& out);

/// What is wrong inside the mesh files of a scene that cannot be compiled for other reasons.
void report_mesh_files(const Scene& scene, Diagnostics& out);

}  // namespace verve
