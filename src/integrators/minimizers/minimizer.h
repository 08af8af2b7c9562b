// The second axis of a method: how the objective g(x) = 1/2 |v - u|^2_M + W(x) of a step is minimised
// (docs/minimisers.md). StepSolver::step has the loop, the length of a step and the end of the iteration; a minimiser says
// where to go next.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "verve/scene.h"
#include "verve/vec.h"

namespace verve {

class Island;

/// The work of one island.
class Minimizer {
 public:
  virtual ~Minimizer() = default;
  /// Whether it solves with the factor of A.
  virtual bool needs_factor() const { return true; }
  /// Whether its steps are searched for their length even where A bounds the Hessian.
  virtual bool searches() const { return false; }
  /// Whether g falls with each of its steps, once searched; otherwise none is shortened.
  virtual bool descends() const { return true; }
  /// A new step: nothing of the last one counts. False when a matrix is not positive definite.
  virtual bool begin(Island& island) = 0;
  /// From x with gradient gg of g to x - dx. Returns the square of the length of dx in the norm of energy, gg.dx where
  /// it descends; not finite when that cannot be done.
  virtual double descend(Island& island, const std::vector<Vec4>& x, const std::vector<Vec4>& gg,
                         std::vector<Vec4>& dx) = 0;
  /// Where no length of step would do: forget what may have led astray. False when there was nothing.
  virtual bool forget() { return false; }
};

struct MinimizerEntry {
  std::string_view name;  // of minimizer_names()
  std::unique_ptr<Minimizer> (*make)(const SolverSpec& spec, int rows);
};
/// Null for "projective", which the island does by itself, and for names that are none.
const MinimizerEntry* find_minimizer(std::string_view name);

std::unique_ptr<Minimizer> make_newton(const SolverSpec& spec, int rows);
std::unique_ptr<Minimizer> make_lbfgs(const SolverSpec& spec, int rows);
std::unique_ptr<Minimizer> make_admm(const SolverSpec& spec, int rows);
std::unique_ptr<Minimizer> make_jacobi(const SolverSpec& spec, int rows);
std::unique_ptr<Minimizer> make_gauss_seidel(const SolverSpec& spec, int rows);
std::unique_ptr<Minimizer> make_vbd(const SolverSpec& spec, int rows);

/// Makes more of the steps x -> e of a minimiser than their sum.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual void restart() = 0;
  /// From x, whose own step leads to `end`, to `next`. False when it has nothing better than `end`.
  virtual bool advance(const std::vector<Vec4>& x, const std::vector<Vec4>& end, std::vector<Vec4>& next) = 0;
};
/// Null for "none".
std::unique_ptr<Accelerator> make_accelerator(const SolverSpec& spec, int rows);

double dot(const std::vector<Vec4>& a, const std::vector<Vec4>& b);
/// For iterations that do not know of the rigid motion. In a free island the centre of mass is where it belongs from
/// the first iterate on, so what dx would move it by is taken out again, which lowers g: W does not change with it.
void keep_center(const Island& island, std::vector<Vec4>& dx);

}  // namespace verve
