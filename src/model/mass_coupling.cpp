#include "model/mass_coupling.h"

#include "base/ranks.h"

#include <algorithm>
#include <cmath>

namespace verve {

namespace {

int dimension_of(const Mesh& mesh) { return !mesh.tetrahedra.empty() ? 3 : !mesh.triangles.empty() ? 2 : 1; }

}  // namespace

std::vector<MassPair> mass_pairs(const Mesh& mesh, double density) {
  const auto& x = mesh.vertices;
  std::vector<MassPair> pairs;
  const auto couple = [&](const auto& element, double size) {
    const double d = double(element.size()) - 1, weight = density * size / ((d + 1) * (d + 2));
    for (size_t i = 0; weight > 0 && i < element.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        pairs.push_back({std::min(element[i], element[j]), std::max(element[i], element[j]), weight});
  };
  switch (dimension_of(mesh)) {
    case 3:
      for (const auto& t : mesh.tetrahedra) couple(t, std::abs(tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]])));
      break;
    case 2:
      for (const auto& t : mesh.triangles) couple(t, 0.5 * norm(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])));
      break;
    default:
      for (const auto& e : mesh.edges) couple(e, norm(x[e[1]] - x[e[0]]));
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const MassPair& p, const MassPair& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; });
  size_t kept = 0;
  for (const MassPair& pair : pairs) {
    if (kept > 0 && pairs[kept - 1].a == pair.a && pairs[kept - 1].b == pair.b) {
      pairs[kept - 1].weight += pair.weight;
    } else {
      pairs[kept++] = pair;
    }
  }
  pairs.resize(kept);
  return pairs;
}

MassCoupling mass_coupling(const Mesh& mesh, const std::vector<MassPair>& pairs,
                           const std::vector<int>& row_of_vertex) {
  MassCoupling out;
  if (pairs.empty()) return out;
  out.dimension = dimension_of(mesh);
  const int rows = int(row_of_vertex.size());
  out.start.assign(rows + 1, 0);
  for (const MassPair& pair : pairs)
    for (const int v : {pair.a, pair.b}) ++out.start[row_of_vertex[v] + 1];
  for (int r = 0; r < rows; ++r) out.start[r + 1] += out.start[r];
  out.column.resize(out.start[rows]), out.weight.resize(out.start[rows]);
  std::vector<int> next(out.start.begin(), out.start.end() - 1);
  const auto add = [&](int row, int column, double weight) {
    out.column[next[row]] = column;
    out.weight[next[row]++] = weight;
  };
  for (const MassPair& pair : pairs) {
    const int a = row_of_vertex[pair.a], b = row_of_vertex[pair.b];
    add(a, b, pair.weight), add(b, a, pair.weight);
  }
  return out;
}

// Each pair is met from both of its ends.

double MassCoupling::kinetic(const Vec4* v) const {
  double sum = 0;
  for (int i = 0; i < rows(); ++i)
    for (int k = start[i]; k < start[i + 1]; ++k) {
      const Vec4 d = v[column[k]] - v[i];
      sum += weight[k] * dot(d, d);
    }
  return -0.25 * sum;
}

double kinetic_energy(const double* mass, int count, const MassCoupling& coupling, const Vec4* v, const Vec3& drift) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const Vec3 w = v[i].xyz() - drift;
    sum += 0.5 * mass[i] * dot(w, w);
  }
  sum = sum_over_ranks(sum);
  return coupling.empty() ? sum : sum + coupling.kinetic(v);  // rows of D sum to zero: a drift adds nothing
}

Vec3 MassCoupling::spin(const Vec4* x, const Vec4* v) const {
  Vec3 sum{};
  for (int i = 0; i < rows(); ++i)
    for (int k = start[i]; k < start[i + 1]; ++k)
      sum += cross((x[column[k]] - x[i]).xyz(), (v[column[k]] - v[i]).xyz()) * weight[k];
  return sum * -0.5;
}

Mat3 MassCoupling::second(const Vec4* x) const {
  Mat3 sum{};
  for (int i = 0; i < rows(); ++i)
    for (int k = start[i]; k < start[i + 1]; ++k) {
      const Vec3 d = (x[column[k]] - x[i]).xyz();
      sum = sum + outer(d, d * weight[k]);
    }
  return sum * -0.5;
}

}  // namespace verve
