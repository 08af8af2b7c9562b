#include "integrators/wind.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/ranks.h"
#include "integrators/world.h"

namespace verve {

namespace {
constexpr int grain = 512;  // triangles, or vertices, per chunk
}

void add_wind(const WindSurface& surface, const Vec3& air, double drag, const Vec4* x, const Vec4* v, Vec4* force,
              double* rate, std::vector<Vec3>& area) {
  area.resize(std::max(area.size(), surface.triangles.size()));
  parallel_for(int(surface.triangles.size()), grain, [&](int begin, int end, int) {
    for (int t = begin; t < end; ++t) {
      const auto& [a, b, c] = surface.triangles[t];
      area[t] = cross((x[b] - x[a]).xyz(), (x[c] - x[a]).xyz()) * 0.5;
    }
  });
  parallel_for(int(surface.rows.size()), grain, [&](int begin, int end, int) {
    for (int k = begin; k < end; ++k) {
      const int r = surface.rows[k];
      const Vec3 past = air - v[r].xyz();
      Vec3 push{};
      double size = 0;
      for (int u = surface.first_use[k]; u < surface.first_use[k + 1]; ++u) {
        const Vec3& a = area[surface.use[u]];
        const double length = norm(a);
        if (!(length > 0)) continue;
        push += a * (dot(a, past) / length);
        size += length;
      }
      const double scale = drag * norm(past) / 3;
      force[r] += Vec4(push * scale);
      rate[r] += size * scale;
    }
  });
}

bool World::in_wind(const Island& island) const {
  for (const WindSurface& surface : matter.wind_surfaces)
    if (surface.body >= 0 && &island_of(surface.body) == &island) return true;
  return false;
}

/// The wind of a step, and what repels, as a force that is constant during it: momenta and energy then follow exactly,
/// as for every constant force (docs/cpd.md). It is that of the velocities at the start, and where it would take a
/// vertex past the velocity of the air within the step, as much as takes it there: no wind is too strong for any step.
void World::blow(Island& island, double time, double h) {
  Forcing& f = island.forcing;
  if (f.steady.empty()) return;
  f.force = f.steady;
  wind_work_.rate.assign(island.rows(), 0.0);
  wind_work_.start = island.motion.x;
  for (size_t w = 0; w < matter.wind_surfaces.size(); ++w) {
    const WindSurface& surface = matter.wind_surfaces[w];
    if (surface.body < 0) continue;
    const WindSpec& spec = scene.winds[w];
    const std::optional<Vec3>& set = state.winds[w].velocity;
    const auto air = set ? set : spec.velocity.at(time);
    if (&island_of(surface.body) != &island || !air || !spec.active.at(time).value_or(false)) continue;
    const int to = islands_.offset(surface.body);
    const Vec4* x = island.motion.x.data() + to;
    if (const auto& shared = model.bodies[surface.body].shared) x = shared->with_copies(x, wind_work_.x);
    verve::add_wind(surface, *air, spec.drag, x, island.motion.v.data() + to, f.force.data() + to,
             wind_work_.rate.data() + to, wind_work_.area);
  }
  // of a consistent mass the lightest motion: no vibration of the mesh may be taken past either
  const double lightest = island.consistent() ? h * island.consistent_mass().spread() : h;
  for (int r = 0; r < island.rows(); ++r) {
    const double steps = lightest * wind_work_.rate[r] * f.inverse_mass[r];  // to the velocity of the air, times 1
    if (steps > 1) f.force[r] = f.steady[r] + (f.force[r] - f.steady[r]) * (1 / steps);
  }
  for (size_t k = 0; !repulsion_.empty() && k < island.bodies().size(); ++k) {
    const Body& body = model.bodies[island.bodies()[k]];
    for (int r = 0; r < body.count; ++r) f.force[island.offset(int(k)) + r] += repulsion_[body.first + r];
  }
  add_applied(island, time, h);
  for (int r = 0; r < island.rows(); ++r) f.acceleration[r] = f.force[r] * f.inverse_mass[r];
  island.balance_forces();
}

/// The work of the wind in the step that was just accepted.
void World::book_wind(const Island& island) {
  const Forcing& f = island.forcing;
  if (f.steady.empty()) return;
  for (size_t k = 0; k < island.bodies().size(); ++k) {
    const int b = island.bodies()[k], from = island.offset(int(k));
    double work = 0;
    for (int i = from; i < from + model.bodies[b].count; ++i)
      work += dot(f.force[i] - f.steady[i], island.motion.x[i] - wind_work_.start[i]);
    state.ledger[b].booked_loss -= sum_over_ranks(work);
  }
}

}  // namespace verve
