// Every method with every scene in which something can touch: it runs, or says why it does not
// (docs/contact_methods.md).
#include <doctest/doctest.h>

#include "scenes.h"
#include "source_dir.h"
#include "verve/registry.h"
#include "verve/simulation.h"

using namespace verve;

namespace {

std::vector<MethodInfo> all_methods() {
  std::vector<MethodInfo> out = method_infos();
  for (const MethodInfo& base : method_infos())
    for (const std::string& after : post_step_names())
      if (const MethodInfo* method = find_method(base.name + "+" + after)) out.push_back(*method);
  return out;
}

}  // namespace

TEST_CASE("every method takes every scene of contact, or refuses it with the reason that the documentation gives") {
  const std::string page = read_text(verve::test::in_sources("docs/contact_methods.md"));
  const std::string before = "which bodies would pass through (";
  int taken = 0, refused = 0;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    Scene scene = read_scene(builtin.name).value();
    if (scene.colliders.empty() && !scene.contact) continue;
    CAPTURE(builtin.name);
    scene.solver = {};
    for (const MethodInfo& method : all_methods()) {
      CAPTURE(method.name);
      scene.solver.method = method.name;
      const std::string text = check_scene(scene).text();
      CAPTURE(text);
      const size_t at = text.find(before);
      CHECK(sees_contact(method.axes()) == (at == std::string::npos));
      if (at == std::string::npos) {
        ++taken;
        continue;
      }
      ++refused;
      const size_t first = at + before.size(), end = text.find(')', first);
      const std::string reason = text.substr(first, end - first);
      CHECK(reason.size() > 10);
      CHECK(page.find(reason) != std::string::npos);
    }
  }
  CHECK(taken > 100);
  CHECK(refused > 100);
}

TEST_CASE("methods that see contact run scenes of contact, or name what of their potentials they cannot drive") {
  for (const char* name : {"incline", "lesson_ball", "strip"})
    for (const MethodInfo& method : method_infos()) {
      if (!sees_contact(method.axes())) continue;
      CAPTURE(name);
      CAPTURE(method.name);
      Scene scene = read_scene(name).value();
      scene.solver = {};
      scene.solver.method = method.name;
      if (!method.stable) scene.solver.substeps = 8;
      Expected<Simulation> made = Simulation::create(scene, {.threads = 1});
      if (!made) {
        CHECK(made.diagnostics().text().find("cannot drive") != std::string::npos);
        continue;
      }
      for (int frame = 0; frame < 2; ++frame) CHECK(made->step());
    }
}
