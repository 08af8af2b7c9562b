// The first axis of a method: what is minimised. A base integrator turns the state at t_n into a problem for the core.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verve/vec.h"

namespace verve {

/// The moving part of an island, one row per vertex. p and q are the rates that generalised-alpha carries along.
struct Motion {
  std::vector<Vec4> x, v, p, q;
  std::vector<Vec4> gradient;      // of W at x
  std::vector<Vec4> elastic;       // M^-1 gradient where M is not diagonal; empty elsewhere
  double energy = 0;               // W at x
  std::vector<Vec4> acceleration;  // by forces in the last step, where wind changes it; empty elsewhere
  bool history = false;            // p and q belong to x and v
  double last_step = 0;

  void resize(int rows);
};

/// What acts on an island from outside during a step.
struct Forcing {
  std::vector<double> mass, inverse_mass;  // inverse 0 for rows without mass
  std::vector<Vec4> force, acceleration;   // constant during the step
  std::vector<Vec4> steady;                // the part of `force` that has a potential; empty: all of it
  bool uniform = false;                    // all rows with mass have the acceleration `common`
  Vec3 common;

  const std::vector<Vec4>& conservative() const { return steady.empty() ? force : steady; }
};

/// The problem: v = (x - xb)/hh, minimise 1/2 |v - u|^2_M + W(x); afterwards v_{n+1} = v + kappa h a.
struct BaseStep {
  std::vector<Vec4> xb, u;
  double hh = 0, kappa = 0;
  bool first = false;  // p and q of the motion have yet to be made
  double before = 0;   // length of the step before
};

class Integrator {
 public:
  virtual ~Integrator() = default;
  /// hh for a step h: all that the matrix needs to know.
  virtual double effective_step(double h) const = 0;
  /// Takes part of the elastic acceleration at x_n.
  virtual bool takes_elastic() const { return false; }
  /// All of the problem but xb and u. `half_kick`: constant forces enter half before and half after the solve, which
  /// makes free fall exact.
  virtual void begin(Motion& motion, double h, bool half_kick, BaseStep& step) const = 0;
  /// xb and u of the rows [first, last), after begin() and once for each row.
  virtual void prepare(Motion& motion, const Forcing& forcing, double h, BaseStep& step, int first, int last) const = 0;
  /// Accepts the new x and v into the motion.
  virtual void finish(Motion& motion, const Forcing& forcing, double h, const BaseStep& step,
                      std::vector<Vec4>& x) const = 0;
};

struct IntegratorEntry {
  std::string name;
  std::unique_ptr<Integrator> (*make)(double rho);
};
const std::vector<IntegratorEntry>& integrator_registry();

std::unique_ptr<Integrator> make_implicit_euler(double rho);
std::unique_ptr<Integrator> make_generalized_alpha(double rho);

}  // namespace verve
