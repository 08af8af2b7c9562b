// Reads the files of check.py with the Khronos glTF validator and with the USD parser and loader of three.
//   node check.mjs PLACE
import { readFileSync } from "node:fs";

const place = process.argv[2];
let validator, USDAParser, USDLoader, Matrix4, Quaternion, Vector3;
try {
  validator = (await import("gltf-validator")).default;
  ({ USDAParser } = await import("three/examples/jsm/loaders/usd/USDAParser.js"));
  ({ USDLoader } = await import("three/examples/jsm/loaders/USDLoader.js"));
  ({ Matrix4, Quaternion, Vector3 } = await import("three"));
} catch (missing) {
  console.log(`SKIPPED: ${missing.message}; scripts/install-deps exchange installs it`);
  process.exit(77);
}
const fail = (what) => {
  console.error(`failed: ${what}`);
  process.exit(1);
};
const { name, points } = JSON.parse(readFileSync(`${place}/truth.json`));
for (const file of [`glb/${name}.glb`, `small/${name}.glb`, "held/glb/held.glb", `vat/${name}.glb`]) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(`${place}/${file}`)));
  const { numErrors, numWarnings, messages } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings`);
  if (numErrors > 0 || numWarnings > 0) fail(JSON.stringify(messages.slice(0, 5)));
}

const text = readFileSync(`${place}/usda/${name}.usda`, "utf8");
const { specsByPath } = new USDAParser().parseData(text);
const body = Object.keys(specsByPath).find((p) => p.endsWith("/surface.points")).replace("/surface.points", "");
const samples = (path) => {
  const { times, values } = specsByPath[path].fields.timeSamples;
  if (times.length !== points.length) fail(`${path}: ${times.length} samples, expected ${points.length}`);
  return values.map((value) => [...value].flat(2));
};
const ways = samples(`${body}.xformOp:translate`), turns = samples(`${body}.xformOp:orient`), extents = samples(`${body}/surface.extent`);
samples(`${body}/surface.points`).forEach((sample, k) => {
  if (sample.length !== points[k].length * 3) fail(`${sample.length} coordinates`);
  const [x, y, z, w] = turns[k];  // in the order of three, not of the file
  const matrix = new Matrix4().compose(new Vector3(...ways[k]), new Quaternion(x, y, z, w), new Vector3(1, 1, 1));
  points[k].forEach((point, v) => {
    const local = new Vector3().fromArray(sample, 3 * v), world = local.clone().applyMatrix4(matrix).toArray();
    const inside = local.toArray().every((c, a) => extents[k][a] <= c && c <= extents[k][3 + a]);
    // a rounding of floats in the file and one in the run
    if (!inside || world.some((c, a) => Math.abs(c - point[a]) > 1e-7)) fail(`frame ${k}, vertex ${v}: ${world}, expected ${point}`);
  });
});
const root = specsByPath["/"].fields;
if (root.upAxis !== "Y" || root.metersPerUnit !== 1 || root.timeCodesPerSecond !== 60) fail(JSON.stringify(root));

// the whole of it as three shows it: in the first frame
const group = new USDLoader().parse(text);
group.updateMatrixWorld(true);
let corners = 0, farthest = 0;
group.traverse((object) => {
  if (!object.isMesh) return;
  const { position, uv, normal } = object.geometry.attributes;
  if (!uv || !normal) fail(`${object.name}: no texture coordinates or normals`);
  corners += position.count;
  for (let i = 0; i < position.count; ++i) {
    const at = new Vector3().fromBufferAttribute(position, i).applyMatrix4(object.matrixWorld).toArray();
    const off = points[0].map((p) => Math.hypot(...p.map((c, a) => c - at[a])));
    farthest = Math.max(farthest, Math.min(...off));
  }
});
if (corners < 8 || farthest > 1e-6) fail(`the loader of three shows ${corners} corners, ${farthest} m off`);
console.log(`usda: ${points.length} samples of ${points[0].length} points, as in the run`);

// --simulated: tetrahedra with the proposed schema of deformable bodies
const inside = new USDAParser().parseData(readFileSync(`${place}/inside_usda/${name}.usda`, "utf8")).specsByPath;
const prim = Object.keys(inside).find((p) => p.endsWith("/simulation"));
const has = (path, field) => inside[path]?.fields[field] ?? fail(`${path} has no ${field}`);
if (has(prim, "typeName") !== "TetMesh") fail("expected a TetMesh");
const rest = [...has(`${prim}.omniphysics:restShapePoints`, "default")].flat(2);
const tetrahedra = [...has(`${prim}.tetVertexIndices`, "default")].flat(2);
if (rest.length % 3 !== 0 || !tetrahedra.every((v) => 3 * v < rest.length) || tetrahedra.length % 4 !== 0)
  fail("rest shape and tetrahedra do not fit");
console.log(`usda: a TetMesh of ${tetrahedra.length / 4} tetrahedra`);
