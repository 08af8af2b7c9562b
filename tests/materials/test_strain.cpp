// Bodies of strain, strain limits and volumes: what they do once they have come to rest.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <Eigen/SVD>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

PotentialSpec spec(const std::string& type, const std::map<std::string, double>& parameters) {
  PotentialSpec out{type, {}};
  for (const auto& [name, value] : parameters) out.parameters[name] = Track<double>(value);
  return out;
}

/// Plain PD loses motion by itself, the more the longer its steps are: a way to the equilibrium. Every test that looks
/// at an equilibrium checks that it was reached.
Scene to_rest(BodySpec body) {
  Scene scene = scene_of(std::move(body), "pd");
  scene.step = 0.1;
  scene.solver.iterations = 60;
  return scene;
}

/// The speed that is left [m/s].
double settle(Simulation& sim, int frames) {
  for (int i = 0; i < frames; ++i) REQUIRE(sim.step());
  double fastest = 0;
  for (const Vec3& v : sim.velocities()) fastest = std::max(fastest, norm(v));
  return fastest;
}

AnchorSpec hold(const std::string& body, const Vec3& low, const Vec3& high, double stiffness, Track<Vec3> path = {}) {
  AnchorSpec anchor;
  anchor.body = body;
  anchor.vertices.box = {{low, high}};
  anchor.stiffness = stiffness;
  anchor.path = std::move(path);
  return anchor;
}

Eigen::Matrix3d gradient_of_tet(const Mesh& mesh, const std::vector<Vec3>& x, size_t e) {
  const auto& t = mesh.tetrahedra[e];
  Eigen::Matrix3d now, rest;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i) {
      now(i, c) = x[t[c + 1]][i] - x[t[0]][i];
      rest(i, c) = mesh.vertices[t[c + 1]][i] - mesh.vertices[t[0]][i];
    }
  return now * rest.inverse();
}

/// 3x3, with nothing along the normal: F v for any v in the rest plane.
Eigen::Matrix3d gradient_of_triangle(const Mesh& mesh, const std::vector<Vec3>& x, size_t e) {
  const auto& t = mesh.triangles[e];
  Eigen::Matrix<double, 3, 2> now, rest;
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < 3; ++i) {
      now(i, c) = x[t[c + 1]][i] - x[t[0]][i];
      rest(i, c) = mesh.vertices[t[c + 1]][i] - mesh.vertices[t[0]][i];
    }
  return now * (rest.transpose() * rest).inverse() * rest.transpose();
}

double volume(const Mesh& mesh, const std::vector<Vec3>& x) {
  double sum = 0;
  for (const auto& t : mesh.tetrahedra) sum += tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]);
  return sum;
}

double least_determinant(const Simulation& sim) {
  double least = 1e300;
  for (size_t e = 0; e < sim.mesh(0).tetrahedra.size(); ++e)
    least = std::min(least, gradient_of_tet(sim.mesh(0), sim.positions(), e).determinant());
  return least;
}

}  // namespace

TEST_CASE("a curtain pulled out and pushed together keeps its limits of 10, 20 and 30 percent (Inventory P08)") {
  for (const double limit : {0.1, 0.2, 0.3}) {
    CAPTURE(limit);
    BodySpec body = generated_body("cloth", {{"width", {1}}, {"length", {1}}, {"columns", {11}}, {"rows", {11}}},
                                   spec("tri_strain", {{"mu", 2}}));
    body.potentials.push_back(spec("tri_limit", {{"stiffness", 2000}, {"min", 1 - limit}, {"max", 1 + limit}}));
    body.density = 1;
    body.place.rotate = {90, 0, 0};
    Scene scene = to_rest(std::move(body));
    // 10 N/m at the top: without limits tri_strain would let it grow to (1 + 10 / (2 mu)) times its length
    scene.gravity = {0, -9.81, 0};
    scene.anchors.push_back(hold("cloth", {-1, 0.499, -1}, {1, 0.501, 1}, 1e5));
    Simulation sim = make(scene);
    CHECK(settle(sim, 150) <= 1e-3);
    double least = 1e300, most = 0;
    for (size_t e = 0; e < sim.mesh(0).triangles.size(); ++e) {
      const Eigen::Matrix3d f = gradient_of_triangle(sim.mesh(0), sim.positions(), e);
      const Eigen::Vector3d s = Eigen::JacobiSVD<Eigen::Matrix3d>(f).singularValues();
      most = std::max(most, s(0)), least = std::min(least, s(1));
    }
    CHECK(most >= 1 + 0.95 * limit);  // the limit is at work
    CHECK(most <= (1 + limit) * 1.02);
    CHECK(least >= (1 - limit) * 0.98);
  }
}

TEST_CASE("a rope, a sheet and a block pushed together by their weight keep their limits (Inventory P08)") {
  // Standing on one end, as heavy as 9.81 per section there, and in exact line with the weight: nothing makes the rope
  // or the sheet give way to a side. Strain alone would let them shrink by 9.81 / (2 * 5) = 98 percent at the end, and
  // limits of 1000 give way by 9.81 / (2 * 1000), half a percent.
  struct Case {
    const char *generator, *strain, *limit;
    Parameters mesh;
    double weak;  // stiffness that gives half the load per strain: k of edges counts once, mu of the others twice
  };
  const std::vector<Case> cases{
      {"chain", "edge_strain", "edge_limit", {{"length", {1}}, {"vertices", {9}}}, 10},
      {"cloth", "tri_strain", "tri_limit", {{"width", {1}}, {"length", {1}}, {"columns", {9}}, {"rows", {9}}}, 5},
      {"box", "tet_strain", "tet_limit", {{"size", {1, 1, 1}}, {"cells", {4, 4, 4}}}, 5}};
  for (const Case& c : cases) {
    for (const double limit : {0.1, 0.2, 0.3}) {
      CAPTURE(c.generator);
      CAPTURE(limit);
      const bool edges = c.generator == std::string("chain");
      BodySpec body = generated_body(c.generator, c.mesh, spec(c.strain, {{edges ? "stiffness" : "mu", c.weak}}));
      body.potentials.push_back(spec(c.limit, {{"stiffness", 1000}, {"min", 1 - limit}, {"max", 1 + limit}}));
      body.density = 1;
      Scene scene = to_rest(std::move(body));
      scene.gravity = {-9.81, 0, 0};
      scene.anchors.push_back(hold(c.generator, {-0.501, -1, -1}, {-0.499, 1, 1}, 1e5));
      Simulation sim = make(scene);
      CHECK(settle(sim, 150) <= 1e-3);
      double least = 1e300, most = 0;
      const auto x = sim.positions();
      const auto take = [&](const Eigen::Matrix3d& f, int values) {
        const Eigen::Vector3d s = Eigen::JacobiSVD<Eigen::Matrix3d>(f).singularValues();
        most = std::max(most, s(0)), least = std::min(least, s(values - 1));
      };
      const Mesh& mesh = sim.mesh(0);
      for (size_t e = 0; e < mesh.tetrahedra.size(); ++e) take(gradient_of_tet(mesh, x, e), 3);
      for (size_t e = 0; e < mesh.triangles.size(); ++e) take(gradient_of_triangle(mesh, x, e), 2);
      for (const auto& [a, b] : mesh.edges) {
        const double stretch = norm(x[b] - x[a]) / norm(mesh.vertices[b] - mesh.vertices[a]);
        most = std::max(most, stretch), least = std::min(least, stretch);
      }
      CHECK(least <= 1 - 0.95 * limit);  // the limit is at work
      CHECK(least >= (1 - limit) * 0.98);
      CHECK(most <= (1 + limit) * 1.02);
    }
  }
}

TEST_CASE("limits along a direction and across it are kept apart (Inventory N33)") {
  // the thread turned by 30 degrees against the sheet; pulled at all four sides, by different amounts along and across
  BodySpec body = generated_body("cloth", {{"width", {1}}, {"length", {1}}, {"columns", {9}}, {"rows", {9}}},
                                 spec("tri_strain", {{"mu", 2}}));
  PotentialSpec limits =
      spec("tri_limit_axes",
           {{"stiffness", 2000}, {"min_along", 0.98}, {"max_along", 1.05}, {"min_across", 0.8}, {"max_across", 1.25}});
  const Vec3 thread{std::cos(0.5), 0, std::sin(0.5)}, across{-thread.z, 0, thread.x};
  limits.arrays["direction"] = {thread.x, thread.y, thread.z};
  body.potentials.push_back(std::move(limits));
  body.density = 1;
  body.place.rotate = {0, 0, 0};
  Scene scene = to_rest(std::move(body));
  for (const double side : {-1.0, 1.0}) {
    ForceSpec pull;
    pull.body = "cloth";
    pull.vertices.box = {{Vec3{side * 0.5 - 0.01, -1, -1}, Vec3{side * 0.5 + 0.01, 1, 1}}};
    pull.force = {side * 4, 0, 0};
    scene.forces.push_back(pull);
    pull.vertices.box = {{Vec3{-1, -1, side * 0.5 - 0.01}, Vec3{1, 1, side * 0.5 + 0.01}}};
    pull.force = {0, 0, side * 4};
    scene.forces.push_back(pull);
  }
  // Shear is free but for the weak strain: with 60 iterations, far from converged at k / mu = 1000, the sheet folds up
  // on its way and comes to rest as a pile of sheared triangles, whose stretch is up to 4 percent over the limit.
  scene.solver.iterations = 600;
  Simulation sim = make(scene);
  CHECK(settle(sim, 130) <= 1e-6);
  double most_along = 0, most_across = 0, least_along = 1e300, least_across = 1e300;
  for (size_t e = 0; e < sim.mesh(0).triangles.size(); ++e) {
    const Eigen::Matrix3d f = gradient_of_triangle(sim.mesh(0), sim.positions(), e);
    const double a = (f * Eigen::Vector3d(thread.x, thread.y, thread.z)).norm();
    const double b = (f * Eigen::Vector3d(across.x, across.y, across.z)).norm();
    most_along = std::max(most_along, a), least_along = std::min(least_along, a);
    most_across = std::max(most_across, b), least_across = std::min(least_across, b);
  }
  CHECK(most_along <= 1.05 * 1.02);
  CHECK(least_along >= 0.98 * 0.98);
  CHECK(most_across <= 1.25 * 1.02);
  CHECK(least_across >= 0.8 * 0.98);
  CHECK(most_across >= 1.2);  // farther than the other axis may go
}

TEST_CASE("limits along an axis of a block are kept, those across it are its own (Inventory N33)") {
  BodySpec body = box_body(3, 1e3);
  PotentialSpec limits = spec("tet_limit_axes", {{"stiffness", 1e6}, {"max_along", 1.1}, {"max_across", 1.4}});
  limits.arrays["direction"] = {0, 1, 0};
  body.potentials.push_back(std::move(limits));
  for (const int axis : {0, 1}) {
    Scene scene = to_rest(body);
    for (const double side : {-1.0, 1.0}) {
      ForceSpec pull;
      pull.body = "box";
      Vec3 low{-1, -1, -1}, high{1, 1, 1};
      low[axis] = side * 0.5 - 0.01, high[axis] = side * 0.5 + 0.01;
      pull.vertices.box = {{low, high}};
      pull.force[axis] = side * 4000;  // twice the length if tet_strain were alone
      scene.forces.push_back(pull);
    }
    Simulation sim = make(scene);
    CHECK(settle(sim, 100) <= 1e-3);
    double low = 0, high = 0;
    const std::vector<Vec3> x = sim.positions();
    for (const Vec3& v : x) low = std::min(low, v[axis]), high = std::max(high, v[axis]);
    const double limit = axis == 1 ? 1.1 : 1.4;
    CHECK(high - low <= limit * 1.02);
    CHECK(high - low >= limit * 0.98);
  }
}

TEST_CASE("a mirrored block and one of random vertices turn every element the right way round (Inventory P09)") {
  for (const char* type : {"tet_limit", "tet_strain", "tet_volume"}) {
    for (const bool mirrored : {true, false}) {
      CAPTURE(std::string(type));
      CAPTURE(mirrored);
      BodySpec body = box_body(3, 1e4);
      const std::string name = type;
      if (name == "tet_limit") body.potentials = {spec(type, {{"stiffness", 1e5}, {"min", 0.8}, {"max", 1.2}})};
      // a volume alone is no shape: with strain
      if (name == "tet_volume") body.potentials.push_back(spec(type, {{"stiffness", 1e4}}));
      if (mirrored)
        body.initial.stretch = {1, -1, 1};
      else
        body.initial.noise = 0.3;
      Scene scene = scene_of(std::move(body), "pd");
      Simulation sim = make(scene);
      CHECK(least_determinant(sim) < 0);
      settle(sim, 60);
      CHECK(least_determinant(sim) > 0);
    }
  }
}

namespace {

/// A block of 1 m between two plates that move together by `squeeze`.
Scene press(std::vector<PotentialSpec> potentials, double squeeze, int cells = 4) {
  BodySpec body = box_body(cells, 1);
  body.potentials = std::move(potentials);
  Scene scene = to_rest(std::move(body));
  Track<Vec3> down;
  down.keys = {{0, Vec3{0, 0, 0}}, {2, Vec3{0, -squeeze, 0}}};
  scene.anchors.push_back(hold("box", {-1, -0.51, -1}, {1, -0.49, 1}, 1e6));
  scene.anchors.push_back(hold("box", {-1, 0.49, -1}, {1, 0.51, 1}, 1e6, down));
  return scene;
}

}  // namespace

TEST_CASE("a squeezed block keeps its volume within two percent (Inventory P10)") {
  Simulation plain = make(press({strain(1e3)}, 0.3));
  settle(plain, 60);
  CHECK(volume(plain.mesh(0), plain.positions()) < 0.8);  // what strain alone does
  // The weight decides: on this mesh k / mu = 100 keeps 96.5 %, 400 keeps 98.1 %, 1000 keeps 98.7 %. What is missing
  // sits in the corners of the plates, and halves from 4 to 6 cells.
  Simulation kept = make(press({strain(1e3), spec("tet_volume", {{"stiffness", 1e6}})}, 0.3));
  CHECK(settle(kept, 140) <= 1e-4);
  CHECK(std::abs(volume(kept.mesh(0), kept.positions()) - 1) <= 0.02);
  // and a bound below 1 is used up before it resists
  Simulation bounded = make(press({strain(1e3), spec("tet_volume", {{"stiffness", 1e5}, {"min", 0.85}})}, 0.3));
  settle(bounded, 100);
  CHECK(volume(bounded.mesh(0), bounded.positions()) == doctest::Approx(0.85).epsilon(0.02));
}

TEST_CASE("contraction across a pulled bar rises with the weight of its volume (Inventory P11)") {
  double last = -1;
  for (const double stiffness : {0.0, 1e3, 1e4, 1e5}) {
    BodySpec body = generated_body("box", {{"size", {2, 0.5, 0.5}}, {"cells", {8, 2, 2}}}, strain(1e4));
    if (stiffness > 0) body.potentials.push_back(spec("tet_volume", {{"stiffness", stiffness}}));
    Scene scene = to_rest(std::move(body));
    Track<Vec3> out;
    out.keys = {{0, Vec3{0, 0, 0}}, {1, Vec3{0.2, 0, 0}}};
    scene.anchors.push_back(hold("box", {-1.01, -1, -1}, {-0.99, 1, 1}, 1e7));
    scene.anchors.push_back(hold("box", {0.99, -1, -1}, {1.01, 1, 1}, 1e7, out));
    Simulation sim = make(scene);
    CHECK(settle(sim, 80) <= 1e-3);
    // in the middle of the bar
    double low = 0, high = 0;
    const std::vector<Vec3> x = sim.positions();
    for (size_t v = 0; v < x.size(); ++v)
      if (std::abs(sim.mesh(0).vertices[v].x) < 0.01) low = std::min(low, x[v].y), high = std::max(high, x[v].y);
    const double ratio = (1 - (high - low) / 0.5) / 0.1;
    CAPTURE(stiffness);
    CAPTURE(ratio);
    if (stiffness == 0) CHECK(std::abs(ratio) <= 1e-3);  // |F - R|^2 has no Poisson effect
    CHECK(ratio > last + 1e-2 * (stiffness > 0));
    last = ratio;
  }
  // The volume's own resistance to shape changes nothing here: towards 1 - 1/sqrt(1.1) over 0.1 = 0.465
  CHECK(last >= 0.3);
  CHECK(last <= 0.48);
}

TEST_CASE("a weak bar with a strong limit has a force curve of two slopes, bent at the limit (Inventory P23)") {
  const double limit = 1.2, mu = 1e3, beyond = 3e4, section = 0.25;
  BodySpec body = generated_body("box", {{"size", {2, 0.5, 0.5}}, {"cells", {4, 1, 1}}}, strain(mu));
  body.potentials.push_back(spec("tet_limit", {{"stiffness", beyond}, {"min", 0.5}, {"max", limit}}));
  Scene scene = to_rest(std::move(body));
  Track<Vec3> out;
  out.keys = {{0, Vec3{0, 0, 0}}, {8, Vec3{0.8, 0, 0}}};
  const double grip = 1e6;
  scene.anchors.push_back(hold("box", {-1.01, -1, -1}, {-0.99, 1, 1}, grip));
  scene.anchors.push_back(hold("box", {0.99, -1, -1}, {1.01, 1, 1}, grip, out));
  Simulation sim = make(scene);
  std::vector<double> stretch, force;
  for (int i = 0; i < 80; ++i) {
    REQUIRE(sim.step());
    const std::vector<Vec3> x = sim.positions();
    double pull = 0, end = 0, start = 0;
    int held = 0;
    for (size_t v = 0; v < x.size(); ++v) {
      const double rest = sim.mesh(0).vertices[v].x;
      if (rest > 0.99) pull += grip * (rest + 0.8 * sim.time() / 8 - x[v].x), end += x[v].x, ++held;
      if (rest < -0.99) start += x[v].x;
    }
    stretch.push_back((end - start) / held / 2), force.push_back(pull);
  }
  // straight lines through what lies clearly on either side, by least squares
  const auto line = [&](double from, double to) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < stretch.size(); ++i)
      if (stretch[i] > from && stretch[i] < to)
        n += 1, sx += stretch[i], sy += force[i], sxx += sq(stretch[i]), sxy += stretch[i] * force[i];
    REQUIRE(n >= 5);
    const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    return std::pair{slope, (sy - slope * sx) / n};
  };
  const auto [soft, soft_at_0] = line(1.05, 1.17);
  const auto [hard, hard_at_0] = line(1.23, 1.37);
  CHECK(soft == doctest::Approx(2 * mu * section).epsilon(0.05));
  CHECK(hard == doctest::Approx(2 * (mu + beyond) * section).epsilon(0.05));
  const double bend = (soft_at_0 - hard_at_0) / (hard - soft);
  CHECK(bend == doctest::Approx(limit).epsilon(0.05));
}

TEST_CASE("a body whose boundary follows an affine map follows it inside: the patch test, at equilibrium") {
  // holds for strains gentle enough that |F - R|^2 has one minimum; here up to 25 percent
  BodySpec body = box_body(4, 1e4);
  body.initial.stretch = {1.25, 0.85, 1.1};
  Scene scene = to_rest(std::move(body));
  scene.solver.iterations = 200;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-0.5, 0.5}) {
      Vec3 low{-1, -1, -1}, high{1, 1, 1};
      low[axis] = side - 0.01, high[axis] = side + 0.01;
      scene.anchors.push_back(hold("box", low, high, 1e9));
    }
  Simulation sim = make(scene);
  const std::vector<Vec3> affine = sim.positions();
  std::vector<Vec3> x = affine;
  int inside = 0;
  for (size_t v = 0; v < x.size(); ++v) {
    const Vec3& r = sim.mesh(0).vertices[v];
    if (std::max({std::abs(r.x), std::abs(r.y), std::abs(r.z)}) > 0.49) continue;
    x[v] += Vec3{0.05 * std::sin(9.0 * double(v)), 0.04 * std::cos(5.0 * double(v)), 0.03 * std::sin(3.0 * double(v))};
    ++inside;
  }
  REQUIRE(inside == 27);
  sim.set_state(x, std::vector<Vec3>(x.size()));
  CHECK(settle(sim, 60) <= 1e-7);
  double worst = 0;
  for (size_t v = 0; v < x.size(); ++v) worst = std::max(worst, norm(sim.positions()[v] - affine[v]));
  CHECK(worst <= 1e-6);
}

TEST_CASE("springs on area and volume bring back what was taken (Inventory N37)") {
  BodySpec body = box_body(3, 1e3);
  body.potentials.push_back(spec("volume_spring", {{"stiffness", 1e5}}));
  body.initial.stretch = {0.8, 0.9, 0.8};
  Simulation block = make(to_rest(std::move(body)));
  CHECK(settle(block, 150) <= 1e-3);
  CHECK(volume(block.mesh(0), block.positions()) == doctest::Approx(1).epsilon(1e-3));
  // squeezed, with the same stiffness as tet_volume above
  Simulation pressed = make(press({strain(1e3), spec("volume_spring", {{"stiffness", 1e6}})}, 0.3));
  CHECK(settle(pressed, 140) <= 1e-2);
  CHECK(std::abs(volume(pressed.mesh(0), pressed.positions()) - 1) <= 0.02);

  BodySpec sheet = generated_body("cloth", {{"columns", {6}}, {"rows", {6}}}, spec("tri_strain", {{"mu", 1}}));
  sheet.potentials.push_back(spec("area_spring", {{"stiffness", 100}}));
  sheet.density = 1;
  sheet.initial.stretch = {1.3, 1, 0.6};
  Simulation cloth = make(to_rest(std::move(sheet)));
  CHECK(settle(cloth, 200) <= 5e-3);  // searched steps of plain PD, cut short, leave a slow turn: L is not held
  double area = 0;
  const std::vector<Vec3> x = cloth.positions();
  for (const auto& t : cloth.mesh(0).triangles) area += 0.5 * norm(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]));
  CHECK(area == doctest::Approx(1).epsilon(1e-2));
}

TEST_CASE("CPD holds the energy of bodies with limits and volumes") {
  for (const char* type : {"tet_limit", "tet_volume", "volume_spring"}) {
    CAPTURE(type);
    Scene scene = cube_scene("cpd", 1e4);
    scene.bodies[0].potentials.push_back(spec(type, {{"stiffness", 2e4}}));
    Simulation sim = make(scene);
    const Run r = run(sim, 60);
    CHECK(largest(r.energy_error) <= 1e-4);
    CHECK(largest(r.spin_error) <= 1e-9);
  }
}
