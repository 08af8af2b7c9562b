// What is behind a Simulation, and the checks of what a caller gives.
#pragma once

#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

#include "integrators/world.h"
#include "verve/simulation.h"

namespace verve {

inline void require(bool good, const std::string& message) {
  if (!good) throw std::invalid_argument(message);
}

inline bool is_finite(const Vec3& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

inline void require_finite(const char* function, const Vec3& v) {
  require(is_finite(v), std::string(function) + ": found a value that is not finite, expected three numbers");
}

/// A rotation that has a direction.
inline Pose require_pose(const char* function, const Placing& placing) {
  const Quaternion& q = placing.rotation;
  const double square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  require_finite(function, placing.position);
  require(square > 0 && std::isfinite(square),
          std::string(function) + ": found a rotation of length 0 or that is not finite, expected a quaternion");
  return {rotation_matrix(q), placing.position};
}

inline std::string index_message(const char* function, const char* what, int found, int count) {
  return std::string(function) + ": found " + what + " " + std::to_string(found) + ", expected 0 to " +
         std::to_string(count - 1);
}

/// What functions of the program throw while something is made is an error like others.
template <class T, class Make>
Expected<T> without_exceptions(Make&& make) {
  Diagnostics problems;
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    problems.error("scene", thrown.what());
  } catch (...) {
    problems.error("scene", "found an exception that is no std::exception");
  }
  return problems;
}

struct Simulation::Impl {
  World world;
  Scene given;                      // as it was created
  Scene settings;                   // likewise, without bodies and what refers to them: what prepare() makes them for
  int threads;
  TaskRunner tasks;
  std::vector<std::string> layout;  // of what it was made from: what a snapshot must fit

  std::vector<Vec3> view = {};  // Simulation::position_view
  bool viewed = false;
  struct Skin {  // of a body, by its vertices: for queries
    std::vector<std::array<int, 3>> triangles;
    std::vector<int> tetrahedron;          // behind each
    std::vector<std::array<int, 2>> ropes;
    std::vector<int> inside;               // tetrahedra that are there
    int torn = -1, generation = 0;         // it is of
  };
  std::vector<Skin> skins = {};

  /// Simulation::publish. Frames that nobody reads any more are filled again; readers may outlive the simulation.
  struct Published {
    std::mutex mutex;
    std::vector<std::unique_ptr<PublishedFrame>> free;
    std::shared_ptr<const PublishedFrame> last;
  };
  std::shared_ptr<Published> publishing = {};

  void publish();
  /// After every change of the state: what was promised to follow it.
  void changed() { renew_view(), publish(); }
  const Skin& skin(int body);
  void renew_view();

  /// The number of a body that is there.
  int body(const char* function, BodyId id) const { return place(function, "body", id, world.state.bodies); }
  /// To be looked at; a place that nobody has shows an empty body.
  const Body& shown(const char* function, BodyId id) const {
    return world.model.bodies[place(function, "body", id, world.state.bodies, id.generation() > 0)];
  }
  int collider(const char* function, ColliderId id) const {
    return place(function, "collider", id, world.state.colliders);
  }
  int wind(const char* function, WindId id) const { return place(function, "wind", id, world.state.winds); }
  int force(const char* function, ForceId id) const { return place(function, "force", id, world.state.forces); }
  /// (one that was removed may be asked for, by its number)
  int anchor(const char* function, AnchorId id) const {
    return place(function, "anchor", id, world.state.anchors, id.generation() > 0);
  }

 private:
  template <class Of, class Places>
  int place(const char* function, const char* what, Id<Of> id, const Places& places, bool present = true) const {
    const int number = id, count = int(places.size());
    require(number >= 0 && number < count, index_message(function, what, number, count));
    const auto& now = places[number];
    const bool stale = id.generation() > 0 && id.generation() != now.generation;
    if (!present || (!stale && !now.removed)) return number;
    throw std::invalid_argument(std::string(function) + ": found " + what + " " + std::to_string(number) +
                                ", which has been removed" +
                                (stale && !now.removed ? "; its number is that of another one now" : ""));
  }
};

/// Potentials that the method cannot drive, and who can drive all that the scene has.
void check_method(const Scene& scene, const Matter& matter, Diagnostics& problems);

}  // namespace verve
