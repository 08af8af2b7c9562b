// Reads the USD file of check.py with Pixar's USD, which three-usdz-loader has as WebAssembly for browsers.
//   node check_usd.mjs PLACE
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const place = process.argv[2], here = createRequire(import.meta.url);
const skip = (why) => {
  console.log(`SKIPPED: ${why}`);
  process.exit(77);
};
const fail = (what) => {
  console.error(`failed: ${what}`);
  process.exit(1);
};
let chromium, library;
try {
  ({ chromium } = await import("../live/node_modules/playwright-core/index.mjs"));
} catch {
  skip("no playwright-core; scripts/install-deps test-page installs it");
}
try {
  library = join(dirname(here.resolve("three-usdz-loader")), "../external");
} catch {
  skip("no three-usdz-loader; scripts/install-deps exchange installs it");
}
const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!browser) skip("no Chromium; scripts/install-deps test-page installs it");

const { name, points } = JSON.parse(readFileSync(`${place}/truth.json`));
const kinds = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
const server = createServer((request, response) => {
  const path = request.url.split("?")[0].slice(1), files = { "scene.usda": `${place}/usda/${name}.usda` };
  const bytes = path === "" ? "<!doctype html><script src=emHdBindings.js></script>"
    : path in files ? readFileSync(files[path])
    : existsSync(join(library, path)) ? readFileSync(join(library, path)) : null;
  response.writeHead(bytes === null ? 404 : 200, {
    "Content-Type": kinds[path === "" ? "html" : path.split(".").pop()] ?? "application/octet-stream",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
  });
  response.end(bytes);
}).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));

const window_ = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-background-networking"] });
let found;
try {
  const page = await window_.newPage();
  page.setDefaultTimeout(60000);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  // what USD's Hydra would draw, in each frame
  found = await page.evaluate(async (frames) => {
    const usd = await window.getUsdModule(undefined, "", undefined);
    await usd.ready;
    const bytes = new Uint8Array(await (await fetch("scene.usda")).arrayBuffer());
    usd.FS.createDataFile("/", "scene.usda", bytes, true, true, true);
    const meshes = {}, seen = [];
    const prim = (id) => meshes[id] = {
      updatePoints(x) { this.points = Array.from(x); },
      setTransform(m) { this.matrix = Array.from(m); },
      updateIndices(i) { this.indices = Array.from(i); },
      updatePrimvar(key, data) { (this.primvars ??= {})[key] = data.length; },
      updateNormals(n) { this.normals = n.length; }, setMaterial() {}, commit() {},
    };
    const driver = new usd.HdWebSyncDriver({
      createRPrim: (type, id) => prim(id), createBPrim: () => undefined,
      createSPrim: () => ({ updateNode() {}, updateFinished() {} }), CommitResources() {},
    }, "scene.usda");
    const stage = driver.GetStage();
    for (let k = 0; k < frames; ++k) {
      driver.SetTime(k);
      driver.Draw();
      seen.push(JSON.parse(JSON.stringify(meshes)));
    }
    return { seen, end: stage.GetEndTimeCode(), rate: stage.GetTimeCodesPerSecond() };
  }, points.length);
} finally {
  await window_.close();
  server.close();
}
if (found.end !== points.length - 1 || found.rate !== 60) fail(`frames ${found.end}, rate ${found.rate}`);
let farthest = 0;
found.seen.forEach((meshes, k) => {
  const id = Object.keys(meshes).find((key) => key.endsWith("/surface"));
  if (!id) fail(`no surface among ${Object.keys(meshes)}`);
  const { points: x, matrix: m, indices, primvars } = meshes[id];
  if (x.length !== 3 * points[k].length || indices.length !== 36 || !primvars.st) fail(`frame ${k} of ${id}`);
  points[k].forEach((p, v) => p.forEach((c, a) => {  // rows times matrix
    const at = x[3 * v] * m[a] + x[3 * v + 1] * m[4 + a] + x[3 * v + 2] * m[8 + a] + m[12 + a];
    farthest = Math.max(farthest, Math.abs(at - c));
  }));
});
if (farthest > 1e-6) fail(`Pixar's USD has points ${farthest} m off`);
console.log(`Pixar's USD: ${points.length} frames of ${points[0].length} points, at most ${farthest} m off`);
