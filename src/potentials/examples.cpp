// Example-based material: Bouaziz et al. 2014, Sec. 5.3, after Martin et al. 2011, "Example-based elastic materials".
#include <algorithm>

#include "base/parallel.h"
#include "potentials/batch.h"
#include "potentials/example_fit.h"
#include "potentials/examples_patch.h"
#include "potentials/patch_batch.h"
#include "potentials/polar.h"
#include "potentials/sparse_potential.h"

namespace verve {

namespace {

struct Params {
  double mu = 1e4, global = 0, limit = not_given, iterations = 60;
  static std::vector<Field<Params>> fields() {
    auto all = std::vector{
        field("mu", &Params::mu, "Pa", "shear modulus"),
        field("global", &Params::global, "", "1: one set of weights for the body; 0: each element has its own", 0, 1),
        field("limit", &Params::limit, "", "keeps weights in [0, limit]; they are free when it is left out"),
        field("iterations", &Params::iterations, "", "at most, over rotations and weights", 1, 1000)};
    all[1].info.integer = all[3].info.integer = true;
    return all;
  }
  std::string check() const { return {}; }
};

/// Psi = mu V min over R, w of |F - R (1 + sum w_k D_k)|^2 (PD Eq. 18). F = X_f X_g^-1. D_k = S_k - 1, and S_k = R_k
/// F_k is the example's deformation, turned to be best aligned with the rest shape: its symmetric factor. So 1 + sum
/// w_k D_k = X_h(w) X_g^-1.
class Examples final : public ProjectedPotential {
 public:
  Examples(const PotentialInput& in, const std::vector<int>& kept, ElementParameters<Params> own)
      : poses_(int(in.examples.size())), own_(std::move(own)) {
    for (const int e : kept) {
      const auto& tet = in.mesh.tetrahedra[e];
      const auto edges = [&](const std::vector<Vec3>& x) {
        return Mat3{{x[tet[1]] - x[tet[0]], x[tet[2]] - x[tet[0]], x[tet[3]] - x[tet[0]]}};
      };
      const Mat3 rest = edges(in.mesh.vertices), inverse_rest = inverse(rest);
      std::vector<std::vector<Coefficient>> rows(3);
      for (int r = 0; r < 3; ++r) {
        double sum = 0;
        for (int i = 0; i < 3; ++i) {
          rows[r].push_back({in.index[tet[i + 1]], inverse_rest.col[r][i]});
          sum += inverse_rest.col[r][i];
        }
        rows[r].push_back({in.index[tet[0]], -sum});
      }
      add_element(0, rows);
      volume_.push_back(det(rest) / 6);
      for (const auto& pose : in.examples) {
        const Mat3 F = edges(pose) * inverse_rest;
        const Mat3 S = transpose(nearest_rotation(F)) * F;
        Mat3 D = (S + transpose(S)) * 0.5 - Mat3::identity();
        // what the pose does not deform has no weight there: a strain of 1e-6 would ask for weights of a million
        if (squared_norm(D) < 1e-12) D = {};
        offset_.push_back(D);
      }
    }
    std::vector<Vec4> rest(in.mesh.vertices.size());
    for (size_t v = 0; v < rest.size(); ++v) rest[in.index[v]] = Vec4(in.mesh.vertices[v]);
    finish(rest.data());
    gram_.resize(size_t(poses_) * poses_ * elements());
    for (int e = 0; e < elements(); ++e)
      for (int k = 0; k < poses_; ++k)
        for (int l = 0; l < poses_; ++l) gram_[(size_t(e) * poses_ + k) * poses_ + l] = product(D(e)[k], D(e)[l]);
    common_gram_.resize(size_t(poses_) * poses_);
    common_.resize(poses_);
    partial_.resize(size_t(stride_of_sums()) * chunk_count(elements(), grain));
    if (poses_ <= ExamplesPatch::most) build_packs(rest);
    set_parameters(in.values);
  }

  std::string_view name() const override { return "examples"; }
  bool projects_globally() const override { return false; }  // rotations and weights have several minima far away

  void set_parameters(const ParameterValues& values) override {
    params_ = read_parameters<Params>(values);
    std::fill(common_gram_.begin(), common_gram_.end(), 0.0);
    for (int e = 0; e < elements(); ++e) {
      set_weight(e, 2 * own_.at(params_, e).mu * volume_[e]);
      for (size_t i = 0; i < common_gram_.size(); ++i)
        common_gram_[i] += weight(e) * gram_[e * common_gram_.size() + i];
      if (packed_) set_pack(e);
    }
  }

  double add_gradient(const Vec4* x, Vec4* gradient, Precision precision) override {
    return on_packs() ? packs_.evaluate(x, gradient, precision) : SparsePotential::add_gradient(x, gradient, precision);
  }
  double energy(const Vec4* x, Precision precision = Precision::float64) override {
    return on_packs() ? packs_.evaluate(x, nullptr, precision) : SparsePotential::energy(x, precision);
  }

  std::vector<double> example_weights(const Vec4* x) const override {
    std::vector<Vec3> z(3 * size_t(elements())), p(z.size());
    project(x, z.data(), p.data());  // prepares the common weights
    std::vector<double> sum(poses_, 0.0);
    double total = 0;
    for (int e = 0; e < elements(); ++e) {
      double w[most_poses];
      find_weights(e, z.data() + 3 * e, w);
      for (int k = 0; k < poses_; ++k) sum[k] += w[k] * weight(e);
      total += weight(e);
    }
    for (double& s : sum) s = total > 0 ? s / total : 0;
    return sum;
  }

 protected:
  void prepare(const std::vector<Vec3>& z) override {
    if (params_.global == 0) return;
    find_best(poses_, common_gram_.data(), params_.limit, int(params_.iterations), common_.data(),
              [&](const double* w, double* b, double* C) { return common_step(z, w, b, C); });
  }

  void element_projection(int e, const Vec3* z, Vec3* p) const override {
    double w[most_poses];
    find_weights(e, z, w);
    const Mat3 F{{z[0], z[1], z[2]}}, H = example_shape(poses_, D(e), w), goal = nearest_rotation(F * H) * H;
    for (int r = 0; r < 3; ++r) p[r] = goal.col[r];
  }

 private:
  static constexpr int grain = 256;

  bool on_packs() const { return packed_ && params_.global == 0; }
  void build_packs(const std::vector<Vec4>& rest) {
    std::vector<PatchBatch<ExamplesPatch>::Patch> patches(elements());
    for (int e = 0; e < elements(); ++e) {
      for (int i = 0; i < corners(e); ++i)
        patches[e].rows.push_back(vertex(e, i)), patches[e].rest.push_back(rest[vertex(e, i)].xyz());
    }
    packed_ = packs_.build(patches);
  }
  void set_pack(int e) {
    ExamplesPatch::Element<double> element{
        weight(e), given(params_.limit) ? params_.limit : -1, params_.iterations, double(poses_), {}};
    for (int k = 0; k < poses_; ++k) {
      const Mat3& d = D(e)[k];
      element.D[k] = {d(0, 0), d(1, 0), d(2, 0), d(1, 1), d(2, 1), d(2, 2)};
    }
    packs_.set(e, element, corners(e), [&](int i) {
      return ExamplesPatch::Corner<double>{coefficient(e, 0, i), coefficient(e, 1, i), coefficient(e, 2, i)};
    });
  }
  const Mat3* D(int e) const { return offset_.data() + size_t(e) * poses_; }
  const double* gram(int e) const { return gram_.data() + size_t(poses_) * poses_ * e; }
  void find_weights(int e, const Vec3* z, double* w) const {
    if (params_.global != 0)
      std::copy(common_.begin(), common_.end(), w);
    else
      find_example_weights(poses_, D(e), gram(e), params_.limit, int(params_.iterations), Mat3{{z[0], z[1], z[2]}}, w);
  }
  double common_step(const std::vector<Vec3>& z, const double* w, double* b, double* C) {
    const int squares = poses_ * poses_, stride = stride_of_sums();
    parallel_for(elements(), grain, [&](int begin, int end, int chunk) {
      double* sum = partial_.data() + size_t(stride) * chunk;
      std::fill_n(sum, stride, 0.0);
      for (int e = begin; e < end; ++e) {
        double own[most_poses], bends[most_poses * most_poses];
        const Mat3 F{{z[3 * e], z[3 * e + 1], z[3 * e + 2]}};
        sum[poses_] += weight(e) * example_step(poses_, D(e), F, w, own, bends);
        for (int k = 0; k < poses_; ++k) sum[k] += weight(e) * own[k];
        for (int i = 0; i < squares; ++i) sum[poses_ + 1 + i] += weight(e) * bends[i];
      }
    });
    double distance = 0;
    std::fill_n(b, poses_, 0.0);
    std::fill_n(C, squares, 0.0);
    for (size_t chunk = 0; chunk < partial_.size(); chunk += stride) {
      for (int k = 0; k < poses_; ++k) b[k] += partial_[chunk + k];
      distance += partial_[chunk + poses_];
      for (int i = 0; i < squares; ++i) C[i] += partial_[chunk + poses_ + 1 + i];
    }
    return distance;
  }
  int stride_of_sums() const { return poses_ + 1 + poses_ * poses_; }  // of common_step, per chunk

  int poses_;
  Params params_;
  ElementParameters<Params> own_;
  std::vector<double> volume_;                // per element
  std::vector<Mat3> offset_;                  // D, per element and pose
  std::vector<double> gram_;                  // D_k : D_l, per element
  std::vector<double> common_gram_, common_;  // of all elements together, for global weights
  std::vector<double> partial_;
  PatchBatch<ExamplesPatch> packs_;
  bool packed_ = false;  // unless there are too many poses
};

}  // namespace

PotentialEntry examples_entry() {
  PotentialEntry out;
  out.info = {"examples", "strain relative to the rest shape and example poses (PD Eq. 17-18, 27)", Tetrahedra::name,
              parameter_infos<Params>()};
  out.info.slack = true;  // whatever the poses can make up
  out.info.takes_examples = true;
  out.check = [](const ParameterValues& values) { return read_parameters<Params>(values).check(); };
  out.make = [](const PotentialInput& in, const std::string& where, Diagnostics& notes) -> std::unique_ptr<Potential> {
    const size_t problems = notes.items().size();
    const std::vector<int> kept = elements_in(in.mesh.tetrahedra, in.region);
    ElementParameters<Params> own(in.arrays, int(in.mesh.tetrahedra.size()), kept, where, notes);
    if (in.arrays.count("limit"))
      notes.error(where + ".limit", "found a list, expected one number: it is the same for all elements");
    if (in.mesh.tetrahedra.empty())
      notes.error(where + ".type", "\"examples\" acts on tetrahedra, and the mesh of the body has none");
    else if (kept.empty())
      notes.error(where + ".region", "found none of the tetrahedra with all vertices inside, expected at least one");
    if (in.examples.empty() || in.examples.size() > most_poses)
      notes.error(where + ".examples", "found " + std::to_string(in.examples.size()) + " poses, expected 1 to " +
                                           std::to_string(most_poses) + " of the body's own mesh");
    if (notes.items().size() > problems) return nullptr;
    return std::make_unique<Examples>(in, kept, std::move(own));
  };
  return out;
}

}  // namespace verve
