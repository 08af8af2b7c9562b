// Potentials as constraints, and the sweeps of position-based methods over them.
#include <doctest/doctest.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "potentials/colours.h"
#include "potentials/kernel.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

namespace {

template <class F>
void for_each_constrained(F&& check) {
  int visited = 0;
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info);
    const auto batch = make(entry, mesh);
    if (batch->constraints() == 0) {
      CHECK((entry.info.prestressed || entry.info.name == "custom"));  // a program is not asked about one element
      continue;
    }
    ++visited;
    check(entry, mesh, *batch);
  }
  CHECK(visited >= 30);
}

struct Multipliers {
  explicit Multipliers(const Potential& p) : blocks(size_t(p.multipliers()) / block_size + 1) {}
  struct alignas(128) Block {
    double lane[block_size] = {};
  };
  std::vector<Block> blocks;
  double* data() { return blocks[0].lane; }
};

/// With inverse masses in w.
std::vector<Vec4> with_masses(std::vector<Vec4> x) {
  for (size_t i = 0; i < x.size(); ++i) x[i].w = 0.5 + double(i % 7);
  return x;
}

}  // namespace

TEST_CASE("every energy is the sum of k/2 C^2 over its constraints, and their gradients are slopes") {
  for_each_constrained([](const PotentialEntry& entry, const Mesh& mesh, Potential& batch) {
    std::vector<Vec4> x = deformed(mesh, 0.08, 3);
    const double energy = batch.energy(x.data());  // and what elements have in common
    double sum = 0, worst = 0, largest = 0;
    std::vector<Vec3> g, unused;
    for (int e = 0; e < batch.elements(); ++e) {
      g.resize(batch.corners(e)), unused.resize(g.size());
      for (int which = 0; which < batch.constraints(); ++which) {
        const double C = batch.constraint(e, which, x.data(), g.data());
        sum += 0.5 * batch.constraint_stiffness(e, which) * C * C;
        Vec3 net{};
        for (const Vec3& corner : g) net += corner, largest = std::max(largest, norm(corner));
        CHECK(norm(net) <= 1e-12 * (1 + largest));
        // Where C is a distance its second derivative goes with 1/C: a step small beside C. With the weights that
        // elements have in common held fixed this is not the slope; those are found anew for each energy only.
        if (e % 5 || entry.info.takes_examples || std::abs(C) < 1e-3) continue;
        const double d = 1e-6;
        for (int i = 0; i < batch.corners(e); ++i) {
          double& y = x[batch.vertex(e, i)].y;
          const double keep = y;
          y = keep + d;
          const double up = batch.constraint(e, which, x.data(), unused.data());
          y = keep - d;
          const double down = batch.constraint(e, which, x.data(), unused.data());
          y = keep;
          worst = std::max(worst, std::abs((up - down) / (2 * d) - g[i].y));
        }
      }
    }
    CHECK(sum == doctest::Approx(energy).epsilon(1e-9));
    CHECK(worst <= 1e-5 * largest);  // truncation d^2/C^2 = 1e-6 at the least C, round-off 1e-16/d = 1e-10
  });
}

TEST_CASE("the signed angle of a hinge passes smoothly through rest") {
  const PotentialEntry& entry = *find_potential("hinge_bending");
  for (const bool bent : {false, true}) {
    Mesh mesh = mesh_of("cloth", {{"columns", {2}}, {"rows", {2}}});
    if (bent) mesh.vertices[0].y += 0.4;
    const auto batch = make(entry, mesh);
    REQUIRE(batch->elements() == 1);
    CHECK(batch->has_smooth_constraints());
    Vec3 g[4], other[4];
    std::vector<Vec4> x = at_rest(mesh);
    batch->constraint(0, 0, x.data(), g);
    const auto moved_by = [&](double d) {
      std::vector<Vec4> y = x;
      for (int i = 0; i < 4; ++i) y[batch->vertex(0, i)] += Vec4(g[i] * d);
      return y;
    };
    double size2 = 0;
    for (const Vec3& corner : g) size2 += dot(corner, corner);
    REQUIRE(size2 > 0.1);
    // C and its gradient a little to both sides, where the gradient comes from that of the energy
    for (const double d : {-1e-3, -1e-4, 1e-4, 1e-3}) {
      const double C = batch->constraint(0, 0, moved_by(d).data(), other);
      CHECK(C == doctest::Approx(d * size2).epsilon(20 * std::abs(d) * (1 + size2)));
      for (int i = 0; i < 4; ++i) CHECK(norm(other[i] - g[i]) <= 20 * std::abs(d) * (1 + size2) * std::sqrt(size2));
    }
  }
}

TEST_CASE("one sweep over one element is the published update") {
  for (const char* name : {"spring", "tet_strain", "tet_green_strain", "volume_spring", "stable_neo_hookean", "stvk"}) {
    for (const double gamma : {0.0, 0.7}) {
      CAPTURE(name);
      const Mesh mesh = mesh_of(std::string(name) == "spring" ? "spring" : "tetrahedron");
      const auto batch = make(*find_potential(name), mesh);
      REQUIRE(batch->elements() == 1);
      const std::vector<Vec4> start = at_rest(mesh);
      std::vector<Vec4> x = with_masses(deformed(mesh, 0.1, 8)), y = x;
      Multipliers lambda(*batch);
      Relaxation sweep{x.data(), start.data(), lambda.data(), 900, 1, gamma};
      batch->relax(sweep), batch->relax(sweep);
      std::vector<double> total(batch->constraints(), 0.0);
      std::vector<Vec3> g(batch->corners(0));
      for (int round = 0; round < 2; ++round)
        for (int which = 0; which < batch->constraints(); ++which) {
          const double C = batch->constraint(0, which, y.data(), g.data());
          const double alpha = 900 / batch->constraint_stiffness(0, which);
          double weighted = 0, along = 0;
          for (size_t i = 0; i < g.size(); ++i) {
            const int v = batch->vertex(0, int(i));
            weighted += y[v].w * dot(g[i], g[i]), along += dot(g[i], (y[v] - start[v]).xyz());
          }
          const double change =
              (-C - alpha * total[which] - gamma * along) / ((1 + gamma) * weighted + alpha);  // Eq. 26
          total[which] += change;
          for (size_t i = 0; i < g.size(); ++i) {
            Vec4& v = y[batch->vertex(0, int(i))];
            v += Vec4(g[i] * (v.w * change));
          }
        }
      CHECK(distance(x, y) <= 1e-13);
      CHECK(distance(x, with_masses(deformed(mesh, 0.1, 8))) > 1e-3);
    }
  }
}

TEST_CASE("a sweep lowers what its constraints cost, keeps the centre of mass and the inverse masses") {
  for_each_constrained([](const PotentialEntry&, const Mesh& mesh, Potential& batch) {
    std::vector<Vec4> x = with_masses(deformed(mesh, 0.08, 3));
    const std::vector<Vec4> before = x;
    Multipliers lambda(batch);
    const double start = batch.energy(x.data());
    for (int k = 0; k < 10; ++k) batch.relax({x.data(), before.data(), lambda.data(), 0, 1, 0});
    Vec3 shift{};
    double way = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      CHECK(x[i].w == before[i].w);
      shift += (x[i] - before[i]).xyz() / x[i].w, way += norm((x[i] - before[i]).xyz()) / x[i].w;
    }
    CHECK(norm(shift) <= 1e-13 * way);
    CHECK(batch.energy(x.data()) < 0.5 * start);
  });
}

TEST_CASE("elements of one colour have no vertex in common, and every element has a colour") {
  const Mesh mesh = mesh_of("box", {{"cells", {5, 4, 3}}});
  std::vector<int> stencils, order;
  for (const auto& t : mesh.tetrahedra)
    stencils.insert(stencils.end(), t.begin(), t.end()), order.push_back(int(order.size()));
  std::vector<int> seen(order.size(), 0);
  const auto colours = colour_elements(stencils, 4, order);
  for (const auto& members : colours) {
    std::vector<int> used(mesh.vertices.size(), 0);
    for (const int e : members) {
      ++seen[e];
      for (int i = 0; i < 4; ++i) CHECK(++used[stencils[4 * e + i]] == 1);
    }
  }
  for (const int times : seen) CHECK(times == 1);
  // greedy: never more than one beyond the neighbours of an element, four times the elements at a vertex at most
  CHECK(colours.size() <= 4 * 32);
  // a star of 200 edges needs as many
  std::vector<int> star, all;
  for (int e = 0; e < 200; ++e) star.insert(star.end(), {0, e + 1}), all.push_back(e);
  CHECK(colour_elements(star, 2, all).size() == 200);
}

TEST_CASE("sweeps give the same bits on any number of threads") {
  for (const char* name : {"spring", "tet_strain"}) {
    const PotentialEntry& entry = *find_potential(name);
    const Mesh mesh = suitable_mesh(entry.info, true);
    const auto batch = make(entry, mesh);
    std::uint64_t reference = 0;
    for (const int threads : {1, 2, 3, 16}) {
      set_threads(threads);
      std::vector<Vec4> x = with_masses(deformed(mesh, 0.005, 3));
      const std::vector<Vec4> start = x;
      Multipliers lambda(*batch);
      for (int k = 0; k < 2; ++k) batch->relax({x.data(), start.data(), lambda.data(), 900, 1, 0});
      BitHash hash;
      for (const Vec4& v : x) hash.add(v.x), hash.add(v.y), hash.add(v.z);
      if (threads == 1) reference = hash.value();
      CHECK(hash.value() == reference);
    }
    set_threads(1);
  }
}
