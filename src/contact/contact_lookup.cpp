// The narrow phase: how deep a candidate is at x, and which way is out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "base/stopwatch.h"
#include "contact/contacts.h"
#include "contact/proximity.h"
#include "contact/ties.h"

namespace verve {

namespace {

/// Of an edge, at each end: where its contact is mollified.
constexpr double end_zone = 0.1;
/// Of the square of the sine between two edges: below this their contact is mollified, and their vertices take over.
constexpr double parallel = 0.05;

/// From 0 at 0 to 1 at 1 and beyond, without a kink.
double mollifier(double u) { return u < 1 ? u * u * (3 - 2 * u) : 1; }

}  // namespace

/// A vertex that comes out on the other side has come through: the side on which it was goes on for it.
Touch Contacts::touch(const OnShape& c, const Vec3& x) const {
  const Touch plane{c.before.distance + dot(c.before.normal, x - c.from), c.before.normal};
  if (planes) return plane;
  const Touch found = shapes[c.shape].touch(x);
  return opposite(found.normal, c.before.normal) ? plane : found;
}

double Contacts::distance_from(const Face& face, const PointTriangle& nearest, double slack, const Moment& x,
                               Vec3& gradient) const {
  const Vec3 a = x[face.rows[0]], b = x[face.rows[1]], d = x[face.rows[2]];
  const Vec3 normal = direction(cross(b - a, d - a), {0, 1, 0});
  const double apart = std::sqrt(nearest.squared_distance);
  if (face.side != 0) {
    // a sheet: the side on which the vertex was stays its side, however far it has come through
    const Vec3 out = normal * double(face.side);
    const bool flat = nearest.part == TrianglePart::face || apart <= slack;
    gradient = flat ? out : direction(nearest.offset, out);
    return flat ? dot(out, nearest.offset) : apart;
  }
  const double above = dot(normal, nearest.offset);
  gradient = normal;
  if (apart <= slack) {  // no direction of its own: that of where it lies
    const TrianglePart part = part_at(nearest.weights);
    if (part != TrianglePart::face && face.is_closed(part))
      gradient = direction(this->outward[face.normals][size_t(part)], normal);
    return dot(gradient, nearest.offset);
  }
  if (nearest.part == TrianglePart::face) return above;
  gradient = direction(nearest.offset, normal);
  if (above >= -slack) return apart;
  const Vec3& outward = this->outward[face.normals][size_t(nearest.part)];
  if (face.is_closed(nearest.part)) {
    // nearest to where faces meet, and to none of them: outside of a ridge, inside of a valley
    const double sign = dot(outward, nearest.offset) < 0 ? -1 : 1;
    gradient = direction(nearest.offset * sign, normal);
    return sign * apart;
  }
  const Vec3 beside = nearest.offset - normal * above;
  if (!(dot(outward, beside) > 0)) {
    gradient = direction(nearest.offset * -1.0, normal);
    return -apart;
  }
  // Below a face (by a) and beside it (by e), past a convex edge: inside as long as it is farther below than beside;
  // (e^2 - a^2) over the greater of the two rather than e - a, so that nothing is pushed sideways that stands on the
  // edge, and that it goes on as the distance from the edge where it is above. Outside it is no obstacle: the face beyond
  // the edge is none that it may touch, and a plane across its way, frozen for the step, would be a wall to what slides
  // over it (a block on a slab stopped where its rim came to a row of vertices).
  const double e = norm(beside), below = -above, ratio = std::min(e, below) / std::max(e, below);
  const bool inside = e < below - slack;
  const double level = inside ? 1 + ratio * ratio : 2 * ratio, sideways = inside ? 2 * ratio : 0;
  gradient = normal * level + direction(beside, {}) * sideways;
  return (e * e - below * below) / std::max(e, below);
}

PointTriangle Contacts::nearest_on(const Face& face, const Moment& x, int vertex) const {
  return point_triangle(at(x, vertex), x[face.rows[0]], x[face.rows[1]], x[face.rows[2]]);
}

/// The nearest of the faces that a vertex may touch. Of several that are equally near, as at an edge or a corner that
/// they share, the one counts that it is farthest outside of; of several of these the first.
double Contacts::touch(const OnFaces& c, const Moment& x, ContactRow& row) const {
  const auto beyond = [](double distance, double by) { return distance > -by ? (distance + by) * (distance + by) : 0; };
  const Face* face = nullptr;
  PointTriangle nearest;
  double nearer = 0, as_near = 0;  // squares of the distances of a nearer face, and of one as near
  int equal = 0;                   // that may be as near
  for (int f = c.first; f < c.last; ++f) {
    const PointTriangle found = nearest_on(faces[f], x, c.vertex);
    equal += face && found.squared_distance <= as_near;
    if (face && !(found.squared_distance < nearer)) continue;
    nearest = found, face = &faces[f];
    const double distance = std::sqrt(found.squared_distance);
    nearer = beyond(distance, -c.slack), as_near = beyond(distance, c.slack);
  }
  if (!face) return -std::numeric_limits<double>::infinity();
  double distance = distance_from(*face, nearest, c.slack, x, row.direction);
  for (int f = c.first; equal > 0 && f < c.last; ++f) {
    const PointTriangle found = nearest_on(faces[f], x, c.vertex);
    if (&faces[f] == face || !(found.squared_distance <= as_near)) continue;
    Vec3 gradient;
    const double other = distance_from(faces[f], found, c.slack, x, gradient);
    if (other > distance + c.slack) distance = other, row.direction = gradient, face = &faces[f], nearest = found;
  }
  row.count = 4, row.scale = 1, row.rows = {c.vertex, face->rows[0], face->rows[1], face->rows[2]};
  row.share = {1, -nearest.weights[0], -nearest.weights[1], -nearest.weights[2]};
  row.stiffness = c.stiffness;
  if (c.vertex < 0) {  // on a point of a collider: what is pushed is the face, the other way
    row.count = 3, row.rows = {face->rows[0], face->rows[1], face->rows[2], -1};
    row.share = {nearest.weights[0], nearest.weights[1], nearest.weights[2], 0};
    row.direction = row.direction * -1.0;
  }
  return c.thickness - distance;
}

/// Two edges that cross each other, as lines: ends are vertices, which have faces to touch. Towards the ends the energy
/// is mollified, or it would leap where one slips off the other; at right angles to both no length of theirs matters.
/// The weight w of the energy 1/2 k w p^2 is that of where the stencil is found: a depth sqrt(w) p, and shares
/// likewise.
double Contacts::touch(const OnEdge& c, const Moment& x, ContactRow& row) const {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const Vec3 p0 = x[c.rows[0]], p1 = x[c.rows[1]], q0 = at(x, c.rows[2]), q1 = at(x, c.rows[3]);
  const Vec3 p = p1 - p0, q = q1 - q0, r = p0 - q0, n = cross(p, q);
  const double pp = dot(p, p), qq = dot(q, q), nn = dot(n, n), turn = nn / (pp * qq);
  if (!(turn > 1e-6)) return none;
  const double s = dot(cross(q, r), n) / nn, t = dot(cross(p, r), n) / nn;
  if (!(s > 0 && s < 1 && t > 0 && t < 1)) return none;
  const double weight =
      mollifier(std::min(s, 1 - s) / end_zone) * mollifier(std::min(t, 1 - t) / end_zone) * mollifier(turn / parallel);
  if (!(weight > 1e-12)) return none;
  row.count = c.rows[2] < 0 ? 2 : 4, row.rows = c.rows, row.scale = std::sqrt(weight);
  row.share = {1 - s, s, t - 1, -t};
  row.direction = n * (c.side / std::sqrt(nn));
  row.stiffness = c.stiffness;
  return row.scale * (c.thickness - dot(row.direction, r));
}

namespace {

/// Share of a step after which two that go past each other by `longest` come within a hundredth of `near`, by
/// conservative advancement: they go on for as long as they cannot meet, again and again. 1: not in this step.
template <class Gap>
double meeting_time(double longest, double near, Gap&& gap) {
  constexpr int most_rounds = 16;
  double time = 0;
  for (int round = 0; round < most_rounds && time < 1; ++round) {
    const double apart = gap(time);
    if (apart <= 0.01 * near) break;
    time += apart / longest;
  }
  return std::min(time, 1.0);
}

}  // namespace

/// The stencil is that of the meeting if by it the two are apart where the step begins.
template <class C>
bool Contacts::parts_at_start(const C& c) const {
  ContactRow row;
  const double depth = touch(c, moment(c, start.data()), row);
  return std::isfinite(depth) && depth + c.time * row.along(ways.data()) <= 0;
}

void Contacts::find_meeting(OnFaces& c, double least) {
  double longest = 0;
  for (int f = c.first; f < c.last; ++f)
    for (const int row : faces[f].rows) longest = std::max(longest, norm((ways[c.vertex] - ways[row]).xyz()));
  if (!(longest > least)) return;
  c.time = meeting_time(longest, least, [&](double time) {
    const Moment x(start.data(), ways.data(), time);
    double squared = std::numeric_limits<double>::infinity();
    for (int f = c.first; f < c.last; ++f)
      squared = std::min(squared, nearest_on(faces[f], x, c.vertex).squared_distance);
    return std::sqrt(squared) - c.thickness;
  });
  if (c.time >= 1 || !parts_at_start(c)) c.time = 0;
}

void Contacts::find_meeting(OnEdge& c, double least) {
  double longest = 0;
  for (int k = 0; k < 4; ++k)
    longest = std::max(longest, norm((ways[c.rows[k / 2]] - ways[c.rows[2 + k % 2]]).xyz()));
  if (!(longest > least)) return;
  c.time = meeting_time(longest, least, [&](double time) {
    const Moment x(start.data(), ways.data(), time);
    return std::sqrt(segment_segment(x[c.rows[0]], x[c.rows[1]], x[c.rows[2]], x[c.rows[3]]).squared_distance) -
           c.thickness;
  });
  if (c.time >= 1 || !parts_at_start(c)) c.time = 0;
}

void Contacts::look(const Vec4* x) {
  Stopwatch watch;
  int count = 0;
  each([&](Candidate& c) { c.row.id = ids_per_candidate * count++; });
  const auto place = [&](Candidate& c, double depth) {
    c.depth = depth - c.rest;
    c.offset = std::isfinite(depth) ? c.depth + c.row.along(x) : depth;
    if (c.time > 0) c.offset += c.time * c.row.along(ways.data());
    // (an edge that crosses nothing where the step begins has a depth of nothing)
    const double before = std::isfinite(c.start_depth) ? c.start_depth : 0;
    c.way = std::isfinite(depth) && moves(collider_of(c)) ? depth - before : 0;
  };
  const auto over = [](int size, auto&& find) {
    parallel_for(size, 64, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) find(i);
    });
  };
  over(int(on_shapes.size()), [&](int i) {
    OnShape& c = on_shapes[i];
    const Touch found = touch(c, c.at(x));
    c.row.direction = found.normal, c.row.stiffness = c.stiffness;
    place(c, c.thickness - found.distance);
  });
  over(int(on_faces.size()), [&](int i) {
    OnFaces& c = on_faces[i];
    place(c, touch(c, moment(c, x), c.row));
  });
  over(int(on_edges.size()), [&](int i) {
    OnEdge& c = on_edges[i];
    place(c, touch(c, moment(c, x), c.row));
  });
  watch.book(milliseconds);
}

}  // namespace verve
