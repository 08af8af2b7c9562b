// Bodies and colliders at rest, for the tests of detection and look-up.
#pragma once

#include <memory>

#include "contact/contact_detector.h"
#include "contact/points.h"

namespace verve::test {

/// Contacts of a few bodies with each other, themselves and colliders where they are.
class Arrangement {
 public:
  /// `rest` gives lengths and neighbours, `at` is where its vertices are.
  int add_body(const Mesh& rest, const std::vector<Vec3>& at, double thickness = 0, double friction = 0) {
    BodySpec spec;
    spec.name = "body" + std::to_string(scene.bodies.size()), spec.thickness = thickness, spec.friction = friction;
    scene.bodies.push_back(spec);
    auto surface = std::make_unique<Surface>(make_surface(rest));
    ContactBody body;
    body.surface = surface.get(), body.first = int(x.size()), body.count = int(at.size());
    body.stiffness = stiffness, body.thickness = surface->solid_faces > 0 ? thickness : 0.5 * thickness;
    for (const auto& [i, j] : surface->edges)
      body.edge += norm(rest.vertices[i] - rest.vertices[j]) / surface->edges.size();
    Box box;
    for (const Vec3& v : rest.vertices) box.add(v);
    const Vec3 extent = box.high - box.low;
    if (surface->solid_faces > 0) body.thin = std::min({extent.x, extent.y, extent.z});
    bodies.push_back(int(bodies.size())), offsets.push_back(body.first);
    for (const Vec3& p : at) x.push_back(Vec4(p)), mass_.push_back(1);
    list_.push_back(body), surfaces_.push_back(std::move(surface));
    return bodies.back();
  }
  int add_collider(std::unique_ptr<Shape> shape, const Pose& pose, double friction = 0) {
    ColliderSpec spec;
    spec.name = "collider" + std::to_string(scene.colliders.size()), spec.friction = friction;
    scene.colliders.push_back(spec);
    shapes_.push_back(std::move(shape)), colliders.push_back({pose, pose, true});
    return int(shapes_.size()) - 1;
  }
  /// After the last of them.
  void compile() {
    scene.contact.emplace();
    pairs.compile(scene);
    for (ContactBody& body : list_) body.mass = mass_.data() + body.first;
    std::vector<const Shape*> shapes;
    for (const auto& shape : shapes_) shapes.push_back(shape.get());
    detector.compile(list_, std::move(shapes), pairs);
    settings.bodies = true;
  }
  MovingBodies moving() const { return {bodies, offsets, x, predicted.empty() ? x : predicted, mass_.data()}; }
  /// Stencils at x; `energy` is W.
  Contacts contacts(double* energy = nullptr) {
    Contacts out;
    detector.detect(moving(), colliders, {&cached, &anchors}, settings, true, out);
    out.look(x.data());
    std::vector<Vec4> gradient(x.size());
    std::vector<double> energies(bodies.size());
    const double w = out.add_gradient(x.data(), gradient.data(), energies);
    if (energy) *energy = w;
    return out;
  }

  static constexpr double stiffness = 1000;
  Scene scene;
  PairTable pairs;
  ContactDetector detector;
  ContactDetector::Settings settings;
  std::vector<int> bodies, offsets;
  std::vector<Vec4> x, predicted;  // predicted empty: nothing moves
  std::vector<ColliderMotion> colliders;
  std::vector<CachedContact> cached;
  std::vector<FrictionAnchor> anchors;

 private:
  std::vector<double> mass_;
  std::vector<ContactBody> list_;
  std::vector<std::unique_ptr<Surface>> surfaces_;
  std::vector<std::unique_ptr<Shape>> shapes_;
};

inline Mesh box_mesh(const Vec3& size, int cells) {
  const double n = cells;
  return generate_mesh("box", {{"size", {size.x, size.y, size.z}}, {"cells", {n, n, n}}}).value();
}
inline Mesh sheet_mesh(double size, int cells) {
  const double n = cells + 1;
  return generate_mesh("cloth", {{"width", {size}}, {"length", {size}}, {"columns", {n}}, {"rows", {n}}}).value();
}
inline std::vector<Vec3> placed(std::vector<Vec3> points, const Mat3& turn, const Vec3& by) {
  for (Vec3& p : points) p = turn * p + by;
  return points;
}

}  // namespace verve::test
