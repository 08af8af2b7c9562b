// A value over time: constant, or keyframed.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

namespace verve {

enum class Interpolation { linear, step };

/// Keys in order of time. Before the first key and after a key without a value the track gives
/// nothing (a dial is released there, an anchor is off); after the last key its value holds.
template <class T>
struct Track {
  struct Key {
    double time;
    std::optional<T> value;
  };
  std::vector<Key> keys;
  Interpolation interpolation = Interpolation::linear;

  Track() = default;
  Track(T constant) : keys{{-1e300, std::move(constant)}} {}

  bool empty() const { return keys.empty(); }
  bool is_constant() const { return keys.size() == 1 && keys[0].time <= -1e300; }

  std::optional<T> at(double time) const {
    const Key* before = nullptr;
    for (const Key& key : keys) {
      if (key.time > time) {
        if (!before || !before->value) return std::nullopt;
        if (interpolation == Interpolation::step || !key.value) return before->value;
        if constexpr (!std::is_same_v<T, bool> && requires(T a, double s) { T(a * s + a * s); }) {
          const double s = (time - before->time) / (key.time - before->time);
          return T(*before->value * (1 - s) + *key.value * s);
        } else {
          return before->value;
        }
      }
      before = &key;
    }
    return before ? before->value : std::nullopt;
  }
};

}  // namespace verve
