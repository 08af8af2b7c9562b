// A change of material asks for no memory. A program of its own: it replaces operator new.
#include <doctest/doctest.h>

#include "base/parallel.h"
#include "count_allocations.h"
#include "shapes.h"

using namespace verve;
using namespace verve::test;

TEST_CASE("a batch allocates nothing once it is built: not for a change of material, not for a change of precision") {
  for (const PotentialEntry& entry : potential_registry()) {
    CAPTURE(entry.info.name);
    const Mesh mesh = suitable_mesh(entry.info, true);
    const auto batch = make(entry, mesh);
    const ParameterValues soft{{entry.info.parameters[0].name, 10}};
    const auto x = deformed(mesh, 0.01, 1);
    std::vector<Vec4> gradient(x.size());
    set_threads(2);
    batch->add_gradient(x.data(), gradient.data(), Precision::float64);  // starts the threads
    const double energy = batch->energy(x.data());
    const long before = allocations();
    batch->set_parameters(soft);
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      batch->add_gradient(x.data(), gradient.data(), precision);
      batch->energy(x.data(), precision);
    }
    CHECK(allocations() == before);
    // (of a law of one's own beside an energy the stiffness only bounds its curvature)
    CHECK((batch->energy(x.data()) != energy) == (entry.info.name != "custom"));
    set_threads(1);
  }
}
