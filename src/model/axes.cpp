// The three axes of methods: what each entry can be combined with. What is behind the names is in
// src/integrators/registry.cpp, minimizers/registry.cpp and projection.cpp.
#include <algorithm>

#include "base/registered.h"
#include "model/check_ranges.h"
#include "model/contact_reason.h"
#include "model/plugins.h"
#include "verve/registry.h"
#include "verve/scene.h"

namespace verve {

std::vector<IntegratorInfo>& editable_integrator_infos() {
  using Budget = IntegratorInfo::Budget;
  static std::vector<IntegratorInfo> infos = growable<IntegratorInfo>({
      {.name = "implicit_euler", .published = true, .budget = Budget::always},
      {.name = "generalized_alpha", .budget = Budget::conserving},  // alone it needs what its iterations bring
      {.name = "implicit_midpoint", .force_at_end = false},
      {.name = "newmark", .force_at_end = false},
      {.name = "chung_hulbert", .force_at_end = false},
      {.name = "trbdf2"},
      {.name = "quasistatic", .dynamic = false},
      {.name = "pbd", .own_step = true},
      {.name = "xpbd", .own_step = true},
      {.name = "hard", .own_step = true},
      {.name = "fast_projection", .own_step = true},
      {.name = "compliant", .own_step = true},
      {.name = "compliant_plain", .own_step = true},
      {.name = "linearized_euler", .own_step = true},
      {.name = "symplectic_euler", .own_step = true},
      {.name = "explicit_euler", .own_step = true},
      {.name = "verlet", .own_step = true},
      {.name = "jakobsen", .own_step = true},
  });
  return infos;
}
const std::vector<IntegratorInfo>& integrator_infos() { return editable_integrator_infos(); }

const std::vector<MinimizerInfo>& minimizer_infos() {
  static const std::vector<MinimizerInfo> infos{
      {.name = "projective",
       .sees_contact = true,
       .constant_matrix = true,
       .holds_cpd = true,
       .holds_published = true,
       .keeps_budgets = true},
      {.name = "newton", .sees_contact = true},
      {.name = "lbfgs", .sees_contact = true, .holds_cpd = true},
      {.name = "admm"},  // this and the two below iterate over the elements
      {.name = "jacobi", .constant_matrix = true},
      {.name = "gauss_seidel", .constant_matrix = true},
      {.name = "vbd", .sees_contact = true, .constant_matrix = true},  // the Hessians of its vertices are
      {.name = "own"},
  };
  return infos;
}

const std::vector<ConservationInfo>& conservation_infos() {
  using When = ConservationInfo::When;
  static const std::vector<ConservationInfo> infos{
      {.name = "none", .when = When::never, .holds_energy = false},
      {.name = "cpd", .when = When::in_step},
      {.name = "published", .when = When::in_step},
      {.name = "fepr", .beside_contact = false, .exact_fall = true},
      {.name = "energy_only"},
      {.name = "energy_budget", .beside_contact = false, .exact_fall = true},
      {.name = "momentum", .beside_contact = false, .holds_energy = false},
      {.name = "blend"},
      {.name = "a_search", .beside_contact = false, .exact_fall = true},
      {.name = "damping", .holds_energy = false},
  };
  return infos;
}

namespace {

template <class Info, class Wanted>
std::vector<std::string> names_where(const std::vector<Info>& infos, Wanted wanted) {
  std::vector<std::string> out;
  for (const Info& info : infos)
    if (wanted(info)) out.push_back(info.name);
  return out;
}
template <class Info>
std::vector<std::string> all_names(const std::vector<Info>& infos) {
  return names_where(infos, [](const Info&) { return true; });
}
template <class Info>
const Info* find(const std::vector<Info>& infos, std::string_view name) {
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const Info& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

/// The rows of a point.
struct Rows {
  explicit Rows(const MethodAxes& axes)
      : integrator(find(integrator_infos(), axes.integrator)),
        minimizer(find(minimizer_infos(), axes.minimizer)),
        conservation(find(conservation_infos(), axes.conservation)) {}
  explicit operator bool() const { return integrator && minimizer && conservation; }
  bool is_cpd() const { return conservation->name == "cpd"; }
  bool in_step() const { return conservation->when == ConservationInfo::When::in_step; }
  bool held_by_minimizer() const { return is_cpd() ? minimizer->holds_cpd : minimizer->holds_published; }

  const IntegratorInfo* integrator;
  const MinimizerInfo* minimizer;
  const ConservationInfo* conservation;
};

/// Integrators with a step of their own of which contacts are a part (integrators/contact_constraints.h).
bool projects_contacts(std::string_view integrator) {
  constexpr std::string_view names[] = {"pbd", "xpbd", "symplectic_euler", "explicit_euler", "verlet", "jakobsen",
                                        "hard", "fast_projection"};
  return std::find(std::begin(names), std::end(names), integrator) != std::end(names);
}

}  // namespace

const IntegratorInfo* find_integrator_info(std::string_view name) { return find(integrator_infos(), name); }
const MinimizerInfo* find_minimizer_info(std::string_view name) { return find(minimizer_infos(), name); }
const ConservationInfo* find_conservation_info(std::string_view name) { return find(conservation_infos(), name); }

const std::vector<std::string>& integrator_names() {
  static std::vector<std::string> names = growable<std::string>({}, integrator_infos().size() + most_plugins);
  static std::mutex mutex;
  return following(names, mutex, integrator_infos(), [](const IntegratorInfo& i) { return i.name; });
}
const std::vector<std::string>& minimizer_names() {
  static const auto names = all_names(minimizer_infos());
  return names;
}
const std::vector<std::string>& conservation_names() {
  static const auto names = all_names(conservation_infos());
  return names;
}
const std::vector<std::string>& own_step_names() {
  static std::vector<std::string> names;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<std::string> now = names_where(integrator_infos(), [](const IntegratorInfo& i) { return i.own_step; });
  if (now.size() != names.size()) names = std::move(now);
  return names;
}
const std::vector<std::string>& post_step_names() {
  static const auto names = names_where(conservation_infos(), [](const ConservationInfo& c) {
    return c.when == ConservationInfo::When::after_step;
  });
  return names;
}

std::optional<MethodAxes> axes_of(const SolverSpec& solver) {
  const MethodInfo* const method = find_method(solver.method);
  if (!method) return std::nullopt;
  return MethodAxes{solver.integrator.empty() ? method->integrator : solver.integrator,
                    solver.minimizer.empty() ? method->minimizer : solver.minimizer,
                    solver.conservation.empty() ? method->conservation : solver.conservation};
}

std::vector<AxesConflict> conflicts_of(const MethodAxes& axes) {
  const Rows rows(axes);
  std::vector<AxesConflict> out;
  if (!rows) return out;  // a name that is on no axis: reported with the choices
  const bool own_step = rows.integrator->own_step, own = axes.minimizer == "own";
  const std::string integrator = " with integrator " + quoted(axes.integrator);
  if (own_step != own)
    out.push_back({"minimizer", "found " + quoted(axes.minimizer) + integrator +
                                    (own_step ? ", which has a step of its own, expected \"own\""
                                              : ", which minimises, expected another than \"own\"")});
  if (!own_step && !own && rows.in_step() && !rows.held_by_minimizer()) {
    std::string expected;
    for (const MinimizerInfo& m : minimizer_infos())
      if (rows.is_cpd() ? m.holds_cpd : m.holds_published)
        expected += (expected.empty() ? "" : " or ") + quoted(m.name);
    out.push_back({"minimizer", "found " + quoted(axes.minimizer) + " with conservation " + quoted(axes.conservation) +
                                    ", whose constraints it does not know, expected " + expected});
  }
  if (own_step && rows.in_step())
    out.push_back({"conservation", "found " + quoted(axes.conservation) + integrator +
                                       ", which minimises nothing that could be constrained, expected what is held "
                                       "after the step: \"none\" or another of the choices"});
  if (!rows.integrator->dynamic && axes.conservation != "none")
    out.push_back({"conservation", "found " + quoted(axes.conservation) + integrator +
                                       ", which has no motion to hold, expected \"none\""});
  if (axes.conservation == "published" && !rows.integrator->published)
    out.push_back({"conservation", "found \"published\"" + integrator +
                                       ", expected \"implicit_euler\", which it is written for, or conservation "
                                       "\"cpd\""});
  if (!rows.integrator->force_at_end && rows.is_cpd() && axes.minimizer == "lbfgs")
    out.push_back({"minimizer", "found \"lbfgs\"" + integrator +
                                    " and conservation \"cpd\", expected \"projective\"; \"generalized_alpha\", "
                                    "\"implicit_euler\" and \"trbdf2\" take both"});
  return out;
}

bool takes_acceleration(const MethodAxes& axes) {
  const Rows rows(axes);
  return rows && rows.minimizer->constant_matrix && !rows.in_step();
}

bool takes_consistent_mass(const MethodAxes& axes) {
  const Rows rows(axes);
  return rows && (rows.integrator->force_at_end || !rows.is_cpd());
}

bool sees_contact(const MethodAxes& axes) {
  const Rows rows(axes);
  if (!rows || !rows.integrator->dynamic || !rows.conservation->beside_contact) return false;
  if (rows.integrator->own_step) return projects_contacts(rows.integrator->name);
  return rows.minimizer->sees_contact && (rows.integrator->force_at_end || !rows.is_cpd());
}

std::string why_blind_to_contact(const MethodAxes& axes) {
  const Rows rows(axes);
  if (!rows || sees_contact(axes)) return {};
  if (!rows.integrator->dynamic) return "passes through on the way to its equilibrium";
  if (!rows.conservation->beside_contact) return "restores after the step what a contact has changed";
  const std::string& step = rows.integrator->name;
  if (step == "compliant" || step == "compliant_plain" || step == "linearized_euler")
    return "one linear solve, which knows of no contact";
  if (rows.integrator->own_step) return "a step of a program's own, without contact";
  if (!rows.minimizer->sees_contact) return "iterations over the elements, without contact";
  return "forces at another point than the one at which H is held";
}

bool keeps_budgets(const MethodAxes& axes) {
  using Budget = IntegratorInfo::Budget;
  const Rows rows(axes);
  if (!rows || !rows.minimizer->keeps_budgets) return false;
  if (axes.conservation == "none") return rows.integrator->budget == Budget::always;
  return rows.is_cpd() && rows.integrator->budget != Budget::none;
}

bool keeps_budgets(const SolverSpec& solver) {
  const std::optional<MethodAxes> axes = axes_of(solver);
  return axes && keeps_budgets(*axes);
}

}  // namespace verve
