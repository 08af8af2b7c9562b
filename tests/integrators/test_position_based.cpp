// Position-based methods against closed forms, against each other and against Projective Dynamics (Inventory M05, N01,
// N02, N10, P27, P28).
#include <doctest/doctest.h>

#include <numbers>

#include "integrators/scenes_for_tests.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Two edges in a line of different lengths, so that the three masses differ; a spring on the first one only.
Scene two_edges(const std::string& method, double stiffness) {
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1.5, 0, 0}};
  mesh.edges = {{0, 1}, {1, 2}};
  PotentialSpec spring = springs(stiffness);
  spring.region.emplace();
  spring.region->indices = {0, 1};
  Scene scene = scene_of(mesh_body(mesh, {spring}), method);
  scene.bodies[0].density = 2;  // masses 1, 1.5, 0.5
  scene.solver.iterations = 1;
  return scene;
}

/// A square sheet that hangs from its upper edge, `cells` along each side, 3 m and 0.2 kg/m^2.
Scene hung(const std::string& method, int cells, double step, std::vector<PotentialSpec> potentials) {
  const double n = cells + 1;
  BodySpec body =
      generated_body("cloth", {{"width", {3}}, {"length", {3}}, {"columns", {n}}, {"rows", {n}}}, potentials.front());
  body.potentials = std::move(potentials);
  body.density = 0.2;
  body.place.rotate = {90, 0, 0};
  Scene scene = scene_of(body, method);
  scene.gravity = {0, -9.81, 0};
  scene.step = step;
  AnchorSpec top;
  top.body = "cloth", top.hard = true;
  top.vertices.box = {{Vec3{-9, 1.49, -9}, Vec3{9, 9, 9}}};
  scene.anchors.push_back(top);
  return scene;
}

/// How far below its upper edge the sheet reaches after so many frames.
double lowest(const Scene& scene, int frames) {
  Simulation sim = make(scene);
  double top = -1e300, bottom = 1e300;
  for (int frame = 0; frame < frames; ++frame) REQUIRE(sim.step());
  for (const Vec3& v : sim.positions()) top = std::max(top, v.y), bottom = std::min(bottom, v.y);
  return top - bottom;
}

double spread(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end()) / *std::min_element(values.begin(), values.end()) - 1;
}

PotentialSpec green(double stretch, double shear, double normalized = 1) {
  return {"tri_green_strain",
          {{"stretch", Track<double>(stretch)}, {"shear", Track<double>(shear)}, {"normalized", normalized}}};
}

}  // namespace

TEST_CASE(
    "pbd moves one distance constraint exactly as PD Eq. 13 says, and by the share that stiffness asks for (M05)") {
  for (const double share : {1.0, 0.3}) {
    CAPTURE(share);
    Scene scene = two_edges("pbd", 100);
    scene.solver.stiffness = share;
    Simulation sim = make(scene);
    const std::vector<Vec3> x{{0, 0, 0}, {0, 1.2, 0.5}, {3, 2, 1}};
    sim.set_state(x, std::vector<Vec3>(3));
    REQUIRE(sim.step());
    // dx_i = -+ w_i / (w_0 + w_1) (|d| - l) d/|d|, l = 1, |d| = 1.3, masses 1 and 1.5; round-off of a few operations
    const Vec3 d = x[1] - x[0], n = d / norm(d);
    const double w0 = 1, w1 = 1 / 1.5, s = share * 0.3 / (w0 + w1);
    CHECK(norm(sim.positions()[0] - (x[0] + n * (w0 * s))) <= 1e-15);
    CHECK(norm(sim.positions()[1] - (x[1] - n * (w1 * s))) <= 1e-15);
    CHECK(sim.positions()[2] == x[2]);
    // v = (x - x_n)/h
    CHECK(norm(sim.velocities()[0] - n * (w0 * s / scene.step)) <= 1e-13);
  }
}

TEST_CASE("the stiffness of pbd grows with its iterations, unless it is counted per step (M05)") {
  for (const bool per_step : {false, true}) {
    for (const int iterations : {1, 4, 16}) {
      Scene scene = two_edges("pbd", 100);
      scene.solver.stiffness = 0.3, scene.solver.iterations = iterations;
      if (per_step) scene.solver.stiffness_per = StiffnessPer::step;
      Simulation sim = make(scene);
      sim.set_state({{0, 0, 0}, {0, 1.2, 0.5}, {3, 2, 1}}, std::vector<Vec3>(3));
      REQUIRE(sim.step());
      // each projection leaves (1 - k') of the error (Mueller et al. 2007, Sec. 3.3)
      const double left = (norm(sim.positions()[1] - sim.positions()[0]) - 1) / 0.3;
      CHECK(left == doctest::Approx(std::pow(0.7, per_step ? 1 : iterations)).epsilon(1e-12));
    }
  }
}

TEST_CASE("xpbd solves one spring in one iteration, further ones change nothing (N01: Macklin et al. 2016, Eq. 18)") {
  const double k = 70, c = 0.3, w = 1 + 1 / 1.5;
  for (const int iterations : {1, 2, 50}) {
    Scene scene = two_edges("xpbd", k);
    scene.solver.iterations = iterations;
    Simulation sim = make(scene);
    sim.set_state({{0, 0, 0}, {0, 1.2, 0.5}, {3, 2, 1}}, std::vector<Vec3>(3));
    REQUIRE(sim.step());
    // backward Euler on a line: C_1 = C_0 - w h^2 k C_1, and dlambda = -C_0/(w + alpha) gives the same
    const double alpha = 1 / (k * sq(scene.step));
    CHECK(norm(sim.positions()[1] - sim.positions()[0]) - 1 == doctest::Approx(c * alpha / (w + alpha)).epsilon(1e-12));
    CHECK(c * alpha / (w + alpha) == doctest::Approx(c / (1 + w * sq(scene.step) * k)).epsilon(1e-12));
  }
}

TEST_CASE("damping of xpbd and of compliant constraints follows XPBD Eq. 26") {
  for (const std::string method : {"xpbd", "compliant", "compliant_plain"}) {
    CAPTURE(method);
    const double k = 70, tau = 0.05, w = 1 + 1 / 1.5, rate = 0.4;
    Scene scene = two_edges(method, k);
    scene.solver.constraint_damping = tau, scene.solver.substeps = 1;
    Simulation sim = make(scene);
    sim.set_state({{0, 0, 0}, {1.3, 0, 0}, {3, 2, 1}}, {{0, 0, 0}, {rate, 0, 0}, {0, 0, 0}});
    REQUIRE(sim.step());
    const double h = scene.step, alpha = 1 / (k * h * h), gamma = tau / h;
    // prediction: C = 0.3 + h rate, grad C (x - x_n) = h rate
    const double change = (-(0.3 + h * rate) - gamma * h * rate) / ((1 + gamma) * w + alpha);
    const double C1 = 0.3 + h * rate + w * change;
    CHECK(norm(sim.positions()[1] - sim.positions()[0]) - 1 == doctest::Approx(C1).epsilon(1e-12));
    // which is backward Euler with a damper beta = tau k beside the spring:
    // C_1 = C~ - w h^2 (k C_1 + beta (C_1 - C_n)/h)
    const double right = 0.3 + h * rate - w * h * h * k * (C1 + tau * (C1 - 0.3) / h);
    CHECK(C1 == doctest::Approx(right).epsilon(1e-12));
  }
}

TEST_CASE("xpbd without compliance is pbd (N01)") {
  Scene stiff = hung("xpbd", 6, 1.0 / 30, {springs(1e30)}), plain = hung("pbd", 6, 1.0 / 30, {springs(1e30)});
  stiff.bodies[0].initial.noise = plain.bodies[0].initial.noise = 0.05;
  Simulation a = make(stiff), b = make(plain);
  for (int frame = 0; frame < 30; ++frame) REQUIRE((a.step() && b.step()));
  double off = 0;
  for (int i = 0; i < a.vertices(); ++i) off = std::max(off, norm(a.positions()[i] - b.positions()[i]));
  CHECK(off <= 1e-9);  // alpha lambda is below round-off, and 30 frames of a swinging cloth multiply that
}

TEST_CASE(
    "the sag of a hung cloth does not depend on the iterations of xpbd and pd, that of pbd does (N01, P27, M05)") {
  // What decides is h^2 g n^2 / length for n cells: the 80 cells of Fig. 4 at 1/60 s are 10 at 2/15 s. Soft enough for
  // 20 Gauss-Seidel iterations: their error falls by (1 + r/2)^-2 each, r = m/(k h^2) = 0.23, or less.
  const double soft = 3.7;
  const auto with = [](const char* method, double stiffness, int iterations) {
    Scene scene = hung(method, 10, 2.0 / 15, {springs(stiffness)});
    scene.solver.iterations = iterations;
    return lowest(scene, 150) - 3;
  };
  std::vector<double> xpbd, pbd, pbd_low, pd;
  for (const int iterations : {20, 40, 80, 160}) xpbd.push_back(with("xpbd", soft, iterations));
  for (const int iterations : {20, 160}) pbd.push_back(with("pbd", soft, iterations));
  for (const int iterations : {10, 200}) pbd_low.push_back(3 + with("pbd", soft, iterations));
  for (const int iterations : {4, 20, 80}) pd.push_back(3 + with("pd", soft, iterations));
  MESSAGE("sag by xpbd ", xpbd[0], " ", xpbd[1], " ", xpbd[2], " ", xpbd[3], "; by pbd at 20 and 160 ", pbd[0], " ",
          pbd[1], ", lowest ", pbd_low[0], " ", pbd_low[1], "; by pd ", pd[0], " ", pd[1], " ", pd[2]);
  CHECK(xpbd[3] > 0.3);  // it does hang
  CHECK(spread(xpbd) <= 0.03);
  CHECK(spread(pbd_low) >= 0.2);
  CHECK(spread(pbd) > 0.2);
  CHECK(spread(pd) <= 0.03);
  // and both that solve the same equations agree
  CHECK(xpbd[3] + 3 == doctest::Approx(pd[2]).epsilon(0.01));

  // A hundred times as stiff, r = 0.0023, the claim holds for pd alone: 20 to 160 sweeps are not enough for the
  // compliance of xpbd to matter, and what hangs is what pbd has not solved. The multipliers bring it to the right sag
  // where sweeps suffice (n^2 and more), which those of pbd, to which stiffness is nothing, never do.
  std::vector<double> stiff, stiff_pd;
  for (const int iterations : {20, 160, 640, 1280}) stiff.push_back(with("xpbd", 100 * soft, iterations));
  for (const int iterations : {4, 80}) stiff_pd.push_back(with("pd", 100 * soft, iterations));
  MESSAGE("a hundred times as stiff: sag by xpbd ", stiff[0], " ", stiff[1], " ", stiff[2], " ", stiff[3], "; by pd ",
          stiff_pd[0], " ", stiff_pd[1]);
  CHECK(spread(stiff_pd) <= 0.03);
  CHECK(stiff[0] > 3 * stiff[1]);
  CHECK(stiff[0] == doctest::Approx(pbd[0]).epsilon(0.05));
  CHECK(spread({stiff[2], stiff[3]}) <= 0.03);
  CHECK(stiff[3] == doctest::Approx(stiff_pd[1]).epsilon(0.08));  // of 2 cm: 6e-4 of the cloth
}

TEST_CASE("many small steps of one iteration beat one step of many, in the same time and in ten times as much (N02)") {
  const int sweeps = 20, frames = 30;
  // a stiff cloth falls from the horizontal, held at two corners
  const auto run_to_end = [&](int substeps, int iterations, const char* method = "xpbd") {
    Scene scene = hung(method, 10, 1.0 / 30, {springs(2000)});
    scene.anchors[0].vertices = {};
    scene.anchors[0].vertices.indices = {0, 10};
    scene.bodies[0].place.rotate = {};
    scene.solver.substeps = substeps, scene.solver.iterations = iterations;
    Simulation sim = make(scene);
    for (int frame = 0; frame < frames; ++frame) REQUIRE(sim.step());
    return sim.positions();
  };
  const auto distance = [](const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += dot(a[i] - b[i], a[i] - b[i]);
    return std::sqrt(sum / double(a.size()));
  };
  const std::vector<Vec3> truth = run_to_end(64, 40, "pd_alpha");  // another method: what damps xpbd does not damp it
  // A sub-step has its prediction and velocities beside its sweep: 20 of them take the instructions of one step of 50
  // sweeps (callgrind). It is given 200.
  const double one = distance(run_to_end(1, 10 * sweeps), truth), many = distance(run_to_end(sweeps, 1), truth);
  MESSAGE("error of one step ", one, ", of many ", many);
  CHECK(many <= 0.5 * one);

  // the method of that name is that point
  Scene scene = hung("small_steps", 6, 1.0 / 30, {springs(500)}), same = hung("xpbd", 6, 1.0 / 30, {springs(500)});
  same.solver.substeps = 20, same.solver.iterations = 1;
  Simulation a = make(scene), b = make(same);
  for (int frame = 0; frame < 5; ++frame) REQUIRE((a.step() && b.step()));
  CHECK(a.state_hash() == b.state_hash());
}

TEST_CASE("stretch stiffness changed alone leaves the shear response of strain-based sheets as it is (N10)") {
  // A strip one cell high and forty wide stands on its lower edge; the upper one, half of the mass, swings sideways or
  // up and down. In simple shear (or stretch) W = k/2 (u/H)^2 per area, so that omega^2 = 2 k/(rho H^2).
  const double height = 0.1, density = 0.2;
  const auto frequency = [&](const char* method, double stretch, double shear, double normalized, bool sideways) {
    BodySpec body = generated_body("cloth", {{"width", {4}}, {"length", {height}}, {"columns", {41}}, {"rows", {2}}},
                                   green(stretch, shear, normalized));
    body.density = density;
    Scene scene = scene_of(body, method);
    const double omega = std::sqrt(2 * (sideways ? shear : stretch) / density) / height;
    scene.step = 0.06 / omega;
    AnchorSpec lower;
    lower.body = "cloth", lower.hard = true;
    lower.vertices.box = {{Vec3{-9, -9, -9}, Vec3{9, 9, -0.04}}};
    scene.anchors.push_back(lower);
    Simulation sim = make(scene);
    const std::vector<Vec3> x = sim.positions();
    std::vector<Vec3> v(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i].z > 0.04) v[i] = (sideways ? Vec3{1, 0, 0} : Vec3{0, 0, 1}) * (1e-3 * height * omega);
    sim.set_state(x, v);
    // from the first zero of the mean velocity to the third: a period
    std::vector<double> zeros;
    double before = 1;
    for (int frame = 0; zeros.size() < 3; ++frame) {
      REQUIRE(frame < 1000);
      REQUIRE(sim.step());
      const double now = sideways ? sim.measure().momentum.x : sim.measure().momentum.z;
      if ((now < 0) != (before < 0)) zeros.push_back(scene.step * (frame + before / (before - now)));
      before = now;
    }
    // backward Euler slows by (omega h)^2/3 = 0.1 %
    return 2 * std::numbers::pi / (zeros[2] - zeros[0]) / omega;
  };
  for (const char* method : {"xpbd", "pd", "cpd"}) {
    for (const double normalized : {1.0, 0.0}) {
      const double plain = frequency(method, 200, 100, normalized, true),
                   stiff = frequency(method, 800, 100, normalized, true);
      const double stretch = frequency(method, 800, 100, normalized, false),
                   sheared = frequency(method, 800, 400, normalized, false);
      MESSAGE(std::string(method), " normalized ", normalized, ": of the closed form, shear ", plain,
              " and with stretch x 4 ", stiff, ", stretch ", stretch, " and with shear x 4 ", sheared);
      CHECK(std::abs(sq(stiff / plain) - 1) <= 0.02);
      CHECK(std::abs(plain - 1) <= 0.02);
      CHECK(std::abs(stretch - 1) <= 0.02);
      CHECK(std::abs(sq(sheared / stretch) - 1) <= 0.02);
    }
  }
}

TEST_CASE("in pbd stretch and shear have factors of their own, by two potentials (N10)") {
  // Strain-based dynamics as published: k_ii and k_ij are shares of the projections. A constraint without stiffness is
  // none.
  const auto sag = [](double stretch, double shear) {
    PotentialSpec along = green(1, 0), across = green(0, 1);
    along.projection = stretch, across.projection = shear;
    Scene scene = hung("pbd", 8, 1.0 / 30, {along, across});
    return lowest(scene, 100) - 3;
  };
  const double plain = sag(0.4, 0.4), loose = sag(0.1, 0.4), sheared = sag(0.4, 0.1);
  MESSAGE("sag ", plain, ", stretch loosened ", loose, ", shear loosened ", sheared);
  CHECK(loose > 2 * plain);
  CHECK(sheared < 1.2 * plain);
}

TEST_CASE("whole projections of shear bring nearly parallel axes to a right angle, and a twisted block to rest") {
  // one triangle whose second axis is 3 degrees from the first: cot 3 = 19 rad along the tangent of the cosine
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}};
  Scene one = scene_of(mesh_body(mesh, {{"tri_green_strain", {{"stretch", Track<double>(0)}}}}), "pbd");
  one.solver.iterations = 1;
  const double angle = 3 * std::acos(-1.0) / 180;
  for (const double sign : {1.0, -1.0}) {
    Simulation sim = make(one);
    sim.set_state({{0, 0, 0}, {1, 0, 0}, Vec3{sign * std::cos(angle), std::sin(angle), 0}}, std::vector<Vec3>(3));
    REQUIRE(sim.step());
    const std::vector<Vec3> x = sim.positions();
    const Vec3 a = x[1] - x[0], b = x[2] - x[0];
    // turned along chords: the axes grow, and the angle falls short of a right one
    MESSAGE("lengths ", norm(a), " and ", norm(b), ", cosine ", dot(a, b) / (norm(a) * norm(b)));
    CHECK(norm(a) <= 2);
    CHECK(norm(b) <= 2);
    CHECK(sign * dot(a, b) / (norm(a) * norm(b)) < 0.6);
  }
  for (const std::string method : {"pbd", "jakobsen"}) {  // the block of the scene `woven`
    CAPTURE(method);
    const PotentialSpec green{"tet_green_strain", {{"stretch", Track<double>(4e4)}, {"shear", Track<double>(4e3)}}};
    BodySpec body = generated_body("box", {{"size", {0.6, 1, 0.6}}, {"cells", {4, 6, 4}}}, green);
    body.density = 200;
    body.initial.twist = {0, 90, 0};
    Scene scene = scene_of(body, method);
    scene.gravity = {0, -9.81, 0};
    AnchorSpec ceiling;
    ceiling.body = "box", ceiling.hard = true;
    ceiling.vertices.box = std::array<Vec3, 2>{Vec3{-9, 0.499, -9}, Vec3{9, 9, 9}};
    scene.anchors.push_back(ceiling);
    Simulation sim = make(scene);
    const double start = sim.measure().elastic;
    for (int k = 0; k < 60; ++k) REQUIRE(sim.step());
    MESSAGE(method, ": elastic energy ", sim.measure().elastic, " of ", start, " J, kinetic ", sim.measure().kinetic);
    CHECK(sim.measure().elastic <= 0.05 * start);
    CHECK(sim.measure().kinetic <= 0.05 * start);
  }
}

TEST_CASE("the sag of a sheet by pbd depends on its mesh, by pd it does not (P28)") {
  const auto sags = [](const char* method) {
    std::vector<double> out;
    for (const int cells : {5, 10, 20}) {
      Scene scene = hung(method, cells, 0.1, {{"tri_strain", {{"mu", Track<double>(20)}}}});
      scene.solver.iterations = 40;
      out.push_back(lowest(scene, 150));
    }
    MESSAGE(std::string(method), ": ", out[0], " ", out[1], " ", out[2]);
    return out;
  };
  CHECK(spread(sags("pd")) <= 0.05);
  const std::vector<double> pbd = sags("pbd");
  CHECK(spread(pbd) > 0.05);
  // what is stretched beyond 3 m grows with the square of the number of cells
  CHECK(pbd[1] - 3 > 4 * (pbd[0] - 3));
  CHECK(pbd[2] - 3 > 4 * (pbd[1] - 3));
}

TEST_CASE("projections keep linear momentum to round-off, and what they do to spin and energy is reported") {
  for (const char* method : {"pbd", "xpbd", "small_steps"}) {
    CAPTURE(std::string(method));
    Simulation sim = make(cube_scene(method));
    const Measures m0 = sim.measure();
    const Run r = run(sim, 100);
    MESSAGE(std::string(method), ": P off by ", largest(r.momentum_error), ", L by ", r.spin_error.back(),
            " of scale, H at the end ", sim.measure().total / m0.total);
    CHECK(largest(r.momentum_error) <= 1e-12);
    CHECK(sim.measure().total < m0.total);
    CHECK(sim.measure().error_l > 0);
  }
}

TEST_CASE("hard anchors hold exactly and soft ones stretch by weight over stiffness, links carry from body to body") {
  for (const char* method : {"pbd", "xpbd", "small_steps"}) {
    CAPTURE(std::string(method));
    Scene scene = scene_of(box_body(2, 1e5), method);
    scene.gravity = {0, -9.81, 0};
    AnchorSpec pin;
    pin.name = "pin", pin.body = "box", pin.hard = true;
    pin.vertices.box = {{Vec3{-1, 0.49, -1}, Vec3{1, 1, 1}}};
    pin.path.keys = {{0, Vec3{}}, {0.5, Vec3{0.2, 0.1, 0}}};
    scene.anchors.push_back(pin);
    Simulation sim = make(scene);
    const std::vector<Vec3> start = sim.positions();
    for (int frame = 0; frame < 30; ++frame) REQUIRE(sim.step());
    double off = 0;
    for (size_t i = 0; i < start.size(); ++i)
      if (start[i].y > 0.49) off = std::max(off, norm(sim.positions()[i] - start[i] - Vec3{0.2, 0.1, 0}));
    CHECK(off <= 1e-15);

    if (std::string(method) != "pbd") {
      // a single tetrahedron on one soft anchor per vertex: m g = 4 k d for the mean
      Scene soft = scene_of(generated_body("tetrahedron", {}, strain(1e5)), method);
      soft.bodies[0].mass = 2, soft.gravity = {0, -9.81, 0}, soft.step = 0.1;
      AnchorSpec all;
      all.body = "tetrahedron", all.vertices.all = true, all.stiffness = 50;
      soft.anchors.push_back(all);
      Simulation hanging = make(soft);
      const double y0 = hanging.measure().center.y;
      for (int frame = 0; frame < 600; ++frame) REQUIRE(hanging.step());
      CHECK(y0 - hanging.measure().center.y == doctest::Approx(2 * 9.81 / 200).epsilon(1e-3));
    }

    Scene pair = scene_of(box_body(2, 1e4, "one"), method);
    pair.bodies.push_back(box_body(2, 1e4, "two"));
    pair.bodies[1].place.translate = {1.2, 0, 0};
    pair.bodies[1].initial.velocity = {0, 2, 0};
    AnchorSpec link;
    link.body = "one", link.to_body = "two", link.hard = true;
    link.vertices.box = {{Vec3{0.49, -1, -1}, Vec3{1, 1, 1}}};
    pair.anchors.push_back(link);
    Simulation linked = make(pair);
    const Vec3 before = linked.measure(0).momentum + linked.measure(1).momentum;
    for (int frame = 0; frame < 60; ++frame) REQUIRE(linked.step());
    // velocities are differences of positions of up to 1.7 m: 1200 sub-steps of 1/600 s round 2e-13 m/s each
    CHECK(norm(linked.measure(0).momentum + linked.measure(1).momentum - before) <= 1e-11 * norm(before));
    CHECK(norm(linked.measure(0).momentum) >= 0.2 * norm(before));
  }
}

TEST_CASE("gas is refused, with the methods that can drive it") {
  Scene scene = scene_of(generated_body("sphere", {}, springs(100)), "xpbd");
  scene.bodies[0].potentials.push_back({"pressure", {}});
  const Expected<Simulation> made = Simulation::create(scene);
  REQUIRE(!made);
  const std::string text = made.diagnostics().text();
  CHECK(text.find("bodies[0].potentials[1]: \"xpbd\" cannot drive \"pressure\", which pushes at rest already") !=
        std::string::npos);
  CHECK(text.find("these can: cpd") != std::string::npos);
}
