#include "potentials/group_potential.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace verve {

namespace {
constexpr int vertex_grain = 256;  // vertices per chunk
constexpr int corners_of_chunk = 512;
}  // namespace

void GroupPotential::add_group(const std::vector<int>& vertices, const std::vector<double>& shares,
                               const std::vector<Vec3>& rest) {
  vertex_.insert(vertex_.end(), vertices.begin(), vertices.end());
  share_.insert(share_.end(), shares.begin(), shares.end());
  first_.push_back(int(vertex_.size()));
  weight_.push_back(0);
  double total = 0;
  Vec3 mean{};
  for (size_t i = 0; i < shares.size(); ++i) total += shares[i], mean += (rest[i] - rest[0]) * shares[i];
  total_.push_back(total);
  for (size_t i = 0; i < shares.size(); ++i) {
    root_.push_back(std::sqrt(shares[i]));
    rest_z_.push_back((rest[i] - rest[0] - mean / total) * root_.back());
  }
}

void GroupPotential::finish(size_t scratch) {
  z_.resize(vertex_.size()), dz_.resize(vertex_.size());
  uses_.resize(vertex_.size());
  for (size_t k = 0; k < uses_.size(); ++k) uses_[k] = int(k);
  std::stable_sort(uses_.begin(), uses_.end(), [&](int a, int b) { return vertex_[a] < vertex_[b]; });
  for (size_t u = 0; u < uses_.size(); ++u) {
    if (!touched_.empty() && touched_.back() == vertex_[uses_[u]]) continue;
    touched_.push_back(vertex_[uses_[u]]);
    first_use_.push_back(int(u));
  }
  first_use_.push_back(int(uses_.size()));
  const int mean_corners = elements() > 0 ? int(vertex_.size()) / elements() : 1;
  grain_ = std::max(1, corners_of_chunk / std::max(1, mean_corners));
  scratch_size_ = scratch;
  scratch_.resize(scratch * std::max(1, chunk_count(elements(), grain_)));
}

double GroupPotential::coefficient(int element, int row, int corner) const {
  const int first = first_[element];
  return root_[first + row] * ((row == corner ? 1.0 : 0.0) - share_[first + corner] / total_[element]);
}

/// From differences to the first vertex: exact far from the origin.
void GroupPotential::reduce(const Vec4* x, int element, Vec3* z) const {
  const int first = first_[element], n = corners(element);
  const Vec4 origin = x[vertex_[first]];
  Vec3 mean{};
  for (int i = 0; i < n; ++i) {
    z[i] = (x[vertex_[first + i]] - origin).xyz();
    mean += z[i] * share_[first + i];
  }
  mean = mean / total_[element];
  for (int i = 0; i < n; ++i) z[i] = (z[i] - mean) * root_[first + i];
}

double GroupPotential::evaluate(const Vec4* x, Vec4* gradient) {
  partial_.resize(chunk_count(elements(), grain_));
  parallel_for(elements(), grain_, [&](int begin, int end, int chunk) {
    double sum = 0;
    for (int e = begin; e < end; ++e) {
      const int first = first_[e], n = corners(e);
      Vec3* g = dz_.data() + first;
      reduce(x, e, z_.data() + first);
      sum += group_gradient(e, z_.data() + first, g, scratch_.data() + scratch_size_ * chunk);
      if (!gradient) continue;
      // A^T g
      Vec3 net{};
      for (int i = 0; i < n; ++i) net += g[i] * root_[first + i];
      net = net / total_[e];
      for (int i = 0; i < n; ++i) g[i] = g[i] * root_[first + i] - net * share_[first + i];
    }
    partial_[chunk] = sum;
  });
  double energy = 0;
  for (const double p : partial_) energy += p;
  if (!gradient) return energy;
  parallel_for(int(touched_.size()), vertex_grain, [&](int begin, int end, int) {
    for (int t = begin; t < end; ++t) {
      Vec3 sum{};
      for (int u = first_use_[t]; u < first_use_[t + 1]; ++u) sum += dz_[uses_[u]];
      gradient[touched_[t]] += Vec4(sum);
    }
  });
  return energy;
}

double GroupPotential::add_gradient(const Vec4* x, Vec4* gradient, Precision) { return evaluate(x, gradient); }
double GroupPotential::energy(const Vec4* x, Precision) { return evaluate(x, nullptr); }

double GroupPotential::group_gradient(int element, const Vec3* z, Vec3* gradient, double* scratch) const {
  group_projection(element, z, gradient, scratch);
  double sum = 0;
  for (int i = 0; i < corners(element); ++i) {
    const Vec3 d = z[i] - gradient[i];
    sum += dot(d, d);
    gradient[i] = d * weight_[element];
  }
  return 0.5 * weight_[element] * sum;
}

void GroupPotential::project(const Vec4* x, Vec3* z, Vec3* projected) const {
  for (int e = 0; e < elements(); ++e) {
    Vec3 *ze = z + first_[e], *pe = projected + first_[e];
    reduce(x, e, ze);
    if (has_projection()) {
      group_projection(e, ze, pe, scratch_.data());
    } else {
      group_gradient(e, ze, pe, scratch_.data());
      for (int i = 0; i < corners(e); ++i) pe[i] = weight_[e] > 0 ? ze[i] - pe[i] / weight_[e] : ze[i];
    }
  }
}

void GroupPotential::add_weights(SymmetricAssembly& matrix, int offset, double scale) const {
  for (int e = 0; e < elements(); ++e) {
    const double* m = share_.data() + first_[e];
    for (int i = 0; i < corners(e); ++i)
      for (int j = 0; j <= i; ++j)
        matrix.add(vertex(e, i) + offset, vertex(e, j) + offset,
                   scale * weight_[e] * ((i == j ? m[i] : 0.0) - m[i] * m[j] / total_[e]));
  }
}

double GroupPotential::reference_energy() const {
  double sum = 0;
  for (int e = 0; e < elements(); ++e)
    for (int i = 0; i < corners(e); ++i) sum += 0.5 * weight_[e] * dot(rest_z(e)[i], rest_z(e)[i]);
  return sum;
}

double GroupPotential::constraint(int element, int, const Vec4* x, Vec3* gradient) const {
  const int first = first_[element], n = corners(element);
  Vec3* z = const_cast<Vec3*>(z_.data()) + first;  // scratch
  reduce(x, element, z);
  const double w = weight_[element];
  const double C = std::sqrt(std::max(0.0, 2 * group_gradient(element, z, gradient, scratch_.data()) / w)),
               size = w * C;
  Vec3 net{};
  for (int i = 0; i < n; ++i) net += gradient[i] * root_[first + i];
  net = net / total_[element];
  for (int i = 0; i < n; ++i)
    gradient[i] = size > 0 ? (gradient[i] * root_[first + i] - net * share_[first + i]) / size : Vec3{};
  return C;
}

std::vector<double> vertex_shares(const Mesh& mesh) {
  std::vector<double> share(mesh.vertices.size(), 0.0);
  const auto& x = mesh.vertices;
  const auto add = [&](const auto& element, double size) {
    for (const int v : element) share[v] += size / double(element.size());
  };
  if (!mesh.tetrahedra.empty()) {
    for (const auto& t : mesh.tetrahedra) add(t, std::abs(tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]])));
  } else if (!mesh.triangles.empty()) {
    for (const auto& t : mesh.triangles) add(t, 0.5 * norm(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])));
  } else {
    for (const auto& e : mesh.edges) add(e, norm(x[e[1]] - x[e[0]]));
  }
  return share;
}

int dimension(const Mesh& mesh) { return !mesh.tetrahedra.empty() ? 3 : !mesh.triangles.empty() ? 2 : 1; }

}  // namespace verve
