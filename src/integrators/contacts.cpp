#include "integrators/contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "contact/proximity.h"
#include "integrators/stopwatch.h"

namespace verve {

namespace {

void add(Vec4* gradient, const ContactRow& row, double force) {
  for (int i = 0; i < row.count; ++i) gradient[row.rows[i]] += Vec4(row.slope(i) * force);
}

/// Of an edge, at each end: where it touches less.
constexpr double fading = 0.1;
/// Of the square of the sine between two edges: below this they touch less, and their vertices take over.
constexpr double parallel = 0.05;

/// From 0 at 0 to 1 at 1 and beyond.
double fade(double u) { return u < 1 ? u * u * (3 - 2 * u) : 1; }

/// Of squared distances: what round-off makes of a feature that several faces share.
constexpr double same_feature = 1e-9;

/// W of a spring of stiffness k that gives way at `cap` (Huber).
double huber(double length, double k, double cap) {
  return k * length <= cap ? 0.5 * k * length * length : cap * length - 0.5 * cap * cap / k;
}

}  // namespace

void Contacts::clear(int bodies, int colliders) {
  shapes.clear(), shape_moves.clear(), on_shapes.clear(), on_faces.clear(), faces.clear(), outward.clear(),
      on_edges.clear(), grips.clear();
  meetings.clear(), rows_.clear(), near_.clear(), places_.clear(), points.clear();
  planes = false;
  touching_ = false;
  pair_energy_.clear(), grip_energy_.clear();
  depth_ = 0;
  bodies_ = bodies, sides_ = bodies + colliders;
  meeting_at_.assign(size_t(bodies) * sides_, -1);
}

int Contacts::meeting_of(int body, int other, int collider) {
  if (other == body) return -1;
  if (other >= 0 && other < body) std::swap(body, other);
  int& place = place_of(body, other, collider);
  if (place < 0) {
    place = int(meetings.size());
    meetings.push_back({body, other, collider, {}, {}, 0});
  }
  return place;
}

void Contacts::close_faces(int first) {
  constexpr int ends[3][2] = {{0, 1}, {1, 2}, {2, 0}};  // as TrianglePart counts edges
  const auto closed = [](const Face& f, int edge) { return f.closed >> (3 + edge) & 1; };
  for (size_t i = first; i < faces.size(); ++i)
    for (int e = 0; e < 3; ++e)
      for (size_t j = i + 1; j < faces.size(); ++j)
        for (int other = 0; other < 3; ++other) {
          const int a = faces[j].rows[ends[other][0]], b = faces[j].rows[ends[other][1]];
          const int p = faces[i].rows[ends[e][0]], q = faces[i].rows[ends[e][1]];
          if ((a == q && b == p) || (a == p && b == q))
            faces[i].closed |= 1 << (3 + e), faces[j].closed |= 1 << (3 + other);
        }
  // around a corner they are when each of them has both its neighbours there
  for (size_t i = first; i < faces.size(); ++i)
    for (int corner = 0; corner < 3; ++corner) {
      bool all = true;
      for (size_t j = first; all && j < faces.size(); ++j)
        for (int c = 0; c < 3; ++c)
          if (faces[j].rows[c] == faces[i].rows[corner]) all = closed(faces[j], c) && closed(faces[j], (c + 2) % 3);
      if (all) faces[i].closed |= 1 << corner;
    }
}

void Contacts::drop_meeting() {
  const Meeting& last = meetings.back();
  place_of(last.body, last.other, last.collider) = -1;
  meetings.pop_back();
}

/// From the point that a grip holds to, to that which it holds, and which vertices it pulls.
Vec3 Contacts::find_stretch(const Vec4* x, const Grip& grip, Place& place) const {
  place.count = grip.count;
  Vec3 own{}, other{};
  for (int i = 0; i < grip.count; ++i) {
    const int row = row_of_state[grip.rows[i]];
    place.rows[i] = row, place.share[i] = i < grip.own ? grip.weights[i] : -grip.weights[i];
    (i < grip.own ? own : other) += x[row].xyz() * grip.weights[i];
  }
  if (grip.collider >= 0) other = shapes[grip.collider].pose.to_world(grip.point);
  return own - other;
}

void Contacts::take_rows(Grip& grip, int own, int count, const std::array<int, 4>& rows) const {
  grip.own = own, grip.count = count;
  for (int i = 0; i < count; ++i) grip.rows[i] = state_of_row[rows[i]];
}

/// Moves the points that a grip joins until it is stretched by `offset`: that of a collider under a vertex; else both,
/// to where they touch now. On a body, that of a vertex goes to the plane of the face that it touches. False where that
/// has none.
bool Contacts::anchor(const Vec4* x, Grip& grip, const Place& place, const Vec3& offset) const {
  if (grip.collider >= 0) {
    const Pose& pose = shapes[grip.collider].pose;
    if (place.touches == 1) {
      grip.point = pose.to_local(pose.to_world(grip.point) + place.offset - offset);
      return true;
    }
    take_rows(grip, place.touches, place.touches, place.at_rows);
    Vec3 own{};
    for (int i = 0; i < place.touches; ++i)
      grip.weights[i] = place.at[i], own += x[place.at_rows[i]].xyz() * place.at[i];
    grip.point = pose.to_local(own - offset);
    return true;
  }
  if (grip.own == 2) return anchor_on_edges(x, grip, place.at_rows, place.at[1], -place.at[3], offset, place.normal);
  return anchor_on_face(x, grip, {place.at_rows[1], place.at_rows[2], place.at_rows[3]},
                        x[place.at_rows[0]].xyz() - offset, place.normal);
}

/// Where the line through `at` along which the face pushes comes through its plane. Beside the face, where it pushes
/// askew, that is not the nearest point: a spring to that would be stretched by all of the way between the two.
bool Contacts::anchor_on_face(const Vec4* x, Grip& grip, const std::array<int, 3>& face, const Vec3& at,
                              const Vec3& out) const {
  std::array<Vec3, 3> corner;
  for (int i = 0; i < 3; ++i) corner[i] = x[face[i]].xyz();
  const Vec3 e = corner[1] - corner[0], f = corner[2] - corner[0];
  const Vec3 normal = direction(cross(e, f), out);
  const double along = dot(normal, out);
  if (!(std::abs(along) > 0.1)) return false;
  const Vec3 d = at - corner[0] - out * (dot(normal, at - corner[0]) / along);
  const double ee = dot(e, e), ff = dot(f, f), ef = dot(e, f), det = ee * ff - ef * ef;
  if (!(det > 0)) return false;
  const double s = (ff * dot(d, e) - ef * dot(d, f)) / det, t = (ee * dot(d, f) - ef * dot(d, e)) / det;
  grip.own = 1, grip.count = 4;
  for (int i = 0; i < 3; ++i) grip.rows[1 + i] = state_of_row[face[i]];
  grip.weights = {1, 1 - s - t, s, t};
  return true;
}

/// Points of two edges beside those at s and t, so that they are apart by `offset` more across `out`.
bool Contacts::anchor_on_edges(const Vec4* x, Grip& grip, const std::array<int, 4>& rows, double s, double t,
                               const Vec3& offset, const Vec3& out) const {
  const auto across = [&](const Vec3& v) { return v - out * dot(out, v); };
  const Vec3 p = across(x[rows[1]].xyz() - x[rows[0]].xyz()), q = across(x[rows[3]].xyz() - x[rows[2]].xyz());
  const double pp = dot(p, p), qq = dot(q, q), pq = dot(p, q), det = pp * qq - pq * pq;
  if (!(det > 0)) return false;
  const double po = dot(p, offset), qo = dot(q, offset);
  s += (qq * po - pq * qo) / det, t += (pq * po - pp * qo) / det;
  take_rows(grip, 2, 4, rows);
  grip.weights = {1 - s, s, 1 - t, t};
  return true;
}

/// What has just come to touch slides by as much as it has gone since the step began, across the normal that it has
/// now: a spring that is not stretched there at any distance between the two. (Held to where the normal of the start
/// led, it was stretched by the way on which they came together, and W at x_n rose by all of that when it took hold.)
bool Contacts::hold_from_start(Grip& grip, const Place& place) const {
  const std::array<int, 4>& at = place.at_rows;
  const Vec3& normal = place.normal;
  if (grip.own != 2) return anchor_on_face(start.data(), grip, {at[1], at[2], at[3]}, start[at[0]].xyz(), normal);
  Vec3 apart{};
  for (int i = 0; i < 4; ++i) apart += start[at[i]].xyz() * place.at[i];
  apart = apart - normal * dot(normal, apart);
  return anchor_on_edges(start.data(), grip, at, place.at[1], -place.at[3], apart * -1.0, normal);
}

bool Contacts::find_points(const OnEdge& c, const Vec4* x, const Pose& pose, Grip& grip) const {
  const Vec3 p0 = x[c.rows[0]].xyz(), q0 = at(x, c.rows[2]), r = p0 - q0;
  const Vec3 p = x[c.rows[1]].xyz() - p0, q = at(x, c.rows[3]) - q0, n = cross(p, q);
  const double nn = dot(n, n);
  if (!(nn > 0.1 * parallel * dot(p, p) * dot(q, q))) return false;
  const double s = dot(cross(q, r), n) / nn, t = dot(cross(p, r), n) / nn;
  if (!(std::abs(s - 0.5) < 1.5 && std::abs(t - 0.5) < 1.5)) return false;
  if (c.rows[2] >= 0) return anchor_on_edges(x, grip, c.rows, s, t, {}, n / std::sqrt(nn));
  take_rows(grip, 2, 2, c.rows);
  grip.weights = {1 - s, s, 0, 0};
  grip.point = pose.to_local(p0 + p * s);
  return true;
}

void Contacts::find_point_on_face(const ContactRow& row, const Vec4* x, const Pose& pose, Grip& grip) const {
  take_rows(grip, 3, 3, row.rows);
  Vec3 own{};
  for (int i = 0; i < 3; ++i) grip.weights[i] = row.share[i], own += x[row.rows[i]].xyz() * row.share[i];
  grip.point = pose.to_local(own);
}

bool Contacts::find_point(const ContactRow& row, const Vec4* x, Grip& grip) const {
  return anchor_on_face(x, grip, {row.rows[1], row.rows[2], row.rows[3]}, x[row.rows[0]].xyz(),
                        direction(row.direction, {0, 1, 0}));
}

/// The spring of a grip, against sliding only: what it pulls along the normal is the business of the push. Neither that
/// normal nor the force at which it gives way changes during a step, so that W_t is a potential without leaps, and goes
/// on where what it holds comes off on the way. (Lagged, as in Li et al. 2020, "Incremental Potential Contact",
/// Sec. 5.)
double Contacts::hold(const Vec4* x, Vec4* gradient, Grip& grip, const ContactRow& row, double pressure,
                      double friction, int body, int other, std::span<double> energies) {
  Place& place = places_[&grip - grips.data()];
  place = {};
  const bool touches = pressure > 0;
  if (touches) place.touches = row.count, place.at_rows = row.rows, place.at = row.share;
  place.body = body, place.other = other, place.stiffness = row.stiffness, place.coulomb = pressure * friction;
  if (touches && (looks_again_ || !(grip.cap > 0))) grip.normal = direction(row.direction, {0, 1, 0});
  const Vec3 normal = place.normal = grip.normal;
  const auto find_offset = [&] {
    const Vec3 d = find_stretch(x, grip, place);
    place.offset = d - normal * dot(normal, d);
    return norm(place.offset);
  };
  double length = find_offset();
  const double k = row.stiffness, cap = grip.cap;
  if (!(cap > 0)) return 0;
  place.cap = cap;
  if (looks_again_ && length > grip.stretch && !(grip.collider >= 0 && shape_moves[grip.collider])) {
    if (anchor(x, grip, place, place.offset * (grip.stretch / length))) length = find_offset();
    if (length > grip.stretch + 1e-9 * (grip.stretch + cap / row.stiffness)) {  // it cannot: it lets go
      place.count = 0, grip.cap = 0;
      return 0;
    }
  }
  const double weight = k * length <= cap ? k : cap / length;
  const Vec3 first = direction(
      place.offset, direction(std::abs(normal.x) < 0.7 ? cross(normal, {1, 0, 0}) : cross(normal, {0, 1, 0}), {}));
  ContactRow along;
  along.count = place.count, along.rows = place.rows, along.share = place.share;
  along.direction = first, along.stiffness = k;
  along.force = -k * length, along.low = -cap, along.high = cap, along.friction = true, along.id = row.id + grip_id;
  add(gradient, along, weight * length);
  rows_.push_back(along);
  along.direction = cross(normal, first), along.force = 0, ++along.id;
  rows_.push_back(along);
  const double energy = huber(length, k, cap), share = other < 0 ? energy : 0.5 * energy;
  energies[body] += share, grip_energy_[body] += share;
  if (other >= 0) energies[other] += share, grip_energy_[other] += share;
  return energy;
}

/// Of a place that does not touch at x.
double Contacts::hold_on(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies) {
  if (c.grip < 0 || grips[c.grip].row < 0 || !(grips[c.grip].cap > 0)) return 0;
  Grip& grip = grips[c.grip];
  // other candidates do not see it any more; a collider that moves is looked at where it will be, and may come back
  const bool moves = grip.collider >= 0 && shape_moves[grip.collider];
  if (looks_again_ && !moves) {
    grip.cap = 0;
    return 0;
  }
  c.row.stiffness = c.stiffness;
  return hold(x, gradient, grip, c.row, 0, 0, c.body, c.other, energies);
}

double Contacts::push(const Vec4* x, Vec4* gradient, Candidate& c, std::span<double> energies) {
  touching_ = true;
  depth_ = std::max(depth_, c.depth);
  ContactRow& row = c.row;
  const double force = row.stiffness * c.depth;
  double energy = 0.5 * force * c.depth;
  add(gradient, row, -force);
  row.force = force;
  if (!planes) rows_.push_back(row);
  const double share = c.other < 0 ? energy : 0.5 * energy;
  energies[c.body] += share, pair_energy_[c.body] += share;
  if (c.other >= 0) energies[c.other] += share, pair_energy_[c.other] += share;
  if (c.meeting >= 0) {
    Meeting& m = meetings[c.meeting];
    m.normal += row.direction * (m.body == c.body ? force : -force);
    if (row.count == 1 || row.count == 4) {
      m.point += x[row.rows[0]].xyz() * force;
    } else {  // the place on a face or an edge that touches a collider
      for (int i = 0; i < row.count; ++i) m.point += x[row.rows[i]].xyz() * (row.share[i] * force);
    }
    m.weight += force;
  }
  // (the force of a row with a scale lacks it once more)
  if (c.grip >= 0 && grips[c.grip].row >= 0)
    energy += hold(x, gradient, grips[c.grip], row, force, c.friction * row.scale, c.body, c.other, energies);
  return energy;
}

/// Whoever comes out on the other side has come through: for him the side goes on on which he was.
Touch Contacts::touch(const OnShape& c, const Vec3& x) const {
  const Touch plane{c.before.distance + dot(c.before.normal, x - c.from), c.before.normal};
  if (planes) return plane;
  const Touch found = shapes[c.shape].touch(x);
  return opposite(found.normal, c.before.normal) ? plane : found;
}

double Contacts::distance_from(const Face& face, const PointTriangle& nearest, const Vec4* x, Vec3& gradient) const {
  const Vec3 a = x[face.rows[0]].xyz(), b = x[face.rows[1]].xyz(), d = x[face.rows[2]].xyz();
  const Vec3 normal = direction(cross(b - a, d - a), {0, 1, 0});
  const double apart = std::sqrt(nearest.squared_distance);
  if (face.side != 0) {
    // a sheet: the side on which the vertex was stays its side, however far it has come through
    const Vec3 out = normal * double(face.side);
    const bool flat = nearest.part == TrianglePart::face;
    gradient = flat ? out : direction(nearest.offset, out);
    return flat ? dot(out, nearest.offset) : apart;
  }
  const double above = dot(normal, nearest.offset);
  gradient = normal;
  if (nearest.part == TrianglePart::face) return above;
  gradient = direction(nearest.offset, normal);
  if (above >= 0) return apart;
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
  // below a face (by a) and beside it (by e), past a convex edge: inside as long as it is farther below than beside;
  // (e^2 - a^2) over the greater of the two rather than e - a, so that nothing is pushed sideways that stands on the
  // edge, and that it goes on as the distance from the edge where it is above
  const double e = norm(beside), below = -above, ratio = std::min(e, below) / std::max(e, below);
  const bool inside = e < below;
  const double level = inside ? 1 + ratio * ratio : 2 * ratio, sideways = inside ? 2 * ratio : 1 + ratio * ratio;
  gradient = normal * level + direction(beside, {}) * sideways;
  return (e * e - below * below) / std::max(e, below);
}

/// The nearest of the faces that a vertex may touch. An edge or a corner belongs to several, of which round-off would
/// choose one: there it is as far outside as it is for any of them.
double Contacts::touch(const OnFaces& c, const Vec4* x, ContactRow& row) const {
  const Vec3 p = at(x, c.vertex);
  const auto nearest_on = [&](const Face& f) {
    return point_triangle(p, x[f.rows[0]].xyz(), x[f.rows[1]].xyz(), x[f.rows[2]].xyz());
  };
  PointTriangle nearest;
  const Face* face = nullptr;
  for (int f = c.first; f < c.last; ++f) {
    const PointTriangle found = nearest_on(faces[f]);
    if (face && !(found.squared_distance < nearest.squared_distance)) continue;
    nearest = found, face = &faces[f];
  }
  if (!face) return -std::numeric_limits<double>::infinity();
  double distance = distance_from(*face, nearest, x, row.direction);
  if (nearest.part != TrianglePart::face) {
    const double tie = nearest.squared_distance * (1 + same_feature);
    for (int f = c.first; f < c.last; ++f) {
      const PointTriangle found = nearest_on(faces[f]);
      if (&faces[f] == face || !(found.squared_distance <= tie) || found.part == TrianglePart::face) continue;
      Vec3 gradient;
      const double other = distance_from(faces[f], found, x, gradient);
      if (other > distance) distance = other, row.direction = gradient, face = &faces[f], nearest = found;
    }
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
/// fades, or it would leap where one slips off the other; at right angles to both no length of theirs matters. The
/// weight w of the energy 1/2 k w p^2 is that of where the stencil is found: a depth sqrt(w) p, and shares likewise.
double Contacts::touch(const OnEdge& c, const Vec4* x, ContactRow& row) const {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const Vec3 p0 = x[c.rows[0]].xyz(), p1 = x[c.rows[1]].xyz(), q0 = at(x, c.rows[2]), q1 = at(x, c.rows[3]);
  const Vec3 p = p1 - p0, q = q1 - q0, r = p0 - q0, n = cross(p, q);
  const double pp = dot(p, p), qq = dot(q, q), nn = dot(n, n), turn = nn / (pp * qq);
  if (!(turn > 1e-6)) return none;
  const double s = dot(cross(q, r), n) / nn, t = dot(cross(p, r), n) / nn;
  if (!(s > 0 && s < 1 && t > 0 && t < 1)) return none;
  const double weight = fade(std::min(s, 1 - s) / fading) * fade(std::min(t, 1 - t) / fading) * fade(turn / parallel);
  if (!(weight > 1e-12)) return none;
  row.count = c.rows[2] < 0 ? 2 : 4, row.rows = c.rows, row.scale = std::sqrt(weight);
  row.share = {1 - s, s, t - 1, -t};
  row.direction = n * (c.side / std::sqrt(nn));
  row.stiffness = c.stiffness;
  return row.scale * (c.thickness - dot(row.direction, r));
}

void Contacts::keep_near(ContactRow& row, double depth) {
  if (!std::isfinite(depth) || !(row.stiffness > 0) || planes) return;
  row.force = row.stiffness * depth;
  near_.push_back(row);
}

void Contacts::look(const Vec4* x) {
  Stopwatch watch;
  int count = 0;
  each([&](Candidate& c) { c.row.id = ids_per_candidate * count++; });
  const auto place = [&](Candidate& c, double depth) {
    c.depth = depth - c.rest;
    c.offset = std::isfinite(depth) ? c.depth + c.row.along(x) : depth;
  };
  const auto over = [](int size, auto&& find) {
    parallel_for(size, 64, [&](int begin, int end, int) {
      for (int i = begin; i < end; ++i) find(i);
    });
  };
  over(int(on_shapes.size()), [&](int i) {
    OnShape& c = on_shapes[i];
    const Touch found = touch(c, x[c.vertex].xyz());
    c.row.count = 1, c.row.rows[0] = c.vertex, c.row.share[0] = 1, c.row.scale = 1;
    c.row.direction = found.normal, c.row.stiffness = c.stiffness;
    place(c, c.thickness - found.distance);
  });
  over(int(on_faces.size()), [&](int i) { place(on_faces[i], touch(on_faces[i], x, on_faces[i].row)); });
  over(int(on_edges.size()), [&](int i) { place(on_edges[i], touch(on_edges[i], x, on_edges[i].row)); });
  watch.book(milliseconds);
}

void Contacts::carry(const Vec4* from, const Vec4* to, const Mat3& turn) {
  each([&](Candidate& c) {
    if (!std::isfinite(c.offset) || c.row.count < 4) return;  // what a collider does stays
    const double depth = c.offset - c.row.along(from);
    c.row.direction = turn * c.row.direction;
    c.offset = depth + c.row.along(to);
  });
  // friction holds across the normal, which turns along: a rigid motion stretches no spring
  for (Grip& grip : grips)
    if (grip.collider < 0) grip.normal = turn * grip.normal;
}

double Contacts::add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies) {
  rows_.clear(), near_.clear();
  places_.assign(grips.size(), {});
  for (Meeting& m : meetings) m.normal = m.point = {}, m.weight = 0;
  touching_ = false;
  depth_ = 0;
  pair_energy_.assign(energies.size(), 0.0), grip_energy_.assign(energies.size(), 0.0);
  double energy = 0;
  each([&](Candidate& c) {
    c.depth = std::isfinite(c.offset) ? c.offset - c.row.along(x) : c.offset;
    if (c.depth > 0) {
      energy += push(x, gradient, c, energies);
    } else {
      keep_near(c.row, c.depth);
      energy += hold_on(x, gradient, c, energies);
    }
  });
  looks_again_ = false;
  return energy;
}

bool Contacts::take_hold(bool from_start) {
  bool any = false;
  for (size_t g = 0; g < grips.size(); ++g)
    if (grips[g].row >= 0 && grips[g].cap == Grip::unknown && places_[g].count > 0) {
      const bool holds = !from_start || grips[g].collider >= 0 || hold_from_start(grips[g], places_[g]);
      grips[g].cap = holds ? places_[g].coulomb : 0, any = true;
    }
  return any;
}

void Contacts::settle_grips(const Vec4* x, std::span<double> losses, bool knows_pressure) {
  for (size_t g = 0; g < grips.size(); ++g) {
    const Place& place = places_[g];
    Grip& grip = grips[g];
    if (place.count == 0) {
      grip.row = -1;  // it let go
      continue;
    }
    const double length = norm(place.offset), k = place.stiffness, cap = std::min(place.cap, place.coulomb);
    grip.stretch = std::min(length, cap / k);
    const double lost = huber(length, k, place.cap) - 0.5 * k * grip.stretch * grip.stretch;
    if (place.touches == 0) {
      grip.row = -1;  // it came off: all is lost
    } else if (grip.stretch < length && !anchor(x, grip, place, place.offset * (grip.stretch / length))) {
      grip.row = -1;  // the point slides until the spring holds, and cannot
      continue;
    }
    grip.cap = knows_pressure ? place.coulomb : place.cap > 0 ? std::min(place.cap, place.coulomb) : Grip::unknown;
    const double share = place.other < 0 ? lost : 0.5 * lost;
    losses[place.body] += share, grip_energy_[place.body] -= share;
    if (place.other >= 0) losses[place.other] += share, grip_energy_[place.other] -= share;
  }
}

}  // namespace verve
