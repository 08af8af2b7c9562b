// Two scenes by the methods of the CPD paper and by ours: energies, momenta, roughness, iterations, time.
#include <algorithm>
#include <cmath>

#include "figures/panel.h"
#include "figures/papers.h"

namespace verve::figures {

void methods(Context& context, Result& result) {
  struct Case {
    const char* scene;
    bool spin;
    int frames;
  };
  for (const Case& c : {Case{"hippo", true, 200}, Case{"cloth", false, 200}}) {
    Scene s = scene(c.scene);
    if (context.quick) {  // coarser bodies of the same size
      Parameters& mesh = s.bodies[0].mesh.parameters;
      if (c.spin)
        mesh["resolution"] = {10};
      else
        mesh["columns"] = mesh["rows"] = {20}, s.anchors[0].vertices.indices = {0, 19};
    }
    s.solver.tolerance = 1e-4;
    for (BodySpec& body : s.bodies) body.dials = {};
    const Panel panel = make_panel(context, std::string(c.scene) + " (panel)", s, context.quick ? 60 : c.frames);
    Result part;
    show_panel(part, panel, c.spin);
    for (Chart& chart : part.charts) {
      chart.name = std::string(c.scene) + "_" + chart.name;
      chart.title = std::string(c.scene) + ": " + chart.title;
      result.chart(std::move(chart));
    }
    for (Table& table : part.tables) {
      table.title = std::string(c.scene) + ": " + table.title;
      result.table(std::move(table));
    }
    for (const auto& f : panel.films) {
      if (f->scene.solver.method != context.ours() && f->scene.solver.method != "cpd_bdf2" &&
          f->scene.solver.method != "cpd_euler")
        continue;
      // what a swing exchanges, where the zero of energy is arbitrary
      const Measures& m0 = f->shots[0].all;
      const double scale = c.spin ? m0.total : m0.mass * 9.81 * 1.5;
      double off = 0;
      for (const Shot& shot : f->shots) off = std::max(off, std::abs(shot.all.total - m0.total) / scale);
      result.at_most(std::string(c.scene) + ", " + f->label + ": largest |ΔH|, relative",
                     f->failure.empty() ? off : INFINITY, c.spin ? 1e-4 : 5e-4, c.spin ? "C13" : "design 4.5");
      if (c.spin)
        result.at_most(std::string(c.scene) + ", " + f->label + ": largest |ΔL| / L₀", f->off_spin(), 1e-4, "C13");
    }
    std::vector<Look> looks;
    for (const auto& f : panel.films)
      looks.push_back(
          {&*f, std::min(100, f->frames()), f->label + ", frame " + std::to_string(std::min(100, f->frames()))});
    strip(context, result, std::string(c.scene) + "_frames", std::string(c.scene) + ": frame 100 of each", looks,
          {.columns = 4, .width = 280, .height = 230});
  }
  result.differs(
      "Every method is our own implementation, so that times compare. FEPR refuses contact; midpoint is run at "
      "the same h = 1/30 s, where it is not stable. On the cloth ours on ρ = 0.8 has its elastic "
      "energy in a vibration of the springs that stays (W is level and does not swing), at the cost of sub-steps; the "
      "scene itself runs on BDF2.");
}

}  // namespace verve::figures
