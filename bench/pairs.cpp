// Finding pairs of features that may touch: trees, hashing and brute force on the same frames.
#include <algorithm>
#include <stdexcept>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "bench/run.h"
#include "contact/broad_phase.h"

namespace verve::bench {

namespace {

constexpr int frames = 8;
constexpr long most_triangles_of_brute_force = 20'000;  // above, a frame takes seconds

struct Situation {
  const char* name;
  bool self;
  int (*bodies)(int size);  // 0, 1, 2: about 1 k, 10 k, 100 k triangles
};

int balls_of_scatter(int size) { return size == 0 ? 12 : size == 1 ? 31 : 78; }
int balls_of_stack(int size) { return size == 0 ? 12 : size == 1 ? 27 : 64; }
int one(int) { return 1; }
const Situation situations[] = {
    {"scattered", false, balls_of_scatter}, {"crumpled", true, one}, {"stack", true, balls_of_stack}};
const char* const sizes[] = {"1k", "10k", "100k"};

Mesh generated(const std::string& generator, const Parameters& parameters) {
  Expected<Mesh> mesh = generate_mesh(generator, parameters);
  if (!mesh) throw std::runtime_error(mesh.diagnostics().text());
  return std::move(*mesh);
}

/// Bodies of one situation on their way through some frames, each vertex by its row.
class Motion {
 public:
  Motion(const Situation& situation, int size) : self(situation.self) {
    const int bodies = situation.bodies(size);
    if (bodies == 1) {
      const double side[] = {23, 71, 224};
      mesh_ = generated("cloth", {{"columns", {side[size]}}, {"rows", {side[size]}}});
      mesh_.edges.clear();
    } else {
      const double frequency[] = {3, situation.self ? 7.0 : 6.0, situation.self ? 14.0 : 13.0};  // 8 f^2 triangles
      mesh_ = generated("sphere", {{"frequency", {frequency[size]}}});
    }
    surface_ = make_surface(mesh_);
    double length = 0, radius = 0;
    for (const auto& [a, b] : surface_.edges)
      length += norm(mesh_.vertices[a] - mesh_.vertices[b]) / double(surface_.edges.size());
    for (const Vec3& v : mesh_.vertices) radius = std::max(radius, norm(v));
    margin_ = 0.1 * length;
    for (int b = 0; b < bodies; ++b) {
      auto& body = x_.emplace_back(frames + 1);
      for (int f = 0; f <= frames; ++f)
        for (const Vec3& v : mesh_.vertices)
          body[f].push_back(Vec4(bodies == 1      ? crumpled(v, f)
                                 : situation.self ? stacked(v, radius, b, f)
                                                  : scattered(v, radius, b, bodies, f)));
    }
  }

  std::vector<SweptSurface> surfaces(int frame) const {
    std::vector<SweptSurface> out;
    for (size_t b = 0; b < x_.size(); ++b)
      out.push_back({&surface_, x_[b][frame].data(), x_[b][frame + 1].data(), margin_, int(b)});
    return out;
  }
  int vertices() const { return int(x_.size() * surface_.vertices.size()); }
  int triangles() const { return int(x_.size() * surface_.faces.size()); }

  const bool self;

 private:
  /// A sheet of paper on its way to a ball: folded over planes in space, one after another. What lies beyond a plane is
  /// mirrored, so that nothing is stretched; the planes move by 2 mm a frame.
  static Vec3 crumpled(Vec3 p, int frame) {
    for (int k = 0; k < 9; ++k) {
      const Vec3 way = random_in_ball(1, k), n = way / norm(way);
      const double beyond = dot(n, p) - (0.3 / (1 + k) - 0.002 * frame);
      if (beyond > 0) p -= n * (2 * beyond);
    }
    return p;
  }
  /// One part in twenty of space is full; half a diameter in eight frames, each its own way.
  static Vec3 scattered(const Vec3& p, double radius, int ball, int balls, int frame) {
    const double room = radius * std::cbrt(20 * 4.19 * balls) / 2;
    const Vec3 at{random_signed(2, 3 * ball), random_signed(2, 3 * ball + 1), random_signed(2, 3 * ball + 2)};
    return p + at * room + random_in_ball(3, ball) * (radius * frame / frames);
  }
  /// Layers of 3 x 3, a little into each other, and sinking.
  static Vec3 stacked(const Vec3& p, double radius, int ball, int frame) {
    const int across = 3;
    const Vec3 at{double(ball % across), double(ball / (across * across)), double(ball / across % across)};
    const double sunk = 1 - 0.002 * frame;
    return Vec3{p.x, p.y * sunk, p.z} + Vec3{at.x, at.y * sunk, at.z} * (1.98 * radius);
  }

  Mesh mesh_;
  Surface surface_;
  double margin_ = 0;
  std::vector<std::vector<std::vector<Vec4>>> x_;  // of each body in each frame
};

std::uint64_t hash_of(const std::vector<Pair>& vertex_face, const std::vector<Pair>& edge_edge) {
  BitHash hash;
  for (const auto* pairs : {&vertex_face, &edge_edge})
    for (const Pair& p : *pairs)
      for (const int i : {p.surface_a, p.feature_a, p.surface_b, p.feature_b}) hash.add(double(i));
  return hash.value();
}

}  // namespace

std::vector<std::string> pair_case_names(bool quick) {
  std::vector<std::string> out;
  for (const Situation& s : situations)
    for (int size = 0; size < (quick ? 2 : 3); ++size) out.push_back(std::string(s.name) + "_" + sizes[size]);
  return out;
}

std::vector<PairsResult> measure_pairs(const std::string& name, const Options& options, Pace& pace) {
  const std::vector<std::string> names = pair_case_names(false);
  const int place = int(std::find(names.begin(), names.end(), name) - names.begin());
  const Motion motion(situations[place / 3], place % 3);

  struct Finder {
    PairsResult* result;
    std::unique_ptr<BroadPhase> phase;
    std::vector<Pair> vertex_face, edge_edge;
  };
  std::vector<PairsResult> out;
  for (const BroadPhaseKind kind : {BroadPhaseKind::tree, BroadPhaseKind::hash, BroadPhaseKind::brute_force})
    for (const int threads : options.threads) {
      if (threads != 1 && (kind == BroadPhaseKind::brute_force || threads != options.threads.back())) continue;
      if (kind == BroadPhaseKind::brute_force && motion.triangles() > most_triangles_of_brute_force) continue;
      out.push_back({name, to_string(kind), motion.vertices(), motion.triangles(), threads, {}, 0, 0});
    }
  std::vector<Finder> finders;
  for (PairsResult& r : out) {
    const BroadPhaseKind kind = r.finder == "tree"   ? BroadPhaseKind::tree
                                : r.finder == "hash" ? BroadPhaseKind::hash
                                                     : BroadPhaseKind::brute_force;
    finders.push_back({&r, make_broad_phase(kind), {}, {}});
  }
  pace.begin_rounds(options.quick ? 0.1 : 2, frames, 400);
  for (int round = 0; pace.next_round(); ++round) {
    const int frame = round % frames;
    const std::vector<SweptSurface> surfaces = motion.surfaces(frame);
    for (Finder& f : finders) {
      if (f.result->finder == "brute_force" && round >= 3) continue;
      set_threads(f.result->threads);
      // of one thread the processor's time, which other programs do not lengthen
      const auto clock = f.result->threads == 1 ? thread_time : now;
      const double begin = clock();
      f.phase->find(surfaces, f.vertex_face, f.edge_edge, motion.self);
      if (round > 0) f.result->milliseconds.add(1e3 * (clock() - begin));  // the first makes room
      set_threads(1);
      if (frame == 1) {
        f.result->pairs = long(f.vertex_face.size() + f.edge_edge.size());
        f.result->hash = hash_of(f.vertex_face, f.edge_edge);
      }
    }
  }
  return out;
}

}  // namespace verve::bench
