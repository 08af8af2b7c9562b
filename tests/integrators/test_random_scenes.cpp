// Random contact scenes with consecutive seeds: bounds of the contact step where nobody chose the scene by its result.
// VERVE_RANDOM_SCENES="FIRST COUNT FRAMES" judges others, and more of them, than the few that are quick:
//   VERVE_RANDOM_SCENES="5000 500 120" build/tests/integrators/test_integrators -tc='random contact*'
// VERVE_RANDOM_SCENES_IN=DIR leaves them there as scene files as well.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include "integrators/random_scenes.h"
#include "verve/scene_file.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Seeds and frames; `count` if the environment does not say otherwise.
struct Range {
  int first = 0, count = 0, frames = 60;
  explicit Range(int few) : count(few) {
    if (const char* const given = std::getenv("VERVE_RANDOM_SCENES"))
      std::istringstream(given) >> first >> count >> frames;
  }
};

/// Over a run; energies in units of E, the largest kinetic + |elastic| + |contact| energy or change of the external
/// one.
struct Judgement {
  std::string failure;               ///< message of the first step that failed
  double gain = 0;                   ///< of total + booked_loss + heat - work over its start
  double owed = 0;                   ///< at the end: what H is below its target
  bool frozen = false;               ///< nothing moves at the end, and more than 1 % of E is owed
  int owing = 0;                     ///< frames at the end without contact in which more than 1e-3 of E is owed
  double below = 0;                  ///< the floor, in units of the least of the body's size and 0.6 m
  double momentum = 0, angular = 0;  ///< largest change of P and L of all bodies, in units of what they consist of
  double spike = 0;                  ///< the longest frame by its count of work, over the mean of awake ones that touch
  double work = 0, longest = 0;          ///< milliseconds by its count
};

double largest_extent(const Mesh& mesh) {
  Vec3 low = mesh.vertices[0], high = low;
  for (const Vec3& x : mesh.vertices) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

Judgement judge(Simulation& sim, int frames) {
  Judgement out;
  const Measures m0 = sim.measure();
  const bool floor = !sim.scene().colliders.empty();
  const auto books = [](const Measures& m) { return kept_energy(m) + m.heat; };
  // sums of |m v| and |x| |m v| at the start: the momenta of bodies that fly towards each other nearly cancel
  double scale_p = 0, scale_l = 0;
  const std::vector<Vec3> x0 = sim.positions(), v0 = sim.velocities();
  const std::vector<double> mass = sim.masses();
  for (size_t i = 0; i < x0.size(); ++i) {
    scale_p += mass[i] * norm(v0[i]);
    scale_l += mass[i] * norm(v0[i]) * norm(x0[i]);
  }
  double gain = 0, energy = 0, least = m0.external, most = m0.external, last_kinetic = 0;
  std::vector<double> owed, touching_work;
  std::vector<char> touching;
  for (int frame = 0; frame < frames; ++frame) {
    const StepReport report = sim.step();
    if (!report) {
      out.failure = "frame " + std::to_string(frame) + ": " + report.message;
      break;
    }
    out.work += report.work;
    const Measures m = sim.measure();
    gain = std::max(gain, books(m) - books(m0));
    owed.push_back(m.target_total - m.total);
    touching.push_back(m.contact > 0);
    out.longest = std::max(out.longest, report.work);
    if (m.contact > 0 && report.iterations > 0) touching_work.push_back(report.work);  // asleep, it takes nothing
    last_kinetic = m.kinetic;
    energy = std::max(energy, m.kinetic + std::abs(m.elastic) + std::abs(m.contact));
    least = std::min(least, m.external), most = std::max(most, m.external);
    if (floor) {
      for (int b = 0; b < sim.bodies(); ++b)
        out.below = std::max(out.below, -lowest(sim, b) / std::min(largest_extent(sim.mesh(b)), 0.6));
    } else {
      out.momentum = std::max(out.momentum, norm(m.momentum - m0.momentum) / scale_p);
      out.angular = std::max(out.angular, norm(m.angular_momentum - m0.angular_momentum) / scale_l);
    }
  }
  const double scale = std::max(energy, most - least);
  out.gain = gain / scale;
  out.owed = owed.empty() ? 0 : owed.back() / scale;
  out.frozen = out.owed > 0.01 && last_kinetic < 1e-6 * scale;
  while (out.owing < int(owed.size()) && owed[owed.size() - 1 - out.owing] > 1e-3 * scale &&
         !touching[owed.size() - 1 - out.owing])
    ++out.owing;
  const double sum = std::accumulate(touching_work.begin(), touching_work.end(), 0.0);
  if (sum > 0) out.spike = out.longest * double(touching_work.size()) / sum;
  return out;
}

void judge_scenes(Kind kind, const Range& range) {
  int gained = 0, spikes = 0;
  double work = 0;
  for (int seed = range.first; seed < range.first + range.count; ++seed) {
    const RandomScene random = random_scene(seed, kind);
    const std::string text = "seed " + std::to_string(seed) + ", " + random.text();
    CAPTURE(text);
    if (const char* const folder = std::getenv("VERVE_RANDOM_SCENES_IN"))
      std::ofstream(std::string(folder) + "/" + std::to_string(int(kind)) + "_" + std::to_string(seed) + ".json")
          << write_scene(random.scene);
    Simulation sim = make(random.scene);
    const Judgement found = judge(sim, range.frames);
    MESSAGE(text, ": gain ", found.gain, ", owed ", found.owed, ", below ", found.below, ", P ", found.momentum, ", L ",
            found.angular, ", spike ", found.spike, ", ", found.work, " ms of work, longest ", found.longest);
    CHECK(found.failure == "");
    CHECK(finite(sim));
    // 1e-3 in any scene, 1e-4 in all but one of a hundred: steps that converge gain about solver.tolerance (1e-6), 5e-7
    // at most in 400 scenes. The method "published" gains more than 1e-4 in 10 of these.
    CHECK(found.gain <= 1e-3);
    gained += !(found.gain <= 1e-4);
    CHECK_FALSE(found.frozen);
    CHECK(found.owing * random.scene.step < 2);
    // A hard body of mass m that lands on one corner, its centre above, at speed v stops v step sqrt(m / (stiffness
    // m~)) deep, m~ the median mass of its vertices (docs/contact.md, Eq. 1): 4.7 mm for each m/s of a box of 64
    // vertices. At most 2.7 % in these scenes; three of the next 376 have 5.3 to 5.7 %, hard boxes at 5 to 9 m/s.
    CHECK(found.below <= 0.05);
    // forces of contact come in opposite pairs along one line: what remains is round-off of the sums over vertices
    CHECK(found.momentum <= 1e-10);
    CHECK(found.angular <= 1e-10);
    spikes += found.spike > 4;
    work += found.work;
  }
  MESSAGE(range.count, " scenes, ", work, " ms of work in all; gain above 1e-4 in ", gained,
          ", longest frame above 4 times the mean in ", spikes);
  CHECK(gained <= range.count / 100);
}

}  // namespace

TEST_CASE("random contact scenes gain no energy, stay above the floor and keep P and L when free") {
  judge_scenes(Kind::solids, Range(24));
}

TEST_CASE("random contact scenes of cloth, ropes and materials gain no energy and stay above the floor") {
  judge_scenes(Kind::mixed, Range(16));
}

TEST_CASE("random contact scenes with an obstacle that moves gain no more than its work and stay above the floor") {
  judge_scenes(Kind::moving, Range(12));
}

TEST_CASE("random contact scenes that once gained energy gain none") {
  // A straight rope that slides off, carried along by a turn of 1e15 rad (0.15 of E); friction that became active beside
  // a turned stencil (0.08); a rope between the floor and a capsule, whose steps went back in one frame and were judged
  // in another (0.31), and a sheet likewise (0.23).
  if (std::getenv("VERVE_RANDOM_SCENES")) return;
  const auto one = [](int seed, int frames) {
    Range range(1);
    range.first = seed, range.frames = frames;
    return range;
  };
  judge_scenes(Kind::mixed, one(101019, 20));
  judge_scenes(Kind::mixed, one(110050, 60));
  judge_scenes(Kind::moving, one(98026, 90));
  judge_scenes(Kind::moving, one(98060, 90));
}

TEST_CASE("random contact scenes have the same bits on 1, 2 and 3 threads and from a snapshot") {
  const Range range(9);
  for (int seed = range.first; seed < range.first + range.count; ++seed) {
    CAPTURE(seed);
    const RandomScene random = random_scene(seed, Kind(seed % 3));
    Simulation one = make(random.scene, 1), two = make(random.scene, 2), three = make(random.scene, 3);
    const int saved = (17 * seed + 5) % range.frames;  // frame
    Simulation restored = make(random.scene, 1);
    int differs = -1;  // first frame
    for (int frame = 0; frame < range.frames && differs < 0; ++frame) {
      if (frame == saved) REQUIRE(restored.restore(one.save()).empty());
      REQUIRE(one.step());
      REQUIRE(two.step());
      REQUIRE(three.step());
      if (frame >= saved) REQUIRE(restored.step());
      const auto same = [&](const Simulation& other) { return other.state_hash() == one.state_hash(); };
      if (!same(two) || !same(three) || (frame >= saved && !same(restored))) differs = frame;
    }
    CHECK(differs == -1);
  }
}
