// Projective Dynamics beside position-based dynamics: infeasible sets (PD Fig. 3), iterations (Fig. 4), meshes (Fig.
// 5).
#include <algorithm>
#include <cmath>

#include "figures/film.h"
#include "figures/papers.h"
#include "figures/solids.h"

namespace verve::figures {

namespace {

constexpr double unreachable = 1e-300;  // every iteration is taken

double lowest(const std::vector<Vec3>& x) {
  double out = 1e300;
  for (const Vec3& v : x) out = std::min(out, v.y);
  return out;
}

}  // namespace

void pd_fig3(Context& context, Result& result) {
  // One vertex of a short rope, drawn to two planes without a common point. By pbd each pass ends on the set that was
  // last; by pd all meet in the middle.
  const auto run = [&](const std::string& method, bool swapped, int iterations) {
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}};
    mesh.edges = {{0, 1}};
    // two lengths for one edge: sets of length 1 and of length 2, which share nothing
    BodySpec body;
    body.name = "edge";
    body.mesh.mesh = std::make_shared<const Mesh>(mesh);
    PotentialSpec one = potential("distance", {{"stiffness", 1e9}, {"length", 1}});
    PotentialSpec two = potential("distance", {{"stiffness", 1e9}, {"length", 2}});
    one.groups = two.groups = {{0, 1}};
    body.potentials = swapped ? std::vector{two, one} : std::vector{one, two};
    body.mass = 1.0;
    Scene s = scene_with(std::move(body), method);
    s.solver.iterations = iterations;
    s.solver.tolerance = unreachable;
    Simulation sim = simulation(s);
    sim.set_state({{0, 0, 0}, {0.5, 0, 0}}, std::vector<Vec3>(2));
    std::vector<double> lengths;
    for (int k = 0; k < 40; ++k) {
      if (const StepReport r = sim.step(); !r) throw std::runtime_error(method + ": " + r.message);
      const std::vector<Vec3> x = sim.positions();
      lengths.push_back(norm(x[1] - x[0]));
      sim.set_state(x, std::vector<Vec3>(2));
    }
    return lengths;
  };
  const std::vector<double> ab = run("pbd", false, 1), ba = run("pbd", true, 1), pd = run("pd", false, 10),
                            pd_swapped = run("pd", true, 10);
  context.check_stop();
  result.at_most("pbd: after the sets in the order 1, 2 the edge has the length of the second; difference",
                 std::abs(ab.back() - 2), 1e-6, "P05", "m");
  result.at_most("pbd: in the order 2, 1 that of the other: what it ends on depends on the order",
                 std::abs(ba.back() - 1), 1e-6, "P05", "m");
  double moving = 0, settled = 0;
  for (size_t k = 30; k < 40; ++k) settled = std::max(settled, std::abs(pd[k] - pd[k - 1]));
  // within a pass of pbd the iterate goes from one set to the other and back, for ever
  moving = std::abs(ab.back() - ba.back());
  result.at_least("pbd: distance between the two points that it alternates between", moving, 0.999, "P05", "m");
  result.at_most("pd: movement over the last ten steps", settled, 1e-6, "P05", "m");
  result.between("pd: length that it settles at, between the two", pd.back(), 1.499, 1.501, "P05", "m");
  result.at_most("pd: difference by the order of the sets", std::abs(pd.back() - pd_swapped.back()), 1e-9, "P05", "m");
  Chart chart{"length", "One edge, two lengths asked for", "projection", "length [m]", {}};
  Curve gs{"pbd, projection by projection", {}, {}}, jacobi{"pd", {}, {}};
  for (int k = 0; k < 20; ++k) gs.x.push_back(k + 1), gs.y.push_back(k % 2 ? ab.back() : ba.back());
  for (int k = 0; k < 20; ++k) jacobi.x.push_back(k + 1), jacobi.y.push_back(pd[size_t(k)]);
  gs.dots = jacobi.dots = true;
  chart.curves = {gs, jacobi};
  chart.lines = {{1, "first set"}, {2, "second set"}};
  result.chart(std::move(chart));
  result.differs(
      "The paper's figure is a drawing of two sets in the plane; here they are the configurations of an edge of "
      "length 1 and of length 2.");
}

void pd_fig4(Context& context, Result& result) {
  const int pbd_iterations[] = {10, 50, 100, 200}, pd_iterations[] = {4, 20, 40, 80};
  const char* budgets[] = {"12 ms", "61 ms", "121 ms", "240 ms"};
  std::vector<double> low[2], cost[2];
  std::vector<Film> films;
  films.reserve(8);
  const int budgets_run = context.quick ? 2 : 4;
  for (int k = 0; k < budgets_run; ++k) {
    for (const bool pd : {false, true}) {
      Scene s = by_method(scene("hung_cloth"), pd ? "pd" : "pbd");
      s.solver.iterations = pd ? pd_iterations[k] : pbd_iterations[k];
      if (pd) s.solver.tolerance = unreachable;
      films.push_back(whole_film(context, s,
                                 {.label = std::string(pd ? "pd " : "pbd ") + std::to_string(*s.solver.iterations),
                                  .frames = context.frames(180, 180),
                                  .keep_poses = true,
                                  .extra = [](const Simulation& sim) { return lowest(sim.positions()); }}));
      const Film& f = films.back();
      // at the end of three seconds, mean over the last third of a second: what swings is not what hangs
      double sum = 0;
      for (int i = 0; i < 20; ++i) sum += f.shots[f.shots.size() - 1 - size_t(i)].extra / 20;
      low[pd].push_back(1.5 - sum), cost[pd].push_back(f.mean_milliseconds());
    }
  }
  result.at_least(std::string("pbd: lowest point over ") + (context.quick ? "10 and 50" : "10, 50, 100, 200") +
                      " iterations, spread over the mean",
                  spread(low[0]), 0.20, "P27");
  result.at_most(std::string("pd: lowest point over ") + (context.quick ? "4 and 20" : "4, 20, 40, 80") +
                     " iterations, spread over the mean",
                 spread(low[1]), 0.03, "P27");
  Table table{
      "How far down the cloth of 3 m reaches after 3 s",
      {{"paper's budget", "pbd iterations", "reach", "ms per frame", "pd iterations", "reach", "ms per frame"}}};
  for (size_t k = 0; k < size_t(budgets_run); ++k)
    table.rows.push_back({budgets[k], std::to_string(pbd_iterations[k]), with_unit(low[0][k], "m"),
                          with_unit(cost[0][k], ""), std::to_string(pd_iterations[k]), with_unit(low[1][k], "m"),
                          with_unit(cost[1][k], "")});
  result.table(std::move(table));
  Chart chart{"lowest", "Lowest point of the cloth", "time [s]", "below its upper edge [m]", {}};
  for (const Film& f : films) {
    chart.curves.push_back(f.curve([](const Shot& s) { return 1.5 - s.extra; }));
    chart.curves.back().dashed = f.label[1] == 'd';
  }
  result.chart(std::move(chart));
  std::vector<Look> looks;
  for (const size_t k : {0, 2, 4, 6, 1, 3, 5, 7})
    if (k < films.size()) looks.push_back({&films[k], films[k].frames()});
  strip(context, result, "frames", "After 3 s: pbd above, pd below, more iterations from left to right", looks,
        {.columns = 4, .width = 260, .height = 300, .direction = {0.45, 0.1, 1}});
  result.differs(
      "The paper hangs its cloth so that it folds; ours is held along one edge, so that its length is the measure. "
      "Times are those of this machine; iterations are the paper's.");
}

void pd_fig5(Context& context, Result& result) {
  std::vector<Film> films;
  films.reserve(8);
  std::vector<double> sag[2];
  for (const bool pd : {true, false}) {
    for (const int cells : {10, 20, 40}) {
      // over a bar in its middle: two flaps of 1 m, clamped without an error of half a cell
      const double columns = cells + 1, rows = cells / 5 + 1;
      BodySpec body = generated("cloth", {{"width", {2}}, {"length", {0.4}}, {"columns", {columns}}, {"rows", {rows}}},
                                {potential("tri_strain", {{"mu", 50}}), potential("bending", {{"stiffness", 0.5}})});
      body.density = 0.2;
      Scene s = scene_with(std::move(body), pd ? "pd" : "pbd");
      s.gravity = {0, -9.81, 0};
      AnchorSpec bar = hold("cloth", {-0.01, -1, -1}, {0.01, 1, 1}, 1e4);
      bar.hard = !pd;
      s.anchors.push_back(bar);
      s.step = pd ? 0.25 : 1.0 / 30;  // long steps of backward Euler: at rest soon
      s.solver.iterations = pd ? 150 : 20;
      if (!pd) s.solver.stiffness = 0.5;
      films.push_back(whole_film(context, s,
                                 {.label = std::string(pd ? "pd" : "pbd") + ", " + std::to_string(cells) + " cells",
                                  .frames = pd ? 40 : 300,
                                  .keep_poses = true}));
      const auto& x = films.back().poses.back();
      sag[pd].push_back(-x[size_t(int(rows) / 2 * int(columns) + int(columns) - 1)].y);
    }
  }
  result.at_most("pd: deflection of the tip over three meshes, spread over the mean", spread(sag[1]), 0.05, "P28");
  result.at_least("pbd: the same, 20 iterations each", spread(sag[0]), 0.05, "P28");
  Table table{"Deflection of the tip of a flap of 1 m", {{"cells along 2 m", "pd", "pbd"}}};
  const char* cells[] = {"10", "20", "40"};
  for (size_t k = 0; k < 3; ++k) table.rows.push_back({cells[k], with_unit(sag[1][k], "m"), with_unit(sag[0][k], "m")});
  result.table(std::move(table));
  std::vector<Look> looks;
  for (const Film& f : films) looks.push_back({&f, f.frames(), f.label});
  strip(context, result, "frames", "The same sheet on three meshes: pd above, pbd below", looks,
        {.columns = 3, .width = 330, .height = 220, .direction = {0.25, 0.35, 1}});
  result.differs(
      "The paper shows a surface of its own at several resolutions; here a sheet is laid over a bar, so that the "
      "deflection of its tips is a number.");
}

}  // namespace verve::figures
