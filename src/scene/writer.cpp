#include "model/scene_keys.h"
#include "scene/document.h"

namespace verve {

namespace {

Json json_of(bool value) { return Json(value); }
Json json_of(double value) { return Json(value); }
Json json_of(const Vec3& value) { return Json::array({Json(value.x), Json(value.y), Json(value.z)}); }

Json json_of(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.items.emplace_back(value);
  return out;
}

template <class T>
Json json_of(const Track<T>& track) {
  if (track.empty()) return {};
  if (track.is_constant() && track.keys[0].value) return json_of(*track.keys[0].value);
  Json keys = Json::array();
  for (const auto& key : track.keys)
    keys.items.push_back(Json::array({Json(key.time), key.value ? json_of(*key.value) : Json()}));
  Json out = Json::object();
  out.set("keys", std::move(keys));
  if (!std::is_same_v<T, bool>) out.set("interpolation", choice_name(track.interpolation));
  return out;
}

/// Appends the members that are not in the tables.
void extras(const MeshSpec& mesh, Json& out) {
  const GeneratorInfo* generator = find_generator(mesh.generator);
  if (generator)
    for (const ParameterInfo& info : generator->parameters) {
      const auto given = mesh.parameters.find(info.name);
      if (given == mesh.parameters.end() && info.optional) continue;
      const std::vector<double>& values = given == mesh.parameters.end() ? info.default_value : given->second;
      out.set(info.name, !info.list && values.size() == 1 ? Json(values[0]) : json_of(values));
    }
}
void extras(const PotentialSpec& potential, Json& out) {
  const PotentialInfo* known = find_potential_info(potential.type);
  if (!known) return;
  // an optional parameter may stand for another one: defaults are filled in only when none is given
  bool replaced = false;
  for (const ParameterInfo& info : known->parameters)
    replaced =
        replaced || (info.optional && (potential.parameters.count(info.name) || potential.arrays.count(info.name)));
  for (const ParameterInfo& info : known->parameters) {
    const size_t size = info.default_value.size();
    const auto given = potential.parameters.find(info.name);
    const auto array = potential.arrays.find(info.name);
    if (given != potential.parameters.end()) {
      out.set(info.name, json_of(given->second));
    } else if (array != potential.arrays.end() && size > 1 && array->second.size() > size) {
      Json list = Json::array();
      for (size_t i = 0; i + size <= array->second.size(); i += size)
        list.items.push_back(json_of(std::vector<double>(&array->second[i], &array->second[i] + size)));
      out.set(info.name, std::move(list));
    } else if (array != potential.arrays.end()) {
      out.set(info.name, json_of(array->second));
    } else if (!info.optional && !replaced) {
      out.set(info.name, size == 1 ? Json(info.default_value[0]) : json_of(info.default_value));
    }
  }
}
template <class T>
void extras(const T&, Json&) {}

struct Writer {
  const Key& key;

  Json operator()(FormatVersion) const { return Json(scene_format_version); }
  Json operator()(SchemaLink) const { return {}; }
  Json operator()(MaterialName) const { return {}; }
  Json operator()(WholeOrAuto value) const { return *value.value == 0 ? Json("auto") : Json(*value.value); }
  Json operator()(const double* value) const { return Json(*value); }
  Json operator()(const int* value) const { return Json(*value); }
  Json operator()(const std::uint64_t* value) const { return Json(double(*value)); }
  Json operator()(const bool* value) const { return Json(*value); }
  Json operator()(const Vec3* value) const { return json_of(*value); }
  Json operator()(const std::optional<double>* value) const { return *value ? Json(**value) : Json(); }
  Json operator()(const std::optional<MeshSpec>* value) const { return *value ? to_json(**value) : Json(); }
  Json operator()(const std::optional<ContactSpec>* value) const { return *value ? to_json(**value) : Json(); }
  Json operator()(const std::optional<int>* value) const { return *value ? Json(**value) : Json(); }
  Json operator()(const std::optional<Vec3>* value) const { return *value ? json_of(**value) : Json(); }
  Json operator()(const std::string* value) const {
    return key.info.optional && value->empty() ? Json() : Json(*value);
  }
  Json operator()(const std::filesystem::path* value) const {
    // absolute, so that the scene runs from wherever it is put
    std::error_code failed;
    const std::filesystem::path full = std::filesystem::absolute(*value, failed);
    return value->empty() ? Json() : Json((failed ? *value : full).lexically_normal().generic_string());
  }
  Json operator()(const Choice& choice) const {
    const int number = choice.get(choice.at);
    return number < 0 ? Json() : Json(choice.names()[size_t(number)]);
  }
  Json operator()(const std::optional<std::array<Vec3, 2>>* value) const {
    return *value ? Json::array({json_of((**value)[0]), json_of((**value)[1])}) : Json();
  }
  Json operator()(const std::optional<std::pair<Vec3, double>>* value) const {
    if (!*value) return {};
    Json out = Json::object();
    out.set("center", json_of((*value)->first));
    out.set("radius", Json((*value)->second));
    return out;
  }
  template <class T>
  Json operator()(const Track<T>* value) const {
    return json_of(*value);
  }
  Json operator()(const std::vector<int>* value) const {
    Json out = Json::array();
    for (const int item : *value) out.items.emplace_back(item);
    return out;
  }
  Json operator()(const std::vector<std::vector<int>>* value) const {
    Json out = Json::array();
    for (const std::vector<int>& item : *value) out.items.push_back((*this)(&item));
    return out;
  }
  Json operator()(const std::optional<Selection>* value) const { return *value ? to_json(**value) : Json(); }
  Json operator()(const std::vector<Vec3>* value) const {
    Json out = Json::array();
    for (const Vec3& item : *value) out.items.push_back(json_of(item));
    return out;
  }
  template <size_t n>
  Json operator()(const std::vector<std::array<int, n>>* value) const {
    Json out = Json::array();
    for (const auto& element : *value) {
      Json vertices = Json::array();
      for (const int vertex : element) vertices.items.emplace_back(vertex);
      out.items.push_back(std::move(vertices));
    }
    return out;
  }
  Json operator()(const std::shared_ptr<const Mesh>* value) const { return *value ? to_json(**value) : Json(); }
  template <class T>
  requires has_keys<T> Json operator()(const T* value) const { return to_json(*value); }
  template <class T>
  requires has_keys<T> Json operator()(const std::vector<T>* value) const {
    Json out = Json::array();
    for (const T& item : *value) out.items.push_back(to_json(item));
    return out;
  }
};

void write_keys(const std::vector<Key>& keys, const void* owner, Json& out) {
  for (const Key& key : keys) {
    const Member kind = key.member(const_cast<void*>(owner));
    // not of the scene: for editors, and what presets stand for is written out
    if (std::holds_alternative<SchemaLink>(kind) || std::holds_alternative<MaterialName>(kind)) continue;
    visit_member(key, owner, [&](auto member) { out.set(key.info.name, Writer{key}(member)); });
  }
}

}  // namespace

template <class T>
Json to_json(const T& owner) {
  Json out = Json::object();
  write_keys(keys_of<T>(), &owner, out);
  extras(owner, out);
  return out;
}
template Json to_json(const Scene&);
template Json to_json(const SolverSpec&);
template Json to_json(const BodySpec&);
template Json to_json(const MeshSpec&);
template Json to_json(const Mesh&);
template Json to_json(const Placement&);
template Json to_json(const PotentialSpec&);
template Json to_json(const PoseSpec&);
template Json to_json(const InitialState&);
template Json to_json(const Dials&);
template Json to_json(const Selection&);
template Json to_json(const AnchorSpec&);
template Json to_json(const ForceSpec&);
template Json to_json(const PushSpec&);
template Json to_json(const WindSpec&);
template Json to_json(const ColliderSpec&);
template Json to_json(const ContactSpec&);
template Json to_json(const ContactPairSpec&);

std::string write_scene(const Scene& scene) { return write_json(to_json(scene)) + "\n"; }

}  // namespace verve
