// Model: a scene compiled, for research. Energies, gradients and matrices in the numbering of the scene's meshes.
#include <deque>

#include "laws.h"
#include "linear/block_assembly.h"
#include "model/model.h"

namespace verve::python {

namespace {

/// Entries of a sparse matrix, as scipy.sparse.coo_matrix takes them.
struct Entries {
  std::vector<double> value;
  std::vector<int> row, column;
  void add(int i, int j, double v) { value.push_back(v), row.push_back(i), column.push_back(j); }
  py::tuple arrays() const {
    const auto whole = [](const std::vector<int>& v) { return py::array_t<int>(py::ssize_t(v.size()), v.data()); };
    return py::make_tuple(py::array_t<double>(py::ssize_t(value.size()), value.data()), whole(row), whole(column));
  }
};

/// The potentials of a scene at time 0; anchors, contacts and constant forces are no part of it.
class PlainModel {
 public:
  PlainModel(const std::string& text, const std::string& origin, const std::vector<PythonLaw>& laws)
      : errors_(std::make_shared<LawErrors>()), scene_(scene_of(text, origin, laws, errors_)) {
    if (const Diagnostics problems = check_scene(scene_); problems.has_errors()) throw InputError(problems);
    compiled_ = std::make_unique<CompiledScene>(take(compile(scene_)));
    for (const Body& body : bodies())
      for (const int row : body.row_of_vertex) row_.push_back(body.first + row);
  }

  int vertices() const { return int(row_.size()); }
  std::vector<double> masses() const {
    std::vector<double> out;
    for (const Body& body : bodies())
      for (const int row : body.row_of_vertex) out.push_back(body.mass[row]);
    return out;
  }
  std::vector<Vec3> rest() const {
    std::vector<Vec3> out;
    for (const Body& body : bodies())
      for (const int row : body.row_of_vertex) out.push_back(body.rest[row].xyz());
    return out;
  }
  std::vector<Vec3> initial(bool velocities) const {
    const std::vector<Vec4>& from = velocities ? compiled_->model.initial_v : compiled_->model.initial_x;
    std::vector<Vec3> out;
    for (const int row : row_) out.push_back(from[row].xyz());
    return out;
  }

  /// W, and its gradient per vertex.
  std::pair<double, std::vector<Vec3>> energy(const std::vector<Vec3>& positions) {
    const std::vector<Vec4> x = in_rows(positions);
    std::vector<Vec4> gradient(x.size());
    double sum = 0;
    for (size_t b = 0; b < bodies().size(); ++b)
      for (const auto& potential : potentials(b))
        sum += potential->add_gradient(&x[bodies()[b].first], &gradient[bodies()[b].first], Precision::float64);
    errors_->pass_on();
    std::vector<Vec3> out;
    for (const int row : row_) out.push_back(gradient[row].xyz());
    return {sum, std::move(out)};
  }

  /// d2W/dx2, three rows per vertex; `definite`: what is negative in the Hessian of an element is left out.
  Entries hessian(const std::vector<Vec3>& positions, bool definite) {
    const std::vector<Vec4> x = in_rows(positions);
    Entries out;
    for (size_t b = 0; b < bodies().size(); ++b) {
      const Body& body = bodies()[b];
      BlockAssembly assembly;
      for (int pass = 0; pass < 2; ++pass) {
        pass == 0 ? assembly.begin_pattern(body.count) : assembly.begin_values();
        for (const auto& potential : potentials(b)) {
          if (!potential->has_hessian())
            throw py::value_error("hessian: \"" + std::string(potential->name()) + "\" of \"" + body.name +
                                  "\" has no second derivatives, expected potentials that have; global_matrix() has all");
          potential->add_hessian(pass == 0 ? nullptr : &x[body.first], definite, assembly, 0);
        }
        if (pass == 0) assembly.finish_pattern();
      }
      const BlockMatrix& matrix = assembly.matrix();
      for (int column = 0; column < matrix.size; ++column)
        for (int k = matrix.start[column]; k < matrix.start[column + 1]; ++k) {
          const int i = first_of(b) + body.vertex_of_row[matrix.row[k]];
          const int j = first_of(b) + body.vertex_of_row[column];
          for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r) {
              const double v = matrix.value[9 * size_t(k) + 3 * c + r];
              out.add(3 * i + r, 3 * j + c, v);
              if (i != j) out.add(3 * j + c, 3 * i + r, v);
            }
        }
    }
    return out;
  }

  /// Sum of w A^T A: what stands for the Hessian in the global step, one row per vertex.
  Entries global_matrix() const {
    Entries out;
    for (size_t b = 0; b < bodies().size(); ++b) {
      const Body& body = bodies()[b];
      SymmetricAssembly assembly;
      for (int pass = 0; pass < 2; ++pass) {
        pass == 0 ? assembly.begin_pattern(body.count) : assembly.begin_values();
        for (const auto& potential : potentials(b)) potential->add_weights(assembly, 0, 1);
        if (pass == 0) assembly.finish_pattern();
      }
      const SymmetricMatrix& matrix = assembly.matrix();
      for (int column = 0; column < matrix.size; ++column)
        for (int k = matrix.start[column]; k < matrix.start[column + 1]; ++k) {
          const int i = first_of(b) + body.vertex_of_row[matrix.row[k]];
          const int j = first_of(b) + body.vertex_of_row[column];
          out.add(i, j, matrix.value[k]);
          if (i != j) out.add(j, i, matrix.value[k]);
        }
    }
    return out;
  }

  /// The masses as a matrix: diagonal, or consistent where the scene says so.
  Entries mass_matrix() const {
    Entries out;
    for (size_t b = 0; b < bodies().size(); ++b) {
      const Body& body = bodies()[b];
      for (int row = 0; row < body.count; ++row) {
        const int i = first_of(b) + body.vertex_of_row[row];
        out.add(i, i, body.mass[row]);
        if (body.coupling.empty()) continue;
        for (int k = body.coupling.start[row]; k < body.coupling.start[row + 1]; ++k) {
          out.add(i, first_of(b) + body.vertex_of_row[body.coupling.column[k]], body.coupling.weight[k]);
          out.add(i, i, -body.coupling.weight[k]);
        }
      }
    }
    return out;
  }

  /// A of a potential, its rows one element after another, and w of each row.
  std::pair<Entries, std::vector<double>> reduction(int b, int which) const {
    const Potential& potential = potential_of(b, which);
    Entries out;
    std::vector<double> weight;
    for (int e = 0; e < potential.elements(); ++e)
      for (int r = 0; r < potential.rows(e); ++r) {
        for (int c = 0; c < potential.corners(e); ++c)
          out.add(int(weight.size()), first_of(b) + bodies()[b].vertex_of_row[potential.vertex(e, c)],
                  potential.coefficient(e, r, c));
        weight.push_back(potential.weight(e));
      }
    return {std::move(out), std::move(weight)};
  }
  /// The local step: p(A x), row by row.
  std::vector<Vec3> project(int b, int which, const std::vector<Vec3>& positions) const {
    const Potential& potential = potential_of(b, which);
    const std::vector<Vec4> x = in_rows(positions);
    size_t rows = 0;
    for (int e = 0; e < potential.elements(); ++e) rows += potential.rows(e);
    std::vector<Vec3> z(rows), p(rows);
    if (rows > 0) potential.project(&x[bodies()[b].first], z.data(), p.data());
    errors_->pass_on();
    return p;
  }
  std::vector<std::vector<std::string>> potential_names() const {
    std::vector<std::vector<std::string>> out;
    for (size_t b = 0; b < bodies().size(); ++b) {
      out.emplace_back();
      for (const auto& potential : potentials(b)) out.back().emplace_back(potential->name());
    }
    return out;
  }

 private:
  const std::deque<Body>& bodies() const { return compiled_->model.bodies; }
  const Potentials& potentials(size_t body) const { return compiled_->matter.bodies[body].potentials; }
  int first_of(size_t body) const { return bodies()[body].first; }
  const Potential& potential_of(int body, int which) const {
    if (body < 0 || body >= int(bodies().size()))
      throw py::index_error("found body " + std::to_string(body) + " of " + std::to_string(bodies().size()));
    if (which < 0 || which >= int(potentials(body).size()))
      throw py::index_error("found potential " + std::to_string(which) + " of " +
                            std::to_string(potentials(body).size()));
    return *potentials(body)[which];
  }
  std::vector<Vec4> in_rows(const std::vector<Vec3>& positions) const {
    if (int(positions.size()) != vertices())
      throw py::value_error("positions: found " + std::to_string(positions.size()) + " x 3, expected " +
                            std::to_string(vertices()) + " x 3");
    std::vector<Vec4> out(positions.size());
    for (size_t v = 0; v < positions.size(); ++v) out[row_[v]] = Vec4(positions[v]);
    return out;
  }

  std::shared_ptr<LawErrors> errors_;
  Scene scene_;
  std::unique_ptr<CompiledScene> compiled_;
  std::vector<int> row_;  // of each vertex
};

}  // namespace

void add_model(py::module_& module) {
  py::class_<PlainModel>(module, "Model")
      .def(py::init<const std::string&, const std::string&, const std::vector<PythonLaw>&>(), py::arg("scene"),
           py::arg("origin"), py::arg("laws"))
      .def_property_readonly("vertices", &PlainModel::vertices, "how many")
      .def_property_readonly("masses",
                             [](const PlainModel& m) {
                               const std::vector<double> masses = m.masses();
                               return py::array_t<double>(py::ssize_t(masses.size()), masses.data());
                             },
                             "(vertices,) [kg], lumped")
      .def_property_readonly("rest", [](const PlainModel& m) { return array_of(m.rest()); }, "(vertices, 3) [m]")
      .def_property_readonly("positions", [](const PlainModel& m) { return array_of(m.initial(false)); },
                             "(vertices, 3) [m], where the scene begins")
      .def_property_readonly("velocities", [](const PlainModel& m) { return array_of(m.initial(true)); },
                             "(vertices, 3) [m/s], likewise")
      .def_property_readonly("potential_names", &PlainModel::potential_names, "of each body")
      .def("energy",
           [](PlainModel& m, const py::object& x) { return m.energy(vectors_of(x, "positions")).first; },
           py::arg("positions"), "W [J] of all potentials, anchors and contacts left out.")
      .def("gradient",
           [](PlainModel& m, const py::object& x) { return array_of(m.energy(vectors_of(x, "positions")).second); },
           py::arg("positions"), "dW/dx, (vertices, 3) [N]; the forces are its negative.")
      .def("hessian_entries",
           [](PlainModel& m, const py::object& x, bool definite) {
             return m.hessian(vectors_of(x, "positions"), definite).arrays();
           },
           py::arg("positions"), py::arg("definite") = false, "What hessian() is made of: values, rows, columns.")
      .def("global_entries", [](const PlainModel& m) { return m.global_matrix().arrays(); },
           "What global_matrix() is made of.")
      .def("mass_entries", [](const PlainModel& m) { return m.mass_matrix().arrays(); },
           "What mass_matrix() is made of.")
      .def("reduction_entries",
           [](const PlainModel& m, int body, int potential) {
             const auto [entries, weight] = m.reduction(body, potential);
             return py::make_tuple(entries.arrays(), py::array_t<double>(py::ssize_t(weight.size()), weight.data()));
           },
           py::arg("body"), py::arg("potential"), "What reduction() is made of.")
      .def("project",
           [](const PlainModel& m, const py::object& x, int body, int potential) {
             return array_of(m.project(body, potential, vectors_of(x, "positions")));
           },
           py::arg("positions"), py::arg("body") = 0, py::arg("potential") = 0,
           "The local step of PD: the nearest z that costs nothing, a row for each of reduction().");
}

}  // namespace verve::python
