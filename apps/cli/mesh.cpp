// verve mesh: generate, convert and examine meshes.
#include "verve/mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "commands.h"
#include "flags.h"
#include "geometry/surface_repair.h"
#include "terminal.h"

namespace verve::cli {

namespace {

/// "0.05", "1,2,3", "[1, 2, 3]"; empty when it is none of these.
std::vector<double> read_numbers(std::string text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::vector<double> numbers;
  const char* at = text.c_str();
  while (true) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) return {};
    numbers.push_back(value);
    while (*end == ' ') ++end;
    if (*end == '\0') return numbers;
    if (*end != ',') return {};
    at = end + 1;
  }
}

Expected<Mesh> make(const GeneratorInfo& generator, const MeshOptions& options) {
  Diagnostics problems;
  Parameters parameters;
  for (const auto& [name, text] : read_overrides(options.set, problems)) {
    const std::vector<double> numbers = read_numbers(text);
    const auto info = std::find_if(generator.parameters.begin(), generator.parameters.end(),
                                   [&, &key = name](const ParameterInfo& p) { return p.name == key; });
    if (numbers.empty() && info != generator.parameters.end())
      problems.error("--set " + name, "found \"" + text + "\", expected " + describe_expected(*info));
    else
      parameters[name] = numbers;
  }
  Diagnostics found;
  check_parameters(parameters, generator.parameters, "", found);
  for (Diagnostic& d : found.items()) problems.error("--set " + d.where, d.what);
  std::optional<Expected<Mesh>> surface;
  if (generator.around_surface && options.around.empty())
    problems.error("--around", "nothing given, expected the mesh file that " + generator.name + " fills");
  if (!generator.around_surface && !options.around.empty())
    problems.error("--around", "found \"" + options.around + "\", but " + generator.name + " needs no surface");
  if (!generator.around_surface && !options.object.empty())
    problems.error("--object", "found \"" + options.object + "\", but " + generator.name + " reads no file");
  if (generator.around_surface && !options.around.empty()) {
    surface = read_mesh(options.around, options.strict ? MeshRepair::refuse : MeshRepair::repair, options.object);
    append_new(problems, surface->diagnostics());
  }
  if (problems.has_errors()) return problems;
  Expected<Mesh> mesh = generate_mesh(generator.name, parameters, surface ? &**surface : nullptr);
  append_new(problems, mesh.diagnostics());
  if (!mesh) return problems;
  return {std::move(*mesh), std::move(problems)};
}

Expected<Mesh> load(const MeshOptions& options) {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : mesh_generators()) {
    if (info.name == options.source) return make(info, options);
    names.push_back(info.name);
  }
  Diagnostics problems;
  const std::filesystem::path file = options.source;
  if (!file.has_extension() && !std::filesystem::exists(file)) {
    problems.error(options.source, "no such mesh, expected a file or " +
                                       expected_one_of(options.source, names).substr(std::string("expected ").size()));
    return problems;
  }
  if (!options.around.empty())
    problems.error("--around", "found \"" + options.around + "\" beside a mesh file, expected a generator to go around it");
  if (!options.set.empty())
    problems.error("--set", "found \"" + options.set.front() + "\", but a mesh from a file has no parameters");
  Expected<Mesh> mesh = read_mesh(file, options.strict ? MeshRepair::refuse : MeshRepair::repair, options.object);
  append_new(problems, mesh.diagnostics());
  if (problems.has_errors() || !mesh) return problems;
  return {std::move(*mesh), problems};
}

std::string range(double lower, double upper) { return format_value(lower) + " … " + format_value(upper); }

constexpr std::size_t most_objects = 30;  // named in a list

/// What a length of this many metres was most likely meant to be; empty where metres are likely.
std::string unit_hint(double size) {
  const struct {
    const char* name;
    double metres;
  } units[] = {{"centimetres", 0.01}, {"millimetres", 0.001}};
  if (size > 10)
    for (const auto& unit : units)
      if (const double real = size * unit.metres; real < 1)
        return "large for metres: in " + std::string(unit.name) + " it would be " + format_value(real) +
               " m (\"place\": {\"scale\": " + format_value(unit.metres) + "})";
  if (size > 10) return "large for metres";
  if (size < 0.005) return "small for metres: see \"place\": {\"scale\": …}";
  return "";
}

/// What matters where a surface is to become a solid.
void add_surface_rows(const Mesh& mesh, const std::vector<std::array<int, 3>>& faces,
                      std::vector<std::pair<std::string, std::string>>& rows) {
  const WeldedSurface welded = weld(mesh.vertices, faces);
  double volume = 0;
  for (const auto& [a, b, c] : welded.triangles)
    volume += dot(welded.vertices[a], cross(welded.vertices[b], welded.vertices[c])) / 6;
  const bool closed = welded.open_edges == 0 && welded.branching_edges == 0;
  rows.emplace_back("parts", std::to_string(welded.parts));
  if (mesh.tetrahedra.empty() && closed) rows.emplace_back("volume", format_value(std::abs(volume)) + " m³ enclosed");
  rows.emplace_back("open edges", std::to_string(welded.open_edges) +
                                      (welded.branching_edges ? ", " + std::to_string(welded.branching_edges) +
                                                                    " edges of three triangles and more"
                                                              : ""));
  rows.emplace_back("flipped faces", std::to_string(welded.turned) +
                                         (closed && welded.turned == 0 && volume < 0 ? "; all of them look inward" : ""));
  if (welded.doubled) rows.emplace_back("doubled faces", std::to_string(welded.doubled));
  rows.emplace_back("self-intersections", count(count_self_intersections(welded), "pair of faces", "pairs of faces"));
}

void print_mesh(const Mesh& mesh, const std::string& name, const std::vector<std::string>& objects,
                const Diagnostics& faults) {
  Vec3 lower, upper;
  if (!mesh.vertices.empty()) lower = upper = mesh.vertices[0];
  for (const Vec3& v : mesh.vertices)
    for (int i = 0; i < 3; ++i) lower[i] = std::min(lower[i], v[i]), upper[i] = std::max(upper[i], v[i]);
  const auto faces = surface(mesh);
  double area = 0;
  for (const auto& [a, b, c] : faces)
    area += norm(cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a])) / 2;

  std::vector<std::pair<std::string, std::string>> rows{
      {"vertices", std::to_string(mesh.vertices.size())},
      {"tetrahedra", std::to_string(mesh.tetrahedra.size())},
      {"triangles", std::to_string(mesh.triangles.size())},
      {"edges",
       std::to_string(mesh.edges.size()) + " of its own, " + std::to_string(unique_edges(mesh).size()) + " in all"},
      {"surface", count(long(faces.size()), "face", "faces") + ", " + format_value(area) + " m²"}};
  if (!objects.empty()) {
    std::string list;
    for (std::size_t i = 0; i < objects.size() && i < most_objects; ++i) list += (i ? ", " : "") + objects[i];
    if (objects.size() > most_objects) list += ", … (" + std::to_string(objects.size()) + ")";
    rows.emplace_back("objects", list);
  }
  std::string size;
  for (int i = 0; i < 3; ++i) size += (i ? " × " : "") + format_value(upper[i] - lower[i]);
  rows.emplace_back("size", size + " m");
  const Vec3 extent = upper - lower;
  if (const std::string hint = unit_hint(std::max({extent.x, extent.y, extent.z})); !hint.empty())
    rows.emplace_back("unit", hint);
  if (!faces.empty()) add_surface_rows(mesh, faces, rows);
  if (!mesh.tetrahedra.empty()) {
    double volume = 0, smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
    for (const auto& [a, b, c, d] : mesh.tetrahedra) {
      const double v = tet_volume(mesh.vertices[a], mesh.vertices[b], mesh.vertices[c], mesh.vertices[d]);
      volume += v, smallest = std::min(smallest, v), largest = std::max(largest, v);
    }
    const auto [sharpest, flattest] = dihedral_range(mesh);
    rows.emplace_back("volume", format_value(volume) + " m³, tetrahedra " + range(smallest, largest) + " m³");
    rows.emplace_back("dihedral angles", range(sharpest, flattest) + " degrees");
  }
  if (faults.empty()) rows.emplace_back("faults", "none");
  for (const Diagnostic& d : faults.items())
    rows.emplace_back("fault", (d.where.empty() ? "" : d.where + ": ") + d.what);

  const Style style = style_of(stdout);
  std::printf("%s%s%s\n", style.bold, name.c_str(), style.reset);
  print_columns(rows, 2);
}

}  // namespace

int mesh(const MeshOptions& options, Diagnostics problems) {
  if (options.source.empty()) {
    problems.error("SOURCE", "nothing given, expected a generator (verve list generators) or a mesh file");
    return refuse(problems, "nothing was written");
  }
  const Expected<Mesh> mesh = load(options);
  if (!mesh || problems.has_errors()) {
    append_new(problems, mesh.diagnostics());
    return refuse(problems, "nothing was written");
  }
  if (options.out.empty()) {
    const Expected<std::vector<std::string>> objects = mesh_objects(options.source);  // (of a generator there are none)
    print_mesh(*mesh, options.source, objects ? *objects : std::vector<std::string>{}, mesh.diagnostics());
    return exit_done;
  }
  append_new(problems, mesh.diagnostics());
  const Expected<bool> written = write_mesh(*mesh, options.out);
  append_new(problems, written.diagnostics());
  if (!written) return refuse(problems, "nothing was written");
  report(problems);
  std::printf("%s: %zu vertices, %zu tetrahedra, %zu triangles, %zu edges\n", options.out.c_str(),
              mesh->vertices.size(), mesh->tetrahedra.size(), mesh->triangles.size(), mesh->edges.size());
  return exit_done;
}

}  // namespace verve::cli
