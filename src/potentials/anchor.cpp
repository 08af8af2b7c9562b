#include "potentials/anchor.h"

namespace verve {

double WorldAnchors::add_gradient(const Vec4* x, Vec4* gradient) const {
  double energy = 0;
  for (size_t i = 0; i < vertices.size(); ++i) {
    const Vec4 d = x[vertices[i]] - points[i];
    gradient[vertices[i]] += d * stiffness;
    energy += 0.5 * stiffness * dot(d, d);
  }
  return energy;
}

void WorldAnchors::add_weights(SymmetricAssembly& matrix) const {
  for (const int v : vertices) matrix.add_to_diagonal(v, stiffness);
}

double BodyLinks::add_gradient(const Vec4* x, Vec4* gradient) const {
  double energy = 0;
  for (const auto& [a, b] : pairs) {
    const Vec4 d = x[b] - x[a];
    gradient[b] += d * stiffness;
    gradient[a] -= d * stiffness;
    energy += 0.5 * stiffness * dot(d, d);
  }
  return energy;
}

void BodyLinks::add_weights(SymmetricAssembly& matrix) const {
  for (const auto& [a, b] : pairs) {
    matrix.add(a, a, stiffness);
    matrix.add(b, b, stiffness);
    matrix.add(a, b, -stiffness);
  }
}

}  // namespace verve
