// Sizes of the meshes of Constrained Projective Dynamics, table 1.
#include <cstdio>

#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

struct Row {
  const char* name;
  Parameters parameters;
  int vertices, tetrahedra;  // of the paper
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"cube", {}, 792, 2911},   {"box", {}, 792, 2911},
      {"bear", {}, 3743, 14025}, {"bear", {{"resolution", {18.15}}}, 1944, 6805},
      {"torus", {}, 2096, 7311}, {"t_pipe", {}, 1686, 5779},
      {"hippo", {}, 2387, 8406}, {"ball", {}, 889, 1772},
      {"strip", {}, 738, 1920},
  };
  return list;
}

}  // namespace

TEST_CASE("the generators' defaults have the paper's sizes within 10 %") {
  std::printf("| generator | vertices | paper | tetrahedra | paper | dihedral angles | smallest volume |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    const Mesh mesh = generate_mesh(row.name, row.parameters).value();
    const double v = double(mesh.vertices.size()) / row.vertices - 1;
    const double t = double(mesh.tetrahedra.size()) / row.tetrahedra - 1;
    CHECK(std::abs(v) < 0.1);
    CHECK(std::abs(t) < 0.1);
    const auto range = dihedral_range(mesh);
    std::string name = row.name;
    for (const auto& [key, value] : row.parameters) name += " " + key + "=" + std::to_string(value[0]).substr(0, 5);
    std::printf("| %s | %zu (%+.1f %%) | %d | %zu (%+.1f %%) | %d | %.1f°–%.1f° | %.1e m³ |\n", name.c_str(),
                mesh.vertices.size(), 100 * v, row.vertices, mesh.tetrahedra.size(), 100 * t, row.tetrahedra, range[0],
                range[1], smallest_volume(mesh));
    CHECK(range[0] > 12);
    CHECK(range[1] < 155);
  }
}

TEST_CASE("the sheet of 60 x 60 vertices has 10561 edges") {
  const Mesh mesh = generate_mesh("cloth").value();
  CHECK(mesh.vertices.size() == 3600);
  CHECK(unique_edges(mesh).size() == 10561);
  CHECK(mesh.triangles.size() == 2 * 59 * 59);
}
