#include "geometry/stuffing_stencil.h"

#include <utility>

namespace verve {

namespace {

bool is_long(int a, int b) { return a / 2 == b / 2; }

/// Twice the lattice coordinates of a result vertex, with cut points in the middle of their edges: a stand-in with the
/// same orientation as the warped tetrahedron.
std::array<int, 3> stand_in(const LatticeTet& tet, int vertex) {
  const int a = vertex < 4 ? vertex : stencil_edge_ends[vertex - 4][0];
  const int b = vertex < 4 ? vertex : stencil_edge_ends[vertex - 4][1];
  return {tet.at[a][0] + tet.at[b][0], tet.at[a][1] + tet.at[b][1], tet.at[a][2] + tet.at[b][2]};
}

void emit(const LatticeTet& tet, std::array<int, 4> t, std::vector<std::array<int, 4>>& out) {
  const auto o = stand_in(tet, t[0]);
  int e[3][3];
  for (int i = 0; i < 3; ++i) {
    const auto p = stand_in(tet, t[i + 1]);
    for (int k = 0; k < 3; ++k) e[i][k] = p[k] - o[k];
  }
  const int det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                  e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) + e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  if (det < 0) std::swap(t[2], t[3]);
  out.push_back(t);
}

/// Which diagonal cuts the quadrilateral (a, b, cut bm, cut am) of a face whose vertex m is outside: true for
/// a - bm, false for b - am. Depends on the face alone, so that both of its tetrahedra agree.
bool diagonal_from(const LatticeTet& tet, int a, int b, int m) {
  // One of the cut edges is long: the diagonal ends in its cut point.
  if (is_long(a, m)) return false;
  if (is_long(b, m)) return true;
  // Both are short, ab is long: the paper's Parity Rule. a and b lie on opposite sides of m along one axis and on the
  // same side along the others, so exactly one of them exceeds m in an even number of coordinates.
  int greater = 0;
  for (int k = 0; k < 3; ++k) greater += tet.at[a][k] > tet.at[m][k];
  return greater % 2 == 0;
}

/// A prism between triangles p and q; diagonal[i] cuts the side between corners i and j = i + 1: true for p_i - q_j,
/// false for p_j - q_i. Not all three may turn the same way.
void emit_prism(const LatticeTet& tet, const std::array<int, 3>& p, const std::array<int, 3>& q,
                const std::array<bool, 3>& diagonal, std::vector<std::array<int, 4>>& out) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const bool p_i = diagonal[i] && !diagonal[k];  // both diagonals at corner i meet in p_i
    const bool q_i = !diagonal[i] && diagonal[k];
    if (!p_i && !q_i) continue;
    const int apex = p_i ? p[i] : q[i];
    const auto& far = p_i ? q : p;
    emit(tet, {apex, far[0], far[1], far[2]}, out);
    // the rest is a pyramid over the side opposite to corner i
    if (diagonal[j])
      emit(tet, {apex, p[j], q[k], p[k]}, out), emit(tet, {apex, p[j], q[k], q[j]}, out);
    else
      emit(tet, {apex, p[k], q[j], p[j]}, out), emit(tet, {apex, p[k], q[j], q[k]}, out);
    return;
  }
}

}  // namespace

void fill_stencil(const LatticeTet& tet, std::vector<std::array<int, 4>>& out) {
  int inside[4], on[4], outside[4];
  int np = 0, nz = 0, nm = 0;
  for (int i = 0; i < 4; ++i) {
    if (tet.sign[i] > 0) inside[np++] = i;
    if (tet.sign[i] == 0) on[nz++] = i;
    if (tet.sign[i] < 0) outside[nm++] = i;
  }
  const auto cut = [](int a, int b) { return 4 + stencil_edge[a][b]; };

  if (np == 0) return;
  if (nm == 0) return out.push_back({0, 1, 2, 3});
  if (np == 1) {
    std::array<int, 4> t{inside[0]};
    int n = 1;
    for (int i = 0; i < nz; ++i) t[n++] = on[i];
    for (int i = 0; i < nm; ++i) t[n++] = cut(inside[0], outside[i]);
    return emit(tet, t, out);
  }
  const int a = inside[0], b = inside[1], m = outside[0];
  if (np == 2 && nz == 1) {
    const int am = cut(a, m), bm = cut(b, m), z = on[0];
    if (diagonal_from(tet, a, b, m))
      emit(tet, {z, a, bm, b}, out), emit(tet, {z, a, bm, am}, out);
    else
      emit(tet, {z, b, am, a}, out), emit(tet, {z, b, am, bm}, out);
    return;
  }
  if (np == 2) {
    const int n = outside[1];
    const bool first = diagonal_from(tet, a, b, m);   // a - bm
    const bool second = diagonal_from(tet, a, b, n);  // a - bn
    // The third side lies on the surface and is free, as long as the diagonals do not turn in a circle.
    // Corners: 0 = inside, 1 = cuts towards m, 2 = cuts towards n; sides 01, 12, 20.
    const std::array<bool, 3> diagonal{first, first == second ? first : !first, !second};
    return emit_prism(tet, {a, cut(a, m), cut(a, n)}, {b, cut(b, m), cut(b, n)}, diagonal, out);
  }
  const int c = inside[2];
  const std::array<bool, 3> diagonal{diagonal_from(tet, a, b, m), diagonal_from(tet, b, c, m),
                                     diagonal_from(tet, c, a, m)};
  emit_prism(tet, {a, b, c}, {cut(a, m), cut(b, m), cut(c, m)}, diagonal, out);
}

}  // namespace verve
