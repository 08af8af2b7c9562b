// A page of the live simulation in a real browser, from `verve serve` or from a static folder.
import {spawn} from 'node:child_process';
import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {extname, join} from 'node:path';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Nothing is waited for longer than this: a wait that is lost is named, with where the pages are. */
export const PATIENCE = 90000;
const LONGEST_TEST = 300000;

/** What a promise comes to, or an error that names what did not come. */
export function within(milliseconds, what, promise) {
  let timer = 0;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Where every page of the browser is, for whoever looks for what was waited for. */
async function whereabouts(browser) {
  const say = async page => `${page.url()}: ${await within(5000, 'the page', page.evaluate(() => {
    const {state, frame, scene, backend} = globalThis.verve && verve.live || {};
    return JSON.stringify({scene: scene && scene.name, generation: scene && scene.generation, frame: frame && frame.number,
                           shown: frame && frame.generation, paused: state && state.paused, at: state && state.frame, hidden: document.hidden,
                           open: backend && backend.open, notices: [...document.querySelectorAll('.notice')].map(n => n.textContent)});
  })).catch(error => error.message)}`;
  return (await Promise.all(browser.pages().map(say))).join('\n');
}

/** A test by its name, bounded; says how long it took. */
export async function tryOut(browser, name, test) {
  const start = performance.now();
  try {
    await within(LONGEST_TEST, 'this test', test());
  } catch (error) {
    error.message = `${name}: ${error.message}\n${await whereabouts(browser)}`;
    throw error;
  }
  console.log(`${name}: well, ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/** The end of a program of tests: browser and servers go, and if they do not, they are left behind with a word. */
export async function finish(failed, close, servers) {
  for (const [what, end] of [['the browser', close], ...servers.map(server => ['a server', server.stop])])
    await within(30000, `the end of ${what}`, end()).catch(error => { failed ??= error; });
  if (failed) console.error(failed.stack);
  process.exit(failed ? 1 : 0);
}

export async function serveNative(program, scene, flags = ['--port', '0']) {
  const child = spawn(program, ['serve', ...(scene ? [scene] : []), ...flags], {stdio: ['ignore', 'pipe', 'inherit']});
  const address = await within(PATIENCE, 'the address of verve serve', new Promise((resolve, reject) => {
    child.stdout.once('data', data => resolve(String(data).trim()));
    child.once('exit', code => reject(new Error(`verve serve ended with ${code}`)));
  }));
  const ended = new Promise(done => child.once('exit', done));
  const stop = () => {
    child.kill('SIGINT');
    return within(20000, 'verve serve, interrupted', ended).catch(error => {
      child.kill('SIGKILL');
      throw error;
    });
  };
  return {address, stop, running: () => child.exitCode === null};
}

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
               '.svg': 'image/svg+xml', '.webp': 'image/webp', '.jpg': 'image/jpeg'};
/** `isolated`: with what a host sends so that the page may use threads (docs/live.md). */
export async function serveFolder(folder, isolated = false) {
  const headers = isolated ? {'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp'} : {};
  const server = createServer(async (request, response) => {
    const name = new URL(request.url, 'http://x').pathname;
    try {
      const body = await readFile(join(folder, name === '/' ? 'index.html' : name));
      response.writeHead(200, {...headers, 'Content-Type': TYPES[extname(name) || '.html'] || 'application/octet-stream'});
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return {address: `http://127.0.0.1:${server.address().port}/`, stop: async () => { server.closeAllConnections(); server.close(); }, running: () => true};
}

export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'verve-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER, headless: true, viewport: {width: 1024, height: 640},
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
           '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
           '--disable-quic']
  });
  browser.setDefaultTimeout(PATIENCE);
  return {browser, close: async () => {
    await browser.close();
    rmSync(profile, {recursive: true, force: true});
  }};
}

/** A page with what it complained about. */
export async function openPage(browser, address) {
  const page = await browser.newPage(), complaints = [];
  page.on('console', message => {
    // reading pixels back is slow in software; that is no complaint about the page
    if (message.type() === 'error' || (message.type() === 'warning' && !/GPU stall|GL Driver/.test(message.text())))
      complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('requestfailed', request => complaints.push(`${request.url()}: ${request.failure().errorText}`));
  await page.goto(address);
  return {page, complaints};
}

export const inPage = {
  /** Waits for a scene, not one of that name from before it was opened, and so many frames of it. */
  async scene(page, name, frames = 2) {
    await page.waitForFunction(([name, frames]) => verve.live.scene && verve.live.scene.name === name &&
        verve.live.scene.generation !== verve.live.left && verve.live.frame && verve.live.frame.generation === verve.live.scene.generation &&
        verve.live.frame.number >= frames, [name, frames]);
  },
  open: (page, name) => page.evaluate(name => {
    verve.live.left = verve.live.scene ? verve.live.scene.generation : -1;
    verve.live.send({type: 'load', scene: name});
  }, name),
  number: page => page.evaluate(() => verve.live.frame.number),
  metrics: (page, lane = 0) => page.evaluate(lane => verve.live.frame.lanes[lane].metrics, lane),
  /** So many frames from where it is, then it stands still. */
  async step(page, frames) {
    // what is shown may be older than where the session is
    await page.evaluate(() => {
      verve.live.stateBefore = verve.live.state;
      verve.live.send({type: 'pause', on: true});
    });
    await page.waitForFunction(() => verve.live.state !== verve.live.stateBefore && verve.live.state.paused);
    const from = await page.evaluate(() => verve.live.state.frame);
    await page.evaluate(frames => {
      verve.live.send({type: 'speed', value: 10});
      verve.live.send({type: 'step', frames});
    }, frames);
    await page.waitForFunction(number => verve.live.frame.number === number, from + frames);
    await page.evaluate(() => verve.live.send({type: 'speed', value: 1}));
    return inPage.metrics(page);
  },
  /** From the start, so many frames; the positions then. */
  async replay(page, frames) {
    await page.evaluate(frames => {
      verve.live.send({type: 'pause', on: true});
      verve.live.send({type: 'reset'});
      verve.live.send({type: 'speed', value: 10});
      verve.live.send({type: 'step', frames});
    }, frames);
    await page.waitForFunction(frames => verve.live.frame.number === frames, frames);
    return page.evaluate(() => [...verve.live.frame.lanes[0].positions]);
  },
  /** A pixel under which there is a body, near its middle, and the vertex there. */
  spot: async page => (await page.waitForFunction(() => {
    const {viewer, canvas} = verve.live.views[0], box = canvas.getBoundingClientRect();
    for (let ring = 0; ring < 20; ++ring)
      for (let k = 0; k < 8; ++k) {
        const x = box.width / 2 + 12 * ring * Math.cos(k * 0.785), y = box.height / 2 + 12 * ring * Math.sin(k * 0.785);
        const hit = verve.live.hit(viewer.pick(x, y));
        if (hit) return {x: box.left + x, y: box.top + y, vertex: hit.vertex};
      }
    return null;  // the scene is there before its first picture
  })).jsonValue(),
  /** A pixel of the body that is farthest to the left of all. */
  outermost: page => page.evaluate(() => {
    const {viewer, canvas} = verve.live.views[0], box = canvas.getBoundingClientRect();
    for (let x = 4; x < box.width; x += 4)
      for (let y = 4; y < box.height; y += 4)
        if (verve.live.hit(viewer.pick(x, y))) return {x: box.left + x + 4, y: box.top + y};
    return null;
  })
};
