// Winds and forces that come and go, factors made beforehand, and frames for other threads.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "integrators/contact_scenes.h"

using namespace verve;
using namespace verve::test;

namespace {

Scene sheets() {
  Scene scene = scene_of(generated_body("cloth", {{"columns", {6}}, {"rows", {5}}}, springs(200)));
  scene.bodies[0].name = "a", scene.bodies[0].density = 0.3;
  scene.bodies.push_back(scene.bodies[0]);
  scene.bodies[1].name = "b", scene.bodies[1].place.translate = {3, 0, 0};
  return scene;
}

/// Across the sheet.
WindSpec breeze(const std::string& name, const std::string& body) { return {name, body, Vec3{0, 4, 0}, 1.2, true}; }

ForceSpec pull(const std::string& body) {
  ForceSpec out;
  out.body = body, out.vertices.all = true, out.force = {0.3, 0, 0};
  return out;
}

void steps(Simulation& sim, int n) {
  for (int f = 0; f < n; ++f) REQUIRE(sim.step());
}

}  // namespace

TEST_CASE("a wind that is added blows as one of the scene, on its body alone") {
  Scene windy = sheets();
  windy.winds.push_back(breeze("breeze", "a"));
  Simulation calm = make(sheets()), of_scene = make(windy), added = make(sheets());
  const WindId id = added.add_wind(breeze("breeze", "a")).value();
  CHECK(added.find_wind("breeze") == id);
  for (Simulation* sim : {&calm, &of_scene, &added}) steps(*sim, 20);
  CHECK(added.state_hash() == of_scene.state_hash());
  CHECK(added.measure(0).momentum.y > 0.01);
  CHECK(added.measure(0).booked_loss < 0);
  CHECK(norm(added.measure(1).momentum) < 1e-20);  // rounding of a sheet at rest
  // the work of the wind is what the energy has grown by: the books of a step that iterates to 1e-6
  CHECK(added.measure(0).total + added.measure(0).booked_loss ==
        doctest::Approx(calm.measure(0).total).epsilon(1e-5).scale(added.measure(0).total));
}

TEST_CASE("winds and forces that have gone are refused by their ids, also when their numbers are given again") {
  Simulation sim = make(sheets());
  const WindId first = sim.add_wind(breeze("one", "a")).value();
  CHECK(!sim.add_wind(breeze("one", "b")).has_value());  // the name is taken
  CHECK(!sim.add_wind(breeze("two", "nobody")).has_value());
  sim.set_wind(first, {0, 1, 0});
  sim.remove_wind(first);
  CHECK(!sim.has_wind(first));
  CHECK(sim.find_wind("one") == -1);
  CHECK_THROWS_WITH_AS(sim.set_wind(first, {}), "set_wind: found wind 0, which has been removed", std::invalid_argument);
  const WindId second = sim.add_wind(breeze("one", "b")).value();
  CHECK(second.number() == first.number());
  CHECK(!(second == first));
  CHECK_THROWS_WITH_AS(sim.remove_wind(first),
                       "remove_wind: found wind 0, which has been removed; its number is that of another one now",
                       std::invalid_argument);
  const ForceId force = sim.add_lasting_force(pull("b")).value();
  CHECK(sim.has_force(force));
  steps(sim, 5);
  CHECK(norm(sim.measure(0).momentum) < 1e-20);
  CHECK(sim.measure(1).momentum.x > 0);
  sim.remove_body(1);  // they go along
  CHECK(!sim.has_wind(second));
  CHECK(!sim.has_force(force));
  CHECK_THROWS_AS(sim.remove_force(force), std::invalid_argument);
  CHECK(sim.present_scene().winds.empty());
  CHECK(sim.present_scene().forces.empty());
  steps(sim, 3);
}

TEST_CASE("a force that lasts gives momentum by time and is no more once it is removed") {
  Simulation sim = make(sheets());
  const ForceId id = sim.add_lasting_force(pull("a")).value();
  steps(sim, 30);
  CHECK(sim.measure(0).momentum.x == doctest::Approx(0.3).epsilon(1e-9));  // 0.3 N for 1 s
  const Measures m = sim.measure(0);
  CHECK(m.total + m.booked_loss == doctest::Approx(m.target_total + m.booked_loss).epsilon(1e-5));
  sim.remove_force(id);
  steps(sim, 10);
  CHECK(sim.measure(0).momentum.x == doctest::Approx(0.3).epsilon(1e-9));
  CHECK(sim.measure(0).external == 0);
}

TEST_CASE("snapshots and clones have the winds and forces of then") {
  Scene scene = sheets();
  scene.winds.push_back(breeze("own", "b"));
  Simulation sim = make(scene);
  const WindId wind = sim.add_wind(breeze("added", "a")).value();
  const ForceId force = sim.add_lasting_force(pull("a")).value();
  sim.set_wind(wind, {1, 3, 0});
  steps(sim, 6);
  sim.remove_wind(sim.find_wind("own"));
  steps(sim, 2);
  const Snapshot saved = sim.save();
  Simulation clone = sim.clone(), fresh = make(scene);
  const Expected<Snapshot> read = Snapshot::from_bytes(saved.bytes(), "memory");
  REQUIRE(read);
  CHECK(fresh.restore(*read).text() == "");
  CHECK(fresh.save().bytes() == saved.bytes());
  CHECK(fresh.has_wind(wind));
  CHECK(fresh.has_force(force));
  CHECK(fresh.find_wind("own") == -1);
  steps(sim, 15), steps(clone, 15), steps(fresh, 15);
  CHECK(clone.state_hash() == sim.state_hash());
  CHECK(fresh.state_hash() == sim.state_hash());
  sim.remove_wind(wind), sim.remove_force(force);
  steps(sim, 2);
  CHECK(sim.restore(saved).text() == "");
  CHECK(sim.has_wind(wind));
  steps(sim, 15);
  CHECK(sim.state_hash() == fresh.state_hash());
  // a number that was given after the snapshot is never given to another with the same id
  CHECK(sim.restore(saved).text() == "");
  const WindId later = sim.add_wind(breeze("later", "a")).value();
  CHECK(sim.restore(saved).text() == "");
  CHECK(!(sim.add_wind(breeze("other", "a")).value() == later));
}

TEST_CASE("a body that was added is in a snapshot with all that its specification says") {
  Simulation sim = make(sheets());
  BodySpec spec = box_body(1, 1e4, "late");
  spec.place.size = 0.4, spec.place.rotate = {10, 20, 30}, spec.place.translate = {0, 2, 0};
  spec.mass = 3, spec.thickness = 0.01, spec.friction = 0.2, spec.restitution = 0.3, spec.color = "#123456";
  spec.mesh.object = "", spec.mesh.repair = MeshRepair::refuse;
  spec.initial.stretch = {1.1, 1, 1}, spec.initial.twist = {0, 5, 0}, spec.initial.noise = 0.01, spec.initial.seed = 7;
  spec.initial.velocity = {1, 0, 0}, spec.initial.angular_velocity = {0, 1, 0};
  spec.dials.half_life = Track<double>(2.0), spec.dials.spin.keys = {{0, Vec3{}}, {1, Vec3{0, 1, 0}}};
  spec.potentials[0].region.emplace().all = true, spec.potentials[0].projection = 0.7;
  spec.potentials[0].tear = Track<double>(3.0), spec.potentials[0].parameters["mu"].keys = {{0, 1e4}, {2, 2e4}};
  sim.add_body(std::move(sim.prepare(spec).value()));
  Simulation fresh = make(sheets());
  CHECK(fresh.restore(Snapshot::from_bytes(sim.save().bytes(), "memory").value()).text() == "");
  const BodySpec found = fresh.scene().bodies[2];
  CHECK(found.place.size == spec.place.size);
  CHECK(found.mesh.repair == spec.mesh.repair);
  CHECK(found.color == spec.color);
  steps(sim, 5), steps(fresh, 5);
  CHECK(fresh.state_hash() == sim.state_hash());
}

TEST_CASE("factors that are made beforehand leave none to the first frame, and the same bits") {
  for (const char* method : {"cpd", "pd", "newton", "xpbd"}) {
    CAPTURE(method);
    Simulation plain = make(cube_scene(method)), prepared = make(cube_scene(method));
    prepared.prepare();
    const int made = prepared.factorizations();
    steps(plain, 4), steps(prepared, 4);
    CHECK(prepared.state_hash() == plain.state_hash());
    if (std::string(method) == "cpd" || std::string(method) == "pd") CHECK(prepared.factorizations() == made);
  }
}

TEST_CASE("other threads read the last frame while the next one is computed") {
  Simulation sim = make(cube_scene(), 2);
  CHECK(sim.published() == nullptr);
  sim.publish();
  REQUIRE(sim.published() != nullptr);
  CHECK(sim.published()->frame == 0);
  std::vector<Vec3> sums{Vec3{}};  // of the positions of each frame, by the thread that steps
  for (const Vec3& x : sim.positions()) sums[0] += x;
  sums.reserve(100);
  std::atomic<bool> done{false};
  struct Read {
    int frame;
    Vec3 sum;
  };
  std::vector<std::vector<Read>> reads(2);
  std::vector<std::thread> readers;
  for (std::vector<Read>& mine : reads)
    readers.emplace_back([&] {
      while (!done) {
        const std::shared_ptr<const PublishedFrame> last = sim.published();
        Vec3 sum{};
        for (const Vec3& x : last->positions) sum += x;
        if (mine.empty() || mine.back().frame != last->frame) mine.push_back({last->frame, sum});
        std::this_thread::yield();
      }
    });
  for (int f = 0; f < 60; ++f) {
    REQUIRE(sim.step());
    Vec3 sum{};
    for (const Vec3& x : sim.positions()) sum += x;
    sums.push_back(sum);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  for (const std::vector<Read>& mine : reads) {
    int before = -1;
    for (const Read& r : mine) {
      CHECK(r.frame > before);
      CHECK(r.sum == sums[size_t(r.frame)]);
      before = r.frame;
    }
  }
  const std::shared_ptr<const PublishedFrame> kept = sim.published();
  CHECK(kept->frame == 60);
  CHECK(kept->bodies.size() == 1);
  CHECK(kept->bodies[0].vertices == sim.vertices());
  steps(sim, 2);
  CHECK(kept->frame == 60);  // who keeps it keeps it
  sim.remove_body(0);
  CHECK(sim.published()->bodies[0].id < 0);
  sim.publish(false);
  CHECK(sim.published() == nullptr);
}
