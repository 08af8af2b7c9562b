// What a scene's anchors hang on, for the eye: a rail along a row of points, a pole where the row is upright or where spots
// lie apart, a plate behind a face, a nail through a spot. Nothing where a body stands on the ground.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const SIDES = 14;
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const plus = (a, b, s = 1) => a.map((x, i) => x + s * b[i]);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = a => a.map(x => x / (Math.hypot(...a) || 1));

  /** Axes of a cloud of points, the longest first, and how far it reaches along each: Jacobi rotations of its covariance. */
  function axesOf(points, middle) {
    const c = [[0, 0, 0], [0, 0, 0], [0, 0, 0]], v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];  // columns of v are axes
    for (const p of points) for (let i = 0; i < 3; ++i) for (let j = 0; j < 3; ++j) c[i][j] += (p[i] - middle[i]) * (p[j] - middle[j]);
    for (let sweep = 0; sweep < 8; ++sweep)
      for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
        if (Math.abs(c[p][q]) < 1e-30) continue;
        const angle = 0.5 * Math.atan2(2 * c[p][q], c[q][q] - c[p][p]), s = Math.sin(angle), k = Math.cos(angle);
        for (let i = 0; i < 3; ++i) [c[i][p], c[i][q]] = [k * c[i][p] - s * c[i][q], s * c[i][p] + k * c[i][q]];
        for (let i = 0; i < 3; ++i) [c[p][i], c[q][i]] = [k * c[p][i] - s * c[q][i], s * c[p][i] + k * c[q][i]];
        for (let i = 0; i < 3; ++i) [v[i][p], v[i][q]] = [k * v[i][p] - s * v[i][q], s * v[i][p] + k * v[i][q]];
      }
    return [0, 1, 2].map(k => {
      const along = v.map(row => row[k]), at = points.map(p => dot(plus(p, middle, -1), along));
      return {along, low: Math.min(...at), high: Math.max(...at)};
    }).sort((a, b) => b.high - b.low - (a.high - a.low));
  }

  /** Triangles that share their vertices, as the viewer takes them. */
  class Shape {
    constructor() {
      this.points = [];
      this.triangles = [];
    }
    rod(from, to, radius) {
      const along = unit(plus(to, from, -1)), u = unit(cross(along, Math.abs(along[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0])), w = cross(along, u);
      const first = this.points.length / 3;
      for (const end of [from, to]) {
        for (let i = 0; i < SIDES; ++i) {
          const a = 2 * Math.PI * i / SIDES;
          this.points.push(...plus(plus(end, u, radius * Math.cos(a)), w, radius * Math.sin(a)));
        }
        this.points.push(...end);
      }
      const far = first + SIDES + 1;
      for (let i = 0; i < SIDES; ++i) {
        const j = (i + 1) % SIDES;
        this.triangles.push(first + i, first + j, far + i, first + j, far + j, far + i, first + SIDES, first + j, first + i,
                            far + SIDES, far + i, far + j);
      }
    }
    /** With these half edges, which are orthogonal. */
    box(middle, edges) {
      const first = this.points.length / 3;
      for (let corner = 0; corner < 8; ++corner)
        this.points.push(...edges.reduce((p, e, i) => plus(p, e, corner >> i & 1 ? 1 : -1), middle));
      for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
        this.triangles.push(first + a, first + b, first + c, first + a, first + c, first + d);
    }
  }

  /**
   * `points`: where the anchor holds its vertices (x y z one after another); `center` and `size`: of the body, `ground`:
   * height of a floor or null, `weight`: whether things fall. A mesh for the viewer, where it is in the world; null: nothing.
   */
  function supportMesh({points, center, size, ground, weight}) {
    const spots = [];
    for (let i = 0; i < points.length; i += 3) spots.push([...points.subarray(i, i + 3)]);
    const middle = spots.reduce((sum, p) => plus(sum, p, 1 / spots.length), [0, 0, 0]);
    const [a, b, c] = axesOf(spots, middle), length = axis => axis.high - axis.low, thick = 0.012 * size, shape = new Shape();
    const down = (p, reach) => [p[0], ground !== null && ground < p[1] ? ground : p[1] - reach, p[2]];
    const apart = () => spots.length <= 12 && spots.every(
        p => spots.every(q => p === q || Math.hypot(...plus(p, q, -1)) > 0.15 * size));
    if (length(a) < 0.02 * size || (length(a) < 0.3 * size && length(c) > 0.5 * length(b))) {  // a nail
      shape.rod(plus(middle, [0, 0, 1], -0.06 * size), plus(middle, [0, 0, 1], 0.06 * size), thick);
    } else if (length(b) < 0.05 * size || length(b) < 0.05 * length(a)) {  // a row
      const up = a.along[1] < 0 ? a.along.map(x => -x) : a.along, half = length(a) / 2;
      const foot = plus(middle, up, -half), head = plus(middle, up, half), over = 0.05 * size;
      const upright = up[1] > 0.9 && (weight || ground !== null);
      shape.rod(upright ? down(foot, 1.2 * length(a)) : plus(foot, up, -over), plus(head, up, over), thick);
    } else if (apart()) {  // a pole below each
      for (const p of spots) shape.rod(down(p, 0.5 * size), plus(p, [0, 1, 0], thick), thick);
    } else if (length(c) < 0.6 * length(b)) {  // a plate
      const way = dot(c.along, plus(middle, center, -1)) < 0 ? c.along.map(x => -x) : c.along;
      if (weight && way[1] < -0.8) return null;  // it stands
      const deep = 0.015 * size, wide = 0.03 * size;
      shape.box(plus(middle, way, length(c) / 2 + 1.2 * deep), [way.map(x => deep * x),
                a.along.map(x => (length(a) / 2 + wide) * x), b.along.map(x => (length(b) / 2 + wide) * x)]);
    } else {
      return null;
    }
    return {rest: Float32Array.from(shape.points), triangles: Uint32Array.from(shape.triangles), edges: new Uint32Array(0),
            color: '#7d858c', scenery: true, finish: [0.35, 0, 0.7, 0]};
  }

  verve.supportMesh = supportMesh;
})(globalThis.verve);
