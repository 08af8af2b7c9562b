#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/random.h"
#include "base/text.h"
#include "geometry/generators.h"
#include "model/scene_keys.h"

namespace verve {

namespace {

Mat3 rotation_from_vector(const Vec3& degrees) {
  const Vec3 v = degrees * (std::numbers::pi / 180);
  const double angle = norm(v);
  if (angle == 0) return Mat3::identity();
  const Vec3 n = v / angle;
  const double c = std::cos(angle), s = std::sin(angle);
  const Mat3 cross_n{{{{0, n.z, -n.y}, {-n.z, 0, n.x}, {n.y, -n.x, 0}}}};
  return Mat3::identity() * c + cross_n * s + outer(n, n) * (1 - c);
}

/// Lumped mass (design: rho V/4, rho A/3, rho l/2 per vertex) over the elements of the highest dimension.
std::vector<double> lumped_mass(const Mesh& mesh, double density) {
  std::vector<double> mass(mesh.vertices.size(), 0.0);
  const auto& x = mesh.vertices;
  if (!mesh.tetrahedra.empty()) {
    for (const auto& t : mesh.tetrahedra) {
      const double share = density * std::abs(tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]])) / 4;
      for (const int v : t) mass[v] += share;
    }
  } else if (!mesh.triangles.empty()) {
    for (const auto& t : mesh.triangles) {
      const double share = density * 0.5 * norm(cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])) / 3;
      for (const int v : t) mass[v] += share;
    }
  } else {
    for (const auto& e : mesh.edges) {
      const double share = density * norm(x[e[1]] - x[e[0]]) / 2;
      for (const int v : e) mass[v] += share;
    }
  }
  return mass;
}

/// Vertices of the body's mesh, ascending; out-of-range indices are reported.
std::vector<int> select(const Selection& s, const Body& body, const std::string& where, Diagnostics& out) {
  const Mesh& mesh = body.mesh;
  const int n = int(mesh.vertices.size()), points = int(body.embedding.vertices.size());
  const size_t problems = out.items().size();
  std::vector<char> chosen(n, s.all ? 1 : 0);
  for (size_t i = 0; i < s.indices.size(); ++i) {
    if (s.indices[i] < 0 || s.indices[i] >= n) {
      out.error(
          where + ".indices[" + std::to_string(i) + "]",
          "found " + std::to_string(s.indices[i]) + ", expected a vertex of the body, 0 to " + std::to_string(n - 1));
      continue;
    }
    chosen[s.indices[i]] = 1;
  }
  for (size_t i = 0; i < s.carried.size(); ++i) {
    if (s.carried[i] < 0 || s.carried[i] >= points) {
      out.error(where + ".carried[" + std::to_string(i) + "]",
                "found " + std::to_string(s.carried[i]) + ", expected " +
                    (points > 0 ? "a vertex of the carried surface, 0 to " + std::to_string(points - 1)
                                : "a body that carries a surface (embed)"));
      continue;
    }
    for (const int v : body.embedding.vertices[s.carried[i]]) chosen[v] = 1;
  }
  int near = -1;
  double best = 0;
  for (int v = 0; v < n; ++v) {
    const Vec3& x = mesh.vertices[v];
    if (s.box) {
      const auto& [lo, hi] = *s.box;
      if (x.x >= lo.x && x.y >= lo.y && x.z >= lo.z && x.x <= hi.x && x.y <= hi.y && x.z <= hi.z) chosen[v] = 1;
    }
    if (s.sphere && norm(x - s.sphere->first) <= s.sphere->second) chosen[v] = 1;
    if (s.nearest) {
      const double d = norm(x - *s.nearest);
      if (near < 0 || d < best) near = v, best = d;
    }
  }
  if (near >= 0) chosen[near] = 1;
  std::vector<int> vertices;
  for (int v = 0; v < n; ++v)
    if (chosen[v]) vertices.push_back(v);
  if (vertices.empty() && out.items().size() == problems)
    out.error(where, "found no vertex inside the selection, expected at least one");
  return vertices;
}

Expected<Mesh> load(const MeshSpec& spec, const std::string& where, const Mesh* around = nullptr) {
  Diagnostics notes;
  if (spec.mesh) {
    Mesh mesh = *spec.mesh;
    check_mesh(mesh, spec.repair, where, notes);
    if (notes.has_errors()) return notes;
    return {std::move(mesh), std::move(notes)};
  }
  if (!spec.file.empty()) return read_mesh(spec.file, spec.repair, spec.object);
  Expected<Mesh> made = generate_mesh(spec.generator, spec.parameters, around);
  if (!find_generator(spec.generator)->around_surface) return made;
  notes = made.diagnostics();  // about a parameter by its name, or about the generator
  for (Diagnostic& d : notes.items()) d.where = where + (d.where == spec.generator ? "" : "." + d.where);
  if (!made) return notes;
  return {std::move(*made), std::move(notes)};
}

}  // namespace

Expected<Mesh> load_surface(const MeshSpec& spec, const std::string& where) {
  Expected<Mesh> mesh = spec.generator.empty() ? load(spec, where) : generate_skin(spec.generator, spec.parameters);
  if (!mesh) return mesh;
  Diagnostics notes = mesh.diagnostics();
  Mesh skin = skin_of(*mesh);
  if (skin.triangles.empty()) {
    notes.error(where, "found a mesh without triangles and tetrahedra, expected a surface");
    return notes;
  }
  return {std::move(skin), std::move(notes)};
}

namespace {

/// A surface this far outside, in units of the carrier's bounding box, was hardly meant to be there.
constexpr double far_outside = 0.1;

void embed_surface(Body& body, Mesh surface, const std::string& where, Diagnostics& out) {
  if (body.mesh.tetrahedra.empty()) {
    out.error(where, "found a surface to carry and a body \"" + body.name +
                         "\" without tetrahedra, expected tetrahedra: only they carry a surface");
    return;
  }
  body.embedded = std::move(surface);
  body.embedding = embed(body.mesh, body.embedded.vertices);
  Vec3 low = body.mesh.vertices[0], high = low;
  for (const Vec3& p : body.mesh.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  if (body.embedding.farthest > far_outside * norm(high - low))
    out.warning(where, "the surface reaches " + format_value(body.embedding.farthest) +
                           " m beyond the body, which is " + format_value(norm(high - low)) +
                           " m large: what is outside follows the nearest tetrahedron");
}

/// The placement with the scale that its size asks for. `shown`: what is seen of the body.
Placement with_scale(Placement place, const Mesh& shown, const std::string& where, Diagnostics& out) {
  if (!place.size || shown.vertices.empty()) return place;
  Vec3 low = shown.vertices[0], high = low;
  for (const Vec3& p : shown.vertices)
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  const double longest = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  if (longest > 0)
    place.scale = *place.size / longest;
  else
    out.error(where, "found a size and a mesh that is a point, expected one with an extent");
  return place;
}

void scale_mesh(Mesh& mesh, double scale) {
  for (Vec3& x : mesh.vertices) x = x * scale;
}
void place_mesh(Mesh& mesh, const Placement& p) {
  const Mat3 rotation = rotation_from_vector(p.rotate);
  for (Vec3& x : mesh.vertices) x = rotation * x + p.translate;
}

/// Stretched about the centre, and turned along an axis.
Vec3 stretched_and_twisted(Vec3 d, const Vec3& stretch, const Vec3& twist) {
  d = {d.x * stretch.x, d.y * stretch.y, d.z * stretch.z};
  if (const double rate = norm(twist); rate > 0) d = rotation_from_vector(twist * (dot(d, twist) / rate)) * d;
  return d;
}

/// The rest shape in a pose. `mass` is that of each vertex.
std::vector<Vec3> posed(const Mesh& mesh, const std::vector<double>& mass, const PoseSpec& pose) {
  Vec3 center{}, low = mesh.vertices[0], high = low;
  double total = 0;
  for (size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3& x = mesh.vertices[v];
    center += x * mass[v], total += mass[v];
    for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], x[a]), high[a] = std::max(high[a], x[a]);
  }
  center = center / total;
  // bent about n, along the longest of the axes that are not n itself
  const double curvature = norm(pose.bend) * (std::numbers::pi / 180);
  const Vec3 n = curvature > 0 ? pose.bend / norm(pose.bend) : Vec3{};
  Vec3 along{};
  double longest = 0;
  for (int a = 0; a < 3; ++a) {
    Vec3 axis{};
    axis[a] = 1;
    axis -= n * dot(n, axis);
    const double reach = (high[a] - low[a]) * norm(axis);
    if (reach > longest) longest = reach, along = axis / norm(axis);
  }
  const Vec3 up = cross(n, along);
  std::vector<Vec3> out;
  for (const Vec3& x : mesh.vertices) {
    Vec3 d = stretched_and_twisted(x - center, pose.stretch, pose.twist);
    if (curvature > 0) {
      // a line along the body becomes an arc of its length; what is above it keeps its distance
      const double angle = curvature * dot(d, along), radius = 1 / curvature - dot(d, up);
      d = along * (radius * std::sin(angle)) + up * (1 / curvature - radius * std::cos(angle)) + n * dot(d, n);
    }
    out.push_back(center + d);
  }
  return out;
}

/// Parameters that contradict each other, at the start or at any keyframe. Those that differ between elements are
/// looked at element by element when the batch is made.
void check_contradictions(const PotentialSpec& spec, const std::string& where, Diagnostics& out) {
  if (!spec.arrays.empty()) return;
  std::set<double> times{0};
  for (const auto& [name, track] : spec.parameters)
    for (const auto& key : track.keys) times.insert(std::max(key.time, 0.0));
  for (const double time : times) {
    const std::string fault = find_potential(spec.type)->check(parameters_at(spec, time));
    if (fault.empty()) continue;
    out.error(where, fault + (time > 0 ? " at " + format_number(time) + " s" : ""));
    return;
  }
}

/// What the potentials of a body are made from, the rows aside.
std::vector<PotentialInput> potential_inputs(const Body& body, const BodySpec& spec, const std::vector<int>& rows,
                                             const std::string& where, Diagnostics& out) {
  std::vector<PotentialInput> inputs;
  for (size_t k = 0; k < spec.potentials.size(); ++k) {
    const PotentialSpec& potential = spec.potentials[k];
    const std::string place = where + ".potentials[" + std::to_string(k) + "]";
    PotentialInput& in = inputs.emplace_back(PotentialInput{
        body.mesh, rows, body.parameters[k], potential.arrays, {}, potential.groups, {}, potential.formula,
                                                           potential.law});
    if (potential.region) {
      in.region.assign(body.mesh.vertices.size(), 0);
      for (const int v : select(*potential.region, body, place + ".region", out)) in.region[v] = 1;
    }
    for (size_t g = 0; g < potential.groups.size(); ++g)
      for (size_t i = 0; i < potential.groups[g].size(); ++i)
        if (const int v = potential.groups[g][i]; v < 0 || v >= body.count)
          out.error(
              place + ".groups[" + std::to_string(g) + "][" + std::to_string(i) + "]",
              "found " + std::to_string(v) + ", expected a vertex of the body, 0 to " + std::to_string(body.count - 1));
    for (size_t i = 0; i < potential.examples.size(); ++i) {
      const std::string example = place + ".examples[" + std::to_string(i) + "]";
      Expected<Mesh> mesh = load(potential.examples[i], example);
      out.append(mesh.diagnostics());
      if (!mesh) continue;
      scale_mesh(*mesh, body.place.scale);
      place_mesh(*mesh, body.place);
      const auto elements = [](const Mesh& m) { return m.tetrahedra.size() + m.triangles.size() + m.edges.size(); };
      if (mesh->vertices.size() == body.mesh.vertices.size() && elements(*mesh) == elements(body.mesh) &&
          (mesh->tetrahedra != body.mesh.tetrahedra || mesh->triangles != body.mesh.triangles ||
           mesh->edges != body.mesh.edges)) {
        out.error(example,
                  "found elements over other vertices or in another order than those of the body, expected the same "
                  "elements in another pose");
        continue;
      }
      if (mesh->vertices.size() != body.mesh.vertices.size() || mesh->tetrahedra != body.mesh.tetrahedra ||
          mesh->triangles != body.mesh.triangles || mesh->edges != body.mesh.edges) {
        out.error(example, "found " + std::to_string(mesh->vertices.size()) + " vertices and " +
                               std::to_string(mesh->tetrahedra.size() + mesh->triangles.size() + mesh->edges.size()) +
                               " elements, expected the same vertices and elements as the body in another pose (" +
                               std::to_string(body.mesh.vertices.size()) + " and " +
                               std::to_string(body.mesh.tetrahedra.size() + body.mesh.triangles.size() +
                                              body.mesh.edges.size()) +
                               ")");
        continue;
      }
      in.examples.push_back(std::move(mesh->vertices));
    }
    for (const PoseSpec& pose : potential.poses) in.examples.push_back(posed(body.mesh, body.mass, pose));
  }
  return inputs;
}

bool broken_since(const Diagnostics& out, size_t problems) {
  for (size_t i = problems; i < out.items().size(); ++i)
    if (out.items()[i].severity == Severity::error) return true;
  return false;
}

Potentials make_batches(const std::vector<PotentialInput>& inputs, const BodySpec& spec, const std::string& where,
                        Diagnostics& out) {
  Potentials batches;
  for (size_t k = 0; k < spec.potentials.size(); ++k) {
    batches.push_back(find_potential(spec.potentials[k].type)
                          ->make(inputs[k], where + ".potentials[" + std::to_string(k) + "]", out));
    if (batches.back()) batches.back()->projection = spec.potentials[k].projection;
  }
  return batches;
}

/// Every vertex of an element has to have a mass. `mass` of a row.
template <class Mass>
void check_masses(const Body& body, const Potentials& potentials, Mass&& mass, const std::string& where,
                  Diagnostics& out) {
  for (size_t k = 0; k < potentials.size(); ++k) {
    const Potential& potential = *potentials[k];
    const std::string place = where + ".potentials[" + std::to_string(k) + "]";
    for (int e = 0; e < potential.elements(); ++e) {
      bool massless = false;
      for (int c = 0; c < potential.corners(e); ++c) massless |= mass(potential.vertex(e, c)) == 0;
      if (massless) {
        out.error(place, "element " + std::to_string(e) +
                             " uses a vertex without mass; expected every vertex of a "
                             "potential to belong to a " +
                             (body.mesh.tetrahedra.empty() ? "triangle" : "tetrahedron"));
        break;
      }
    }
  }
}

void number_rows_as_vertices(Body& body) {
  body.row_of_vertex.resize(body.count);
  for (int v = 0; v < body.count; ++v) body.row_of_vertex[v] = v;
}

/// Renumbers by the fill-reducing order of the body's own matrix, then builds the batches in that order.
void build_batches(Body& body, Potentials& potentials, const BodySpec& spec, const std::vector<MassPair>& pairs,
                   const std::string& where, Diagnostics& out) {
  const int n = body.count;
  number_rows_as_vertices(body);
  const size_t problems = out.items().size();
  const std::vector<PotentialInput> inputs = potential_inputs(body, spec, body.row_of_vertex, where, out);
  if (broken_since(out, problems)) return;

  const auto first = make_batches(inputs, spec, where, out);
  if (broken_since(out, problems)) return;
  SymmetricAssembly pattern;
  pattern.begin_pattern(n);
  for (int v = 0; v < n; ++v) pattern.add(v, v, 1);
  for (const auto& batch : first) batch->add_weights(pattern, 0, 1);
  for (const MassPair& pair : pairs) pattern.add(pair.a, pair.b, 1);
  pattern.finish_pattern();
  body.vertex_of_row = elimination_order(pattern.matrix());
  for (int r = 0; r < n; ++r) body.row_of_vertex[body.vertex_of_row[r]] = r;
  potentials = make_batches(inputs, spec, where, out);
  check_masses(body, potentials, [&](int row) { return body.mass[body.vertex_of_row[row]]; }, where, out);
}

/// Leaves of a whole body, whose rows are numbered as its vertices, what is here of it.
void take_share(CompiledScene& compiled, int index, const BodySpec& spec, const ShareBody& share,
                std::vector<Vec4>& x, std::vector<Vec4>& v, const std::string& where, Diagnostics& out) {
  Body& body = compiled.model.bodies[index];
  Potentials& potentials = compiled.matter.bodies[index].potentials;
  const BodyShare here = share(body);
  const int owned = here.rows->owned(), first = body.first;
  std::vector<int> row(body.count, -1);
  std::vector<char> is_owned(body.count, 0);
  for (int r = 0; r < int(here.vertices.size()); ++r) row[here.vertices[r]] = r, is_owned[here.vertices[r]] = r < owned;
  const auto mine = [&](int vertex) { return is_owned[vertex] != 0; };

  const size_t problems = out.items().size();
  std::vector<PotentialInput> inputs = potential_inputs(body, spec, row, where, out);
  if (broken_since(out, problems)) return;
  for (PotentialInput& in : inputs) in.owned = is_owned;
  potentials = make_batches(inputs, spec, where, out);
  if (broken_since(out, problems)) return;
  check_masses(body, potentials, [&](int r) { return body.mass[here.vertices[r]]; }, where, out);
  inputs.clear();

  for (Anchor& anchor : compiled.matter.anchors) {
    if (anchor.body != index) continue;
    std::erase_if(anchor.rows, [&](int vertex) { return !mine(vertex); });
    for (int& r : anchor.rows) r = row[r];
  }
  for (ConstantForce& force : compiled.model.forces) {
    if (force.body != index) continue;
    size_t kept = 0;
    for (size_t i = 0; i < force.rows.size(); ++i)
      if (mine(force.rows[i])) force.rows[kept] = row[force.rows[i]], force.share[kept++] = force.share[i];
    force.rows.resize(kept), force.share.resize(kept);
  }
  for (WindSurface& wind : compiled.matter.wind_surfaces) {  // all triangles at vertices of ours
    if (wind.body != index) continue;
    std::erase_if(wind.triangles, [&](const auto& t) { return !mine(t[0]) && !mine(t[1]) && !mine(t[2]); });
    std::vector<std::vector<int>> uses(owned);
    for (size_t t = 0; t < wind.triangles.size(); ++t)
      for (int& r : wind.triangles[t])
        if (r = row[r]; r < owned) uses[r].push_back(int(t));
    wind.rows.clear(), wind.use.clear(), wind.first_use = {0};
    for (int r = 0; r < owned; ++r) {
      if (uses[r].empty() || !(body.mass[here.vertices[r]] > 0)) continue;
      wind.rows.push_back(r);
      wind.use.insert(wind.use.end(), uses[r].begin(), uses[r].end());
      wind.first_use.push_back(int(wind.use.size()));
    }
  }
  const auto take_rows = [&](auto& rows) {
    std::remove_reference_t<decltype(rows)> own;
    for (int r = 0; r < owned; ++r) own.push_back(rows[here.vertices[r]]);
    rows = std::move(own);
  };
  take_rows(body.mass), take_rows(body.rest);
  for (int r = 0; r < owned; ++r)
    x.push_back(compiled.model.initial_x[first + here.vertices[r]]),
        v.push_back(compiled.model.initial_v[first + here.vertices[r]]);
  Mesh mesh;
  for (const int vertex : here.vertices) mesh.vertices.push_back(body.mesh.vertices[vertex]);
  const auto take_elements = [&](const auto& elements, auto& kept) {
    for (auto e : elements) {
      if (!mine(e[0])) continue;
      for (int& corner : e) corner = row[corner];
      kept.push_back(e);
    }
  };
  take_elements(body.mesh.tetrahedra, mesh.tetrahedra), take_elements(body.mesh.triangles, mesh.triangles);
  take_elements(body.mesh.edges, mesh.edges);
  body.mesh = std::move(mesh);
  body.shared = here.rows, body.count = owned;
  body.vertex_of_row.assign(here.vertices.begin(), here.vertices.begin() + owned);
  body.row_of_vertex.clear(), body.row_of_vertex.shrink_to_fit();
}

/// x pressed smoothly into [-half, half]. The CPD paper projects vertices onto the box, which leaves flat and collapsed
/// elements that may unfold inside out; this one is as narrow and keeps the order of points, so every element keeps its
/// orientation.
double pressed(double x, double half) {
  if (half == 0) return 0;
  const double t = x / half;
  return x / std::sqrt(std::sqrt(1 + t * t * t * t));
}

}  // namespace

WindSurface make_wind_surface(int index, const Body& body, const std::vector<std::array<int, 3>>& triangles) {
  WindSurface surface;
  surface.body = index;
  std::vector<std::vector<int>> uses(body.count);
  for (const auto& t : triangles) {
    auto& rows = surface.triangles.emplace_back();
    for (int i = 0; i < 3; ++i) {
      rows[i] = body.row_of_vertex[t[i]];
      uses[rows[i]].push_back(int(surface.triangles.size()) - 1);
    }
  }
  surface.first_use.push_back(0);
  for (int r = 0; r < body.count; ++r) {
    if (uses[r].empty() || !(body.mass[r] > 0)) continue;
    surface.rows.push_back(r);
    surface.use.insert(surface.use.end(), uses[r].begin(), uses[r].end());
    surface.first_use.push_back(int(surface.use.size()));
  }
  return surface;
}

void set_initial_state(const Body& body, const InitialState& initial, Vec4* x, Vec4* v) {
  const auto center_of_mass = [&] {
    Vec3 c{};
    for (int r = 0; r < body.count; ++r) c += x[r].xyz() * body.mass[r];
    return c / body.total_mass;
  };
  for (int r = 0; r < body.count; ++r) x[r] = body.rest[r];
  const Vec3 c0 = center_of_mass();
  for (int vertex = 0; vertex < body.count; ++vertex) {
    Vec3 d = x[body.row_of_vertex[vertex]].xyz() - c0;
    d = stretched_and_twisted(d, initial.stretch, initial.twist);
    if (initial.squash) {
      for (int a = 0; a < 3; ++a) d[a] = pressed(d[a], 0.5 * (*initial.squash)[a]);
    }
    if (initial.noise > 0) d += random_in_ball(initial.seed, std::uint64_t(vertex)) * initial.noise;
    x[body.row_of_vertex[vertex]] = Vec4(c0 + d);
  }
  const Vec3 c = center_of_mass();
  for (int r = 0; r < body.count; ++r)  // vertices that no element uses stay where they are
    v[r] = body.mass[r] > 0 ? Vec4(initial.velocity + cross(initial.angular_velocity, x[r].xyz() - c)) : Vec4();
}

ParameterValues parameters_at(const PotentialSpec& spec, double time) {
  ParameterValues values;
  for (const auto& [name, track] : spec.parameters) {
    if (const auto value = parameter_at(track, time)) values[name] = *value;
  }
  return values;
}

std::optional<double> parameter_at(const Track<double>& track, double time) {
  const std::optional<double> value = track.at(time);
  return value || track.empty() ? value : track.keys.front().value;
}

void report_mesh_files(const Scene& scene, Diagnostics& out) {
  const auto look_into = [&](const MeshSpec& spec) {
    std::error_code failed;
    if (spec.file.empty() || !std::filesystem::is_regular_file(spec.file, failed)) return;
    const Expected<Mesh> mesh = read_mesh(spec.file, spec.repair, spec.object);
    if (!mesh) out.append(mesh.diagnostics());
  };
  for (const BodySpec& body : scene.bodies) {
    look_into(body.mesh);
    if (body.embed) look_into(*body.embed);
  }
}

int find_body(const Model& model, const std::string& name) {
  for (size_t b = 0; b < model.bodies.size(); ++b)
    if (model.bodies[b].count > 0 && model.bodies[b].name == name) return int(b);
  return -1;
}

Anchor compile_anchor(const AnchorSpec& spec, const Model& model, const std::string& where, Diagnostics& out) {
  std::vector<const Body*> bodies;
  for (const Body& body : model.bodies) bodies.push_back(&body);
  return compile_anchor(spec, bodies, where, out);
}

Anchor compile_anchor(const AnchorSpec& spec, std::span<const Body* const> bodies, const std::string& where,
                      Diagnostics& out) {
  const auto find = [&](const std::string& name) {
    const auto found = std::find_if(bodies.begin(), bodies.end(),
                                    [&](const Body* body) { return body && body->count > 0 && body->name == name; });
    return found == bodies.end() ? -1 : int(found - bodies.begin());
  };
  Anchor anchor;
  anchor.body = find(spec.body);
  if (anchor.body < 0) return anchor;
  const Body& body = *bodies[anchor.body];
  const std::vector<int> vertices = select(spec.vertices, body, where + ".vertices", out);
  if (spec.to_body.empty()) {
    for (const int v : vertices) anchor.rows.push_back(body.row_of_vertex[v]);
    return anchor;
  }
  anchor.other = find(spec.to_body);
  if (anchor.other < 0) {
    anchor.body = -1;
    return anchor;
  }
  const Body& other = *bodies[anchor.other];
  for (const int v : vertices) {
    int best = 0;
    for (int w = 1; w < other.count; ++w) {
      if (norm(other.mesh.vertices[w] - body.mesh.vertices[v]) <
          norm(other.mesh.vertices[best] - body.mesh.vertices[v]))
        best = w;
    }
    if (spec.within && norm(other.mesh.vertices[best] - body.mesh.vertices[v]) > *spec.within) continue;
    anchor.rows.push_back(body.row_of_vertex[v]);
    anchor.other_rows.push_back(other.row_of_vertex[best]);
  }
  if (!vertices.empty() && anchor.rows.empty())
    out.error(
        where + ".within",
        "found no vertex of \"" + spec.body + "\" that near to \"" + spec.to_body + "\", expected at least one");
  return anchor;
}

ConstantForce compile_force(const ForceSpec& spec, const Model& model, const std::string& where, Diagnostics& out) {
  ConstantForce force;
  force.body = find_body(model, spec.body);
  force.force = spec.force;
  if (force.body < 0) return force;
  const Body& body = model.bodies[force.body];
  double sum = 0;
  for (const int v : select(spec.vertices, body, where + ".vertices", out)) {
    force.rows.push_back(body.row_of_vertex[v]);
    force.share.push_back(body.mass[body.row_of_vertex[v]]);
    sum += force.share.back();
  }
  if (sum > 0) {
    for (double& share : force.share) share /= sum;
  } else if (!force.rows.empty()) {
    out.error(where + ".vertices", "found only vertices without mass, expected some that move");
  }
  return force;
}

WindSurface compile_wind(const WindSpec& spec, const Model& model, const std::string& where, Diagnostics& out) {
  const int body = find_body(model, spec.body);
  if (body < 0) return {};
  WindSurface wind = make_wind_surface(body, model.bodies[body], surface(model.bodies[body].mesh));
  if (wind.triangles.empty())
    out.error(where + ".body", "found a body without triangles or tetrahedra, expected one that wind can act on");
  return wind;
}

static std::optional<CompiledBody> compile_body(const BodySpec& spec, const std::string& where, Diagnostics& out,
                                                bool whole) {
  for (size_t k = 0; k < spec.potentials.size(); ++k)
    check_contradictions(spec.potentials[k], where + ".potentials[" + std::to_string(k) + "]", out);
  Placement place = spec.place;
  std::optional<Expected<Mesh>> surface;
  if (spec.embed) {
    surface = load_surface(*spec.embed, where + ".embed");
    out.append(surface->diagnostics());
    if (!*surface) return std::nullopt;
    place = with_scale(place, **surface, where + ".place.size", out);
    scale_mesh(**surface, place.scale);  // what is made around it has lengths in metres of the scene
  }
  Expected<Mesh> mesh = load(spec.mesh, where + ".mesh", surface ? &**surface : nullptr);
  out.append(mesh.diagnostics());
  if (!mesh) return std::nullopt;
  if (!surface) place = with_scale(place, *mesh, where + ".place.size", out);
  const GeneratorInfo* generator = find_generator(spec.mesh.generator);
  if (!surface || !generator || !generator->around_surface) scale_mesh(*mesh, place.scale);

  CompiledBody out_body;
  Body& body = out_body.body;
  Potentials& potentials = out_body.matter.potentials;
  body.name = spec.name;
  body.mesh = std::move(*mesh);
  body.place = place;
  place_mesh(body.mesh, place);
  if (surface) {
    place_mesh(**surface, place);
    embed_surface(body, std::move(**surface), where + ".embed", out);
  }
  body.count = int(body.mesh.vertices.size());

  std::vector<double> mass = lumped_mass(body.mesh, spec.density);
  for (const double m : mass) body.total_mass += m;
  if (!(body.total_mass > 0) || !std::isfinite(body.total_mass)) {
    out.error(where + ".mesh",
              "found a total mass of " + format_number(body.total_mass) + " kg, expected a finite mass > 0");
    return std::nullopt;
  }
  double scale = 1;
  if (spec.mass) {
    scale = *spec.mass / body.total_mass;
    for (double& m : mass) m *= scale;
    body.total_mass = *spec.mass;
  }
  for (const PotentialSpec& p : spec.potentials) body.parameters.push_back(parameters_at(p, 0));
  body.mass = mass;  // by vertex until the rows are known
  std::vector<MassPair> pairs;
  if (spec.mass_matrix == MassMatrix::consistent) pairs = mass_pairs(body.mesh, spec.density * scale);
  if (whole) {
    build_batches(body, potentials, spec, pairs, where, out);
  } else {
    number_rows_as_vertices(body);
    body.vertex_of_row = body.row_of_vertex;
  }
  if (body.vertex_of_row.empty()) return std::nullopt;  // with the reasons in out
  body.coupling = mass_coupling(body.mesh, pairs, body.row_of_vertex);
  body.rest.resize(body.count);
  for (int r = 0; r < body.count; ++r) {
    body.mass[r] = mass[body.vertex_of_row[r]];
    body.rest[r] = Vec4(body.mesh.vertices[body.vertex_of_row[r]]);
  }
  if (std::any_of(spec.potentials.begin(), spec.potentials.end(), [](const auto& p) { return !p.tear.empty(); }) &&
      potentials.size() == spec.potentials.size())
    body.tearing = std::make_unique<const Tearing>(body, potentials, spec, where, out);
  if (std::any_of(spec.potentials.begin(), spec.potentials.end(), [](const auto& p) { return p.yield.has_value(); }) &&
      potentials.size() == spec.potentials.size())
    body.plasticity = std::make_unique<const Plasticity>(body, potentials, spec);
  return out_body;
}

std::optional<CompiledBody> compile_body(const BodySpec& spec, const std::string& where, Diagnostics& out) {
  return compile_body(spec, where, out, true);
}

Expected<CompiledScene> compile(const Scene& scene, const ShareBody& share) {
  Diagnostics out;
  CompiledScene compiled;
  Model& model = compiled.model;  // (no structured binding: clang 14 does not capture those)
  Matter& matter = compiled.matter;
  for (size_t b = 0; b < scene.bodies.size(); ++b) {
    std::optional<CompiledBody> made = compile_body(scene.bodies[b], "bodies[" + std::to_string(b) + "]", out, !share);
    if (!made) continue;
    made->body.first = made->body.first_vertex = model.rows;
    model.rows += made->body.count;
    model.bodies.push_back(std::move(made->body)), matter.bodies.push_back(std::move(made->matter));
  }
  if (out.has_errors()) return out;

  for (size_t a = 0; a < scene.anchors.size(); ++a)
    matter.anchors.push_back(compile_anchor(scene.anchors[a], model, "anchors[" + std::to_string(a) + "]", out));
  for (size_t f = 0; f < scene.forces.size(); ++f)
    model.forces.push_back(compile_force(scene.forces[f], model, "forces[" + std::to_string(f) + "]", out));
  for (size_t w = 0; w < scene.winds.size(); ++w)
    matter.wind_surfaces.push_back(compile_wind(scene.winds[w], model, "winds[" + std::to_string(w) + "]", out));
  compile_contact(scene, compiled, out);
  if (out.has_errors()) return out;

  model.initial_x.resize(model.rows);
  model.initial_v.resize(model.rows);
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    set_initial_state(body, scene.bodies[b].initial, model.initial_x.data() + body.first,
                      model.initial_v.data() + body.first);
  }
  if (share) {
    std::vector<Vec4> x, v;
    for (size_t b = 0; b < model.bodies.size(); ++b)
      take_share(compiled, int(b), scene.bodies[b], share, x, v, "bodies[" + std::to_string(b) + "]", out);
    model.rows = 0;
    for (Body& body : model.bodies) body.first = body.first_vertex = model.rows, model.rows += body.count;
    model.initial_x = std::move(x), model.initial_v = std::move(v);
    if (out.has_errors()) return out;
  }
  return {std::move(compiled), std::move(out)};
}

}  // namespace verve
