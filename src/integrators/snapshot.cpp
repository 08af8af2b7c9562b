// Snapshots: the State as bytes, with what it belongs to, a version and a checksum.
#include "verve/snapshot.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/hash.h"
#include "base/new_file.h"
#include "integrators/archive.h"
#include "integrators/snapshot_content.h"

namespace verve {

// Every member that is remembered, once each, for writing and for reading. A member that is missing here is a frame
// that goes on differently after a restore: tests/integrators/test_snapshot.cpp.
template <class A>
void visit(A& a, Vec3& v) {
  archive_all(a, v.x, v.y, v.z);
}
template <class A>
void visit(A& a, Vec4& v) {
  archive_all(a, v.x, v.y, v.z, v.w);
}
template <class A>
void visit(A& a, Quantities& q) {
  archive_all(a, q.p, q.l, q.h);
}
template <class A>
void visit(A& a, BodyLedger& l) {
  archive_all(a, l.debt, l.wanted_energy, l.held_energy, l.held_momentum, l.held_spin, l.damping, l.history,
              l.last_step, l.booked_loss, l.heat, l.work, l.torn, l.applied, l.pair_energy, l.friction_energy, l.mode,
              l.slow_frames, l.elastic, l.contact, l.target_total, l.multiplier, l.error_p, l.error_l, l.error_h,
              l.iterations, l.substeps);
}
template <class A, class T>
void visit(A& a, Track<T>& track) {
  archive(a, track.interpolation);
  if (!archive_size(a, track.keys)) return;
  for (auto& key : track.keys) archive_all(a, key.time, key.value);
}
template <class A>
void visit(A& a, Selection& s) {
  archive_all(a, s.all, s.indices, s.box, s.sphere, s.nearest, s.carried);
}
template <class A>
void visit(A& a, AnchorSpec& s) {
  archive_all(a, s.name, s.body, s.vertices, s.stiffness, s.hard, s.to_point, s.to_body, s.path, s.active, s.within);
}
template <class A>
void visit(A& a, AnchorState& s) {
  archive_all(a, s.added, s.removed, s.generation, s.active, s.switched, s.moved, s.stiffness, s.hardness, s.placed, s.hold);
}
template <class A>
void visit(A& a, Mat3& m) {
  archive_all(a, m.col);
}
template <class A>
void visit(A& a, Pose& p) {
  archive_all(a, p.rotation, p.position);
}
template <class A>
void visit(A& a, Quaternion& q) {
  archive_all(a, q.x, q.y, q.z, q.w);
}
template <class A>
void visit(A& a, Placing& p) {
  archive_all(a, p.position, p.rotation);
}
template <class A>
void visit(A& a, Spawn& s) {
  archive_all(a, s.name, s.place, s.velocity, s.angular_velocity);
}
template <class A>
void visit(A& a, std::filesystem::path& path) {
  std::string text = path.string();
  archive(a, text);
  if constexpr (A::reads) path = text;
}
template <class A>
void visit(A& a, Mesh& m) {
  archive_all(a, m.vertices, m.tetrahedra, m.triangles, m.edges);
}
template <class A>
void visit(A& a, MeshSpec& s) {
  archive_all(a, s.generator, s.parameters, s.file, s.object, s.repair, s.mesh);
}
template <class A>
void visit(A& a, PoseSpec& s) {
  archive_all(a, s.stretch, s.twist, s.bend);
}
template <class A>
void visit(A& a, PotentialSpec& s) {  // (no function: Snapshot::unwritable)
  archive_all(a, s.type, s.parameters, s.arrays, s.region, s.groups, s.examples, s.poses, s.projection, s.tear,
              s.yield, s.hardening, s.creep);
}
template <class A>
void visit(A& a, Placement& s) {
  archive_all(a, s.scale, s.size, s.rotate, s.translate);
}
template <class A>
void visit(A& a, InitialState& s) {
  archive_all(a, s.stretch, s.twist, s.squash, s.noise, s.seed, s.velocity, s.angular_velocity);
}
template <class A>
void visit(A& a, Dials& s) {
  archive_all(a, s.momentum, s.spin, s.energy, s.half_life, s.damping);
}
template <class A>
void visit(A& a, BodySpec& s) {
  archive_all(a, s.name, s.mesh, s.embed, s.place, s.density, s.mass, s.mass_matrix, s.potentials, s.initial, s.dials,
              s.thickness, s.friction, s.restitution, s.color);
}
template <class A>
void visit(A& a, ColliderSpec& s) {
  archive_all(a, s.name, s.shape, s.normal, s.size, s.radius, s.length, s.mesh, s.position, s.rotation, s.friction,
              s.restitution, s.active);
}
template <class A>
void visit(A& a, BodyPlace& p) {
  archive_all(a, p.added, p.removed, p.generation, p.spawn, p.first);
}
template <class A>
void visit(A& a, ColliderState& s) {
  archive_all(a, s.added, s.removed, s.generation, s.switched, s.was_active, s.from, s.to);
}
template <class A>
void visit(A& a, WindSpec& s) {
  archive_all(a, s.name, s.body, s.velocity, s.drag, s.active);
}
template <class A>
void visit(A& a, WindState& s) {
  archive_all(a, s.added, s.removed, s.generation, s.velocity);
}
template <class A>
void visit(A& a, ForceSpec& s) {
  archive_all(a, s.body, s.vertices, s.force, s.active);
}
template <class A>
void visit(A& a, ForceState& s) {
  archive_all(a, s.added, s.removed, s.generation, s.active);
}
template <class A>
void visit(A& a, PairContact& c) {
  archive_all(a, c.body, c.other, c.collider, c.normal, c.point, c.force, c.impulse, c.friction_loss);
}
template <class A>
void visit(A& a, Bounce& b) {
  archive_all(a, b.body, b.other, b.collider, b.speed, b.normal, b.arm, b.arm_of_other, b.free, b.age);
}
template <class A>
void visit(A& a, CachedContact& c) {
  archive_all(a, c.key, c.depth, c.rest, c.normal, c.point);
}
template <class A>
void visit(A& a, FrictionAnchor& g) {
  archive_all(a, g.row, g.collider, g.body, g.more, g.point, g.own, g.count, g.rows, g.weights, g.normal, g.cap,
              g.stretch);
}
template <class A>
void visit(A& a, SubstepControl& c) {
  archive_all(a, c.last, c.iterations, c.easy, c.unresolved, c.loss, c.energy, c.distance);
}
template <class A>
void visit(A& a, LowRankTerm& t) {
  archive_all(a, t.a, t.b, t.weight);
}
template <class A>
void visit(A& a, ColliderLoad& l) {
  archive_all(a, l.body, l.collider, l.force, l.torque, l.moment, l.size);
}
template <class A>
void visit(A& a, IslandMemory& m) {
  archive_all(a, m.bodies, m.substeps, m.energy, m.prestress_energy, m.evaluated, m.radius, m.kinetic,
              m.iteration_cost, m.plain_steps, m.cannot_lose, m.has_contacts, m.restitution,
              m.start_hash, m.same_starts, m.loads, m.planes, m.own_step);
}
template <class A>
void visit(A& a, FactorBase& b) {
  archive_all(a, b.anchors, b.removed);
}
template <class A>
void visit(A& a, FactorRecord& r) {
  archive_all(a, r.body, r.hh, r.precision, r.base, r.extra_work, r.current);
}
template <class A>
void visit(A& a, PlasticFlow& f) {
  archive_all(a, f.rest, f.flowed, f.in_matrix);
}
template <class A>
void visit(A& a, State& s) {
  archive_all(a, s.x, s.v, s.p, s.q, s.gradient, s.acceleration, s.applied, s.winds, s.forces, s.bodies, s.ledger,
              s.anchors, s.colliders, s.contact_pairs, s.bounces, s.contacts, s.gone, s.plastic, s.islands, s.factors,
              s.parameters, s.overrides, s.friction_anchors, s.touching, s.group, s.friction, s.step, s.iterations,
              s.budget, s.gravity, s.time, s.origin, s.frame);
}

namespace {

constexpr char magic[8] = {'V', 'E', 'R', 'V', 'E', 'S', 'N', 'P'};
/// Raised whenever the list of members above changes.
constexpr std::uint32_t version = 8;

std::uint64_t checksum(const unsigned char* first, size_t count) {
  BitHash hash;
  for (size_t i = 0; i < count; i += sizeof(double)) {
    double word = 0;
    std::memcpy(&word, first + i, std::min(sizeof word, count - i));
    hash.add(word);
  }
  return hash.value();
}

}  // namespace

void seal_snapshot(std::vector<unsigned char>& bytes) {
  constexpr size_t at_size = sizeof magic + sizeof version, header = at_size + 2 * sizeof(std::uint64_t);
  if (bytes.size() < header) return;
  const std::uint64_t size = bytes.size() - header, sum = checksum(bytes.data() + header, size);
  std::memcpy(bytes.data() + at_size, &size, sizeof size);
  std::memcpy(bytes.data() + at_size + sizeof size, &sum, sizeof sum);
}

std::vector<unsigned char> state_bytes(const State& state) {
  ByteWriter out;
  State copy = state;
  archive_all(out, copy);
  return out.bytes();
}

bool read_state(const std::vector<unsigned char>& bytes, State& out) {
  ByteReader in(bytes.data(), bytes.size());
  archive_all(in, out);
  return in.ok() && in.left() == 0;
}

int Snapshot::frame() const { return content_->state.frame; }
double Snapshot::time() const { return content_->state.time; }

Diagnostics Snapshot::unwritable() const {
  Diagnostics out;
  const auto names = [&](const std::string& where, const MeshSpec& mesh) {
    if (!mesh.file.empty()) out.note(where, "names the file \"" + mesh.file.string() + "\"");
  };
  for (const BodyPlace& place : content_->state.bodies) {
    if (place.removed || !place.added) continue;
    const std::string body = "body \"" + place.added->name + "\"";
    names(body, place.added->mesh);
    if (place.added->embed) names(body, *place.added->embed);
    for (size_t k = 0; k < place.added->potentials.size(); ++k) {
      const PotentialSpec& potential = place.added->potentials[k];
      const std::string where = body + ": potentials[" + std::to_string(k) + "]";
      for (const MeshSpec& example : potential.examples) names(where, example);
      if (!potential.formula && !potential.law) continue;
      out.error(where, "found \"" + potential.type + "\" with a function of the program, which no file can have; expected a "
                       "potential by name: register_potential gives the function one");
    }
  }
  for (const ColliderState& place : content_->state.colliders)
    if (place.added && place.added->mesh) names("collider \"" + place.added->name + "\"", *place.added->mesh);
  return out;
}

std::vector<unsigned char> Snapshot::bytes() const {
  if (const Diagnostics problems = unwritable(); problems.has_errors()) throw std::invalid_argument(problems.text());
  ByteWriter content, out;
  Content copy = *content_;
  archive_all(content, copy.layout, copy.state);
  const std::uint64_t size = content.bytes().size(), sum = checksum(content.bytes().data(), size);
  out.raw(magic, sizeof magic);
  out.raw(&version, sizeof version);
  out.raw(&size, sizeof size);
  out.raw(&sum, sizeof sum);
  out.raw(content.bytes().data(), size);
  return out.bytes();
}

Expected<Snapshot> Snapshot::from_bytes(const std::vector<unsigned char>& bytes, const std::string& where) {
  Diagnostics problems;
  const auto refuse = [&](const std::string& what) {
    problems.error(where, what);
    return problems;
  };
  ByteReader in(bytes.data(), bytes.size());
  char found[sizeof magic];
  std::uint32_t of_version = 0;
  std::uint64_t size = 0, sum = 0;
  in.raw(found, sizeof found);
  if (std::memcmp(found, magic, sizeof magic) != 0)
    return refuse("found no snapshot, expected a file that verve simulate --snapshot-every wrote");
  in.raw(&of_version, sizeof of_version);
  if (of_version != version)
    return refuse("found version " + std::to_string(of_version) + " of the format, expected " +
                  std::to_string(version) + ": it was written by another version of Verve");
  in.raw(&size, sizeof size);
  in.raw(&sum, sizeof sum);
  if (in.left() != size)
    return refuse("found " + std::to_string(in.left()) + " bytes after the header, expected " + std::to_string(size) +
                  ": it was cut short");
  if (checksum(bytes.data() + (bytes.size() - size), size) != sum)
    return refuse("found another checksum than it was written with: it has been changed");
  auto content = std::make_shared<Content>();
  archive_all(in, content->layout, content->state);
  if (!in.ok() || in.left() != 0) return refuse("found bytes that make no state");
  return Snapshot(std::move(content));
}

Diagnostics write_snapshot(const std::filesystem::path& path, const Snapshot& snapshot) {
  if (const Diagnostics told = snapshot.unwritable(); told.has_errors()) return told;
  Diagnostics problems;
  const std::vector<unsigned char> bytes = snapshot.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const std::string error = write_whole_file(path, text); !error.empty())
    problems.error(path.string(), "cannot be written: " + error);
  return problems;
}

Expected<Snapshot> read_snapshot(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    Diagnostics problems;
    problems.error(path.string(), "cannot be read, expected a snapshot");
    return problems;
  }
  const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return Snapshot::from_bytes(bytes, path.string());
}

}  // namespace verve
