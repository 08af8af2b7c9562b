// The simulation beside the page: the core as WebAssembly, paced like `verve serve` paces it. The first message is what
// scripts/build-page has put into core.js; after that strings are messages, and null says that a frame was drawn.

const MOST_IN_FLIGHT = 2, MOST_THREADS = 8;
const early = [];
let ready = false, inFlight = 0, owed = false, next = 0, timer = 0, threads = 0;

// Memory that several threads see is for pages that are isolated from other origins (docs/live.md): never from file://.
const sharing = self.crossOriginIsolated === true && typeof SharedArrayBuffer === 'function';
// Emscripten's script asks whether a buffer is one
if (!sharing && typeof SharedArrayBuffer === 'undefined') self.SharedArrayBuffer = class {};

/** Starts the core. `shared`: where in it stands that its memory is shared, which is undone where there is no such memory. */
function begin({wasm, glue, thread, shared}) {
  const packed = Uint8Array.from(atob(wasm), c => c.charCodeAt(0));
  const script = text => URL.createObjectURL(new Blob([text], {type: 'text/javascript'})), glueAddress = script(glue);
  let passed = 0;
  const suited = new TransformStream({
    transform(chunk, out) {
      if (!sharing && shared >= passed && shared < passed + chunk.length) chunk[shared - passed] &= ~2;
      passed += chunk.length;
      out.enqueue(chunk);
    }
  });
  self.Module = {
    onText: text => postMessage(text),
    onFrame: buffer => postMessage(buffer, [buffer]),
    onAbort: what => postMessage({lost: `The simulation has ended: ${what}. Reload this page.`}),
    printErr: text => console.warn(text),
    mainScriptUrlOrBlob: glueAddress,
    locateFile: () => script(thread),
    instantiateWasm(imports, done) {
      const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(suited);
      WebAssembly.instantiateStreaming(new Response(unpacked, {headers: {'Content-Type': 'application/wasm'}}), imports).then(
          ({instance, module}) => done(instance, module), error => postMessage({lost: `The simulation could not be started: ` +
              `${error.message}. It needs a browser with WebAssembly SIMD and exceptions.`}));
      return {};
    },
    onRuntimeInitialized() {
      Module._verve_threads(sharing ? Math.min(MOST_THREADS, navigator.hardwareConcurrency || 1) : 1);
      ready = true;
      early.splice(0).forEach(take);
    }
  };
  // as scripts/build-page links it
  if (!sharing) Module.wasmMemory = new WebAssembly.Memory({initial: 1024, maximum: 32768});
  importScripts(glueAddress);
}

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

/** How many threads work, this one counted, whenever that has become another number. */
function tellThreads() {
  const now = 1 + Module.PThread.runningWorkers.filter(worker => worker.loaded).length;
  if (now !== threads) postMessage({threads: threads = now});
}

function tick() {
  clearTimeout(timer);
  tellThreads();
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
  if (e.data && e.data.glue) begin(e.data);
  else if (ready) take(e.data);
  else early.push(e.data);
};
