// Whatever the bytes, a reader answers with what it has read or with problems.
#include <cmath>

#include "targets.h"
#include "verve/mesh.h"
#include "verve/scene_file.h"

namespace verve::fuzz {

void scene(std::string_view bytes) {
  const Expected<Scene> read = parse_scene(std::string(bytes), "fuzzed.json");
  if (!read) return hold(read.diagnostics().has_errors(), "a scene that is refused has a problem");
  const std::string written = write_scene(*read);
  const Expected<Scene> again = parse_scene(written, "written.json");
  hold(again.has_value(), "what was read can be written and read: " + again.diagnostics().text());
  hold(write_scene(*again) == written, "what was written and read is written alike");
}

/// The path and the value of --set, a line each.
void override_value(std::string_view bytes) {
  static const std::string sound = builtin_scenes().front().text;
  Bytes in(bytes);
  const std::string path(in.until('\n')), value(in.until('\n'));
  const Expected<Scene> read = parse_scene(sound, "sound.json", {{path, value}});
  if (!read) return hold(read.diagnostics().has_errors(), "an override that is refused has a problem");
  hold(parse_scene(write_scene(*read), "written.json").has_value(), "what was set can be written and read");
}

/// The first byte says which format.
void mesh(std::string_view bytes) {
  Bytes in(bytes);
  const auto& formats = mesh_format_infos();
  const MeshFormatInfo& format = formats[in.byte() % formats.size()];
  const Expected<Mesh> read = parse_mesh(std::string(in.rest()), "fuzzed" + format.extensions.front());
  if (!read) return hold(read.diagnostics().has_errors(), "a mesh that is refused has a problem");
  for (const Vec3& p : read->vertices) hold(std::isfinite(p.x + p.y + p.z), "vertices are finite");
  const auto within = [&](const auto& elements) {
    for (const auto& element : elements)
      for (const int v : element) hold(v >= 0 && v < int(read->vertices.size()), "elements have vertices");
  };
  within(read->tetrahedra), within(read->triangles), within(read->edges);
  within(surface(*read));
}

}  // namespace verve::fuzz
