// verve._core: what the Python package is made of (python/verve).

#include "convert.h"
#include "verve/material.h"
#include "verve/registry.h"
#include "verve/scene_file.h"
#include "verve/version.h"

namespace verve::python {

namespace {

/// Names with what they are.
template <class Infos>
py::dict described(const Infos& infos) {
  py::dict out;
  for (const auto& info : infos) out[py::str(info.name)] = info.help;
  return out;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    py::list items;
    for (const Diagnostic& d : error.diagnostics.items()) {
      const char* severity = d.severity == Severity::error     ? "error"
                             : d.severity == Severity::warning ? "warning"
                                                               : "note";
      items.append(py::make_tuple(severity, d.where, d.what));
    }
    const py::object type = py::module_::import("verve._errors").attr("SceneError");
    PyErr_SetObject(type.ptr(), type(std::string(error.what()), items).ptr());
  }
}

}  // namespace

}  // namespace verve::python

PYBIND11_MODULE(_core, module) {
  using namespace verve;
  using namespace verve::python;
  py::register_exception_translator(&translate);
  module.attr("version") = VERVE_VERSION;
  add_meshes(module);
  add_model(module);
  add_simulation(module);

  module.def("read_scene", [](const std::string& name) { return write_scene(take(read_scene(name))); },
             py::arg("name_or_path"), "A built-in scene or a file, with every key written out.");
  module.def(
      "resolve_scene",
      [](const std::string& text, const std::string& origin,
         const std::vector<std::pair<std::string, std::string>>& overrides) {
        return write_scene(take(parse_scene(text, origin, overrides)));
      },
      py::arg("text"), py::arg("origin"), py::arg("overrides"), "Checked, with every key written out.");
  module.def("empty_scene", [] { return write_scene(Scene{}); }, "Every key with its default.");
  module.def("scene_schema", &scene_schema, "The JSON schema of scene files.");
  module.def("scenes", [] {
    py::dict out;
    for (const BuiltinScene& scene : builtin_scenes()) out[py::str(scene.name)] = scene.description;
    return out;
  }, "Built-in scenes, with what they show.");
  module.def("materials", [] { return described(material_infos()); }, "Materials by name, with what they are.");
  module.def("potentials", [] { return described(potential_infos()); }, "Potentials by name, with what they are.");
  module.def("methods", [] { return described(method_infos()); }, "Methods by name, with what they do.");
  module.def("shapes", [] { return described(shape_infos()); }, "Shapes of colliders, with what they are.");
}
