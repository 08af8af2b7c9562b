#include "geometry/generators.h"

#include <stdexcept>

#include "geometry/stuffing.h"

namespace verve {

namespace {

Generator of_dimension(int dimension, Generator generator) {
  generator.info.dimension = dimension;
  return generator;
}

const std::vector<Generator>& table() {
  static const std::vector<Generator> generators = {
      box_generator(),
      cube_generator(),
      bar_generator(),
      strip_generator(),
      of_dimension(2, cloth_generator()),
      of_dimension(2, tube_generator()),
      of_dimension(1, chain_generator()),
      of_dimension(1, spring_generator()),
      tetrahedron_generator(),
      ball_generator(),
      of_dimension(2, sphere_generator()),
      stuffed_ball_generator(),
      torus_generator(),
      t_pipe_generator(),
      bear_generator(),
      hippo_generator(),
      car_generator(),
      cage_generator(),
      solid_generator(),
      of_dimension(1, net_generator()),
      house_generator(),
      tree_generator(),
      of_dimension(2, leaves_generator()),
      of_dimension(2, grass_generator()),
  };
  return generators;
}

}  // namespace

const std::vector<double>& Arguments::values(const char* name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  for (const ParameterInfo& info : known_)
    if (info.name == name) return info.default_value;
  throw std::invalid_argument(std::string("a generator asked for its parameter \"") + name +
                              "\", which it does not describe");
}

ParameterInfo length_parameter(const char* name, const char* help, double value) {
  ParameterInfo info{name, "m", help, {value}};
  info.minimum = 0;
  info.exclusive_minimum = true;
  return info;
}

ParameterInfo count_parameter(const char* name, const char* help, std::vector<double> value, double minimum,
                              double maximum) {
  ParameterInfo info{name, "", help, std::move(value)};
  info.minimum = minimum;
  info.maximum = maximum;
  info.integer = true;
  return info;
}

std::vector<ParameterInfo> implicit_parameters(const char* size_help, double resolution) {
  ParameterInfo cells{"resolution", "", "lattice cells along the size", {resolution}};
  cells.minimum = 4;
  cells.maximum = 400;
  return {length_parameter("size", size_help, 1), cells};
}

Expected<Mesh> generate_implicit(const std::function<double(const Vec3&)>& distance, const Vec3& lower,
                                 const Vec3& upper, const Arguments& arguments) {
  const double spacing = 1 / arguments.number("resolution");
  Expected<Mesh> mesh = arguments.only_skin() ? stuffing_skin(distance, lower, upper, spacing)
                                              : tetrahedralize(distance, lower, upper, spacing);
  if (!mesh) return mesh;
  Vec3 moment;
  double volume = 0;
  const auto& x = mesh->vertices;
  for (const auto& t : mesh->triangles) {  // of a skin: tetrahedra between its faces and the origin
    const double v = tet_volume({}, x[t[0]], x[t[1]], x[t[2]]);
    volume += v;
    moment += (x[t[0]] + x[t[1]] + x[t[2]]) * (v / 4);
  }
  for (const auto& t : mesh->tetrahedra) {
    const double v = tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]);
    volume += v;
    moment += (x[t[0]] + x[t[1]] + x[t[2]] + x[t[3]]) * (v / 4);
  }
  const double size = arguments.number("size");
  for (Vec3& p : mesh->vertices) p = (p - moment / volume) * size;
  return mesh;
}

const std::vector<GeneratorInfo>& mesh_generators() {
  static const std::vector<GeneratorInfo> infos = [] {
    std::vector<GeneratorInfo> out;
    for (const Generator& g : table()) out.push_back(g.info);
    return out;
  }();
  return infos;
}

namespace {

Expected<Mesh> generate(const std::string& generator, const Parameters& parameters, const Mesh* around,
                        bool only_skin) {
  Diagnostics out;
  for (const Generator& g : table()) {
    if (g.info.name != generator) continue;
    check_parameters(parameters, g.info.parameters, generator, out);
    if (g.info.around_surface && !around)
      out.error(generator, "found no surface, expected one to build around (in a scene: the body's `embed`)");
    if (out.has_errors()) return out;
    if (g.info.around_surface) return g.make_around(Arguments(parameters, g.info.parameters), *around);
    return g.make(Arguments(parameters, g.info.parameters, only_skin));
  }
  std::vector<std::string> names;
  for (const Generator& g : table()) names.push_back(g.info.name);
  out.error("generator", "found \"" + generator + "\", " + expected_one_of(generator, names));
  return out;
}

}  // namespace

Expected<Mesh> generate_mesh(const std::string& generator, const Parameters& parameters, const Mesh* around) {
  return generate(generator, parameters, around, false);
}

Expected<Mesh> generate_skin(const std::string& generator, const Parameters& parameters) {
  Expected<Mesh> mesh = generate(generator, parameters, nullptr, true);
  if (!mesh) return mesh;
  return {skin_of(*mesh), mesh.diagnostics()};
}

}  // namespace verve
