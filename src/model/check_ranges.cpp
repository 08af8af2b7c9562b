#include "model/check_ranges.h"

#include <cmath>

#include "base/text.h"
#include "model/scene_keys.h"

namespace verve {

namespace {

std::vector<double> numbers(double value) { return {value}; }
std::vector<double> numbers(const Vec3& value) { return {value.x, value.y, value.z}; }

bool within(const ParameterInfo& info, const std::vector<double>& values) {
  for (const double v : values) {
    if (!std::isfinite(v)) return false;
    if (info.exclusive_minimum ? !(v > info.minimum) : !(v >= info.minimum)) return false;
    if (info.exclusive_maximum ? !(v < info.maximum) : !(v <= info.maximum)) return false;
    if (info.integer && v != std::floor(v)) return false;
  }
  return true;
}

/// Walks the tables.
class RangeCheck {
 public:
  explicit RangeCheck(Diagnostics& out) : out_(out) {}

  template <class T>
  void object(const T& owner, const std::string& where) {
    object(keys_of<T>(), &owner, where);
  }

  void track(const ParameterInfo& info, const Track<double>& value, const std::string& where) {
    keys(info, value, where);
  }
  void array(const ParameterInfo& info, const std::vector<double>& found, const std::string& where) {
    for (size_t i = 0; i < found.size(); ++i)
      if (!within(info, {found[i]})) {
        ParameterInfo one = info;
        one.default_value.resize(1);
        out_.error(at(where, i), "found " + format_number(found[i]) + ", expected " + describe_expected(one));
        return;  // the others may be as many as the elements
      }
  }

 private:
  void object(const std::vector<Key>& keys, const void* owner, const std::string& where) {
    for (const Key& key : keys)
      visit_member(key, owner, [&](const auto& m) { member(key, m, join(where, key.info.name)); });
  }

  void values(ParameterInfo info, std::vector<double> found, const std::string& where) {
    info.default_value.resize(found.size());
    if (!within(info, found))
      out_.error(where, "found " + format_numbers(found) + ", expected " + describe_expected(info));
  }

  template <class T>
  void keys(const ParameterInfo& info, const Track<T>& track, const std::string& where) {
    for (size_t i = 0; i < track.keys.size(); ++i) {
      const auto& key = track.keys[i];
      const std::string place = track.is_constant() ? where : at(where + ".keys", i);
      if constexpr (!std::is_same_v<T, bool>)
        if (key.value) values(info, numbers(*key.value), track.is_constant() ? place : place + "[1]");
      if (!std::isfinite(key.time)) {
        out_.error(place + "[0]", "found " + format_number(key.time) + ", expected a time [s]");
      } else if (i > 0 && !(key.time > track.keys[i - 1].time)) {
        out_.error(place + "[0]", "found " + format_number(key.time) +
                                      ", expected a time after that of the key before it, " +
                                      format_number(track.keys[i - 1].time) + " [s]");
      }
    }
  }

  void member(const Key&, FormatVersion, const std::string&) {}
  void member(const Key&, SchemaLink, const std::string&) {}
  void member(const Key&, MaterialName, const std::string&) {}
  void member(const Key&, const bool*, const std::string&) {}
  void member(const Key&, const std::filesystem::path*, const std::string&) {}
  void member(const Key&, const std::shared_ptr<const Mesh>*, const std::string&) {}  // check_mesh looks at meshes
  template <size_t n>
  void member(const Key&, const std::vector<std::array<int, n>>*, const std::string&) {}
  void member(const Key&, const std::vector<Vec3>*, const std::string&) {}
  void member(const Key& key, const std::vector<std::vector<int>>* value, const std::string& where) {
    for (size_t i = 0; i < value->size(); ++i) member(key, &(*value)[i], at(where, i));
  }
  void member(const Key&, const std::optional<Selection>* value, const std::string& where) {
    if (*value) object(**value, where);
  }

  void member(const Key& key, const double* value, const std::string& where) { values(key.info, {*value}, where); }
  void member(const Key& key, const std::optional<double>* value, const std::string& where) {
    if (*value) values(key.info, {**value}, where);
  }
  void whole(const Key& key, double value, const std::string& where) {
    ParameterInfo info = key.info;
    info.integer = true;
    values(info, {value}, where);
  }
  void member(const Key& key, WholeOrAuto value, const std::string& where) { whole(key, *value.value, where); }
  void member(const Key& key, const int* value, const std::string& where) { whole(key, *value, where); }
  void member(const Key& key, const std::optional<int>* value, const std::string& where) {
    if (*value) whole(key, **value, where);
  }
  void member(const Key& key, const std::uint64_t* value, const std::string& where) {
    whole(key, double(*value), where);
  }
  void member(const Key& key, const Vec3* value, const std::string& where) { values(key.info, numbers(*value), where); }
  void member(const Key& key, const std::optional<Vec3>* value, const std::string& where) {
    if (*value) values(key.info, numbers(**value), where);
  }
  void member(const Key& key, const std::vector<int>* value, const std::string& where) {
    for (size_t i = 0; i < value->size(); ++i) whole(key, (*value)[i], at(where, i));
  }
  void member(const Key& key, const std::optional<std::array<Vec3, 2>>* value, const std::string& where) {
    if (!*value) return;
    const auto& [lower, upper] = **value;
    values(key.info, numbers(lower), at(where, 0));
    values(key.info, numbers(upper), at(where, 1));
    if (lower.x > upper.x || lower.y > upper.y || lower.z > upper.z)
      out_.error(where, "found " + format_numbers(numbers(lower)) + " to " + format_numbers(numbers(upper)) +
                            ", expected the lower corner first");
  }
  void member(const Key& key, const std::optional<std::pair<Vec3, double>>* value, const std::string& where) {
    if (!*value) return;
    ParameterInfo center = key.info;
    center.minimum = -std::numeric_limits<double>::infinity();
    values(center, numbers((*value)->first), where + ".center");
    values(key.info, {(*value)->second}, where + ".radius");
  }
  void member(const Key& key, const Track<double>* value, const std::string& where) { keys(key.info, *value, where); }
  void member(const Key& key, const Track<Vec3>* value, const std::string& where) { keys(key.info, *value, where); }
  void member(const Key& key, const Track<bool>* value, const std::string& where) { keys(key.info, *value, where); }

  void member(const Key& key, const std::string* value, const std::string& where) {
    if (!key.choices || (key.info.optional && value->empty())) return;
    for (const std::string& choice : key.choices())
      if (choice == *value) return;
    if (!key.also) {
      out_.error(where, "found " + quoted(*value) + ", " + expected_one_of(*value, key.choices()));
      return;
    }
    std::vector<std::string> all = key.choices();
    for (const std::string& choice : key.also()) {
      if (choice == *value) return;
      all.push_back(choice);
    }
    std::string list;
    for (const std::string& choice : key.choices()) list += choice + ", ";
    // a combination is meant where there is a plus
    if (value->find('+') != std::string::npos)
      std::erase_if(all, [](const std::string& choice) { return choice.find('+') == std::string::npos; });
    const std::string near = nearest(*value, all);
    out_.error(where, "found " + quoted(*value) + ", expected one of " + list + "or " + key.also_words +
                          (near.empty() ? "" : " (nearest: " + near + ")"));
  }

  void member(const Key&, const Choice& choice, const std::string& where) {
    // a file has names, which the reader has looked up; a program may have cast a number
    const int number = choice.get(choice.at);
    if (number >= -1 && number < int(choice.names().size())) return;
    std::string list;
    for (const std::string& name : choice.names()) list += (list.empty() ? "" : ", ") + name;
    out_.error(where, "found number " + std::to_string(number) + ", expected one of " + list);
  }

  template <class T>
  requires has_keys<T>
  void member(const Key&, const T* value, const std::string& where) { object(*value, where); }
  void member(const Key&, const std::optional<MeshSpec>* value, const std::string& where) {
    if (*value) object(**value, where);
  }
  void member(const Key&, const std::optional<ContactSpec>* value, const std::string& where) {
    if (*value) object(**value, where);
  }
  template <class T>
  requires has_keys<T>
  void member(const Key&, const std::vector<T>* value, const std::string& where) {
    for (size_t i = 0; i < value->size(); ++i) object((*value)[i], at(where, i));
  }

  Diagnostics& out_;
};

}  // namespace

void check_ranges(const Scene& scene, Diagnostics& out) { RangeCheck(out).object(scene, ""); }

void check_track(const ParameterInfo& info, const Track<double>& track, const std::string& where, Diagnostics& out) {
  RangeCheck(out).track(info, track, where);
}

void check_array(const ParameterInfo& info, const std::vector<double>& found, const std::string& where,
                 Diagnostics& out) {
  RangeCheck(out).array(info, found, where);
}

}  // namespace verve
