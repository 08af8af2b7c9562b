// Files as they come: of any size, with an object to choose, held by what is seen, open where they should be closed.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "scenes.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

double longest(const std::vector<Vec3>& x) {
  Vec3 low = x[0], high = low;
  for (const Vec3& p : x)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}
Simulation create(const std::string& text) {
  const Expected<Scene> scene = parse_scene(text, "test.json");
  REQUIRE_MESSAGE(scene.has_value(), scene.diagnostics().text());
  Expected<Simulation> made = Simulation::create(*scene);
  REQUIRE_MESSAGE(made.has_value(), made.diagnostics().text());
  return std::move(*made);
}
std::string refusal(const std::string& text) {
  const Expected<Scene> scene = parse_scene(text, "test.json");
  return scene ? Simulation::create(*scene).diagnostics().text() : scene.diagnostics().text();
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string body(const std::string& keys) {
  return "{\"version\": 1, \"bodies\": [{\"name\": \"a\", " + keys + "]";
}

}  // namespace

TEST_CASE("place.size makes what is seen as long as asked, whatever the unit of the file") {
  const Simulation scan = create(body(R"("mesh": {"generator": "solid", "cells": 8}, "embed": {"generator": "sphere", "size": 1234},
    "place": {"size": 0.3}})") + "}");
  CHECK(longest(scan.embedded_mesh(0)->vertices) == doctest::Approx(0.3).epsilon(1e-12));
  const Simulation plain = create(body(R"("mesh": {"generator": "bar", "length": 4}, "place": {"size": 0.5, "rotate": [0, 0, 45]}})") + "}");
  const auto& x = plain.mesh(0).vertices;
  double reach = 0;
  for (const Vec3& p : x)
    for (const Vec3& q : {x.front(), x.back()}) reach = std::max(reach, norm(p - q));
  CHECK(reach == doctest::Approx(0.5 * std::sqrt(1 + 2.0 / 64)).epsilon(1e-9));  // 4 x 0.5 x 0.5, before it is turned
  CHECK(contains(refusal(body(R"("mesh": {"generator": "cube"}, "place": {"size": 1, "scale": 2}})") + "}"),
                 "bodies[0].place.size: found beside scale, expected one of the two"));
}

TEST_CASE("cells around a carried surface are as long as the scene says, after it is scaled") {
  const auto with = [&](const std::string& generator) {
    return create(body("\"mesh\": {\"generator\": \"" + generator + "\", \"cell\": 0.05}, " +
                       R"("embed": {"generator": "sphere", "size": 1000}, "place": {"size": 0.4}})") + "}");
  };
  CHECK(longest(with("cage").mesh(0).vertices) == doctest::Approx(0.4).epsilon(0.26));  // 8 cells, or up to 10
  const Simulation solid = with("solid");
  double edge = 0;
  for (const auto& e : unique_edges(solid.mesh(0))) edge = std::max(edge, norm(solid.mesh(0).vertices[e[0]] - solid.mesh(0).vertices[e[1]]));
  CHECK(edge > 0.05);
  CHECK(edge < 0.1);
}

TEST_CASE("anchors hold vertices of a carried surface where they are") {
  Simulation hung = create(body(R"("mesh": {"generator": "solid", "cells": 8}, "embed": {"generator": "sphere", "frequency": 4},
    "material": "rubber", "place": {"size": 0.2}})") +
    R"(, "gravity": [0, -9.81, 0], "anchors": [{"body": "a", "vertices": {"carried": [3, 17]}, "hard": true}]})");
  const auto points = [&] { return hung.embedded_positions(0); };
  const std::vector<Vec3> start = points();
  for (int frame = 0; frame < 20; ++frame) REQUIRE(hung.step());
  const std::vector<Vec3> end = points();
  for (const int v : {3, 17}) CHECK(norm(end[v] - start[v]) < 1e-3 * 0.2);
  double moved = 0;
  for (std::size_t v = 0; v < end.size(); ++v) moved = std::max(moved, norm(end[v] - start[v]));
  CHECK(moved > 0.01 * 0.2);
  const std::string surface = R"("mesh": {"generator": "solid", "cells": 6}, "embed": {"generator": "sphere", "frequency": 2}})";
  const auto anchored = [](int v) {
    return ", \"anchors\": [{\"body\": \"a\", \"vertices\": {\"carried\": [" + std::to_string(v) + "]}}]}";
  };
  CHECK(contains(refusal(body(surface) + anchored(18)), "anchors[0].vertices.carried[0]: found 18, expected a vertex of the carried surface, 0 to 17"));
  CHECK(contains(refusal(body(R"("mesh": {"generator": "cube"}})") + anchored(0)), "expected a body that carries a surface (embed)"));
}

TEST_CASE("an object of a file is a body, and another one a collider, open or not") {
  const auto folder = std::filesystem::temp_directory_path() / ("verve_placed_" + std::to_string(std::uint64_t(std::rand())));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "both.obj").string();
  {  // a tetrahedron, and below it a box without its lid that looks inward
    std::ofstream out(file);
    out << "o drop\nv 0 1 0\nv 0.2 1 0\nv 0 1.2 0\nv 0 1 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
           "o tray\nv -1 -1 -1\nv 1 -1 -1\nv 1 -1 1\nv -1 -1 1\nv -1 0.5 -1\nv 1 0.5 -1\nv 1 0.5 1\nv -1 0.5 1\n"
           "f 5 8 7 6\nf 5 6 10 9\nf 6 7 11 10\nf 7 8 12 11\nf 8 5 9 12\n";
  }
  const auto scene = [&](const std::string& more) {
    return body("\"mesh\": {\"generator\": \"solid\", \"cells\": 6}, \"embed\": {\"file\": \"" + file + "\", \"object\": \"drop\"}}") +
           ", \"gravity\": [0, -9.81, 0], \"colliders\": [{\"shape\": \"mesh\", \"mesh\": {\"file\": \"" + file + "\", \"object\": \"tray\"" +
           more + "}}]}";
  };
  const Expected<Simulation> made = Simulation::create(parse_scene(scene(""), "test.json").value());
  REQUIRE_MESSAGE(made.has_value(), made.diagnostics().text());
  CHECK(contains(made.diagnostics().text(), "colliders[0].mesh: note: found 4 edges with one triangle"));
  Simulation falling = create(scene(""));
  CHECK(falling.embedded_mesh(0)->vertices.size() == 4);
  double lowest = 1;
  for (int frame = 0; frame < 40; ++frame) {
    REQUIRE(falling.step());
    lowest = std::min(lowest, falling.measure().center.y);
  }
  CHECK(lowest > 0.2);  // on what the tray encloses, 1.2 m above its floor: the lid that is missing sags a little
  CHECK(lowest < 0.65);
  CHECK(contains(refusal(scene(", \"repair\": \"refuse\"")), "edges with one triangle, expected two at each"));
  std::filesystem::remove_all(folder);
}
