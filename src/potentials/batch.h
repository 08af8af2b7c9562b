// Batch<Kernel>: the loops of every potential, written once.
//
// A kernel is a struct of pure functions, templated on the scalar:
//   name, help                        for people and scene files
//   Elements                          what it acts on: Edges, Tetrahedra
//   vertices, rows                    shape of A; z has `rows` columns
//   Params, Params::fields()          what the scene says
//   Element<T>                        packed data; coefficient(row, i) of A on the difference x_{i+1} - x_0
//   bind(params, rest) -> Element     rest positions of the stencil
//   project(element, z)               the nearest point of the element's set
// z is built from differences to the first vertex (taken in double before they are narrowed), so a kernel is
// translation-invariant by construction and keeps its precision far from the origin.
#pragma once

#include <array>

#include "base/parallel.h"
#include "potentials/parameters.h"
#include "potentials/potential.h"

namespace verve {

template <class T, int Rows>
using Columns = std::array<Vec3T<T>, Rows>;

/// Psi = w/2 |z - project(z)|^2 (CPD Eq. 4); its gradient needs no derivative of the projection, because the
/// projection is optimal.
template <class Kernel, class T>
T projective_energy(const typename Kernel::template Element<T>& e, const Columns<T, Kernel::rows>& z,
                    Columns<T, Kernel::rows>& gradient) {
  const Columns<T, Kernel::rows> p = Kernel::project(e, z);
  T sum = T(0);
  for (int r = 0; r < Kernel::rows; ++r) {
    const Vec3T<T> d = z[r] - p[r];
    sum = sum + dot(d, d);
    gradient[r] = d * e.weight;
  }
  return T(0.5) * e.weight * sum;
}

/// Which elements of a mesh, and their vertices.
struct Edges {
  static constexpr const char* name = "edges";
  static auto of(const Mesh& mesh) { return unique_edges(mesh); }
};
struct Tetrahedra {
  static constexpr const char* name = "tetrahedra";
  static const auto& of(const Mesh& mesh) { return mesh.tetrahedra; }
};

template <class Kernel>
class Batch final : public Potential {
 public:
  static constexpr int vertices = Kernel::vertices, rows_ = Kernel::rows, differences = vertices - 1;
  using Stencil = std::array<int, vertices>;
  using Params = typename Kernel::Params;
  template <class T>
  using Element = typename Kernel::template Element<T>;

  /// `rest[e]` are the rest positions of stencil e.
  Batch(std::vector<Stencil> stencils, std::vector<std::array<Vec3, vertices>> rest, const Params& params)
      : stencil_(std::move(stencils)), rest_(std::move(rest)) {
    bind(params);
    collect_incidence();
    corner_gradient_.resize(stencil_.size() * vertices);
  }

  std::string_view name() const override { return Kernel::name; }
  int elements() const override { return int(stencil_.size()); }
  int rows() const override { return rows_; }
  int corners() const override { return vertices; }
  int vertex(int element, int corner) const override { return stencil_[element][corner]; }
  double weight(int element) const override { return wide_[element].weight; }
  double coefficient(int element, int row, int corner) const override {
    return coefficients(wide_[element])[row][corner];
  }

  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    if (stencil_.empty()) return 0;
    const double sum = precision == Precision::float64 ? run<double, true>(wide_, x) : run<float, true>(narrow(), x);
    // Each vertex gathers its corners in a fixed order: no atomics, the same bits for any number of threads.
    parallel_for(int(touched_.size()), 2048, [&](int begin, int end, int) {
      for (int k = begin; k < end; ++k) {
        Vec3 g{};
        for (int c = first_corner_[k]; c < first_corner_[k + 1]; ++c) g += corner_gradient_[corner_[c]];
        gradient[touched_[k]] += Vec4(g);
      }
    });
    return sum;
  }

  double energy(const Vec4* x) override { return stencil_.empty() ? 0 : run<double, false>(wide_, x); }

  void project(const Vec4* x, Vec3* z, Vec3* projected) const override {
    for (size_t e = 0; e < stencil_.size(); ++e) {
      const auto ze = reduce<double>(wide_[e], stencil_[e], x);
      const auto pe = Kernel::project(wide_[e], ze);
      for (int r = 0; r < rows_; ++r) z[e * rows_ + r] = ze[r], projected[e * rows_ + r] = pe[r];
    }
  }

  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override {
    for (size_t e = 0; e < stencil_.size(); ++e) {
      const auto a = coefficients(wide_[e]);
      for (int i = 0; i < vertices; ++i) {
        for (int j = 0; j <= i; ++j) {
          double sum = 0;
          for (int r = 0; r < rows_; ++r) sum += a[r][i] * a[r][j];
          matrix.add(stencil_[e][i] + offset, stencil_[e][j] + offset, scale * wide_[e].weight * sum);
        }
      }
    }
  }

  double reference_energy() const override {
    double sum = 0;
    for (size_t e = 0; e < stencil_.size(); ++e) {
      for (int r = 0; r < rows_; ++r) {
        Vec3 z{};
        for (int i = 0; i < differences; ++i) z += (rest_[e][i + 1] - rest_[e][0]) * wide_[e].coefficient(r, i);
        sum += 0.5 * wide_[e].weight * dot(z, z);
      }
    }
    return sum;
  }

  void set_parameters(const ParameterValues& values) override { bind(read_parameters<Params>(values)); }

 private:
  void bind(const Params& params) {
    wide_.resize(stencil_.size());
    for (size_t e = 0; e < stencil_.size(); ++e) wide_[e] = Kernel::bind(params, rest_[e]);
    if (!narrow_.empty()) narrow_.clear(), narrow();
  }

  const std::vector<Element<float>>& narrow() {
    if (narrow_.empty()) {
      narrow_.reserve(wide_.size());
      for (const Element<double>& e : wide_) narrow_.push_back(e.template cast<float>());
    }
    return narrow_;
  }

  /// Rows of A with the first vertex included.
  static std::array<std::array<double, vertices>, rows_> coefficients(const Element<double>& e) {
    std::array<std::array<double, vertices>, rows_> a{};
    for (int r = 0; r < rows_; ++r) {
      for (int i = 0; i < differences; ++i) a[r][i + 1] = e.coefficient(r, i), a[r][0] -= e.coefficient(r, i);
    }
    return a;
  }

  template <class T>
  static Columns<T, rows_> reduce(const Element<T>& e, const Stencil& s, const Vec4* x) {
    Vec3T<T> d[differences];
    for (int i = 0; i < differences; ++i) {
      const Vec4 &a = x[s[i + 1]], &o = x[s[0]];
      d[i] = {T(a.x - o.x), T(a.y - o.y), T(a.z - o.z)};
    }
    Columns<T, rows_> z;
    for (int r = 0; r < rows_; ++r) {
      z[r] = d[0] * e.coefficient(r, 0);
      for (int i = 1; i < differences; ++i) z[r] += d[i] * e.coefficient(r, i);
    }
    return z;
  }

  template <class T, bool WithGradient>
  double run(const std::vector<Element<T>>& packed, const Vec4* x) {
    return ordered_sum<double>(elements(), 256, partial_, [&](int begin, int end) {
      double sum = 0;
      for (int e = begin; e < end; ++e) {
        Columns<T, rows_> dz;
        sum += double(projective_energy<Kernel, T>(packed[e], reduce<T>(packed[e], stencil_[e], x), dz));
        if constexpr (WithGradient) {
          Vec3 first{};
          for (int i = 0; i < differences; ++i) {
            Vec3T<T> g = dz[0] * packed[e].coefficient(0, i);
            for (int r = 1; r < rows_; ++r) g += dz[r] * packed[e].coefficient(r, i);
            const Vec3 wide{double(g.x), double(g.y), double(g.z)};
            corner_gradient_[size_t(e) * vertices + i + 1] = wide;
            first -= wide;
          }
          corner_gradient_[size_t(e) * vertices] = first;
        }
      }
      return sum;
    });
  }

  void collect_incidence() {
    int last = -1;
    for (const Stencil& s : stencil_)
      for (const int v : s) last = std::max(last, v);
    std::vector<int> count(last + 2, 0);
    for (const Stencil& s : stencil_)
      for (const int v : s) ++count[v + 1];
    for (int v = 0; v <= last; ++v) {
      if (count[v + 1]) touched_.push_back(v);
      count[v + 1] += count[v];
    }
    first_corner_.clear();
    for (const int v : touched_) first_corner_.push_back(count[v]);
    first_corner_.push_back(int(stencil_.size()) * vertices);
    corner_.resize(stencil_.size() * vertices);
    for (size_t e = 0; e < stencil_.size(); ++e)
      for (int i = 0; i < vertices; ++i) corner_[count[stencil_[e][i]]++] = int(e) * vertices + i;
  }

  std::vector<Stencil> stencil_;
  std::vector<std::array<Vec3, vertices>> rest_;
  std::vector<Element<double>> wide_;
  std::vector<Element<float>> narrow_;
  std::vector<Vec3> corner_gradient_;
  std::vector<int> touched_, first_corner_, corner_;
  std::vector<double> partial_;
};

/// The registry line of a kernel over the elements of a body's mesh.
template <class Kernel>
PotentialEntry entry() {
  PotentialEntry out;
  out.info = {Kernel::name, Kernel::help, Kernel::Elements::name, parameter_infos<typename Kernel::Params>()};
  out.check = [](const ParameterValues& values) { return read_parameters<typename Kernel::Params>(values).check(); };
  out.make = [](const Mesh& mesh, const std::vector<int>& index, const ParameterValues& values) {
    std::vector<typename Batch<Kernel>::Stencil> stencils;
    std::vector<std::array<Vec3, Kernel::vertices>> rest;
    for (const auto& element : Kernel::Elements::of(mesh)) {
      auto& s = stencils.emplace_back();
      auto& r = rest.emplace_back();
      for (int i = 0; i < Kernel::vertices; ++i) s[i] = index[element[i]], r[i] = mesh.vertices[element[i]];
    }
    return std::unique_ptr<Potential>(std::make_unique<Batch<Kernel>>(
        std::move(stencils), std::move(rest), read_parameters<typename Kernel::Params>(values)));
  };
  return out;
}

}  // namespace verve
