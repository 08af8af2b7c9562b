#include "convert.h"

namespace verve::python {

void warn(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.items())
    if (d.severity == Severity::warning)
      if (PyErr_WarnEx(PyExc_UserWarning, (d.where + ": " + d.what).c_str(), 2) != 0) throw py::error_already_set();
}

Vec3 vector_of(const py::handle& value, const char* what) {
  const auto given = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!given) {
    PyErr_Clear();
    throw py::value_error(std::string(what) + ": found " + std::string(py::repr(value)) + ", expected three numbers");
  }
  if (given.size() != 3)
    throw py::value_error(std::string(what) + ": found " + std::to_string(given.size()) +
                          " numbers, expected three");
  return {given.data()[0], given.data()[1], given.data()[2]};
}

py::array_t<double> array_of(const Vec3& v) {
  py::array_t<double> out(3);
  std::copy_n(&v.x, 3, out.mutable_data());
  return out;
}

py::array_t<double> array_of(const std::vector<Vec3>& vectors) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  py::array_t<double> out({py::ssize_t(vectors.size()), py::ssize_t(3)});
  if (!vectors.empty()) std::copy_n(&vectors[0].x, 3 * vectors.size(), out.mutable_data());
  return out;
}

std::vector<Vec3> vectors_of(const py::handle& array, const char* what) {
  const auto given = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!given) {
    PyErr_Clear();
    throw py::value_error(std::string(what) + ": expected an array of numbers");
  }
  if (given.size() == 0) return {};
  if (given.ndim() != 2 || given.shape(1) != 3)
    throw py::value_error(std::string(what) + ": found " + std::string(py::str(given.attr("shape"))) +
                          ", expected (n, 3)");
  std::vector<Vec3> out(given.shape(0));
  std::copy_n(given.data(), given.size(), &out[0].x);
  return out;
}

}  // namespace verve::python
