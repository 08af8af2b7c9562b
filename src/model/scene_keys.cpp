#include "model/scene_keys.h"

#include "base/registered.h"
#include "verve/material.h"

namespace verve {

namespace {

template <class T>
struct OwnerOf;
template <class O, class M>
struct OwnerOf<M O::*> {
  using Type = O;
};

struct Range {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool exclusive_minimum = false;
};
Range above(double bound) { return {.minimum = bound, .exclusive_minimum = true}; }
Range at_least(double bound) { return {.minimum = bound}; }
Range between(double lower, double upper) { return {.minimum = lower, .maximum = upper}; }

struct Traits {
  std::string unit = {};
  Range range = {};
  bool required = false;
  bool optional = false;
  const std::vector<std::string>& (*choices)() = nullptr;
  const std::vector<std::string>& (*also)() = nullptr;
  std::string also_words = {};
};

Key describe(std::string name, std::string help, Traits traits, Member (*member)(void*)) {
  Key key;
  key.info = {.name = std::move(name),
              .unit = std::move(traits.unit),
              .help = std::move(help),
              .default_value = {},
              .minimum = traits.range.minimum,
              .maximum = traits.range.maximum,
              .exclusive_minimum = traits.range.exclusive_minimum,
              .optional = traits.optional};
  key.required = traits.required;
  key.choices = traits.choices;
  key.also = traits.also, key.also_words = std::move(traits.also_words);
  key.member = member;
  return key;
}

template <class T>
struct ChoiceOf;  // how an enum, or an optional one, is read and written by number
template <class T>
requires std::is_enum_v<T>
struct ChoiceOf<T> {
  using Enum = T;
  static int get(const void* at) { return int(*static_cast<const T*>(at)); }
  static void set(void* at, int number) { *static_cast<T*>(at) = T(number); }
};
template <class T>
requires std::is_enum_v<T>
struct ChoiceOf<std::optional<T>> {
  using Enum = T;
  static int get(const void* at) {
    const auto& value = *static_cast<const std::optional<T>*>(at);
    return value ? int(*value) : -1;
  }
  static void set(void* at, int number) {
    auto& value = *static_cast<std::optional<T>*>(at);
    if (number < 0)
      value.reset();
    else
      value = T(number);
  }
};

template <auto M>
Key key(std::string name, std::string help, Traits traits = {}) {
  using Owner = typename OwnerOf<decltype(M)>::Type;
  using Type = std::remove_reference_t<decltype(std::declval<Owner&>().*M)>;
  if constexpr (requires { typename ChoiceOf<Type>::Enum; }) {
    using Enum = typename ChoiceOf<Type>::Enum;
    traits.choices = choice_names<Enum>, traits.optional = !std::is_enum_v<Type>;
    return describe(std::move(name), std::move(help), std::move(traits), [](void* owner) -> Member {
      return Choice{&(static_cast<Owner*>(owner)->*M), ChoiceOf<Type>::get, ChoiceOf<Type>::set, choice_names<Enum>};
    });
  } else {
    return describe(std::move(name), std::move(help), std::move(traits),
                    [](void* owner) -> Member { return &(static_cast<Owner*>(owner)->*M); });
  }
}

/// "of a sphere, capsule (without its round ends)": shapes that read a key.
std::string of_shapes(const std::string& key) {
  std::string out;
  for (const ShapeInfo& shape : shape_infos())
    for (const ShapeKey& own : shape.keys)
      if (own.name == key)
        out += (out.empty() ? "of a " : ", ") + shape.name + (own.help.empty() ? "" : " (" + own.help + ")");
  return out;
}

template <class T, class Get>
std::vector<std::string> names_of(const std::vector<T>& entries, Get get) {
  std::vector<std::string> names;
  for (const T& entry : entries) names.push_back(get(entry));
  return names;
}

}  // namespace

template <>
const std::vector<Key>& keys_of<Scene>() {
  static const std::vector<Key> keys = {
      describe("$schema", "where an editor finds schema.json; not read", {},
               [](void*) -> Member { return SchemaLink{}; }),
      describe("version", "of the format; always 1", {.required = true},
               [](void*) -> Member { return FormatVersion{}; }),
      key<&Scene::name>("name", "a short name for reports"),
      key<&Scene::description>("description", "one or two sentences for people"),
      key<&Scene::step>("step", "time from one frame to the next", {.unit = "s", .range = above(0)}),
      key<&Scene::frames>("frames", "how many frames to simulate", {.range = at_least(1)}),
      key<&Scene::gravity>("gravity", "acceleration of every body; y is up",
                           {.unit = "m/s^2", .range = between(-strongest_gravity, strongest_gravity)}),
      key<&Scene::solver>("solver", "how to simulate"),
      key<&Scene::bodies>("bodies", "what to simulate; at least one", {.required = true}),
      key<&Scene::anchors>("anchors", "zero-rest-length springs to the world or to another body"),
      key<&Scene::forces>("forces", "constant forces"),
      key<&Scene::pushes>("pushes", "impulses, each at one moment"),
      key<&Scene::winds>("winds", "air that moves past the bodies"),
      key<&Scene::colliders>("colliders", "rigid obstacles, fixed or moving"),
      key<&Scene::contact>("contact", "how bodies touch each other and themselves; null: they do not"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<SolverSpec>() {
  static const std::vector<Key> keys = {
      key<&SolverSpec::method>(
          "method", "a named point on the three axes below",
          {.choices = method_names, .also = combined_method_names, .also_words = combined_words()}),
      key<&SolverSpec::integrator>("integrator", "what is minimised; null: the method's",
                                   {.optional = true, .choices = integrator_names}),
      key<&SolverSpec::minimizer>("minimizer", "how it is minimised; null: the method's",
                                  {.optional = true, .choices = minimizer_names}),
      key<&SolverSpec::conservation>("conservation", "what is held; null: the method's",
                                     {.optional = true, .choices = conservation_names}),
      key<&SolverSpec::direction>("direction",
                                  "of conservation cpd, along which H is corrected: what the step has lost, or the "
                                  "gradient of H; null: the method's"),
      key<&SolverSpec::hold>("hold",
                             "of direction loss: the total energy, or the total and the heat of what the step cannot "
                             "resolve"),
      key<&SolverSpec::acceleration>("acceleration",
                                     "of minimizer projective, jacobi, gauss_seidel or vbd where nothing is held"),
      key<&SolverSpec::window>("window", "pairs that minimizer lbfgs, steps that acceleration anderson remembers",
                               {.range = between(1, 20)}),
      key<&SolverSpec::rho>("rho",
                            "spectral radius at infinity of generalized_alpha and chung_hulbert; null: the method's",
                            {.range = between(0, 1)}),
      key<&SolverSpec::newmark_beta>("newmark_beta", "beta of newmark", {.range = above(0)}),
      key<&SolverSpec::newmark_gamma>("newmark_gamma", "gamma of newmark; more than 0.5 damps",
                                      {.range = between(0.5, 1)}),
      key<&SolverSpec::tolerance>("tolerance", "of the scaled residuals", {.range = above(0)}),
      key<&SolverSpec::iterations>("iterations", "most iterations per step; null: the method's",
                                   {.range = at_least(1)}),
      describe("substeps", "steps per frame", {.range = between(0, 64)},
               [](void* owner) -> Member { return WholeOrAuto{&static_cast<SolverSpec*>(owner)->substeps}; }),
      key<&SolverSpec::budget>("budget",
                               "what a frame may take [ms], by a count of its work, the same on every machine; 0: no "
                               "limit",
                               {.range = at_least(0)}),
      key<&SolverSpec::epsilon>("epsilon",
                                "of the slack: weight of alpha^2 in units of E_ref (\"published\"), root of the weight "
                                "of s^2 + t^2 in units of E_ref h^2 (\"fepr\")",
                                {.range = above(0)}),
      key<&SolverSpec::band>("band", "how far H may be from its target, in units of E_ref (\"blend\")",
                             {.range = above(0)}),
      key<&SolverSpec::precision>("precision", "of the element kernels and the factor"),
      key<&SolverSpec::global>(
          "global",
          "solver of the global step: a factor (\"direct\", \"half\": kept in half precision where "
          "precision is float), multigrid, or what suits the size (large float factors go to half where that loses "
          "nothing)"),
      key<&SolverSpec::stiffness>("stiffness", "share of each correction that is applied; pbd only",
                                  {.range = between(0, 1)}),
      key<&SolverSpec::stiffness_per>("stiffness_per",
                                      "whether that share is taken of each projection, as it is, or 1 - (1 - "
                                      "stiffness)^(1/iterations), so that all "
                                      "iterations of a step together leave 1 - stiffness; pbd only"),
      key<&SolverSpec::constraint_damping>("constraint_damping",
                                           "damping of each constraint relative to its stiffness; xpbd, small_steps, "
                                           "compliant and compliant_plain",
                                           {.unit = "s", .range = at_least(0)}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<BodySpec>() {
  static const std::vector<Key> keys = {
      key<&BodySpec::name>("name", "unique among the bodies; not \"all\"", {.required = true}),
      key<&BodySpec::mesh>("mesh", "the shape at rest", {.required = true}),
      key<&BodySpec::embed>("embed",
                            "a finer surface that the tetrahedra carry, shown instead of theirs; placed with them"),
      key<&BodySpec::place>("place", "where the rest shape stands: scaled, then rotated, then moved"),
      describe("material",
               "a preset by name (docs/materials.md) for density, potentials, friction, restitution, "
               "dials.half_life, color and the thickness of sheets and ropes; each of them given beside it wins. null "
               "without potentials: jelly, cotton or rope",
               {.optional = true, .choices = material_names}, [](void*) -> Member { return MaterialName{}; }),
      key<&BodySpec::density>("density", "of tetrahedra [kg/m^3], triangles [kg/m^2], edges [kg/m]",
                              {.unit = "kg/m^3", .range = above(0)}),
      key<&BodySpec::mass>("mass", "of the whole body; replaces density unless null",
                           {.unit = "kg", .range = above(0)}),
      key<&BodySpec::mass_matrix>("mass_matrix",
                                  "mass at the vertices alone, or spread through the elements as their motion is"),
      key<&BodySpec::potentials>("potentials", "what holds the body together"),
      key<&BodySpec::initial>("initial", "the start, relative to the placed rest shape"),
      key<&BodySpec::dials>("dials", "what to steer; anything not given is conserved"),
      key<&BodySpec::thickness>("thickness", "of a sheet, or of a skin around a solid, in contact",
                                {.unit = "m", .range = at_least(0)}),
      key<&BodySpec::friction>("friction", "Coulomb's coefficient; between two, the geometric mean of both",
                               {.range = at_least(0)}),
      key<&BodySpec::restitution>("restitution",
                                  "rebound speed over impact speed; between two, the lesser. 1: nothing is lost",
                                  {.range = between(0, 1)}),
      key<&BodySpec::color>("color", "\"#rrggbb\" in reports; null: chosen", {.optional = true}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<MeshSpec>() {
  static const std::vector<Key> keys = {
      key<&MeshSpec::generator>("generator", "makes the mesh; its parameters are further keys beside it",
                                {.optional = true, .choices = generator_names}),
      key<&MeshSpec::file>("file", "or: a mesh file (docs/meshes.md), relative to the scene file", {.optional = true}),
      key<&MeshSpec::object>("object", "one object of that file by its name; null: all of it", {.optional = true}),
      key<&MeshSpec::repair>("repair", "what to do about faulty elements of a file"),
      key<&MeshSpec::mesh>("data", "or: the mesh itself", {.optional = true}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<Mesh>() {
  static const std::vector<Key> keys = {
      key<&Mesh::vertices>("vertices", "positions", {.unit = "m", .required = true}),
      key<&Mesh::tetrahedra>("tetrahedra", "4 vertices each, counted from 0, positively oriented",
                             {.range = at_least(0)}),
      key<&Mesh::triangles>("triangles", "3 vertices each", {.range = at_least(0)}),
      key<&Mesh::edges>("edges", "2 vertices each", {.range = at_least(0)}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<Placement>() {
  static const std::vector<Key> keys = {
      key<&Placement::scale>("scale", "factor about the mesh's origin", {.range = above(0)}),
      key<&Placement::size>("size", "or: what the longest side of the body, of a carried surface if it has one, becomes",
                            {.unit = "m", .range = above(0)}),
      key<&Placement::rotate>("rotate", "rotation vector: axis times angle", {.unit = "degrees"}),
      key<&Placement::translate>("translate", "displacement", {.unit = "m"}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<PotentialSpec>() {
  static const std::vector<Key> keys = {
      key<&PotentialSpec::type>(
          "type",
          "which potential; its parameters are further keys beside it, each a number, keyframes, or a list "
          "with a value for each element",
          {.required = true, .choices = potential_names}),
      key<&PotentialSpec::region>("region", "only elements with all their vertices in here; null: all elements"),
      key<&PotentialSpec::groups>("groups", "of vertices by number, for potentials that act on groups",
                                  {.range = at_least(0)}),
      key<&PotentialSpec::examples>("examples", "the same mesh in other poses, for potentials that learn from them"),
      key<&PotentialSpec::poses>("poses", "further examples: the body's own rest shape, deformed"),
      key<&PotentialSpec::projection>("projection", "factor of solver.stiffness for this one; pbd only",
                                      {.range = between(0, 1)}),
      key<&PotentialSpec::tear>("tear",
                                "elements longer than this, in lengths at rest, are removed; nothing given: never",
                                {.range = above(1)}),
      key<&PotentialSpec::yield>("yield",
                                 "elements strained beyond this flow: a strain, for bending a curvature in 1/m; null: "
                                 "they never do",
                                 {.range = above(0), .optional = true}),
      key<&PotentialSpec::hardening>("hardening", "growth of yield per strain that has flowed", {.range = at_least(0)}),
      key<&PotentialSpec::creep>("creep", "rate at which strain beyond yield flows; null: at once",
                                 {.unit = "1/s", .range = above(0), .optional = true}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<PoseSpec>() {
  static const std::vector<Key> keys = {
      key<&PoseSpec::stretch>("stretch", "factors along the axes"),
      key<&PoseSpec::twist>("twist", "turns each cross-section about this axis, by its length per metre along it",
                            {.unit = "degrees/m"}),
      key<&PoseSpec::bend>("bend", "curves the longest side of the body about this axis, by its length per metre",
                           {.unit = "degrees/m"}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<InitialState>() {
  static const std::vector<Key> keys = {
      key<&InitialState::stretch>("stretch",
                                  "factors along the axes about the centre of mass; zero flattens, negative mirrors"),
      key<&InitialState::twist>("twist", "turns each cross-section about this axis, by its length per metre along it",
                                {.unit = "degrees/m"}),
      key<&InitialState::squash>("squash", "presses all vertices into a centred box of this size; null: no box",
                                 {.unit = "m", .range = at_least(0)}),
      key<&InitialState::noise>("noise", "moves each vertex at random by up to this distance",
                                {.unit = "m", .range = at_least(0)}),
      key<&InitialState::seed>("seed", "of that noise", {.range = between(0, 9007199254740991.0)}),
      key<&InitialState::velocity>("velocity", "of every vertex", {.unit = "m/s"}),
      key<&InitialState::angular_velocity>("angular_velocity", "about the centre of mass", {.unit = "rad/s"}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<Dials>() {
  static const std::vector<Key> keys = {
      key<&Dials::momentum>("momentum", "linear momentum to aim at", {.unit = "kg m/s"}),
      key<&Dials::spin>("spin", "angular momentum about the centre of mass to aim at", {.unit = "kg m^2/s"}),
      key<&Dials::energy>("energy", "total energy to aim at", {.unit = "J"}),
      key<&Dials::half_life>("half_life", "of the energy above the least that the momenta allow",
                             {.unit = "s", .range = above(0)}),
      key<&Dials::damping>("damping", "the same as a rate, ln 2 / half_life; give one of the two",
                           {.unit = "1/s", .range = at_least(0)}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<Selection>() {
  static const std::vector<Key> keys = {
      key<&Selection::all>("all", "every vertex"),
      key<&Selection::indices>("indices", "vertices by number, counted from 0", {.range = at_least(0)}),
      key<&Selection::box>("box", "lower and upper corner", {.unit = "m", .optional = true}),
      key<&Selection::sphere>("sphere", "{\"center\": [x, y, z], \"radius\": r}",
                              {.unit = "m", .range = above(0), .optional = true}),
      key<&Selection::nearest>("nearest", "the one vertex nearest to a point", {.unit = "m"}),
      key<&Selection::carried>("carried",
                               "vertices of the carried surface by number: the corners of the tetrahedra that carry them",
                               {.range = at_least(0)}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<AnchorSpec>() {
  static const std::vector<Key> keys = {
      key<&AnchorSpec::name>("name", "for switching it from a program; unique", {.optional = true}),
      key<&AnchorSpec::body>("body", "whose vertices are held", {.required = true}),
      key<&AnchorSpec::vertices>("vertices", "which of them", {.required = true}),
      key<&AnchorSpec::stiffness>("stiffness", "of the spring at each vertex", {.unit = "N/m", .range = at_least(0)}),
      key<&AnchorSpec::hard>("hard", "holds each vertex 1000 times as firmly as the body does, in place of stiffness"),
      key<&AnchorSpec::to_point>(
          "to_point", "pulls them to one point of the world; null: to where each is when the anchor turns on",
          {.unit = "m"}),
      key<&AnchorSpec::to_body>("to_body", "or: to the nearest vertices (at rest) of this body", {.optional = true}),
      key<&AnchorSpec::within>("within", "with to_body: only vertices that have one of it as near as this, at rest",
                               {.unit = "m", .range = at_least(0)}),
      key<&AnchorSpec::path>("path", "moves the anchor points by this much", {.unit = "m"}),
      key<&AnchorSpec::active>("active", "whether it holds"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<ForceSpec>() {
  static const std::vector<Key> keys = {
      key<&ForceSpec::body>("body", "what it pulls at", {.required = true}),
      key<&ForceSpec::vertices>("vertices", "which vertices share it, by mass", {.required = true}),
      key<&ForceSpec::force>("force", "their sum", {.unit = "N", .required = true}),
      key<&ForceSpec::active>("active", "whether it pulls"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<PushSpec>() {
  static const std::vector<Key> keys = {
      key<&PushSpec::body>("body", "what is pushed", {.required = true}),
      key<&PushSpec::time>("time", "when; nothing happens if the run ends earlier",
                           {.unit = "s", .range = at_least(0)}),
      key<&PushSpec::impulse>("impulse", "how hard", {.unit = "N s", .required = true}),
      key<&PushSpec::point>("point", "where, in the world; null: at the centre of mass", {.unit = "m"}),
      key<&PushSpec::rest_point>("rest_point", "or: where on the body, given at rest, riding along with it",
                                 {.unit = "m"}),
      key<&PushSpec::radius>("radius", "vertices this near share the push; 0: the body is pushed as if it were rigid",
                             {.unit = "m", .range = at_least(0)}),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<WindSpec>() {
  static const std::vector<Key> keys = {
      key<&WindSpec::name>("name", "for changing it from a program; unique", {.optional = true}),
      key<&WindSpec::body>("body", "what it blows at: its triangles, or the skin of its tetrahedra",
                           {.required = true}),
      key<&WindSpec::velocity>("velocity", "of the air; zero: still air, null: none",
                               {.unit = "m/s", .required = true}),
      key<&WindSpec::drag>("drag", "density of the air times a coefficient of shape",
                           {.unit = "kg/m^3", .range = at_least(0)}),
      key<&WindSpec::active>("active", "whether it blows"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<ColliderSpec>() {
  static const std::vector<Key> keys = {
      key<&ColliderSpec::name>("name", "unique among bodies and colliders; null: none", {.optional = true}),
      key<&ColliderSpec::shape>("shape", "its kind", {.required = true, .choices = collider_shapes}),
      key<&ColliderSpec::normal>("normal", of_shapes("normal")),
      key<&ColliderSpec::size>("size", of_shapes("size"), {.unit = "m", .range = above(0)}),
      key<&ColliderSpec::radius>("radius", of_shapes("radius"), {.unit = "m", .range = above(0)}),
      key<&ColliderSpec::length>("length", of_shapes("length"), {.unit = "m", .range = above(0)}),
      key<&ColliderSpec::mesh>("mesh", of_shapes("mesh")),
      key<&ColliderSpec::position>("position", "of its middle, of a point on a plane", {.unit = "m"}),
      key<&ColliderSpec::rotation>("rotation", "about that point: axis times angle", {.unit = "degrees"}),
      key<&ColliderSpec::friction>("friction", "Coulomb's coefficient; with a body, the geometric mean of both",
                                   {.range = at_least(0)}),
      key<&ColliderSpec::restitution>("restitution", "rebound speed over impact speed; with a body, the lesser",
                                      {.range = between(0, 1)}),
      key<&ColliderSpec::active>("active", "whether it is there"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<ContactSpec>() {
  static const std::vector<Key> keys = {
      key<&ContactSpec::bodies>("bodies", "whether bodies touch each other"),
      key<&ContactSpec::self>("self", "whether bodies touch themselves"),
      key<&ContactSpec::stiffness>("stiffness", "of a vertex that touches, in units of mass / step^2",
                                   {.range = above(0)}),
      key<&ContactSpec::response>("response", "what pushes back: a part of the energy, a force, or planes"),
      key<&ContactSpec::repulsion>("repulsion", "k_col of response explicit, in units of mass / (step^2 edge)",
                                   {.range = above(0)}),
      key<&ContactSpec::pairs>("pairs", "exceptions for two bodies, or a body and a collider"),
  };
  return keys;
}

template <>
const std::vector<Key>& keys_of<ContactPairSpec>() {
  static const std::vector<Key> keys = {
      key<&ContactPairSpec::a>("a", "a body or a collider", {.required = true}),
      key<&ContactPairSpec::b>("b", "another; the same body: its contact with itself", {.required = true}),
      key<&ContactPairSpec::friction>("friction", "between the two; null: as their surfaces say",
                                      {.range = at_least(0)}),
      key<&ContactPairSpec::restitution>("restitution", "between the two; null: as their surfaces say",
                                         {.range = between(0, 1)}),
      key<&ContactPairSpec::touch>("touch", "false: they pass through each other"),
  };
  return keys;
}

namespace {

/// Of a registry that programs may add to.
class NamesOfRegistry {
 public:
  template <class Infos>
  const std::vector<std::string>& of(const Infos& infos) {
    return following(names_, mutex_, infos, [](const auto& info) { return info.name; });
  }

 private:
  std::vector<std::string> names_;
  std::mutex mutex_;
};

}  // namespace

const std::vector<std::string>& collider_shapes() {
  static NamesOfRegistry names;
  return names.of(shape_infos());
}

const std::vector<std::string>& generator_names() {
  static const auto names = names_of(mesh_generators(), [](const GeneratorInfo& g) { return g.name; });
  return names;
}
const std::vector<std::string>& potential_names() {
  static NamesOfRegistry names;
  return names.of(potential_infos());
}
const std::vector<std::string>& method_names() {
  static NamesOfRegistry names;
  return names.of(method_infos());
}
const std::vector<std::string>& combined_method_names() {
  static NamesOfRegistry names;
  return names.of(combined_methods());
}
std::string combined_words() {
  std::string out = "METHOD+";
  for (const std::string& name : post_step_names()) out += (out.back() == '+' ? "" : "|") + name;
  return out + " with a method that holds nothing";
}
const GeneratorInfo* find_generator(const std::string& name) {
  for (const GeneratorInfo& generator : mesh_generators())
    if (generator.name == name) return &generator;
  return nullptr;
}

const PotentialInfo* find_potential_info(const std::string& type) {
  for (const PotentialInfo& potential : potential_infos())
    if (potential.name == type) return &potential;
  return nullptr;
}

const ParameterInfo* find_parameter(const std::vector<ParameterInfo>& parameters, const std::string& name) {
  for (const ParameterInfo& parameter : parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

}  // namespace verve
