// Small geometry for drawing: creases, normals, edges, matrices. Classic script; adds to the global `verve`.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  /** Unit normals of the triangles at `positions` (x, y, z, x, ...); zero for triangles without area. */
  function faceNormals(triangles, positions) {
    const normals = new Float32Array(triangles.length);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1];
      const uz = positions[b + 2] - positions[a + 2];
      const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1];
      const vz = positions[c + 2] - positions[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      const length = Math.hypot(nx, ny, nz);
      if (length > 0) normals.set([nx / length, ny / length, nz / length], t);
    }
    return normals;
  }

  /**
   * Doubles vertices along edges of the rest shape sharper than `degrees`, so that a box keeps its edges while a ball
   * stays smooth. Returns {source, triangles}: new vertex -> given vertex, and triangles over the new vertices.
   */
  function splitCreases(triangles, rest, vertexCount, degrees) {
    const normals = faceNormals(triangles, rest);
    const limit = Math.cos(degrees * Math.PI / 180);
    const parent = new Int32Array(triangles.length);  // union-find over triangle corners
    for (let i = 0; i < parent.length; ++i) parent[i] = i;
    const find = i => {
      while (parent[i] !== i) i = parent[i] = parent[parent[i]];
      return i;
    };
    const cornerOf = (t, v) => triangles[t] === v ? t : triangles[t + 1] === v ? t + 1 : t + 2;
    const flat = t => normals[t] === 0 && normals[t + 1] === 0 && normals[t + 2] === 0;

    const firstFace = new Map();  // edge -> the first triangle seen there
    for (let t = 0; t < triangles.length; t += 3) {
      for (let k = 0; k < 3; ++k) {
        const a = triangles[t + k], b = triangles[t + (k + 1) % 3];
        const key = Math.min(a, b) * vertexCount + Math.max(a, b);
        const other = firstFace.get(key);
        if (other === undefined) {
          firstFace.set(key, t);
          continue;
        }
        const along = normals[t] * normals[other] + normals[t + 1] * normals[other + 1] +
                      normals[t + 2] * normals[other + 2];
        if (along < limit && !flat(t) && !flat(other)) continue;
        for (const v of [a, b]) parent[find(cornerOf(t, v))] = find(cornerOf(other, v));
      }
    }

    const number = new Int32Array(triangles.length).fill(-1), source = [];
    const out = new Uint32Array(triangles.length);
    for (let i = 0; i < triangles.length; ++i) {
      const root = find(i);
      if (number[root] < 0) {
        number[root] = source.length;
        source.push(triangles[i]);
      }
      out[i] = number[root];
    }
    return {source: Uint32Array.from(source), triangles: out};
  }

  /** Fills `out` (position and normal, six numbers per vertex) from moving positions; normals weighted by area. */
  function fillSurface(split, positions, out) {
    const {source, triangles} = split;
    for (let i = 0; i < source.length; ++i) {
      const p = 3 * source[i];
      out[6 * i] = positions[p];
      out[6 * i + 1] = positions[p + 1];
      out[6 * i + 2] = positions[p + 2];
      out[6 * i + 3] = out[6 * i + 4] = out[6 * i + 5] = 0;
    }
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 6 * triangles[t], b = 6 * triangles[t + 1], c = 6 * triangles[t + 2];
      const ux = out[b] - out[a], uy = out[b + 1] - out[a + 1], uz = out[b + 2] - out[a + 2];
      const vx = out[c] - out[a], vy = out[c + 1] - out[a + 1], vz = out[c + 2] - out[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const i of [a, b, c]) {
        out[i + 3] += nx;
        out[i + 4] += ny;
        out[i + 5] += nz;
      }
    }
    // Unit length here: tiny triangles would underflow in the shader.
    for (let i = 3; i < out.length; i += 6) {
      const length = Math.hypot(out[i], out[i + 1], out[i + 2]);
      if (length > 0) {
        out[i] /= length;
        out[i + 1] /= length;
        out[i + 2] /= length;
      } else {
        out[i + 1] = 1;
      }
    }
  }

  /** Positions of vertices that others carry: four `carriers` and `weights` each. Written to `out` from `first` on. */
  function carry({carriers, weights}, positions, out, first = 0) {
    for (let i = 0, to = 3 * first; i < carriers.length; i += 4) {
      for (let axis = 0; axis < 3; ++axis) {
        let sum = 0;
        for (let k = 0; k < 4; ++k) sum += weights[i + k] * positions[3 * carriers[i + k] + axis];
        out[to++] = sum;
      }
    }
    return out;
  }

  /** Every edge of the triangles once, as pairs of vertex numbers. */
  function edgesOf(triangles, vertexCount) {
    const seen = new Set(), out = [];
    for (let t = 0; t < triangles.length; t += 3) {
      for (let k = 0; k < 3; ++k) {
        const a = triangles[t + k], b = triangles[t + (k + 1) % 3];
        const key = Math.min(a, b) * vertexCount + Math.max(a, b);
        if (seen.has(key)) continue;
        seen.add(key);
        out.push(a, b);
      }
    }
    return Uint32Array.from(out);
  }

  /**
   * How hollow a surface is about each vertex, in terms of a twentieth of `size` as the radius of its curvature: above zero
   * in folds and where limbs join, below on ridges, at most 1. A function that gives the vertices named by `source`.
   */
  function hollowOf(triangles, vertexCount, size) {
    const edges = edgesOf(triangles, vertexCount), degree = new Float32Array(vertexCount);
    for (const v of edges) degree[v] += 1;
    const curvature = new Float32Array(vertexCount), smooth = new Float32Array(vertexCount), normals = new Float32Array(3 * vertexCount);
    return (positions, source) => {
      normals.fill(0);
      for (let t = 0; t < triangles.length; t += 3) {
        const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
        const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
        const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
        const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        for (const i of [a, b, c]) {
          normals[i] += nx;
          normals[i + 1] += ny;
          normals[i + 2] += nz;
        }
      }
      for (let i = 0; i < normals.length; i += 3) {
        const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
        normals[i] /= length;
        normals[i + 1] /= length;
        normals[i + 2] /= length;
      }
      // a circle through two points: its curvature is twice what one lies above the tangent of the other, over their distance
      curvature.fill(0);
      for (let e = 0; e < edges.length; e += 2) {
        const i = 3 * edges[e], j = 3 * edges[e + 1];
        const x = positions[j] - positions[i], y = positions[j + 1] - positions[i + 1], z = positions[j + 2] - positions[i + 2];
        const per = 2 / (x * x + y * y + z * z || 1);
        curvature[edges[e]] += per * (x * normals[i] + y * normals[i + 1] + z * normals[i + 2]);
        curvature[edges[e + 1]] -= per * (x * normals[j] + y * normals[j + 1] + z * normals[j + 2]);
      }
      for (let i = 0; i < vertexCount; ++i) curvature[i] *= size / 20 / (degree[i] || 1);
      smooth.set(curvature);  // with its neighbours, as much as itself
      for (let e = 0; e < edges.length; e += 2) {
        smooth[edges[e]] += curvature[edges[e + 1]] / degree[edges[e]];
        smooth[edges[e + 1]] += curvature[edges[e]] / degree[edges[e + 1]];
      }
      return Float32Array.from(source, v => Math.max(-1, Math.min(1, smooth[v] / 2)));
    };
  }

  /**
   * How much the edges of a surface are stretched, of its rest length: a function that gives the mean of the edges about
   * each vertex, for the vertices named by `source`.
   */
  function stretchOf(triangles, rest) {
    const edges = edgesOf(triangles, rest.length / 3), lengths = new Float32Array(edges.length / 2);
    const length = (p, e) => Math.hypot(p[3 * edges[e]] - p[3 * edges[e + 1]],
                                        p[3 * edges[e] + 1] - p[3 * edges[e + 1] + 1],
                                        p[3 * edges[e] + 2] - p[3 * edges[e + 1] + 2]);
    const count = new Float32Array(rest.length / 3), sum = new Float32Array(rest.length / 3);
    for (let e = 0; e < edges.length; e += 2) {
      lengths[e / 2] = length(rest, e);
      ++count[edges[e]];
      ++count[edges[e + 1]];
    }
    return (positions, source) => {
      sum.fill(0);
      for (let e = 0; e < edges.length; e += 2) {
        if (!lengths[e / 2]) continue;
        const stretch = length(positions, e) / lengths[e / 2] - 1;
        sum[edges[e]] += stretch;
        sum[edges[e + 1]] += stretch;
      }
      return Float32Array.from(source, v => count[v] ? sum[v] / count[v] : 0);
    };
  }

  /** The nearest triangle that a ray meets (Moeller and Trumbore), and its vertex nearest to there. */
  function rayHit(triangles, p, eye, d) {
    let best = null;
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const px = d[1] * vz - d[2] * vy, py = d[2] * vx - d[0] * vz, pz = d[0] * vy - d[1] * vx;
      const det = ux * px + uy * py + uz * pz;
      if (det === 0) continue;
      const sx = eye[0] - p[a], sy = eye[1] - p[a + 1], sz = eye[2] - p[a + 2];
      const u = (sx * px + sy * py + sz * pz) / det;
      if (!(u >= 0 && u <= 1)) continue;
      const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
      const v = (d[0] * qx + d[1] * qy + d[2] * qz) / det;
      if (!(v >= 0 && u + v <= 1)) continue;
      const distance = (vx * qx + vy * qy + vz * qz) / det;
      if (!(distance > 0) || (best && distance >= best.distance)) continue;
      const w = 1 - u - v, corner = w >= u && w >= v ? t : u >= v ? t + 1 : t + 2;
      best = {distance, vertex: triangles[corner]};
    }
    return best;
  }

  /** The end nearest to a ray of the nearest edge within `slope` times its distance from the eye. */
  function rayNear(edges, p, eye, d, slope) {
    let best = null;
    for (let e = 0; e < edges.length; ++e) {
      const v = edges[e], x = p[3 * v] - eye[0], y = p[3 * v + 1] - eye[1], z = p[3 * v + 2] - eye[2];
      const along = x * d[0] + y * d[1] + z * d[2];
      const off = Math.hypot(x - along * d[0], y - along * d[1], z - along * d[2]);
      if (along > 0 && off <= slope * along && (!best || off < best.off)) best = {distance: along, vertex: v, off};
    }
    return best;
  }

  // 4x4 matrices by columns, as WebGL takes them.
  function perspective(fovy, aspect, near, far) {
    const f = 1 / Math.tan(fovy / 2), d = 1 / (near - far);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * d, -1, 0, 0, 2 * far * near * d, 0];
  }
  /** `right`, `up`, `back` are the camera's axes, `eye` its place. */
  function viewMatrix({right, up, back}, eye) {
    const dot = a => -(a[0] * eye[0] + a[1] * eye[1] + a[2] * eye[2]);
    return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
            dot(right), dot(up), dot(back), 1];
  }
  function multiply(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; ++c)
      for (let r = 0; r < 4; ++r)
        for (let k = 0; k < 4; ++k) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    return out;
  }

  /** 1, 2 or 5 times a power of ten, nearest above `value`. */
  function niceStep(value) {
    if (!(value > 0) || !isFinite(value)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    for (const m of [1, 2, 5]) if (m * power >= value * 0.999999) return m * power;
    return 10 * power;
  }

  verve.math = {splitCreases, fillSurface, carry, edgesOf, stretchOf, hollowOf, rayHit, rayNear, perspective, viewMatrix, multiply, niceStep};
})(globalThis.verve);
