// Geometric constraints on small groups of vertices (PD Sec. 6, "More constraints"; Shape-Up, Bouaziz et al. 2012), by
// closed forms where there are any. Targets are those of the rest shape, times `scale`, or given.
#include <limits>

#include "base/text.h"
#include "potentials/circle_fit.h"
#include "potentials/determinant.h"
#include "potentials/group_batch.h"
#include "potentials/near_determinant.h"
#include "potentials/polar.h"
#include "potentials/sqp.h"
#include "potentials/svd32.h"

namespace verve {

namespace {

/// What holds each vertex to its place in the projected group.
struct StiffnessOnly {
  double stiffness = 1e3;
  static std::vector<Field<StiffnessOnly>> fields() {
    return {field("stiffness", &StiffnessOnly::stiffness, "N/m", "of each vertex towards its place")};
  }
  std::string check() const { return {}; }
};

constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Length {
  static constexpr const char *name = "length", *unit = "m", *help = "in place of the length at rest";
  static constexpr double most = unlimited, least_scale = 0;
  static constexpr bool positive = false;
};
struct Degrees {
  static constexpr const char *name = "degrees", *unit = "deg", *help = "in place of the angle at rest";
  static constexpr double most = 180, least_scale = 0;
  static constexpr bool positive = false;
};
// Groups of no area, or of no volume, are no smooth set: there an iteration gets slower and slower.
struct AreaTarget {
  static constexpr const char *name = "target", *unit = "m^2", *help = "in place of the area at rest";
  static constexpr double most = unlimited, least_scale = 1e-3;
  static constexpr bool positive = true;
};
struct VolumeTarget {
  static constexpr const char *name = "target", *unit = "m^3", *help = "in place of the volume at rest";
  static constexpr double most = unlimited, least_scale = 1e-3;
  static constexpr bool positive = true;
};

/// A stiffness and a number that a group is to have.
template <class Target>
struct WithTarget {
  double stiffness = 1e3, target = not_given, scale = 1;
  static std::vector<Field<WithTarget>> fields() {
    auto target = field(Target::name, &WithTarget::target, Target::unit, Target::help, 0, Target::most);
    target.info.exclusive_minimum = Target::positive;
    return {field("stiffness", &WithTarget::stiffness, "N/m", "of each vertex towards its place"), target,
            field("scale", &WithTarget::scale, "", "factor on the target", Target::least_scale)};
  }
  std::string check() const {
    if (!given(target) || scale * target <= Target::most) return {};
    return std::string("found ") + Target::name + " times scale = " + format_number(scale * target) +
           ", expected at most " + format_number(Target::most) + " [" + Target::unit + "]";
  }
  double of(double at_rest) const { return scale * (given(target) ? target : at_rest); }
};

/// Unit eigenvector of the least eigenvalue of a symmetric M >= 0. Newton's iteration on the characteristic polynomial
/// of M / tr M from 0 rises monotonously to the least root; rows of what then is singular are at right angles to the
/// vector. Once more with Rayleigh's quotient, whose error is the square. Where that is not an eigenvector to
/// round-off, or another eigenvalue is near: by Jacobi's rotations.
Vec3 least_axis(const Mat3& M) {
  const double trace = M(0, 0) + M(1, 1) + M(2, 2), xx = M(0, 0) / trace, yy = M(1, 1) / trace, zz = M(2, 2) / trace;
  const double xy = M(0, 1) / trace, xz = M(0, 2) / trace, yz = M(1, 2) / trace;
  const double minors = (xx * yy - xy * xy) + (xx * zz - xz * xz) + (yy * zz - yz * yz);
  const double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  const auto slope = [&](double x) { return (3 * x - 2) * x + minors; };  // product of the other two less x
  constexpr double apart = 1e-3;
  double value = 0;
  for (int step = 0; step < 8 && slope(value) > apart; ++step) {
    const double move = (((value - 1) * value + minors) * value - det) / slope(value);
    value -= move;
    if (std::abs(move) < 1e-6) break;
  }
  for (int pass = 0; pass < 3 && slope(value) > apart && value < 1.0 / 3; ++pass) {
    const Vec3 rows[3] = {{xx - value, xy, xz}, {xy, yy - value, yz}, {xz, yz, zz - value}};
    const Vec3 normals[3] = {cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])};
    const double squares[3] = {dot(normals[0], normals[0]), dot(normals[1], normals[1]), dot(normals[2], normals[2])};
    const int k = squares[0] >= squares[1] && squares[0] >= squares[2] ? 0 : squares[1] >= squares[2] ? 1 : 2;
    const Vec3 v = normals[k] / std::sqrt(squares[k]);
    const Vec3 off{dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
    const double change = dot(v, off);
    const Vec3 left = off - v * change;
    if (dot(left, left) <= 1e-30) return v;
    value += change;
  }
  Mat3 U, V;
  Vec3 sigma;
  rotation_svd(M, U, sigma, V);
  return V.col[2];
}

/// All vertices of a group on one plane: they fall onto the one through their mean with the least sum of squared
/// distances, whose normal is the last singular vector.
struct Planarity {
  static constexpr const char* name = "planarity";
  static constexpr const char* help = "the vertices of each group on a plane (Shape-Up, Bouaziz et al. 2012)";
  static constexpr bool slack = true, whole = true, by_volume = false;
  static constexpr int least = 4, most = 0;
  using Params = StiffnessOnly;

  double weight = 0;
  static Planarity bind(const Params& p, const GroupShape&) { return {p.stiffness}; }
  static std::string fault(const GroupShape&) { return {}; }
  void project(int n, const Vec3* z, const Vec3*, Vec3* p, double*) const {
    Mat3 moment{};
    for (int i = 0; i < n; ++i) moment = moment + outer(z[i], z[i]);
    const Vec3 normal = least_axis(moment);
    for (int i = 0; i < n; ++i) p[i] = z[i] - normal * dot(normal, z[i]);
  }
};

/// All vertices of a group on one circle of any size, anywhere: circle_fit.h.
struct Circle {
  static constexpr const char* name = "circle";
  static constexpr const char* help = "the vertices of each group on a circle (Shape-Up, Bouaziz et al. 2012)";
  static constexpr bool slack = true, whole = true, by_volume = false;
  static constexpr int least = 4, most = 0;
  using Params = StiffnessOnly;

  double weight = 0;
  static Circle bind(const Params& p, const GroupShape&) { return {p.stiffness}; }
  static std::string fault(const GroupShape&) { return {}; }
  void project(int n, const Vec3* z, const Vec3*, Vec3* p, double*) const { project_onto_circle(n, z, p); }
};

struct Distance {
  static constexpr const char* name = "distance";
  static constexpr const char* help = "two vertices at a given distance";
  static constexpr bool slack = false, whole = false, by_volume = false;
  static constexpr int least = 2, most = 2;
  using Params = WithTarget<Length>;

  double weight = 0, length = 0;
  static Distance bind(const Params& p, const GroupShape& g) {
    return {p.stiffness, p.of(norm(g.rest[1] - g.rest[0]))};
  }
  static std::string fault(const GroupShape&) { return {}; }
  void project(int, const Vec3* z, const Vec3*, Vec3* p, double*) const {
    const Vec3 d = z[1] - z[0];
    const double now = norm(d);
    p[1] = now > 0 ? d * (0.5 * length / now) : Vec3{0.5 * length, 0, 0};  // any direction will do
    p[0] = -p[1];
  }
};

/// The angle at the second of three vertices. The nearest triangle lies in the plane of z, where points are complex
/// numbers: with a = z_0 - z_1 and b = z_2 - z_1 it is a' = s u, b' = t w u for w = exp(+-i angle), |u| = 1, s and t >=
/// 0. Distances are measured by 2/3 (|a|^2 + |b|^2 - a.b), that is about the mean. Then the best u is the direction of
/// s g + t h with g = a - b/2, h = conj(w) (b - a/2), and (s, t) the first eigenvector of the 2x2 problem
/// |s g + t h|^2 = lambda (s^2 + t^2 - s t cos angle).
struct Angle {
  static constexpr const char* name = "angle";
  static constexpr const char* help = "a given angle at the second of three vertices";
  static constexpr bool slack = true, whole = false, by_volume = false;
  static constexpr int least = 3, most = 3;
  using Params = WithTarget<Degrees>;
  static constexpr double degree = 3.14159265358979323846 / 180;

  double weight = 0, cosine = 1, sine = 0;
  static Angle bind(const Params& p, const GroupShape& g) {
    const Vec3 a = g.rest[0] - g.rest[1], b = g.rest[2] - g.rest[1];
    // no angle is larger than a straight one: `scale` ends there
    const double angle = std::min(p.of(std::atan2(norm(cross(a, b)), dot(a, b)) / degree), 180.0) * degree;
    return {p.stiffness, std::cos(angle), std::sin(angle)};
  }
  static std::string fault(const GroupShape& g) {
    if (norm(g.rest[0] - g.rest[1]) > 0 && norm(g.rest[2] - g.rest[1]) > 0) return {};
    return "found vertices that coincide at rest, expected three that make an angle";
  }

  struct Complex {
    double re, im;
    Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
    Complex operator*(double s) const { return {re * s, im * s}; }
    Complex times(const Complex& o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
    double dot(const Complex& o) const { return re * o.re + im * o.im; }
  };
  struct Candidate {
    double overlap = -1, s = 0, t = 0;  // squared, in units of the distance; s and t in place
    Complex u{1, 0};
  };

  void consider(const Complex& g, const Complex& h, double s, double t, const Complex& w, Candidate& best,
                Complex& best_w) const {
    if (s < 0 || t < 0) return;
    const double size = s * s + t * t - s * t * cosine;
    const Complex sum = g * s + h * t;
    const double overlap = size > 0 ? sum.dot(sum) / size : -1;
    if (!(overlap > best.overlap)) return;
    const double length = std::sqrt(sum.dot(sum));
    const double scale = length / size;  // the best size of what has this direction
    best = {overlap, s * scale, t * scale, length > 0 ? sum * (1 / length) : Complex{1, 0}};
    best_w = w;
  }

  void project(int, const Vec3* z, const Vec3*, Vec3* p, double*) const {
    const Vec3 a = z[0] - z[1], b = z[2] - z[1];
    // a frame of the plane; any that contains both where they are parallel
    const bool first = dot(a, a) >= dot(b, b);
    const Vec3 &longer = first ? a : b, &other = first ? b : a;
    const double size = norm(longer);
    if (!(size > 0)) {  // no direction is better than another, and none than the point itself
      p[0] = p[1] = p[2] = Vec3{};
      return;
    }
    const Vec3 e1 = longer / size;
    Vec3 e2 = other - e1 * dot(e1, other);
    e2 -= e1 * dot(e1, e2);
    if (!(norm(e2) > 1e-14 * size)) e2 = cross(e1, std::abs(e1.x) < 0.6 ? Vec3{1, 0, 0} : Vec3{0, 1, 0});
    e2 = e2 / norm(e2);
    const auto flat = [&](const Vec3& v) { return Complex{dot(e1, v), dot(e2, v)}; };
    const Complex A = flat(a), B = flat(b), g = A + B * -0.5;
    Candidate best;
    Complex w{1, 0};
    for (const double sign : {1.0, -1.0}) {
      const Complex turn{cosine, sign * sine};
      const Complex h = Complex{cosine, -sign * sine}.times(B + A * -0.5);
      // in the sum and the difference of s and t the right-hand side is diagonal
      const double plus = 1 / std::sqrt(2 - cosine), minus = 1 / std::sqrt(2 + cosine);
      const Complex m = (g + h) * plus, d = (g + h * -1) * minus;
      const double angle = 0.5 * std::atan2(2 * m.dot(d), m.dot(m) - d.dot(d));
      const double along = std::cos(angle) * plus, across = std::sin(angle) * minus;
      const double s = along + across, t = along - across;
      consider(g, h, s < 0 || t < 0 ? -s : s, s < 0 || t < 0 ? -t : t, turn, best, w);
      // the eigenvector may lie outside: then the best is on the border
      consider(g, h, 1, 0, turn, best, w);
      consider(g, h, 0, 1, turn, best, w);
    }
    const Complex pa = best.u * best.s, pb = w.times(best.u) * best.t;
    const Vec3 to_a = e1 * pa.re + e2 * pa.im, to_b = e1 * pb.re + e2 * pb.im;
    const Vec3 mean = (to_a + to_b) / 3;
    p[0] = to_a - mean, p[1] = -mean, p[2] = to_b - mean;
  }
};

/// Nearest pair of vectors that span a parallelogram of the area, `root` squared (PD Eq. 25, determinant.h), less a and
/// b.
Columns<double, 2> change_to_area(const Vec3& a, const Vec3& b, double area, double root) {
  const Svd32<double> svd = svd32<double>({a, b});
  if (!(area > 0)) return svd.compose(0, -svd.s1);
  const DeterminantProblem<double, 1> problem({svd.s0}, svd.s1);
  const double last = solve_determinant(problem, svd.s0 * svd.s1, area, root);
  return svd.compose(problem.other(last, 0) - svd.s0, last - svd.s1);
}

/// T - F for the nearest T of the determinant `product`, `root` cubed.
Mat3 change_to_determinant(const Mat3& F, double product, double root) {
  Mat3 D, U, V;
  const Mat3 scaled = F * (1 / root);
  const double now = det(scaled);
  if (now > 0.3 && now < 2 && near_determinant(scaled, now, 1.0, D)) return D * root;
  Vec3 s, change;
  rotation_svd(F, U, s, V);
  if (product > 0) {
    const DeterminantProblem<double, 2> problem({s.x, s.y}, s.z);
    const double last = solve_determinant(problem, s.x * s.y * s.z, product, root);
    change = {problem.other(last, 0) - s.x, problem.other(last, 1) - s.y, last - s.z};
  } else {
    change = {0, 0, -s.z};
  }
  return U * Mat3::diagonal(change) * transpose(V);
}

double signed_volume(const Vec3* q) { return dot(q[1] - q[0], cross(q[2] - q[0], q[3] - q[0])) / 6; }
Vec3 vector_area(int n, const Vec3* q) {
  Vec3 sum{};
  for (int i = 1; i + 1 < n; ++i) sum += cross(q[i] - q[0], q[i + 1] - q[0]);
  return sum * 0.5;
}

/// Area of a triangle or a polygon, for which it is the length of the vector area. Orthonormal combinations of the
/// vertices say all about a group that is not its mean. The area of a triangle depends on its two alone, that of a
/// quadrilateral on its two diagonals, and is a multiple of that of their parallelogram. More vertices: by SQP.
struct Area {
  static constexpr const char* name = "area";
  static constexpr const char* help = "a given area of a triangle or a polygon (PD Eq. 24-26)";
  static constexpr bool slack = true, whole = false, by_volume = false;
  static constexpr int least = 3, most = 0;
  using Params = WithTarget<AreaTarget>;

  double weight = 0, spanned = 0, root = 0;  // area of the parallelogram
  Formula polygon;
  static std::size_t scratch_size(const GroupShape& g) { return g.count > 4 ? sqp_scratch_size(g.count, 1) : 0; }
  static Area bind(const Params& p, const GroupShape& g) {
    const double area = p.of(norm(vector_area(g.count, g.rest))), spanned = g.count > 3 ? area : area * 2 / sqrt3;
    Area out{p.stiffness, spanned, std::sqrt(spanned), {}};
    if (g.count > 4) {
      out.polygon = {1, [area](const Vec3* q, int n, double* c, Vec3* gradient) {
                       const Vec3 a = vector_area(n, q);
                       const double now = norm(a);
                       c[0] = now - area;
                       const Vec3 normal = now > 0 ? a / now : Vec3{};
                       for (int i = 0; i < n; ++i)
                         gradient[i] = cross(q[(i + 1) % n] - q[(i + n - 1) % n], normal) * 0.5;
                     }};
    }
    return out;
  }
  static std::string fault(const GroupShape& g) {
    return norm(vector_area(g.count, g.rest)) > 0 ? "" : "found vertices on a line at rest, expected some area";
  }
  void project(int n, const Vec3* z, const Vec3*, Vec3* p, double* scratch) const {
    if (n > 4) {
      project_by_sqp(polygon, n, z, p, scratch);
    } else if (n == 4) {
      const auto d = change_to_area((z[2] - z[0]) * half_root, (z[3] - z[1]) * half_root, spanned, root);
      const Vec3 first = d[0] * half_root, second = d[1] * half_root;
      p[0] = z[0] - first, p[2] = z[2] + first, p[1] = z[1] - second, p[3] = z[3] + second;
    } else {
      const auto d = change_to_area((z[1] - z[0]) * half_root, (z[2] * 2 - z[0] - z[1]) * sixth_root, spanned, root);
      const Vec3 across = d[0] * half_root, along = d[1] * sixth_root;
      p[0] = z[0] - across - along, p[1] = z[1] + across - along, p[2] = z[2] + along * 2;
    }
  }

 private:
  static constexpr double sqrt3 = 1.7320508075688772, half_root = 0.70710678118654752, sixth_root = 0.40824829046386302;
};

struct Volume {
  static constexpr const char* name = "volume";
  static constexpr const char* help = "a given volume of the tetrahedron of four vertices (PD Eq. 24-26)";
  static constexpr bool slack = true, whole = false, by_volume = false;
  static constexpr int least = 4, most = 4;
  using Params = WithTarget<VolumeTarget>;

  double weight = 0, product = 0, root = 0;  // determinant of three orthonormal combinations, and its cube root
  double sign = 1;
  static Volume bind(const Params& p, const GroupShape& g) {
    const double rest = signed_volume(g.rest), product = 3 * p.of(std::abs(rest));
    return {p.stiffness, product, std::cbrt(product), rest > 0 ? 1.0 : -1.0};
  }
  static std::string fault(const GroupShape& g) {
    return signed_volume(g.rest) != 0 ? "" : "found vertices on a plane at rest, expected some volume";
  }
  /// The combinations are halves of sums with two signs each; their determinant is 3 times the volume.
  void project(int, const Vec3* z, const Vec3*, Vec3* p, double*) const {
    const Vec3 a = (z[1] - z[0]) * 0.5, b = (z[3] - z[2]) * 0.5, c = (z[2] + z[3] - z[0] - z[1]) * (0.5 * sign);
    const Mat3 D = change_to_determinant({{a + b, a - b, c}}, product, root);
    const Vec3 x = D.col[0] * 0.5, y = D.col[1] * 0.5, w = D.col[2] * (0.5 * sign);
    p[0] = z[0] - x - y - w, p[1] = z[1] + x + y - w, p[2] = z[2] - x + y + w, p[3] = z[3] + x - y + w;
  }
};

}  // namespace

PotentialEntry planarity_entry() { return group_entry<Planarity>(); }
PotentialEntry circle_entry() { return group_entry<Circle>(); }
PotentialEntry distance_entry() { return group_entry<Distance>(); }
PotentialEntry angle_entry() { return group_entry<Angle>(); }
PotentialEntry area_entry() { return group_entry<Area>(); }
PotentialEntry volume_entry() { return group_entry<Volume>(); }

}  // namespace verve
