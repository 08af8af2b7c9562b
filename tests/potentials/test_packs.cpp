// Every kernel in packs of lanes against its scalar double instantiation, on every set of instructions of this machine.
#include <doctest/doctest.h>

#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "matrices.h"
#include "potentials/batch.h"
#include "potentials/spring.h"
#include "potentials/tet_strain.h"
#include "probes.h"
#include "targets.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Energy, gradient and the size of the forces that cancel, element by element from the scalar kernel in double.
struct Reference {
  double energy = 0, forces = 0;
  std::vector<Vec4> gradient;

  Reference(Potential& p, const std::vector<Vec4>& x) : gradient(x.size()) {
    const Projection at = project(p, x);
    for (int e = 0, k = 0; e < p.elements(); ++e) {
      for (int r = 0; r < p.rows(e); ++r, ++k) {
        const Vec3 z = at.z[k], d = z - at.p[k];
        energy += 0.5 * p.weight(e) * dot(d, d);
        for (int c = 0; c < p.corners(e); ++c) {
          const double a = p.coefficient(e, r, c) * p.weight(e);
          gradient[p.vertex(e, c)] += Vec4(d * a);
          // without a set to project to, forces are not bounded by w |z|
          forces = std::max(forces, std::abs(a) * std::max(norm(z), p.has_projection() ? 0 : norm(d)));
        }
      }
    }
    if (!p.has_projection()) energy = with_one_lane([&] { return p.energy(x.data()); });
  }
};

bool on_packs(const PotentialInfo& info) { return runs_on_packs(info) || info.takes_examples; }

double largest_difference(const std::vector<Vec4>& a, const std::vector<Vec4>& b) {
  double worst = 0;
  for (size_t v = 0; v < a.size(); ++v) worst = std::max(worst, norm((a[v] - b[v]).xyz()));
  return worst;
}

void check_against_scalar(Potential& batch, const std::vector<Vec4>& x) {
  const Reference expected(batch, x);
  const Slope wide = slope(batch, x), narrow = slope(batch, x, Precision::float32);
  // Fused multiply-adds and another order round differently: a few tens of eps of the forces that cancel in a vertex of
  // up to 30 elements; the polar formula multiplies them by up to 1/zeta^2 = 100 in double, 4 in float.
  CHECK(largest_difference(wide.gradient, expected.gradient) <= 2e-13 * expected.forces);
  CHECK(largest_difference(narrow.gradient, expected.gradient) <= 2e-5 * expected.forces);
  if (!batch.has_projection()) return;  // its energy is not w/2 |z - p|^2
  CHECK(std::abs(wide.energy - expected.energy) <= 1e-13 * expected.energy);
  CHECK(std::abs(narrow.energy - expected.energy) <= 2e-6 * expected.energy);
  // the energy alone may cancel down to 1e-4 of its terms
  CHECK(std::abs(batch.energy(x.data()) - expected.energy) <= 1e-11 * expected.energy);
  CHECK(std::abs(batch.energy(x.data(), Precision::float32) - expected.energy) <= 1e-3 * expected.energy);
}

}  // namespace

TEST_CASE("each set of instructions runs when it is asked for, the same for every kernel") {
  std::set<std::string> seen;
  for_each_target([&](const std::string& target) {
    CHECK(block_loops<TetStrain>().instructions == target);
    CHECK(block_loops<RotationProbe>().instructions == target);
    seen.insert(target);
  });
  std::string list;
  for (const std::string& s : seen) list += " " + s;
  MESSAGE("sets of instructions:" << list);
  CHECK(plain_loops<TetStrain>().instructions == std::string("plain"));
#if defined(VERVE_SIMD) && defined(__x86_64__)
  CHECK(seen.count("SCALAR") == 1);  // runs anywhere
  if (__builtin_cpu_supports("sse4.2")) CHECK(seen.count("SSE4") == 1);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) CHECK(seen.count("AVX2") == 1);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) CHECK(seen.count("AVX3") == 1);
#endif
}

TEST_CASE("every potential in packs equals its scalar kernel, on every set of instructions") {
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info);
    const auto batch = make(entry, mesh);
    for_each_target([&](const std::string&) {
      // gentle, and wild: inverted, crossed over
      for (const double noise : {0.02, 0.1, 1.0})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) check_against_scalar(*batch, deformed(mesh, noise, seed));
    });
  }
}

TEST_CASE("a mesh of many chunks equals the scalar kernel, on every set of instructions") {
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info, true);
    const auto batch = make(entry, mesh);
    if (batch->corners(0) > 100) continue;  // no small stencil, no packs: one element is the whole surface
    REQUIRE(batch->elements() * batch->corners(0) > 3 * 4096);
    const auto x = deformed(mesh, 0.005, 3);
    if (!on_packs(entry.info)) {
      check_against_scalar(*batch, x);
      continue;
    }
    for_each_target([&](const std::string&) { check_against_scalar(*batch, x); });
  }
}

TEST_CASE("one to thirty-three elements: what fills up the last block leaves no trace") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {2, 2, 2}}});
  const auto x = deformed(mesh, 0.1, 8);
  const auto edges = unique_edges(mesh);
  for (size_t count = 1; count <= 33; ++count) {
    CAPTURE(count);
    std::vector<std::array<int, 4>> tets(mesh.tetrahedra.begin(), mesh.tetrahedra.begin() + count);
    std::vector<std::array<int, 2>> springs(edges.begin(), edges.begin() + count);
    std::vector<std::array<Vec3, 4>> tet_rest(count);
    std::vector<std::array<Vec3, 2>> spring_rest(count);
    for (size_t e = 0; e < count; ++e) {
      for (int i = 0; i < 4; ++i) tet_rest[e][i] = mesh.vertices[tets[e][i]];
      for (int i = 0; i < 2; ++i) spring_rest[e][i] = mesh.vertices[springs[e][i]];
    }
    Batch<TetStrain> tet_batch(tets, tet_rest, {});
    Batch<Spring> spring_batch(springs, spring_rest, {});
    for_each_target([&](const std::string&) {
      check_against_scalar(tet_batch, x);
      check_against_scalar(spring_batch, x);
    });
  }
  Batch<Spring> none({}, {}, {});
  CHECK(slope(none, x).energy == 0);
  CHECK(none.energy(x.data()) == 0);
}

TEST_CASE(
    "patches of two to a hundred and twenty-eight vertices, in any mix, equal their scalar rule; larger ones too") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {5, 5, 5}}});
  const auto x = deformed(mesh, 0.05, 4);
  const int n = int(mesh.vertices.size());
  std::vector<int> row(n);
  for (int v = 0; v < n; ++v) row[v] = n - 1 - v;  // not those of the mesh
  std::vector<Vec4> moved(n);
  for (int v = 0; v < n; ++v) moved[row[v]] = x[v];
  for (const char* name : {"shape_matching", "similarity"}) {
    for (const double linear : {0.0, 0.4}) {
      for (const int most : {37, most_patch_corners, most_patch_corners + 1}) {  // the last is too large for packs
        PotentialInput input{mesh, row, {}, {}, {}, {}, {}};
        for (int size = 3; size <= most; size += size < 12 ? 1 : 25) input.groups.emplace_back();
        input.groups.back().resize(most);
        for (size_t g = 0; g + 1 < input.groups.size(); ++g) input.groups[g].resize(g < 9 ? 3 + g : 12 + 25 * (g - 9));
        for (size_t g = 0; g < input.groups.size(); ++g)
          for (size_t i = 0; i < input.groups[g].size(); ++i) input.groups[g][i] = int(17 * g + 5 * i) % n;
        if (name == std::string("shape_matching")) input.values["linear"] = linear;
        CAPTURE(name);
        CAPTURE(most);
        Diagnostics problems;
        const auto batch = find_potential(name)->make(input, "potential", problems);
        REQUIRE_MESSAGE(batch, problems.text());
        for_each_target([&](const std::string&) { check_against_scalar(*batch, moved); });
        // the energies of both ways, also where they are not that of a distance
        const double packs = batch->energy(moved.data()), slow = slope(*batch, moved).energy;
        CHECK(packs == doctest::Approx(slow).epsilon(1e-13));
      }
    }
  }
}

TEST_CASE("the linear part of shape matching has the energy of its rule, in packs as in a group that is too large") {
  // of two copies of a group the energy is twice that of one; the third, too large, keeps both out of the packs
  const Mesh mesh = mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {5, 5, 5}}});
  const auto x = deformed(mesh, 0.1, 2);
  std::vector<int> row(mesh.vertices.size()), small, large;
  for (int v = 0; v < int(row.size()); ++v) row[v] = v;
  for (int v = 0; v < 20; ++v) small.push_back(v * 7);
  for (int v = 0; v <= most_patch_corners; ++v) large.push_back(v);
  const auto energy = [&](const std::vector<std::vector<int>>& groups) {
    PotentialInput input{mesh, row, {{"linear", 0.4}}, {}, {}, groups, {}};
    Diagnostics problems;
    const auto batch = find_potential("shape_matching")->make(input, "potential", problems);
    REQUIRE_MESSAGE(batch, problems.text());
    return batch->energy(x.data());
  };
  const double packed = energy({small}), both = energy({small, large}), alone = energy({large});
  CHECK(both - alone == doctest::Approx(packed).epsilon(1e-11));
}

TEST_CASE("example poses in packs: one to five of them, free and within limits, converged or cut short") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 1.2, 0.8}}, {"cells", {3, 3, 3}}});
  std::vector<int> row(mesh.vertices.size());
  for (int v = 0; v < int(row.size()); ++v) row[v] = v;
  for (int poses = 1; poses <= 5; ++poses) {  // the fifth is one too many for packs
    for (const ParameterValues& values : std::vector<ParameterValues>{
             {}, {{"limit", 1}}, {{"limit", 0.2}}, {{"limit", 0}}, {{"iterations", 1}}, {{"iterations", 2}}}) {
      PotentialInput input{mesh, row, values, {}, {}, {}, {}};
      for (int k = 0; k < poses; ++k) {
        auto& pose = input.examples.emplace_back();
        for (const Vec3& v : mesh.vertices)
          pose.push_back({v.x * (1 + 0.3 * (k == 0)) + 0.2 * k * v.y, v.y * (1 - 0.1 * k) + 0.3 * v.x * v.x * (k == 1),
                          v.z * (1 + 0.2 * (k == 2)) + 0.25 * v.x * v.y * (k == 4)});
      }
      CAPTURE(poses);
      CAPTURE((values.empty() ? std::string("free") : values.begin()->first));
      Diagnostics problems;
      const auto batch = find_potential("examples")->make(input, "potential", problems);
      REQUIRE_MESSAGE(batch, problems.text());
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const auto x = deformed(mesh, 0.03, seed);
        for_each_target([&](const std::string&) { check_against_scalar(*batch, x); });
      }
    }
  }
}

TEST_CASE("every set of instructions gives the same bits on 1, 2, 3 and 16 threads") {
  for (const PotentialEntry& entry : potential_registry()) {
    if (!on_packs(entry.info)) continue;
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info, true);
    const auto batch = make(entry, mesh);
    const auto x = deformed(mesh, 0.01, 11);
    for_each_target([&](const std::string&) {
      for (const Precision precision : {Precision::float64, Precision::float32}) {
        std::set<std::uint64_t> hashes;
        for (const int threads : {1, 2, 3, 16}) {
          set_threads(threads);
          const Slope s = slope(*batch, x, precision);
          BitHash hash;
          hash.add(s.energy);
          hash.add(batch->energy(x.data(), precision));
          for (const Vec4& g : s.gradient) hash.add(g.x), hash.add(g.y), hash.add(g.z);
          hashes.insert(hash.value());
        }
        set_threads(1);
        CHECK(hashes.size() == 1);
      }
    });
  }
}

namespace {

constexpr int per_class = 65536;

/// What a probe makes of matrices: `Kernel::rows` vectors each. Matrices do not share vertices.
template <class Kernel>
class ProbeRun {
 public:
  explicit ProbeRun(int count)
      : x_(count * Kernel::vertices), out_(x_.size()), batch_(stencils(count), rest(count), {}) {}

  void set(int k, const Mat3& f) {
    for (int c = 0; c < 3; ++c) x_[k * Kernel::vertices + 1 + c] = Vec4(f.col[c]);
  }
  void run(Precision precision) {
    std::fill(out_.begin(), out_.end(), Vec4());
    batch_.add_gradient(x_.data(), out_.data(), precision);
  }
  Vec3 out(int k, int column) const { return out_[k * Kernel::vertices + 1 + column].xyz(); }
  Mat3 matrix(int k, int first) const { return {{out(k, first), out(k, first + 1), out(k, first + 2)}}; }

 private:
  static std::vector<typename Batch<Kernel>::Stencil> stencils(int count) {
    std::vector<typename Batch<Kernel>::Stencil> s(count);
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < Kernel::vertices; ++i) s[k][i] = k * Kernel::vertices + i;
    return s;
  }
  static std::vector<std::array<Vec3, Kernel::vertices>> rest(int count) {
    return std::vector<std::array<Vec3, Kernel::vertices>>(count);
  }
  std::vector<Vec4> x_, out_;
  Batch<Kernel> batch_;
};

Mat3 rounded_to_float(const Mat3& f) {
  Mat3 out;
  for (int i = 0; i < 9; ++i) out(i / 3, i % 3) = double(float(f(i / 3, i % 3)));
  return out;
}

}  // namespace

TEST_CASE(
    "65536 matrices of every class have their nearest rotation, in packs of double and of float (Inventory C03)") {
  ProbeRun<RotationProbe> probe(per_class);
  std::vector<Mat3> f(per_class);
  std::vector<double> best(per_class);
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const bool narrow = precision == Precision::float32;
      CAPTURE(narrow);
      for (int k = 0; k < per_class; ++k) {
        f[k] = narrow ? rounded_to_float(c.make(k)) : c.make(k);
        best[k] = best_trace(f[k]);
        probe.set(k, f[k]);
      }
      for_each_target([&](const std::string&) {
        probe.run(precision);
        double worst_departure = 0, worst_trace = 0;
        int bad = 0;
        // some tens of eps / zeta^2, with zeta > 0.1 in double and 0.5 in float
        const double enough = narrow ? 2e-5 : 1e-12;
        for (int k = 0; k < per_class; ++k) {
          const Mat3 r = probe.matrix(k, 0);
          const double d = departure(r), size = std::sqrt(squared_norm(f[k]));
          const double t = size > 0 ? (best[k] - trace_of_product(r, f[k])) / size : 0;
          if (!(d <= enough && t <= enough)) ++bad;  // counts what is not a number, too
          worst_departure = std::max(worst_departure, d), worst_trace = std::max(worst_trace, t);
        }
        CAPTURE(worst_departure);
        CAPTURE(worst_trace);
        CHECK(bad == 0);
      });
    }
  }
}

TEST_CASE("the matrices of every class are given back by their decomposition, in packs of double and of float") {
  const int count = 8192;
  ProbeRun<SvdProbe> probe(count);
  std::vector<Mat3> f(count);
  for (const Class& c : classes()) {
    CAPTURE(std::string(c.name));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const bool narrow = precision == Precision::float32;
      CAPTURE(narrow);
      for (int k = 0; k < count; ++k) probe.set(k, f[k] = narrow ? rounded_to_float(c.make(k)) : c.make(k));
      for_each_target([&](const std::string&) {
        probe.run(precision);
        const double eps = narrow ? 6e-8 : 1.1e-16;
        double worst_departure = 0, worst = 0;
        int bad = 0, disorder = 0, wrong_sign = 0;
        for (int k = 0; k < count; ++k) {
          const Mat3 u = probe.matrix(k, 0), v = probe.matrix(k, 3);
          const Vec3 s = probe.out(k, 6);
          // what is below the smallest normal number has no digits to give back
          const double size = std::max(std::sqrt(squared_norm(f[k])), narrow ? 1e-37 : 1e-290);
          const double d = std::max(departure(u), departure(v));
          const double e = std::sqrt(squared_norm(u * Mat3::diagonal(s) * transpose(v) - f[k])) / size;
          // some tens of rotations of columns, each with a few roundings
          if (!(d <= 100 * eps && e <= 100 * eps)) ++bad;
          worst_departure = std::max(worst_departure, d), worst = std::max(worst, e);
          if (!(s.x >= s.y && s.y >= std::abs(s.z) - 50 * eps * size)) ++disorder;
          if (det(f[k]) < -1e4 * eps * size * size * size && s.z > 0) ++wrong_sign;
        }
        CAPTURE(worst_departure);
        CAPTURE(worst);
        CHECK(bad == 0);
        CHECK(disorder == 0);
        CHECK(wrong_sign == 0);
      });
    }
  }
}

TEST_CASE("a matrix that is not finite neither stops a pack nor spoils its neighbours") {
  const int count = 64;
  ProbeRun<RotationProbe> probe(count);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      for_each_target([&](const std::string&) {
        for (int entry = 0; entry < 9; ++entry) {
          for (int k = 0; k < count; ++k) {
            Mat3 f = Mat3::identity() + noise(k) * 0.3;
            if (k % 5 == 0) f(entry / 3, entry % 3) = bad;
            probe.set(k, f);
          }
          probe.run(precision);
          for (int k = 0; k < count; ++k)
            if (k % 5 != 0) REQUIRE(departure(probe.matrix(k, 0)) <= (precision == Precision::float32 ? 2e-5 : 1e-12));
        }
      });
    }
  }
}

TEST_CASE("a kernel that gives its energy and gradient itself stands beside those that project") {
  ProbeRun<RotationProbe> probe(9);
  Batch<RotationProbe> batch({{0, 1, 2, 3}}, {{Vec3{}, Vec3{}, Vec3{}, Vec3{}}}, {});
  CHECK_FALSE(batch.has_projection());
  const std::vector<Vec4> x{{1, 1, 1}, {3, 1, 1}, {1, 2, 1}, {1, 1, 1.5}};  // F = diag(2, 1, 0.5), R = 1
  const Slope s = slope(batch, x);
  CHECK(s.energy == doctest::Approx(3.5).epsilon(1e-14));
  CHECK(norm((s.gradient[1] - Vec4(1, 0, 0)).xyz()) <= 1e-14);
  // the point that stands for its projection gives the same gradient: w (z - p)
  const Projection at = project(batch, x);
  for (int r = 0; r < 3; ++r) CHECK(norm(at.z[r] - at.p[r] - s.gradient[r + 1].xyz()) <= 1e-14);
}

TEST_CASE(
    "float differences hold where whole numbers cannot: flung away, blown up, far from the origin, finely graded") {
  const Mesh mesh = mesh_of("box", {{"size", {1, 1, 1}}, {"cells", {8, 8, 8}}});
  const PotentialEntry* entry = find_potential("tet_strain");
  REQUIRE(entry != nullptr);
  const auto batch = make(*entry, mesh);
  const std::vector<Vec4> x = deformed(mesh, 0.005, 5);
  Mesh graded = mesh;  // edges of half and of 4e-6 in one chunk
  double lowest = 0;
  for (const Vec3& p : mesh.vertices) lowest = std::min(lowest, p.x);
  for (Vec3& p : graded.vertices) p.x = std::pow(p.x - lowest, 6);
  const auto fine = make(*entry, graded);
  for_each_target([&](const std::string&) {
    auto flung = x;
    flung[7] += Vec4(Vec3{3e4, -1e5, 2e3});
    check_against_scalar(*batch, flung);
    auto blown = x;
    for (Vec4& p : blown) p = p * 3.7;  // more than the copies are made for, not more than they hold
    check_against_scalar(*batch, blown);
    auto far = x;  // in steps of 2^-30, so that the differences are the same
    for (Vec4& p : far)
      for (int i = 0; i < 3; ++i) (&p.x)[i] = std::ldexp(std::round(std::ldexp((&p.x)[i], 30)), -30) + 4096;
    check_against_scalar(*batch, far);
    std::vector<Vec4> stretched;
    for (const Vec3& p : graded.vertices) stretched.push_back(Vec4(p * 1.01));
    check_against_scalar(*fine, stretched);
    // one vertex that is not a number spoils all elements around it, and none that it does not touch
    auto broken = x;
    broken[0].y = std::numeric_limits<double>::quiet_NaN();
    const Slope narrow = slope(*batch, broken, Precision::float32), whole = slope(*batch, x, Precision::float32);
    CHECK(std::isnan(narrow.energy));
    int spoilt = 0;
    for (size_t v = 0; v < x.size(); ++v) spoilt += std::isnan(norm(narrow.gradient[v].xyz()));
    CHECK(spoilt > 3);
    CHECK(spoilt < int(x.size()) / 10);
    CHECK(std::isfinite(whole.energy));
  });
}
