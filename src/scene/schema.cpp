// The grammar for other readers: a JSON schema (draft 7) for editors and validators, a key table for people.
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "model/scene_keys.h"
#include "scene/document.h"
#include "verve/material.h"
#include "verve/registry.h"

namespace verve {

namespace {

template <class... Members>
Json make(Members&&... members) {
  Json out = Json::object();
  (out.set(members.first, std::move(members.second)), ...);
  return out;
}
std::pair<std::string, Json> with(const char* key, Json value) { return {key, std::move(value)}; }

Json texts(const std::vector<std::string>& names) {
  Json out = Json::array();
  for (const std::string& name : names) out.items.emplace_back(name);
  return out;
}
Json reference(const std::string& name) { return make(with("$ref", "#/definitions/" + name)); }
Json or_null(Json schema) { return make(with("anyOf", Json::array({std::move(schema), make(with("type", "null"))}))); }

Json number(const ParameterInfo& info, bool integer = false) {
  Json out = make(with("type", integer || info.integer ? "integer" : "number"));
  if (std::isfinite(info.minimum)) out.set(info.exclusive_minimum ? "exclusiveMinimum" : "minimum", Json(info.minimum));
  if (std::isfinite(info.maximum)) out.set(info.exclusive_maximum ? "exclusiveMaximum" : "maximum", Json(info.maximum));
  return out;
}
Json list(Json item) { return make(with("type", "array"), with("items", std::move(item))); }
Json list(Json item, int count) {
  return make(with("type", "array"), with("items", std::move(item)), with("minItems", count), with("maxItems", count));
}
Json keyframes(Json value, const std::vector<std::string>& interpolations) {
  Json pair =
      make(with("type", "array"), with("items", Json::array({make(with("type", "number")), or_null(std::move(value))})),
           with("minItems", 2), with("maxItems", 2));
  Json keys = list(std::move(pair));
  keys.set("minItems", 1);
  return make(with("type", "object"),
              with("properties", make(with("keys", std::move(keys)),
                                      with("interpolation", make(with("enum", texts(interpolations)))))),
              with("required", Json::array({"keys"})), with("additionalProperties", false));
}
Json track(const Json& value, const std::vector<std::string>& interpolations) {
  return make(with("anyOf", Json::array({value, keyframes(value, interpolations), make(with("type", "null"))})));
}
Json parameter(const ParameterInfo& info) {
  if (info.list) return make(with("anyOf", Json::array({number(info), list(number(info))})));
  return info.default_value.size() > 1 ? list(number(info), int(info.default_value.size())) : number(info);
}

/// What a key takes: as a schema, and in words.
struct Form {
  Json schema;
  std::string words;
};

struct FormOf {
  const Key& key;

  std::string words(size_t size, bool integer = false) const {
    ParameterInfo info = key.info;
    info.default_value.resize(size);
    info.integer = integer;
    const std::string out = describe_expected(info);
    return out.compare(0, 2, "a ") == 0 ? out.substr(2) : out;
  }
  Form nullable(Form form) const { return {or_null(std::move(form.schema)), form.words + ", or null"}; }
  Form choice(const std::vector<std::string>& names) const {
    std::string words = "one of ";
    for (size_t i = 0; i < names.size(); ++i) words += (i ? ", " : "") + names[i];
    return {make(with("enum", texts(names))), words};
  }

  Form operator()(FormatVersion) const {
    return {make(with("const", scene_format_version)), std::to_string(scene_format_version)};
  }
  Form operator()(SchemaLink) const { return {make(with("type", "string")), "text"}; }
  Form operator()(MaterialName) const { return nullable(choice(key.choices())); }
  Form operator()(WholeOrAuto) const {
    return {make(with("anyOf", Json::array({make(with("const", "auto")), number(key.info, true)}))),
            "\"auto\", or a " + words(1, true)};
  }
  Form operator()(const double*) const { return {number(key.info), words(1)}; }
  Form operator()(const int*) const { return {number(key.info, true), words(1, true)}; }
  Form operator()(const std::uint64_t*) const { return {number(key.info, true), "whole number >= 0"}; }
  Form operator()(const bool*) const { return {make(with("type", "boolean")), "true or false"}; }
  Form operator()(const Vec3*) const { return {list(number(key.info), 3), words(3)}; }
  template <class T>
  Form operator()(const std::optional<T>*) const {
    return nullable((*this)(static_cast<const T*>(nullptr)));
  }
  Form operator()(const std::array<Vec3, 2>*) const {
    return {list(list(number(key.info), 3), 2), "[[x, y, z], [x, y, z]] [" + key.info.unit + "]"};
  }
  Form operator()(const std::pair<Vec3, double>*) const {
    Json center = list(make(with("type", "number")), 3);
    return {make(with("type", "object"),
                 with("properties", make(with("center", std::move(center)), with("radius", number(key.info)))),
                 with("required", Json::array({"center", "radius"})), with("additionalProperties", false)),
            "object [" + key.info.unit + "]"};
  }
  Form operator()(const std::string*) const {
    Form form = key.choices ? choice(key.choices()) : Form{make(with("type", "string")), "text"};
    if (key.also) {
      std::vector<std::string> all = key.choices();
      all.insert(all.end(), key.also().begin(), key.also().end());
      form = {choice(all).schema, form.words + ", or " + key.also_words};
    }
    if (key.choices && key.choices().empty()) form.schema = make(with("type", "string"));
    return key.info.optional ? nullable(std::move(form)) : form;
  }
  Form operator()(const std::filesystem::path*) const { return nullable({make(with("type", "string")), "text"}); }
  Form operator()(const Choice& c) const { return key.info.optional ? nullable(choice(c.names())) : choice(c.names()); }
  Form operator()(const std::vector<int>*) const {
    return {list(number(key.info, true)), "list of whole numbers >= 0"};
  }
  Form operator()(const std::vector<std::vector<int>>*) const {
    return {list(list(number(key.info, true))), "list of lists of whole numbers >= 0"};
  }
  Form operator()(const std::vector<Vec3>*) const {
    return {list(list(number(key.info), 3)), "list of [x, y, z] [" + key.info.unit + "]"};
  }
  template <size_t n>
  Form operator()(const std::vector<std::array<int, n>>*) const {
    return {list(list(number(key.info, true), int(n))), "list of " + words(n, true)};
  }
  Form operator()(const Track<double>*) const {
    return {track(number(key.info), choice_names<Interpolation>()), words(1) + ", or keyframes"};
  }
  Form operator()(const Track<Vec3>*) const {
    return {track(list(number(key.info), 3), choice_names<Interpolation>()), words(3) + ", or keyframes"};
  }
  Form operator()(const Track<bool>*) const {
    return {track(make(with("type", "boolean")), {"step"}), "true or false, or keyframes"};
  }
  Form operator()(const SolverSpec*) const { return {reference("solver"), "object, see [solver](#solver)"}; }
  Form operator()(const Selection*) const { return {reference("selection"), "object, see [selections](#selections)"}; }
  Form operator()(const MeshSpec*) const { return {reference("mesh"), "object, see [mesh](#mesh)"}; }
  Form operator()(const Placement*) const { return {reference("place"), "object, see [place](#place)"}; }
  Form operator()(const InitialState*) const { return {reference("initial"), "object, see [initial](#initial)"}; }
  Form operator()(const Dials*) const { return {reference("dials"), "object, see [dials](#dials)"}; }
  Form operator()(const std::shared_ptr<const Mesh>*) const {
    return {or_null(reference("data")), "object, see [data](#data)"};
  }
  Form operator()(const std::vector<BodySpec>*) const {
    Json bodies = list(reference("body"));
    bodies.set("minItems", 1);
    return {bodies, "list, see [bodies](#bodies)"};
  }
  Form operator()(const std::vector<PotentialSpec>*) const {
    return {list(reference("potential")), "list, see [potentials](#potentials)"};
  }
  Form operator()(const std::vector<MeshSpec>*) const {
    return {list(reference("mesh")), "list of objects, see [mesh](#mesh)"};
  }
  Form operator()(const std::vector<PoseSpec>*) const {
    return {list(reference("pose")), "list of objects, see [poses](#poses)"};
  }
  Form operator()(const std::vector<AnchorSpec>*) const {
    return {list(reference("anchor")), "list, see [anchors](#anchors)"};
  }
  Form operator()(const std::vector<ForceSpec>*) const {
    return {list(reference("force")), "list, see [forces](#forces)"};
  }
  Form operator()(const std::vector<PushSpec>*) const {
    return {list(reference("push")), "list, see [pushes](#pushes)"};
  }
  Form operator()(const std::vector<WindSpec>*) const { return {list(reference("wind")), "list, see [winds](#winds)"}; }
  Form operator()(const std::vector<ColliderSpec>*) const {
    return {list(reference("collider")), "list, see [colliders](#colliders)"};
  }
  Form operator()(const std::optional<ContactSpec>*) const {
    return {or_null(reference("contact")), "object, see [contact](#contact)"};
  }
  Form operator()(const std::vector<ContactPairSpec>*) const {
    return {list(reference("pair")), "list, see [pairs](#pairs)"};
  }
};

Form form_of(const Key& key, const void* owner) {
  Form form;
  visit_member(key, owner, [&](auto member) { form = FormOf{key}(member); });
  return form;
}
template <class T>
Form form_of(const Key& key) {
  const T owner{};
  return form_of(key, &owner);
}

std::string described(const std::string& help, const std::string& unit) {
  return unit.empty() || help.find('[') != std::string::npos ? help : help + " [" + unit + "]";
}

/// The properties of T's own keys; required ones are appended to `required`.
template <class T>
Json properties(Json& required) {
  const Json defaults = to_json(T{});
  Json out = Json::object();
  for (const Key& key : keys_of<T>()) {
    Json schema = form_of<T>(key).schema;
    if (schema.find("$ref") == nullptr) {  // draft 7 ignores whatever stands beside a reference
      schema.set("description", described(key.info.help, key.info.unit));
      const Json* value = defaults.find(key.info.name);
      if (value && !key.required && !value->is(Json::Kind::null)) schema.set("default", *value);
    }
    out.set(key.info.name, std::move(schema));
    if (key.required) required.items.emplace_back(key.info.name);
  }
  return out;
}

Json closed(Json properties, Json required) {
  Json out = make(with("type", "object"), with("properties", std::move(properties)));
  if (!required.items.empty()) out.set("required", std::move(required));
  out.set("additionalProperties", false);
  return out;
}
template <class T>
Json object_schema() {
  Json required = Json::array();
  Json own = properties<T>(required);
  return closed(std::move(own), std::move(required));
}

void add_parameters(const std::vector<ParameterInfo>& parameters, bool may_change, Json& properties) {
  for (const ParameterInfo& info : parameters) {
    Json schema = or_null(parameter(info));
    if (may_change && info.default_value.size() > 1) {
      Json one = parameter(info);
      schema = make(with("anyOf", Json::array({one, list(one), make(with("type", "null"))})));
    } else if (may_change && info.integer) {
      schema = track(number(info), {"step"});
    } else if (may_change) {
      schema = track(number(info), choice_names<Interpolation>());
      for (JsonMember& member : schema.members)
        if (member.key == "anyOf") member.value.items.push_back(list(number(info)));
    }
    schema.set("description", described(info.help, info.unit));
    if (!info.optional && !info.default_value.empty()) {
      Json value = Json::array();
      for (const double v : info.default_value) value.items.emplace_back(v);
      schema.set("default", value.items.size() == 1 && !info.list ? value.items[0] : value);
    }
    properties.set(info.name, std::move(schema));
  }
}

Json mesh_schema() {
  Json variants = Json::array();
  const auto variant = [&](const std::string& source, const std::string& description) -> Json {
    Json ignored = Json::array();
    Json own = properties<MeshSpec>(ignored);
    for (const char* other : {"generator", "file", "data"})
      if (source != other) own.set(other, make(with("type", "null")));
    if (source == "file") own.set("file", make(with("type", "string"), with("description", description)));
    if (source == "data") own.set("data", reference("data"));
    return own;
  };
  for (const GeneratorInfo& generator : mesh_generators()) {
    Json own = variant("generator", "");
    own.set("generator", make(with("const", generator.name), with("description", generator.help)));
    add_parameters(generator.parameters, false, own);
    variants.items.push_back(closed(std::move(own), Json::array({"generator"})));
  }
  variants.items.push_back(closed(variant("file", "a mesh file, relative to the scene file"), Json::array({"file"})));
  variants.items.push_back(closed(variant("data", ""), Json::array({"data"})));
  return make(with("anyOf", std::move(variants)));
}

Json potential_schema() {
  Json variants = Json::array();
  for (const PotentialInfo& potential : potential_infos()) {
    Json ignored = Json::array();
    Json own = properties<PotentialSpec>(ignored);
    own.set("type", make(with("const", potential.name), with("description", potential.help)));
    if (!potential.takes_groups) own.set("groups", make(with("type", "array"), with("maxItems", 0)));
    if (!potential.takes_examples)
      for (const char* poses : {"examples", "poses"}) own.set(poses, make(with("type", "array"), with("maxItems", 0)));
    add_parameters(potential.parameters, true, own);
    variants.items.push_back(closed(std::move(own), Json::array({"type"})));
  }
  return make(with("anyOf", std::move(variants)));
}

std::string row(const std::string& key, const std::string& value, const std::string& standard,
                const std::string& help) {
  return "| `" + key + "` | " + value + " | " + standard + " | " + help + " |\n";
}
const char* const table_head = "| key | value | default | meaning |\n|---|---|---|---|\n";

template <class T>
void key_table(const std::string& heading, const std::string& intro, std::string& out) {
  const Json defaults = to_json(T{});
  out += "### " + heading + "\n\n" + intro + "\n\n" + table_head;
  for (const Key& key : keys_of<T>()) {
    const Json* value = defaults.find(key.info.name);
    std::string shown = key.required ? "required" : "";
    if (!key.required && value && !value->is(Json::Kind::object)) shown = "`" + write_json(*value) + "`";
    out += row(key.info.name, form_of<T>(key).words, shown, key.info.help);
  }
  out += "\n";
}

void parameter_table(const std::string& name, const std::string& help, const std::vector<ParameterInfo>& parameters,
                     bool may_change, std::string& out) {
  out += "**`" + name + "`**: " + help + "\n\n";
  if (parameters.empty()) return;
  out += table_head;
  for (const ParameterInfo& info : parameters) {
    std::string words = describe_expected(info);
    if (words.compare(0, 2, "a ") == 0) words = words.substr(2);
    out += row(info.name,
               words + (!may_change                     ? ""
                        : info.default_value.size() > 1 ? ", or a list"
                                                        : ", keyframes, or a list"),
               info.optional ? "" : "`" + format_numbers(info.default_value) + "`", info.help);
  }
  out += "\n";
}

}  // namespace

std::string scene_schema() {
  Json scene = object_schema<Scene>();
  Json out = make(with("$schema", "http://json-schema.org/draft-07/schema#"), with("title", "Verve scene"),
                  with("description",
                       "What docs/scenes.md describes. Comments are allowed in scene files but unknown to JSON: "
                       "strip them before validating."));
  for (JsonMember& member : scene.members) out.set(member.key, std::move(member.value));
  out.set(
      "definitions",
      make(with("solver", object_schema<SolverSpec>()), with("body", object_schema<BodySpec>()),
           with("mesh", mesh_schema()), with("data", object_schema<Mesh>()), with("place", object_schema<Placement>()),
           with("potential", potential_schema()), with("pose", object_schema<PoseSpec>()),
           with("initial", object_schema<InitialState>()), with("dials", object_schema<Dials>()),
           with("selection", object_schema<Selection>()), with("anchor", object_schema<AnchorSpec>()),
           with("force", object_schema<ForceSpec>()), with("push", object_schema<PushSpec>()),
           with("wind", object_schema<WindSpec>()), with("collider", object_schema<ColliderSpec>()),
           with("contact", object_schema<ContactSpec>()), with("pair", object_schema<ContactPairSpec>())));
  return write_json(out) + "\n";
}

std::string scene_reference() {
  std::string out;
  key_table<Scene>("scene", "The whole file is one object.", out);
  key_table<SolverSpec>("solver", "A method is a point on three axes; an axis given as well overrides the method's.",
                        out);
  out += "| method | integrator | minimizer | conservation | meaning |\n|---|---|---|---|---|\n";
  for (const MethodInfo& method : method_infos())
    out += "| `" + method.name + "` | " + method.integrator + " | " + method.minimizer + " | " + method.conservation +
           " | " + method.help + " |\n";
  out += "\n";
  key_table<BodySpec>("bodies", "Each is an object with these keys.", out);
  key_table<MeshSpec>("mesh",
                      "One of `generator`, `file` and `data`. The parameters of a generator are written beside it: "
                      "`{\"generator\": \"ball\", \"radius\": 0.3}`.",
                      out);
  for (const GeneratorInfo& generator : mesh_generators())
    parameter_table(generator.name, generator.help, generator.parameters, false, out);
  key_table<Mesh>("data", "A mesh written out, as `verve simulate` does for meshes made by a program.", out);
  key_table<Placement>("place", "Applied to the mesh in this order.", out);
  key_table<PotentialSpec>(
      "potentials",
      "The parameters are written beside the type: `{\"type\": \"tet_strain\", \"mu\": 1e4}`. Where elements differ, a "
      "list has a value for each, in the order of the mesh.",
      out);
  for (const PotentialInfo& potential : potential_infos())
    parameter_table(potential.name, potential.help + " (acts on " + potential.elements + ")", potential.parameters,
                    true, out);
  key_table<PoseSpec>("poses",
                      "Each is an object with these keys, applied in this order about the centre of mass of the rest "
                      "shape.",
                      out);
  key_table<InitialState>("initial", "Applied in this order; deformations act about the centre of mass.", out);
  key_table<Dials>("dials", "Null, or a keyframe of null, leaves a quantity to be conserved.", out);
  key_table<Selection>("selections",
                       "Which vertices: all that any of these keys selects, in coordinates of the placed rest shape.",
                       out);
  key_table<AnchorSpec>("anchors", "Springs of rest length zero.", out);
  key_table<ForceSpec>("forces", "Each is an object with these keys.", out);
  key_table<PushSpec>("pushes", "Each is an object with these keys.", out);
  key_table<WindSpec>("winds", "Each is an object with these keys.", out);
  key_table<ColliderSpec>("colliders", "Each is an object with these keys; those of other shapes are not looked at.",
                          out);
  out += "| shape | what it is | keys |\n|---|---|---|\n";
  for (const ShapeInfo& shape : shape_infos()) {
    out += "| `" + shape.name + "` | " + shape.help + " |";
    for (const ShapeKey& key : shape.keys)
      out += std::string(&key == &shape.keys.front() ? " `" : ", `") + key.name + "`";
    out += " |\n";
  }
  out += "\n";
  key_table<ContactSpec>("contact", "An empty object turns contact between bodies on.", out);
  key_table<ContactPairSpec>("pairs", "Each is an object with these keys.", out);
  return out;
}

std::string material_reference() {
  const auto short_number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return std::string(text);
  };
  std::string out;
  for (const int dimension : {3, 2, 1}) {
    const bool solid = dimension == 3;
    out += solid ? "| solids | density [kg/m³] | E [Pa] | ν | half-life [s] | friction | restitution | loss factor |\n"
                   "|---|---|---|---|---|---|---|---|\n"
                 : std::string("| ") +
                       (dimension == 2 ? "sheets | density [kg/m²] | E [Pa] | in bodies [N/m]"
                                       : "ropes | density [kg/m] | E [Pa] | in bodies [N]") +
                       " | ν | bending [N m" + (dimension == 2 ? "" : "²") +
                       "] | thickness [mm] | half-life [s] | friction | restitution | loss factor |\n"
                       "|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const MaterialInfo& m : material_infos()) {
      if (m.dimension != dimension) continue;
      out += "| `" + m.name + "`: " + m.help + " | " + short_number(m.body_density()) + " | " + short_number(m.young);
      if (!solid) out += " | " + short_number(m.body_young());
      out += " | " + short_number(m.poisson);
      if (!solid) out += " | " + short_number(m.bending) + " | " + short_number(1000 * m.thickness);
      for (const double value : {m.half_life, m.friction, m.restitution, m.loss}) out += " | " + short_number(value);
      out += " |\n";
    }
    out += "\n";
  }
  out += "| material | sources |\n|---|---|\n";
  for (const MaterialInfo& m : material_infos()) out += "| `" + m.name + "` | " + m.source + " |\n";
  return out;
}

}  // namespace verve
