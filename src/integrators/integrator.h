// The first axis of a method: what is minimised. A base integrator turns the state at t_n into a problem for the core.
#pragma once

#include <functional>
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
  int stage = 0;
  bool keep_rates = false;  // backward Euler leaves p and q to the next step
  Vec3 falling;  // acceleration of the frame in which a free body looks for its equilibrium

  // Of an integrator that is not direct: what is minimised over is some y, and the step ends at
  // x_{n+1} = position y + end_x, v_{n+1} = velocity y + end_v.
  double position = 1, velocity = 0;
  std::vector<Vec4> end_x, end_v;
};

class Integrator {
 public:
  virtual ~Integrator() = default;
  /// hh for a step h: all that the matrix needs to know.
  virtual double effective_step(double h) const = 0;
  /// Takes part of the elastic acceleration at x_n.
  virtual bool takes_elastic() const { return false; }
  /// Kinetic energy [J] of what the forces at x_n and the rates of the motion would add to its velocities in a step,
  /// about that of the whole where it is free to fall. 0: nothing is, or it is not known.
  virtual double explicit_energy(const Motion& /*motion*/, const Forcing& /*forcing*/, double /*h*/,
                                 bool /*falls*/) const {
    return 0;
  }
  /// The minimum is x_{n+1}, and v_{n+1} = (x - xb)/hh there. Otherwise BaseStep says where the step ends.
  virtual bool is_direct() const { return true; }
  /// Looks for an equilibrium: no velocities, and the mass only keeps free bodies in place.
  virtual bool is_static() const { return false; }
  /// How many problems make a step, one after the other, and which part of h each covers.
  virtual int stages() const { return 1; }
  virtual double share(int /*stage*/) const { return 1; }
  /// All of the problem but xb and u. `half_kick`: constant forces enter half before and half after the solve, which
  /// makes free fall exact.
  virtual void begin(Motion& motion, double h, bool half_kick, BaseStep& step) const = 0;
  /// xb and u of the rows [first, last), after begin() and once for each row.
  virtual void prepare(Motion& motion, const Forcing& forcing, double h, BaseStep& step, int first, int last) const = 0;
  /// Accepts the new x and v into the motion.
  virtual void finish(Motion& motion, const Forcing& forcing, double h, const BaseStep& step,
                      std::vector<Vec4>& x) const = 0;
};

/// The free numbers of the integrators; each takes what concerns it.
struct IntegratorNumbers {
  double rho = 0;                   // spectral radius at infinite frequency
  double beta = 0.25, gamma = 0.5;  // Newmark's
};

struct IntegratorEntry {
  std::string name;
  std::function<std::unique_ptr<Integrator>(const IntegratorNumbers& numbers)> make;
};
const std::vector<IntegratorEntry>& integrator_registry();

std::unique_ptr<Integrator> make_implicit_euler(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_generalized_alpha(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_implicit_midpoint(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_newmark(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_chung_hulbert(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_trbdf2(const IntegratorNumbers& numbers);
std::unique_ptr<Integrator> make_quasistatic(const IntegratorNumbers& numbers);

}  // namespace verve
