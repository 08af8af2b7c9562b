// Batch<Kernel>: the storage of every potential and its entry in the registry, written once. What a kernel is:
// kernel.h.
#pragma once

#include "potentials/chunks.h"
#include "potentials/kernel.h"
#include "potentials/potential.h"

namespace verve {

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
    std::vector<int> corner_rows;
    std::vector<Vec3> centers;
    corner_rows.reserve(stencil_.size() * vertices), centers.reserve(stencil_.size());
    for (size_t e = 0; e < stencil_.size(); ++e) {
      corner_rows.insert(corner_rows.end(), stencil_[e].begin(), stencil_[e].end());
      Vec3 sum{};
      for (const Vec3& r : rest_[e]) sum += r;
      centers.push_back(sum);
    }
    chunks_.build(corner_rows, vertices, centers);
    wide_.resize(chunks_.element_at().size() / block_size), narrow_.resize(wide_.size());
    bind(params);
  }

  std::string_view name() const override { return Kernel::name; }
  int elements() const override { return int(stencil_.size()); }
  int rows() const override { return rows_; }
  int corners() const override { return vertices; }
  int vertex(int element, int corner) const override { return stencil_[element][corner]; }
  double weight(int element) const override { return at(element).weight; }
  double coefficient(int element, int row, int corner) const override { return coefficients(at(element))[row][corner]; }
  bool has_projection() const override { return projects; }

  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    const BlockLoops& loops = block_loops<Kernel>();
    const bool wide = precision == Precision::float64;
    return chunks_.sum_with_gradient(x, gradient, runner(wide ? loops.gradient64 : loops.gradient32, wide));
  }

  double energy(const Vec4* x, Precision precision = Precision::float64) override {
    const BlockLoops& loops = block_loops<Kernel>();
    const bool wide = precision == Precision::float64;
    return chunks_.sum(x, runner(wide ? loops.energy64 : loops.energy32, wide));
  }

  void project(const Vec4* x, Vec3* z, Vec3* projected) const override {
    for (int e = 0; e < elements(); ++e) {
      const Element<double> element = at(e);
      Vec3 d[differences];
      for (int i = 0; i < differences; ++i) d[i] = (x[stencil_[e][i + 1]] - x[stencil_[e][0]]).xyz();
      const Columns<double, rows_> ze = reduce<Kernel, double>(element, d);
      Columns<double, rows_> pe;
      if constexpr (projects) {
        pe = Kernel::project(element, ze);
      } else {
        energy_and_gradient<Kernel, double>(element, ze, pe);
        for (int r = 0; r < rows_; ++r) pe[r] = element.weight > 0 ? ze[r] - pe[r] / element.weight : ze[r];
      }
      for (int r = 0; r < rows_; ++r) z[e * rows_ + r] = ze[r], projected[e * rows_ + r] = pe[r];
    }
  }

  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override {
    for (int e = 0; e < elements(); ++e) {
      const Element<double> element = at(e);
      const auto a = coefficients(element);
      for (int i = 0; i < vertices; ++i) {
        for (int j = 0; j <= i; ++j) {
          double sum = 0;
          for (int r = 0; r < rows_; ++r) sum += a[r][i] * a[r][j];
          matrix.add(stencil_[e][i] + offset, stencil_[e][j] + offset, scale * element.weight * sum);
        }
      }
    }
  }

  double reference_energy() const override {
    double sum = 0;
    for (int e = 0; e < elements(); ++e) {
      const Element<double> element = at(e);
      Vec3 d[differences];
      for (int i = 0; i < differences; ++i) d[i] = rest_[e][i + 1] - rest_[e][0];
      for (const Vec3& z : reduce<Kernel, double>(element, d)) sum += 0.5 * element.weight * dot(z, z);
    }
    return sum;
  }

  void set_parameters(const ParameterValues& values) override { bind(read_parameters<Params>(values)); }

 private:
  static constexpr bool projects = requires(const Element<double>& e, const Columns<double, rows_>& z) {
    Kernel::project(e, z);
  };
  static constexpr int fields = element_fields<Kernel>;
  static_assert(4 * vertices * block_size < 65536, "a chunk numbers its vertices in 16 bits");

  template <class T>
  struct alignas(block_size * sizeof(T)) Block {
    T field[fields][block_size];
  };

  void bind(const Params& params) {
    const std::vector<int>& element_at = chunks_.element_at();
    for (int position = 0; position < int(element_at.size()); ++position) {
      // what fills up the last block repeats the last element
      const int e = position < elements() ? element_at[position] : element_at[elements() - 1];
      const Element<double> element = Kernel::bind(params, rest_[e]);
      double field[fields];
      std::memcpy(field, &element, sizeof element);
      for (int f = 0; f < fields; ++f) {
        wide_[position / block_size].field[f][position % block_size] = field[f];
        narrow_[position / block_size].field[f][position % block_size] = float(field[f]);
      }
    }
  }

  /// An element as it was bound.
  Element<double> at(int element) const {
    const int position = chunks_.position_of()[element];
    double field[fields];
    for (int f = 0; f < fields; ++f) field[f] = wide_[position / block_size].field[f][position % block_size];
    Element<double> out;
    std::memcpy(static_cast<void*>(&out), field, sizeof out);
    return out;
  }

  /// The loop over the elements of a chunk.
  auto runner(BlockLoop loop, bool wide) const {
    return [this, loop, wide](const Chunks::Chunk& c, const double* x, double* gradient) {
      const size_t block = c.first / block_size;
      const void* data = wide ? static_cast<const void*>(&wide_[block]) : &narrow_[block];
      return loop({data, chunks_.corners_at(c.first), c.count, x, gradient});
    };
  }

  /// Rows of A with the first vertex included.
  static std::array<std::array<double, vertices>, rows_> coefficients(const Element<double>& e) {
    std::array<std::array<double, vertices>, rows_> a{};
    for (int r = 0; r < rows_; ++r) {
      for (int i = 0; i < differences; ++i) a[r][i + 1] = e.coefficient(r, i), a[r][0] -= e.coefficient(r, i);
    }
    return a;
  }

  std::vector<Stencil> stencil_;
  std::vector<std::array<Vec3, vertices>> rest_;
  Chunks chunks_;
  std::vector<Block<double>> wide_;
  std::vector<Block<float>> narrow_;
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
