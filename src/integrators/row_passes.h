// The passes over all rows that one iteration makes beside the local step and the solve, compiled for every set of SIMD
// instructions. A row (x y z 0) is one register; sums are kept per coordinate and added up at the end.
#pragma once

#include "linear/row_kernel.h"
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
  double gg_gg = 0, lin_gg = 0, gg_last = 0;  // gg.A^-1 gg, lin.A^-1 gg, gg.A^-1 of the last gg
  Vec3 p, l;                                  // sum m A^-1 gg, sum m r x A^-1 gg or lever x gg
  RowProducts& operator+=(const RowProducts& o) {
    gg_gg += o.gg_gg, lin_gg += o.lin_gg, gg_last += o.gg_last, p += o.p, l += o.l;
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
  double hh;
};

/// Rows that every iteration reads: in double, or where the solve is in float and they have no more digits than that,
/// in half the memory. Neither: none.
struct RowColumn {
  const Vec4* wide = nullptr;
  const Float4* narrow = nullptr;
  explicit operator bool() const { return wide || narrow; }
};

/// dx = g Ag + l Alin + (shift + turn x lever, where there is mass)
struct RowStep {
  RowColumn Ag, Alin, lever;  // of one kind; the last two may be none
  double g, l;
  Vec3 shift, turn;
};

/// x = e - beta (e - last_end) in place of e = x - dx, which is kept in `ends`. last_end null: x itself.
struct RowLeap {
  double beta;
  const Vec4* last_end;
  Vec4* ends;
};

/// Points and velocities near the middle of an island: relative to them nothing is lost far from the origin.
struct RowOrigin {
  Vec3 xb, x, v, u;
};

/// About that origin: sums of m xb, m x, m v, m u, m xb xb^T, m x cross v, and the kinetic energies of v and u.
struct RowState {
  Vec3 xb, x, v, u;
  Mat3 second;
  Vec3 l;
  double kinetic = 0, kinetic_u = 0;
  Mat3 moment;  // sum m xb rest^T, where the caller asks for it
  RowState& operator+=(const RowState& o) {
    xb += o.xb, x += o.x, v += o.v, u += o.u;
    second = second + o.second, moment = moment + o.moment, l += o.l, kinetic += o.kinetic, kinetic_u += o.kinetic_u;
    return *this;
  }
};

/// The columns of the constraints before and after the solve, with r = xb - origin and K = M/hh^2 + anchors. kr none:
/// lin alone.
struct RowSolutions {
  RowColumn kr, Akr, Alin;  // of one kind
  const Vec4* lin;          // null: computed again
  double beta;
  Vec3 common;  // as in column_rows
  bool swings;
  RowColumn rest_arm;  // of a swing: arms are `shape` times these, and kr and Akr none
  Mat3 shape;
  Vec3 origin;         // of r
  Vec4* arm;           // of a swing, in double or
  Float4* arm_narrow;  // in float, as the columns are; may be Akr
};

/// Of the columns: lin.A^-1 lin and for held momenta, about the centre, sum A^-1(K r) (m r)^T, sum m A^-1 lin, sum m r
/// x A^-1 lin; for a swing sum arm (K r)^T, unless that is known from rest, and sum arm x lin, as `second` and `l`.
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

RowState state_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowOrigin& origin, int begin, int end);
/// Right-hand sides: kr = m/hh^2 (xb - origin) unless none, lin = M u/hh - force/hh beta (force null: m common in its
/// place).
struct RowSides {
  Vec4 *kr, *lin;                  // in double or
  Float4 *kr_narrow, *lin_narrow;  // in float; lin in double as well unless null
};
void column_rows(const RowArrays& rows, const Vec3& origin, double beta, const Vec3& common, const RowSides& sides,
                 int begin, int end);
/// Also fills in arm = r - Akr where there is mass (of a swing).
RowColumns multiply_columns(const RowArrays& rows, const RowSolutions& solutions, int begin, int end);
/// x = xb + hh u, and arrive.
RowSums straight_rows(const RowArrays& rows, int begin, int end);
/// x = to + turn (xb + hh u - from), and arrive; rows without mass go straight on.
RowSums turn_rows(const RowArrays& rows, const Vec3& from, const Vec3& to, const Mat3& turn, int begin, int end);
RowShape shape_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& origin, int begin, int end);
/// sum m |x - center - rotation rest|^2
double distance_rows(const double* mass, const Vec4* x, const Vec4* rest, const Vec3& center, const Mat3& rotation,
                     int begin, int end);

/// xb = x + c1 p + c2 v and u = v + c1 q + c2 w + hh a with w = a - gradient/m, of a step of generalised-alpha.
struct RowRates {
  const double* inverse_mass;
  const Vec4 *x, *v, *p, *q, *gradient, *acceleration;  // acceleration null: `common` where there is mass
  Vec3 common;
  double c1, c2, hh;
  Vec4 *xb, *u;
};
void begin_rows(const RowRates& rates, int begin, int end);

/// At x: v = (x - xb)/hh, gg = M (v - u)/hh, and the sums.
RowSums arrive(const RowArrays& rows, int begin, int end);
/// x -= dx, and arrive.
RowSums move_rows(const RowArrays& rows, const RowStep& step, int begin, int end);
/// The same for dx = Ag, and the product of gg and Ag on the way.
RowSums plain_rows(const RowArrays& rows, RowColumn Ag, int begin, int end);
/// Beyond x - dx, and arrive.
RowSums leap_rows(const RowArrays& rows, const RowStep& step, const RowLeap& leap, int begin, int end);
/// lin null: u M in its place. l is the spin of Ag about the centre where that is asked for, otherwise of `lever` x gg
/// (or none). last_Ag: or none. Columns are of one kind. xb and u serve for what could be read from arrays of its own:
/// the update of x reads them anyway.
RowProducts multiply_rows(const RowArrays& rows, RowColumn Ag, RowColumn last_Ag, const Vec4* lin, RowColumn lever,
                          int begin, int end);

}  // namespace verve
