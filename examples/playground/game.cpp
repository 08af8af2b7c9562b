#include "game.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using verve::Vec3;

namespace {

constexpr Vec3 paddle_size{0.14, 0.5, 0.9};
constexpr double paddle_speed = 1.6;  // [m/s]
constexpr double arena = 1.9;         // half of the floor [m]

verve::BodySpec toy(int number) {
  verve::BodySpec body;
  const char* const kinds[] = {"box", "ball", "bear", "torus"};
  const std::string kind = kinds[number % 4];
  body.name = kind;
  body.mesh.generator = kind;
  if (kind == "box") body.mesh.parameters = {{"size", {0.4, 0.4, 0.4}}, {"cells", {3, 3, 3}}};
  if (kind == "ball") body.mesh.parameters = {{"size", {0.44}}, {"frequency", {3}}};
  if (kind == "bear") body.mesh.parameters = {{"resolution", {8}}};
  if (kind == "bear" || kind == "torus") body.place.size = 0.6;
  body.density = 300;
  body.potentials.push_back({"tet_strain", {{"mu", number / 4 % 2 ? 6e4 : 2e4}}});  // one that keeps to a budget
  body.dials.half_life = 0.5;
  body.friction = 0.4, body.restitution = 0.3;
  return body;
}

verve::Scene arena_scene() {
  verve::Scene scene;
  scene.name = "playground";
  scene.step = frame_time;
  scene.gravity = {0, -9.81, 0};
  scene.solver.budget = frame_budget;
  scene.solver.tolerance = 1e-3;
  scene.contact.emplace();
  const auto wall = [&](const char* name, Vec3 normal, Vec3 position) {
    verve::ColliderSpec& c = scene.colliders.emplace_back();
    c.name = name, c.shape = "plane", c.normal = normal, c.position = position;
    c.friction = 0.5, c.restitution = 0.3;
  };
  wall("floor", {0, 1, 0}, {0, 0, 0});
  wall("left", {1, 0, 0}, {-arena, 0, 0});
  wall("right", {-1, 0, 0}, {arena, 0, 0});
  wall("back", {0, 0, 1}, {0, 0, -arena});
  wall("front", {0, 0, -1}, {0, 0, arena});
  verve::ColliderSpec& paddle = scene.colliders.emplace_back();
  paddle.name = "paddle", paddle.shape = "box", paddle.size = paddle_size;
  paddle.position = Vec3{1.6, 0.3, 0}, paddle.friction = 0.5, paddle.restitution = 0.3;
  scene.bodies.push_back(toy(0));
  scene.bodies[0].place.translate = {0, 0.4, 0};
  return scene;
}

void add_quad(Game::Thing& out, const std::array<Vec3, 4>& corners) {
  const Vec3 across = cross(corners[1] - corners[0], corners[2] - corners[0]), normal = across / norm(across);
  const int first = int(out.points.size() / 3);
  for (const Vec3& p : corners)
    for (int k = 0; k < 3; ++k) out.points.push_back(float(p[k])), out.normals.push_back(float(normal[k]));
  out.triangles.push_back({first, first + 1, first + 2}), out.triangles.push_back({first, first + 2, first + 3});
}

/// A chequered floor.
std::array<Game::Thing, 2> floor_things() {
  std::array<Game::Thing, 2> out;
  out[0].color = {0.80f, 0.82f, 0.85f}, out[1].color = {0.66f, 0.70f, 0.75f};
  const int cells = 8;
  const double size = 2 * arena / cells;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      const double x = -arena + i * size, z = -arena + j * size;
      add_quad(out[size_t((i + j) % 2)], {Vec3{x, 0, z}, {x, 0, z + size}, {x + size, 0, z + size}, {x + size, 0, z}});
    }
  return out;
}

Game::Thing box_thing(const verve::Placing& at, const Vec3& size) {
  Game::Thing out;
  out.color = {0.25f, 0.35f, 0.55f};
  const verve::Mat3 turn = rotation_matrix(at.rotation);
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-0.5, 0.5}) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      std::array<Vec3, 4> corners;
      for (int c = 0; c < 4; ++c) {
        Vec3 p{};
        p[axis] = side * size[axis];
        p[u] = (c == 1 || c == 2 ? 0.5 : -0.5) * size[u], p[v] = (c >= 2 ? 0.5 : -0.5) * size[v];
        corners[size_t(side > 0 ? c : 3 - c)] = turn * p + at.position;
      }
      add_quad(out, corners);
    }
  return out;
}

constexpr std::array<float, 3> colors[] = {{0.93f, 0.45f, 0.35f}, {0.36f, 0.67f, 0.55f}, {0.95f, 0.75f, 0.35f},
                                           {0.55f, 0.50f, 0.80f}, {0.45f, 0.70f, 0.90f}, {0.85f, 0.55f, 0.70f}};

}  // namespace

Game::Game() : simulation_(verve::Simulation::create(arena_scene()).value()) {
  simulation_->prepare();  // what the first frame would wait for
  paddle_ = simulation_->find_collider("paddle");
  paddle_at_ = simulation_->collider_placing(paddle_);
  spawned_ = 1;
  prepare_next();
}

Game::~Game() {
  if (next_.valid()) next_.wait();  // it reads the simulation
}

/// The next toy is made while the game goes on: mesh, surface and factors take longer than a frame.
void Game::prepare_next() {
  next_ = std::async(std::launch::async, [this, spec = toy(spawned_)] { return simulation_->prepare(spec); });
}

void Game::add_prepared() {
  if (wanted_ == 0 || next_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  verve::Expected<verve::PreparedBody> toy = next_.get();
  verve::Spawn spawn;
  const double turn = 0.9 * spawned_;
  spawn.place.position = {0.7 * std::cos(2.4 * spawned_), 1.6, 0.6 * std::sin(2.4 * spawned_) - 0.3};
  spawn.place.rotation = {0, std::sin(turn / 2), 0, std::cos(turn / 2)};
  spawn.angular_velocity = {1, 0.5, 2};
  simulation_->add_body(std::move(toy.value()), spawn);
  ++spawned_, --wanted_;
  prepare_next();
}

void Game::move_paddle(const Controls& controls) {
  Vec3 way = Vec3{controls.left_right, controls.up_down, controls.near_far} * (paddle_speed * frame_time);
  Vec3& p = paddle_at_.position;
  p += way;
  p.x = std::clamp(p.x, -arena, arena), p.y = std::clamp(p.y, 0.3, 1.5), p.z = std::clamp(p.z, -arena, arena);
  simulation_->move_collider(paddle_, paddle_at_);  // it gets there in the course of the frame, and pushes on its way
}

void Game::step(const Controls& controls) {
  if (controls.spawn) ++wanted_;
  add_prepared();
  move_paddle(controls);
  const verve::StepReport report = simulation_->step();
  if (!report) last_event_ = report.message;
  longest_work_ = std::max(longest_work_, report.work);
  for (const verve::Event& event : simulation_->events()) {
    if (event.kind != verve::EventKind::contact_begin) continue;
    ++hits_;
    if (event.collider == paddle_) last_event_ = simulation_->body_name(event.body) + " meets the paddle";
  }
}

/// The body that a ray meets first, or none. The eye is behind the walls, which are not drawn: one looks from where the
/// ray comes into the arena, and not through the paddle.
std::optional<verve::RayHit> Game::pick(const Vec3& eye, const Vec3& way) const {
  double enter = 0;
  for (const int axis : {0, 2})
    if (std::abs(eye[axis]) > arena && eye[axis] * way[axis] < 0)
      enter = std::max(enter, (std::abs(eye[axis]) - arena) / std::abs(way[axis]));
  const auto hit = simulation_->cast_ray(eye + way * (enter + 1e-4), way);
  if (!hit || hit->body < 0) return std::nullopt;
  return hit;
}

bool Game::grab(const Vec3& eye, const Vec3& way) {
  release();
  const auto hit = pick(eye, way);
  if (!hit) return false;
  verve::AnchorSpec hand;  // springs at the corners of the triangle that was met
  hand.body = simulation_->body_name(hit->body);
  for (const int v : hit->vertices) hand.vertices.indices.push_back(v);
  hand.stiffness = 400 * simulation_->measure(hit->body).mass;
  held_ = Held{hit->body, simulation_->add_anchor(hand), hit->point, norm(hit->point - eye)};
  return true;
}

void Game::drag(const Vec3& eye, const Vec3& way) {
  if (!held_) return;
  simulation_->move_anchor(held_->anchor, eye + way * (held_->distance / norm(way)) - held_->from);
}

void Game::release() {
  if (held_ && simulation_->has_body(held_->body)) simulation_->remove_anchor(held_->anchor);
  held_.reset();
}

bool Game::remove(const Vec3& eye, const Vec3& way) {
  const auto hit = pick(eye, way);
  if (!hit) return false;
  if (held_ && held_->body == hit->body) release();
  simulation_->remove_body(hit->body);
  return true;
}

int Game::bodies() const {
  int count = 0;
  for (int b = 0; b < simulation_->bodies(); ++b) count += simulation_->has_body(b);
  return count;
}

const std::vector<Game::Thing>& Game::things() {
  std::vector<verve::BodyId> now;
  for (int b = 0; b < simulation_->bodies(); ++b)
    if (simulation_->has_body(b)) now.push_back(simulation_->body_id(b));
  if (now != drawn_ || things_.empty()) {  // who has come or gone: triangles anew
    drawn_ = now;
    const std::array<Thing, 2> floor = floor_things();
    things_.assign(floor.begin(), floor.end());
    things_.emplace_back();  // the paddle
    for (const verve::BodyId body : drawn_) {
      Thing& thing = things_.emplace_back();
      const verve::Mesh& mesh = simulation_->mesh(body);
      thing.triangles = verve::surface(mesh);
      thing.points.resize(3 * mesh.vertices.size()), thing.normals.resize(3 * mesh.vertices.size());
      thing.color = colors[size_t(body.number()) % std::size(colors)];
    }
  }
  things_[2] = box_thing(simulation_->collider_placing(paddle_), paddle_size);
  for (size_t k = 0; k < drawn_.size(); ++k) {
    simulation_->read_positions(drawn_[k], things_[k + 3].points.data());
    simulation_->read_normals(drawn_[k], things_[k + 3].normals.data());
  }
  return things_;
}
