// Simulation: stepping without the interpreter's lock, arrays that steps renew in place, measures, dials, snapshots.
#include <algorithm>
#include <map>

#include "animations.h"
#include "laws.h"
#include "record/metrics_table.h"
#include "stage/stage.h"
#include "verve/record.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::python {

namespace {

/// A simulation and the memory that Python's arrays look at, which keeps its place as long as the simulation lives.
class Running {
 public:
  Running(const std::string& scene, const std::string& origin, int threads, const std::vector<PythonLaw>& laws)
      : threads_(threads), errors_(std::make_shared<LawErrors>()),
        simulation_(create(scene_of(scene, origin, laws, errors_), threads)) {
    errors_->pass_on();
    shown_[0].resize(simulation_.vertices()), shown_[1].resize(simulation_.vertices());
    renew();
  }

  StepReport step() {
    require_idle();
    StepReport report;
    {
      const Stepping stepping(stepping_);
      const py::gil_scoped_release release;
      report = simulation_.step();
      renew();
    }
    errors_->pass_on();
    return report;
  }
  /// After anything that changes where vertices are.
  void renew() {
    std::ranges::copy(simulation_.positions(), shown_[0].begin());
    std::ranges::copy(simulation_.velocities(), shown_[1].begin());
  }

  /// n x 3, read-only; `self` keeps the memory alive.
  py::array view(const py::object& self, int which) const {
    const std::vector<Vec3>& rows = shown_[which];
    py::array_t<double> out({py::ssize_t(rows.size()), py::ssize_t(3)}, rows.empty() ? nullptr : &rows[0].x, self);
    out.attr("flags").attr("writeable") = false;
    return out;
  }

  Simulation& simulation() { return require_idle(), simulation_; }
  const Simulation& simulation() const { return require_idle(), simulation_; }
  int threads() const { return threads_; }
  int body(const py::object& which) const {
    if (py::isinstance<py::str>(which)) {
      const std::string name = py::cast<std::string>(which);
      const int found = simulation_.find_body(name);
      if (found >= 0) return found;
      std::vector<std::string> names;
      for (int b = 0; b < simulation_.bodies(); ++b) names.push_back(simulation_.body_name(b));
      throw py::key_error("found \"" + name + "\", " + expected_one_of(name, names));
    }
    const int number = py::cast<int>(which), count = simulation_.bodies();
    if (number < -count || number >= count)
      throw py::index_error("found body " + std::to_string(number) + " of " + std::to_string(count));
    return number < 0 ? number + count : number;
  }

  ColliderId collider(const std::string& name) const {
    const ColliderId found = simulation_.find_collider(name);
    if (found.number() < 0) throw py::key_error("no collider \"" + name + "\" in the scene");
    return found;
  }
  /// What the classes of verve._queries are made of.
  py::object ray_values(const py::object& origin, const py::object& direction, double longest) const {
    const auto hit = simulation_.cast_ray(vector_of(origin, "origin"), vector_of(direction, "direction"), longest);
    return hit ? values_of(*hit, hit->collider) : py::object(py::none());
  }
  py::object nearest_values(const py::object& point, double farthest, const py::object& of) const {
    const BodyId one = of.is_none() ? BodyId() : BodyId(body(of));
    const auto found = simulation_.closest_point(vector_of(point, "point"), farthest, one);
    return found ? values_of(*found, {}) : py::object(py::none());
  }
  py::list contact_values() const {
    py::list out;
    for (const Contact& c : simulation_.contacts())
      out.append(py::make_tuple(name_of(c.body), name_of(c.other), name_of(c.collider), array_of(c.point),
                                array_of(c.normal), c.force, c.impulse, c.friction_loss));
    return out;
  }
  py::list event_values() const {
    constexpr const char* kinds[] = {"contact_begin", "contact_end", "torn", "asleep", "awake"};
    py::list out;
    for (const Event& e : simulation_.events())
      out.append(
          py::make_tuple(kinds[int(e.kind)], name_of(e.body), name_of(e.other), name_of(e.collider), e.torn));
    return out;
  }

 private:
  static Simulation create(const Scene& scene, int threads) {
    Expected<Simulation> made = [&] {
      py::gil_scoped_release release;
      return Simulation::create(scene, {.threads = threads});
    }();
    return take(std::move(made));
  }

  py::object name_of(BodyId body) const {
    return body.number() < 0 ? py::object(py::none()) : py::str(simulation_.body_name(body));
  }
  py::object name_of(ColliderId collider) const {
    return collider.number() < 0 ? py::object(py::none())
                                 : py::str(simulation_.scene().colliders[size_t(collider.number())].name);
  }
  py::tuple values_of(const SurfacePoint& p, ColliderId collider) const {
    return py::make_tuple(name_of(p.body), name_of(collider), p.vertices, p.weights, p.tetrahedron, array_of(p.point),
                          array_of(p.normal), p.distance);
  }

  /// A step runs without the interpreter's lock: another thread, or a potential of one's own, may come here meanwhile.
  void require_idle() const {
    if (stepping_) throw std::runtime_error("a step of this simulation is running, expected to be called after it");
  }

  struct Stepping {
    bool& flag;
    explicit Stepping(bool& of) : flag(of) { flag = true; }
    ~Stepping() { flag = false; }
  };
  bool stepping_ = false;  // read and written with the interpreter's lock
  int threads_;
  std::shared_ptr<LawErrors> errors_;  // of laws written in Python
  Simulation simulation_;
  std::vector<Vec3> shown_[2];  // positions, velocities
};

template <auto Member, class Class>
void vector_of_measures(Class& c, const char* name, const char* help) {
  c.def_property_readonly(name, [](const Measures& m) { return array_of(m.*Member); }, help);
}

void add_reports(py::module_& module) {
  py::class_<StepReport>(module, "StepReport", "What one frame cost and how well it held its targets.")
      .def(py::init<>())
      .def_property_readonly("ok", [](const StepReport& r) { return bool(r); }, "whether the step succeeded")
      .def_property_readonly("status", [](const StepReport& r) { return std::string(to_string(r.status)); },
                             "ok, diverged, not factorizable or infeasible")
      .def_readonly("message", &StepReport::message, "why it failed; the state is then as before")
      .def_readonly("iterations", &StepReport::iterations, "of all sub-steps, the most of any island")
      .def_readonly("substeps", &StepReport::substeps, "into which the frame was cut")
      .def_readonly("error_p", &StepReport::error_p, "scaled residual of P")
      .def_readonly("error_l", &StepReport::error_l, "scaled residual of L")
      .def_readonly("error_h", &StepReport::error_h, "scaled residual of H")
      .def_readonly("multiplier", &StepReport::multiplier, "lambda of H in the last sub-step")
      .def_readonly("torn", &StepReport::torn, "elements that tore in this frame")
      .def_readonly("milliseconds", &StepReport::milliseconds, "by the clock [ms]")
      .def_readonly("work", &StepReport::work, "about how long it takes [ms], by a count that is the same at every run")
      .def("__bool__", [](const StepReport& r) { return bool(r); })
      .def("__repr__", [](const StepReport& r) {
        return "StepReport(" + std::string(to_string(r.status)) + ", iterations=" + std::to_string(r.iterations) +
               ", substeps=" + std::to_string(r.substeps) + ")";
      });

  py::class_<Measures> m(module, "Measures", "Conserved quantities of one body, or of all.");
  vector_of_measures<&Measures::momentum>(m, "momentum", "P [kg m/s]");
  vector_of_measures<&Measures::angular_momentum>(m, "angular_momentum", "L about the origin [kg m^2/s]");
  vector_of_measures<&Measures::spin>(m, "spin", "L about the centre of mass [kg m^2/s]");
  vector_of_measures<&Measures::center>(m, "center", "of mass [m]");
  m.def_readonly("mass", &Measures::mass, "[kg]")
      .def_readonly("kinetic", &Measures::kinetic, "[J]")
      .def_readonly("elastic", &Measures::elastic, "[J]")
      .def_readonly("contact", &Measures::contact, "[J]")
      .def_readonly("external", &Measures::external, "potential of constant forces [J]")
      .def_readonly("total", &Measures::total, "sum of the four [J]")
      .def_readonly("target_total", &Measures::target_total, "what the last step aimed at [J]")
      .def_readonly("booked_loss", &Measures::booked_loss, "taken on purpose so far [J]")
      .def_readonly("work", &Measures::work, "of colliders that move, so far [J]")
      .def_readonly("heat", &Measures::heat, "what steps could not resolve so far [J]")
      .def_readonly("owed", &Measures::owed, "energy deficit [J]")
      .def_readonly("torn", &Measures::torn, "elements that have torn so far")
      .def_readonly("multiplier", &Measures::multiplier, "lambda of H in the last sub-step")
      .def_readonly("iterations", &Measures::iterations, "of the last frame")
      .def_readonly("substeps", &Measures::substeps, "of the last frame")
      .def_readonly("error_p", &Measures::error_p, "scaled residual of P")
      .def_readonly("error_l", &Measures::error_l, "scaled residual of L")
      .def_readonly("error_h", &Measures::error_h, "scaled residual of H")
      .def("__repr__", [](const Measures& a) {
        return "Measures(total=" + std::to_string(a.total) + " J, kinetic=" + std::to_string(a.kinetic) +
               " J, elastic=" + std::to_string(a.elastic) + " J)";
      });

  py::class_<Snapshot>(module, "Snapshot", "Everything that a simulation remembers, as a value.")
      .def_property_readonly("frame", &Snapshot::frame, "its number")
      .def_property_readonly("time", &Snapshot::time, "[s]")
      .def("write", [](const Snapshot& s, const std::filesystem::path& file) {
        if (const Diagnostics problems = write_snapshot(file, s); problems.has_errors()) throw InputError(problems);
      }, py::arg("file"), "As a file that the program takes too: verve simulate --resume.")
      .def_static("read", [](const std::filesystem::path& file) { return take(read_snapshot(file)); }, py::arg("file"),
                  "From such a file.")
      .def("__bytes__", [](const Snapshot& s) {
        const std::vector<unsigned char> bytes = s.bytes();
        return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      })
      .def_static("from_bytes", [](const std::string& bytes) {
        return take(Snapshot::from_bytes({bytes.begin(), bytes.end()}, "snapshot"));
      }, py::arg("data"), "What bytes(snapshot) is.")
      .def(py::pickle([](const Snapshot& s) {
        const std::vector<unsigned char> bytes = s.bytes();
        return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }, [](const py::bytes& data) {
        const std::string bytes = data;
        return take(Snapshot::from_bytes({bytes.begin(), bytes.end()}, "snapshot"));
      }));
}

std::optional<Vec3> optional_vector(const py::object& value, const char* what) {
  if (value.is_none()) return std::nullopt;
  return vector_of(value, what);
}

std::string picture(const Running& running, int width, int height, const std::string& color, double around, double up,
                    double zoom) {
  const Simulation& s = running.simulation();
  const auto coloring = color == "strain"  ? render::Coloring::strain
                        : color == "speed" ? render::Coloring::speed
                                           : render::Coloring::body;
  if (color != "body" && color != "strain" && color != "speed")
    throw std::invalid_argument("color: found \"" + color + "\", expected \"body\", \"strain\" or \"speed\"");
  render::Moment moment{s.time(), s.positions(), s.velocities(), {}};
  for (int b = 0; b < s.bodies(); ++b) moment.removed.push_back(s.removed_elements(b));
  render::Stage stage(s, coloring);
  stage.include(moment);
  const double degree = 3.14159265358979323846 / 180;
  stage.look_from({std::sin(around * degree) * std::cos(up * degree), std::sin(up * degree),
                   std::cos(around * degree) * std::cos(up * degree)},
                  double(width) / height, zoom);
  render::Image image = draw(stage.view(moment), width, height);
  if (coloring != render::Coloring::body) annotate(image, stage, "");
  return png(image);
}

}  // namespace

void add_simulation(py::module_& module) {
  add_reports(module);
  const auto of = [](auto member) {
    return [member](const Running& r, const py::object& body) { return (r.simulation().*member)(r.body(body)); };
  };

  py::class_<Running>(module, "Simulation")
      .def(py::init<const std::string&, const std::string&, int, const std::vector<PythonLaw>&>(), py::arg("scene"),
           py::arg("origin"), py::arg("threads"), py::arg("laws") = std::vector<PythonLaw>{})
      .def("step", &Running::step, "Advances by one frame; on failure nothing has changed.")
      .def("reset", [](Running& r) { r.simulation().reset(), r.renew(); }, "Back to the initial state.")
      .def("save", [](const Running& r) { return r.simulation().save(); }, "All that the coming frames depend on.")
      .def("restore",
           [](Running& r, const Snapshot& snapshot) {
             if (const Diagnostics problems = r.simulation().restore(snapshot); problems.has_errors())
               throw InputError(problems);
             r.renew();
           },
           py::arg("snapshot"), "Goes on from there, bit for bit.")
      .def_property_readonly("frame", [](const Running& r) { return r.simulation().frame(); },
                             "frames since the start")
      .def_property_readonly("time", [](const Running& r) { return r.simulation().time(); }, "[s]")
      .def_property_readonly("threads", &Running::threads, "as given; 0 is all of the machine. Results do not depend on it")
      .def_property_readonly("vertices", [](const Running& r) { return r.simulation().vertices(); },
                             "of all bodies")
      .def_property_readonly("elements", [](const Running& r) { return r.simulation().elements(); },
                             "terms of all potentials")
      .def_property_readonly("positions",
                             [](const py::object& self) { return self.cast<const Running&>().view(self, 0); },
                             "(vertices, 3) [m], read-only; step() renews it in place")
      .def_property_readonly("velocities",
                             [](const py::object& self) { return self.cast<const Running&>().view(self, 1); },
                             "(vertices, 3) [m/s], likewise")
      .def_property_readonly("masses",
                             [](const Running& r) {
                               const std::vector<double> m = r.simulation().masses();
                               return py::array_t<double>(py::ssize_t(m.size()), m.data());
                             },
                             "(vertices,) [kg], lumped")
      .def("set_state",
           [](Running& r, const py::object& positions, const py::object& velocities) {
             r.simulation().set_state(vectors_of(positions, "positions"), vectors_of(velocities, "velocities"));
             r.renew();
           },
           py::arg("positions"), py::arg("velocities"), "Histories and ledgers restart from there.")
      .def_property_readonly("state_hash", [](const Running& r) { return r.simulation().state_hash(); },
                             "equal bits, equal hash")
      .def_property_readonly("factorizations", [](const Running& r) { return r.simulation().factorizations(); },
                             "of global matrices so far")
      .def_property_readonly("scene_json", [](const Running& r) { return write_scene(r.simulation().scene()); },
                             "the scene as a file would have it")
      .def("body_count", [](const Running& r) { return r.simulation().bodies(); }, "How many bodies there are.")
      .def("find_body", &Running::body, py::arg("body"), "The number of a body by its name.")
      .def("body_name", of(&Simulation::body_name), py::arg("body"), "By its number.")
      .def("first_vertex", of(&Simulation::first_vertex), py::arg("body"),
           "Where its vertices begin in `positions`.")
      .def("mesh", [](const Running& r, const py::object& body) { return Mesh(r.simulation().mesh(r.body(body))); },
           py::arg("body"), "At rest, placed.")
      .def("embedded_mesh",
           [](const Running& r, const py::object& body) -> std::optional<Mesh> {
             const Mesh* mesh = r.simulation().embedded_mesh(r.body(body));
             return mesh ? std::optional(*mesh) : std::nullopt;
           },
           py::arg("body"), "The surface that a body carries, or None.")
      .def("embedded_positions",
           [](const Running& r, const py::object& body) {
             return array_of(r.simulation().embedded_positions(r.body(body)));
           },
           py::arg("body"), "(n, 3) [m], of the surface that a body carries.")
      .def("removed_elements",
           [](const Running& r, const py::object& body) {
             const RemovedElements gone = r.simulation().removed_elements(r.body(body));
             return py::dict(py::arg("tetrahedra") = gone.tetrahedra, py::arg("triangles") = gone.triangles,
                             py::arg("edges") = gone.edges);
           },
           py::arg("body"), "What has torn, by element numbers.")
      .def("measure",
           [](const Running& r, const py::object& body) {
             return body.is_none() ? r.simulation().measure() : r.simulation().measure(r.body(body));
           },
           py::arg("body") = py::none(), "Of a body, or of all together.")
      .def("write_animation",
           [](const Running& r, const py::object& positions, const std::vector<int>& frames, const TornList& torn,
              const std::string& to, const std::filesystem::path& out) {
             write_animation(r.simulation(), positions, frames, torn, to, out);
           },
           py::arg("positions"), py::arg("frames"), py::arg("torn"), py::arg("to"), py::arg("out"),
           "What convert() does.")
      .def("ray_values", &Running::ray_values, py::arg("origin"), py::arg("direction"), py::arg("longest"),
           "What cast_ray() gives, as a tuple.")
      .def("nearest_values", &Running::nearest_values, py::arg("point"), py::arg("farthest"), py::arg("body"),
           "What closest_point() gives, as a tuple.")
      .def("contact_values", &Running::contact_values, "What contacts() gives, as tuples.")
      .def("event_values", &Running::event_values, "What events() gives, as tuples.")
      .def("constraint_error", [](const Running& r) { return r.simulation().constraint_error(); },
           "How far elements are from where their potentials want them, in units of their size (docs/compare.md).")
      .def("set_energy", [](Running& r, const py::object& b, double h) { r.simulation().set_energy(r.body(b), h); },
           py::arg("body"), py::arg("total"), "Aim for this total [J], then hold it.")
      .def("set_momentum",
           [](Running& r, const py::object& b, const py::object& p) {
             r.simulation().set_momentum(r.body(b), vector_of(p, "momentum"));
           },
           py::arg("body"), py::arg("momentum"), "P [kg m/s], by a push of the body as a whole.")
      .def("set_spin",
           [](Running& r, const py::object& b, const py::object& l) {
             r.simulation().set_spin(r.body(b), vector_of(l, "spin"));
           },
           py::arg("body"), py::arg("spin"), "L about the centre of mass [kg m^2/s], likewise.")
      .def("set_half_life",
           [](Running& r, const py::object& b, double seconds) { r.simulation().set_half_life(r.body(b), seconds); },
           py::arg("body"), py::arg("seconds"), "Of H - K [s]; infinity switches it off.")
      .def("add_impulse",
           [](Running& r, const py::object& b, const py::object& impulse, const py::object& point, double radius) {
             const int body = r.body(b);
             const Vec3 at = point.is_none() ? r.simulation().measure(body).center : vector_of(point, "point");
             r.simulation().add_impulse(body, vector_of(impulse, "impulse"), at, radius);
           },
           py::arg("body"), py::arg("impulse"), py::arg("point") = py::none(), py::arg("radius") = 0.0,
           "[N s]; at a point of the world [m], default the centre of mass.")
      .def("hold_energy",
           [](Running& r, const py::object& b, std::optional<double> h) { r.simulation().hold_energy(r.body(b), h); },
           py::arg("body"), py::arg("total"), "Hold this total [J] against all that comes; None: let go.")
      .def("hold_momentum",
           [](Running& r, const py::object& b, const py::object& p) {
             r.simulation().hold_momentum(r.body(b), optional_vector(p, "momentum"));
           },
           py::arg("body"), py::arg("momentum"), "Hold P [kg m/s]; None: let go.")
      .def("hold_spin",
           [](Running& r, const py::object& b, const py::object& l) {
             r.simulation().hold_spin(r.body(b), optional_vector(l, "spin"));
           },
           py::arg("body"), py::arg("spin"), "Hold L about the centre of mass [kg m^2/s]; None: let go.")
      .def("set_gravity",
           [](Running& r, const py::object& g) { r.simulation().set_gravity(vector_of(g, "gravity")); },
           py::arg("gravity"), "[m/s^2]")
      .def("set_parameter",
           [](Running& r, const py::object& b, int potential, const std::string& name, double value) {
             r.simulation().set_parameter(r.body(b), potential, name, value);
           },
           py::arg("body"), py::arg("potential"), py::arg("name"), py::arg("value"), "Material, while it runs.")
      .def("set_step", [](Running& r, double h) { r.simulation().set_step(h); }, py::arg("seconds"),
           "Length of the frames to come [s].")
      .def("set_iterations", [](Running& r, int n) { r.simulation().set_iterations(n); }, py::arg("cap"),
           "At most so many per step.")
      .def("set_budget", [](Running& r, double ms) { r.simulation().set_budget(ms); }, py::arg("milliseconds"),
           "Of a frame, as StepReport.work counts them; 0: no limit.")
      .def("set_friction", [](Running& r, double mu) { r.simulation().set_friction(mu); }, py::arg("coefficient"),
           "Of everything that touches, in place of what the scene says.")
      .def("set_wind",
           [](Running& r, const std::string& name, const py::object& velocity) {
             const int wind = r.simulation().find_wind(name);
             if (wind < 0) throw py::key_error("no wind \"" + name + "\" in the scene");
             r.simulation().set_wind(wind, vector_of(velocity, "velocity"));
           },
           py::arg("wind"), py::arg("velocity"), "Of the air [m/s], of a wind of the scene by name.")
      .def("move_collider",
           [](Running& r, const std::string& name, const py::object& position, const py::object& rotation) {
             Placing to{vector_of(position, "position"), {}};
             if (!rotation.is_none()) {
               const auto q = py::cast<std::array<double, 4>>(rotation);
               to.rotation = {q[0], q[1], q[2], q[3]};
             }
             r.simulation().move_collider(r.collider(name), to);
           },
           py::arg("collider"), py::arg("position"), py::arg("rotation") = py::none(),
           "Where it is at the end of the next frame [m], pushing on its way; rotation as a quaternion (x, y, z, w).")
      .def("set_collider",
           [](Running& r, const std::string& name, bool active) {
             r.simulation().set_collider(r.collider(name), active);
           },
           py::arg("collider"), py::arg("active"), "On or off, of a collider of the scene by name.")
      .def("set_anchor",
           [](Running& r, const std::string& name, bool active) {
             const int anchor = r.simulation().find_anchor(name);
             if (anchor < 0) throw py::key_error("no anchor \"" + name + "\" in the scene");
             r.simulation().set_anchor(anchor, active);
           },
           py::arg("anchor"), py::arg("active"), "On or off, of an anchor of the scene by name.")
      .def("move_anchor",
           [](Running& r, const py::object& which, const py::object& displacement) {
             const int anchor = py::isinstance<py::str>(which) ? r.simulation().find_anchor(py::cast<std::string>(which)).number()
                                                               : py::cast<int>(which);
             if (anchor < 0) throw py::key_error("no anchor " + std::string(py::repr(which)) + " in the scene");
             r.simulation().move_anchor(anchor, vector_of(displacement, "displacement"));
           },
           py::arg("anchor"), py::arg("displacement"), "Relative to where it was activated [m].")
      .def("pin",
           [](Running& r, const py::object& b, const std::vector<int>& vertices, double stiffness, bool hard) {
             AnchorSpec spec;
             spec.body = r.simulation().body_name(r.body(b));
             spec.vertices.indices = vertices, spec.stiffness = stiffness, spec.hard = hard;
             return r.simulation().add_anchor(spec).number();
           },
           py::arg("body"), py::arg("vertices"), py::arg("stiffness") = 1e4, py::arg("hard") = false,
           "Holds vertices of a body where they are; returns a number for move_anchor and unpin.")
      .def("unpin", [](Running& r, int anchor) { r.simulation().remove_anchor(anchor); }, py::arg("anchor"),
           "Removes what `pin` has made, with the energy of its springs.")
      .def("metrics_values",
           [](const Running& r, const StepReport& report) {
             std::vector<double> values;
             append_metrics_values(values, r.simulation(), report);
             return py::array_t<double>(py::ssize_t(values.size()), values.data());
           },
           py::arg("report"), "The rows of metrics(), one after another.")
      .def("draw",
           [](const Running& r, int width, int height, const std::string& color, double around, double up,
              double zoom) {
             std::string out;
             {
               py::gil_scoped_release release;
               out = picture(r, width, height, color, around, up, zoom);
             }
             return py::bytes(out);
           },
           py::arg("width"), py::arg("height"), py::arg("color"), py::arg("around"), py::arg("up"), py::arg("zoom"),
           "The bytes of picture().");

  module.def("metrics_columns", &metrics_columns);

  py::class_<ReportRun>(module, "ReportRun", "Frames for a page with curves and playback.")
      .def(py::init([](const std::string& label, const Running& r, int frames) {
             return ReportRun(label, r.simulation(), frames);
           }),
           py::arg("label"), py::arg("simulation"), py::arg("frames"))
      .def("frame", [](ReportRun& run, const Running& r, const StepReport& report) { run.frame(r.simulation(), report); },
           py::arg("simulation"), py::arg("report"), "After each step.");
  module.def(
      "write_report",
      [](const std::filesystem::path& file, const std::string& title, const std::string& description,
         const std::vector<const ReportRun*>& runs) { take(write_report(file, title, description, runs)); },
      py::arg("file"), py::arg("title"), py::arg("description"), py::arg("runs"));
  py::class_<Recorder>(module, "Recorder", "metrics.csv and positions.npy, a frame at a time.")
      .def(py::init([](const std::filesystem::path& directory, const Running& r, bool double_positions) {
             return take(Recorder::open(directory, r.simulation(), double_positions));
           }),
           py::arg("directory"), py::arg("simulation"), py::arg("double_positions") = false)
      .def("frame", [](Recorder& out, const Running& r, const StepReport& report) { out.frame(r.simulation(), report); },
           py::arg("simulation"), py::arg("report"), "After each step.");
}

}  // namespace verve::python
