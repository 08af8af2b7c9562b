// An energy by a program, for all elements of a body at once: ConstitutiveLaw in verve/formula.h.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "potentials/elements.h"
#include "potentials/functions.h"
#include "potentials/parameters.h"
#include "potentials/sparse_potential.h"
#include "potentials/triangle_frame.h"

namespace verve {

namespace {

struct Params {
  double stiffness = 1e4;
  static std::vector<Field<Params>> fields() {
    return {field("stiffness", &Params::stiffness, "Pa",
                  "of a projection; of an energy about the largest second derivative of Psi by F, which the global step "
                  "takes in its place (triangles N/m, edges N)")};
  }
};

/// F = sum of x_i times row i: what A is made of, and the size of the element at rest.
struct RestElement {
  double size = 0;
  std::vector<std::vector<SparsePotential::Coefficient>> rows;  // one per column of F
};

void add_row(RestElement& out, const std::vector<int>& corners, const std::vector<double>& slopes) {
  auto& row = out.rows.emplace_back();
  double first = 0;
  for (size_t i = 0; i < slopes.size(); ++i) first -= slopes[i];
  row.push_back({corners[0], first});
  for (size_t i = 0; i < slopes.size(); ++i) row.push_back({corners[i + 1], slopes[i]});
}

RestElement rest_of(const std::array<int, 4>& t, const Mesh& mesh, const std::vector<int>& index) {
  const Vec3 x = mesh.vertices[t[0]];
  const Mat3 edges{{mesh.vertices[t[1]] - x, mesh.vertices[t[2]] - x, mesh.vertices[t[3]] - x}};
  const Mat3 inverse_rest = inverse(edges);
  RestElement out{det(edges) / 6, {}};
  for (int k = 0; k < 3; ++k)
    add_row(out, {index[t[0]], index[t[1]], index[t[2]], index[t[3]]},
            {inverse_rest.col[k][0], inverse_rest.col[k][1], inverse_rest.col[k][2]});
  return out;
}
RestElement rest_of(const std::array<int, 3>& t, const Mesh& mesh, const std::vector<int>& index) {
  const std::array<Vec3, 3> rest{mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]};
  const TriangleOperator<double> frame = triangle_operator(rest);
  RestElement out{triangle_area(rest), {}};
  for (int k = 0; k < 2; ++k)
    add_row(out, {index[t[0]], index[t[1]], index[t[2]]}, {frame.coefficient(k, 0), frame.coefficient(k, 1)});
  return out;
}
RestElement rest_of(const std::array<int, 2>& t, const Mesh& mesh, const std::vector<int>& index) {
  RestElement out{norm(mesh.vertices[t[1]] - mesh.vertices[t[0]]), {}};
  add_row(out, {index[t[0]], index[t[1]]}, {1 / out.size});
  return out;
}

class LawPotential final : public SparsePotential {
 public:
  LawPotential(const PotentialInput& in, LawSource source, std::shared_ptr<const ConstitutiveLaw> law,
               const std::vector<RestElement>& elements, ElementParameters<Params> own)
      : source_(std::move(source)), law_(std::move(law)), own_(std::move(own)) {
    const Params params = params_of(in.values);
    for (size_t e = 0; e < elements.size(); ++e) {
      size_.push_back(elements[e].size);
      add_element(own_.at(params, int(e)).stiffness * size_[e], elements[e].rows);
    }
    std::vector<Vec4> rest(1 + *std::max_element(in.index.begin(), in.index.end()));
    for (size_t v = 0; v < in.index.size(); ++v) rest[in.index[v]] = Vec4(in.mesh.vertices[v]);
    finish(rest.data());
    psi_.resize(elements.size());
    law_value_.resize(elements.size() * size_t(law_->dimension));
  }

  std::string_view name() const override { return source_.name; }
  bool has_projection() const override { return bool(law_->projection); }
  bool is_bounded() const override { return has_projection(); }
  // nobody knows what a program would say of one element alone
  int constraints() const override { return 0; }
  void relax(const Relaxation&) override {}
  void set_parameters(const ParameterValues& values) override {
    if (source_.renew) {
      auto next = std::make_shared<const ConstitutiveLaw>(source_.renew(values));
      if (next->dimension != law_->dimension || bool(next->projection) != bool(law_->projection) ||
          bool(next->energy) != bool(law_->energy))
        throw std::invalid_argument("\"" + std::string(name()) + "\": found a law of another kind with other parameters");
      law_ = std::move(next);
    }
    const Params params = params_of(values);
    for (int e = 0; e < elements(); ++e) set_weight(e, own_.at(params, e).stiffness * size_[e]);
  }

 protected:
  void prepare(const std::vector<Vec3>& z) override {
    if (has_projection())
      law_->projection(elements(), z.data(), law_value_.data());
    else
      law_->energy(elements(), z.data(), psi_.data(), law_value_.data());
  }
  double element_gradient(int e, const Vec3* z, Vec3* gradient) override {
    const Vec3* value = &law_value_[size_t(e) * law_->dimension];
    double sum = 0;
    for (int k = 0; k < law_->dimension; ++k) {
      const Vec3 d = z[k] - value[k];
      sum += dot(d, d);
      gradient[k] = has_projection() ? d * weight(e) : value[k] * size_[e];
    }
    return has_projection() ? 0.5 * weight(e) * sum : size_[e] * psi_[e];
  }
  void element_projection(int e, const Vec3*, Vec3* projected) const override {
    std::copy_n(&law_value_[size_t(e) * law_->dimension], law_->dimension, projected);
  }

 private:
  Params params_of(const ParameterValues& values) const {
    if (!source_.renew) return read_parameters<Params>(values);
    const auto given = values.find(source_.stiffness);
    return {given == values.end() ? source_.standard_stiffness : given->second};
  }

  LawSource source_;
  std::shared_ptr<const ConstitutiveLaw> law_;
  ElementParameters<Params> own_;
  std::vector<double> size_;     // volume, area or length of each element at rest
  std::vector<double> psi_;      // of the last prepare
  std::vector<Vec3> law_value_;  // likewise: dPsi/dF, or the nearest F
};

template <class Cells>
std::unique_ptr<Potential> over(const Cells& cells, const PotentialInput& in, const LawSource& source,
                                const std::shared_ptr<const ConstitutiveLaw>& law, const std::string& where,
                                Diagnostics& out) {
  std::vector<RestElement> elements;
  std::vector<int> kept;
  int count = 0;
  for (const auto& cell : cells) {
    const bool inside = in.region.empty() || std::all_of(cell.begin(), cell.end(), [&](int v) { return in.region[v]; });
    if (inside) elements.push_back(rest_of(cell, in.mesh, in.index)), kept.push_back(count);
    ++count;
  }
  const char* kind = std::array{"edge", "triangle", "tetrahedron"}[size_t(law->dimension) - 1];
  if (elements.empty()) {
    out.error(where, "found no " + std::string(kind) + " in the " + (count > 0 ? "region" : "mesh") +
                         ", expected some: its law has dimension " + std::to_string(law->dimension));
    return nullptr;
  }
  const size_t problems = out.items().size();
  ElementParameters<Params> own(in.arrays, count, kept, where, out);
  if (out.items().size() > problems) return nullptr;
  return std::make_unique<LawPotential>(in, source, law, elements, std::move(own));
}

std::unique_ptr<Potential> make_custom(const PotentialInput& in, const std::string& where, Diagnostics& out) {
  if (is_law(in.law.get())) return make_law_potential(in, {"custom", "stiffness", 0, {}}, in.law, where, out);
  out.error(where, "found no law, expected PotentialSpec::law with a dimension of 1, 2 or 3 and either an energy or a "
                   "projection: \"custom\" is for programs; scene files name a potential (verve list potentials)");
  return nullptr;
}

}  // namespace

bool is_law(const ConstitutiveLaw* law) {
  return law && law->dimension >= 1 && law->dimension <= 3 && bool(law->energy) != bool(law->projection);
}

std::unique_ptr<Potential> make_law_potential(const PotentialInput& in, const LawSource& source,
                                              const std::shared_ptr<const ConstitutiveLaw>& law,
                                              const std::string& where, Diagnostics& out) {
  if (law->dimension == 3) return over(Tetrahedra::of(in.mesh), in, source, law, where, out);
  if (law->dimension == 2) return over(Triangles::of(in.mesh), in, source, law, where, out);
  return over(Edges::of(in.mesh), in, source, law, where, out);
}

PotentialEntry custom_entry() {
  PotentialEntry out;
  out.info = {"custom", "a constitutive law given by a program", "tetrahedra, triangles or edges",
              parameter_infos<Params>()};
  out.check = [](const ParameterValues&) { return std::string(); };
  out.make = make_custom;
  return out;
}

}  // namespace verve
