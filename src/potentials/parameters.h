// The parameters of a potential, written once as a table of members.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "potentials/potential.h"

namespace verve {

/// Stands for a parameter that was not given.
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();
inline bool given(double value) { return !std::isnan(value); }

/// A member of Params, which consists of double and Vec3.
template <class Params>
class Field {
 public:
  template <class Member>
  Field(ParameterInfo description, Member Params::*member) : info(std::move(description)) {
    const Params p{};
    offset_ = reinterpret_cast<const char*>(&(p.*member)) - reinterpret_cast<const char*>(&p);
  }
  ParameterInfo info;
  size_t size() const { return info.default_value.size(); }
  void set(Params& p, const double* values) const {
    std::memcpy(reinterpret_cast<char*>(&p) + offset_, values, size() * sizeof(double));
  }

 private:
  std::ptrdiff_t offset_;
};

/// A number >= minimum with a default; a default of `not_given` makes it optional.
template <class Params>
Field<Params> field(std::string name, double Params::*member, std::string unit, std::string help, double minimum = 0,
                    double maximum = std::numeric_limits<double>::infinity(), bool exclusive_maximum = false) {
  ParameterInfo info;
  info.name = std::move(name), info.unit = std::move(unit), info.help = std::move(help);
  info.minimum = minimum, info.maximum = maximum, info.exclusive_maximum = exclusive_maximum;
  const double standard = Params{}.*member;
  info.default_value = {given(standard) ? standard : 0};
  info.optional = !given(standard);
  return {std::move(info), member};
}

/// A vector. It does not change with time, but may differ between elements.
template <class Params>
Field<Params> field(std::string name, Vec3 Params::*member, std::string unit, std::string help) {
  ParameterInfo info;
  info.name = std::move(name), info.unit = std::move(unit), info.help = std::move(help);
  const Vec3 standard = Params{}.*member;
  info.default_value = {standard.x, standard.y, standard.z};
  return {std::move(info), member};
}

/// The table, built once: reading parameters into a struct allocates nothing.
template <class Params>
const std::vector<Field<Params>>& table_of() {
  static const std::vector<Field<Params>> table = Params::fields();
  return table;
}

template <class Params>
std::vector<ParameterInfo> parameter_infos() {
  std::vector<ParameterInfo> out;
  for (const Field<Params>& f : table_of<Params>()) out.push_back(f.info);
  return out;
}

template <class Params>
Params read_parameters(const ParameterValues& values) {
  Params out;
  for (const Field<Params>& f : table_of<Params>())
    if (const auto it = values.find(f.info.name); f.size() == 1 && it != values.end()) f.set(out, &it->second);
  return out;
}

/// What ParameterArrays say about the parameters of one element after another.
template <class Params>
class ElementParameters {
 public:
  ElementParameters() = default;
  /// `kept` are the elements in use, out of `elements`; the arrays count all of them.
  ElementParameters(const ParameterArrays& arrays, int elements, const std::vector<int>& kept, const std::string& where,
                    Diagnostics& out) {
    for (const Field<Params>& f : table_of<Params>()) {
      const auto it = arrays.find(f.info.name);
      if (it == arrays.end()) continue;
      const std::vector<double>& values = it->second;
      const size_t size = f.size();
      Column column{&f, {}};
      if (size > 1 && values.size() == size) {
        column.values = values;
      } else if (values.size() == size * elements) {
        for (const int e : kept) column.values.insert(column.values.end(), &values[size * e], &values[size * e] + size);
      } else {
        out.error(where + "." + f.info.name, "found " + std::to_string(values.size() / size) +
                                                 " values, expected one for each of " + std::to_string(elements) +
                                                 " elements");
        continue;
      }
      columns_.push_back(std::move(column));
    }
  }

  Params at(Params common, int element) const {
    for (const Column& c : columns_) {
      const size_t size = c.field->size();
      c.field->set(common, &c.values[c.values.size() == size ? 0 : size * element]);
    }
    return common;
  }
  bool empty() const { return columns_.empty(); }

 private:
  struct Column {
    const Field<Params>* field;
    std::vector<double> values;
  };
  std::vector<Column> columns_;
};

}  // namespace verve
