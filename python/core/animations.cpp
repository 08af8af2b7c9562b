#include "animations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stage/scene_animation.h"
#include "verve/simulation.h"

namespace verve::python {

namespace {

using Positions = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<Vec3> frame_of(const Positions& positions, py::ssize_t k) {
  const auto rows = positions.unchecked<3>();
  std::vector<Vec3> out;
  for (py::ssize_t v = 0; v < rows.shape(1); ++v) out.push_back({rows(k, v, 0), rows(k, v, 1), rows(k, v, 2)});
  return out;
}

}  // namespace

void write_animation(const Simulation& simulation, const py::handle& positions, const std::vector<int>& frames,
                     const TornList& torn, const std::string& format, const std::filesystem::path& folder) {
  const auto& formats = animation_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.name == format; });
  std::vector<std::string> names;
  for (const AnimationFormat& f : formats) names.push_back(f.name);
  if (found == formats.end()) throw py::value_error("to: found \"" + format + "\", " + expected_one_of(format, names));
  const auto given = Positions::ensure(positions);
  if (!given || given.ndim() != 3 || given.shape(2) != 3 || given.shape(1) != py::ssize_t(simulation.vertices()) ||
      given.shape(0) != py::ssize_t(frames.size()) || frames.empty())
    throw py::value_error("positions: expected " + std::to_string(frames.size()) + " x " +
                          std::to_string(simulation.vertices()) + " x 3 numbers, of one frame at least");
  if (frames[0] < 0 || std::adjacent_find(frames.begin(), frames.end(), std::greater_equal<>()) != frames.end())
    throw py::value_error("frames: expected numbers from 0, ascending");
  AnimationFrames source;
  source.numbers = frames, source.wide = true;
  source.positions = [&](int frame) {
    return frame_of(given, std::lower_bound(frames.begin(), frames.end(), frame) - frames.begin());
  };
  for (const auto& [frame, body, kind, element] : torn) source.torn.push_back({frame, body, kind, element});
  for (std::size_t k = 0; k < frames.size(); ++k)
    for (const Vec3& p : frame_of(given, py::ssize_t(k)))
      if (!(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)))
        throw py::value_error("positions: frame " + std::to_string(frames[k]) + " has some that are not finite");
  AnimationChoice choice;
  choice.bodies.resize(std::size_t(simulation.bodies()));
  std::iota(choice.bodies.begin(), choice.bodies.end(), 0);
  SceneAnimation animation(simulation, std::move(source), choice);
  std::filesystem::create_directories(folder);
  found->write(animation, folder);
}

}  // namespace verve::python
