#include "laws.h"

#include <algorithm>
#include <limits>

#include "verve/scene_file.h"

namespace verve::python {

void LawErrors::keep(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}

void LawErrors::pass_on() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(mutex_);
    std::swap(error, error_);
  }
  if (error) std::rethrow_exception(error);
}

namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// F of all elements as (n, 3, d): F[e, i, k] is component i of column k, as in textbooks. A copy, which may be kept.
py::array_t<double> gradients_of(int elements, int dimension, const Vec3* F) {
  const py::ssize_t n = elements, d = dimension, size = sizeof(double);
  return py::array_t<double>({n, py::ssize_t(3), d}, {d * 3 * size, size, 3 * size}, &F[0].x);
}

Numbers numbers_of(const py::handle& value, const std::vector<py::ssize_t>& shape, const char* what) {
  const auto text = [](const std::vector<py::ssize_t>& sizes) {
    std::string out;
    for (const py::ssize_t s : sizes) out += (out.empty() ? "(" : ", ") + std::to_string(s);
    return out + (sizes.size() == 1 ? ",)" : ")");
  };
  const Numbers given = Numbers::ensure(value);
  if (!given) throw py::error_already_set();
  const std::vector<py::ssize_t> found(given.shape(), given.shape() + given.ndim());
  if (found != shape)
    throw py::value_error(std::string(what) + ": found an array of shape " + (found.empty() ? "()" : text(found)) +
                          ", expected " + text(shape));
  return given;
}

void copy_columns(const Numbers& from, int elements, int dimension, Vec3* to) {
  const double* value = from.data();
  for (int e = 0; e < elements; ++e)
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < dimension; ++k) to[e * dimension + k][i] = *value++;
}

/// Runs `call` with the interpreter's lock; what it raises is kept, and `out` is not a number then.
template <class Call>
void guarded(LawErrors& errors, Vec3* out, size_t count, Call&& call) {
  const py::gil_scoped_acquire lock;
  try {
    call();
  } catch (...) {
    errors.keep(std::current_exception());
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(out, count, Vec3{nan, nan, nan});
  }
}

ConstitutiveLaw law_of(int dimension, const py::object& energy, const py::object& projection,
                       const std::shared_ptr<LawErrors>& errors) {
  ConstitutiveLaw out;
  out.dimension = dimension;
  if (!energy.is_none())
    out.energy = [=](int n, const Vec3* F, double* psi, Vec3* slope) {
      std::fill_n(psi, n, std::numeric_limits<double>::quiet_NaN());
      guarded(*errors, slope, size_t(n) * dimension, [&] {
        const py::object found = energy(gradients_of(n, dimension, F));
        if (!py::isinstance<py::tuple>(found) || py::len(found) != 2)
          throw py::value_error("energy: found " + std::string(py::str(py::type::of(found))) +
                                ", expected (Psi, dPsi/dF)");
        const py::tuple pair = found;
        const Numbers values = numbers_of(pair[0], {n}, "energy: Psi");
        copy_columns(numbers_of(pair[1], {n, 3, dimension}, "energy: dPsi/dF"), n, dimension, slope);
        std::copy_n(values.data(), n, psi);
      });
    };
  if (!projection.is_none())
    out.projection = [=](int n, const Vec3* F, Vec3* nearest) {
      guarded(*errors, nearest, size_t(n) * dimension, [&] {
        const py::object found = projection(gradients_of(n, dimension, F));
        copy_columns(numbers_of(found, {n, 3, dimension}, "projection"), n, dimension, nearest);
      });
    };
  return out;
}

}  // namespace

Scene scene_of(const std::string& text, const std::string& origin, const std::vector<PythonLaw>& laws,
               const std::shared_ptr<LawErrors>& errors) {
  Scene scene = take(parse_scene(text, origin));
  Diagnostics problems;
  for (const auto& [name, dimension, stiffness, energy, projection] : laws) {
    const auto body = std::find_if(scene.bodies.begin(), scene.bodies.end(),
                                   [&, &name = name](const BodySpec& b) { return b.name == name; });
    if (body == scene.bodies.end()) {
      std::vector<std::string> names;
      for (const BodySpec& b : scene.bodies) names.push_back(b.name);
      problems.error("potentials", "found \"" + name + "\", " + expected_one_of(name, names));
      continue;
    }
    PotentialSpec& spec = body->potentials.emplace_back();
    spec.type = "custom";
    spec.parameters["stiffness"] = stiffness;
    spec.law = std::make_shared<const ConstitutiveLaw>(law_of(dimension, energy, projection, errors));
  }
  if (problems.has_errors()) throw InputError(problems);
  return scene;
}

}  // namespace verve::python
