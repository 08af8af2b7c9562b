// Object File Format of Geomview: OFF, with colours, normals or texture coordinates behind the coordinates (COFF, NOFF,
// STOFF), which are not used.
#include "geometry/mesh_formats.h"
#include "geometry/polygons.h"

namespace verve {

namespace {

Mesh read(const MeshSource& source, Diagnostics& out) {
  Mesh mesh;
  PolygonReader polygons;
  WordReader report("", source.name, out);
  LineReader lines(source.bytes);
  std::vector<std::string_view> words;
  const auto fail = [&](const std::string& what) {
    report.error_at(std::max(1, lines.line()), what);
    return Mesh();
  };
  if (!lines.next_filled(words) || !words[0].ends_with("OFF")) return fail("found no \"OFF\", expected it to begin with");
  if (words[0].find('4') != std::string_view::npos || words[0].find('n') != std::string_view::npos)
    return fail("found " + quote(words[0]) + ", expected three coordinates (OFF, COFF, NOFF, STOFF)");
  if (words.size() > 1 && words[1] == "BINARY") return fail("found a binary file, expected text");
  words.erase(words.begin());
  if (words.empty() && !lines.next_filled(words)) return fail("found the end of the file, expected counts");
  long long count[2] = {};
  const char* kind[2] = {"vertices", "faces"};
  for (std::size_t k = 0; k < 2; ++k) {
    if (words.size() <= k || !parse_integer(words[k], count[k]) || count[k] < 0)
      return fail("found " + (words.size() <= k ? "the end of the line" : quote(words[k])) + ", expected a number of " +
                  kind[k]);
    if (std::size_t(count[k]) > lines.remaining() / 2 + 1)
      return fail("found a count of " + std::to_string(count[k]) + " " + kind[k] + ", expected at most " +
                  std::to_string(lines.remaining() / 2 + 1) + ", which is what the rest of the file can hold");
  }
  for (long long i = 0; i < count[0]; ++i) {
    if (!lines.next_filled(words))
      return fail("found the end of the file after " + std::to_string(i) + " of " + std::to_string(count[0]) +
                  " vertices");
    Vec3 p;
    if (words.size() < 3)
      return fail("found the end of the line after " + std::to_string(words.size()) + " of 3 coordinates");
    for (int k = 0; k < 3; ++k)
      if (!parse_number(words[k], p[k]) || !std::isfinite(p[k]))
        report.error_at(lines.line(), "found " + quote(words[k]) + ", expected a finite coordinate");
    mesh.vertices.push_back(p);
  }
  for (long long i = 0; i < count[1]; ++i) {
    if (!lines.next_filled(words))
      return fail("found the end of the file after " + std::to_string(i) + " of " + std::to_string(count[1]) + " faces");
    long long corners = 0;
    if (!parse_integer(words[0], corners) || corners < 1 || corners > (long long)(PolygonReader::most_corners)) {
      report.error_at(lines.line(), "found " + quote(words[0]) + ", expected a number of corners from 3 to " +
                                        std::to_string(PolygonReader::most_corners));
      continue;
    }
    bool good = true;
    std::vector<int> face;
    for (long long k = 1; k <= corners && good; ++k) {
      long long v = 0;
      const std::string_view word = std::size_t(k) < words.size() ? words[std::size_t(k)] : std::string_view();
      good = parse_integer(word, v) && v >= 0 && v < count[0];
      if (!good)
        report.error_at(lines.line(), "found " + (word.empty() ? "the end of the line" : quote(word)) +
                                          ", expected a vertex number from 0 to " + std::to_string(count[0] - 1));
      face.push_back(int(v));
    }
    if (!good || corners == 1) continue;
    if (corners == 2) {
      mesh.edges.push_back({face[0], face[1]});
      continue;
    }
    for (const int v : face) polygons.corner(v);
    polygons.end_polygon();
  }
  if (!report.failed()) polygons.finish(mesh);
  return mesh;
}

bool recognised(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view word = bytes.substr(begin, bytes.find_first_of(" \t\r\n", begin) - begin);
  return word.size() <= 7 && word.ends_with("OFF");
}

}  // namespace

MeshFormat off_format() { return {{"off", "Object File Format, text", {".off"}}, recognised, read}; }

}  // namespace verve
