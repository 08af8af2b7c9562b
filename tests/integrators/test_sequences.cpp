// Random sequences of everything that can be done to a world that runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "integrators/places.h"

using namespace verve;
using namespace verve::test;

namespace {

/// What comes, goes, moves, tears, is held, saved and gone back to, in an order that a seed draws.
class Sequence {
 public:
  explicit Sequence(int seed) : random_(unsigned(seed)), sim_(make(scene())) {
    bodies_ = {sim_.body_id(0), sim_.body_id(1)};
  }

  void run(int operations) {
    for (int op = 0; op < operations; ++op) {
      CAPTURE(op);
      draw();
      step();
    }
    Simulation clone = sim_.clone();
    for (int f = 0; f < 3; ++f) clone.step(), sim_.step();
    CHECK(clone.state_hash() == sim_.state_hash());
  }
  int torn() const { return torn_; }

 private:
  static Scene scene() {
    Scene out = on_a_floor();
    for (BodySpec& body : out.bodies) body.potentials[0].tear = 1.25;
    return out;
  }
  int pick(int n) { return int(random_() % unsigned(n)); }
  double real(double low, double high) { return low + (high - low) * (random_() % 1000) / 999; }
  BodyId some_body() { return bodies_[size_t(pick(int(bodies_.size())))]; }

  void draw() {
    outside_ = 0;
    switch (pick(14)) {
      case 0:
        if (bodies_.size() >= 6) break;
        bodies_.push_back(add(sim_, small_box("new", {0, 0, 0}),
                              {{}, {{real(-1, 1), real(0.2, 1.5), real(-0.3, 0.3)}, {}}, {}, {}}));
        break;
      case 1: {
        if (bodies_.size() < 2) break;
        const size_t k = size_t(pick(int(bodies_.size())));
        sim_.remove_body(bodies_[k]);
        gone_.push_back(bodies_[k]), bodies_.erase(bodies_.begin() + std::ptrdiff_t(k));
        break;
      }
      case 2:
        if (colliders_.size() < 3) {
          ColliderSpec ball;
          ball.shape = "sphere", ball.radius = 0.2, ball.position = Vec3{real(-1, 1), 0.2, real(-0.3, 0.3)};
          colliders_.push_back(sim_.add_collider(ball).value());
        }
        break;
      case 3:
        if (!colliders_.empty()) {
          Placing to = sim_.collider_placing(colliders_[0]);
          to.position += Vec3{real(-0.1, 0.1), real(-0.05, 0.05), 0};
          sim_.move_collider(colliders_[0], to);
        }
        break;
      case 4:
        if (!colliders_.empty()) sim_.remove_collider(colliders_.back()), colliders_.pop_back();
        break;
      case 5: {
        const BodyId body = some_body();
        AnchorSpec pin;
        pin.body = sim_.body_name(body), pin.vertices.indices = {0}, pin.stiffness = pin_stiffness;
        pins_.push_back({sim_.add_anchor(pin), body, vertex_of(body)});
        break;
      }
      case 6:  // it takes along what its spring has
        if (pins_.empty()) break;
        sim_.remove_anchor(pins_.back().id);
        outside_ = -0.5 * pin_stiffness * dot(pins_.back().way(*this), pins_.back().way(*this));
        pins_.pop_back();
        break;
      case 7:  // pulled apart: what is beyond its limit tears, and flies
        pulled_ = true;
        for (const double side : {-1.0, 1.0}) {
          Selection half;
          const BodyId body = bodies_[0];
          const std::vector<Vec3>& rest = sim_.mesh(body).vertices;
          for (size_t v = 0; v < rest.size(); ++v)
            if ((rest[v].x - rest[0].x > 0.1) == (side > 0)) half.indices.push_back(int(v));
          sim_.add_force(body, Vec3{side, 0, 0} * real(500, 2500), half);
        }
        break;
      case 8:
        winds_.push_back(
            sim_.add_wind({"", sim_.body_name(some_body()), Vec3{real(-3, 3), 0, real(-3, 3)}, 1.2, true}).value());
        break;
      case 9:
        if (!winds_.empty()) sim_.remove_wind(winds_.back()), winds_.pop_back();
        break;
      case 10: {
        const BodyId body = some_body();
        ForceSpec force;
        force.body = sim_.body_name(body), force.vertices.all = true, force.force = {real(-5, 5), 0, real(-5, 5)};
        forces_.push_back({sim_.add_lasting_force(force).value(), body, force.force});
        outside_ = -dot(force.force, sim_.measure(body).center);  // its potential
        break;
      }
      case 11:
        if (forces_.empty()) break;
        sim_.remove_force(forces_.back().id);
        outside_ = dot(forces_.back().force, sim_.measure(forces_.back().body).center);
        forces_.pop_back();
        break;
      case 12: saved_.emplace(Saved{sim_.save(), bodies_}); break;
      case 13:
        if (!saved_) break;
        CHECK(!sim_.restore(saved_->snapshot).has_errors());
        bodies_ = saved_->bodies, gone_.clear();
        break;
    }
    // what went with a body, or was not there in the state that was gone back to
    std::erase_if(pins_, [&](const Pin& pin) { return pin.id >= sim_.anchors() || !holds(pin.id); });
    std::erase_if(winds_, [&](WindId id) { return !sim_.has_wind(id); });
    std::erase_if(forces_, [&](const Force& force) { return !sim_.has_force(force.id); });
    std::erase_if(colliders_, [&](ColliderId id) { return !sim_.has_collider(id); });
  }
  bool holds(AnchorId id) const {
    try {
      return sim_.anchor_active(id), true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  Vec3 vertex_of(BodyId body) const { return sim_.positions()[size_t(sim_.first_vertex(body))]; }

  /// What nothing but the outside changes.
  double books() const {
    const Measures m = sim_.measure();
    return m.total + m.booked_loss + m.heat - m.work + m.owed;
  }

  void step() {
    const double before = books();
    const StepReport report = sim_.step();
    REQUIRE_MESSAGE(report, report.message);
    torn_ += report.torn;
    for (const BodyId b : gone_) CHECK(!sim_.has_body(b));
    for (const BodyId b : bodies_) CHECK(sim_.has_body(b));
    const Measures m = sim_.measure();
    const double scale = std::abs(m.total) + std::abs(m.booked_loss) + std::abs(m.work) + 1;
    CHECK(std::abs(books() - before - outside_) <= 1e-5 * scale);
    for (const Vec3& v : sim_.velocities()) CHECK((pulled_ || norm(v) < 30));
  }

  static constexpr double pin_stiffness = 1e3;  // [N/m]
  struct Pin {
    AnchorId id;
    BodyId body;
    Vec3 at;  // of vertex 0, when it was added
    Vec3 way(const Sequence& s) const { return s.vertex_of(body) - at; }
  };
  struct Force {
    ForceId id;
    BodyId body;
    Vec3 force;
  };
  struct Saved {
    Snapshot snapshot;
    std::vector<BodyId> bodies;
  };
  std::mt19937 random_;
  Simulation sim_;
  std::vector<BodyId> bodies_, gone_;
  std::vector<ColliderId> colliders_;
  std::vector<Pin> pins_;
  std::vector<WindId> winds_;
  std::vector<Force> forces_;
  std::optional<Saved> saved_;
  int torn_ = 0;
  bool pulled_ = false;
  double outside_ = 0;  // of what was done, what the coming frame has more in the books than it began with [J]
};

}  // namespace

TEST_CASE("random sequences of add, remove, move, pin, tear, snapshot and restore keep the books and leave no trace") {
  // (a few here; VERVE_RANDOM_SEQUENCES=1000 runs a thousand, under the sanitizers too: docs/decisions/015-places.md)
  const char *const wanted = std::getenv("VERVE_RANDOM_SEQUENCES"), *const first = std::getenv("VERVE_FIRST_SEQUENCE");
  const int sequences = wanted ? std::atoi(wanted) : 12, from = first ? std::atoi(first) : 1;
  std::vector<int> seeds;
  for (int k = 0; k < sequences; ++k) seeds.push_back(from + k);
  if (!wanted) seeds.insert(seeds.end(), {67, 102, 181, 246, 353, 498, 554, 664, 892});  // that found something
  int torn = 0;
  for (const int seed : seeds) {
    CAPTURE(seed);
    Sequence sequence(seed);
    sequence.run(25);
    torn += sequence.torn();
  }
  CHECK(torn > 0);
}
