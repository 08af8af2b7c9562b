// The C interface: potentials, integrators, methods and shapes of the caller's.
#include "c_parts.h"
#include "verve/contract_tests.h"
#include "verve/plugin.h"

namespace {

using namespace verve_c;

std::string text_of(const char* text) { return text ? text : ""; }

void require_success(int32_t status, const std::string& name, const char* function) {
  if (status != 0)
    throw std::runtime_error("\"" + name + "\": " + function + " has returned " + std::to_string(status));
}

static_assert(sizeof(Vec3) == 3 * sizeof(double));
const double* numbers(const Vec3* rows) { return reinterpret_cast<const double*>(rows); }
double* numbers(Vec3* rows) { return reinterpret_cast<double*>(rows); }

verve_status finished(const verve::Diagnostics& problems) { return problems.has_errors() ? refuse(problems) : VERVE_OK; }

verve_shape_keys keys_of(const verve::ColliderSpec& spec) {
  verve_shape_keys out{};
  set(out.size, spec.size), set(out.normal, spec.normal);
  out.radius = spec.radius, out.length = spec.length;
  return out;
}

/// What draw() hands over, asked for twice.
void take_drawing(const verve_shape& shape, const std::string& name, const verve_shape_keys& keys,
                  verve::ShapeFunctions& out) {
  if (!shape.draw) return;
  size_t points = 0, triangles = 0;
  require_success(shape.draw(shape.user, &keys, nullptr, 0, &points, nullptr, 0, &triangles), name, "draw");
  out.points.resize(points), out.triangles.resize(triangles);
  std::vector<int32_t> corners(3 * triangles);
  require_success(shape.draw(shape.user, &keys, numbers(out.points.data()), points, &points, corners.data(), triangles,
                             &triangles),
                  name, "draw");
  for (size_t t = 0; t < out.triangles.size(); ++t)
    for (size_t k = 0; k < 3; ++k) {
      out.triangles[t][k] = corners[3 * t + k];
      if (out.triangles[t][k] < 0 || out.triangles[t][k] >= int(out.points.size()))
        throw std::invalid_argument("\"" + name + "\": found a triangle of corner " +
                                    std::to_string(out.triangles[t][k]) + ", expected 0 to " +
                                    std::to_string(out.points.size() - 1));
    }
}

}  // namespace

extern "C" {

verve_potential verve_default_potential(void) {
  verve_potential out = with_size<verve_potential>();
  out.dimension = 3;
  return out;
}
verve_integrator verve_default_integrator(void) { return with_size<verve_integrator>(); }
verve_shape verve_default_shape(void) { return with_size<verve_shape>(); }
verve_method verve_default_method(void) {
  verve_method out = with_size<verve_method>();
  out.iterations = 40, out.substeps = 1, out.stable = 1;
  return out;
}

verve_status verve_register_potential(const verve_potential* given) {
  return guarded([&]() -> verve_status {
    const verve_potential p = taken(given, verve_default_potential());
    if (!given || !p.name || (!p.parameters && p.parameter_count > 0))
      return fail(VERVE_MISUSE, "verve_register_potential: found null, expected a name and parameters");
    verve::PotentialPlugin plugin;
    plugin.name = p.name, plugin.help = text_of(p.help), plugin.dimension = p.dimension;
    for (size_t i = 0; i < p.parameter_count; ++i) {
      const verve_parameter& from = p.parameters[i];
      verve::ParameterInfo& info = plugin.parameters.emplace_back();
      info.name = text_of(from.name), info.unit = text_of(from.unit), info.help = text_of(from.help);
      info.default_value = {from.value}, info.minimum = from.minimum, info.maximum = from.maximum;
    }
    std::vector<std::string> order;
    for (const verve::ParameterInfo& info : plugin.parameters) order.push_back(info.name);
    if (p.energy || p.projection)
      plugin.law = [p, order, name = plugin.name](const verve::PluginValues& all) {
        std::vector<double> values;
        for (const std::string& key : order) values.push_back(all.at(key));
        verve::ConstitutiveLaw law;
        law.dimension = p.dimension;
        if (p.energy)
          law.energy = [p, values, name](int elements, const Vec3* F, double* psi, Vec3* slope) {
            require_success(p.energy(p.user, values.data(), elements, numbers(F), psi, numbers(slope)), name, "energy");
          };
        if (p.projection)
          law.projection = [p, values, name](int elements, const Vec3* F, Vec3* nearest) {
            require_success(p.projection(p.user, values.data(), elements, numbers(F), numbers(nearest)), name,
                            "projection");
          };
        return law;
      };
    return finished(verve::register_potential(std::move(plugin)));
  });
}

verve_status verve_register_integrator(const verve_integrator* given) {
  return guarded([&]() -> verve_status {
    const verve_integrator i = taken(given, verve_default_integrator());
    if (!given || !i.name) return fail(VERVE_MISUSE, "verve_register_integrator: found null, expected a name");
    verve::IntegratorPlugin plugin;
    plugin.name = i.name, plugin.help = text_of(i.help);
    if (i.step)
      plugin.step = [i, name = plugin.name](verve::OwnStepView& of) {
        struct Context {
          verve::OwnStepView& of;
          std::exception_ptr thrown;  // not through the caller's function
        } context{of, nullptr};
        verve_step_view view{};
        view.count = of.x.size(), view.h = of.h, view.masses = of.masses.data();
        view.x = numbers(of.x.data()), view.v = numbers(of.v.data());
        view.context = &context;
        view.accelerate = [](const verve_step_view* v, const double* x, double* out) -> int32_t {
          Context& c = *static_cast<Context*>(v->context);
          try {
            c.of.accelerate({reinterpret_cast<const Vec3*>(x), v->count}, {reinterpret_cast<Vec3*>(out), v->count});
            return 0;
          } catch (...) {
            c.thrown = std::current_exception();
            return 1;
          }
        };
        const int32_t status = i.step(i.user, &view);
        if (context.thrown) std::rethrow_exception(context.thrown);
        require_success(status, name, "step");
      };
    return finished(verve::register_integrator(std::move(plugin)));
  });
}

verve_status verve_register_method(const verve_method* given) {
  return guarded([&]() -> verve_status {
    const verve_method m = taken(given, verve_default_method());
    if (!given || !m.name || !m.integrator || !m.minimizer || !m.conservation)
      return fail(VERVE_MISUSE, "verve_register_method: found null, expected a name and a name on each axis");
    verve::MethodInfo info;
    info.name = m.name, info.help = text_of(m.help);
    info.integrator = m.integrator, info.minimizer = m.minimizer, info.conservation = m.conservation;
    info.iterations = m.iterations, info.substeps = m.substeps, info.stable = m.stable != 0, info.fall = m.fall;
    return finished(verve::register_method(info));
  });
}

verve_status verve_register_shape(const verve_shape* given) {
  return guarded([&]() -> verve_status {
    const verve_shape s = taken(given, verve_default_shape());
    if (!given || !s.name || (!s.keys && s.key_count > 0))
      return fail(VERVE_MISUSE, "verve_register_shape: found null, expected a name and keys");
    if (!s.distance || !s.bounds)
      return fail(VERVE_MISUSE, "verve_register_shape: found null, expected functions `distance` and `bounds`");
    verve::ShapePlugin plugin;
    plugin.name = s.name, plugin.help = text_of(s.help);
    for (size_t k = 0; k < s.key_count; ++k) plugin.keys.push_back({text_of(s.keys[k]), ""});
    plugin.make = [s, name = plugin.name](const verve::ColliderSpec& spec) {
      verve::ShapeFunctions out;
      const verve_shape_keys keys = keys_of(spec);
      require_success(s.bounds(s.user, &keys, numbers(&out.low), numbers(&out.high)), name, "bounds");
      take_drawing(s, name, keys, out);
      out.distance = [s, name, keys](const Vec3& x, Vec3& normal) {
        double distance = 0;
        require_success(s.distance(s.user, &keys, numbers(&x), &distance, numbers(&normal)), name, "distance");
        return distance;
      };
      return out;
    };
    return finished(verve::register_shape(std::move(plugin)));
  });
}

verve_status verve_test_registered(void) {
  return guarded([] { return finished(verve::test_registered()); });
}

}  // extern "C"
