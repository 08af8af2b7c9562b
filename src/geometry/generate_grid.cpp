// Solids on a regular grid of cells: box, cube, bar, strip.
#include "base/text.h"
#include "geometry/generators.h"

namespace verve {

namespace {

constexpr double most_vertices = 10e6;

struct Grid {
  Vec3 size;
  std::array<int, 3> cells;
  int tets_per_cell;
};

/// Five tetrahedra: four corners cut off and a regular one left. Cells alternate between the two ways of doing so, or
/// the diagonals of neighbours would cross. A corner is 4 z + 2 y + x.
constexpr int five_even[5][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
constexpr int five_odd[5][4] = {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 5, 6, 3}, {0, 5, 3, 6}};
/// Six tetrahedra around the diagonal 0 - 7, one per order of the axes (Kuhn 1960); the same in every cell.
constexpr int six[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

Expected<Mesh> make_grid(const Grid& grid) {
  const int nx = grid.cells[0], ny = grid.cells[1], nz = grid.cells[2];
  const double count = (nx + 1.0) * (ny + 1.0) * (nz + 1.0);
  if (count > most_vertices) {
    Diagnostics out;
    out.error("cells", "found " + format_numbers({double(nx), double(ny), double(nz)}) + ", which makes " +
                           format_number(count) + " vertices, expected at most " + format_number(most_vertices));
    return out;
  }
  Mesh mesh;
  mesh.vertices.reserve(std::size_t(count));
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i)
        mesh.vertices.push_back({grid.size.x * (double(i) / nx - 0.5), grid.size.y * (double(j) / ny - 0.5),
                                 grid.size.z * (double(k) / nz - 0.5)});
  const auto vertex = [&](int i, int j, int k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        std::array<int, 8> corner;
        for (int c = 0; c < 8; ++c) corner[c] = vertex(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        split_cell(corner, grid.tets_per_cell, i + j + k, mesh.tetrahedra);
      }
  return mesh;
}

ParameterInfo cells_parameter(std::vector<double> value) {
  return count_parameter("cells", "cells along x, y, z", std::move(value), 1, 100000);
}
ParameterInfo size_parameter(std::vector<double> value) {
  ParameterInfo info = length_parameter("size", "edge lengths along x, y, z", 1);
  info.default_value = std::move(value);
  return info;
}
std::array<int, 3> cells_of(const Arguments& a) {
  const Vec3 c = a.vector("cells");
  return {int(c.x), int(c.y), int(c.z)};
}
std::vector<ParameterInfo> beam_parameters(double length, double height, double width, std::vector<double> cells,
                                           double split) {
  return {length_parameter("length", "along x", length), length_parameter("height", "along y", height),
          length_parameter("width", "along z", width), cells_parameter(std::move(cells)), split_parameter(split)};
}
Expected<Mesh> make_beam(const Arguments& a) {
  return make_grid(
      {{a.number("length"), a.number("height"), a.number("width")}, cells_of(a), a.whole("tets_per_cell")});
}

}  // namespace

ParameterInfo split_parameter(double value) {
  return count_parameter("tets_per_cell", "5 (alternating, nearly isotropic) or 6 (all cells alike)", {value}, 5, 6);
}

void split_cell(const std::array<int, 8>& corner, int tets_per_cell, int parity, std::vector<std::array<int, 4>>& out) {
  const int(*split)[4] = tets_per_cell == 6 ? six : parity % 2 == 0 ? five_even : five_odd;
  for (int t = 0; t < tets_per_cell; ++t)
    out.push_back({corner[split[t][0]], corner[split[t][1]], corner[split[t][2]], corner[split[t][3]]});
}

// 8 x 9 x 8 cells are the nearest to the cube of Constrained Projective Dynamics (792 vertices, 2911 tetrahedra).
Generator box_generator() {
  return {
      {"box", "a box of regular cells", {size_parameter({1, 1, 1}), cells_parameter({8, 9, 8}), split_parameter(5)}},
      [](const Arguments& a) {
        return make_grid({a.vector("size"), cells_of(a), a.whole("tets_per_cell")});
      }};
}

Generator cube_generator() {
  return {{"cube",
           "a box with equal sides",
           {length_parameter("size", "edge length", 1), cells_parameter({8, 9, 8}), split_parameter(5)}},
          [](const Arguments& a) {
            const double s = a.number("size");
            return make_grid({{s, s, s}, cells_of(a), a.whole("tets_per_cell")});
          }};
}

Generator bar_generator() {
  return {{"bar", "a beam along x", beam_parameters(2, 0.5, 0.5, {16, 4, 4}, 5)}, make_beam};
}

// 41 x 2 x 9 vertices and 6 tetrahedra per cell: the strip of Constrained Projective Dynamics (738, 1920).
Generator strip_generator() {
  return {{"strip", "a thin long beam along x, lying flat", beam_parameters(2, 0.05, 0.4, {40, 1, 8}, 6)}, make_beam};
}

}  // namespace verve
