#include "distributed/shared_scene.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace verve {

namespace {

constexpr std::array<std::string_view, 6> methods = {"pd", "pd_bdf2", "pd_alpha", "cpd", "cpd_bdf2", "cpd_euler"};

const std::string& names_of_methods() {
  static const std::string text = [] {
    std::string out;
    for (const std::string_view name : methods) out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
  }();
  return text;
}

const std::string& names_of_potentials() {
  static const std::string text = [] {
    std::string out;
    for (const PotentialEntry& entry : potential_registry())
      if (entry.shares) out += (out.empty() ? "" : ", ") + entry.info.name;
    return out;
  }();
  return text;
}

std::string place(const char* list, size_t index, const char* key = "") {
  return std::string(list) + "[" + std::to_string(index) + "]" + key;
}

void look_at_solver(const SolverSpec& s, Diagnostics& out) {
  const auto one = [&](const char* key, bool good, const std::string& found, const char* expected) {
    if (!good)
      out.error(std::string("solver.") + key, "found " + found + ", expected " + expected + " on several ranks");
  };
  if (std::find(methods.begin(), methods.end(), s.method) == methods.end())
    out.error("solver.method",
              "found \"" + s.method + "\", expected one of " + names_of_methods() + " on several ranks");
  one("integrator", s.integrator.empty(), "\"" + s.integrator + "\"", "that of the method");
  one("minimizer", s.minimizer.empty(), "\"" + s.minimizer + "\"", "that of the method");
  one("conservation", s.conservation.empty(), "\"" + s.conservation + "\"", "that of the method");
  one("acceleration", s.acceleration == Acceleration::none, "an acceleration", "none");
  one("global", s.global == GlobalSolve::automatic, "a solver of one process",
      "\"automatic\" (options of PETSc choose another, as -pc_type hypre does)");
  one("budget", !(s.budget > 0), format_value(s.budget) + " ms", "0: frames take as long as they need");
}

}  // namespace

Diagnostics unshared_parts(const Scene& scene) {
  Diagnostics out;
  look_at_solver(scene.solver, out);
  for (size_t b = 0; b < scene.bodies.size(); ++b) {
    const BodySpec& body = scene.bodies[b];
    const std::string at = place("bodies", b);
    if (body.embed) out.error(at + ".embed", "found a carried surface, expected none on several ranks");
    if (body.mass_matrix != MassMatrix::lumped)
      out.error(at + ".mass_matrix", "found \"consistent\", expected \"lumped\" on several ranks");
    for (size_t k = 0; k < body.potentials.size(); ++k) {
      const PotentialSpec& potential = body.potentials[k];
      const std::string where = at + "." + place("potentials", k);
      const PotentialEntry* entry = find_potential(potential.type);
      if (!entry || !entry->shares)
        out.error(where + ".type",
                  "found \"" + potential.type + "\", expected one of " + names_of_potentials() + " on several ranks");
      if (!potential.tear.empty()) out.error(where + ".tear", "found a limit, expected none on several ranks");
      if (potential.yield) out.error(where + ".yield", "found a yield strain, expected none on several ranks");
    }
  }
  for (size_t a = 0; a < scene.anchors.size(); ++a)
    if (!scene.anchors[a].to_body.empty())
      out.error(place("anchors", a, ".to_body"),
                "found \"" + scene.anchors[a].to_body + "\", expected an anchor to the world on several ranks");
  for (size_t c = 0; c < scene.colliders.size(); ++c)
    out.error(place("colliders", c), "found a collider, expected nothing that can touch on several ranks");
  if (scene.contact) out.error("contact", "found contact, expected none on several ranks");
  return out;
}

Expected<std::unique_ptr<World>> make_shared_world(const Scene& scene, const MpiRanks& ranks, int threads) {
  Diagnostics problems = check_scene(scene);
  if (!problems.has_errors()) problems.append(unshared_parts(scene));
  if (problems.has_errors()) return problems;
  Expected<CompiledScene> compiled = compile(scene, [&](const Body& whole) { return share_of(whole, ranks); });
  problems.append(compiled.diagnostics());
  if (any_rank(!compiled)) {  // of one rank's elements, perhaps
    if (!problems.has_errors()) problems.error("scene", "another rank could not make its share of it");
    return problems;
  }
  for (size_t b = 0; b < compiled->matter.bodies.size(); ++b)
    for (size_t k = 0; k < compiled->matter.bodies[b].potentials.size(); ++k) {
      const Potential& potential = *compiled->matter.bodies[b].potentials[k];
      if (!potential.is_bounded())
        problems.error(place("bodies", b) + "." + place("potentials", k, ".type"),
                       "found \"" + std::string(potential.name()) +
                           "\", whose steps are searched for their length, expected a projective one on several ranks");
    }
  if (any_rank(problems.has_errors())) return problems;
  return {std::make_unique<World>(scene, std::move(*compiled), threads), std::move(problems)};
}

}  // namespace verve
