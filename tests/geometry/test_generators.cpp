#include "geometry/mesh_checks.h"

using namespace verve;
using namespace verve::test;

namespace {

struct Variant {
  const char* name;
  Parameters parameters;
  int euler;  // of the skin; 99: no solid
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> list = {
      {"box", {}, 2},
      {"box", {{"cells", {1, 1, 1}}}, 2},
      {"box", {{"cells", {3, 2, 5}}, {"size", {1, 2, 0.5}}}, 2},
      {"box", {{"cells", {3, 2, 5}}, {"tets_per_cell", {6}}}, 2},
      {"cube", {{"size", {3}}, {"cells", {2, 2, 2}}}, 2},
      {"cube", {}, 2},
      {"bar", {}, 2},
      {"bar", {{"length", {5}}, {"cells", {20, 2, 3}}, {"tets_per_cell", {6}}}, 2},
      {"strip", {}, 2},
      {"strip", {{"cells", {7, 1, 3}}}, 2},
      {"tetrahedron", {}, 2},
      {"ball", {}, 2},
      {"ball", {{"frequency", {1}}}, 2},
      {"ball", {{"frequency", {6}}, {"layers", {4}}, {"size", {0.1}}}, 2},
      {"stuffed_ball", {}, 2},
      {"stuffed_ball", {{"resolution", {5.3}}}, 2},
      {"torus", {}, 0},
      {"torus", {{"tube", {0.4}}, {"resolution", {17}}}, 0},
      {"torus", {{"tube", {0.1}}, {"resolution", {40}}, {"size", {2}}}, 0},
      {"t_pipe", {}, 2},
      {"t_pipe", {{"tube", {0.3}}, {"stem", {1}}, {"resolution", {15}}}, 2},
      {"bear", {}, 2},
      {"bear", {{"resolution", {18.15}}}, 2},
      {"bear", {{"resolution", {33}}, {"size", {0.3}}}, 2},
      {"hippo", {}, 2},
      {"hippo", {{"resolution", {30}}}, 2},
      {"car", {}, 2},
      {"car", {{"resolution", {64}}}, 2},
      {"cloth", {}, 99},
      {"tube", {}, 99},
      {"tube", {{"columns", {3}}, {"rows", {2}}}, 99},
      {"tube", {{"columns", {10}}, {"rows", {5}}, {"radius", {2}}}, 99},
      {"sphere", {}, 99},
      {"chain", {}, 99},
      {"net", {}, 99},
      {"spring", {}, 99},
      {"house", {}, 2},
      {"house", {{"part", {1}}, {"resolution", {16}}}, 99},
      {"house", {{"part", {2}}}, 99},
      {"house", {{"part", {3}}}, 99},
      {"tree", {}, 2},
      {"tree", {{"seed", {23}}, {"resolution", {32}}, {"size", {3}}}, 2},
      {"leaves", {}, 99},
      {"grass", {}, 99},
  };
  return list;
}

}  // namespace

TEST_CASE("every generator has a variant under test, and its defaults are in range") {
  std::set<std::string> tested;
  for (const Variant& v : variants()) tested.insert(v.name);
  for (const GeneratorInfo& info : mesh_generators()) {
    CAPTURE(info.name);
    if (info.around_surface) continue;  // test_cage.cpp
    CHECK(tested.count(info.name) == 1);
    CHECK(!info.help.empty());
    Parameters defaults;
    for (const ParameterInfo& p : info.parameters) {
      CHECK(!p.help.empty());
      CHECK(!p.default_value.empty());
      defaults[p.name] = p.default_value;
    }
    const auto mesh = generate_mesh(info.name, defaults);
    INFO(mesh.diagnostics().text());
    REQUIRE(mesh);
    CHECK(mesh->vertices == generate_mesh(info.name)->vertices);
  }
}

TEST_CASE("every generator makes a mesh that passes all checks without repair") {
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    auto mesh = generate_mesh(v.name, v.parameters);
    INFO(mesh.diagnostics().text());
    REQUIRE(mesh);
    CHECK(mesh.diagnostics().empty());
    Diagnostics out;
    check_mesh(*mesh, MeshRepair::refuse, v.name, out);
    CHECK(out.text() == "");
  }
}

TEST_CASE("every solid is conforming, of positive volumes, with a closed manifold skin of the right genus") {
  for (const Variant& v : variants()) {
    if (v.euler == 99) continue;
    CAPTURE(v.name);
    const Mesh mesh = generate_mesh(v.name, v.parameters).value();
    check_solid(mesh);
    const SkinCheck skin = check_skin(surface(mesh));
    CHECK(skin.manifold);
    CHECK(skin.euler == v.euler);
  }
}

TEST_CASE("every generated body is centred at the origin, or stands on the ground") {
  const std::set<std::string> standing{"house", "tree", "leaves", "grass"};
  for (const Variant& v : variants()) {
    CAPTURE(v.name);
    if (standing.count(v.name)) {
      double lowest = 1e9;
      const Mesh mesh = generate_mesh(v.name, v.parameters).value();
      for (const Vec3& p : mesh.vertices) lowest = std::min(lowest, p.y);
      CHECK(lowest >= -1e-12);
      // door and windows hang in the walls, leaves on the tree, the roof lies on top
      const bool hangs =
          v.name == std::string("leaves") || (v.parameters.count("part") && v.parameters.at("part")[0] > 1);
      if (!hangs) CHECK(lowest < 1e-12);
      continue;
    }
    const Mesh mesh = generate_mesh(v.name, v.parameters).value();
    Vec3 moment, mean;
    for (int t = 0; t < int(mesh.tetrahedra.size()); ++t)
      for (const int i : mesh.tetrahedra[t]) moment += mesh.vertices[i] * (volume_of(mesh, t) / 4);
    for (const Vec3& p : mesh.vertices) mean += p / double(mesh.vertices.size());
    // sums of up to 1e4 terms of size 1
    CHECK(norm(mesh.tetrahedra.empty() ? mean : moment / volume(mesh)) < 1e-12);
  }
}

TEST_CASE("a tube is wound outward, has two borders and the area of its facets") {
  for (const double rows : {4.0, 7.0}) {
    const Mesh mesh =
        generate_mesh("tube", {{"radius", {2}}, {"height", {3}}, {"columns", {12}}, {"rows", {rows}}}).value();
    std::map<std::array<int, 2>, int> sides;  // from, to
    double area = 0;
    for (const auto& t : mesh.triangles) {
      const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
      const Vec3 normal = cross(b - a, c - a), middle = (a + b + c) / 3;
      REQUIRE(normal.x * middle.x + normal.z * middle.z > 0);
      area += 0.5 * norm(normal);
      for (int i = 0; i < 3; ++i) REQUIRE(++sides[{t[i], t[(i + 1) % 3]}] == 1);
    }
    int border = 0;
    for (const auto& [side, count] : sides) border += !sides.count({side[1], side[0]});
    CHECK(border == 2 * 12);
    // every triangle stands on a chord 4 sin(pi/12), slanted by what the arc rises above half of it
    const double chord = 4 * std::sin(std::acos(-1.0) / 12), rise = 2 * (1 - std::cos(std::acos(-1.0) / 12));
    const double cell = 3 / (rows - 1);
    CHECK(area == doctest::Approx((rows - 1) * 24 * 0.5 * chord * std::sqrt(cell * cell + rise * rise)).epsilon(1e-12));
  }
}

TEST_CASE("boxes have their exact volume, balls and tori that of the closed form within the resolution") {
  const double pi = std::acos(-1.0);
  CHECK(volume(generate_mesh("box", {{"size", {1, 2, 0.5}}, {"cells", {3, 2, 5}}}).value()) ==
        doctest::Approx(1).epsilon(1e-13));
  CHECK(volume(generate_mesh("cube", {{"size", {2}}}).value()) == doctest::Approx(8).epsilon(1e-13));
  CHECK(volume(generate_mesh("tetrahedron").value()) == doctest::Approx(1 / std::sqrt(72.0)).epsilon(1e-13));
  // faces with edges e lie up to e^2/(8 r) below a surface of radius r, here e < 2.3/f quarter circles at the widest
  for (const double f : {8.0, 15.0, 30.0}) {
    const double ball = volume(generate_mesh("ball", {{"frequency", {f}}}).value());
    CHECK(ball < pi / 6);
    CHECK(ball > pi / 6 * (1 - 3 * (pi / 2 / f) * (pi / 2 / f) * 2.3 / 8));
  }
  const auto torus_error = [&](double resolution) {
    const double tube = 0.125, ring = 0.375;
    const double exact = 2 * pi * pi * ring * tube * tube;
    return (exact - volume(generate_mesh("torus", {{"tube", {0.25}}, {"resolution", {resolution}}}).value())) / exact;
  };
  // as above, with edges of one lattice spacing on a tube of radius r: 2/r times e^2/(8 r) of the volume
  for (const double resolution : {20.0, 40.0}) {
    CHECK(torus_error(resolution) > 0);
    CHECK(torus_error(resolution) < 0.25 / (resolution * resolution * 0.125 * 0.125));
  }
}

TEST_CASE("the size of a body scales its mesh and changes nothing else") {
  for (const char* name : {"bear", "hippo", "torus", "t_pipe", "stuffed_ball", "ball", "cube"}) {
    CAPTURE(name);
    const Mesh one = generate_mesh(name).value(), four = generate_mesh(name, {{"size", {4}}}).value();
    CHECK(one.tetrahedra == four.tetrahedra);
    REQUIRE(one.vertices.size() == four.vertices.size());
    for (std::size_t i = 0; i < one.vertices.size(); ++i) REQUIRE(one.vertices[i] * 4 == four.vertices[i]);
  }
}

TEST_CASE("bear and hippo are as tall and long as their size says, to a lattice spacing") {
  const auto extent = [](const Mesh& mesh, int axis) {
    double low = 1e9, high = -1e9;
    for (const Vec3& p : mesh.vertices) low = std::min(low, p[axis]), high = std::max(high, p[axis]);
    return high - low;
  };
  CHECK(extent(generate_mesh("bear").value(), 1) == doctest::Approx(1).epsilon(1 / 23.0));
  CHECK(extent(generate_mesh("hippo").value(), 0) == doctest::Approx(1).epsilon(1 / 22.0));
  CHECK(extent(generate_mesh("torus").value(), 0) == doctest::Approx(1).epsilon(1e-2));
}

TEST_CASE("the T-pipe has three clearly different principal moments along the coordinate axes") {
  const Mesh mesh = generate_mesh("t_pipe").value();
  Mat3 inertia;
  for (int t = 0; t < int(mesh.tetrahedra.size()); ++t)
    for (const int i : mesh.tetrahedra[t]) {
      const Vec3& p = mesh.vertices[i];
      inertia = inertia + (Mat3::identity() * dot(p, p) - outer(p, p)) * (volume_of(mesh, t) / 4);
    }
  const double x = inertia(0, 0), y = inertia(1, 1), z = inertia(2, 2);
  MESSAGE("T-pipe moments: x " << x << ", y " << y << ", z " << z);
  CHECK(y > 1.2 * x);
  CHECK(z > 1.2 * y);
  // the cut of the lattice is not quite symmetric
  for (const auto& [i, j] : {std::pair{0, 1}, {0, 2}, {1, 2}}) CHECK(std::abs(inertia(i, j)) < 0.01 * x);
}

TEST_CASE("a sphere is closed, wound outward and has its radius") {
  const Mesh mesh = generate_mesh("sphere", {{"size", {3}}, {"frequency", {7}}}).value();
  CHECK(mesh.tetrahedra.empty());
  CHECK(mesh.vertices.size() == 4 * 49 + 2);
  CHECK(mesh.triangles.size() == 8 * 49);
  CHECK(mesh.vertices.size() + mesh.triangles.size() == unique_edges(mesh).size() + 2);  // Euler
  for (const Vec3& v : mesh.vertices) REQUIRE(norm(v) == doctest::Approx(1.5).epsilon(1e-14));
  for (const auto& t : mesh.triangles) {
    const auto& x = mesh.vertices;
    REQUIRE(dot(x[t[0]], cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])) > 0);
  }
}

TEST_CASE("a cloth has one diagonal per cell and looks up") {
  const Mesh mesh = generate_mesh("cloth", {{"columns", {4}}, {"rows", {3}}, {"width", {2}}}).value();
  CHECK(mesh.vertices.size() == 12);
  CHECK(mesh.triangles.size() == 12);
  CHECK(mesh.tetrahedra.empty());
  CHECK(mesh.edges.empty());
  CHECK(unique_edges(mesh).size() == 3 * 3 + 4 * 2 + 6);
  for (const auto& t : mesh.triangles)
    CHECK(cross(mesh.vertices[t[1]] - mesh.vertices[t[0]], mesh.vertices[t[2]] - mesh.vertices[t[0]]).y > 0);
}

TEST_CASE("a net has the edges of its grid and no diagonals") {
  const Mesh net = generate_mesh("net", {{"columns", {4}}, {"rows", {3}}, {"width", {3}}, {"length", {4}}}).value();
  REQUIRE(net.vertices.size() == 12);
  REQUIRE(net.edges.size() == 3 * 3 + 2 * 4);
  CHECK(net.triangles.empty());
  for (const auto& e : net.edges) {
    const Vec3 d = net.vertices[e[1]] - net.vertices[e[0]];
    CHECK(std::min(norm(d - Vec3{1, 0, 0}), norm(d - Vec3{0, 0, 2})) <= 1e-14);
  }
}

TEST_CASE("chain and spring are lines of the given length") {
  const Mesh chain = generate_mesh("chain", {{"vertices", {5}}, {"length", {2}}}).value();
  REQUIRE(chain.vertices.size() == 5);
  REQUIRE(chain.edges.size() == 4);
  for (const auto& e : chain.edges) CHECK(norm(chain.vertices[e[1]] - chain.vertices[e[0]]) == doctest::Approx(0.5));
  const Mesh spring = generate_mesh("spring").value();
  CHECK(spring.vertices.size() == 2);
  CHECK(spring.edges.size() == 1);
}

TEST_CASE("misspelt generators and parameters, wrong types and ranges are reported, all at once") {
  const auto error = [](const Expected<Mesh>& mesh, const std::string& text) {
    INFO(mesh.diagnostics().text());
    CHECK(!mesh);
    CHECK(mentions(mesh.diagnostics(), Severity::error, text));
  };
  error(generate_mesh("hipo"), "generator: found \"hipo\", expected one of box, cube,");
  error(generate_mesh("hipo"), "(nearest: hippo)");
  error(generate_mesh("bear", {{"hight", {1}}}), "bear.hight: unknown key, expected one of size, resolution");
  error(generate_mesh("torus", {{"resolutoin", {1}}}), "(nearest: resolution)");
  error(generate_mesh("box", {{"cells", {0, 1, 1}}}), "box.cells: found [0, 1, 1], expected 3 whole numbers >= 1");
  error(generate_mesh("box", {{"cells", {1.5, 1, 1}}}), "box.cells");
  error(generate_mesh("box", {{"cells", {4, 4}}}), "box.cells");
  error(generate_mesh("box", {{"size", {-1, 1, 1}}}), "box.size: found [-1, 1, 1], expected 3 numbers > 0 [m]");
  error(generate_mesh("box", {{"cells", {5000, 5000, 5000}}}), "vertices, expected at most 10000000");
  error(generate_mesh("bear", {{"size", {std::nan("")}}}), "bear.size");
  error(generate_mesh("ball", {{"frequency", {1000}}, {"layers", {1000}}}),
        "ball: found frequency 1000 and 1000 layers");
  error(generate_mesh("stuffed_ball", {{"resolution", {400}}}), "lattice points");
  const auto both = generate_mesh("bar", {{"length", {0}}, {"depth", {1}}});
  CHECK(both.diagnostics().items().size() == 2);
}

TEST_CASE("the parts of a house share vertices inside of the walls, and leaves stand on vertices of their tree") {
  const auto shared = [](const Mesh& a, const Mesh& b) {
    std::set<std::array<double, 3>> known;
    for (const Vec3& p : b.vertices) known.insert({p.x, p.y, p.z});
    int out = 0;
    for (const Vec3& p : a.vertices) out += int(known.count({p.x, p.y, p.z}));
    return out;
  };
  for (const double resolution : {10.0, 14.0}) {
    const auto part = [&](double k) {
      return generate_mesh("house", {{"part", {k}}, {"resolution", {resolution}}, {"size", {2.7}}}).value();
    };
    const Mesh walls = part(1);
    CHECK(shared(part(2), walls) > 20);
    CHECK(shared(part(3), walls) > 20);
  }
  const Parameters same{{"resolution", {25}}, {"seed", {5}}, {"size", {4.4}}};
  Parameters more = same;
  more["count"] = {300};
  const Mesh tree = generate_mesh("tree", same).value(), leaves = generate_mesh("leaves", more).value();
  CHECK(leaves.vertices.size() == 300 * 7);
  CHECK(leaves.triangles.size() == 300 * 6);
  CHECK(shared(leaves, tree) == 300 * 3);
  // a leaf is one sheet, wound alike: each inner edge is used once in either direction
  std::map<std::array<int, 2>, int> sides;
  for (const auto& t : leaves.triangles)
    for (int i = 0; i < 3; ++i) REQUIRE(++sides[{t[i], t[(i + 1) % 3]}] == 1);
  int inner = 0;
  for (const auto& [side, count] : sides) inner += int(sides.count({side[1], side[0]}));
  CHECK(inner == 300 * 2 * 6);

  more["count"] = {1e5};
  const auto refused = generate_mesh("leaves", more);
  CHECK(!refused);
  CHECK(refused.diagnostics().text().find("sides of faces above `from`") != std::string::npos);
}
