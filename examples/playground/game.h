// What happens in the playground: it knows of Verve, and nothing of windows.
#pragma once

#include <verve/verve.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

constexpr double frame_time = 1.0 / 60;  // [s]
constexpr double frame_budget = 8;       // of the simulation, of the 16.7 ms that a picture has [ms]

/// What the player wants in a frame.
struct Controls {
  double left_right = 0, near_far = 0, up_down = 0;  // of the paddle, -1 to 1
  bool spawn = false;
};

class Game {
 public:
  Game();
  ~Game();

  /// One frame of the world.
  void step(const Controls& controls);
  /// What a ray from the eye meets first is held there, and follows drag() until release().
  bool grab(const verve::Vec3& eye, const verve::Vec3& way);
  /// The held point is pulled to where the ray is as far from the eye as it was when it was grabbed.
  void drag(const verve::Vec3& eye, const verve::Vec3& way);
  void release();
  /// Removes the body that the ray meets.
  bool remove(const verve::Vec3& eye, const verve::Vec3& way);
  /// Until the next toy is made: then spawning adds it in the same frame, at every run.
  void wait_for_toy() { next_.wait(); }

  /// Triangles of a thing that is drawn; those of bodies change with every step.
  struct Thing {
    std::vector<float> points, normals;  // three numbers per vertex
    std::vector<std::array<int, 3>> triangles;
    std::array<float, 3> color{};
  };
  const std::vector<Thing>& things();

  const verve::Simulation& simulation() const { return *simulation_; }
  const std::string& last_event() const { return last_event_; }
  int bodies() const;
  int hits() const { return hits_; }
  double longest_work() const { return longest_work_; }  // of a frame [ms]

 private:
  std::optional<verve::RayHit> pick(const verve::Vec3& eye, const verve::Vec3& way) const;
  void prepare_next();
  void add_prepared();
  void move_paddle(const Controls& controls);

  std::optional<verve::Simulation> simulation_;
  std::future<verve::Expected<verve::PreparedBody>> next_;  // of another thread
  int spawned_ = 0, wanted_ = 0, hits_ = 0;
  double longest_work_ = 0;
  std::string last_event_;

  verve::ColliderId paddle_;
  verve::Placing paddle_at_;

  struct Held {
    verve::BodyId body;
    verve::AnchorId anchor;
    verve::Vec3 from;
    double distance = 0;  // from the eye
  };
  std::optional<Held> held_;
  std::vector<Thing> things_;
  std::vector<verve::BodyId> drawn_;  // whose triangles things_ has
};
