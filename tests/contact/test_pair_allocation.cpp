// No memory is asked for in frames like those before. A program of its own: it replaces operator new.
#include "contact/frames.h"
#include "count_allocations.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("finding pairs again asks for no memory") {
  Mesh cloth = generate_mesh("cloth", {{"columns", {30}}, {"rows", {30}}}).value();
  cloth.edges.clear();
  const auto surface = std::make_shared<const Surface>(make_surface(cloth));
  Frame frame;
  for (int k = 0; k < 3; ++k) {
    const std::vector<Vec3> x = crumpled(cloth.vertices, k, 5);
    frame.add(surface, x, moved(x, Mat3::identity(), random_point(5, k, 0.01)), 0.003);
  }
  const std::vector<SweptSurface> surfaces = frame.surfaces();
  for (const BroadPhaseKind kind : {BroadPhaseKind::tree, BroadPhaseKind::hash, BroadPhaseKind::brute_force}) {
    CAPTURE(to_string(kind));
    const auto phase = make_broad_phase(kind);
    std::vector<Pair> vertex_face, edge_edge;
    phase->find(surfaces, vertex_face, edge_edge, true);
    CHECK(!vertex_face.empty());
    const long before = allocations();
    for (int again = 0; again < 3; ++again) phase->find(surfaces, vertex_face, edge_edge, true);
    CHECK(allocations() == before);
  }
}
