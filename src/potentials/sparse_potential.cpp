#include "potentials/sparse_potential.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"

namespace verve {

namespace {
constexpr int grain = 256;  // elements, or vertices, per chunk
}

void SparsePotential::add_element(double weight, const std::vector<std::vector<Coefficient>>& rows) {
  // in the order of their first use, so that how the rows are numbered rounds nothing differently
  std::vector<std::array<int, 2>> first_use;  // vertex, where in the list of all coefficients
  int count = 0;
  for (const auto& row : rows)
    for (const Coefficient& c : row) first_use.push_back({c.vertex, count++});
  std::sort(first_use.begin(), first_use.end());
  first_use.erase(std::unique(first_use.begin(), first_use.end(), [](auto& a, auto& b) { return a[0] == b[0]; }),
                  first_use.end());
  std::vector<int> corners(count, -1), number(first_use.size());
  for (const auto& [vertex, place] : first_use) corners[place] = vertex;
  corners.erase(std::remove(corners.begin(), corners.end(), -1), corners.end());
  const auto sorted = [&](int vertex) {
    return std::lower_bound(first_use.begin(), first_use.end(), std::array<int, 2>{vertex, 0}) - first_use.begin();
  };
  for (size_t c = 0; c < corners.size(); ++c) number[sorted(corners[c])] = int(c);
  for (const auto& row : rows) {
    for (const Coefficient& c : row) {
      entry_corner_.push_back(number[sorted(c.vertex)]);
      entry_value_.push_back(c.value);
    }
    first_entry_.push_back(int(entry_corner_.size()));
    row_scale_.push_back(1);
  }
  corner_.insert(corner_.end(), corners.begin(), corners.end());
  weight_.push_back(weight);
  first_row_.push_back(int(first_entry_.size()) - 1);
  first_corner_.push_back(int(corner_.size()));
}

void SparsePotential::finish(const Vec4* rest) {
  struct Use {
    int vertex, row;
    double value;
  };
  std::vector<Use> uses;
  z_.resize(first_row_.back()), dz_.resize(z_.size()), rest_z_.resize(z_.size());
  rest_size_.assign(z_.size(), 0);
  for (int e = 0; e < elements(); ++e) {
    reduce(rest, e, rest_z_.data() + first_row_[e]);
    for (int r = first_row_[e]; r < first_row_[e + 1]; ++r) {
      double size = 0;
      for (int k = first_entry_[r]; k < first_entry_[r + 1]; ++k) {
        uses.push_back({vertex(e, entry_corner_[k]), r, entry_value_[k]});
        size += std::abs(entry_value_[k]) * norm((rest[vertex(e, entry_corner_[k])] - rest[vertex(e, 0)]).xyz());
      }
      rest_size_[r] = size * size;
    }
  }
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.vertex < b.vertex; });
  for (const Use& use : uses) {
    if (touched_.empty() || touched_.back() != use.vertex) {
      touched_.push_back(use.vertex);
      first_use_.push_back(int(use_row_.size()));
    }
    use_row_.push_back(use.row);
    use_value_.push_back(use.value);
  }
  first_use_.push_back(int(use_row_.size()));
}

double SparsePotential::coefficient(int element, int row, int corner) const {
  double sum = 0;
  const int r = first_row_[element] + row;
  for (int k = first_entry_[r]; k < first_entry_[r + 1]; ++k)
    if (entry_corner_[k] == corner) sum += entry_value_[k];
  return sum * row_scale_[r];
}

/// From differences to the first vertex: exact far from the origin.
void SparsePotential::reduce(const Vec4* x, int element, Vec3* z) const {
  const int* corner = corner_.data() + first_corner_[element];
  const Vec4 first = x[corner[0]];
  for (int r = first_row_[element]; r < first_row_[element + 1]; ++r) {
    Vec3 sum{};
    for (int k = first_entry_[r]; k < first_entry_[r + 1]; ++k)
      sum += (x[corner[entry_corner_[k]]] - first).xyz() * entry_value_[k];
    *z++ = sum * row_scale_[r];
  }
}

double SparsePotential::evaluate(const Vec4* x, Vec4* gradient) {
  parallel_for(elements(), grain, [&](int begin, int end, int) {
    for (int e = begin; e < end; ++e) reduce(x, e, z_.data() + first_row_[e]);
  });
  prepare(z_);
  const double energy = ordered_sum<double>(elements(), grain, partial_, [&](int begin, int end) {
    double sum = 0;
    for (int e = begin; e < end; ++e) {
      sum += element_gradient(e, z_.data() + first_row_[e], dz_.data() + first_row_[e]);
      for (int r = first_row_[e]; r < first_row_[e + 1]; ++r) dz_[r] *= row_scale_[r];
    }
    return sum;
  });
  if (!gradient) return energy;
  // each vertex gathers A^T dz from the rows it is part of, in their order
  parallel_for(int(touched_.size()), grain, [&](int begin, int end, int) {
    for (int t = begin; t < end; ++t) {
      Vec3 sum{};
      for (int u = first_use_[t]; u < first_use_[t + 1]; ++u) sum += dz_[use_row_[u]] * use_value_[u];
      gradient[touched_[t]] += Vec4(sum);
    }
  });
  return energy;
}

double SparsePotential::add_gradient(const Vec4* x, Vec4* gradient, Precision) { return evaluate(x, gradient); }
double SparsePotential::energy(const Vec4* x, Precision) { return evaluate(x, nullptr); }

void SparsePotential::element_projection(int, const Vec3*, Vec3*) const {}

void SparsePotential::project(const Vec4* x, Vec3* z, Vec3* projected) const {
  auto* self = const_cast<SparsePotential*>(this);  // element_gradient and prepare keep nothing but scratch
  for (int e = 0; e < elements(); ++e) reduce(x, e, z + first_row_[e]);
  self->prepare(std::vector<Vec3>(z, z + first_row_.back()));
  for (int e = 0; e < elements(); ++e) {
    const Vec3* ze = z + first_row_[e];
    Vec3* pe = projected + first_row_[e];
    if (has_projection()) {
      element_projection(e, ze, pe);
    } else {
      self->element_gradient(e, ze, pe);
      for (int r = 0; r < rows(e); ++r) pe[r] = weight_[e] > 0 ? ze[r] - pe[r] / weight_[e] : ze[r];
    }
  }
}

void SparsePotential::add_weights(SymmetricAssembly& matrix, int offset, double scale) const {
  for (int e = 0; e < elements(); ++e) {
    const int n = corners(e);
    std::vector<double> dense(size_t(n) * n, 0.0);
    for (int r = first_row_[e]; r < first_row_[e + 1]; ++r)
      for (int k = first_entry_[r]; k < first_entry_[r + 1]; ++k)
        for (int l = first_entry_[r]; l < first_entry_[r + 1]; ++l)
          dense[size_t(entry_corner_[k]) * n + entry_corner_[l]] +=
              row_scale_[r] * row_scale_[r] * entry_value_[k] * entry_value_[l];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        matrix.add(vertex(e, i) + offset, vertex(e, j) + offset, scale * weight_[e] * dense[size_t(i) * n + j]);
  }
}

double SparsePotential::reference_energy() const {
  double sum = 0;
  for (int e = 0; e < elements(); ++e)
    for (int r = first_row_[e]; r < first_row_[e + 1]; ++r)
      sum += 0.5 * weight_[e] * row_scale_[r] * row_scale_[r] * rest_size_[r];
  return sum;
}

double SparsePotential::constraint(int element, int, const Vec4* x, Vec3* gradient) const {
  auto* self = const_cast<SparsePotential*>(this);  // scratch, as above
  const int first = first_row_[element];
  Vec3 *z = self->z_.data() + first, *dz = self->dz_.data() + first;
  reduce(x, element, z);
  const double w = weight_[element];
  const double C = std::sqrt(std::max(0.0, 2 * self->element_gradient(element, z, dz) / w)), size = w * C;
  for (int i = 0; i < corners(element); ++i) gradient[i] = {};
  if (!(size > 0)) return C;
  for (int r = first; r < first_row_[element + 1]; ++r)
    for (int k = first_entry_[r]; k < first_entry_[r + 1]; ++k)
      gradient[entry_corner_[k]] += dz_[r] * (row_scale_[r] * entry_value_[k] / size);
  return C;
}

void SparsePotential::relax(const Relaxation& sweep) {
  // what the elements have in common is found once for a sweep
  for (int e = 0; e < elements(); ++e) reduce(sweep.x, e, z_.data() + first_row_[e]);
  prepare(z_);
  Potential::relax(sweep);
}

double ProjectedPotential::element_gradient(int element, const Vec3* z, Vec3* gradient) {
  element_projection(element, z, gradient);
  double sum = 0;
  for (int r = 0; r < rows(element); ++r) {
    const Vec3 d = z[r] - gradient[r];
    sum += dot(d, d);
    gradient[r] = d * weight(element);
  }
  return 0.5 * weight(element) * sum;
}

}  // namespace verve
