// Stencils of contact: their gradients by finite differences, of faces, edges and corners and edges of colliders; and
// the look-up that finds them, which must not leap.
#include <doctest/doctest.h>

#include <cmath>

#include "base/random.h"
#include "contact/contacts.h"
#include "contact/shapes.h"

using namespace verve;

namespace {

/// Largest difference of the gradient from central differences of the energy, over the force. `frozen`: of the stencils
/// as they are at x; else of stencils that are found anew at every x. `depth` of the deepest place; 0: nothing touches.
double gradient_error(Contacts& contacts, std::vector<Vec4> x, bool frozen, double& depth) {
  std::vector<double> energies(2);
  const auto energy = [&](std::vector<Vec4>& g) {
    g.assign(x.size(), Vec4());
    if (!frozen) contacts.look(x.data());
    return contacts.add_gradient(x.data(), g.data(), energies);
  };
  std::vector<Vec4> gradient, unused;
  contacts.look(x.data());
  energy(gradient);
  depth = contacts.depth();
  if (!contacts.touching()) return 0;
  double size = 0, worst = 0;
  for (const Vec4& g : gradient) size = std::max(size, norm(g.xyz()));
  // truncation of the second order and round-off of the energy meet near the cube root of the precision
  const double h = 1e-5;
  for (size_t i = 0; i < x.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const Vec4 kept = x[i];
      Vec3 moved = kept.xyz();
      moved[k] += h, x[i] = Vec4(moved);
      const double more = energy(unused);
      moved[k] -= 2 * h, x[i] = Vec4(moved);
      const double less = energy(unused);
      x[i] = kept;
      worst = std::max(worst, std::abs((more - less) / (2 * h) - gradient[i].xyz()[k]));
    }
  return worst / size;
}

Vec3 random_point(int seed, int i) { return random_in_ball(seed, i); }

}  // namespace

TEST_CASE("the gradient of edges that touch is the slope of their energy (C15)") {
  // where they fade, of the stencil: its weight is that of where it was found
  for (const bool fixed : {false, true}) {
    CAPTURE(fixed);
    int whole = 0, faded = 0;
    double worst = 0;
    for (int sample = 0; sample < 4000; ++sample) {
      Contacts contacts;
      Contacts::OnEdge on{};
      std::vector<Vec4> x;
      // crossing near the origin, anywhere along both and at any angle
      for (int edge = 0; edge < 2; ++edge) {
        const Vec3 along = random_point(10 + edge, sample), middle = random_point(12 + edge, sample) * 0.1;
        const double at = 0.5 + 0.5 * random_signed(14 + edge, sample);
        x.push_back(Vec4(middle - along * at)), x.push_back(Vec4(middle + along * (1 - at)));
      }
      on.rows = {0, 1, 2, 3}, on.body = 0, on.other = fixed ? -1 : 1, on.pair = -1;
      on.thickness = 0.1, on.stiffness = 3, on.side = sample % 2 ? 1 : -1;
      if (fixed) {
        contacts.points = {x[2].xyz(), x[3].xyz()};
        on.rows[2] = -1, on.rows[3] = -2;
        x.resize(2);
      }
      contacts.on_edges = {on};
      ContactRow row;
      double depth = 0;
      if (!(contacts.touch(on, x.data(), row) > 1e-3) || !(row.scale > 0.1)) continue;
      const double error = gradient_error(contacts, x, row.scale < 1, depth);
      (row.scale < 1 ? faded : whole)++;
      worst = std::max(worst, error);
    }
    MESSAGE(whole, " whole, ", faded, " that fade, worst ", worst);
    CHECK(whole > 50);
    CHECK(faded > 200);
    // crossing at an angle above 13 degrees: what turns the normal is h over the distance of the edges, squared
    CHECK(worst <= 1e-4);
  }
}

TEST_CASE("the gradient of a face on a vertex, or on a corner of a collider, is the slope of its energy (C15)") {
  for (const bool fixed : {false, true})
    for (const int side : {0, 1}) {  // of a solid, and of a sheet
      CAPTURE(fixed);
      CAPTURE(side);
      int touched = 0;
      double worst = 0;
      for (int sample = 0; sample < 2000; ++sample) {
        Contacts contacts;
        Contacts::OnFaces on{};
        std::vector<Vec4> x = {Vec4(random_point(20, sample) * 0.3)};
        for (int i = 0; i < 3; ++i) x.push_back(Vec4(random_point(21 + i, sample)));
        const Vec3 a = x[1].xyz(), normal = cross(x[2].xyz() - a, x[3].xyz() - a);
        if (norm(normal) < 0.1) continue;
        Contacts::Face face{{1, 2, 3}, 0};
        if (side) face.side = dot(normal, x[0].xyz() - a) < 0 ? -1 : 1;
        face.normals = 0, contacts.outward.emplace_back().fill(normal);
        on.vertex = 0, on.body = 0, on.other = fixed ? -1 : 1, on.last = 1, on.pair = -1, on.anchor = -1;
        on.thickness = 0.1, on.stiffness = 3;
        if (fixed) {
          contacts.points = {x[0].xyz()};
          x.erase(x.begin());
          on.vertex = -1;
          for (int& r : face.rows) --r;
        }
        contacts.faces = {face}, contacts.on_faces = {on};
        ContactRow row;
        // within the face: past its edges the normal turns with the offset, as quickly as that is short
        double depth = contacts.touch(on, x.data(), row);
        const double least = fixed ? std::min({row.share[0], row.share[1], row.share[2]})
                                   : -std::max({row.share[1], row.share[2], row.share[3]});
        if (!(depth > 1e-3) || !(least > 1e-3)) continue;
        ++touched;
        worst = std::max(worst, gradient_error(contacts, x, false, depth));
      }
      MESSAGE(touched, " touch, worst ", worst);
      CHECK(touched > 50);
      CHECK(worst <= 1e-6);
    }
}

TEST_CASE("past the edge of the faces that count, the depth of a vertex, or of a corner of a collider, never leaps") {
  // A roof of two faces that looks up, with walls that are no candidates: they look the same way as what comes in.
  const std::vector<Vec3> corners = {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}};
  const std::array<Vec3, 4> walls = {Vec3{-1, 0, 0}, Vec3{0, 0, 1}, Vec3{1, 0, 0}, Vec3{0, 0, -1}};
  for (const bool fixed : {false, true}) {
    CAPTURE(fixed);
    Contacts contacts;
    std::vector<Vec4> x;
    for (const Vec3& c : corners) x.push_back(Vec4(c));
    x.push_back(Vec4());
    Contacts::OnFaces on{};
    on.vertex = fixed ? -1 : 4, on.other = fixed ? -1 : 1, on.last = 2, on.pair = -1, on.anchor = -1;
    on.thickness = 0.01, on.stiffness = 1;
    const Vec3 up{0, 1, 0};
    for (const std::array<int, 3>& face : {std::array{0, 1, 2}, std::array{0, 2, 3}}) {
      Contacts::Face f{face, 0};
      f.normals = int(contacts.outward.size());
      auto& normals = contacts.outward.emplace_back();
      for (int i = 0; i < 3; ++i) normals[i] = up + walls[face[i]] + walls[(face[i] + 3) % 4];  // of its corners
      for (int i = 0; i < 3; ++i) {
        const int a = face[i], b = face[(i + 1) % 3];
        normals[3 + i] = b == (a + 1) % 4 ? up + walls[a] : up;  // and of its edges: a wall, or the ridge
      }
      contacts.faces.push_back(f);
    }
    contacts.close_faces(0);
    contacts.points = {Vec3{}};
    double longest = 0;
    int touched = 0;
    ContactRow row;
    for (int sample = 0; sample < 400; ++sample) {
      const Vec3 middle{0.5, -0.05, 0.5}, from = middle + random_point(30, sample),
                                          to = middle + random_point(31, sample);
      constexpr int steps = 1000;
      double before = 0;
      for (int n = 0; n <= steps; ++n) {
        const Vec3 at = from + (to - from) * (double(n) / steps);
        x[4] = Vec4(at), contacts.points[0] = at;
        const double depth = std::max(0.0, contacts.touch(on, x.data(), row));
        touched += depth > 0;
        if (n > 0) longest = std::max(longest, std::abs(depth - before) / (norm(to - from) / steps));
        before = depth;
      }
    }
    MESSAGE(touched, " touch, changes by up to ", longest, " of the way");
    CHECK(touched > 1000);
    // below an edge and beside it, s = -a (1 - e^2/a^2) has a slope of up to sqrt(8)
    CHECK(longest <= 3);
  }
}

TEST_CASE("W of friction does not leap where its contact opens, and all of it is a loss there") {
  // A vertex on a floor, pulled aside by more than friction bears: lifted, it takes along the spring that held it.
  const auto floor = make_plane({0, 1, 0}, 0);
  const double k = 100, depth = 1e-3, aside = 3e-3, cap = 0.1;
  const auto make = [&] {
    Contacts contacts;
    contacts.clear(1, 1);
    contacts.shapes = {{floor.get(), {}}}, contacts.shape_moves = {0};
    contacts.row_of_state = contacts.state_of_row = {0};
    contacts.start = {Vec4(Vec3{0, -depth, 0})};
    Contacts::OnShape on{};
    on.row.count = 1, on.row.share[0] = 1;  // the vertex in row 0
    on.stiffness = k, on.friction = 1, on.pair = contacts.add_pair(0, -1, 0), on.anchor = 0;
    on.before = {-depth, {0, 1, 0}};
    contacts.on_shapes = {on};
    FrictionAnchor anchor;
    anchor.row = anchor.rows[0] = 0, anchor.collider = 0, anchor.cap = cap;
    contacts.friction_anchors = {anchor};
    contacts.look_again();
    contacts.look(contacts.start.data());
    return contacts;
  };
  std::vector<double> energies(1), losses(1);
  std::vector<Vec4> gradient(1);
  const auto energy = [&](Contacts& contacts, double x, double y) {
    const Vec4 at{x, y, 0, 0};
    gradient[0] = Vec4();
    return contacts.add_gradient(&at, gradient.data(), energies);
  };
  Contacts contacts = make();
  energy(contacts, 0, -depth);  // where the step begins
  double longest = 0, before = 0;
  constexpr int steps = 1000;
  for (int n = 0; n <= steps; ++n) {
    const double now = energy(contacts, aside, depth * (2.0 * n / steps - 1));
    if (n > 0) longest = std::max(longest, std::abs(now - before));
    before = now;
  }
  // the steepest it gets is where it is deepest: k depth over a step of 2 depth / steps
  CHECK(longest <= 1.01 * k * depth * 2 * depth / steps);
  // off the floor: Huber's energy of the stretch alone, with its slope
  const double held = cap * aside - 0.5 * cap * cap / k;
  CHECK(before == doctest::Approx(held));
  CHECK(gradient[0].x == doctest::Approx(cap));
  CHECK(gradient[0].y == 0);
  const Vec4 off{aside, depth, 0, 0};
  contacts.apply_slip(&off, losses);
  CHECK(losses[0] == doctest::Approx(held));
  CHECK(contacts.friction_anchors[0].row < 0);  // it has ended

  // a step that begins off the floor holds nothing
  Contacts later = make();
  CHECK(energy(later, aside, depth) == 0);
  CHECK(energy(later, 2 * aside, depth) == 0);
}

TEST_CASE("a floor that moves does the force at the end of the step times its way, and W at its start is that before") {
  const auto floor = make_plane({0, 1, 0}, 0);
  const double k = 100, depth = 1e-3, up = 5e-3, aside = 2e-3, stretch = 4e-4, cap = 0.1;
  Contacts contacts;
  contacts.clear(1, 1);
  Pose end;
  end.position = {aside, up, 0};
  contacts.shapes = {{floor.get(), end}}, contacts.shape_starts = {Pose{}};
  contacts.shape_moves = contacts.shape_movable = {1};
  contacts.row_of_state = contacts.state_of_row = {0};
  contacts.start = {Vec4(Vec3{stretch, -depth, 0})};
  Contacts::OnShape on{};
  on.row.count = 1, on.row.share[0] = 1;  // the vertex in row 0
  on.stiffness = k, on.friction = 1, on.pair = contacts.add_pair(0, -1, 0), on.anchor = 0;
  on.before = {-depth, {0, 1, 0}}, on.start_depth = depth, on.from = contacts.start[0].xyz() + end.position;
  contacts.on_shapes = {on};
  FrictionAnchor anchor;
  anchor.row = anchor.rows[0] = 0, anchor.collider = 0, anchor.cap = cap, anchor.stretch = stretch;
  contacts.friction_anchors = {anchor};
  std::vector<double> energies(1), work(1);
  std::vector<Vec4> gradient(1);
  contacts.look_again();
  contacts.look(contacts.start.data());
  const double there = contacts.add_gradient(contacts.start.data(), gradient.data(), energies);
  const double before = 0.5 * k * (depth * depth + stretch * stretch);
  CHECK(there - contacts.lift() == doctest::Approx(before));
  CHECK(contacts.pair_lift(0) == doctest::Approx(0.5 * k * ((depth + up) * (depth + up) - depth * depth)));
  // at the end it is pressed in by 2 mm, and the spring of friction stretched backwards by 0.6 mm
  const double pressed = 2e-3, pulled = 6e-4;
  const Vec4 x{aside - pulled, up - pressed, 0, 0};
  gradient[0] = Vec4();
  const double after = contacts.add_gradient(&x, gradient.data(), energies);
  contacts.add_work(work);
  CHECK(work[0] == doctest::Approx(k * pressed * up + k * pulled * aside));
  // W is convex: it rises by no more than that and what the vertex does against it
  const double own = dot(gradient[0], x - contacts.start[0]);
  CHECK(after - before <= work[0] + own);
  CHECK(after - before == doctest::Approx(work[0] + own - 0.5 * k * (pressed - depth) * (pressed - depth) -
                                          0.5 * k * (pulled + stretch) * (pulled + stretch)));
  std::vector<ColliderLoad> loads;
  contacts.add_loads(&x, 1, loads);
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].force.y == doctest::Approx(k * pressed));
  CHECK(loads[0].force.x == doctest::Approx(k * pulled));
}

TEST_CASE("friction that becomes active during a step is not stretched where the step began, however things turned") {
  // Friction begins with the sliding of the step: W at x_n is what it was before, or a step could not fall back on it.
  const auto turned = [](const Vec3& p, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return Vec3{c * p.x - s * p.y, s * p.x + c * p.y, p.z};
  };
  for (const bool edges : {false, true})
    for (const double angle : {0.0, 0.2, -0.4}) {
      CAPTURE(edges);
      CAPTURE(angle);
      Contacts contacts;
      contacts.clear(2, 0);
      contacts.row_of_state = contacts.state_of_row = {0, 1, 2, 3};
      // a vertex, or an edge along z, comes down by 0.3 and aside by 0.05 onto a face, or an edge along x, that turns
      const double gap = 0.3, aside = 0.05, depth = 0.002;
      const Vec3 corner[3] = {{-1, 0, -1}, {0, 0, 1.5}, {1, 0, -1}};
      std::vector<Vec4> start, end;
      const auto add = [&](const Vec3& from, const Vec3& to) { start.push_back(Vec4(from)), end.push_back(Vec4(to)); };
      if (edges) {
        for (const double z : {-0.5, 0.6}) add({0, gap, z}, {aside, std::tan(angle) * aside - depth, z});
        for (const double x : {-1.0, 1.0}) add({x, 0, 0.1}, turned({x, 0, 0.1}, angle));
      } else {
        add({0, gap, 0}, {aside, std::tan(angle) * aside - depth, 0});
        for (const Vec3& c : corner) add(c, turned(c, angle));
      }
      contacts.start = start;
      FrictionAnchor anchor;
      anchor.row = anchor.rows[0] = 0, anchor.body = 1;
      ContactRow row;
      if (edges) {
        Contacts::OnEdge on{};
        on.rows = {0, 1, 2, 3}, on.body = 0, on.other = 1, on.pair = -1, on.stiffness = 3, on.friction = 0.5;
        on.anchor = 0, on.side = 1;  // z x x = y
        REQUIRE(contacts.anchor_edges(on, start.data(), {}, anchor));
        contacts.on_edges = {on};
      } else {
        Contacts::OnFaces on{};
        on.vertex = 0, on.body = 0, on.other = 1, on.last = 1, on.pair = -1, on.stiffness = 3, on.friction = 0.5;
        on.anchor = 0;
        Contacts::Face face{{1, 2, 3}, 0};
        face.normals = 0, contacts.outward.emplace_back().fill({0, 1, 0});
        contacts.faces = {face};
        contacts.touch(on, start.data(), row);
        REQUIRE(contacts.anchor_vertex(row, start.data(), anchor));
        contacts.on_faces = {on};
      }
      contacts.friction_anchors = {anchor};
      std::vector<double> energies(2);
      contacts.look(end.data());
      const auto energy = [&](const std::vector<Vec4>& x) {
        std::vector<Vec4> gradient(x.size());
        return contacts.add_gradient(x.data(), gradient.data(), energies);
      };
      REQUIRE(energy(start) == 0);
      const double pressed = energy(end);
      REQUIRE(pressed > 0);
      std::vector<Vec4> change(end.size());
      REQUIRE(contacts.follow_pressure(Contacts::Follow::both, end.data(), change.data(), energies).any);
      // it slides at the Coulomb force mu k p, and what it has slid by is the way aside, give or take the turn
      const double cap = 0.5 * 3 * contacts.depth(), slid = (energy(end) - pressed) / cap;
      CHECK(slid == doctest::Approx(aside).epsilon(std::abs(angle) + 0.02));
      CHECK(energy(start) <= 1e-12 * pressed);
    }
}
