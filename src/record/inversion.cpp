// Elements inside out: a moment of a hard impact, or a fold that a body stays in.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "verve/mesh.h"
#include "verve/record.h"

namespace verve {

namespace {

/// Calls visit(number of the tetrahedron) for those of a body that are flat or inside out. (Not finite: inside out.)
template <class Visit>
void each_inverted(const Simulation& simulation, int body, const Vec3* x, Visit&& visit) {
  const std::vector<int> gone = simulation.removed_elements(body).tetrahedra;  // ascending
  const auto& tetrahedra = simulation.mesh(body).tetrahedra;
  auto next = gone.begin();
  for (size_t i = 0; i < tetrahedra.size(); ++i) {
    if (next != gone.end() && *next == int(i)) {
      ++next;
      continue;
    }
    const auto& [a, b, c, d] = tetrahedra[i];
    if (!(tet_volume(x[a], x[b], x[c], x[d]) > 0)) visit(i);
  }
}

}  // namespace

int count_inverted(const Simulation& simulation, int body) {
  const std::vector<Vec3> x = simulation.positions();
  int count = 0;
  each_inverted(simulation, body, x.data() + simulation.first_vertex(body), [&](size_t) { ++count; });
  return count;
}

struct InversionWatch::Impl {
  struct Element {
    double share = 0;    // of the body's volume at rest
    int since = -1;      // frames before the last one in which it was inside out, at a stretch; -1: it is not now
    double longest = 0;  // so far [s]
  };
  struct Body {
    std::string name;
    std::vector<Element> elements;
  };
  std::vector<Body> bodies;
  std::vector<int> now;  // room: those of a body
};

InversionWatch::InversionWatch(const Simulation& simulation) : impl_(std::make_unique<Impl>()) {
  for (int b = 0; b < simulation.bodies(); ++b) {
    const Mesh& mesh = simulation.mesh(b);
    Impl::Body body{simulation.body_name(b), std::vector<Impl::Element>(mesh.tetrahedra.size())};
    double whole = 0;
    for (size_t i = 0; i < body.elements.size(); ++i) {
      const auto& [p, q, r, s] = mesh.tetrahedra[i];
      const auto& x = mesh.vertices;
      whole += body.elements[i].share = std::abs(tet_volume(x[p], x[q], x[r], x[s]));
    }
    for (Impl::Element& e : body.elements) e.share /= whole;
    impl_->bodies.push_back(std::move(body));
  }
  frame(simulation);
}
InversionWatch::InversionWatch(InversionWatch&&) noexcept = default;
InversionWatch::~InversionWatch() = default;

void InversionWatch::frame(const Simulation& simulation) {
  const std::vector<Vec3> x = simulation.positions();
  for (size_t b = 0; b < impl_->bodies.size(); ++b) {
    auto& elements = impl_->bodies[b].elements;
    std::vector<int>& now = impl_->now;
    now.clear();
    each_inverted(simulation, int(b), x.data() + simulation.first_vertex(int(b)),
                  [&](size_t i) { now.push_back(int(i)); });
    auto next = now.begin();
    for (size_t i = 0; i < elements.size(); ++i) {
      Impl::Element& e = elements[i];
      if (next == now.end() || *next != int(i)) {
        e.since = -1;
        continue;
      }
      ++next, ++e.since;
      e.longest = std::max(e.longest, e.since * simulation.scene().step);
    }
  }
}

std::vector<InversionWatch::Found> InversionWatch::found() const {
  std::vector<Found> out;
  for (size_t b = 0; b < impl_->bodies.size(); ++b) {
    Found found;
    found.body = int(b);
    for (const Impl::Element& e : impl_->bodies[b].elements) {
      if (!(e.longest > impact)) continue;
      ++found.elements, found.still += e.since >= 0;
      found.longest = std::max(found.longest, e.longest), found.share += e.share;
    }
    if (found.elements > 0) out.push_back(found);
  }
  return out;
}

std::string InversionWatch::words() const {
  std::string out;
  for (const Found& f : found()) {
    const double percent = 100 * f.share;
    char numbers[200];
    std::snprintf(numbers, sizeof numbers,
                  ": %d tetrahedr%s, %.*g %% of its volume, %s inside out for more than %.3g s, the longest for "
                  "%.3g s; %d at the end",
                  f.elements, f.elements == 1 ? "on" : "a", percent < 10 ? 2 : 3, percent,
                  f.elements == 1 ? "was" : "were", impact, f.longest, f.still);
    out += (out.empty() ? "body \"" : "; body \"") + impl_->bodies[f.body].name + "\"" + numbers;
  }
  return out;
}

}  // namespace verve
