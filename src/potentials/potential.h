// What an integrator sees of a potential: a batch of equal elements behind one virtual call.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "linear/block_assembly.h"
#include "linear/sparse.h"
#include "potentials/relaxation.h"
#include "verve/mesh.h"
#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

using ParameterValues = std::map<std::string, double>;
/// Parameters that are not one number: a vector (3 numbers), or a value for each element, one after another.
using ParameterArrays = std::map<std::string, std::vector<double>>;

/// Elements E(x) = sum Psi(z), z = A x (PD Sec. 3.2, CPD Eq. 4), over the vertices of one body or island.
class Potential {
 public:
  virtual ~Potential() = default;
  virtual std::string_view name() const = 0;
  virtual int elements() const = 0;

  /// Adds dE/dx to `gradient` and returns E.
  virtual double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) = 0;
  /// E alone, for less than add_gradient costs.
  virtual double energy(const Vec4* x, Precision precision = Precision::float64) = 0;

  /// Local step of PD (Eq. 6): the point of each element's set nearest to z, `rows()` columns per element. Without a
  /// set, the point that gives the same gradient: z - dPsi/dz / w. One element at a time, in double: for tests and
  /// methods that need it apart, not the way of add_gradient.
  virtual bool has_projection() const = 0;
  /// Whether that point is the nearest of all even far from the set, and not only the nearest around where the search
  /// for it ends.
  virtual bool projects_globally() const { return true; }
  virtual int rows(int element) const = 0;
  virtual void project(const Vec4* x, Vec3* z, Vec3* projected) const = 0;
  virtual double weight(int element) const = 0;
  /// Coefficient of A for one row and one vertex of the stencil.
  virtual double coefficient(int element, int row, int corner) const = 0;
  virtual int corners(int element) const = 0;
  virtual int vertex(int element, int corner) const = 0;

  /// Adds what stands for the Hessian in the global step: w A^T A, unless has_own_metric(). Always the same sequence of
  /// entries; `offset` shifts the vertices.
  virtual void add_weights(SymmetricAssembly& matrix, int offset, double scale) const = 0;
  virtual bool has_own_metric() const { return false; }
  /// Whether what add_weights adds is never less than the Hessian. Then a step of the global solve cannot overshoot (PD
  /// Sec. 3.3); otherwise the step is searched for its length.
  virtual bool is_bounded() const { return true; }

  /// Second derivatives, for Newton's method. A potential without them takes part by its weights.
  virtual bool has_hessian() const { return false; }
  /// Adds d2E/dx2 at x, each pair of corners once and always the same sequence of blocks; `offset` shifts the vertices.
  /// `definite`: what is negative in the Hessian of an element is left out. x null, for the first pass: the sequence
  /// alone.
  virtual void add_hessian(const Vec4* /*x*/, bool /*definite*/, BlockAssembly& /*matrix*/, int /*offset*/) {}

  /// A step of ADMM (Overby et al. 2017) for elements with proximal points: with q = A x + u, z = argmin
  /// Psi(z) + w/2 |z - q|^2 and then u = q - z, adds w A^T (A x - z + u) to `gradient` and returns the sum of w |A x -
  /// z|^2. `dual` holds u, rows() columns per element. One without takes part by its gradient.
  virtual bool has_proximal() const { return false; }
  virtual double add_proximal(const Vec4* /*x*/, Vec3* /*dual*/, Vec4* /*gradient*/) { return 0; }

  /// Energy scale of the batch: sum of w/2 |z|^2 at rest.
  virtual double reference_energy() const = 0;
  /// Energy scale of what it does at rest already, and 0 where rest is its least energy. Gas has p V0: its energy may
  /// be negative and says nothing about how far the body is from rest.
  virtual double prestress() const { return 0; }

  /// The view of position-based and constraint methods: scalar constraints C_i of each element with Psi = sum of
  /// k_i/2 C_i^2 (XPBD, Macklin et al. 2016, Eq. 2-3). 0: none.
  virtual int constraints() const { return 0; }
  /// Whether C passes smoothly through zero (|x1 - x0| - l), so that it can be held exactly; a distance to a set has a
  /// gradient only off the set.
  virtual bool has_smooth_constraints() const { return false; }
  /// C, with its gradient for each corner. The gradient is zero where it does not exist.
  virtual double constraint(int /*element*/, int /*which*/, const Vec4* /*x*/, Vec3* /*gradient*/) const { return 0; }
  virtual double constraint_stiffness(int element, int /*which*/) const { return weight(element); }
  /// What a projection without compliance takes C for (full_step_of in relax_loop.h).
  virtual double full_step(int /*element*/, int /*which*/, double C) const { return C; }
  /// How many numbers a sweep needs for the multipliers of all constraints.
  virtual int multipliers() const { return elements() * constraints(); }
  /// One sweep of position-based projections over all constraints, in an order that depends on nothing but the mesh.
  virtual void relax(const Relaxation& sweep);
  /// Factor of the share of a projection that pbd takes: what its stiffness is, in that method.
  double projection = 1;

  /// Tearing. Elements that are gone keep their place in every list, with no energy, no weight and no constraint; one
  /// flag per element.
  virtual bool can_lose_elements() const { return false; }
  virtual void set_removed(const std::vector<char>& /*gone*/) {}
  /// As they were set; empty as long as none was.
  virtual const std::vector<char>& removed() const {
    static const std::vector<char> none;
    return none;
  }
  /// Plasticity, of those with PotentialInfo::flows: each element may have another shape without energy than that of
  /// the mesh, as the differences of its corners to the first, one element after another. `in_matrix`: the shapes that
  /// add_weights and metric() take.
  virtual void set_rest(const std::vector<Vec3>& /*differences*/, const std::vector<Vec3>& /*in_matrix*/) {}
  /// Energy of an element if these were its differences at rest.
  virtual double energy_from(const Vec3* /*differences*/, int /*element*/, const Vec4* /*x*/) const { return 0; }

  /// What add_weights adds for a pair of corners of an element that is there.
  virtual double metric(int element, int i, int j) const;

  /// Mean weight of each example pose at x, for potentials that have any.
  virtual std::vector<double> example_weights(const Vec4* /*x*/) const { return {}; }
  /// A change of material; the stencils stay.
  virtual void set_parameters(const ParameterValues& values) = 0;

 private:
  std::vector<Vec3> corner_gradients_;  // work of relax
};

/// What a potential is made from.
struct PotentialInput {
  const Mesh& mesh;                          // at rest, placed
  const std::vector<int>& index;             // row of each vertex
  ParameterValues values;                    // at time 0
  ParameterArrays arrays;                    // those that are not one number
  std::vector<char> region;                  // vertices that elements may use; empty: all
  std::vector<std::vector<int>> groups;      // of vertices, for potentials that take them
  std::vector<std::vector<Vec3>> examples;   // poses of all vertices, for potentials that take them
  std::shared_ptr<const Formula> formula{};  // for the one that takes it
  std::shared_ptr<const ConstitutiveLaw> law{};  // likewise
  std::vector<char> owned{};  // vertices; an element is made where its first vertex is. Empty: all are
};

/// One line of the registry.
struct PotentialEntry {
  PotentialInfo info;
  /// Contradictions between parameters that each are in range; empty when there are none.
  std::string (*check)(const ParameterValues& values);
  /// Builds the batch over all elements of the kind in the mesh. Null with errors at `where` when that cannot be done.
  std::unique_ptr<Potential> (*make)(const PotentialInput& input, const std::string& where, Diagnostics& out);
  /// It knows of PotentialInput::owned: processes can share its elements.
  bool shares = false;
};
const std::vector<PotentialEntry>& potential_registry();
const PotentialEntry* find_potential(std::string_view name);

}  // namespace verve
