// Every registered potential by itself: energy and gradient of all its elements, beside tet_strain.
#include <stdexcept>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "bench/run.h"
#include "potentials/potential.h"

namespace verve::bench {

namespace {

Mesh generated(const std::string& generator, const Parameters& parameters) {
  Expected<Mesh> mesh = generate_mesh(generator, parameters);
  if (!mesh) throw std::runtime_error(mesh.diagnostics().text());
  return std::move(*mesh);
}

/// A mesh with some thousands of the elements that a potential acts on.
Mesh mesh_for(const PotentialInfo& info) {
  if (info.elements == "tetrahedra" || info.name == "custom" || info.elements == "groups of vertices") return generated("hippo", {});
  if (info.elements == "joints") return generated("chain", {{"vertices", {5000}}});
  if (info.elements == "closed surfaces") return generated("sphere", {{"frequency", {30}}});
  return generated("cloth", {{"columns", {60}}, {"rows", {60}}});
}

/// What some potentials need besides: the vertices of each tetrahedron, or as many of them as make a group; a pose; a
/// formula, for edges of their mean length.
PotentialInput input_for(const PotentialInfo& info, const Mesh& mesh, const std::vector<int>& index, int group) {
  PotentialInput input{mesh, index, {}, {}, {}, {}, {}};
  if (info.takes_groups)
    for (const auto& t : mesh.tetrahedra) input.groups.emplace_back(t.begin(), t.begin() + group);
  if (info.takes_examples) {
    input.examples.push_back(mesh.vertices);
    for (Vec3& v : input.examples[0]) v.x *= 1.2;
  }
  if (info.name == "formula") {
    double length = 0;
    for (const auto& t : mesh.tetrahedra)
      length += norm(mesh.vertices[t[0]] - mesh.vertices[t[1]]) / double(mesh.tetrahedra.size());
    input.formula = std::make_shared<const Formula>(Formula{1, [length](const Vec3* q, int n, double* c, Vec3* g) {
                                                              const Vec3 d = q[1] - q[0];
                                                              c[0] = dot(d, d) - length * length;
                                                              for (int i = 2; i < n; ++i) g[i] = {};
                                                              g[0] = d * -2, g[1] = d * 2;
                                                            }});
  }
  if (info.name == "custom")  // |F - 1|^2, which is nearly nothing: what handing over costs
    input.law = std::make_shared<const ConstitutiveLaw>(ConstitutiveLaw{3, {}, [](int n, const Vec3*, Vec3* nearest) {
      for (int e = 0; e < n; ++e)
        for (int k = 0; k < 3; ++k) nearest[3 * e + k] = {double(k == 0), double(k == 1), double(k == 2)};
    }});
  return input;
}

/// A potential over its mesh, moved by a twentieth of an edge.
class Sample {
 public:
  explicit Sample(const PotentialEntry& entry) : mesh_(mesh_for(entry.info)) {
    std::vector<int> index(mesh_.vertices.size());
    for (size_t v = 0; v < index.size(); ++v) index[v] = int(v);
    std::string refusal;
    for (int group = 4; group >= 2 && !potential_; --group) {
      Diagnostics problems;
      potential_ = entry.make(input_for(entry.info, mesh_, index, group), entry.info.name, problems);
      if (group == 4) refusal = problems.text();
    }
    if (!potential_) throw std::runtime_error(refusal);
    double length = 0;
    const auto edges = unique_edges(mesh_);
    for (const auto& [a, b] : edges) length += norm(mesh_.vertices[a] - mesh_.vertices[b]) / double(edges.size());
    for (size_t v = 0; v < index.size(); ++v)
      x_.push_back(Vec4(mesh_.vertices[v] + random_in_ball(1, v) * (0.05 * length)));
    gradient_.resize(x_.size());
  }

  int vertices() const { return int(x_.size()); }
  /// A gas has one element, and as much work as its surface has triangles.
  int elements() const {
    return mesh_.edges.empty() && potential_->elements() == 1 ? int(mesh_.triangles.size()) : potential_->elements();
  }

  /// [ms]
  double measure(Precision precision) {
    std::fill(gradient_.begin(), gradient_.end(), Vec4());
    const double begin = now();
    energy_ = potential_->add_gradient(x_.data(), gradient_.data(), precision);
    return 1e3 * (now() - begin);
  }
  std::uint64_t hash() const {
    BitHash hash;
    hash.add(energy_);
    for (const Vec4& g : gradient_) hash.add(g.x), hash.add(g.y), hash.add(g.z);
    return hash.value();
  }

 private:
  Mesh mesh_;
  std::unique_ptr<Potential> potential_;
  std::vector<Vec4> x_, gradient_;
  double energy_ = 0;
};

}  // namespace

std::vector<std::string> kernel_names() {
  std::vector<std::string> out;
  for (const PotentialInfo& info : potential_infos()) out.push_back(info.name);
  return out;
}

std::vector<KernelResult> measure_kernel(const std::string& name, const Options& options, Pace& pace) {
  const PotentialEntry& entry = *find_potential(name);
  Sample own(entry), reference(*find_potential("tet_strain"));
  set_threads(1);
  std::vector<KernelResult> out;
  for (const Precision precision : {Precision::float32, Precision::float64})
    out.push_back(
        {name, entry.info.elements, own.vertices(), own.elements(), reference.elements(), precision, {}, {}, 0});
  pace.begin_rounds(options.quick ? 0.05 : 0.3, 5, 400);
  while (pace.next_round()) {
    for (KernelResult& r : out) {
      own.measure(r.precision);  // the caches to itself
      r.own.add(own.measure(r.precision));
      r.hash = own.hash();
      reference.measure(r.precision);
      r.reference.add(reference.measure(r.precision));
    }
  }
  return out;
}

}  // namespace verve::bench
