// The simulation beside the page: the core as WebAssembly, paced like `verve serve` paces it. The first message is the
// compressed core; after that strings are messages, and null says that a frame was drawn. Emscripten's script follows this
// one (scripts/build-page).

const MOST_IN_FLIGHT = 2;
const early = [];
let arrived = null;
const packed = new Promise(done => { arrived = done; });
let ready = false, inFlight = 0, owed = false, next = 0, timer = 0;

self.Module = {
  onText: text => postMessage(text),
  onFrame: buffer => postMessage(buffer, [buffer]),
  onAbort: what => postMessage({lost: `The simulation has ended: ${what}. Reload this page.`}),
  printErr: text => console.warn(text),
  instantiateWasm(imports, done) {
    const unpacked = packed.then(data => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip')),
                                                      {headers: {'Content-Type': 'application/wasm'}}));
    WebAssembly.instantiateStreaming(unpacked, imports).then(
        ({instance, module}) => done(instance, module), error => postMessage({lost: `The simulation could not be started: ` +
            `${error.message}. It needs a browser with WebAssembly SIMD and exceptions.`}));
    return {};
  },
  onRuntimeInitialized() {
    ready = true;
    early.splice(0).forEach(take);
  }
};

function take(message) {
  if (message === null) {
    inFlight = Math.max(0, inFlight - 1);
  } else {
    const size = Module.lengthBytesUTF8(message) + 1, place = Module._malloc(size);
    Module.stringToUTF8(message, place, size);
    Module._verve_handle(place);
    Module._free(place);
  }
  tick();
}

function tick() {
  clearTimeout(timer);
  const now = performance.now();
  if (Module._verve_take_changed()) owed = true;
  if (!Module._verve_running()) {
    next = now;
  } else if (now >= next) {
    Module._verve_advance();
    owed = true;
    next = Math.max(next + 1000 * Module._verve_interval(), performance.now());
  }
  if (owed && inFlight < MOST_IN_FLIGHT) {
    owed = false;
    ++inFlight;
    Module._verve_frame();
  }
  if (Module._verve_running()) timer = setTimeout(tick, Math.max(0, next - performance.now()));
}

self.onmessage = e => {
  if (e.data instanceof ArrayBuffer) arrived(e.data);
  else if (ready) take(e.data);
  else early.push(e.data);
};
