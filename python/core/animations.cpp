#include "animations.h"

#include <algorithm>
#include <cctype>

#include "exchange/animation.h"
#include "stage/shape.h"
#include "verve/simulation.h"

namespace verve::python {

namespace {

class KeptAnimation : public Animation {
 public:
  KeptAnimation(const Simulation& simulation, py::array_t<double, py::array::c_style> positions)
      : positions_(std::move(positions)) {
    for (int b = 0; b < simulation.bodies(); ++b) {
      bodies_.push_back(shown_body(simulation, b));
      AnimatedShape& shape = shapes.emplace_back();
      shape.name = shape.stem = simulation.body_name(b);
      for (char& c : shape.stem)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
      shape.stem += "_" + std::to_string(b);  // each once
      shape.mesh = at(b, 0);
    }
  }

  const Mesh& at(int shape, int k) override {
    const auto rows = positions_.unchecked<3>();
    frame_.resize(size_t(rows.shape(1)));
    for (py::ssize_t v = 0; v < rows.shape(1); ++v) frame_[size_t(v)] = {rows(k, v, 0), rows(k, v, 1), rows(k, v, 2)};
    bodies_[size_t(shape)].move(frame_);
    return bodies_[size_t(shape)].mesh;
  }

 private:
  py::array_t<double, py::array::c_style> positions_;
  std::vector<ShownBody> bodies_;
  std::vector<Vec3> frame_;
};

}  // namespace

void write_animation(const Simulation& simulation, const py::handle& positions, const std::vector<int>& frames,
                     const std::string& format, const std::filesystem::path& folder) {
  const auto& formats = animation_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.name == format; });
  std::vector<std::string> names;
  for (const AnimationFormat& f : formats) names.push_back(f.name);
  if (found == formats.end()) throw py::value_error("to: found \"" + format + "\", " + expected_one_of(format, names));
  const auto given = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(positions);
  if (!given || given.ndim() != 3 || given.shape(2) != 3 || given.shape(1) != py::ssize_t(simulation.vertices()) ||
      given.shape(0) != py::ssize_t(frames.size()) || frames.empty())
    throw py::value_error("positions: expected " + std::to_string(frames.size()) + " x " +
                          std::to_string(simulation.vertices()) + " x 3 numbers, of one frame at least");
  KeptAnimation animation(simulation, given);
  animation.name = simulation.scene().name.empty() ? "scene" : simulation.scene().name;
  animation.frames = frames, animation.step = simulation.scene().step, animation.wide = true;
  std::filesystem::create_directories(folder);
  found->write(animation, folder);
}

}  // namespace verve::python
