// verve list: what there is by name, read from the registries.
#include <cstdio>

#include "commands.h"
#include "flags.h"
#include "terminal.h"
#include "verve/material.h"
#include "verve/mesh.h"
#include "verve/registry.h"
#include "verve/scene_file.h"

namespace verve::cli {

namespace {

struct Item {
  std::string name, text;
  std::vector<ParameterInfo> parameters;
};
struct Section {
  std::string kind;
  std::vector<Item> items;
};

std::vector<Section> all_sections() {
  Section scenes{"scenes", {}}, materials{"materials", {}}, potentials{"potentials", {}}, methods{"methods", {}},
      generators{"generators", {}}, shapes{"shapes", {}};
  for (const BuiltinScene& scene : builtin_scenes()) scenes.items.push_back({scene.name, scene.description, {}});
  for (const MaterialInfo& info : material_infos()) materials.items.push_back({info.name, info.help, {}});
  for (const PotentialInfo& info : potential_infos())
    potentials.items.push_back({info.name, info.help + "; acts on " + info.elements, info.parameters});
  for (const MethodInfo& info : method_infos())
    methods.items.push_back(
        {info.name, info.help + " (" + info.integrator + " × " + info.minimizer + " × " + info.conservation + ")", {}});
  for (const GeneratorInfo& info : mesh_generators())
    generators.items.push_back({info.name, info.help, info.parameters});
  for (const ShapeInfo& info : shape_infos()) {
    std::string keys;
    for (const ShapeKey& key : info.keys) keys += (keys.empty() ? "; of a collider: " : ", ") + key.name;
    shapes.items.push_back({info.name, info.help + keys, {}});
  }
  return {scenes, materials, potentials, methods, generators, shapes};
}

std::string describe(const ParameterInfo& info) {
  std::string text = info.help;
  if (!text.empty()) text += ": ";
  text += describe_expected(info);
  if (info.optional) return text + ", may be left out";
  text += ", default";
  for (const double value : info.default_value) text.append(" ").append(format_value(value));
  return text;
}

/// 53 kPa
std::string pascals(double value) {
  const char* const units[] = {"Pa", "kPa", "MPa", "GPa"};
  int unit = 0;
  for (; value >= 1000 && unit < 3; ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, units[unit]);
  return text;
}

/// The numbers of all materials, one row each.
void print_materials(const Style& style) {
  const char* const made_of[] = {"", "edges", "triangles", "tetrahedra"};
  std::printf("  %s%-12s %9s %5s %11s %9s %9s %8s %11s  %s%s\n", style.bold, "", "Young", "nu", "density", "half-life",
              "thickness", "friction", "restitution", "for", style.reset);
  for (const MaterialInfo& m : material_infos()) {
    char thickness[32] = "";
    if (m.thickness > 0) std::snprintf(thickness, sizeof thickness, "%.3g mm", 1000 * m.thickness);
    char density[32], half_life[32];
    std::snprintf(density, sizeof density, "%.0f", m.density),
        std::snprintf(half_life, sizeof half_life, "%.2g s", m.half_life);
    std::printf("  %-12s %9s %5.2f %4s kg/m^3 %9s %9s %8.2g %11.2g  %s: %s\n", m.name.c_str(), pascals(m.young).c_str(),
                m.poisson, density, half_life, thickness, m.friction, m.restitution, made_of[m.dimension],
                m.help.c_str());
  }
}

}  // namespace

int list(const ListOptions& options, Diagnostics problems) {
  const std::vector<Section> sections = all_sections();
  std::vector<std::string> kinds;
  for (const Section& section : sections) kinds.push_back(section.kind);
  read_choice("list", options.kind, kinds, problems);
  if (problems.has_errors()) return refuse(problems, "see verve list --help");

  const Style style = style_of(stdout);
  bool first = true;
  for (const Section& section : sections) {
    if (!options.kind.empty() && options.kind != section.kind) continue;
    if (options.plain) {
      for (const Item& item : section.items) std::puts(item.name.c_str());
      continue;
    }
    std::printf("%s%s%s%s\n", first ? "" : "\n", style.bold, section.kind.c_str(), style.reset);
    first = false;
    if (options.kind == "materials") {
      print_materials(style);
      continue;
    }
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Item& item : section.items) {
      rows.emplace_back(item.name, item.text);
      // parameters only when one section was asked for: the overview stays an overview
      if (!options.kind.empty())
        for (const ParameterInfo& parameter : item.parameters)
          rows.emplace_back("  " + parameter.name, describe(parameter));
    }
    print_columns(rows, 2);
  }
  return exit_done;
}

}  // namespace verve::cli
