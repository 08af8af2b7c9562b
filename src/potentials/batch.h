// Batch<Kernel>: the storage of every potential and its entry in the registry, written once. What a kernel is:
// kernel.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "linear/aligned.h"
#include "potentials/chunks.h"
#include "potentials/colours.h"
#include "potentials/entry.h"
#include "potentials/kernel.h"
#include "potentials/potential.h"
#include "potentials/stretches.h"

namespace verve {

template <class Kernel>
class Batch final : public Potential {
 public:
  static constexpr int vertices = Kernel::vertices, rows_ = Kernel::rows, differences = vertices - 1;
  using Stencil = std::array<int, vertices>;
  using Params = typename Kernel::Params;
  template <class T>
  using Element = typename Kernel::template Element<T>;

  /// `rest[e]` are the rest positions of stencil e, `own` the parameters that differ between elements.
  Batch(std::vector<Stencil> stencils, std::vector<std::array<Vec3, vertices>> rest, const Params& params,
        ElementParameters<Params> own = {})
      : stencil_(std::move(stencils)), rest_(std::move(rest)), own_(std::move(own)) {
    std::vector<int> corner_rows;
    std::vector<Vec3> corner_rest;
    corner_rows.reserve(stencil_.size() * vertices), corner_rest.reserve(stencil_.size() * vertices);
    for (size_t e = 0; e < stencil_.size(); ++e) {
      corner_rows.insert(corner_rows.end(), stencil_[e].begin(), stencil_[e].end());
      corner_rest.insert(corner_rest.end(), rest_[e].begin(), rest_[e].end());
    }
    chunks_.build(corner_rows, vertices, corner_rest);
    wide_.resize(chunks_.element_at().size() / block_size), narrow_.resize(wide_.size());
    bind(params);
  }

  std::string_view name() const override { return Kernel::name; }
  int elements() const override { return int(stencil_.size()); }
  int rows(int) const override { return rows_; }
  int corners(int) const override { return vertices; }
  int vertex(int element, int corner) const override { return stencil_[element][corner]; }
  double weight(int element) const override { return is_gone(element) ? 0 : at(element).weight; }
  double coefficient(int element, int row, int corner) const override {
    return coefficient_of(at(element), row, corner);
  }
  bool has_projection() const override { return projects; }

  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    const BlockLoops& loops = block_loops<Kernel>();
    return precision == Precision::float64 ? chunks_.sum(x, gradient, loops.gradient64, data_of(wide_))
                                           : chunks_.sum(x, gradient, loops.gradient32, data_of(narrow_));
  }

  double energy(const Vec4* x, Precision precision = Precision::float64) override {
    const BlockLoops& loops = block_loops<Kernel>();
    return precision == Precision::float64 ? chunks_.sum(x, nullptr, loops.energy64, data_of(wide_))
                                           : chunks_.sum(x, nullptr, loops.energy32, data_of(narrow_));
  }

  void project(const Vec4* x, Vec3* z, Vec3* projected) const override {
    for (int e = 0; e < elements(); ++e) {
      if (is_gone(e)) {
        for (int r = 0; r < rows_; ++r) z[e * rows_ + r] = projected[e * rows_ + r] = {};
        continue;
      }
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

  int constraints() const override { return constraints_of<Kernel>(); }
  bool has_smooth_constraints() const override { return has_constraints<Kernel>; }
  double constraint_stiffness(int element, int which) const override {
    return is_gone(element) ? 0 : constraint_stiffness_of<Kernel, double>(at(element), which);
  }
  double full_step(int element, int which, double C) const override {
    return full_step_of<Kernel, double>(at(element), which, C);
  }
  double constraint(int element, int which, const Vec4* x, Vec3* gradient) const override {
    if (is_gone(element)) {
      for (int i = 0; i < vertices; ++i) gradient[i] = {};
      return 0;
    }
    const Element<double> e = at(element);
    const Stencil& s = stencil_[element];
    Vec3 d[differences];
    for (int i = 0; i < differences; ++i) d[i] = (x[s[i + 1]] - x[s[0]]).xyz();
    const Columns<double, rows_> z = reduce<Kernel, double>(e, d);
    Columns<double, rows_> dz = z;
    const double C = constraint_and_gradient<Kernel, double>(e, which, z, dz);
    gradient[0] = {};
    for (int i = 0; i < differences; ++i) {
      gradient[i + 1] = {};
      for (int r = 0; r < rows_; ++r) gradient[i + 1] += dz[r] * e.coefficient(r, i);
      gradient[0] -= gradient[i + 1];
    }
    return C;
  }

  int multipliers() const override {
    if (colours_.empty()) const_cast<Batch*>(this)->colour();
    return int(relaxed_.size()) * constraints() * block_size;
  }
  /// Colour after colour; elements of one colour have no vertex in common, so that it does not matter which goes first
  /// and they may go in packs and on several threads.
  void relax(const Relaxation& sweep) override {
    if (colours_.empty()) colour();
    if (stale_) bind_relaxed();
    for (const Colour& c : colours_) {
      const int blocks = (c.count + block_size - 1) / block_size;
      parallel_for(blocks, blocks_per_task, [&](int begin, int end, int) {
        const int first = c.first_block + begin;
        block_loops<Kernel>().relax({&relaxed_[first], relaxed_corners_.data() + size_t(first) * block_size * vertices,
                                     std::min(end * block_size, c.count) - begin * block_size,
                                     sweep.multipliers + size_t(first) * constraints() * block_size, &sweep});
      });
    }
  }

  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override {
    for (int e = 0; e < elements(); ++e) {
      const Metric k(in_matrix(e));
      const double there = is_gone(e) ? 0 : scale;
      for (int i = 0; i < vertices; ++i)
        for (int j = 0; j <= i; ++j) matrix.add(stencil_[e][i] + offset, stencil_[e][j] + offset, there * k(i, j));
    }
  }
  double metric(int element, int i, int j) const override { return Metric(in_matrix(element))(i, j); }

  void set_rest(const std::vector<Vec3>& shape, const std::vector<Vec3>& in_matrix) override {
    const auto element = [](const std::vector<Vec3>& all, int e) {
      std::array<Vec3, vertices> corners{};
      std::copy_n(all.begin() + size_t(e) * differences, differences, corners.begin() + 1);
      return corners;
    };
    matrix_rest_.resize(rest_.size());
    std::vector<char> changed(rest_.size());
    for (int e = 0; e < elements(); ++e) {
      matrix_rest_[e] = element(in_matrix, e);
      const std::array<Vec3, vertices> now = element(shape, e);
      changed[e] = !(now == rest_[e]), rest_[e] = now;
    }
    for (int position = 0; position < int(chunks_.element_at().size()); ++position)
      if (changed[bound_at(position)]) bind(position);
    stale_ = true;
  }
  double energy_from(const Vec3* shape, int element, const Vec4* x) const override {
    std::array<Vec3, vertices> corners{};
    std::copy_n(shape, differences, corners.begin() + 1);
    const Element<double> e = Kernel::bind(own_.at(params_, element), corners);
    return energy_alone<Kernel, double>(e, z_of(e, element, x));
  }

  bool can_lose_elements() const override { return true; }
  const std::vector<char>& removed() const override { return gone_; }
  void set_removed(const std::vector<char>& gone) override {
    gone_ = gone;
    stale_ = true;
    for (const int k : chunks_.leave_out(gone)) {
      const Chunks::Chunk& c = chunks_.chunks()[k];
      for (int position = c.first; position < c.first + c.all; ++position) bind(position);
    }
  }

  bool has_hessian() const override { return isotropic && !own_metric; }
  void add_hessian(const Vec4* x, bool definite, BlockAssembly& matrix, int offset) override {
    if constexpr (isotropic && !own_metric) {
      if (!x) {
        for (const Stencil& s : stencil_)
          for (int i = 0; i < vertices; ++i)
            for (int j = 0; j <= i; ++j) matrix.add(s[i] + offset, s[j] + offset, Mat3{});
        return;
      }
      // A few groups at a time, by all threads: their blocks are added up, in the order of the elements, before they
      // have left the second-level cache.
      blocks_.resize(size_t(groups_at_a_time) * group_values);
      const int groups = (elements() + block_size - 1) / block_size;
      for (int first = 0; first < groups; first += groups_at_a_time) {
        const int count = std::min(groups_at_a_time, groups - first);
        parallel_tasks((count + 1) / 2, [&](int two) {
          for (int g = 2 * two; g < std::min(2 * two + 2, count); ++g)
            group_hessian(first + g, x, definite, blocks_.data() + size_t(g) * group_values);
        });
        const int begin = first * block_size, end = std::min(elements(), begin + count * block_size);
        for (int e = begin; e < end; e += block_size)
          matrix.add_elements(blocks_.data() + size_t(e - begin) / block_size * group_values, block_size,
                              std::min(block_size, end - e), vertices * (vertices + 1) / 2);
      }
    }
  }

  bool has_proximal() const override { return (projects || isotropic) && !own_metric; }
  double add_proximal(const Vec4* x, Vec3* dual, Vec4* gradient) override {
    if constexpr ((projects || isotropic) && !own_metric) {
      forces_.resize(stencil_.size() * differences), gaps_.resize(stencil_.size());
      parallel_for(elements(), element_grain, [&](int begin, int end, int) {
        for (int e = begin; e < end; ++e)
          gaps_[e] = element_proximal(e, x, dual + size_t(e) * rows_, &forces_[size_t(e) * differences]);
      });
      double sum = 0;
      for (int e = 0; e < elements(); ++e) {
        if (is_gone(e)) continue;
        sum += gaps_[e];
        for (int i = 0; i < differences; ++i) {
          const Vec4 f(forces_[size_t(e) * differences + i]);
          gradient[stencil_[e][i + 1]] += f, gradient[stencil_[e][0]] -= f;
        }
      }
      return sum;
    } else {
      return 0;
    }
  }
  bool has_own_metric() const override { return own_metric; }
  bool is_bounded() const override { return bounded; }

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
  static constexpr bool own_metric = requires(const Element<double>& e) { Kernel::metric(e, 0, 0); };
  static constexpr bool bounded = [] {
    if constexpr (requires { Kernel::bounded; })
      return Kernel::bounded;
    else
      return true;
  }();
  static constexpr bool isotropic = StretchEnergy<Kernel>::isotropic;
  static constexpr int group_values = vertices * (vertices + 1) / 2 * 9 * block_size;  // of add_hessian
  static constexpr int groups_at_a_time = 16;
  static constexpr int element_grain = 32;
  static constexpr int fields = element_fields<Kernel>;
  static_assert(4 * vertices * block_size < 65536, "a chunk numbers its vertices in 16 bits");

  template <class T>
  struct alignas(block_size * sizeof(T)) Block {
    T field[fields][block_size];
  };

  void bind(const Params& params) {
    stale_ = true;
    params_ = params;
    for (int position = 0; position < int(chunks_.element_at().size()); ++position) bind(position);
  }
  /// What fills up the last block repeats the last element.
  int bound_at(int position) const { return chunks_.element_at()[std::min(position, elements() - 1)]; }
  void bind(int position) {
    const int e = bound_at(position);
    const Element<double> element = Kernel::bind(own_.at(params_, e), rest_[e]);
    double field[fields];
    std::memcpy(field, &element, sizeof element);
    for (int f = 0; f < fields; ++f) {
      wide_[position / block_size].field[f][position % block_size] = field[f];
      narrow_[position / block_size].field[f][position % block_size] = float(field[f]);
    }
  }

  bool is_gone(int element) const { return !gone_.empty() && gone_[element]; }

  /// What the global step takes for the Hessian of an element, by corners.
  struct Metric {
    explicit Metric(const Element<double>& e) : element(e) {
      for (int i = 0; i < vertices; ++i)
        for (int r = 0; r < rows_; ++r) a[i][r] = coefficient_of(e, r, i);
    }
    double operator()(int i, int j) const {
      double sum = 0;
      if constexpr (own_metric) {
        sum = Kernel::metric(element, i, j);
      } else {
        for (int r = 0; r < rows_; ++r) sum += a[i][r] * a[j][r];
      }
      return element.weight * sum;
    }
    Element<double> element;
    double a[vertices][rows_];
  };

  /// An element as the matrix has it.
  Element<double> in_matrix(int element) const {
    return matrix_rest_.empty() ? at(element) : Kernel::bind(own_.at(params_, element), matrix_rest_[element]);
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

  Columns<double, rows_> z_of(const Element<double>& element, int e, const Vec4* x) const {
    Vec3 d[differences];
    for (int i = 0; i < differences; ++i) d[i] = (x[stencil_[e][i + 1]] - x[stencil_[e][0]]).xyz();
    return reduce<Kernel, double>(element, d);
  }

  /// The blocks of sixteen elements, see find_corner_blocks.
  void group_hessian(int group, const Vec4* x, bool definite, double* blocks) const {
    CurvatureBlock<rows_, differences> b;
    Element<double> element[block_size];
    for (int lane = 0; lane < block_size; ++lane) {
      const int e = std::min(group * block_size + lane, elements() - 1);
      element[lane] = at(e);
      const Columns<double, rows_> z = z_of(element[lane], e, x);
      for (int r = 0; r < rows_; ++r) {
        for (int a = 0; a < 3; ++a) b.z[r][a][lane] = z[r][a];
        for (int i = 0; i < differences; ++i) b.coefficient[r][i][lane] = element[lane].coefficient(r, i);
      }
    }
    find_stretches(b);
    for (int lane = 0; lane < block_size; ++lane) set_curvatures<Kernel>(element[lane], definite, lane, b);
    find_corner_blocks(b, blocks);
    for (int lane = 0; !gone_.empty() && lane < block_size; ++lane)
      if (is_gone(std::min(group * block_size + lane, elements() - 1)))
        for (int k = 0; k < group_values / block_size; ++k) blocks[k * block_size + lane] = 0;
  }

  /// The forces on all corners but the first.
  double element_proximal(int e, const Vec4* x, Vec3* dual, Vec3* forces) const {
    const Element<double> element = at(e);
    const Columns<double, rows_> z = z_of(element, e, x);
    Columns<double, rows_> q = z, p;
    for (int r = 0; r < rows_; ++r) q[r] += dual[r];
    if constexpr (projects) {  // half way to the set: the energy is the squared distance to it, with the same weight
      p = Kernel::project(element, q);
      for (int r = 0; r < rows_; ++r) p[r] = (p[r] + q[r]) * 0.5;
    } else {
      p = proximal<Kernel>(element, q);
    }
    double gap = 0;
    for (int i = 0; i < differences; ++i) forces[i] = {};
    for (int r = 0; r < rows_; ++r) {
      dual[r] = q[r] - p[r];
      gap += dot(z[r] - p[r], z[r] - p[r]);
      const Vec3 f = (z[r] - p[r] + dual[r]) * element.weight;
      for (int i = 0; i < differences; ++i) forces[i] += f * element.coefficient(r, i);
    }
    return element.weight * gap;
  }

  /// The elements once more, by colours: only for those who sweep.
  void colour() {
    std::vector<int> corner_rows, order(chunks_.element_at().begin(), chunks_.element_at().begin() + elements());
    for (const Stencil& s : stencil_) corner_rows.insert(corner_rows.end(), s.begin(), s.end());
    for (const std::vector<int>& members : colour_elements(corner_rows, vertices, order)) {
      const int first_block = int(relaxed_element_.size()) / block_size;
      colours_.push_back({first_block, int(members.size()), int(members.size())});
      relaxed_element_.insert(relaxed_element_.end(), members.begin(), members.end());
      while (relaxed_element_.size() % block_size) relaxed_element_.push_back(members.back());
    }
    coloured_ = relaxed_element_;
    relaxed_corners_.resize(relaxed_element_.size() * vertices);
    relaxed_.resize(relaxed_element_.size() / block_size);
    bind_relaxed();
  }
  void bind_relaxed() {
    relaxed_element_ = coloured_;
    for (Colour& c : colours_) {  // what is gone goes behind the others
      const auto first = relaxed_element_.begin() + size_t(c.first_block) * block_size;
      c.count = int(std::stable_partition(first, first + c.all, [&](int e) { return !is_gone(e); }) - first);
    }
    int* corner = relaxed_corners_.data();
    for (const int e : relaxed_element_) corner = std::copy(stencil_[e].begin(), stencil_[e].end(), corner);
    for (size_t position = 0; position < relaxed_element_.size(); ++position) {
      const Element<double> element = at(relaxed_element_[position]);
      double field[fields];
      std::memcpy(field, &element, sizeof element);
      for (int f = 0; f < fields; ++f) relaxed_[position / block_size].field[f][position % block_size] = field[f];
    }
    stale_ = false;
  }

  /// Where the elements of a chunk begin.
  template <class Blocks>
  static auto data_of(const Blocks& blocks) {
    return [&](int first) { return static_cast<const void*>(&blocks[first / block_size]); };
  }

  /// Of A with the first vertex included.
  static double coefficient_of(const Element<double>& e, int row, int corner) {
    if (corner > 0) return e.coefficient(row, corner - 1);
    double sum = 0;
    for (int i = 0; i < differences; ++i) sum -= e.coefficient(row, i);
    return sum;
  }

  std::vector<Stencil> stencil_;
  std::vector<std::array<Vec3, vertices>> rest_;
  std::vector<std::array<Vec3, vertices>> matrix_rest_;  // empty: the same
  Params params_;
  ElementParameters<Params> own_;
  std::vector<char> gone_;  // empty: none
  Chunks chunks_;
  std::vector<Block<double>> wide_;
  std::vector<Block<float>> narrow_;
  Aligned<double> blocks_;    // of add_hessian, pairs of corners of sixteen elements at a time
  std::vector<Vec3> forces_;  // of add_proximal
  std::vector<double> gaps_;

  struct Colour {
    int first_block, count, all;  // elements that are there, and all
  };
  static constexpr int blocks_per_task = 16;
  std::vector<Colour> colours_;
  std::vector<int> coloured_, relaxed_element_, relaxed_corners_;  // by colours, each filled up to whole blocks
  std::vector<Block<double>> relaxed_;
  bool stale_ = true;  // relaxed_ has elements of another material
};

/// The elements of a kind that lie in a region: all their vertices do.
template <class Elements>
std::vector<int> elements_in(const Elements& elements, const std::vector<char>& region) {
  std::vector<int> kept;
  for (size_t e = 0; e < elements.size(); ++e) {
    bool inside = true;
    for (const int v : elements[e]) inside = inside && (region.empty() || region[v]);
    if (inside) kept.push_back(int(e));
  }
  return kept;
}

template <class Kernel>
PotentialEntry entry() {
  using Params = typename Kernel::Params;
  PotentialEntry out;
  out.info = {Kernel::name, Kernel::help, Kernel::Elements::name, parameter_infos<Params>()};
  if constexpr (requires { Kernel::slack; }) out.info.slack = Kernel::slack;
  // limits, areas and volumes have nothing to lose by it
  using Elements = typename Kernel::Elements;
  out.info.flows = std::is_same_v<Elements, Hinges> || std::is_same_v<Elements, Joints> || !out.info.slack;
  out.shares = true;
  out.check = [](const ParameterValues& values) { return read_parameters<Params>(values).check(); };
  out.make = [](const PotentialInput& in, const std::string& where, Diagnostics& notes) -> std::unique_ptr<Potential> {
    const size_t problems = notes.items().size();
    if constexpr (requires { Kernel::Elements::fault(in.mesh); }) {
      if (const std::string fault = Kernel::Elements::fault(in.mesh); !fault.empty()) notes.error(where, fault);
    }
    const auto& all = Kernel::Elements::of(in.mesh);
    std::vector<int> kept = elements_in(all, in.region);
    const bool none = kept.empty();
    if (!in.owned.empty()) std::erase_if(kept, [&](int e) { return !in.owned[all[e][0]]; });
    ElementParameters<Params> own(in.arrays, int(all.size()), kept, where, notes);
    const Params params = read_parameters<Params>(in.values);
    std::vector<typename Batch<Kernel>::Stencil> stencils;
    std::vector<std::array<Vec3, Kernel::vertices>> rest;
    for (const int e : kept) {
      auto& s = stencils.emplace_back();
      auto& r = rest.emplace_back();
      for (int i = 0; i < Kernel::vertices; ++i) s[i] = in.index[all[e][i]], r[i] = in.mesh.vertices[all[e][i]];
      if (own.empty()) continue;
      if (const std::string fault = own.at(params, int(stencils.size()) - 1).check(); !fault.empty()) {
        notes.error(where, "element " + std::to_string(e) + ": " + fault);
        break;
      }
    }
    if (all.empty()) {
      notes.error(where + ".type", "\"" + std::string(Kernel::name) + "\" acts on " + Kernel::Elements::name +
                                       ", and the mesh of the body has none");
    } else if (none) {
      notes.error(where + ".region", "found none of the " + std::string(Kernel::Elements::name) +
                                         " with all vertices inside, expected at least one");
    }
    if (notes.items().size() > problems) return nullptr;
    return std::make_unique<Batch<Kernel>>(std::move(stencils), std::move(rest), params, std::move(own));
  };
  return out;
}

}  // namespace verve
