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
  double gg_gg = 0, lin_gg = 0, gg_last = 0;  // gg.A^-1 gg, gg.A^-1 lin, gg.A^-1 of the last gg
  Vec3 p, l;                                  // sum m A^-1 gg and m r x A^-1 gg where L is asked for; lever x gg
  double lin_Ag = 0;                          // lin.A^-1 gg where lin is given
  RowProducts& operator+=(const RowProducts& o) {
    gg_gg += o.gg_gg, lin_gg += o.lin_gg, gg_last += o.gg_last, p += o.p, l += o.l, lin_Ag += o.lin_Ag;
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

/// dx = g Ag + l Alin + turn x lever, and where L is asked for + shift, except of rows without mass
struct RowStep {
  RowColumn Ag, Alin, lever;  // of one kind; lever 0 where there is no mass
  double g, l;
  Vec3 shift, turn;
};

/// What the products of an iteration are made of, of one kind. lever: not asked for where L is. lin is given where Alin
/// is another column (of the loss); Alin none: plain steps alone, without either.
struct RowFactors {
  RowColumn Ag, Alin, lever;
  RowColumn last_Ag;  // or none
  RowColumn lin = {};
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
  Mat3 moment;  // sum m xb rest^T, where that is asked for
  RowState& operator+=(const RowState& o) {
    xb += o.xb, x += o.x, v += o.v, u += o.u;
    second = second + o.second, moment = moment + o.moment, l += o.l, kinetic += o.kinetic, kinetic_u += o.kinetic_u;
    return *this;
  }
};

/// The columns of the constraints before and after the solve, with r = xb - origin and K = M/hh^2 + anchors. kr none:
/// lin alone, or with columns that are known from rest.
struct RowSolutions {
  RowColumn kr, Akr, lin, Alin;  // of one kind, as what follows is
  RowColumn of_rest;             // arms of a swing, or levers A^-1 K r, are `shape` times these
  Mat3 shape;
  bool swings;
  Vec3 origin;           // of r
  Vec4* lever;           // to be filled in, the arm r - Akr where it swings, in double or
  Float4* lever_narrow;  // in float; may be Akr
};

/// Of the columns: lin.A^-1 lin. For held momenta, about the centre, sum A^-1(K r) (m r)^T, sum m A^-1 lin, sum m r x
/// A^-1 lin; for a swing sum arm (K r)^T as `second`. No `second` of columns that are known from rest. Of these and of
/// a swing sum lever x lin.
struct RowColumns {
  double lin_lin = 0;
  Mat3 second;
  Vec3 p, l, lever_lin;
  RowColumns& operator+=(const RowColumns& o) {
    lin_lin += o.lin_lin, second = second + o.second, p += o.p, l += o.l, lever_lin += o.lever_lin;
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

/// With `moment` of `rest` unless that is none.
RowState state_rows(const RowArrays& rows, const Vec4* x, const Vec4* v, const RowOrigin& origin, RowColumn rest,
                    int begin, int end);
/// Right-hand sides: kr = m/hh^2 (xb - origin) unless none, lin = M (u - drift - turn x (xb - center))/hh - force/hh
/// beta (force null: m common in its place).
struct RowSides {
  Vec4 *kr, *lin;                  // in double, or
  Float4 *kr_narrow, *lin_narrow;  // in float
  Vec3 origin;
  double beta;
  Vec3 common;
  bool relieved;  // of a rigid motion; otherwise these are 0
  Vec3 drift, turn, center;
};
void column_rows(const RowArrays& rows, const RowSides& sides, int begin, int end);
/// Also fills in levers: of a swing, those known from rest, and 0 where there is no mass.
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
RowProducts multiply_rows(const RowArrays& rows, const RowFactors& factors, int begin, int end);

}  // namespace verve
