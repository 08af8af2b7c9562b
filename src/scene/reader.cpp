#include <cmath>
#include <functional>
#include <set>

#include "model/scene_keys.h"
#include "scene/document.h"
#include "verve/material.h"

namespace verve {

namespace {

using Kind = Json::Kind;

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

class Reader {
 public:
  Reader(const std::filesystem::path& directory, std::vector<Problem>& problems)
      : directory_(directory), problems_(problems) {}

  template <class T>
  void object(const Json& json, T& out, const std::string& path) {
    object(json, out, path, {}, [](const JsonMember&, const std::string&) { return false; });
  }

 private:
  void problem(Place place, const std::string& path, std::string what, bool value_lost = false) {
    problems_.push_back({place, path, std::move(what), value_lost});
  }
  void wrong(const Json& json, const std::string& path, const std::string& expected) {
    if (!json.is(Kind::invalid))
      problem(json.place, path, "found " + describe_found(json) + ", expected " + expected, true);
  }
  void unknown(const JsonMember& member, const std::string& path, const std::vector<std::string>& known) {
    problem(member.place, path, "unknown key, " + expected_one_of(member.key, known));
  }

  /// Members that the table does not know go to `extra(member, path)`, which says whether it took them.
  using Extra = std::function<bool(const JsonMember&, const std::string& path)>;
  template <class T>
  void object(const Json& json, T& out, const std::string& path, const std::vector<std::string>& extra_names,
              const Extra& extra) {
    object(json, keys_of<T>(), &out, path, extra_names, extra);
  }
  void object(const Json& json, const std::vector<Key>& keys, void* out, const std::string& path,
              const std::vector<std::string>& extra_names, const Extra& extra) {
    std::vector<std::string> names;
    for (const Key& key : keys) names.push_back(key.info.name);
    names.insert(names.end(), extra_names.begin(), extra_names.end());
    if (!json.is(Kind::object)) return wrong(json, path, "an object with keys " + list_of(names));
    std::set<std::string_view> seen;
    for (const JsonMember& member : json.members) {
      const std::string place = join_path(path, member.key);
      if (!seen.insert(member.key).second) {
        problem(member.place, place, "found a second time, expected each key once");
        continue;
      }
      const Key* known = nullptr;
      for (const Key& key : keys)
        if (key.info.name == member.key) known = &key;
      if (known)
        visit_member(*known, out, [&](auto m) { read(*known, member.value, m, place); });
      else if (!extra(member, place))
        unknown(member, place, names);
    }
    for (const Key& key : keys)
      if (key.required && !json.find(key.info.name))
        problem(json.place, join_path(path, key.info.name), "found no such key, expected one (" + key.info.help + ")",
                true);
  }

  // Plain values: true when read.

  static std::string expected(ParameterInfo info, size_t size, bool integer = false) {
    info.default_value.resize(size);
    info.integer = info.integer || integer;
    return describe_expected(info);
  }
  bool whole(const ParameterInfo& info, const Json& json, double most, double& out, const std::string& path,
             const std::string& also = "") {
    if (json.is(Kind::number) && json.number == std::floor(json.number) && std::abs(json.number) <= most) {
      out = json.number;
      return true;
    }
    wrong(json, path, expected(info, 1, true) + also);
    return false;
  }
  bool whole(const ParameterInfo& info, const Json& json, int& out, const std::string& path,
             const std::string& also = "") {
    double value = 0;
    if (!whole(info, json, std::numeric_limits<int>::max(), value, path, also)) return false;
    out = int(value);
    return true;
  }
  bool plain(const ParameterInfo& info, const Json& json, double& out, const std::string& path,
             const std::string& also = "") {
    if (!json.is(Kind::number)) return wrong(json, path, expected(info, 1) + also), false;
    out = json.number;
    return true;
  }
  bool plain(const ParameterInfo& info, const Json& json, Vec3& out, const std::string& path,
             const std::string& also = "") {
    bool good = json.is(Kind::array) && json.items.size() == 3;
    for (size_t i = 0; good && i < 3; ++i) {
      if (json.items[i].is(Kind::invalid)) return false;
      good = json.items[i].is(Kind::number);
    }
    if (!good) return wrong(json, path, expected(info, 3) + also), false;
    out = {json.items[0].number, json.items[1].number, json.items[2].number};
    return true;
  }
  bool plain(const ParameterInfo&, const Json& json, bool& out, const std::string& path, const std::string& also = "") {
    if (!json.is(Kind::boolean)) return wrong(json, path, "true or false" + also), false;
    out = json.boolean;
    return true;
  }
  bool choice(const Json& json, const std::vector<std::string>& names, size_t& out, const std::string& path,
              const std::string& also = "") {
    for (out = 0; json.is(Kind::string) && out < names.size(); ++out)
      if (names[out] == json.text) return true;
    if (json.is(Kind::string))
      problem(json.place, path, "found " + describe_found(json) + ", " + expected_one_of(json.text, names), true);
    else
      wrong(json, path, "one of " + list_of(names) + also);
    return false;
  }

  template <class T>
  void track(const ParameterInfo& info, const Json& json, Track<T>& out, const std::string& path) {
    out = {};
    if (json.is(Kind::null)) return;
    if (!json.is(Kind::object)) {
      T value{};
      if (plain(info, json, value, path, " or {\"keys\": [[time, value], ...]}")) out = Track<T>(value);
      return;
    }
    const std::vector<std::string> names = {"keys", "interpolation"};
    for (size_t i = 0; i < json.members.size(); ++i) {
      const JsonMember& member = json.members[i];
      const std::string place = join_path(path, member.key);
      if (json.find(member.key) != &member.value) {
        problem(member.place, place, "found a second time, expected each key once");
      } else if (member.key == "interpolation") {
        static const std::vector<std::string> only_step = {"step"};
        const std::vector<std::string>& choices = std::is_same_v<T, bool> ? only_step : choice_names<Interpolation>();
        if (size_t n = 0; choice(member.value, choices, n, place) && choices[n] == "step")
          out.interpolation = Interpolation::step;
      } else if (member.key != "keys") {
        unknown(member, place, names);
      }
    }
    if (std::is_same_v<T, bool>) out.interpolation = Interpolation::step;
    const Json* keys = json.find("keys");
    if (!keys) {
      problem(json.place, join_path(path, "keys"), "found no such key, expected one ([[time, value], ...])", true);
      return;
    }
    if (!keys->is(Kind::array) || keys->items.empty())
      return wrong(*keys, join_path(path, "keys"), "a list of [time, value], at least one");
    for (size_t i = 0; i < keys->items.size(); ++i) {
      const Json& pair = keys->items[i];
      const std::string place = join_path(join_path(path, "keys"), i);
      typename Track<T>::Key key{};
      if (!pair.is(Kind::array) || pair.items.size() != 2) {
        wrong(pair, place, "[time, value]");
        continue;
      }
      ParameterInfo time;
      time.unit = "s";
      if (!plain(time, pair.items[0], key.time, join_path(place, 0))) continue;
      if (!pair.items[1].is(Kind::null)) {
        T value{};
        if (!plain(info, pair.items[1], value, join_path(place, 1), " or null")) continue;
        key.value = value;
      }
      out.keys.push_back(key);
    }
    // a key that could not be read would shift the numbers of those after it: no further word on this track
    if (out.keys.size() != keys->items.size()) problem({}, path, "", true);
  }

  // One overload per member type.

  void read(const Key&, const Json& json, FormatVersion, const std::string& path) {
    if (!json.is(Kind::number) || json.number != scene_format_version)
      wrong(json, path, std::to_string(scene_format_version) + ", the version of this format");
  }
  void read(const Key&, const Json& json, SchemaLink, const std::string& path) {
    if (!json.is(Kind::string)) wrong(json, path, "a text");
  }
  void read(const Key&, const Json&, MaterialName, const std::string&) {}  // before the rest of the body
  void read(const Key& key, const Json& json, WholeOrAuto out, const std::string& path) {
    if (json.is(Kind::string) && json.text == "auto")
      *out.value = 0;
    else
      whole(key.info, json, *out.value, path, " or \"auto\"");
  }
  void read(const Key& key, const Json& json, double* out, const std::string& path) {
    plain(key.info, json, *out, path);
  }
  void read(const Key& key, const Json& json, Vec3* out, const std::string& path) { plain(key.info, json, *out, path); }
  void read(const Key& key, const Json& json, bool* out, const std::string& path) { plain(key.info, json, *out, path); }
  template <class T>
  requires std::is_same_v<T, double> || std::is_same_v<T, Vec3>
  void read(const Key& key, const Json& json, std::optional<T>* out, const std::string& path) {
    out->reset();
    T value{};
    if (!json.is(Kind::null) && plain(key.info, json, value, path, " or null")) *out = value;
  }
  void read(const Key& key, const Json& json, int* out, const std::string& path) { whole(key.info, json, *out, path); }
  void read(const Key& key, const Json& json, std::optional<int>* out, const std::string& path) {
    out->reset();
    int value = 0;
    if (!json.is(Kind::null) && whole(key.info, json, value, path, " or null")) *out = value;
  }
  void read(const Key& key, const Json& json, std::uint64_t* out, const std::string& path) {
    double value = 0;
    if (!whole(key.info, json, key.info.maximum, value, path)) return;
    if (value < 0)
      wrong(json, path, expected(key.info, 1, true));
    else
      *out = std::uint64_t(value);
  }
  void read(const Key& key, const Json& json, std::string* out, const std::string& path) {
    out->clear();
    if (json.is(Kind::string))
      *out = json.text;
    else if (!(key.info.optional && json.is(Kind::null)))
      wrong(json, path,
            (key.choices ? "one of " + list_of(key.choices()) : "a text") + (key.info.optional ? " or null" : ""));
  }
  void read(const Key&, const Json& json, std::filesystem::path* out, const std::string& path) {
    out->clear();
    if (json.is(Kind::null)) return;
    if (!json.is(Kind::string) || json.text.empty()) return wrong(json, path, "the name of a mesh file");
    const std::filesystem::path file = json.text;
    *out = json.place.text == 0 ? (directory_ / file).lexically_normal() : file;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(*out, ignored)) {
      const std::string looked = *out == file ? "" : " (looked for " + out->string() + ")";
      problem(json.place, path, "found " + describe_found(json) + ", expected a file that exists" + looked);
    }
  }
  void read(const Key& key, const Json& json, const Choice& out, const std::string& path) {
    if (key.info.optional && json.is(Kind::null)) return out.set(out.at, -1);
    if (size_t n = 0; choice(json, out.names(), n, path, key.info.optional ? " or null" : ""))
      out.set(out.at, int(n));
  }
  void read(const Key& key, const Json& json, std::vector<int>* out, const std::string& path) {
    out->clear();
    if (!json.is(Kind::array)) return wrong(json, path, "a list of whole numbers");
    out->resize(json.items.size());
    for (size_t i = 0; i < json.items.size(); ++i) whole(key.info, json.items[i], (*out)[i], join_path(path, i));
  }
  void read(const Key& key, const Json& json, std::vector<std::vector<int>>* out, const std::string& path) {
    out->clear();
    if (!json.is(Kind::array)) return wrong(json, path, "a list of lists of whole numbers");
    out->resize(json.items.size());
    for (size_t i = 0; i < json.items.size(); ++i) read(key, json.items[i], &(*out)[i], join_path(path, i));
  }
  void read(const Key&, const Json& json, std::optional<Selection>* out, const std::string& path) {
    out->reset();
    if (!json.is(Kind::null)) object(json, out->emplace(), path);
  }
  void read(const Key& key, const Json& json, std::vector<Vec3>* out, const std::string& path) {
    if (!json.is(Kind::array)) return wrong(json, path, "a list of [x, y, z]");
    out->resize(json.items.size());
    for (size_t i = 0; i < json.items.size(); ++i)
      if (!plain(key.info, json.items[i], (*out)[i], join_path(path, i))) return;
  }
  template <size_t n>
  void read(const Key& key, const Json& json, std::vector<std::array<int, n>>* out, const std::string& path) {
    if (!json.is(Kind::array)) return wrong(json, path, "a list of elements, " + std::to_string(n) + " vertices each");
    out->resize(json.items.size());
    for (size_t i = 0; i < json.items.size(); ++i) {
      const Json& element = json.items[i];
      if (!element.is(Kind::array) || element.items.size() != n)
        return wrong(element, join_path(path, i), expected(key.info, n, true));
      for (size_t j = 0; j < n; ++j)
        if (!whole(key.info, element.items[j], (*out)[i][j], join_path(join_path(path, i), j))) return;
    }
  }
  void read(const Key& key, const Json& json, std::optional<std::array<Vec3, 2>>* out, const std::string& path) {
    out->reset();
    if (json.is(Kind::null)) return;
    if (!json.is(Kind::array) || json.items.size() != 2)
      return wrong(json, path, "[[x, y, z], [x, y, z]], lower and upper corner");
    std::array<Vec3, 2> box{};
    const bool lower = plain(key.info, json.items[0], box[0], join_path(path, 0));
    const bool upper = plain(key.info, json.items[1], box[1], join_path(path, 1));
    if (lower && upper) *out = box;
  }
  void read(const Key& key, const Json& json, std::optional<std::pair<Vec3, double>>* out, const std::string& path) {
    out->reset();
    if (json.is(Kind::null)) return;
    if (!json.is(Kind::object)) return wrong(json, path, key.info.help);
    const std::vector<std::string> names = {"center", "radius"};
    for (const JsonMember& member : json.members) {
      if (member.key != "center" && member.key != "radius")
        unknown(member, join_path(path, member.key), names);
      else if (json.find(member.key) != &member.value)
        problem(member.place, join_path(path, member.key), "found a second time, expected each key once");
    }
    std::pair<Vec3, double> sphere{};
    bool good = true;
    for (const std::string& name : names) {
      const Json* value = json.find(name);
      const std::string place = join_path(path, name);
      ParameterInfo info;
      info.unit = key.info.unit;
      if (!value)
        problem(json.place, place, "found no such key, expected one (" + key.info.help + ")", true), good = false;
      else
        good = (name == "center" ? plain(info, *value, sphere.first, place)
                                 : plain(key.info, *value, sphere.second, place)) &&
               good;
    }
    if (good) *out = sphere;
  }
  template <class T>
  void read(const Key& key, const Json& json, Track<T>* out, const std::string& path) {
    track(key.info, json, *out, path);
  }
  void read(const Key&, const Json& json, std::shared_ptr<const Mesh>* out, const std::string& path) {
    out->reset();
    if (json.is(Kind::null)) return;
    Mesh mesh;
    object(json, mesh, path);
    *out = std::make_shared<const Mesh>(std::move(mesh));
  }
  template <class T>
  requires has_keys<T>
  void read(const Key&, const Json& json, T* out, const std::string& path) { object(json, *out, path); }
  template <class T>
  requires has_keys<T>
  void read(const Key& key, const Json& json, std::vector<T>* out, const std::string& path) {
    if (!json.is(Kind::array)) return wrong(json, path, "a list of objects");
    out->clear();
    out->resize(json.items.size());  // one for each, also for those that cannot be read: positions stay true
    for (size_t i = 0; i < json.items.size(); ++i) read(key, json.items[i], &(*out)[i], join_path(path, i));
  }

  // Presets come first, so that whatever is given beside them wins.

  void read(const Key&, const Json& json, BodySpec* out, const std::string& path) {
    if (json.is(Kind::object)) material(json, *out, path);
    object(json, *out, path);
    const Json* dials = json.is(Kind::object) ? json.find("dials") : nullptr;
    const auto given = [&](const char* key) {
      const Json* value = dials->is(Kind::object) ? dials->find(key) : nullptr;
      return value && !value->is(Kind::null);
    };
    if (dials && given("damping") && !given("half_life")) out->dials.half_life = {};
  }

  void material(const Json& json, BodySpec& out, const std::string& path) {
    const Json* name = json.find("material");
    const bool named = name && !name->is(Kind::null);
    if (!named && json.find("potentials")) return;
    const std::string place = join_path(path, "material");
    const MaterialInfo* preset = nullptr;
    if (named) {
      size_t index = 0;
      if (!choice(*name, material_names(), index, place)) return;
      preset = &material_infos()[index];
    }
    BodySpec made;
    if (const Json* mesh = json.find("mesh")) {
      std::vector<Problem> unused;  // they are found again where the mesh is read for good
      Reader(directory_, unused).read({}, *mesh, &made.mesh, path);
    }
    const int dimension = kind_of(made.mesh).dimension;
    if (dimension == 0 && !preset) return;  // what is wrong with the mesh is said elsewhere
    if (!preset) preset = default_material(dimension);
    if (dimension != 0 && preset->dimension != dimension) {
      static const char* const made_of[] = {"", "edges", "triangles", "tetrahedra"};
      problem(name->place, place,
              "found " + describe_found(*name) + ", which is for " + made_of[preset->dimension] +
                  ", expected one for " + made_of[dimension] + ": " + list_of(material_names(dimension)),
              true);
      return;
    }
    set_material(made, *preset);
    made.mesh = {};
    out = std::move(made);
  }

  // Objects whose further keys come from a registry.

  void read(const Key&, const Json& json, MeshSpec* out, const std::string& path) {
    const Json* name = json.is(Kind::object) ? json.find("generator") : nullptr;
    const bool generated = name && name->is(Kind::string);
    const GeneratorInfo* generator = generated ? find_generator(name->text) : nullptr;
    std::vector<std::string> names;
    if (generator)
      for (const ParameterInfo& info : generator->parameters) names.push_back(info.name);
    object(json, *out, path, names, [&](const JsonMember& member, const std::string& place) {
      if (generated && !generator) return true;  // check_scene reports the generator
      const ParameterInfo* info = generator ? find_parameter(generator->parameters, member.key) : nullptr;
      if (info) parameter(*info, member.value, out->parameters, place);
      return info != nullptr;
    });
  }
  void read(const Key& key, const Json& json, std::optional<MeshSpec>* out, const std::string& path) {
    out->reset();
    if (!json.is(Kind::null)) read(key, json, &out->emplace(), path);
  }
  void read(const Key& key, const Json& json, std::optional<ContactSpec>* out, const std::string& path) {
    out->reset();
    if (!json.is(Kind::null)) read(key, json, &out->emplace(), path);
  }
  void parameter(const ParameterInfo& info, const Json& json, Parameters& out, const std::string& path) {
    if (json.is(Kind::null)) return;
    std::vector<double> values;
    bool good = json.is(Kind::number) || json.is(Kind::array);
    if (json.is(Kind::number)) values = {json.number};
    for (const Json& item : json.items) {
      good = good && item.is(Kind::number);
      values.push_back(item.number);
    }
    // a plain number stands for itself or a list of one; [1] does not stand for 1
    if (!info.list && json.is(Kind::array) && info.default_value.size() <= 1) good = false;
    if (good)
      out[info.name] = std::move(values);
    else
      wrong(json, path, describe_expected(info));
  }

  void read(const Key&, const Json& json, PotentialSpec* out, const std::string& path) {
    const Json* type = json.is(Kind::object) ? json.find("type") : nullptr;
    const PotentialInfo* known = type && type->is(Kind::string) ? find_potential_info(type->text) : nullptr;
    std::vector<std::string> names;
    if (known)
      for (const ParameterInfo& info : known->parameters) names.push_back(info.name);
    object(json, *out, path, names, [&](const JsonMember& member, const std::string& place) {
      if (!known) return true;  // without a type nothing can be said about its parameters
      const ParameterInfo* info = find_parameter(known->parameters, member.key);
      if (!info || member.value.is(Kind::null)) return info != nullptr;
      if (member.value.is(Kind::array) || info->default_value.size() > 1)
        array(*info, member.value, out->arrays[member.key], place);
      else
        track(*info, member.value, out->parameters[member.key], place);
      return true;
    });
  }

  /// A vector, or a value for each element: numbers or vectors.
  void array(const ParameterInfo& info, const Json& json, std::vector<double>& out, const std::string& path) {
    const size_t size = info.default_value.size();
    const std::string each = expected(info, size) + (size > 1 ? ", or a list of those" : " or a list of those") +
                             " with one for each element";
    if (!json.is(Kind::array)) return wrong(json, path, each);
    const auto numbers = [&](const Json& list, const std::string& place, size_t count) {
      if (!list.is(Kind::array) || list.items.size() != count) return wrong(list, place, each), false;
      for (size_t i = 0; i < count; ++i) {
        if (!list.items[i].is(Kind::number)) return wrong(list.items[i], join_path(place, i), "a number"), false;
        out.push_back(list.items[i].number);
      }
      return true;
    };
    const bool nested = size > 1 && !json.items.empty() && json.items[0].is(Kind::array);
    if (!nested) {
      numbers(json, path, size > 1 ? size : json.items.size());
      return;
    }
    for (size_t i = 0; i < json.items.size(); ++i)
      if (!numbers(json.items[i], join_path(path, i), size)) return;
  }

  const std::filesystem::path& directory_;
  std::vector<Problem>& problems_;
};

}  // namespace

Scene scene_from_json(const Json& root, const std::filesystem::path& directory, std::vector<Problem>& problems) {
  Scene scene;
  Reader(directory, problems).object(root, scene, "");
  return scene;
}

}  // namespace verve
