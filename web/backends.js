// Where the simulation runs: behind a WebSocket (verve serve) or in a worker (WebAssembly). Both take the same messages
// and give the same texts and frames (docs/live.md):
//
//   const backend = verve.openBackend({text: message => ..., frame: arrayBuffer => ..., lost: reason => ...});
//   backend.send({type: 'load', scene: 'bear'});
//   backend.drawn();                 // once per frame that came: only then others follow
//   backend.name                     // "native", "WebAssembly"
//   backend.threads                  // of WebAssembly, once they work
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  class NativeBackend {
    constructor(token, listener) {
      this.name = 'native';
      this.waiting = [];
      const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/session?token=${token}`;
      this.socket = new WebSocket(address);
      this.socket.binaryType = 'arraybuffer';
      this.socket.onopen = () => {
        this.open = true;
        for (const text of this.waiting.splice(0)) this.socket.send(text);
      };
      this.socket.onmessage = e =>
          typeof e.data === 'string' ? listener.text(JSON.parse(e.data)) : listener.frame(e.data);
      this.socket.onclose = () => {
        listener.lost(this.open ? 'The connection to verve serve has ended. This page comes back by itself once it runs again.'
                                : 'verve serve took no connection: it may serve too many pages already, or was started anew.');
        this.open = false;
        this.comeBack(listener);
      };
    }
    /** Another start of the server has another token: the page is read anew. */
    async comeBack(listener) {
      for (;;) {
        await new Promise(done => setTimeout(done, 1500));
        const page = await fetch(location.pathname + location.search, {cache: 'no-store'}).catch(() => null);
        if (page && page.ok) return location.reload();
        if (page && page.status === 403)  // in a network the token is part of the address
          return listener.lost('verve serve was started anew, with another token: open the address that it shows now.');
      }
    }
    send(message) {
      const text = JSON.stringify(message);
      if (this.open) this.socket.send(text);
      else this.waiting.push(text);
    }
    drawn() {
      if (this.open && this.socket.readyState === 1) this.socket.send(new Uint8Array(1));
    }
  }

  class WorkerBackend {
    constructor(listener) {
      this.name = 'WebAssembly';
      this.waiting = [];
      this.begin(listener).catch(error => listener.lost(`The simulation could not be started: ${error.message}. ` +
                                                        'It needs a browser with WebAssembly SIMD and exceptions.'));
    }
    /** From a script, which a page may read wherever it is, file:// included. */
    async begin(listener) {
      await new Promise((done, failed) => {
        const script = document.createElement('script');
        Object.assign(script, {src: 'core.js', onload: done, onerror: () => failed(new Error('core.js is missing'))});
        document.head.append(script);
      });
      const {worker, ...core} = verve.core;
      delete verve.core;
      this.worker = new Worker(URL.createObjectURL(new Blob([worker], {type: 'text/javascript'})));
      this.worker.onmessage = e => {
        if (typeof e.data === 'string') listener.text(JSON.parse(e.data));
        else if (e.data instanceof ArrayBuffer) listener.frame(e.data);
        else if (e.data.threads) this.threads = e.data.threads;
        else listener.lost(e.data.lost);
      };
      this.worker.onerror = e => {
        e.preventDefault();
        listener.lost(`The simulation has ended: ${e.message}. Reload this page.`);
      };
      this.worker.postMessage(core);
      for (const message of this.waiting.splice(0)) this.worker.postMessage(message);
    }
    post(message) {
      if (this.worker) this.worker.postMessage(message);
      else this.waiting.push(message);
    }
    send(message) {
      this.post(JSON.stringify(message));
    }
    drawn() {
      this.post(null);
    }
  }

  /** A page that was served by verve has a token; a static one has the place for it. */
  function openBackend(listener) {
    const token = document.querySelector('meta[name="verve-token"]').content;
    return /^[0-9a-f]+$/.test(token) ? new NativeBackend(token, listener) : new WorkerBackend(listener);
  }

  /**
   * The bytes of a frame: {generation, number, time, rows: [{frame, time, lanes: [metrics]}], lanes: [{metrics, positions}],
   * colliders: [[x, …, active]]}. Rows are the metrics of every frame since the last message; the last one is what is shown.
   */
  function decodeFrame(buffer, names) {
    const view = new DataView(buffer), word = i => view.getUint32(4 * i, true);
    if (word(0) !== 0x46525656) throw new Error('found bytes that are no frame');
    const laneCount = word(3), vertices = word(4), count = word(5), rows = [];
    let at = 40;
    const next = () => {
      at += 8;
      return view.getFloat64(at - 8, true);
    };
    for (let r = word(6); r > 0; --r) {
      const row = {frame: next(), time: next(), lanes: []};
      for (let l = 0; l < laneCount; ++l) {
        const metrics = {};
        for (let i = 0; i < count; ++i) metrics[names[i]] = next();
        row.lanes.push(metrics);
      }
      rows.push(row);
    }
    const lanes = rows.at(-1).lanes.map(metrics => {
      const positions = new Float32Array(buffer, at, 3 * vertices);
      at += 12 * vertices;
      return {metrics, positions};
    });
    const rest = new Float32Array(buffer, at), colliders = [], supports = [], last = 7 * word(7);
    for (let i = 0; i < last; i += 7) colliders.push([...rest.subarray(i, i + 7)]);
    for (let i = last; i < rest.length; i += 3) supports.push([...rest.subarray(i, i + 3)]);
    return {generation: word(1), number: word(2), time: view.getFloat64(32, true), rows, lanes, colliders, supports};
  }

  Object.assign(verve, {openBackend, decodeFrame});
})(globalThis.verve);
