// Constitutive laws written in Python: vectorised callables as verve::ConstitutiveLaw.
#pragma once

#include <exception>
#include <memory>
#include <mutex>

#include "convert.h"
#include "verve/scene.h"

namespace verve::python {

/// What a law raised. The solver sees numbers that are not finite and fails; whoever called it passes this on.
class LawErrors {
 public:
  void keep(std::exception_ptr error);
  /// Throws what was kept last; call with the interpreter's lock.
  void pass_on();

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// (body, dimension, stiffness, energy or None, projection or None), as python/verve/_potential.py has them.
using PythonLaw = std::tuple<std::string, int, double, py::object, py::object>;

/// The scene of a text, with the laws as further potentials of their bodies.
Scene scene_of(const std::string& text, const std::string& origin, const std::vector<PythonLaw>& laws,
               const std::shared_ptr<LawErrors>& errors);

}  // namespace verve::python
