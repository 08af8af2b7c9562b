#include <algorithm>

#include "exchange/animation.h"
#include "exchange/output.h"
#include "verve/convert.h"

namespace verve {

void write_numbered(Animation& animation, const std::filesystem::path& folder, const std::string& format) {
  const auto& formats = surface_formats();
  const auto found = std::find_if(formats.begin(), formats.end(), [&](const SurfaceFormat& f) { return f.name == format; });
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(animation.frames.back()).size());
  for (std::size_t k = 0; k < animation.frames.size(); ++k) {
    std::string number = std::to_string(animation.frames[k]);
    number.insert(0, digits - std::min(digits, number.size()), '0');
    for (std::size_t s = 0; s < animation.shapes.size(); ++s) {
      Output out(folder / (animation.shapes[s].stem + "_" + number + "." + format));
      out.text(found->file(animation.at(int(s), int(k)), animation.wide));
      out.close();
    }
  }
}

const std::vector<AnimationFormat>& animation_formats() {
  static const std::vector<AnimationFormat> formats{
      {"usda", "USD, text, all bodies in one file", false, write_usda},
      {"glb", "glTF 2.0 with morph targets, all bodies in one file", true, write_glb},
      {"pc2", "point cache beside an .obj of the first frame", true, write_pc2},
      {"mdd", "point cache beside an .obj of the first frame", true, write_mdd},
      {"vtu", "VTK, a file for each frame and a .pvd of all", false, write_vtu},
      {"vat", "vertex animation texture (.exr), mesh (.glb) and description (.json)", true, write_vat},
      {"obj", "Wavefront, a file for each frame", false,
       [](Animation& a, const std::filesystem::path& f) { write_numbered(a, f, "obj"); }},
      {"ply", "Stanford, binary, a file for each frame", false,
       [](Animation& a, const std::filesystem::path& f) { write_numbered(a, f, "ply"); }},
      {"stl", "STL, binary, a file for each frame", false,
       [](Animation& a, const std::filesystem::path& f) { write_numbered(a, f, "stl"); }},
  };
  return formats;
}

}  // namespace verve
