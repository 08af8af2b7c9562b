// A geometric constraint by formula: verve/formula.h.
#include <stdexcept>

#include "potentials/functions.h"
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

/// A formula that changes with the parameters of its potential.
class NamedFormula final : public GroupBatch<FormulaRule> {
 public:
  NamedFormula(const PotentialInput& in, const Groups& groups, const Params& params, ElementParameters<Params> own,
               std::shared_ptr<Formula> formula, FormulaSource source)
      : GroupBatch(in, groups, params, std::move(own)), live_(std::move(formula)), source_(std::move(source)) {}
  std::string_view name() const override { return source_.name; }
  void set_parameters(const ParameterValues& values) override {
    Formula next = source_.renew(values);
    if (next.values != live_->values || !next.evaluate)
      throw std::invalid_argument("\"" + source_.name + "\": found a formula of another kind with other parameters");
    *live_ = std::move(next);
    GroupBatch::set_parameters({{"stiffness", source_.stiffness(values)}});
  }

 private:
  std::shared_ptr<Formula> live_;  // what the groups refer to
  FormulaSource source_;
};

}  // namespace

std::unique_ptr<Potential> make_formula_potential(const PotentialInput& in, const FormulaSource& source,
                                                  const std::string& where, Diagnostics& out) {
  const auto formula = std::make_shared<Formula>(source.renew(in.values));
  PotentialInput with{in.mesh,   in.index, {{"stiffness", source.stiffness(in.values)}}, in.arrays, in.region,
                      in.groups, in.examples, formula};
  return make_group_batch<FormulaRule>(with, where, out, [&](const auto& groups, const auto& params, auto&& own) {
    return std::make_unique<NamedFormula>(with, groups, params, std::move(own), formula, source);
  });
}

PotentialEntry formula_entry() { return group_entry<FormulaRule>(); }

}  // namespace verve
