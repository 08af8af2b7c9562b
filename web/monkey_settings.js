// What the monkey is asked for is in the environment of Node.js, which WebAssembly does not see by itself.
// (And its file is read here: Emscripten 3.1 takes the fetch of newer versions of Node.js for that of a browser.)
Module.wasmBinary = require('fs').readFileSync(`${__dirname}/monkey.wasm`);
Module.preRun = [() => {
  for (const [name, value] of Object.entries(process.env)) if (name.startsWith('VERVE_MONKEY')) ENV[name] = value;
}];
