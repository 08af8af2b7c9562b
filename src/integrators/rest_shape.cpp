#include "integrators/rest_shape.h"

#include "base/ranks.h"
#include "linear/small.h"

namespace verve {

RestShape::RestShape(const Model& model, const std::vector<int>& bodies) {
  std::vector<double> mass;
  for (const int b : bodies) {
    const Body& body = model.bodies[b];
    Vec3 center{};
    for (int r = 0; r < body.count; ++r) center += body.rest[r].xyz() * body.mass[r];
    center = sum_over_ranks(center) / body.total_mass;
    for (int r = 0; r < body.count; ++r) {
      const Vec4 d = body.rest[r] - Vec4(center);
      rows.push_back(d), mass.push_back(body.mass[r]);
      size += 0.5 * body.mass[r] * dot(d, d);
      second = second + outer(d.xyz(), d.xyz() * body.mass[r]);
    }
  }
  size = sum_over_ranks(size), second = sum_over_ranks(second);
  inverse = pseudo_inverse(second, 1e-10);
  const auto nearer = [&](int a, int b) {
    if ((mass[a] > 0) != (mass[b] > 0)) return mass[a] > 0;
    return dot(rows[a], rows[a]) < dot(rows[b], rows[b]);
  };
  for (int r = 1; r < int(rows.size()); ++r)
    if (nearer(r, middle)) middle = r;
  const bool moves = !rows.empty() && mass[middle] > 0;
  if (ranks() && !nearest_rank(moves ? dot(rows[middle], rows[middle]) : -1)) middle = -1;
}

}  // namespace verve
