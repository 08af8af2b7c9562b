// speed.mjs VERVE FOLDER [SCENE...]: what a frame costs by the WebAssembly core (in Node.js) and by the native one on a
// single thread. Medians over 100 frames; a measurement, not a test.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [program, folder, ...wanted] = process.argv.slice(2), FRAMES = 100;
const scenes = wanted.length ? wanted : ['cube', 'hippo'];
const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function native(scene) {
  const out = mkdtempSync(join(tmpdir(), 'verve-speed-'));
  execFileSync(program, ['simulate', scene, '--frames', String(FRAMES), '--threads', '1', '--quiet', '--out', out]);
  const [head, ...rows] = readFileSync(join(out, 'metrics.csv'), 'utf8').trim().split('\n').map(line => line.split(','));
  rmSync(out, {recursive: true});
  const body = head.indexOf('body'), ms = head.indexOf('step_ms');
  return median(rows.filter(row => row[body] === 'all').slice(1).map(row => Number(row[ms])));
}

const core = await new Promise(done => {
  const texts = [], state = {texts, frame: null};
  globalThis.Module = {
    wasmBinary: readFileSync(join(folder, 'verve.wasm')),
    onText: text => texts.push(JSON.parse(text)),
    onFrame: buffer => { state.frame = buffer; },
    onRuntimeInitialized: () => done(state)
  };
  const glue = readFileSync(join(folder, 'verve.js'), 'utf8');
  new Function('require', '__dirname', 'Module', glue)(createRequire(import.meta.url), resolve(folder), globalThis.Module);
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
  const names = core.texts.find(t => t.type === 'scene').metrics, at = names.indexOf('ms'), times = [];
  for (let i = 0; i < FRAMES; ++i) {
    globalThis.Module._verve_advance();
    globalThis.Module._verve_frame();
    times.push(new DataView(core.frame).getFloat64(32 + 8 * at, true));
  }
  return median(times);
}

for (const scene of scenes) {
  const a = native(scene), b = wasm(scene);
  console.log(`${scene}: native ${a.toFixed(2)} ms, WebAssembly ${b.toFixed(2)} ms, ratio ${(b / a).toFixed(2)}`);
}
