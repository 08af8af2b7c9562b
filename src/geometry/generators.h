// Mesh generators: one function per name, described once. A new one is a file (or a place in a family's file) and a
// line in the table of generators.cpp.
#pragma once

#include "verve/mesh.h"

namespace verve {

/// The parameters of one call: what was given, otherwise the defaults. Names and ranges have been checked.
class Arguments {
 public:
  Arguments(const Parameters& given, const std::vector<ParameterInfo>& known, bool only_skin = false)
      : given_(given), known_(known), only_skin_(only_skin) {}
  bool only_skin() const { return only_skin_; }  ///< a solid may be left hollow, as a surface of triangles
  double number(const char* name) const { return values(name)[0]; }
  int whole(const char* name) const { return int(values(name)[0]); }
  Vec3 vector(const char* name) const {
    const auto& v = values(name);
    return {v[0], v[1], v[2]};
  }

 private:
  const std::vector<double>& values(const char* name) const;
  const Parameters& given_;
  const std::vector<ParameterInfo>& known_;
  const bool only_skin_;
};

struct Generator {
  GeneratorInfo info;
  Expected<Mesh> (*make)(const Arguments&) = nullptr;
  Expected<Mesh> (*make_around)(const Arguments&, const Mesh& surface) = nullptr;  // where info.around_surface
};

/// skin_of(generate_mesh(...)), where possible without making the inside first. Vertices may come in another order.
Expected<Mesh> generate_skin(const std::string& generator, const Parameters& parameters);

// --- families ---
Generator box_generator();
Generator cube_generator();
Generator bar_generator();
Generator strip_generator();
Generator cloth_generator();
Generator tube_generator();
Generator chain_generator();
Generator net_generator();
Generator tetrahedron_generator();
Generator spring_generator();
Generator ball_generator();
Generator sphere_generator();
Generator stuffed_ball_generator();
Generator torus_generator();
Generator t_pipe_generator();
Generator bear_generator();
Generator hippo_generator();
Generator car_generator();
Generator cage_generator();
Generator solid_generator();
Generator house_generator();
Generator tree_generator();
Generator leaves_generator();
Generator grass_generator();

// --- parameters that several of them have ---
ParameterInfo length_parameter(const char* name, const char* help, double value);
ParameterInfo count_parameter(const char* name, const char* help, std::vector<double> value, double minimum,
                              double maximum);
ParameterInfo split_parameter(double value);
/// Appends the 5 or 6 tetrahedra of a cell. A corner is 4 z + 2 y + x; `parity` is the sum of the cell's coordinates.
void split_cell(const std::array<int, 8>& corner, int tets_per_cell, int parity, std::vector<std::array<int, 4>>& out);
/// "size" and "resolution" of a body stuffed from an implicit surface of unit size.
std::vector<ParameterInfo> implicit_parameters(const char* size_help, double resolution);

/// Stuffs a body described in units of its size, moves its centre of volume to the origin and scales it: the mesh is
/// the same for every size.
Expected<Mesh> generate_implicit(const std::function<double(const Vec3&)>& distance, const Vec3& lower,
                                 const Vec3& upper, const Arguments& arguments);

}  // namespace verve
