// speed.mjs VERVE FOLDER [SCENE...]: what a frame costs by the WebAssembly core (in Node.js) and by the native one on a
// single thread: processor time per frame over 200 frames, after 100 to get warm; the least of five, taken in turns, since
// whatever else runs only adds to it. A measurement, not a test.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {gunzipSync} from 'node:zlib';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [program, folder, ...wanted] = process.argv.slice(2), WARM = 100, FRAMES = 200;
const scenes = wanted.length ? wanted : ['cube', 'hippo'];

/** A run of so many frames: that of many less that of few leaves out meshes, factors and files. */
function native(scene, frames) {
  const out = mkdtempSync(join(tmpdir(), 'verve-speed-'));
  const {stderr} = spawnSync('bash', ['-c', 'TIMEFORMAT=%U; time "$@"', '_', program, 'simulate', scene, '--frames',
                                      String(frames), '--threads', '1', '--quiet', '--out', out], {encoding: 'utf8'});
  rmSync(out, {recursive: true});
  return 1000 * Number(stderr.trim());
}

globalThis.verve = {};
new Function(readFileSync(join(folder, 'core.js'), 'utf8'))();
const packed = globalThis.verve.core;
const core = await new Promise(done => {
  const texts = [], state = {texts, frame: null};
  const wasmBinary = gunzipSync(Buffer.from(packed.wasm, 'base64'));
  wasmBinary[packed.shared] &= ~2;  // memory of its own, as on a page without threads
  globalThis.Module = {
    wasmBinary, wasmMemory: new WebAssembly.Memory({initial: 1024, maximum: 32768}),
    onText: text => texts.push(JSON.parse(text)),
    onFrame: buffer => { state.frame = buffer; },
    onRuntimeInitialized: () => done(state)
  };
  new Function('require', '__dirname', '__filename', 'Module', packed.glue)(
      createRequire(import.meta.url), resolve(folder), resolve(folder, 'core.js'), globalThis.Module);
});
function say(message) {
  const {Module} = globalThis, text = JSON.stringify(message), size = Module.lengthBytesUTF8(text) + 1;
  const place = Module._malloc(size);
  Module.stringToUTF8(text, place, size);
  Module._verve_handle(place);
  Module._free(place);
  const refused = core.texts.find(t => t.type === 'error');
  if (refused) throw new Error(refused.text);
}
function wasm(scene) {
  core.texts.length = 0;
  say({type: 'load', scene});
  const advance = frames => {
    for (let i = 0; i < frames; ++i) globalThis.Module._verve_advance();
  };
  advance(WARM);
  const before = process.cpuUsage();
  advance(FRAMES);
  return process.cpuUsage(before).user / 1000 / FRAMES;
}

for (const scene of scenes) {
  let long = Infinity, short = Infinity, b = Infinity;
  for (let turn = 0; turn < 5; ++turn) {
    long = Math.min(long, native(scene, WARM + FRAMES));
    short = Math.min(short, native(scene, WARM));
    b = Math.min(b, wasm(scene));
  }
  const a = (long - short) / FRAMES;
  console.log(`${scene}: native ${a.toFixed(2)} ms, WebAssembly ${b.toFixed(2)} ms, ratio ${(b / a).toFixed(2)}`);
}
