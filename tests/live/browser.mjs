// A page of the live simulation in a real browser, from `verve serve` or from a static folder.
import {spawn} from 'node:child_process';
import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {extname, join} from 'node:path';
import {tmpdir} from 'node:os';
import {chromium} from 'playwright-core';

const BROWSER = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export async function serveNative(program, scene, flags = ['--port', '0']) {
  const child = spawn(program, ['serve', ...(scene ? [scene] : []), ...flags], {stdio: ['ignore', 'pipe', 'inherit']});
  const address = await new Promise((resolve, reject) => {
    child.stdout.once('data', data => resolve(String(data).trim()));
    child.once('exit', code => reject(new Error(`verve serve ended with ${code}`)));
  });
  const ended = new Promise(done => child.once('exit', done));
  const stop = () => {
    child.kill('SIGINT');
    return ended;
  };
  return {address, stop, running: () => child.exitCode === null};
}

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
               '.svg': 'image/svg+xml', '.webp': 'image/webp', '.jpg': 'image/jpeg'};
export async function serveFolder(folder) {
  const server = createServer(async (request, response) => {
    const name = new URL(request.url, 'http://x').pathname;
    try {
      const body = await readFile(join(folder, name === '/' ? 'index.html' : name));
      response.writeHead(200, {'Content-Type': TYPES[extname(name) || '.html'] || 'application/octet-stream'});
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return {address: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close(), running: () => true};
}

export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'verve-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER, headless: true, viewport: {width: 1024, height: 640},
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
           '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
           '--disable-quic']
  });
  browser.setDefaultTimeout(90000);  // until a test is lost; nothing is measured by it
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
    const from = await page.evaluate(() => new Promise(resolve => {
      const {state} = verve.live;
      verve.live.send({type: 'pause', on: true});
      const look = () => verve.live.state !== state && verve.live.state.paused ? resolve(verve.live.state.frame) : setTimeout(look, 20);
      look();
    }));
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
  spot: page => page.evaluate(() => {
    const {viewer, canvas} = verve.live.views[0], box = canvas.getBoundingClientRect();
    for (let ring = 0; ring < 20; ++ring)
      for (let k = 0; k < 8; ++k) {
        const x = box.width / 2 + 12 * ring * Math.cos(k * 0.785), y = box.height / 2 + 12 * ring * Math.sin(k * 0.785);
        const hit = verve.live.hit(viewer.pick(x, y));
        if (hit) return {x: box.left + x, y: box.top + y, vertex: hit.vertex};
      }
    return null;
  }),
  /** A pixel of the body that is farthest to the left of all. */
  outermost: page => page.evaluate(() => {
    const {viewer, canvas} = verve.live.views[0], box = canvas.getBoundingClientRect();
    for (let x = 4; x < box.width; x += 4)
      for (let y = 4; y < box.height; y += 4)
        if (verve.live.hit(viewer.pick(x, y))) return {x: box.left + x + 4, y: box.top + y};
    return null;
  })
};
