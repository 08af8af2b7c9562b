// Example-based material: Bouaziz et al. 2014, Sec. 5.3, after Martin et al. 2011, "Example-based elastic materials".
#include <algorithm>

#include "base/parallel.h"
#include "potentials/anderson.h"
#include "potentials/batch.h"
#include "potentials/polar.h"
#include "potentials/sparse_potential.h"

namespace verve {

namespace {

constexpr int most_poses = 32;

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

double product(const Mat3& a, const Mat3& b) {
  return dot(a.col[0], b.col[0]) + dot(a.col[1], b.col[1]) + dot(a.col[2], b.col[2]);
}

/// min over w of w.G w / 2 - b.w: Gauss-Seidel, which takes bounds in its stride. Rows of zeros keep w = 0. Few poses
/// that are not nearly alike: a few sweeps.
void solve_weights(int poses, const double* G, const double* b, double limit, double* w) {
  for (int sweep = 0; sweep < 500; ++sweep) {
    double moved = 0, size = 0;
    for (int k = 0; k < poses; ++k) {
      if (!(G[k * poses + k] > 0)) continue;
      double rest = b[k];
      for (int l = 0; l < poses; ++l) rest -= G[k * poses + l] * w[l];
      double next = w[k] + rest / G[k * poses + k];
      if (given(limit)) next = std::clamp(next, 0.0, limit);
      moved = std::max(moved, std::abs(next - w[k])), size = std::max(size, std::abs(next));
      w[k] = next;
    }
    if (moved <= 1e-15 * (1 + size)) break;
  }
}

/// Adds to w Newton's step: the solution of (G - C) step = b - G w, or the best one within bounds. False, and w as it
/// was, unless G - C is positive definite.
bool newton_step(int poses, const double* G, const double* C, const double* b, double limit, double* w) {
  double L[most_poses * most_poses], H[most_poses * most_poses], step[most_poses], goal[most_poses];
  for (int k = 0; k < poses; ++k) {
    double residual = b[k];
    for (int l = 0; l < poses; ++l) {
      H[k * poses + l] = G[k * poses + l] - C[k * poses + l];
      residual -= G[k * poses + l] * w[l];
    }
    step[k] = residual;
    const bool idle = !(G[k * poses + k] > 0);  // a pose that deforms nothing
    for (int l = 0; l <= k; ++l) {
      double sum = idle && l == k ? 1 : H[k * poses + l];
      for (int j = 0; j < l; ++j) sum -= L[k * poses + j] * L[l * poses + j];
      if (l == k && !(sum > 1e-6 * G[k * poses + k])) return false;
      L[k * poses + l] = l < k ? sum / L[l * poses + l] : std::sqrt(sum);
    }
  }
  std::copy_n(step, poses, goal);
  for (int k = 0; k < poses; ++k) {
    for (int j = 0; j < k; ++j) step[k] -= L[k * poses + j] * step[j];
    step[k] /= L[k * poses + k];
  }
  bool inside = true;
  for (int k = poses - 1; k >= 0; --k) {
    for (int j = k + 1; j < poses; ++j) step[k] -= L[j * poses + k] * step[j];
    step[k] /= L[k * poses + k];
    inside = inside && (!given(limit) || (w[k] + step[k] >= 0 && w[k] + step[k] <= limit));
  }
  if (inside) {
    for (int k = 0; k < poses; ++k) w[k] += step[k];
  } else {
    for (int k = 0; k < poses; ++k)
      for (int l = 0; l < poses; ++l) goal[k] += H[k * poses + l] * w[l];
    solve_weights(poses, H, goal, limit, w);
  }
  return true;
}

/// Best weights, and with them rotations. The paper alternates between the two (PD Eq. 27): each such step lowers the
/// distance, because it minimises it over one of them, but it converges slowly. The distance that the best rotations
/// leave is a smooth function of the weights: Newton's step on it is taken where it is convex and the distance falls,
/// otherwise that of the paper, accelerated. `step(w, b, C)` finds the best rotations for the weights w, fills b for
/// solve_weights and C with how fast it changes with w; it returns the distance. Converged to round-off the result has
/// the property that makes the force w (z - p) the slope of the energy: neither rotations nor weights can lower it
/// further.
template <class Step>
void find_best(int poses, const double* G, double limit, int iterations, double* w, const Step& step) {
  double b[most_poses], C[most_poses * most_poses], image[most_poses], from[most_poses];
  double memory[Anderson::scratch_size(most_poses)];
  Anderson anderson(poses, memory);
  std::fill_n(w, poses, 0.0);
  double last = std::numeric_limits<double>::infinity();
  bool risky = false;
  const auto moved_from = [&](const double* to, const double* at, double enough) {
    double moved = 0, size = 0;
    for (int k = 0; k < poses; ++k)
      moved = std::max(moved, std::abs(to[k] - at[k])), size = std::max(size, std::abs(to[k]));
    return moved > enough * (1 + size);
  };
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const double distance = step(w, b, C);
    if (risky && !(distance <= last * (1 + 1e-13))) {
      std::copy_n(image, poses, w);  // the plain step from where it was better
      anderson.restart();
      risky = false;
      continue;
    }
    last = distance;
    std::copy_n(w, poses, image), std::copy_n(w, poses, from);
    solve_weights(poses, G, b, limit, image);
    if (!moved_from(image, w, 1e-14)) break;
    risky = true;
    if (newton_step(poses, G, C, b, limit, w)) {
      anderson.restart();
      if (!moved_from(w, from, 1e-9)) break;  // the next step would be about its square
      continue;
    }
    anderson.advance(from, image, w);
    if (given(limit))
      for (int k = 0; k < poses; ++k) w[k] = std::clamp(w[k], 0.0, limit);
  }
}

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
        for (int l = 0; l < poses_; ++l) gram_[(size_t(e) * poses_ + k) * poses_ + l] = product(D(e, k), D(e, l));
    common_gram_.resize(size_t(poses_) * poses_);
    common_.resize(poses_);
    partial_.resize(size_t(stride_of_sums()) * chunk_count(elements(), grain));
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
    }
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
    const Mat3 F{{z[0], z[1], z[2]}}, H = shape(e, w), goal = nearest_rotation(F * H) * H;
    for (int r = 0; r < 3; ++r) p[r] = goal.col[r];
  }

 private:
  static constexpr int grain = 256;

  const Mat3& D(int e, int k) const { return offset_[size_t(e) * poses_ + k]; }
  Mat3 shape(int e, const double* w) const {
    Mat3 H = Mat3::identity();
    for (int k = 0; k < poses_; ++k) H = H + D(e, k) * w[k];
    return H;
  }
  void find_weights(int e, const Vec3* z, double* w) const {
    if (params_.global != 0) {
      std::copy(common_.begin(), common_.end(), w);
      return;
    }
    find_best(poses_, gram_.data() + size_t(poses_) * poses_ * e, params_.limit, int(params_.iterations), w,
              [&](const double* at, double* b, double* C) {
                return element_step(e, Mat3{{z[0], z[1], z[2]}}, at, b, C);
              });
  }
  /// H is symmetric, so F H^T = F H = R S. When w_l grows, R turns by K^-1 a_l with K = tr(S) - S and a_k the axial
  /// vector of R^T F D_k, and D_k : R^T F changes by a_k . K^-1 a_l.
  double element_step(int e, const Mat3& F, const double* w, double* b, double* C) const {
    const Mat3 H = shape(e, w), R = nearest_rotation(F * H), back = transpose(R) * F, S = back * H;
    Mat3 K = Mat3::identity() * (S(0, 0) + S(1, 1) + S(2, 2)) - S;
    const Mat3 cofactors = cofactor(K);
    const double volume = dot(K.col[0], cofactors.col[0]), size = squared_norm(K);
    // where the rotation is nearly not unique it turns too fast for that: C = 0 makes a step of the paper's alternation
    const double scale = volume * volume > 1e-12 * size * size * size && volume > 0 ? 1 / volume : 0;
    Vec3 axial[most_poses];
    for (int k = 0; k < poses_; ++k) {
      const Mat3 M = back * D(e, k);
      b[k] = product(D(e, k), back - Mat3::identity());
      axial[k] = {M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1)};
      const Vec3 turn = cofactors * axial[k] * scale;  // K is symmetric
      for (int l = 0; l <= k; ++l) C[k * poses_ + l] = C[l * poses_ + k] = dot(turn, axial[l]);
    }
    return squared_norm(back - H);
  }
  double common_step(const std::vector<Vec3>& z, const double* w, double* b, double* C) {
    const int squares = poses_ * poses_, stride = stride_of_sums();
    parallel_for(elements(), grain, [&](int begin, int end, int chunk) {
      double* sum = partial_.data() + size_t(stride) * chunk;
      std::fill_n(sum, stride, 0.0);
      for (int e = begin; e < end; ++e) {
        double own[most_poses], bends[most_poses * most_poses];
        const Mat3 F{{z[3 * e], z[3 * e + 1], z[3 * e + 2]}};
        sum[poses_] += weight(e) * element_step(e, F, w, own, bends);
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
