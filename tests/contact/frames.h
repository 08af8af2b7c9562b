// Surfaces in motion, for the tests of pairs.
#pragma once

#include <memory>

#include "contact/broad_phase.h"
#include "contact/points.h"

namespace verve::test {

/// Bodies with positions at the two ends of a frame.
class Frame {
 public:
  void add(std::shared_ptr<const Surface> surface, std::vector<Vec3> from, std::vector<Vec3> to, double margin) {
    bodies_.push_back({std::move(surface), rows_of(from), rows_of(to), margin});
  }
  std::vector<SweptSurface> surfaces() const {
    std::vector<SweptSurface> out;
    for (size_t b = 0; b < bodies_.size(); ++b)
      out.push_back(
          {bodies_[b].surface.get(), bodies_[b].from.data(), bodies_[b].to.data(), bodies_[b].margin, int(b)});
    return out;
  }
  std::vector<Vec4>& from(int body) { return bodies_[body].from; }
  std::vector<Vec4>& to(int body) { return bodies_[body].to; }

 private:
  struct Body {
    std::shared_ptr<const Surface> surface;
    std::vector<Vec4> from, to;
    double margin;
  };
  std::vector<Body> bodies_;
};

/// Folds of a random direction and length, again and again: a sheet of paper on its way to a ball.
inline std::vector<Vec3> crumpled(std::vector<Vec3> x, std::uint64_t seed, int folds) {
  for (int k = 0; k < folds; ++k) {
    const Vec3 wave = random_point(seed, 2 * k, 6), shift = random_point(seed, 2 * k + 1, 0.25);
    for (Vec3& p : x) p += shift * std::sin(dot(wave, p) + k);
  }
  return x;
}
inline std::vector<Vec3> moved(std::vector<Vec3> x, const Mat3& turn, const Vec3& by) {
  for (Vec3& p : x) p = turn * p + by;
  return x;
}

struct PairLists {
  std::vector<Pair> vertex_face, edge_edge;
  bool operator==(const PairLists&) const = default;
};
inline PairLists pairs(BroadPhase& phase, const std::vector<SweptSurface>& surfaces, bool self) {
  PairLists out;
  phase.find(surfaces, out.vertex_face, out.edge_edge, self);
  return out;
}

}  // namespace verve::test
