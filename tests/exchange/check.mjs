// Reads the files of check.py with the Khronos glTF validator and with the USD parser of three.
//   node check.mjs PLACE
import { readFileSync } from "node:fs";

const place = process.argv[2];
let validator, USDAParser;
try {
  validator = (await import("gltf-validator")).default;
  ({ USDAParser } = await import("three/examples/jsm/loaders/usd/USDAParser.js"));
} catch (missing) {
  console.log(`SKIPPED: ${missing.message}; scripts/install-deps exchange installs it`);
  process.exit(77);
}
const fail = (what) => {
  console.error(`failed: ${what}`);
  process.exit(1);
};
const { name, points } = JSON.parse(readFileSync(`${place}/truth.json`));
for (const file of [`glb/${name}.glb`, `vat/${name}.glb`]) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(`${place}/${file}`)));
  const { numErrors, numWarnings, messages } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings`);
  if (numErrors > 0 || numWarnings > 0) fail(JSON.stringify(messages.slice(0, 5)));
}
const data = new USDAParser().parseData(readFileSync(`${place}/usda/${name}.usda`, "utf8"));
const path = Object.keys(data.specsByPath).find((p) => p.endsWith(".points") && p.includes(name));
const { fields } = data.specsByPath[path];
const { times, values } = fields.timeSamples;
if (times.length !== points.length) fail(`${times.length} samples, expected ${points.length}`);
values.forEach((sample, k) => {
  const flat = [...sample].flat();
  if (flat.length !== points[k].length * 3) fail(`${flat.length} coordinates`);
  flat.forEach((c, i) => {
    if (Math.fround(c) !== Math.fround(points[k][Math.floor(i / 3)][i % 3])) fail(`frame ${k}, coordinate ${i}: ${c}`);
  });
});
const root = data.specsByPath["/"].fields;
if (root.upAxis !== "Y" || root.metersPerUnit !== 1 || root.timeCodesPerSecond !== 60) fail(JSON.stringify(root));
console.log(`usda: ${times.length} samples of ${points[0].length} points, as in the run`);
