// From a simulation to what is drawn of it: bodies, colliders, floor, camera and colours, the same for a whole run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contact/shapes.h"
#include "geometry/box.h"
#include "render/picture.h"
#include "stage/shape.h"

namespace verve::render {

enum class Coloring {
  body,    ///< each its own: that of the scene where it has one
  strain,  ///< |E|_F of Green's strain E = (FᵀF − 1)/2, at vertices the mean over elements by size
  speed    ///< [m/s]
};

/// One moment of a run.
struct Moment {
  double time = 0;
  std::vector<Vec3> positions;             ///< of all vertices, as of Simulation::positions()
  std::vector<Vec3> velocities{};          ///< likewise; for Coloring::speed
  std::vector<RemovedElements> removed{};  ///< of each body; empty: nothing is gone
};

/// Keeps a pointer to the simulation, whose meshes and scene it shows; its state does not matter.
class Stage {
 public:
  explicit Stage(const Simulation& simulation, Coloring coloring = Coloring::body);

  /// Camera, floor and colour scale will fit this moment too. Call it for some of the run, the extremes at least.
  void include(const Moment& moment);
  /// Chooses the camera; `direction` points from the bodies to the eye, `zoom` above 1 brings them nearer.
  void look_from(const Vec3& direction, double aspect, double zoom = 1);

  View view(const Moment& moment) const;

  Coloring coloring() const { return coloring_; }
  const char* value_title() const { return coloring_ == Coloring::strain ? "strain" : "speed [m/s]"; }
  double value_max() const;  ///< a round number
  /// That of the ground among the colliders; else below everything, or just there where the lowest vertex stands still.
  double floor_height() const;

 private:
  std::vector<float> values_of(int body, const Moment& moment) const;
  void add_body(ShownBody shape, const Moment& moment, View& out) const;
  void add_collider(size_t collider, double time, View& out) const;
  bool hides(size_t collider, double time) const;

  const Simulation* simulation_;
  Coloring coloring_;
  std::vector<ShownBody> shapes_;
  struct ShownCollider {  // in its own frame
    std::unique_ptr<Shape> shape;
    Surface surface;                  // empty for a half-space: as large as the bodies are spread out
    std::optional<Vec3> flat_normal;  // of a half-space
  };
  bool is_ground(size_t collider) const;
  std::vector<ShownCollider> colliders_;
  Box bounds_;
  std::vector<Vec3> points_;
  std::vector<double> times_;
  double largest_ = 0;
  int lowest_ = -1;  // vertex, in the first moment
  Vec3 lowest_at_{};
  double lowest_moved_ = 0;
  Camera camera_;
};

/// "frame 12" and the time in the upper left corner and, where colours stand for values, the scale in the lower one.
void annotate(Image& image, const Stage& stage, std::string_view text);

}  // namespace verve::render
