// Round bodies from tubes: torus and T-pipe.
#include "base/text.h"
#include "geometry/generators.h"
#include "geometry/implicit.h"

namespace verve {

namespace {

Expected<Mesh> make_torus(const Arguments& a) {
  // in units of the outer diameter
  const double tube = 0.5 * a.number("tube"), ring = 0.5 - tube;
  const auto distance = [=](const Vec3& p) {
    const double r = std::sqrt(p.x * p.x + p.z * p.z) - ring;
    return std::sqrt(r * r + p.y * p.y) - tube;
  };
  return generate_implicit(distance, {-0.5, -tube, -0.5}, {0.5, tube, 0.5}, a);
}

Expected<Mesh> make_t_pipe(const Arguments& a) {
  // in units of the bar's length; the stem hangs down from the middle of the bar
  const double radius = 0.5 * a.number("tube"), stem = a.number("stem");
  const double rounding = 0.3 * radius, fillet = 0.5 * radius;
  const auto distance = [=](const Vec3& p) {
    const double bar = implicit::cylinder(p, {0, 0, 0}, 0, 0.5, radius, rounding);
    const double leg =
        implicit::cylinder(p, {0, -0.5 * (stem + radius), 0}, 1, 0.5 * (stem + radius), radius, rounding);
    return implicit::blend(bar, leg, fillet);
  };
  return generate_implicit(distance, {-0.5, -stem - radius, -1.2 * radius}, {0.5, 1.2 * radius, 1.2 * radius}, a);
}

ParameterInfo fraction_parameter(const char* name, const char* help, double value, double minimum, double maximum) {
  ParameterInfo info{name, "", help, {value}};
  info.minimum = minimum;
  info.maximum = maximum;
  return info;
}

}  // namespace

// The defaults come nearest to the torus (2096 vertices, 7311 tetrahedra) and the T-pipe (1686, 5779) of Constrained
// Projective Dynamics.
Generator torus_generator() {
  GeneratorInfo info{"torus", "a ring around the y axis", implicit_parameters("outer diameter", 19.5)};
  info.parameters.push_back(
      fraction_parameter("tube", "thickness of the ring, as a fraction of the size", 0.19, 0.05, 0.45));
  return {std::move(info), make_torus};
}

Generator t_pipe_generator() {
  GeneratorInfo info{"t_pipe", "a round bar along x with a stem along -y: three different principal moments",
                     implicit_parameters("length of the bar", 23)};
  info.parameters.push_back(
      fraction_parameter("tube", "thickness of bar and stem, as a fraction of the size", 0.16, 0.05, 0.5));
  info.parameters.push_back(
      fraction_parameter("stem", "length of the stem below the bar, as a fraction of the size", 0.5, 0.1, 2));
  return {std::move(info), make_t_pipe};
}

}  // namespace verve
