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

/// Times the stiffness of a place: what going round an edge at its depth may resist with.
constexpr double most_bent = 4;

/// From 0 at 0 to 1 at 1 and beyond, and its slope.
double fade(double u, double& slope) {
  slope = u < 1 ? 6 * u * (1 - u) : 0;
  return u < 1 ? u * u * (3 - 2 * u) : 1;
}

/// W of a spring of stiffness k that gives way at `cap` (Huber).
double huber(double length, double k, double cap) {
  return k * length <= cap ? 0.5 * k * length * length : cap * length - 0.5 * cap * cap / k;
}

}  // namespace

void Contacts::clear(int bodies, int colliders) {
  shapes.clear(), shape_moves.clear(), on_shapes.clear(), on_faces.clear(), faces.clear(), outward.clear(),
      on_edges.clear(), grips.clear();
  moving_.clear(), knows_moving_ = false;
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
  along.direction = first, along.stiffness = weight;
  along.force = -weight * length, along.pulls = true, along.id = row.id + grip_id;
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
double Contacts::hold_on(const Vec4* x, Vec4* gradient, int grip, ContactRow& row, double stiffness, int body,
                         int other, std::span<double> energies) {
  if (grip < 0 || grips[grip].row < 0 || !(grips[grip].cap > 0)) return 0;
  // other candidates do not see it any more; a collider that moves is looked at where it will be, and may come back
  const bool moves = grips[grip].collider >= 0 && shape_moves[grips[grip].collider];
  if (looks_again_ && !moves) {
    grips[grip].cap = 0;
    return 0;
  }
  row.stiffness = stiffness;
  return hold(x, gradient, grips[grip], row, 0, 0, body, other, energies);
}

double Contacts::push(const Vec4* x, Vec4* gradient, ContactRow& row, double depth, int grip, double friction, int body,
                      int other, int meeting, std::span<double> energies) {
  touching_ = true;
  depth_ = std::max(depth_, depth);
  const double force = row.stiffness * depth;
  double energy = 0.5 * force * depth;
  add(gradient, row, -force);
  row.force = force, row.pulls = false;
  if (!planes) rows_.push_back(row), bend(row);
  const double share = other < 0 ? energy : 0.5 * energy;
  energies[body] += share, pair_energy_[body] += share;
  if (other >= 0) energies[other] += share, pair_energy_[other] += share;
  if (meeting >= 0) {
    Meeting& m = meetings[meeting];
    m.normal += row.direction * (m.body == body ? force : -force);
    if (row.count == 1 || row.count == 4) {
      m.point += x[row.rows[0]].xyz() * force;
    } else {  // the place on a face or an edge that touches a collider
      for (int i = 0; i < row.count; ++i) m.point += x[row.rows[i]].xyz() * (row.share[i] * force);
    }
    m.weight += force;
  }
  if (grip >= 0 && grips[grip].row >= 0)
    energy += hold(x, gradient, grips[grip], row, force, friction, body, other, energies);
  return energy;
}

/// Inside, nearest to an edge where two faces meet in a valley, or to a corner: the depth is the distance r from there,
/// and 1/2 k r^2 resists going round it as it resists going in. That is a row without a force; left out, steps went too
/// far around, and back.
void Contacts::bend(const ContactRow& row) {
  if (row.bends == 0 || !(row.reach > 0)) return;
  const Vec3 n = direction(row.direction, {0, 1, 0});
  ContactRow round = row;
  round.bends = 0, round.force = 0, round.pulls = true, round.id = row.id + bend_id;
  round.stiffness = std::min(row.force / row.reach, most_bent * row.stiffness);
  const Vec3 other = std::abs(n.x) < 0.7 ? Vec3{1, 0, 0} : Vec3{0, 1, 0};
  const Vec3 first = direction(cross(n, row.bends == 1 ? row.axis : other), {});
  round.direction = first;
  rows_.push_back(round);
  if (row.bends == 1) return;
  round.direction = cross(n, first), ++round.id;
  rows_.push_back(round);
}

/// Whoever comes out on the other side has come through: for him the side goes on on which he was.
Touch Contacts::touch(const OnShape& c, const Vec3& x) const {
  const Touch plane{c.before.distance + dot(c.before.normal, x - c.from), c.before.normal};
  if (planes) return plane;
  const Touch found = shapes[c.shape].touch(x);
  return opposite(found.normal, c.before.normal) ? plane : found;
}

/// How far the rows of on_faces have gone since the step began, less what they have in common.
double Contacts::find_moves(const Vec4* x) {
  if (!knows_moving_) {
    moved_.assign(start.size(), -1);
    const auto add = [&](int row) {
      if (row >= 0 && moved_[row] < 0) moved_[row] = 0, moving_.push_back(row);
    };
    for (const OnFaces& c : on_faces) {
      if (c.last - c.first < 2) continue;
      add(c.row);
      for (int f = c.first; f < c.last; ++f)
        for (const int row : faces[f].rows) add(row);
    }
    knows_moving_ = true;
  }
  Vec4 mean;
  for (const int row : moving_) mean += x[row] - start[row];
  mean = mean * (1.0 / std::max<size_t>(moving_.size(), 1));
  double most = 0;
  for (const int row : moving_) {
    const Vec4 beside = x[row] - start[row] - mean;
    moved_[row] = std::sqrt(dot(beside, beside));
    most = std::max(most, moved_[row]);
  }
  return most;
}

/// The nearest of the faces that a vertex may touch.
double Contacts::touch(const OnFaces& c, const Vec4* x, ContactRow& row, const double* moved, double most_moved) const {
  const Vec3 p = at(x, c.row);
  double best = std::numeric_limits<double>::infinity(), distance_of_best = best;
  row.bends = 0;
  PointTriangle nearest;
  const Face* face = nullptr;
  for (int f = c.first; f < c.last; ++f) {
    const auto& v = faces[f].rows;
    if (moved && face && faces[f].distance > 0) {
      // it has come nearer by no more than it and its corners have moved, as have those that follow
      constexpr double digits = 1e-9;
      const double beyond = faces[f].distance * (1 - digits) - distance_of_best * (1 + digits) - moved[c.row];
      if (beyond > most_moved) break;
      if (beyond > std::max({moved[v[0]], moved[v[1]], moved[v[2]]})) continue;
    }
    const PointTriangle found = point_triangle(p, x[v[0]].xyz(), x[v[1]].xyz(), x[v[2]].xyz());
    if (!(found.squared_distance < best)) continue;
    best = found.squared_distance, distance_of_best = std::sqrt(best), nearest = found, face = &faces[f];
  }
  if (!face) return -std::numeric_limits<double>::infinity();
  const Vec3 a = x[face->rows[0]].xyz(), b = x[face->rows[1]].xyz(), d = x[face->rows[2]].xyz();
  const Vec3 normal = direction(cross(b - a, d - a), {0, 1, 0});
  double distance;
  const auto outward_of = [&](TrianglePart part) { return outward[face->normals][size_t(part)]; };
  const auto find_bend = [&] {
    row.reach = std::sqrt(best), row.bends = nearest.part < TrianglePart::edge_ab ? 2 : 1;
    row.axis = nearest.part == TrianglePart::edge_ab ? b - a : nearest.part == TrianglePart::edge_bc ? d - b : a - d;
  };
  if (face->side != 0) {
    // a sheet: the side on which the vertex was stays its side, however far it has come through
    const Vec3 out = normal * double(face->side);
    const bool flat = nearest.part == TrianglePart::face;
    row.direction = flat ? out : direction(nearest.offset, out);
    distance = flat ? dot(out, nearest.offset) : std::sqrt(best);
  } else {
    const double above = dot(normal, nearest.offset);
    if (nearest.part == TrianglePart::face) {
      distance = above, row.direction = normal;
    } else if (above >= 0) {
      distance = std::sqrt(best), row.direction = direction(nearest.offset, normal);
    } else if (face->is_closed(nearest.part)) {
      // nearest to where faces meet, and to none of them: outside of a ridge, inside of a valley
      const double sign = dot(outward_of(nearest.part), nearest.offset) < 0 ? -1 : 1;
      distance = sign * std::sqrt(best), row.direction = direction(nearest.offset * sign, normal);
      if (sign < 0) find_bend();
    } else {
      const Vec3 beside = nearest.offset - normal * above;
      if (dot(outward_of(nearest.part), beside) > 0) {
        // below a face (by a) and beside it (by e), past a convex edge: inside as long as it is farther below than
        // beside; (e^2 - a^2) over the greater of the two rather than e - a, so that nothing is pushed sideways that
        // stands on the edge, and that it goes on as the distance from the edge where it is above
        const double e = norm(beside), below = -above, ratio = std::min(e, below) / std::max(e, below);
        distance = (e * e - below * below) / std::max(e, below);
        const bool inside = e < below;
        const double level = inside ? 1 + ratio * ratio : 2 * ratio, sideways = inside ? 2 * ratio : 1 + ratio * ratio;
        row.direction = normal * level + direction(beside, {}) * sideways;
      } else {
        distance = -std::sqrt(best), row.direction = direction(nearest.offset * -1.0, normal);
        find_bend();
      }
    }
  }
  row.count = 4, row.fades = false, row.rows = {c.row, face->rows[0], face->rows[1], face->rows[2]};
  row.share = {1, -nearest.weights[0], -nearest.weights[1], -nearest.weights[2]};
  row.stiffness = c.stiffness;
  if (c.row < 0) {  // on a point of a collider: what is pushed is the face, the other way
    row.count = 3, row.rows = {face->rows[0], face->rows[1], face->rows[2], -1};
    row.share = {nearest.weights[0], nearest.weights[1], nearest.weights[2], 0};
    row.direction = row.direction * -1.0;
  }
  return c.thickness - distance;
}

/// Two edges that cross each other, as lines: ends are vertices, which have faces to touch. Towards the ends the energy
/// fades, or it would leap where one slips off the other; at right angles to both no length of theirs matters.
///   1/2 k w p^2 is that of a depth sqrt(w) p, and its row the slope of this: w changes over a fifth of an edge, and a
/// matrix that has only k w in it is off by several times along the edge. (Steps overshot there, and every other one
/// was halved.)
double Contacts::touch(const OnEdge& c, const Vec4* x, ContactRow& row, double& weight) const {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const Vec3 p0 = x[c.rows[0]].xyz(), p1 = x[c.rows[1]].xyz(), q0 = at(x, c.rows[2]), q1 = at(x, c.rows[3]);
  const Vec3 p = p1 - p0, q = q1 - q0, r = p0 - q0, n = cross(p, q);
  const double pp = dot(p, p), qq = dot(q, q), pq = dot(p, q), nn = dot(n, n), turn = nn / (pp * qq);
  if (!(turn > 1e-6)) return none;
  const double s_nn = dot(cross(q, r), n), t_nn = dot(cross(p, r), n);
  if (!(s_nn > 0 && s_nn < nn && t_nn > 0 && t_nn < nn)) return none;
  const double s = s_nn / nn, t = t_nn / nn;
  double slope_s, slope_t, slope_turn;
  const double on_p = fade(std::min(s, 1 - s) / fading, slope_s), on_q = fade(std::min(t, 1 - t) / fading, slope_t),
               across = fade(turn / parallel, slope_turn);
  weight = on_p * on_q * across;
  row.count = c.rows[2] < 0 ? 2 : 4, row.rows = c.rows, row.bends = 0;
  row.share = {1 - s, s, t - 1, -t};
  row.direction = n * (c.side / std::sqrt(nn));
  row.stiffness = c.stiffness;
  const double distance = dot(row.direction, r);
  row.fades = weight < 1;
  if (row.fades) {
    if (!(weight > 1e-12)) return none;
    const double root = std::sqrt(weight), depth = c.thickness - distance;
    // s and t by the conditions p.o = q.o = 0 on the offset o of the nearest points; turn = |p x q|^2 / |p|^2 |q|^2
    const Vec3 o = row.direction * distance;
    slope_s *= (s < 0.5 ? 1 : -1) * on_q * across / (fading * nn);
    slope_t *= (t < 0.5 ? 1 : -1) * on_p * across / (fading * nn);
    slope_turn *= 2 * on_p * on_q / parallel;
    const Vec3 turn_p = (cross(q, n) / (pp * qq) - p * (turn / pp)) * slope_turn;
    const Vec3 turn_q = (cross(n, p) / (pp * qq) - q * (turn / qq)) * slope_turn;
    for (int i = 0; i < 4; ++i) {
      const double end = i % 2 == 0 ? -1 : 1;
      const Vec3 of_p = (i < 2 ? o * end : Vec3{}) + p * row.share[i],
                 of_q = (i < 2 ? Vec3{} : o * end) + q * row.share[i];
      const Vec3 of_weight =
          (of_q * pq - of_p * qq) * slope_s + (of_q * pp - of_p * pq) * slope_t + (i < 2 ? turn_p : turn_q) * end;
      row.slopes[i] = row.direction * (row.share[i] * root) - of_weight * (depth / (2 * root));
    }
  }
  return c.thickness - distance;
}

double Contacts::line_depth(const OnEdge& c, const Vec4* x) const {
  const Vec3 p0 = x[c.rows[0]].xyz(), q0 = at(x, c.rows[2]);
  const Vec3 p = x[c.rows[1]].xyz() - p0, q = at(x, c.rows[3]) - q0, n = cross(p, q);
  const double size = norm(n);
  if (!(size * size > 1e-6 * dot(p, p) * dot(q, q))) return -std::numeric_limits<double>::infinity();
  return c.thickness - dot(n, p0 - q0) * (c.side / size);
}

void Contacts::keep_near(ContactRow& row, double depth) {
  if (!std::isfinite(depth) || !(row.stiffness > 0) || planes) return;
  row.force = row.stiffness * depth, row.pulls = false;
  near_.push_back(row);
}

double Contacts::add_gradient(const Vec4* x, Vec4* gradient, std::span<double> energies) {
  rows_.clear(), near_.clear();
  places_.assign(grips.size(), {});
  for (Meeting& m : meetings) m.normal = m.point = {}, m.weight = 0;
  touching_ = false;
  depth_ = 0;
  pair_energy_.assign(energies.size(), 0.0), grip_energy_.assign(energies.size(), 0.0);
  double energy = 0;
  // where they touch is found in parallel; what that does is added up in order
  Stopwatch watch;
  found_shapes_.resize(on_shapes.size());
  parallel_for(int(on_shapes.size()), 256, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i) found_shapes_[i] = touch(on_shapes[i], x[on_shapes[i].row].xyz());
  });
  const int count = int(on_faces.size());
  const double most_moved = find_moves(x);
  found_.resize(on_faces.size() + on_edges.size());
  parallel_for(int(found_.size()), 64, [&](int begin, int end, int) {
    for (int i = begin; i < end; ++i)
      found_[i].depth = i < count ? touch(on_faces[i], x, found_[i].row, moved_.data(), most_moved)
                                  : touch(on_edges[i - count], x, found_[i].row, found_[i].weight);
  });
  watch.book(milliseconds);
  ContactRow row;
  for (size_t i = 0; i < on_shapes.size(); ++i) {
    const OnShape& c = on_shapes[i];
    const Touch& found = found_shapes_[i];
    const double depth = c.thickness - found.distance;
    row.count = 1, row.rows[0] = c.row, row.share[0] = 1;
    row.direction = found.normal, row.stiffness = c.stiffness, row.id = ids_per_candidate * int(i);
    if (!(depth > 0)) {
      keep_near(row, depth);
      energy += hold_on(x, gradient, c.grip, row, c.stiffness, c.body, -1, energies);
      continue;
    }
    energy += push(x, gradient, row, depth, c.grip, c.friction, c.body, -1, c.meeting, energies);
  }
  for (int i = 0; i < int(found_.size()); ++i) {
    auto& [found, row, weight] = found_[i];
    row.id = ids_per_candidate * (int(on_shapes.size()) + i);
    const double depth = i < count || !std::isfinite(found) ? found : std::sqrt(weight) * found;
    if (!(depth > 0)) {
      keep_near(row, depth);
      if (i < count) {
        const OnFaces& c = on_faces[i];
        energy += hold_on(x, gradient, c.grip, row, c.stiffness, c.body, c.other, energies);
      } else {
        const OnEdge& c = on_edges[i - count];
        energy += hold_on(x, gradient, c.grip, row, c.stiffness, c.body, c.other, energies);
      }
      continue;
    }
    if (i < count) {
      const OnFaces& c = on_faces[i];
      energy += push(x, gradient, row, depth, c.grip, c.friction, c.body, c.other, c.meeting, energies);
    } else {
      const OnEdge& c = on_edges[i - count];
      // of an edge that fades, the row has the root of the weight, and its force the other one
      const double friction = row.fades ? c.friction * std::sqrt(weight) : c.friction;
      energy += push(x, gradient, row, depth, c.grip, friction, c.body, c.other, c.meeting, energies);
    }
  }
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
