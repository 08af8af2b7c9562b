// node report_scripts.js FOLDER: checks the scripts of a report that need no browser.
'use strict';
const assert = require('assert'), fs = require('fs'), path = require('path'), vm = require('vm');
const folder = process.argv[2];
for (const file of fs.readdirSync(folder).filter(f => f.endsWith('.js'))) {
  const text = fs.readFileSync(path.join(folder, file), 'utf8');
  new vm.Script(text, {filename: file});
  assert(!/<\/script/i.test(text), `${file} would end the script element that holds it`);
  if (file !== 'report.js') vm.runInThisContext(text, {filename: file});
}
const {math} = globalThis.verve;

// A cube has 8 vertices, but 24 when its edges are sharp, and none of its faces is lost.
const corners = [], cube = [];
for (let i = 0; i < 8; ++i) corners.push(i & 1, i >> 1 & 1, i >> 2 & 1);
for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
  cube.push(a, b, c, a, c, d);
const triangles = Uint32Array.from(cube), rest = Float32Array.from(corners);
const sharp = math.splitCreases(triangles, rest, 8, 72), smooth = math.splitCreases(triangles, rest, 8, 95);
assert.strictEqual(sharp.source.length, 24);
assert.strictEqual(smooth.source.length, 8);
sharp.triangles.forEach((v, i) => assert.strictEqual(sharp.source[v], triangles[i]));

// Normals of a sharp cube point along an axis, away from its middle.
const filled = new Float32Array(6 * 24);
math.fillSurface(sharp, rest, filled);
for (let i = 0; i < 24; ++i) {
  const p = filled.subarray(6 * i, 6 * i + 3), n = filled.subarray(6 * i + 3, 6 * i + 6);
  assert(Math.abs(Math.hypot(...n) - 1) < 1e-6);
  assert.strictEqual(n.filter(c => Math.abs(c) > 1e-6).length, 1);
  assert(n.reduce((s, c, k) => s + c * (p[k] - 0.5), 0) > 0.4);
}
assert.strictEqual(math.edgesOf(triangles, 8).length / 2, 18);

// A point in the middle of a tetrahedron stays there, wherever its corners go.
const corner = Float32Array.of(9, 9, 9, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 12);
const carried = math.carry({carriers: Uint32Array.of(1, 2, 3, 4, 2, 2, 1, 1),
                            weights: Float32Array.of(0.25, 0.25, 0.25, 0.25, 2, -0.5, -0.5, 0)}, corner,
                           new Float32Array(9), 1);
assert.deepStrictEqual([...carried], [0, 0, 0, 1, 2, 3, 6, 0, 0]);

// Steps are 1, 2 or 5 times a power of ten and never below what is asked for.
for (const [value, step] of [[0.9, 1], [1, 1], [1.1, 2], [3, 5], [7, 10], [0.013, 0.02], [0, 1], [NaN, 1], [Infinity, 1]])
  assert(Math.abs(math.niceStep(value) - step) < 1e-12, `niceStep(${value}) = ${math.niceStep(value)}`);

// The camera's home shows a box of any shape in full height and width, up to its empty corners.
const camera = new verve.Camera();
camera.frame([1, 1, 1], [0, 0, 0], 1);
const near = camera.distance;
camera.frame([10, 1, 1], [0, 0, 0], 1);
assert(camera.distance > 3 * near);
camera.zoom(1e9);
assert(camera.distance <= 50 * camera.home.distance + 1e-9);
camera.orbit(0, 1e6);
assert(Math.abs(camera.pitch) < Math.PI / 2);

// Plots: zero is always in range, noise stays flat, gaps are skipped.
const range = values => verve.plotRange([{values}], 1e-6, 0);
assert.deepStrictEqual(verve.plotRange([{values: [0, 0, 0]}], 0, 0), {low: 0, high: 1.06});
assert(range([1e-15, -1e-15]).high > 9e-7);
assert(range([null, NaN, Infinity, 2]).high < 3);
assert(range([-4, -3]).low < -4 && range([-4, -3]).high === 0);
assert.strictEqual(verve.nearestSample([0, 1, 2, 3], 1.6), 2);
assert.strictEqual(verve.nearestSample([5], 1.6), 0);
assert.strictEqual(verve.formatNumber(null), '–');
assert.strictEqual(verve.formatNumber(12345.678), '12350');
