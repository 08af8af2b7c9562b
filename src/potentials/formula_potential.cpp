// A geometric constraint by formula: verve/formula.h.
#include "potentials/group_batch.h"
#include "potentials/sqp.h"

namespace verve {

namespace {

struct FormulaRule {
  static constexpr const char* name = "formula";
  static constexpr const char* help = "C(q) = 0 for each group, given by a program (PD Sec. 6)";
  static constexpr bool slack = true, whole = true, by_volume = false;
  static constexpr int least = 2, most = 0;

  struct Params {
    double stiffness = 1e3;
    static std::vector<Field<Params>> fields() {
      return {field("stiffness", &Params::stiffness, "N/m", "of each vertex towards its place")};
    }
    std::string check() const { return {}; }
  };

  double weight = 0;
  const Formula* formula = nullptr;
  static std::size_t scratch_size(const GroupShape& g) { return sqp_scratch_size(g.count, g.formula->values); }
  static FormulaRule bind(const Params& p, const GroupShape& g) { return {p.stiffness, g.formula}; }
  static std::string fault(const PotentialInput& in) {
    if (in.formula && in.formula->evaluate && in.formula->values > 0) return {};
    return "found no formula, expected PotentialSpec::formula with a function and at least one value: \"formula\" is "
           "for programs; scene files name the constraint (distance, angle, area, volume, planarity, circle, "
           "similarity)";
  }
  static std::string fault(const GroupShape&) { return {}; }
  void project(int n, const Vec3* z, const Vec3*, Vec3* p, double* scratch) const {
    project_by_sqp(*formula, n, z, p, scratch);
  }
};

}  // namespace

PotentialEntry formula_entry() { return group_entry<FormulaRule>(); }

}  // namespace verve
