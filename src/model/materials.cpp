// The materials that have names. Numbers are representative of what the source measured; ranges are in
// docs/materials.md. What a body is made of them is decided by docs/decisions/001-materials.md.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <stdexcept>

#include "model/scene_keys.h"
#include "verve/diagnostics.h"
#include "verve/material.h"

namespace verve {

namespace {

/// Slowest oscillation of a body [rad/s]. Of a solid: shear waves across 0.3 m. Of sheets and ropes: 0.5 m that hangs
/// from its end, as a chain (1.2 sqrt(g/l), Bernoulli) and as a clamped strip (3.516 sqrt(B/m) / l^2).
double slowest(const MaterialInfo& m) {
  if (m.dimension == 3) {
    const double shear = m.young / (2 * (1 + m.poisson)), size = 0.3;
    return std::numbers::pi / size * std::sqrt(shear / m.density);
  }
  const double length = 0.5, chain = 1.2026 * std::sqrt(9.81 / length);
  const double strip = 3.516 * std::sqrt(m.bending / m.body_density()) / (length * length);
  return std::hypot(chain, strip);
}

/// Least half-life [s]. The dial takes from the rebound as well while a body touches a collider (docs/contact.md), so
/// that what is shorter than a few frames eats bounces whole: measured in docs/decisions/001-materials.md.
constexpr double least_half_life = 0.25;

/// Half of the energy goes in ln 2 / (loss w). An impact is half an oscillation, which leaves exp(-pi loss) of it.
MaterialInfo complete(MaterialInfo m) {
  m.half_life = std::max(least_half_life, std::numbers::ln2 / (m.loss * slowest(m)));
  m.restitution = std::exp(-0.5 * std::numbers::pi * m.loss);
  // two digits are as many as the loss factors have
  const auto rounded = [](double x) {
    const double unit = std::pow(10, std::floor(std::log10(x)) - 1);
    return std::round(x / unit) * unit;
  };
  m.half_life = rounded(m.half_life), m.restitution = std::min(rounded(m.restitution), 1.0);
  return m;
}

/// Bending stiffness of a homogeneous plate [N m].
double plate(double young, double poisson, double thickness) {
  return young * thickness * thickness * thickness / (12 * (1 - poisson * poisson));
}

std::vector<MaterialInfo> make_table() {
  const char* gelatin =
      "Bonavia 2025 (arXiv:2512.20502): 277 kPa at water to gelatin 2:1, 4.3 kPa at 20:1, a power law between; loss "
      "factors of gels below 0.1: Clark and Ross-Murphy 1987, Structural and mechanical properties of biopolymer gels";
  const char* tissue =
      "modulus: ultrasound and compression of the gluteal region, J. Phys. Ther. Sci. 34, 777 (2022); density: Mech. "
      "Mater. 44, 174 (2012), Table 3; loss factors of soft tissue 0.1 to 0.5: Fung, Biomechanics";
  const char* cellular =
      "open-cell polyurethane, E = 45 MPa (density / 1200)^2 and Poisson's ratio 1/3: Gibson and Ashby, Cellular "
      "Solids; loss from ball rebound (ASTM D3574, 35 to 50 %)";
  const char* kawabata =
      "representative of Kawabata's tests (KES-F: extension at 490 N/m, bending rigidity, thickness): Kawabata and "
      "Niwa 1989, J. Text. Inst. 80, 19";
  std::vector<MaterialInfo> out = {
      {"jelly", "firm gelatin jelly, 5 parts of water", 3, 1040, 5.3e4, 0.45, 0.05, 0.3, 0, 0, gelatin, "#d8385e"},
      {"rubber", "unfilled natural rubber", 3, 930, 1.5e6, 0.45, 0.1, 0.9, 0, 0,
       "E 1.5 to 2.5 MPa, 920 to 930 kg/m^3: Ashby, Materials Selection in Mechanical Design; loss from rebound "
       "resilience (ISO 4662) of 70 to 75 %",
       "#3d4450"},
      {"gummy", "gummy sweets: gelatin, 2 parts of water", 3, 1100, 2.77e5, 0.45, 0.1, 0.6, 0, 0, gelatin, "#e8912d"},
      {"foam", "cushion foam", 3, 50, 7.8e4, 0.33, 0.25, 0.6, 0, 0, cellular, "#e6cf8a"},
      {"muscle", "relaxed skeletal muscle", 3, 1050, 6.2e4, 0.45, 0.3, 0.3, 0, 0, tissue, "#a8403c"},
      {"fat", "fat under the skin", 3, 950, 2.6e4, 0.45, 0.3, 0.3, 0, 0, tissue, "#ecc65c"},
      {"sponge", "light bath sponge", 3, 30, 2.8e4, 0.33, 0.3, 0.6, 0, 0, cellular, "#f2b632"},
      {"leather", "upholstery leather", 2, 900, 1.5e8, 0.1, 0.1, 0.5, 1.2e-3, plate(1.5e8, 0.1, 1.2e-3),
       "E 0.1 to 0.5 GPa, 810 to 1050 kg/m^3, Poisson's ratio 0.05 to 0.15: Ashby, Materials Selection in Mechanical "
       "Design; bends as a homogeneous plate",
       "#7a4a2a"},
      {"cotton", "shirt cotton, plain weave, 130 g/m^2", 2, 130 / 0.35, 1e4 / 0.35e-3, 0, 0.25, 0.4, 0.35e-3, 8e-6,
       kawabata, "#dfe3e8"},
      {"silk", "silk, 16 momme, 69 g/m^2", 2, 69 / 0.15, 8e3 / 0.15e-3, 0, 0.2, 0.25, 0.15e-3, 3e-6, kawabata,
       "#b04a9c"},
      {"denim", "denim, 12 oz per square yard, 407 g/m^2", 2, 407 / 0.95, 9.4e3 / 0.95e-3, 0, 0.25, 0.5, 0.95e-3,
       1.7e-5,
       "KES-F of six denims: extension 4.7 to 5.7 % at 490 N/m, bending rigidity 0.14 to 0.23 gf cm^2/cm, 0.8 to 1.2 "
       "mm: J. Textiles 2016, 4614168, Table 5",
       "#34527e"},
      {"paper", "copy paper, 80 g/m^2", 2, 800, 3.5e9, 0.3, 0.05, 0.3, 1e-4, plate(3.5e9, 0.3, 1e-4),
       "E 2 to 5 GPa across and along the machine, geometric mean of Poisson's ratios 0.3: Niskanen, Paper Physics; "
       "bends as a homogeneous plate",
       "#f4f1e6"},
      {"rope", "climbing rope, 10 mm, 62 g/m", 1, 62e-3 / (std::numbers::pi * 25e-6),
       9.8e3 / (std::numbers::pi * 25e-6), 0, 0.2, 0.25, 10e-3, 9.8e3 * 25e-6 / 4 / 12,
       "8 % longer under 80 kg (UIAA 101 and EN 892 allow 10 %); bending of 12 strands that slide on each other, EA "
       "r^2/4 of a solid rod over their number",
       "#2f7d5b"},
      {"steel_sheet", "sheet steel, 0.5 mm", 2, 7850, 2.05e11, 0.29, 2e-3, 0.6, 5e-4, plate(2.05e11, 0.29, 5e-4),
       "E 200 to 215 GPa, Poisson's ratio 0.285 to 0.295, loss factors to 3e-3: Ashby, Materials Selection in "
       "Mechanical Design",
       "#8d98a5"},
  };
  for (MaterialInfo& m : out) m = complete(std::move(m));
  return out;
}

PotentialSpec potential(const char* type, std::map<std::string, Track<double>> parameters) {
  PotentialSpec out;
  out.type = type, out.parameters = std::move(parameters);
  return out;
}

/// What a body of this material is held together by: docs/decisions/001-materials.md.
std::vector<PotentialSpec> potentials_of(const MaterialInfo& m) {
  const auto number = [](double value) { return Track<double>(value); };
  if (m.dimension == 3)
    return {potential("stable_neo_hookean", {{"young", number(m.young)}, {"poisson", number(m.poisson)}})};
  if (m.dimension == 2) {
    const PotentialSpec bending =
        potential("bending", {{"stiffness", number(m.bending)}, {"poisson", number(m.poisson)}});
    if (m.poisson == 0) return {potential("tri_strain", {{"young", number(m.body_young())}}), bending};
    return {potential("tri_corotated", {{"young", number(m.body_young())}, {"poisson", number(m.poisson)}}), bending};
  }
  return {potential("edge_strain", {{"stiffness", number(m.body_young())}}),
          potential("rod_bending", {{"stiffness", number(m.bending)}})};
}

}  // namespace

double MaterialInfo::body_density() const {
  return dimension == 3   ? density
         : dimension == 2 ? density * thickness
                          : density * (std::numbers::pi / 4 * thickness * thickness);
}

double MaterialInfo::body_young() const {
  if (dimension == 3) return young;
  // Nobody sees 0.2 %, and what a step costs grows with the root of the stiffness: sheet steel takes 27 iterations per
  // frame with it, 88 with 0.01 % and thousands with all of it (docs/decisions/001-materials.md).
  constexpr double strain = 2e-3, gravity = 9.81;
  const double section = dimension == 2 ? thickness : std::numbers::pi / 4 * thickness * thickness;
  return std::min(young * section, body_density() * gravity / strain);
}

const std::vector<MaterialInfo>& material_infos() {
  static const std::vector<MaterialInfo> table = make_table();
  return table;
}

const MaterialInfo* find_material(std::string_view name) {
  for (const MaterialInfo& m : material_infos())
    if (m.name == name) return &m;
  return nullptr;
}

const MaterialInfo* default_material(int dimension) {
  return dimension == 3   ? find_material("jelly")
         : dimension == 2 ? find_material("cotton")
         : dimension == 1 ? find_material("rope")
                          : nullptr;
}

const std::vector<std::string>& material_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const MaterialInfo& m : material_infos()) out.push_back(m.name);
    return out;
  }();
  return names;
}

std::vector<std::string> material_names(int dimension) {
  std::vector<std::string> out;
  for (const MaterialInfo& m : material_infos())
    if (m.dimension == dimension) out.push_back(m.name);
  return out;
}

void set_material(BodySpec& body, const MaterialInfo& material) {
  body.density = material.body_density();
  body.mass.reset();
  body.potentials = potentials_of(material);
  body.friction = material.friction;
  body.restitution = material.restitution;
  body.dials.half_life = Track<double>(material.half_life);
  body.dials.damping = {};
  body.color = material.color;
  if (material.dimension == 3) return;
  body.thickness = material.thickness;
  if (const MeshKind mesh = kind_of(body.mesh); mesh.dimension == material.dimension && !mesh.bends)
    body.potentials.resize(1);
}

void set_material(BodySpec& body, std::string_view name) {
  const MaterialInfo* material = find_material(name);
  if (!material)
    throw std::invalid_argument("set_material: found \"" + std::string(name) + "\", " +
                                expected_one_of(std::string(name), material_names()));
  set_material(body, *material);
}

MeshKind kind_of(const Mesh& mesh) {
  MeshKind out;
  out.dimension = !mesh.tetrahedra.empty() ? 3 : !mesh.triangles.empty() ? 2 : !mesh.edges.empty() ? 1 : 0;
  if (out.dimension == 2) {
    std::set<std::array<int, 2>> seen;
    for (const auto& t : mesh.triangles)
      for (int i = 0; i < 3 && !out.bends; ++i)
        out.bends = !seen.insert({std::min(t[i], t[(i + 1) % 3]), std::max(t[i], t[(i + 1) % 3])}).second;
  } else if (out.dimension == 1) {
    std::set<int> seen;
    for (const auto& e : mesh.edges)
      for (const int v : e) out.bends = !seen.insert(v).second || out.bends;
  }
  return out;
}

MeshKind kind_of(const MeshSpec& spec) {
  if (spec.mesh) return kind_of(*spec.mesh);
  if (const GeneratorInfo* generator = find_generator(spec.generator)) {
    if (generator->dimension > 1) return {generator->dimension, generator->dimension == 2};
    const Expected<Mesh> mesh = generate_mesh(spec.generator, spec.parameters);
    return mesh ? kind_of(*mesh) : MeshKind{generator->dimension, true};
  }
  std::error_code failed;
  if (spec.file.empty() || !std::filesystem::is_regular_file(spec.file, failed)) return {};
  const Expected<Mesh> mesh = read_mesh(spec.file, spec.repair, spec.object);
  return mesh ? kind_of(*mesh) : MeshKind{};
}

}  // namespace verve
