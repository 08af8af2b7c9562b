// Between Python's values and Verve's: arrays of vectors, diagnostics as exceptions.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "verve/diagnostics.h"
#include "verve/mesh.h"

namespace verve::python {

namespace py = pybind11;

/// Becomes verve.SceneError, with every diagnostic.
struct InputError : std::runtime_error {
  explicit InputError(Diagnostics problems) : std::runtime_error(problems.text()), diagnostics(std::move(problems)) {}
  Diagnostics diagnostics;
};

/// The value, or InputError. Warnings that come with a value are shown by Python's warnings.
template <class T>
T take(Expected<T> expected);
/// Python's warnings for what is no error.
void warn(const Diagnostics& diagnostics);

template <class T>
T take(Expected<T> expected) {
  if (!expected) throw InputError(expected.diagnostics());
  warn(expected.diagnostics());
  return std::move(*expected);
}

/// [x, y, z], or what numpy makes three numbers of.
Vec3 vector_of(const py::handle& value, const char* what);
py::array_t<double> array_of(const Vec3& v);
/// n x 3, copied.
py::array_t<double> array_of(const std::vector<Vec3>& vectors);
/// From n x 3; `what` names it in messages.
std::vector<Vec3> vectors_of(const py::handle& array, const char* what);

template <size_t N>
py::array_t<int> array_of(const std::vector<std::array<int, N>>& rows) {
  py::array_t<int> out({py::ssize_t(rows.size()), py::ssize_t(N)});
  if (!rows.empty()) std::copy_n(rows[0].data(), rows.size() * N, out.mutable_data());
  return out;
}
template <size_t N>
std::vector<std::array<int, N>> rows_of(const py::handle& array, const char* what) {
  const auto given = py::array_t<int, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!given) throw py::value_error(std::string(what) + ": expected an array of whole numbers");
  if (given.size() == 0) return {};
  if (given.ndim() != 2 || given.shape(1) != py::ssize_t(N))
    throw py::value_error(std::string(what) + ": found " + std::string(py::str(given.attr("shape"))) +
                          ", expected (n, " + std::to_string(N) + ")");
  std::vector<std::array<int, N>> out(given.shape(0));
  std::copy_n(given.data(), given.size(), out[0].data());
  return out;
}

// Each adds its part of the module.
void add_meshes(py::module_& module);
void add_model(py::module_& module);
void add_simulation(py::module_& module);

}  // namespace verve::python
