// Integrators that programs register: verve/plugin.h.
#include <algorithm>

#include "base/registered.h"
#include "integrators/explicit_step.h"
#include "integrators/integrator.h"
#include "integrators/step_outcome.h"
#include "model/plugins.h"
#include "verve/plugin.h"

namespace verve {

namespace {

/// One that minimises. Rows are handed over in blocks that stay in the cache, without asking for memory.
class PluginIntegrator final : public Integrator {
 public:
  explicit PluginIntegrator(std::shared_ptr<const IntegratorPlugin> plugin) : plugin_(std::move(plugin)) {}

  double effective_step(double h) const override { return plugin_->effective_step ? plugin_->effective_step(h) : h; }

  void begin(Motion& m, double h, bool, BaseStep& s) const override {
    s.hh = effective_step(h);
    s.kappa = 0;
    s.first = !m.history;
    s.before = m.last_step;
    m.history = true;
    m.last_step = h;
  }

  void prepare(Motion& m, const Forcing& f, double h, BaseStep& s, int first, int last) const override {
    const IntegratorStep step{h, s.hh, s.first, s.before};
    in_blocks(first, last, [&](int begin, std::span<IntegratorRow> rows) {
      for (size_t k = 0; k < rows.size(); ++k) rows[k] = row_at(m, f, begin + int(k));
      plugin_->begin(step, rows);
      for (size_t k = 0; k < rows.size(); ++k) {
        const size_t i = size_t(begin) + k;
        s.xb[i] = Vec4(rows[k].xb), s.u[i] = Vec4(rows[k].u), m.p[i] = Vec4(rows[k].p), m.q[i] = Vec4(rows[k].q);
      }
    });
  }

  void finish(Motion& m, const Forcing& f, double h, const BaseStep& s, std::vector<Vec4>& x) const override {
    const IntegratorStep step{h, s.hh, s.first, s.before};
    in_blocks(0, int(m.x.size()), [&](int begin, std::span<IntegratorRow> rows) {
      for (size_t k = 0; k < rows.size(); ++k) {
        const size_t i = size_t(begin) + k;
        rows[k] = row_at(m, f, int(i));
        rows[k].xb = s.xb[i].xyz(), rows[k].u = s.u[i].xyz();
        rows[k].x_new = x[i].xyz(), rows[k].v_new = ((x[i] - s.xb[i]) * (1 / s.hh)).xyz();
      }
      if (plugin_->end) plugin_->end(step, rows);
      for (size_t k = 0; k < rows.size(); ++k) {
        const size_t i = size_t(begin) + k;
        m.x[i] = Vec4(rows[k].x_new), m.v[i] = Vec4(rows[k].v_new);
        m.p[i] = Vec4(rows[k].p), m.q[i] = Vec4(rows[k].q);
      }
    });
  }

 private:
  static IntegratorRow row_at(const Motion& m, const Forcing& f, int i) {
    IntegratorRow row;
    row.x = m.x[i].xyz(), row.v = m.v[i].xyz(), row.p = m.p[i].xyz(), row.q = m.q[i].xyz();
    row.acceleration = f.acceleration[i].xyz();
    return row;
  }
  template <class F>
  static void in_blocks(int first, int last, F&& work) {
    constexpr int most = 64;
    std::array<IntegratorRow, most> rows;
    for (int begin = first; begin < last; begin += most) work(begin, std::span(rows).first(std::min(most, last - begin)));
  }

  std::shared_ptr<const IntegratorPlugin> plugin_;
};

/// One with a step of its own.
class PluginStep final : public ExplicitStep {
 public:
  explicit PluginStep(std::shared_ptr<const IntegratorPlugin> plugin) : plugin_(std::move(plugin)) {}

  void step(Island& island, double h, const Settings&, StepOutcome& out) override {
    begin(island);
    Motion& m = island.motion;
    const int n = island.rows();
    x_.resize(n), v_.resize(n), at_.resize(n);
    for (int r = 0; r < n; ++r) x_[r] = m.x[r].xyz(), v_[r] = m.v[r].xyz();
    out.iterations = 0;
    OwnStepView view{h, x_, v_, island.forcing.mass,
                     [&](std::span<const Vec3> x, std::span<Vec3> acceleration) {
                       if (int(x.size()) != n || int(acceleration.size()) != n)
                         throw std::invalid_argument("accelerate: found " + std::to_string(x.size()) + " and " +
                                                     std::to_string(acceleration.size()) + " rows, expected " +
                                                     std::to_string(n));
                       for (int r = 0; r < n; ++r) at_[r] = Vec4(x[r]);
                       accelerate(island, at_, acceleration_);
                       for (int r = 0; r < n; ++r) acceleration[r] = acceleration_[r].xyz();
                       ++out.iterations;
                     },
                     history_};
    plugin_->step(view);
    for (int r = 0; r < n; ++r) m.x[r] = Vec4(x_[r]), m.v[r] = Vec4(v_[r]);
    meet(island, h), finish(island, h);
  }
  void remember(std::vector<double>& history) const override { history = history_; }
  void recall(const std::vector<double>& history) override { history_ = history; }

 private:
  std::shared_ptr<const IntegratorPlugin> plugin_;
  std::vector<Vec3> x_, v_;
  std::vector<Vec4> at_;
  std::vector<double> history_;
};

}  // namespace

Diagnostics register_integrator(IntegratorPlugin plugin) {
  Diagnostics out;
  const char* const where = "register_integrator";
  check_plugin_name(where, plugin.name, find_integrator_info(plugin.name), registered().integrators.size(), out);
  if (bool(plugin.begin) == bool(plugin.step))
    out.error(where, std::string("found ") + (plugin.begin ? "both" : "neither") +
                         " functions `begin` and `step`, expected one of them");
  if (out.has_errors()) return out;
  const auto shared = std::make_shared<const IntegratorPlugin>(std::move(plugin));
  registry_of_plugins().integrators.push_back(shared->name);
  editable_integrator_infos().push_back(
      {.name = shared->name, .own_step = bool(shared->step), .force_at_end = shared->force_at_end});
  if (shared->step)
    editable_own_step_registry().push_back(
        {shared->name, [shared](const SolverSpec&) { return std::make_unique<PluginStep>(shared); }, no_refusal});
  else
    editable_integrator_registry().push_back(
        {shared->name, [shared](const IntegratorNumbers&) { return std::make_unique<PluginIntegrator>(shared); }});
  return out;
}

}  // namespace verve
