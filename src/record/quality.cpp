#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "potentials/polar.h"
#include "verve/record.h"

namespace verve {

namespace {

struct BodyShape {
  int first = 0;
  std::vector<double> mass;
  std::vector<Vec3> rest;  // about the centre of mass
  double total = 0;
  double size = 0;  // root mean square distance from the centre of mass, by mass
  std::vector<int> first_neighbour, neighbour;
};

Vec3 center_of(const Vec3* x, const BodyShape& body) {
  Vec3 sum{};
  for (size_t i = 0; i < body.mass.size(); ++i) sum += x[i] * body.mass[i];
  return sum / body.total;
}

BodyShape shape_of(const Simulation& simulation, int body, const std::vector<double>& masses) {
  const Mesh& mesh = simulation.mesh(body);
  const size_t n = mesh.vertices.size();
  BodyShape out;
  out.first = simulation.first_vertex(body);
  out.mass.assign(masses.begin() + out.first, masses.begin() + out.first + std::ptrdiff_t(n));
  for (const double m : out.mass) out.total += m;
  const Vec3 center = center_of(mesh.vertices.data(), out);
  double second = 0;
  for (size_t i = 0; i < n; ++i) {
    out.rest.push_back(mesh.vertices[i] - center);
    second += out.mass[i] * dot(out.rest[i], out.rest[i]);
  }
  out.size = std::sqrt(second / out.total);

  const auto edges = unique_edges(mesh);
  out.first_neighbour.assign(n + 1, 0);
  for (const auto& edge : edges)
    for (const int v : edge) ++out.first_neighbour[v + 1];
  for (size_t i = 0; i < n; ++i) out.first_neighbour[i + 1] += out.first_neighbour[i];
  out.neighbour.resize(2 * edges.size());
  std::vector<int> next(out.first_neighbour.begin(), out.first_neighbour.end() - 1);
  for (const auto& [a, b] : edges) out.neighbour[next[a]++] = b, out.neighbour[next[b]++] = a;
  return out;
}

/// Mean square of L d by mass [m^2], d_i = x_i - c - R rest_i, (L d)_i = d_i - mean of d over the neighbours of i.
double squared_laplacian(const BodyShape& body, const Vec3* x, std::vector<Vec3>& d) {
  const Vec3 center = center_of(x, body);
  Mat3 moment{};
  for (size_t i = 0; i < body.mass.size(); ++i)
    moment = moment + outer(x[i] - center, body.rest[i] * (body.mass[i] / body.total));
  const Mat3 R = nearest_rotation_svd(moment);
  d.resize(body.mass.size());
  for (size_t i = 0; i < d.size(); ++i) d[i] = x[i] - center - R * body.rest[i];
  double sum = 0;
  for (size_t i = 0; i < d.size(); ++i) {
    const int begin = body.first_neighbour[i], end = body.first_neighbour[i + 1];
    if (begin == end) continue;  // belongs to no element
    Vec3 around{};
    for (int k = begin; k < end; ++k) around += d[body.neighbour[k]];
    const Vec3 l = d[i] - around / double(end - begin);
    sum += body.mass[i] * dot(l, l);
  }
  return sum / body.total;
}

}  // namespace

struct QualityMeter::Impl {
  std::vector<BodyShape> bodies;
  int vertices = 0;
  double mass = 0;

  void check(const char* function, const std::vector<Vec3>& positions) const {
    if (int(positions.size()) != vertices)
      throw std::invalid_argument(std::string("QualityMeter::") + function + ": found " +
                                  std::to_string(positions.size()) + " positions, expected " +
                                  std::to_string(vertices) + " (one per vertex)");
  }
  /// Mean over the bodies, by mass, of squares in units of each body's size; its root.
  template <class Square>
  double mean(const Square& square) const {
    double sum = 0;
    for (const BodyShape& body : bodies) sum += body.total / mass * square(body) / (body.size * body.size);
    return std::sqrt(sum);
  }
};

QualityMeter::QualityMeter(const Simulation& simulation) : impl_(std::make_unique<Impl>()) {
  const std::vector<double> masses = simulation.masses();
  impl_->vertices = simulation.vertices();
  for (int b = 0; b < simulation.bodies(); ++b) {
    impl_->bodies.push_back(shape_of(simulation, b, masses));
    impl_->mass += impl_->bodies.back().total;
  }
}
QualityMeter::QualityMeter(QualityMeter&&) noexcept = default;
QualityMeter::~QualityMeter() = default;

const std::vector<Vec3>& SlowPositions::add(const std::vector<Vec3>& positions) {
  constexpr double weights[] = {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};
  if (last_.empty()) {
    last_.assign(std::size(weights), positions);
  } else {
    std::rotate(last_.rbegin(), last_.rbegin() + 1, last_.rend());
    last_.front() = positions;
  }
  mean_.assign(positions.size(), {});
  for (size_t k = 0; k < last_.size(); ++k)
    for (size_t i = 0; i < mean_.size(); ++i) mean_[i] += last_[k][i] * weights[k];
  return mean_;
}

double QualityMeter::roughness(const std::vector<Vec3>& positions) const {
  impl_->check("roughness", positions);
  std::vector<Vec3> d;
  return impl_->mean([&](const BodyShape& body) { return squared_laplacian(body, positions.data() + body.first, d); });
}

double QualityMeter::distance(const std::vector<Vec3>& positions, const std::vector<Vec3>& reference) const {
  impl_->check("distance", positions);
  impl_->check("distance", reference);
  return impl_->mean([&](const BodyShape& body) {
    double sum = 0;
    for (size_t i = 0; i < body.mass.size(); ++i) {
      const Vec3 d = positions[body.first + i] - reference[body.first + i];
      sum += body.mass[i] * dot(d, d);
    }
    return sum / body.total;
  });
}

FrameQuality QualityMeter::measure(const Simulation& simulation, const std::vector<Vec3>* reference) const {
  const std::vector<Vec3> x = simulation.positions();
  FrameQuality out{roughness(x), simulation.constraint_error()};
  if (reference) out.distance = distance(x, *reference);
  return out;
}

}  // namespace verve
