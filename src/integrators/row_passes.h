// The passes over all rows that one iteration makes beside the local step and the solve, compiled for every set of SIMD
// instructions. A row (x y z 0) is one register; sums are kept per coordinate and added up at the end.
#pragma once

#include "verve/vec.h"

namespace verve {

/// Of an iterate: what the conserved quantities are made of.
struct RowSums {
  double kinetic = 0, force_v = 0;  // 1/2 sum m |v|^2, sum f.v
  Vec3 p, l;                        // sum m v, sum m r x v
  double gg_gg = 0;                 // gg.A^-1 gg of the step that led here, from plain_rows alone
  RowSums& operator+=(const RowSums& o) {
    kinetic += o.kinetic, force_v += o.force_v, p += o.p, l += o.l, gg_gg += o.gg_gg;
    return *this;
  }
};

/// Of a gradient and its solution.
struct RowProducts {
  double gg_gg = 0, lin_gg = 0;  // gg.A^-1 gg, lin.A^-1 gg
  Vec3 p, l;                     // sum m A^-1 gg, sum m r x A^-1 gg or lever x gg
  RowProducts& operator+=(const RowProducts& o) {
    gg_gg += o.gg_gg, lin_gg += o.lin_gg, p += o.p, l += o.l;
    return *this;
  }
};

/// Of this plain step with its change since the last.
struct RowOverlap {
  double along = 0, change = 0;
  RowOverlap& operator+=(const RowOverlap& o) {
    along += o.along, change += o.change;
    return *this;
  }
};

/// The arrays of an island.
struct RowArrays {
  const double* mass;
  const Vec4 *xb, *u;
  const Vec4* force;  // null: its power is not asked for
  bool spin;          // L about `center` is asked for
  Vec3 center;
  Vec4 *x, *gg;
  Vec4* dx;  // null: not kept
  double hh;
};

/// dx = g Ag + l Alin + (shift + turn x lever, where there is mass)
struct RowStep {
  const Vec4 *Ag, *Alin, *lever;  // Alin or lever null: without
  double g, l;
  Vec3 shift, turn;
};

/// Means of xb, x, v and u, times the mass, relative to those of one row: nothing is lost far from the origin.
struct RowCenters {
  Vec3 xb, x, v, u;
  RowCenters& operator+=(const RowCenters& o) {
    xb += o.xb, x += o.x, v += o.v, u += o.u;
    return *this;
  }
};

/// About those means: sum m xb xb^T, sum m x cross v, and the kinetic energies of v and u.
struct RowMoments {
  Mat3 second;
  Vec3 l;
  double kinetic = 0, kinetic_u = 0;
  RowMoments& operator+=(const RowMoments& o) {
    second = second + o.second, l += o.l, kinetic += o.kinetic, kinetic_u += o.kinetic_u;
    return *this;
  }
};

/// Of the columns of the constraints: lin.A^-1 lin, sum A^-1(m r) (m r)^T, sum m A^-1 lin, sum m r x A^-1 lin.
struct RowColumns {
  double lin_lin = 0;
  Mat3 second;
  Vec3 p, l;
  RowColumns& operator+=(const RowColumns& o) {
    lin_lin += o.lin_lin, second = second + o.second, p += o.p, l += o.l;
    return *this;
  }
};

/// Of a shape against its rest shape, which is centred: sum m (x - origin), sum m (x - origin) rest^T.
struct RowShape {
  Vec3 x;
  Mat3 moment;
  RowShape& operator+=(const RowShape& o) {
    x += o.x, moment = moment + o.moment;
    return *this;
  }
};

// Each on the rows [begin, end).

RowCenters center_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowCenters& origin, int begin,
                       int end);
RowMoments moment_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowCenters& center, int begin,
                       int end);
/// mr = m (xb - center), lin = M u/hh - force/hh beta (force null: m common in its place).
void column_rows(const RowArrays& rows, const Vec3& center, double beta, const Vec3& common, Vec4* mr, Vec4* lin,
                 int begin, int end);
/// arm = xb - center - Amr where there is mass; sums of arm (m r)^T and arm x lin, as `second` and `l`.
RowColumns arm_rows(const RowArrays& rows, const Vec3& center, const Vec4* mr, const Vec4* Amr, const Vec4* lin,
                    Vec4* arm, int begin, int end);
/// x = to + turn (xb + hh u - from), and arrive; rows without mass go straight on.
RowSums turn_rows(const RowArrays& rows, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end);
/// mr and Amr null: lin_lin alone.
RowColumns multiply_columns(const double* mass, const Vec4* mr, const Vec4* Amr, const Vec4* lin, const Vec4* Alin,
                            int begin, int end);
RowShape shape_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& origin, int begin, int end);
/// sum m |x - center - rotation rest|^2
double distance_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& center, const Mat3& rotation,
                     int begin, int end);

/// At x: v = (x - xb)/hh, gg = M (v - u)/hh, and the sums.
RowSums arrive(const RowArrays& rows, int begin, int end);
/// x -= dx, and arrive.
RowSums move_rows(const RowArrays& rows, const RowStep& step, int begin, int end);
/// The same for dx = Ag, and the product of gg and Ag on the way.
RowSums plain_rows(const RowArrays& rows, const Vec4* Ag, int begin, int end);
/// dx alone.
RowOverlap step_rows(const RowArrays& rows, const RowStep& step, const Vec4* last_dx, int begin, int end);
/// x = e - beta (e - last_end) with e = x - dx, which is kept in `ends`, and arrive.
RowSums extrapolate_rows(const RowArrays& rows, double beta, const Vec4* last_end, Vec4* ends, int begin, int end);
/// gg_gg alone unless `held`. lin null: u M in its place. l is the spin of Ag about the centre where that is asked for,
/// otherwise of `lever` x gg (null: none). xb and u serve for what could be read from arrays of its own: the update of
/// x reads them anyway.
RowProducts multiply_rows(const RowArrays& rows, const Vec4* Ag, bool held, const Vec4* lin, const Vec4* lever,
                          int begin, int end);

}  // namespace verve
