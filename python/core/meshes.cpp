// Meshes: arrays in, arrays out.
#include <pybind11/functional.h>

#include "convert.h"
#include "verve/mesh.h"

namespace verve::python {

namespace {

Mesh make_mesh(const py::object& vertices, const py::object& tetrahedra, const py::object& triangles,
               const py::object& edges, bool repair) {
  Mesh mesh;
  mesh.vertices = vectors_of(vertices, "vertices");
  if (!tetrahedra.is_none()) mesh.tetrahedra = rows_of<4>(tetrahedra, "tetrahedra");
  if (!triangles.is_none()) mesh.triangles = rows_of<3>(triangles, "triangles");
  if (!edges.is_none()) mesh.edges = rows_of<2>(edges, "edges");
  Diagnostics problems;
  check_mesh(mesh, repair ? MeshRepair::repair : MeshRepair::refuse, "mesh", problems);
  if (problems.has_errors()) throw InputError(problems);
  warn(problems);
  return mesh;
}

Parameters parameters_of(const py::kwargs& given) {
  Parameters out;
  for (const auto& [key, value] : given) {
    const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
    if (!numbers) {
      PyErr_Clear();
      throw py::value_error(std::string(py::str(key)) + ": found " + std::string(py::repr(value)) +
                            ", expected a number or a list of numbers");
    }
    out[std::string(py::str(key))] = std::vector<double>(numbers.data(), numbers.data() + numbers.size());
  }
  return out;
}

std::string describe(const Mesh& mesh) {
  return "Mesh(" + std::to_string(mesh.vertices.size()) + " vertices, " + std::to_string(mesh.tetrahedra.size()) +
         " tetrahedra, " + std::to_string(mesh.triangles.size()) + " triangles, " + std::to_string(mesh.edges.size()) +
         " edges)";
}

}  // namespace

void add_meshes(py::module_& module) {
  py::class_<Mesh>(module, "Mesh", "Tetrahedra, triangles and edges over one set of vertices [m].")
      .def(py::init(&make_mesh), py::arg("vertices"), py::arg("tetrahedra") = py::none(),
           py::arg("triangles") = py::none(), py::arg("edges") = py::none(), py::kw_only(), py::arg("repair") = true,
           "From arrays; checked: indices, orientation, duplicates.")
      .def_property_readonly("vertices", [](const Mesh& m) { return array_of(m.vertices); }, "(n, 3) [m], a copy")
      .def_property_readonly("tetrahedra", [](const Mesh& m) { return array_of(m.tetrahedra); }, "(n, 4), a copy")
      .def_property_readonly("triangles", [](const Mesh& m) { return array_of(m.triangles); },
                             "(n, 3): those of sheets; surface() has the skin of solids")
      .def_property_readonly("edges", [](const Mesh& m) { return array_of(m.edges); }, "(n, 2): those of ropes")
      .def("surface", [](const Mesh& m) { return array_of(surface(m)); },
           "Triangles of the boundary, normals outward, and those of sheets: (n, 3).")
      .def("skin", [](const Mesh& m) { return skin_of(m); }, "The boundary as a mesh of its own.")
      .def("dihedral_range", [](const Mesh& m) { return dihedral_range(m); },
           "Smallest and largest dihedral angle of the tetrahedra [degrees].")
      .def("volume",
           [](const Mesh& m) {
             double sum = 0;
             for (const auto& t : m.tetrahedra)
               sum += tet_volume(m.vertices[t[0]], m.vertices[t[1]], m.vertices[t[2]], m.vertices[t[3]]);
             return sum;
           },
           "Of the tetrahedra [m^3].")
      .def("write", [](const Mesh& m, const std::filesystem::path& file) { take(write_mesh(m, file)); },
           py::arg("file"), "By extension.")
      .def("__repr__", &describe)
      .def(py::pickle(
          [](const Mesh& m) {
            return py::make_tuple(array_of(m.vertices), array_of(m.tetrahedra), array_of(m.triangles),
                                  array_of(m.edges));
          },
          [](const py::tuple& t) {
            Mesh m;
            m.vertices = vectors_of(t[0], "vertices"), m.tetrahedra = rows_of<4>(t[1], "tetrahedra");
            m.triangles = rows_of<3>(t[2], "triangles"), m.edges = rows_of<2>(t[3], "edges");
            return m;
          }));

  module.def(
      "read_mesh",
      [](const std::filesystem::path& file, bool repair) {
        return take(read_mesh(file, repair ? MeshRepair::repair : MeshRepair::refuse));
      },
      py::arg("file"), py::kw_only(), py::arg("repair") = true, "By extension; the order of its vertices is kept.");
  module.def(
      "generate_mesh",
      [](const std::string& generator, const Mesh* around, const py::kwargs& parameters) {
        return take(generate_mesh(generator, parameters_of(parameters), around));
      },
      py::arg("generator"), py::arg("around") = nullptr,
      "By the name of a generator (verve.generators()), its parameters by name.");
  module.def(
      "tetrahedralize",
      [](const std::function<double(const py::array_t<double>&)>& distance, const py::object& lower,
         const py::object& upper, double spacing) {
        return take(tetrahedralize([&](const Vec3& x) { return distance(array_of(x)); }, vector_of(lower, "lower"),
                                   vector_of(upper, "upper"), spacing));
      },
      py::arg("distance"), py::arg("lower"), py::arg("upper"), py::arg("spacing"),
      "Fills {distance(x) < 0} with tetrahedra of about this spacing [m].");
  module.def("generators", [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const GeneratorInfo& g : mesh_generators()) out.emplace_back(g.name, g.help);
    return py::dict(py::cast(out));
  }, "Mesh generators by name, with what they make.");
}

}  // namespace verve::python
