// The bodies of a scene over time, as other programs are to have them: what verve convert makes of a recorded run, and
// Python of arrays.
#pragma once

#include <functional>
#include <optional>

#include "exchange/animation.h"
#include "model/element_stress.h"
#include "stage/shape.h"

namespace verve {

/// Where the frames come from. Functions take the number of a frame and give a vector for each vertex of the scene.
struct AnimationFrames {
  std::vector<int> numbers;  ///< ascending, one at least
  std::function<std::vector<Vec3>(int)> positions;
  std::function<std::vector<Vec3>(int)> contact_forces;  ///< empty: not known
  std::vector<TornElement> torn;
  bool wide = false;  ///< positions are doubles
};

/// What is wanted of them.
struct AnimationChoice {
  std::vector<int> bodies;
  double units_per_metre = 1;
  bool z_up = false;
  bool simulated = false;  ///< the meshes that are simulated, inside and all, not the surfaces that they carry
};

class SceneAnimation : public Animation {
 public:
  /// Keeps a pointer to the simulation. `before_mesh` is called before each mesh is made, and may throw.
  SceneAnimation(const Simulation& simulation, AnimationFrames source, const AnimationChoice& choice,
                 std::function<void()> before_mesh = {});

  /// Throws std::runtime_error, with frame, body and vertex, for a position that is not finite.
  const Mesh& at(int shape, int k) override;
  std::vector<std::array<double, 6>> stress(int shape) override;
  std::vector<Vec3> contact_forces(int shape) override;

 private:
  void load(int frame);
  void tear(ShownBody& shape);
  /// As `choice` wants it; of directions without the scale.
  Vec3 turned(const Vec3& v) const { return z_up ? Vec3{v.x, -v.z, v.y} : v; }

  const Simulation& simulation_;
  AnimationFrames source_;
  std::function<void()> before_mesh_;
  double scale_;
  std::vector<ShownBody> bodies_;
  std::optional<ElementStress> stress_;  // made when it is asked for
  std::vector<Vec3> positions_, forces_;
  int loaded_ = -1, forces_of_ = -1;
};

}  // namespace verve
