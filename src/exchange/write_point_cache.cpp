// PC2 (little endian) and MDD (big endian): nothing but the points of every frame, beside an .obj that has the rest.
#include "exchange/animation.h"
#include "exchange/output.h"
#include "verve/convert.h"

namespace verve {

namespace {

void write_first_frame(Animation& animation, int shape, const std::filesystem::path& folder) {
  for (const SurfaceFormat& format : surface_formats()) {
    if (format.name != "obj") continue;
    Output out(folder / (animation.shapes[shape].stem + ".obj"));
    out.text(format.file(animation.shapes[shape].mesh, animation.wide));
    out.close();
  }
}

void write_points(Animation& animation, int shape, Output& out, bool big_endian) {
  for (std::size_t k = 0; k < animation.frames.size(); ++k)
    for (const Vec3& p : animation.at(shape, int(k)).vertices)
      for (const double c : {p.x, p.y, p.z}) out.number(float(c), big_endian);
  out.close();
}

}  // namespace

void write_pc2(Animation& animation, const std::filesystem::path& folder) {
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
    write_first_frame(animation, int(s), folder);
    Output out(folder / (animation.shapes[s].stem + ".pc2"));
    out.text(std::string_view("POINTCACHE2\0", 12));
    out.number(std::int32_t(1));
    out.number(std::int32_t(animation.shapes[s].mesh.vertices.size()));
    out.number(float(animation.frames[0]));
    out.number(float(animation.frames.size() > 1 ? animation.frames[1] - animation.frames[0] : 1));
    out.number(std::int32_t(animation.frames.size()));
    write_points(animation, int(s), out, false);
  }
}

void write_mdd(Animation& animation, const std::filesystem::path& folder) {
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
    write_first_frame(animation, int(s), folder);
    Output out(folder / (animation.shapes[s].stem + ".mdd"));
    out.number(std::int32_t(animation.frames.size()), true);
    out.number(std::int32_t(animation.shapes[s].mesh.vertices.size()), true);
    for (std::size_t k = 0; k < animation.frames.size(); ++k) out.number(float(animation.time(int(k))), true);
    write_points(animation, int(s), out, true);
  }
}

}  // namespace verve
