// GroupBatch<Rule>: a potential over groups, and its entry in the registry, from what a group is projected to.
//
// A rule is a struct with
//   name, help                     for people and scene files
//   slack                          whether some deformations cost nothing
//   least, most                    how many vertices a group has; most = 0: any number
//   whole                          without groups, all vertices of the region make one
//   by_volume                      vertices count by the volume they stand for; otherwise all alike
//   Params, fields(), check()      the first one is the stiffness (parameters.h)
//   bind(params, group)            -> Rule, what is to be known of one group
//   weight                         w, set by bind
//   project(n, z, rest, p, scratch) the nearest point of the group's set
// and perhaps
//   groups_of(input, params)       where the groups come from, if not from the scene
//   energy_gradient(...)           in place of w/2 |z - p|^2, for a rule that says projects() is false
//   scratch_size(group)            numbers to work with
//   fault(group)                   why there is nothing to do for a group
//   Patch, patch(group), corner(group, share, i)   a kernel over patches that does the same (patch_loop.h), and what it
//                                  knows of a group and its vertices; used unless a group is too large for it
#pragma once

#include <algorithm>

#include "potentials/group_potential.h"
#include "potentials/parameters.h"
#include "potentials/patch_batch.h"

namespace verve {

/// What a rule sees of a group when it is bound.
struct GroupShape {
  int count;
  const Vec3* rest;  // z at rest
  double total;      // of the shares
  int dimension;     // of the elements of the mesh
  const Formula* formula;
};

template <class Rule>
class GroupBatch : public GroupPotential {
 public:
  using Params = typename Rule::Params;

  struct Groups {
    std::vector<std::vector<int>> vertices;  // of the mesh
    std::vector<std::vector<double>> shares;
  };

  GroupBatch(const PotentialInput& in, const Groups& groups, const Params& params, ElementParameters<Params> own)
      : own_(std::move(own)), formula_(in.formula), dimension_(dimension(in.mesh)) {
    size_t scratch = 0;
    for (size_t g = 0; g < groups.vertices.size(); ++g) {
      std::vector<int> rows;
      std::vector<Vec3> rest;
      double total = 0;
      for (const double s : groups.shares[g]) total += s;
      for (const int v : groups.vertices[g]) rows.push_back(in.index[v]), rest.push_back(in.mesh.vertices[v]);
      add_group(rows, groups.shares[g], rest);
      totals_.push_back(total);
      if constexpr (requires { Rule::scratch_size(shape(0)); })
        scratch = std::max(scratch, Rule::scratch_size(shape(int(g))));
    }
    finish(scratch);
    rules_.resize(elements());
    if constexpr (patched) build_packs(in, groups);
    bind(params);
  }

  std::string_view name() const override { return Rule::name; }
  bool has_projection() const override {
    if constexpr (requires(const Rule& r) { r.projects(); }) return rules_[0].projects();
    return true;
  }
  void set_parameters(const ParameterValues& values) override { bind(read_parameters<Params>(values)); }
  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    if constexpr (patched) {
      if (packed_) return packs_.evaluate(x, gradient, precision);
    }
    return GroupPotential::add_gradient(x, gradient, precision);
  }
  double energy(const Vec4* x, Precision precision = Precision::float64) override {
    if constexpr (patched) {
      if (packed_) return packs_.evaluate(x, nullptr, precision);
    }
    return GroupPotential::energy(x, precision);
  }
  GroupShape shape(int e) const { return {corners(e), rest_z(e), totals_[e], dimension_, formula_.get()}; }

 protected:
  void group_projection(int e, const Vec3* z, Vec3* p, double* scratch) const override {
    rules_[e].project(corners(e), z, rest_z(e), p, scratch);
  }
  double group_gradient(int e, const Vec3* z, Vec3* gradient, double* scratch) const override {
    if constexpr (requires(const Rule& r) { r.energy_gradient(0, z, z, gradient); }) {
      if (!rules_[e].projects()) return rules_[e].energy_gradient(corners(e), z, rest_z(e), gradient);
    }
    return GroupPotential::group_gradient(e, z, gradient, scratch);
  }

 private:
  static constexpr bool patched = requires { typename Rule::Patch; };
  struct NoPacks {};
  template <class R>
  static auto packs_for() {
    if constexpr (requires { typename R::Patch; })
      return PatchBatch<typename R::Patch>();
    else
      return NoPacks();
  }

  void build_packs(const PotentialInput& in, const Groups& groups) {
    std::vector<typename PatchBatch<typename Rule::Patch>::Patch> patches(elements());
    for (int e = 0; e < elements(); ++e)
      for (const int v : groups.vertices[e])
        patches[e].rows.push_back(in.index[v]), patches[e].rest.push_back(in.mesh.vertices[v]);
    packed_ = packs_.build(patches);
  }

  void bind(const Params& params) {
    for (int e = 0; e < elements(); ++e) {
      rules_[e] = Rule::bind(own_.at(params, e), shape(e));
      set_weight(e, rules_[e].weight);
      if constexpr (patched) {
        if (!packed_) continue;
        packs_.set(e, rules_[e].patch(shape(e)), corners(e),
                   [&](int i) { return rules_[e].corner(shape(e), share(e, i), i); });
      }
    }
  }

  ElementParameters<Params> own_;
  std::shared_ptr<const Formula> formula_;
  int dimension_;
  std::vector<double> totals_;
  std::vector<Rule> rules_;
  decltype(packs_for<Rule>()) packs_;
  bool packed_ = false;
};

/// The groups of a rule, with what is wrong with them.
template <class Rule>
typename GroupBatch<Rule>::Groups find_groups(const PotentialInput& in, const typename Rule::Params& params,
                                              const std::string& where, Diagnostics& notes) {
  typename GroupBatch<Rule>::Groups out;
  const int n = int(in.mesh.vertices.size());
  if constexpr (requires { Rule::groups_of(in, params); }) {
    out.vertices = Rule::groups_of(in, params);
  } else if (!in.groups.empty()) {
    out.vertices = in.groups;
  } else if (Rule::whole) {
    out.vertices.emplace_back();
    for (int v = 0; v < n; ++v)
      if (in.region.empty() || in.region[v]) out.vertices[0].push_back(v);
  } else {
    notes.error(where + ".groups", "found none, expected lists of " + std::to_string(Rule::least) +
                                       (Rule::most == Rule::least ? "" : " or more") + " vertices each: \"" +
                                       Rule::name + "\" acts on groups");
    return out;
  }
  const std::vector<double> share = Rule::by_volume ? vertex_shares(in.mesh) : std::vector<double>(n, 1.0);
  std::vector<int> seen(n, -1);
  for (size_t g = 0; g < out.vertices.size(); ++g) {
    const std::vector<int>& group = out.vertices[g];
    const std::string place = in.groups.empty() ? where : where + ".groups[" + std::to_string(g) + "]";
    const int count = int(group.size());
    const std::string found = "found " + std::to_string(count) + (count == 1 ? " vertex" : " vertices");
    if (count < Rule::least || (Rule::most > 0 && count > Rule::most)) {
      notes.error(place,
                  found + ", expected " + std::to_string(Rule::least) + (Rule::most == Rule::least ? "" : " or more"));
      continue;
    }
    if (count > GroupPotential::most_vertices) {
      notes.error(place, found + " in a group, expected at most " + std::to_string(GroupPotential::most_vertices) +
                             ", because each of them is tied to all the others" +
                             (Rule::by_volume ? "; lattice_shape_matching does the same over small regions" : ""));
      continue;
    }
    auto& shares = out.shares.emplace_back();
    for (const int v : group) {
      shares.push_back(share[v]);
      if (seen[v] == int(g)) notes.error(place, "found vertex " + std::to_string(v) + " twice, expected each once");
      if (!(share[v] > 0))
        notes.error(place, "vertex " + std::to_string(v) + " belongs to no element, expected one that has mass");
      seen[v] = int(g);
    }
  }
  if constexpr (requires { Rule::share_out(out.vertices, out.shares, n); }) {
    if (out.shares.size() == out.vertices.size()) Rule::share_out(out.vertices, out.shares, n);
  }
  return out;
}

/// A batch over the groups of a potential: make(groups, params, parameters of single groups). Null with errors at `where`.
template <class Rule, class Make>
std::unique_ptr<Potential> make_group_batch(const PotentialInput& in, const std::string& where, Diagnostics& notes,
                                            Make&& make) {
  using Params = typename Rule::Params;
  const size_t problems = notes.items().size();
  const Params params = read_parameters<Params>(in.values);
  const auto groups = find_groups<Rule>(in, params, where, notes);
  std::vector<int> all(groups.vertices.size());
  for (size_t g = 0; g < all.size(); ++g) all[g] = int(g);
  ElementParameters<Params> own(in.arrays, int(all.size()), all, where, notes);
  for (size_t g = 0; g < all.size() && !own.empty() && notes.items().size() == problems; ++g)
    if (const std::string fault = own.at(params, int(g)).check(); !fault.empty())
      notes.error(where, "group " + std::to_string(g) + ": " + fault);
  if constexpr (requires { Rule::fault(in); }) {
    if (const std::string fault = Rule::fault(in); !fault.empty()) notes.error(where, fault);
  }
  if (groups.vertices.empty() && notes.items().size() == problems)
    notes.error(where + ".region", "found no group of vertices inside, expected at least one");
  if (notes.items().size() > problems) return nullptr;
  auto made = make(groups, params, std::move(own));
  for (int e = 0; e < made->elements(); ++e) {
    const std::string fault = Rule::fault(made->shape(e));
    if (!fault.empty()) {
      notes.error(in.groups.empty() ? where : where + ".groups[" + std::to_string(e) + "]", fault);
      return nullptr;
    }
  }
  return made;
}

/// The registry line of a rule.
template <class Rule>
PotentialEntry group_entry() {
  using Params = typename Rule::Params;
  PotentialEntry out;
  out.info = {Rule::name, Rule::help, "groups of vertices", parameter_infos<Params>()};
  out.info.slack = Rule::slack;
  out.info.takes_groups = !requires(const PotentialInput& in, const Params& p) { Rule::groups_of(in, p); };
  out.check = [](const ParameterValues& values) { return read_parameters<Params>(values).check(); };
  out.make = [](const PotentialInput& in, const std::string& where, Diagnostics& notes) -> std::unique_ptr<Potential> {
    return make_group_batch<Rule>(in, where, notes, [&](const auto& groups, const Params& params, auto&& own) {
      return std::make_unique<GroupBatch<Rule>>(in, groups, params, std::move(own));
    });
  };
  return out;
}

}  // namespace verve
