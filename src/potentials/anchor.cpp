#include "potentials/anchor.h"

namespace verve {

double WorldAnchors::add_gradient(const Vec4* x, Vec4* gradient) const {
  double energy = 0;
  for (size_t i = 0; i < vertices.size(); ++i) {
    const Vec4 d = x[vertices[i]] - points[i];
    gradient[vertices[i]] += d * weight(i);
    energy += 0.5 * weight(i) * dot(d, d);
  }
  return energy;
}

void WorldAnchors::add_weights(SymmetricAssembly& matrix) const {
  for (size_t i = 0; i < vertices.size(); ++i) matrix.add_to_diagonal(vertices[i], weight(i));
}

double BodyLinks::add_gradient(const Vec4* x, Vec4* gradient) const {
  double energy = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [a, b] = pairs[i];
    const Vec4 d = x[b] - x[a];
    gradient[b] += d * weight(i);
    gradient[a] -= d * weight(i);
    energy += 0.5 * weight(i) * dot(d, d);
  }
  return energy;
}

void BodyLinks::add_weights(SymmetricAssembly& matrix) const {
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [a, b] = pairs[i];
    matrix.add(a, a, weight(i));
    matrix.add(b, b, weight(i));
    matrix.add(a, b, -weight(i));
  }
}

}  // namespace verve
