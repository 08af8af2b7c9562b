// What can be wrong with a scene before its meshes are loaded. The ranges come from the tables in scene_keys
// (check_ranges.cpp); what is written out here are the rules between keys.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "contact/shape_registry.h"
#include "model/check_ranges.h"
#include "model/contact_reason.h"
#include "model/scene_keys.h"
#include "verve/registry.h"

namespace verve {

namespace {

/// Of a choice that a program has cast from a number: the range check has reported it otherwise.
template <class Choice>
bool has_name(Choice value) {
  return size_t(value) < choice_names<Choice>().size();
}

/// The rules that tie several keys together.
class SceneCheck {
 public:
  SceneCheck(const Scene& scene, Diagnostics& out) : scene_(scene), out_(out), axes_(axes_of(scene.solver)) {}

  void run() {
    axes();
    if (scene_.bodies.empty()) out_.error("bodies", "found none, expected at least one body");
    for (size_t i = 0; i < scene_.bodies.size(); ++i) body(i);
    std::set<std::string> anchor_names;
    for (size_t i = 0; i < scene_.anchors.size(); ++i) anchor(i, anchor_names);
    cycles();
    for (size_t i = 0; i < scene_.forces.size(); ++i) {
      body_name(scene_.forces[i].body, at("forces", i) + ".body");
      selection(scene_.forces[i].vertices, at("forces", i) + ".vertices");
    }
    for (size_t i = 0; i < scene_.pushes.size(); ++i) {
      body_name(scene_.pushes[i].body, at("pushes", i) + ".body");
      if (scene_.pushes[i].point && scene_.pushes[i].rest_point)
        out_.error(at("pushes", i) + ".rest_point", "found beside point, expected one of the two");
    }
    std::set<std::string> wind_names;
    for (size_t i = 0; i < scene_.winds.size(); ++i) {
      const WindSpec& wind = scene_.winds[i];
      if (!wind.name.empty() && !wind_names.insert(wind.name).second)
        out_.error(at("winds", i) + ".name",
                   "found " + quoted(wind.name) + " a second time, expected a different name for each wind");
      body_name(wind.body, at("winds", i) + ".body");
    }
    contact();
  }

 private:
  void contact() {
    std::set<std::string> names;
    for (const BodySpec& body : scene_.bodies) names.insert(body.name);
    for (size_t i = 0; i < scene_.colliders.size(); ++i) {
      const ColliderSpec& c = scene_.colliders[i];
      if (!c.name.empty() && !names.insert(c.name).second)
        out_.error(at("colliders", i) + ".name",
                   "found " + quoted(c.name) + " a second time, expected a name that no body or collider has");
      const ShapeEntry* const shape = find_shape(c.shape);
      if (!shape) continue;  // reported with its choices
      if (shape->info.reads("normal") && !(norm(c.normal) > 0))
        out_.error(at("colliders", i) + ".normal", "found a vector without length, expected a direction");
      if (shape->info.reads("mesh") != c.mesh.has_value())
        out_.error(at("colliders", i) + ".mesh",
                   c.mesh ? "found with shape " + quoted(c.shape) + ", expected shape \"mesh\""
                          : "found none with shape \"mesh\", expected a closed surface");
    }
    if (scene_.contact || !scene_.colliders.empty()) contact_method();
    if (!scene_.contact) return;
    contact_response();
    for (size_t i = 0; i < scene_.contact->pairs.size(); ++i) {
      const ContactPairSpec& pair = scene_.contact->pairs[i];
      for (const auto& [key, name] : {std::pair{".a", pair.a}, std::pair{".b", pair.b}})
        if (!names.contains(name))
          out_.error(at("contact.pairs", i) + key,
                     "found " + quoted(name) + ", " +
                         expected_one_of(name, std::vector<std::string>(names.begin(), names.end())));
    }
  }
  /// What the other ways to push back cannot do.
  void contact_response() {
    const ContactSpec& contact = *scene_.contact;
    const ContactResponse response = contact.response;
    if (response == ContactResponse::implicit_penalty || !has_name(response)) return;
    const std::string with = " with contact.response " + quoted(choice_name(response)) + ", which ";
    const auto refuse = [&](const std::string& where, double found, const char* what, double expected) {
      if (found != expected)
        out_.error(where, "found " + format_number(found) + with + what + ", expected " + format_number(expected) +
                              ", or contact.response \"implicit\"");
    };
    const auto friction = [&](const std::string& where, double found) { refuse(where, found, "has no friction", 0); };
    const auto restitution = [&](const std::string& where, double found) {
      if (response == ContactResponse::explicit_force) refuse(where, found, "has no restitution", 1);
    };
    for (size_t i = 0; i < scene_.bodies.size(); ++i) {
      friction(at("bodies", i) + ".friction", scene_.bodies[i].friction);
      restitution(at("bodies", i) + ".restitution", scene_.bodies[i].restitution);
    }
    for (size_t i = 0; i < scene_.colliders.size(); ++i)
      restitution(at("colliders", i) + ".restitution", scene_.colliders[i].restitution);
    for (size_t i = 0; i < contact.pairs.size(); ++i) {
      friction(at("contact.pairs", i) + ".friction", contact.pairs[i].friction.value_or(0));
      restitution(at("contact.pairs", i) + ".restitution", contact.pairs[i].restitution.value_or(1));
    }
    if (response == ContactResponse::explicit_force && contact.self)
      out_.error("contact.self", "found true" + with + "sees other bodies and colliders alone, expected false");
    if (response != ContactResponse::planes) return;
    if (contact.self) out_.error("contact.self", "found true" + with + "sees colliders alone, expected false");
    if (contact.bodies && scene_.bodies.size() > 1)
      out_.error("contact.bodies", "found true" + with + "sees colliders alone, expected false");
    if (axes_ && (axes_->minimizer != "projective" || axes_->conservation != "none"))
      out_.error("solver.method", "found " + quoted(scene_.solver.method) + with +
                                      "belongs to the matrix of a projective step that holds nothing, expected one of "
                                      "pd, pd_bdf2 or another method of minimizer \"projective\" and conservation "
                                      "\"none\"");
  }
  /// Steps that do not see contacts.
  void contact_method() {
    const SolverSpec& s = scene_.solver;
    if (!axes_ || sees_contact(*axes_)) return;
    std::string found = quoted(s.method), expected;
    for (const auto& [key, value] : {std::pair{" and integrator ", s.integrator},
                                     {" and minimizer ", s.minimizer},
                                     {" and conservation ", s.conservation}})
      if (!value.empty()) found += key + quoted(value);
    for (const MethodInfo& info : method_infos())
      if (sees_contact(info.axes()))
        expected += (expected.empty() ? "" : ", ") + info.name;
    out_.error("solver.method", "found " + found + " with " + (scene_.contact ? "contact" : "colliders") +
                                    ", which bodies would pass through (" + why_blind_to_contact(*axes_) +
                                    "), expected one of " + expected);
  }
  /// Points of the three axes that are no method, and what goes with some points alone.
  void axes() {
    const SolverSpec& s = scene_.solver;
    if (!axes_) return;  // reported with the other names
    const auto& [integrator, minimizer, conservation] = *axes_;
    const IntegratorInfo* const base = find_integrator_info(integrator);
    if (!base || !find_minimizer_info(minimizer) || !find_conservation_info(conservation)) return;  // likewise
    for (const AxesConflict& conflict : conflicts_of(*axes_)) out_.error("solver." + conflict.axis, conflict.message);
    if (s.acceleration != Acceleration::none && has_name(s.acceleration) && !takes_acceleration(*axes_))
      out_.error("solver.acceleration",
                 "found " + quoted(choice_name(s.acceleration)) + " with minimizer " + quoted(minimizer) +
                     " and conservation " + quoted(conservation) +
                     ", expected \"none\", or minimizer \"projective\", \"jacobi\" or \"gauss_seidel\" and what "
                     "leaves the step free: conservation \"none\"");
    if (integrator == "newmark" && s.newmark_beta < 0.5 * s.newmark_gamma)
      out_.warning("solver.newmark_beta", "found " + format_number(s.newmark_beta) +
                                              ", which is stable for short steps only, expected at least half of "
                                              "newmark_gamma, " +
                                              format_number(0.5 * s.newmark_gamma));
    if (s.budget > 0 && !keeps_budgets(*axes_))
      out_.error("solver.budget", "found " + format_number(s.budget) + " with integrator " + quoted(integrator) +
                                      ", minimizer " + quoted(minimizer) + " and conservation " + quoted(conservation) +
                                      ", which cannot keep to one, expected 0; \"cpd\" by \"projective\" steps of "
                                      "\"generalized_alpha\" or \"implicit_euler\" can, and \"pd\"");
    for (size_t i = 0; !takes_consistent_mass(*axes_) && i < scene_.bodies.size(); ++i)
      if (scene_.bodies[i].mass_matrix == MassMatrix::consistent)
        out_.error(at("bodies", i) + ".mass_matrix",
                   "found \"consistent\" with integrator " + quoted(integrator) +
                       " and conservation \"cpd\", expected \"lumped\"; \"generalized_alpha\" and \"implicit_euler\" "
                       "take both");
    for (size_t i = 0; !base->dynamic && i < scene_.bodies.size(); ++i)
      for (size_t k = 0; k < scene_.bodies[i].potentials.size(); ++k)
        if (!scene_.bodies[i].potentials[k].tear.empty())
          out_.error(at(at("bodies", i) + ".potentials", k) + ".tear",
                     "found with integrator " + quoted(integrator) +
                         ", which has no place for what comes loose, expected an "
                         "integrator with inertia");
  }

  void body(size_t index) {
    const BodySpec& body = scene_.bodies[index];
    const std::string where = at("bodies", index);
    name(body.name, where + ".name");
    mesh(body.mesh, where + ".mesh");
    embed(body, where);
    if (body.place.size && body.place.scale != 1)
      out_.error(where + ".place.size", "found beside scale, expected one of the two");
    for (size_t i = 0; i < body.potentials.size(); ++i) potential(body.potentials[i], at(where + ".potentials", i));
    if (body.mass_matrix == MassMatrix::consistent && std::any_of(body.potentials.begin(), body.potentials.end(),
                                                        [](const PotentialSpec& p) { return !p.tear.empty(); }))
      out_.error(where + ".mass_matrix",
                 "found \"consistent\" for a body that tears, expected \"lumped\": an element that goes would take its "
                 "share of the spin along");
    if (!body.dials.half_life.empty() && !body.dials.damping.empty())
      out_.error(where + ".dials.damping", "found beside half_life, expected one of the two");
    color(body.color, where + ".color");
  }

  void name(const std::string& name, const std::string& where) {
    if (name.empty()) {
      out_.error(where, "found \"\", expected a name");
    } else if (name == "all") {
      out_.error(where, "found \"all\", expected another name: metrics.csv uses it for the sum of the bodies");
    } else if (!body_names_.insert(name).second) {
      out_.error(where, "found " + quoted(name) + " a second time, expected a different name for each body");
    } else {
      for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || std::string_view(",\".[]=").find(c) != std::string_view::npos) {
          out_.error(where, "found " + quoted(name) + ", expected a name without any of , \" . [ ] = and line breaks");
          break;
        }
    }
  }

  void mesh(const MeshSpec& mesh, const std::string& where) {
    std::string found;
    int sources = 0;
    const auto source = [&](bool given, const char* key) {
      if (!given) return;
      found += (sources++ ? " and " : "") + std::string(key);
    };
    source(!mesh.generator.empty(), "generator");
    source(!mesh.file.empty(), "file");
    source(mesh.mesh != nullptr, "data");
    if (sources != 1)
      out_.error(where, "found " + (sources ? found : "no mesh") + ", expected one of generator, file, data");
    if (!mesh.object.empty() && mesh.file.empty())
      out_.error(where + ".object", "found " + quoted(mesh.object) + " without file, expected a file that has it");
    if (!mesh.generator.empty()) {
      if (const GeneratorInfo* generator = find_generator(mesh.generator))
        check_parameters(mesh.parameters, generator->parameters, where, out_);
    } else if (sources == 1) {
      for (const auto& [name, values] : mesh.parameters)
        out_.error(join(where, name), "unknown key, only a generator has parameters");
    }
  }

  void embed(const BodySpec& body, const std::string& where) {
    const auto around_surface = [](const MeshSpec& mesh) {
      const GeneratorInfo* generator = find_generator(mesh.generator);
      return generator && generator->around_surface;
    };
    if (around_surface(body.mesh) && !body.embed)
      out_.error(where + ".mesh.generator", "found " + quoted(body.mesh.generator) + " and no embed, expected the " +
                                                "surface to build around in " + where + ".embed");
    if (!body.embed) return;
    mesh(*body.embed, where + ".embed");
    if (around_surface(*body.embed))
      out_.error(where + ".embed.generator", "found " + quoted(body.embed->generator) +
                                                 ", which is built around a surface, expected the surface itself");
  }

  void potential(const PotentialSpec& potential, const std::string& where) {
    const PotentialInfo* known = find_potential_info(potential.type);
    if (!known) return;  // the range check has named the type
    std::vector<std::string> names;
    for (const ParameterInfo& info : known->parameters) names.push_back(info.name);
    const auto find = [&](const std::string& name, const std::string& place) {
      const ParameterInfo* info = find_parameter(known->parameters, name);
      if (!info)
        out_.error(place, "unknown key, " + (names.empty() ? "expected no parameters" : expected_one_of(name, names)));
      return info;
    };
    for (const auto& [name, track] : potential.parameters) {
      const std::string place = join(where, name);
      const ParameterInfo* info = find(name, place);
      if (!info) continue;
      if (info->default_value.size() != 1) {
        out_.error(place, "found a number, expected " + describe_expected(*info));
        continue;
      }
      check_track(*info, track, place, out_);
      always_there(*info, track, place);
      if (info->integer && !track.is_constant() && track.interpolation != Interpolation::step)
        out_.error(place + ".interpolation", "found linear keyframes, expected \"step\": " + name +
                                                 " is a whole number, with nothing in between");
    }
    for (const auto& [name, values] : potential.arrays) {
      const std::string place = join(where, name);
      const ParameterInfo* info = find(name, place);
      if (!info) continue;
      if (potential.parameters.count(name)) out_.error(place, "found twice, expected one value or one list");
      if (values.empty()) out_.error(place, "found no value, expected " + describe_expected(*info));
      check_array(*info, values, place, out_);
      if (info->integer)
        out_.error(place, "found a list, expected " + describe_expected(*info) + ", the same for all elements");
    }
    if (potential.region) selection(*potential.region, where + ".region");
    if (potential.region && !potential.groups.empty())
      out_.error(where + ".region", "found beside groups, expected one of the two");
    if (!potential.groups.empty() && !known->takes_groups)
      out_.error(where + ".groups", "found groups, expected none: " + quoted(potential.type) + " acts on " +
                                        known->elements + takers(&PotentialInfo::takes_groups));
    if (!potential.examples.empty() && !known->takes_examples)
      out_.error(where + ".examples", "found examples, expected none: " + quoted(potential.type) + " acts on " +
                                          known->elements + takers(&PotentialInfo::takes_examples));
    if (!potential.poses.empty() && !known->takes_examples)
      out_.error(where + ".poses", "found poses, expected none: " + quoted(potential.type) + " acts on " +
                                       known->elements + takers(&PotentialInfo::takes_examples));
    if (potential.examples.empty() && potential.poses.empty() && known->takes_examples)
      out_.error(where + ".examples", "found none, expected at least one pose, here or in `poses`");
    for (size_t i = 0; i < potential.examples.size(); ++i) mesh(potential.examples[i], at(where + ".examples", i));
    if (!potential.tear.empty() && !stretches(*known))
      out_.error(where + ".tear", "found beside " + quoted(potential.type) + ", which acts on " + known->elements +
                                      ", expected it at a potential of edges, triangles or tetrahedra");
    if (potential.yield && !known->flows)
      out_.error(where + ".yield", "found beside " + quoted(potential.type) + ", which acts on " + known->elements +
                                       ", with no shape at rest of its elements that could flow" +
                                       takers(&PotentialInfo::flows, "these have:"));
    if (!potential.yield && (potential.hardening > 0 || potential.creep))
      out_.error(where + (potential.creep ? ".creep" : ".hardening"),
                 "found without yield, expected the strain beyond which it flows");
  }

  /// Whether its elements have a length at rest.
  static bool stretches(const PotentialInfo& info) {
    return info.elements == "edges" || info.elements == "triangles" || info.elements == "tetrahedra";
  }

  /// "; such and such take them"
  static std::string takers(bool PotentialInfo::*trait, const char* intro = "made for them are") {
    std::string out;
    for (const PotentialInfo& info : potential_infos())
      if (info.*trait) out += (out.empty() ? "; " + std::string(intro) + " " : ", ") + info.name;
    return out;
  }

  /// A material constant or a stiffness needs a value at every moment.
  void always_there(const ParameterInfo& info, const Track<double>& track, const std::string& where) {
    if (track.empty()) {
      out_.error(where, "found no value, expected " + describe_expected(info));
      return;
    }
    if (track.keys[0].time > 0)
      out_.error(where + ".keys[0][0]",
                 "found " + format_number(track.keys[0].time) + ", expected the first key at time 0 or before [s]");
    for (size_t i = 0; i < track.keys.size(); ++i)
      if (!track.keys[i].value) {
        const std::string place = track.is_constant() ? where : at(where + ".keys", i) + "[1]";
        out_.error(place, "found null, expected " + describe_expected(info));
      }
  }

  void color(const std::string& color, const std::string& where) {
    bool good = color.empty() || (color.size() == 7 && color[0] == '#');
    for (size_t i = 1; good && i < color.size(); ++i)
      good = std::string_view("0123456789abcdefABCDEF").find(color[i]) != std::string_view::npos;
    if (!good) out_.error(where, "found " + quoted(color) + ", expected a colour \"#rrggbb\"");
  }

  void body_name(const std::string& name, const std::string& where) {
    std::vector<std::string> names;
    for (const BodySpec& body : scene_.bodies) {
      if (body.name == name && !name.empty()) return;
      if (!body.name.empty()) names.push_back(body.name);
    }
    const std::string choices = names.empty() ? "expected the name of a body" : expected_one_of(name, names);
    out_.error(where, "found " + quoted(name) + ", " + choices);
  }

  void selection(const Selection& selection, const std::string& where) {
    if (selection.empty())
      out_.error(where, "found nothing selected, expected one or more of all, indices, box, sphere, nearest, carried");
  }

  void anchor(size_t index, std::set<std::string>& names) {
    const AnchorSpec& anchor = scene_.anchors[index];
    const std::string where = at("anchors", index);
    if (!anchor.name.empty() && !names.insert(anchor.name).second)
      out_.error(where + ".name",
                 "found " + quoted(anchor.name) + " a second time, expected a different name for each anchor");
    body_name(anchor.body, where + ".body");
    selection(anchor.vertices, where + ".vertices");
    for (const Key& key : keys_of<AnchorSpec>())
      if (key.info.name == "stiffness") always_there(key.info, anchor.stiffness, where + ".stiffness");
    if (anchor.within && anchor.to_body.empty())
      out_.error(where + ".within", "found without to_body, expected the body whose vertices are near");
    if (anchor.to_body.empty()) return;
    if (anchor.to_point) out_.error(where + ".to_body", "found beside to_point, expected one of the two");
    if (!anchor.path.empty())
      out_.error(where + ".path", "found beside to_body, expected no path: the other body carries the anchor");
    if (anchor.to_body == anchor.body)
      out_.error(where + ".to_body", "found " + quoted(anchor.to_body) + ", the body itself, expected another body");
    else
      body_name(anchor.to_body, where + ".to_body");
  }

  /// Anchored bodies must form trees: who is held by whom stays a question with one answer. Depth-first search; each
  /// anchor that closes a cycle is reported with the bodies along it.
  void cycles() {
    std::set<std::string> done;
    for (const AnchorSpec& anchor : scene_.anchors) {
      std::vector<std::string> trail;
      follow(anchor.body, trail, done);
    }
  }

  void follow(const std::string& body, std::vector<std::string>& trail, std::set<std::string>& done) {
    if (done.count(body)) return;
    trail.push_back(body);
    for (size_t i = 0; i < scene_.anchors.size(); ++i) {
      const AnchorSpec& anchor = scene_.anchors[i];
      if (anchor.body != body || anchor.to_body.empty() || anchor.to_body == body) continue;
      size_t start = 0;
      while (start < trail.size() && trail[start] != anchor.to_body) ++start;
      if (start == trail.size()) {
        follow(anchor.to_body, trail, done);
        continue;
      }
      std::string cycle;
      for (size_t j = start; j < trail.size(); ++j) cycle += trail[j] + " -> ";
      out_.error(at("anchors", i) + ".to_body", "found a cycle of anchors, " + cycle + anchor.to_body +
                                                    ", expected no body to be anchored to itself through others");
    }
    trail.pop_back();
    done.insert(body);
  }

  const Scene& scene_;
  Diagnostics& out_;
  const std::optional<MethodAxes> axes_;
  std::set<std::string> body_names_;
};

}  // namespace

Diagnostics check_scene(const Scene& scene) {
  Diagnostics out;
  check_ranges(scene, out);
  SceneCheck(scene, out).run();
  return out;
}

}  // namespace verve
