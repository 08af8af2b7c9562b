// Potentials that programs register. An entry of the registry is made of plain functions, so that each plug-in has a slot
// with functions of its own.
#include <array>
#include <deque>
#include <tuple>

#include "base/registered.h"
#include "potentials/functions.h"
#include "verve/plugin.h"

namespace verve {

namespace {

std::deque<PotentialPlugin>& plugins() {
  static std::deque<PotentialPlugin> all;
  return all;
}

/// With the defaults of those that are not given.
PluginValues complete(const PotentialPlugin& plugin, const ParameterValues& given) {
  PluginValues out;
  for (const ParameterInfo& info : plugin.parameters) {
    const auto found = given.find(info.name);
    out[info.name] = found == given.end() ? info.default_value[0] : found->second;
  }
  return out;
}

std::unique_ptr<Potential> make_plugin(const PotentialPlugin& plugin, const PotentialInput& in,
                                       const std::string& where, Diagnostics& out) {
  if (!in.arrays.empty()) {
    out.error(where + "." + in.arrays.begin()->first, "found a list, expected one number: \"" + plugin.name +
                                                          "\" has the same parameters in all elements");
    return nullptr;
  }
  for (size_t g = 0; g < in.groups.size() && plugin.group > 0; ++g)
    if (int(in.groups[g].size()) != plugin.group)
      out.error(where + ".groups[" + std::to_string(g) + "]", "found " + std::to_string(in.groups[g].size()) +
                                                                  " vertices, expected " + std::to_string(plugin.group));
  if (out.has_errors()) return nullptr;
  try {
    const auto values = [&plugin](const ParameterValues& given) { return complete(plugin, given); };
    const ParameterInfo& stiffness = plugin.parameters[0];
    if (plugin.formula)
      return make_formula_potential(
          in,
          {plugin.name, [values, &stiffness](const ParameterValues& given) { return values(given)[stiffness.name]; },
           [values, &plugin](const ParameterValues& given) { return plugin.formula(values(given)); }},
          where, out);
    const auto law = [values, &plugin](const ParameterValues& given) { return plugin.law(values(given)); };
    const auto first = std::make_shared<const ConstitutiveLaw>(law(in.values));
    if (is_law(first.get()) && first->dimension == plugin.dimension)
      return make_law_potential(in, {plugin.name, stiffness.name, stiffness.default_value[0], law}, first, where, out);
    out.error(where, "\"" + plugin.name + "\": found a law that is none, expected one of dimension " +
                         std::to_string(plugin.dimension) + " with either an energy or a projection");
  } catch (const std::exception& thrown) {
    out.error(where, "\"" + plugin.name + "\": " + thrown.what());
  }
  return nullptr;
}

template <int slot>
struct Slot {
  static std::string check(const ParameterValues& values) {
    const PotentialPlugin& plugin = plugins()[slot];
    return plugin.check ? plugin.check(complete(plugin, values)) : std::string();
  }
  static std::unique_ptr<Potential> make(const PotentialInput& in, const std::string& where, Diagnostics& out) {
    return make_plugin(plugins()[slot], in, where, out);
  }
};

using Functions = std::pair<decltype(PotentialEntry::check), decltype(PotentialEntry::make)>;
template <int... slots>
constexpr std::array<Functions, sizeof...(slots)> functions_of(std::integer_sequence<int, slots...>) {
  return {Functions{&Slot<slots>::check, &Slot<slots>::make}...};
}
constexpr auto functions = functions_of(std::make_integer_sequence<int, most_plugins>());

}  // namespace

Diagnostics register_potential(PotentialPlugin plugin) {
  Diagnostics out;
  const std::string where = "register_potential";
  check_plugin_name(where.c_str(), plugin.name, find_potential(plugin.name), plugins().size(), out);
  if (bool(plugin.law) == bool(plugin.formula))
    out.error(where, std::string("found ") + (plugin.law ? "both" : "neither") + " law and formula, expected one of them");
  if (plugin.parameters.empty()) out.error(where, "found no parameters, expected at least a stiffness");
  for (const ParameterInfo& info : plugin.parameters)
    if (info.default_value.size() != 1 || info.list || info.optional)
      out.error(where + ": parameter \"" + info.name + "\"", "expected one number with a default");
  if (plugin.dimension < 1 || plugin.dimension > 3)
    out.error(where, "found dimension " + std::to_string(plugin.dimension) + ", expected 1, 2 or 3");
  if (out.has_errors()) return out;

  PotentialEntry entry;
  entry.info.name = plugin.name, entry.info.help = plugin.help, entry.info.parameters = plugin.parameters;
  entry.info.elements =
      plugin.formula ? "groups of vertices" : std::array{"edges", "triangles", "tetrahedra"}[size_t(plugin.dimension) - 1];
  entry.info.slack = entry.info.takes_groups = bool(plugin.formula);
  std::tie(entry.check, entry.make) = functions[plugins().size()];
  registry_of_plugins().potentials.push_back(plugin.name);
  plugins().push_back(std::move(plugin));
  editable_potential_registry().push_back(std::move(entry));
  return out;
}

}  // namespace verve
