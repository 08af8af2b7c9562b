// Gas inside closed surfaces.
#include <algorithm>

#include "base/parallel.h"
#include "potentials/closed_surfaces.h"
#include "potentials/parameters.h"

namespace verve {

namespace {

constexpr int grain = 512;  // triangles, or vertices, per chunk

struct Params {
  double pressure = 1000, ambient = 0;
  static std::vector<Field<Params>> fields() {
    return {field("pressure", &Params::pressure, "Pa", "above the ambient one, when the surface has its rest volume"),
            field("ambient", &Params::ambient, "Pa", "pressure of the air outside; makes the gas inside stiffer")};
  }
};

/// Isothermal gas, E(V) = -(p + a) V0 ln(V/V0) + a (V - V0), so that -dE/dV = (p + a) V0/V - a. Below `least` V0 the
/// energy goes on as the parabola with the same value, slope and curvature: finite for flat and inverted surfaces.
struct Gas {
  static constexpr double least = 0.25;
  double energy, slope;  // E, dE/dV

  Gas(const Params& p, double volume, double rest) {
    const double amount = p.pressure + p.ambient, r = volume / rest;
    if (r >= least) {
      energy = rest * (p.ambient * (r - 1) - amount * std::log(r));
      slope = p.ambient - amount / r;
    } else {
      const double d = r - least;
      energy = rest * (p.ambient * (r - 1) - amount * (std::log(least) + d / least - 0.5 * d * d / (least * least)));
      slope = p.ambient - amount * (1 / least - d / (least * least));
    }
  }
};

/// One surface with its gas, in rows of the state. dV/dx of a vertex is a third of the area vectors of its triangles.
/// As an element: z = the differences of its vertices to the first.
struct Cell {
  std::vector<int> rows;
  std::vector<std::array<int, 3>> triangles;     // places in `rows`
  std::vector<int> first_use, use;               // per vertex: its triangles
  std::vector<std::array<double, 3>> cotangent;  // halves, at rest, opposite to each corner's edge
  double rest_volume = 0, metric = 0;
  std::vector<Vec3> area;  // of each triangle: scratch of an evaluation

  double volume(const Vec4* x, std::vector<double>& partial) {
    const Vec3 o = x[rows[0]].xyz();
    return ordered_sum<double>(int(triangles.size()), grain, partial,
                               [&](int begin, int end) {
                                 double sum = 0;
                                 for (int t = begin; t < end; ++t) {
                                   const auto& [a, b, c] = triangles[t];
                                   const Vec3 p = x[rows[a]].xyz() - o, q = x[rows[b]].xyz() - o,
                                              r = x[rows[c]].xyz() - o;
                                   area[t] = cross(q - p, r - p) * 0.5;
                                   sum += dot(p, cross(q, r));
                                 }
                                 return sum;
                               }) /
           6;
  }
  Vec3 volume_gradient(int vertex) const {
    Vec3 sum{};
    for (int u = first_use[vertex]; u < first_use[vertex + 1]; ++u) sum += area[use[u]];
    return sum / 3;
  }
};

Cell make_cell(const ClosedSurface& surface, const Mesh& mesh, const std::vector<int>& index) {
  Cell cell;
  std::vector<int> vertices;
  for (const auto& t : surface) vertices.insert(vertices.end(), t.begin(), t.end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  const int n = int(vertices.size());
  for (const int v : vertices) cell.rows.push_back(index[v]);
  std::vector<int> uses(n, 0);
  for (const auto& t : surface) {
    auto& own = cell.triangles.emplace_back();
    auto& cotangent = cell.cotangent.emplace_back();
    for (int i = 0; i < 3; ++i) {
      own[i] = int(std::lower_bound(vertices.begin(), vertices.end(), t[i]) - vertices.begin());
      ++uses[own[i]];
      const Vec3& at = mesh.vertices[t[i]];
      const Vec3 p = mesh.vertices[t[(i + 1) % 3]] - at, q = mesh.vertices[t[(i + 2) % 3]] - at;
      cotangent[i] = 0.5 * dot(p, q) / norm(cross(p, q));
    }
  }
  cell.first_use.assign(n + 1, 0);
  for (int v = 0; v < n; ++v) cell.first_use[v + 1] = cell.first_use[v] + uses[v];
  cell.use.resize(cell.first_use[n]);
  std::vector<int> next(cell.first_use.begin(), cell.first_use.end() - 1);
  for (size_t t = 0; t < cell.triangles.size(); ++t)
    for (const int v : cell.triangles[t]) cell.use[next[v]++] = int(t);
  cell.area.resize(cell.triangles.size());
  return cell;
}

/// g^T L^-1 g of the gradient g of the volume at rest, with the cotangent Laplacian L (conjugate gradients): the least
/// factor c with g g^T <= c L. The gas resists a change of volume by the dense E'' g g^T, which has no place in a
/// sparse matrix; E'' c L, a membrane as stiff, bounds it. On a sphere E'' c = 3/2 p R, thrice the tension that holds
/// p.
double volume_metric(const Cell& cell) {
  const int n = int(cell.rows.size());
  const auto multiply = [&](const std::vector<Vec3>& in, std::vector<Vec3>& out) {
    std::fill(out.begin(), out.end(), Vec3{});
    for (size_t t = 0; t < cell.triangles.size(); ++t)
      for (int i = 0; i < 3; ++i) {
        const int a = cell.triangles[t][(i + 1) % 3], b = cell.triangles[t][(i + 2) % 3];
        const Vec3 d = (in[a] - in[b]) * cell.cotangent[t][i];
        out[a] += d, out[b] -= d;
      }
  };
  const auto product = [&](const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (int v = 0; v < n; ++v) sum += dot(a[v], b[v]);
    return sum;
  };
  // g sums to zero, as every L x does: the null space of L plays no part
  std::vector<Vec3> residual(n), direction(n), image(n), x(n);
  for (int v = 0; v < n; ++v) residual[v] = cell.volume_gradient(v);
  const std::vector<Vec3> g = residual;
  direction = residual;
  double size = product(residual, residual);
  const double enough = 1e-6 * size;
  for (int k = 0; k < 10 * n && size > enough; ++k) {
    multiply(direction, image);
    const double curvature = product(direction, image);
    if (!(curvature > 0)) break;
    const double step = size / curvature;
    for (int v = 0; v < n; ++v) x[v] += direction[v] * step, residual[v] -= image[v] * step;
    const double next = product(residual, residual);
    for (int v = 0; v < n; ++v) direction[v] = residual[v] + direction[v] * (next / size);
    size = next;
  }
  return product(g, x);
}

class Pressure final : public Potential {
 public:
  Pressure(std::vector<Cell> cells, const Mesh& mesh, const std::vector<int>& index, const Params& params,
           ElementParameters<Params> own)
      : cells_(std::move(cells)), own_(std::move(own)) {
    std::vector<Vec4> rest(mesh.vertices.size());
    for (size_t v = 0; v < mesh.vertices.size(); ++v) rest[index[v]] = Vec4(mesh.vertices[v]);
    for (Cell& cell : cells_) {
      cell.rest_volume = cell.volume(rest.data(), partial_);
      cell.metric = volume_metric(cell) / cell.rest_volume;
    }
    set(params);
  }

  std::string_view name() const override { return "pressure"; }
  int elements() const override { return int(cells_.size()); }
  double add_gradient(const Vec4* x, Vec4* gradient, Precision) override { return evaluate(x, gradient); }
  double energy(const Vec4* x, Precision) override { return evaluate(x, nullptr); }

  bool has_projection() const override { return false; }
  int rows(int element) const override { return corners(element) - 1; }
  int corners(int element) const override { return int(cells_[element].rows.size()); }
  int vertex(int element, int corner) const override { return cells_[element].rows[corner]; }
  double weight(int element) const override {
    return (params_[element].pressure + params_[element].ambient) * cells_[element].metric;
  }
  double coefficient(int, int row, int corner) const override { return corner == row + 1 ? 1 : corner == 0 ? -1 : 0; }
  void project(const Vec4* x, Vec3* z, Vec3* projected) const override {
    auto* self = const_cast<Pressure*>(this);  // an evaluation keeps nothing but scratch
    for (int e = 0; e < elements(); ++e) {
      Cell& cell = self->cells_[e];
      const double slope = Gas(params_[e], cell.volume(x, self->partial_), cell.rest_volume).slope;
      for (int v = 1; v < corners(e); ++v) {
        *z = x[cell.rows[v]].xyz() - x[cell.rows[0]].xyz();
        *projected++ = weight(e) > 0 ? *z - cell.volume_gradient(v) * (slope / weight(e)) : *z;
        ++z;
      }
    }
  }

  void add_weights(SymmetricAssembly& matrix, int offset, double scale) const override {
    for (int e = 0; e < elements(); ++e) {
      const Cell& cell = cells_[e];
      const double w = scale * weight(e);
      for (size_t t = 0; t < cell.triangles.size(); ++t)
        for (int i = 0; i < 3; ++i) {
          const int a = cell.rows[cell.triangles[t][(i + 1) % 3]] + offset;
          const int b = cell.rows[cell.triangles[t][(i + 2) % 3]] + offset;
          const double c = w * cell.cotangent[t][i];
          matrix.add(a, a, c);
          matrix.add(b, b, c);
          matrix.add(a, b, -c);
        }
    }
  }
  bool has_own_metric() const override { return true; }
  bool is_bounded() const override { return false; }  // E'' grows as the gas is compressed, the metric is that of rest
  double prestress() const override { return reference_energy(); }
  double reference_energy() const override {
    double sum = 0;
    for (int e = 0; e < elements(); ++e) sum += (params_[e].pressure + params_[e].ambient) * cells_[e].rest_volume;
    return sum;
  }
  void set_parameters(const ParameterValues& values) override { set(read_parameters<Params>(values)); }

 private:
  void set(const Params& params) {
    params_.resize(cells_.size());
    for (int e = 0; e < elements(); ++e) params_[e] = own_.at(params, e);
  }

  double evaluate(const Vec4* x, Vec4* gradient) {
    double energy = 0;
    for (int e = 0; e < elements(); ++e) {
      Cell& cell = cells_[e];
      const Gas gas(params_[e], cell.volume(x, partial_), cell.rest_volume);
      energy += gas.energy;
      if (!gradient) continue;
      parallel_for(corners(e), grain, [&](int begin, int end, int) {
        for (int v = begin; v < end; ++v) gradient[cell.rows[v]] += Vec4(cell.volume_gradient(v) * gas.slope);
      });
    }
    return energy;
  }

  std::vector<Cell> cells_;
  ElementParameters<Params> own_;
  std::vector<Params> params_;
  std::vector<double> partial_;
};

std::unique_ptr<Potential> make_pressure(const PotentialInput& in, const std::string& where, Diagnostics& out) {
  const size_t problems = out.items().size();
  if (in.mesh.triangles.empty() && in.mesh.tetrahedra.empty()) {
    out.error(where + ".type", "\"pressure\" acts on closed surfaces, and the mesh of the body has none");
    return nullptr;
  }
  std::string fault;
  const std::vector<ClosedSurface> surfaces = closed_surfaces(in.mesh, in.region, fault);
  if (!fault.empty()) {
    out.error(where, fault);
  } else if (surfaces.empty()) {
    out.error(where, in.mesh.triangles.empty() ? "found a solid without a cavity, expected a closed surface for the gas"
                                               : "found no triangle in the region, expected a closed surface");
  }
  std::vector<Cell> cells;
  std::vector<int> all;
  double size = 0;
  for (const Vec3& v : in.mesh.vertices) size = std::max(size, norm(v - in.mesh.vertices[0]));
  for (size_t s = 0; s < surfaces.size(); ++s) {
    if (const double volume = enclosed_volume(surfaces[s], in.mesh.vertices); !(volume > 1e-9 * size * size * size)) {
      out.error(where, "surface " + std::to_string(s) + " (with vertex " + std::to_string(surfaces[s][0][0]) +
                           ") encloses nothing, expected a volume > 0");
      continue;
    }
    all.push_back(int(s));
    cells.push_back(make_cell(surfaces[s], in.mesh, in.index));
  }
  ElementParameters<Params> own(in.arrays, int(surfaces.size()), all, where, out);
  if (out.items().size() > problems) return nullptr;
  return std::make_unique<Pressure>(std::move(cells), in.mesh, in.index, read_parameters<Params>(in.values),
                                    std::move(own));
}

}  // namespace

PotentialEntry pressure_entry() {
  PotentialEntry out;
  out.info = {"pressure", "isothermal gas inside closed surfaces", "closed surfaces", parameter_infos<Params>()};
  out.info.prestressed = true;
  out.check = [](const ParameterValues&) { return std::string(); };
  out.make = make_pressure;
  return out;
}

}  // namespace verve
