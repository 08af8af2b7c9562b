// page.mjs native VERVE | page.mjs wasm FOLDER: the live page in a real browser, as a person uses it.
import assert from 'node:assert/strict';
import {inPage, openBrowser, openPage, serveFolder, serveNative} from './browser.mjs';

const [kind, target, ...only] = process.argv.slice(2);  // only: names of the functions below
const server = kind === 'native' ? await serveNative(target) : await serveFolder(target);
const {browser, close} = await openBrowser();
const near = (a, b, share, what) => assert(Math.abs(a - b) <= share * Math.abs(b), `${what}: ${a} beside ${b}`);

async function opensAndMoves() {
  const {page, complaints} = await openPage(browser, server.address);
  await inPage.scene(page, 'bear', 5);
  assert.equal(await page.evaluate(() => verve.live.backend.name), kind === 'native' ? 'native' : 'WebAssembly');
  const pixels = await page.evaluate(() => {  // something is drawn in the middle
    const {viewer, canvas} = verve.live.views[0];
    viewer.draw();
    const data = new Uint8Array(4);
    viewer.gl.readPixels(canvas.width / 2, canvas.height / 2, 1, 1, viewer.gl.RGBA, viewer.gl.UNSIGNED_BYTE, data);
    return [...data];
  });
  assert.equal(pixels[3], 255, 'a body in the middle of the view');
  assert.deepEqual(complaints, []);
  return {page, complaints};
}

async function dragging(page) {
  await inPage.open(page, 'cube_rest');
  await inPage.scene(page, 'cube_rest', 3);
  const before = await inPage.metrics(page), spot = await inPage.spot(page);
  assert(spot, 'a body under the pointer');
  const place = () => page.evaluate(v => [...verve.live.frame.lanes[0].positions.subarray(3 * v, 3 * v + 3)], spot.vertex);
  const start = await place();
  await page.mouse.move(spot.x, spot.y);
  await page.mouse.down();
  for (let i = 1; i <= 12; ++i) {
    await page.mouse.move(spot.x + 18 * i, spot.y - 6 * i);
    const number = await inPage.number(page);
    await page.waitForFunction(n => verve.live.frame.number > n, number);
  }
  const held = await inPage.metrics(page), moved = await place();
  assert(Math.hypot(...moved.map((m, i) => m - start[i])) > 0.1, 'the vertex follows the pointer');
  assert(held.total > before.total + 1, `energy goes in: ${before.total} to ${held.total} J`);
  await page.mouse.up();
  const thrown = await inPage.step(page, 1);  // the session may be ahead of what is shown
  assert(thrown.momentum > 1, 'it flies on');
  const later = await inPage.step(page, 60);
  // nothing holds it now: H to the tolerance of the scene's solver, P and L to rounding
  near(later.total, thrown.total, 1e-4, 'H after the throw');
  near(later.momentum, thrown.momentum, 1e-6, 'P after the throw');
  near(later.spin, thrown.spin, 1e-5, 'L after the throw');
}

async function dials(page) {
  await inPage.open(page, 'cube');
  await inPage.scene(page, 'cube', 3);
  const before = await inPage.step(page, 1);
  await page.fill('#dial-energy', String(before.total / 2));
  await page.press('#dial-energy', 'Enter');
  near((await inPage.step(page, 4)).total, before.total / 2, 1e-3, 'half the energy');
  await page.keyboard.press('r');
  await page.waitForFunction(() => verve.live.frame.number === 0);
  await page.fill('#dial-half_life', '0.5');
  await page.press('#dial-half_life', 'Enter');
  await page.waitForFunction(() => verve.live.state.half_life[0] === 0.5);
  const from = await inPage.step(page, 1), to = await inPage.step(page, 15);
  // Eq. 24 takes (1 - ln 2 h / 0.5)^15 = 0.4885 in half a second
  near((to.total - to.rigid) / (from.total - from.rigid), 0.4885, 0.02, 'H - K after a half-life');
  // each dial has a label, a unit or none, a slider that acts, and says its value
  for (const key of await page.evaluate(() => verve.dialNames)) {
    const slider = page.locator(`.dial:has(#dial-${key}) input[type=range]`);
    if (!await slider.isVisible()) continue;
    const sent = page.evaluate(key => new Promise(resolve => {
      const send = verve.live.backend.send;
      verve.live.backend.send = function (message) {
        if (message.type === 'dial' && message.name === key) {
          verve.live.backend.send = send;
          resolve(message.value);
        }
        return send.call(this, message);
      };
    }), key);
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await sent;
  }
  await inPage.step(page, 2);
  assert.equal(await page.locator('.notice.error').count(), 0, 'no dial is refused');
}

async function keysAndTime(page) {
  await inPage.open(page, 'cube');
  await inPage.scene(page, 'cube', 3);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Space');
  await page.waitForFunction(() => verve.live.state.paused);
  await inPage.step(page, 1);
  const number = await inPage.number(page);
  await page.keyboard.press('.');
  await page.waitForFunction(n => verve.live.frame.number === n + 1, number);
  await page.keyboard.press('r');
  await page.waitForFunction(() => verve.live.frame.number === 0);
  await page.keyboard.press('Space');
  await page.waitForFunction(() => verve.live.frame.number > 3);
  await page.selectOption('#speed', '0.25');
  await page.waitForFunction(() => verve.live.state.speed === 0.25);
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  await page.waitForSelector('#help[open]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('m');
  await page.waitForSelector('#scenes[open]');
  assert(await page.locator('#scene-list button').count() >= 40, 'all scenes are listed');
  const pictures = await page.locator('.thumbnail').evaluateAll(all => all.filter(t => !t.style.backgroundImage).length);
  assert.equal(pictures, 0, 'each with a picture');
  await page.click('#scene-list button[data-scene=torus]');
  await inPage.scene(page, 'torus', 2);
}

async function comparing(page) {
  await inPage.open(page, 'cube');
  await inPage.scene(page, 'cube', 3);
  await page.click('#twin');
  await page.waitForFunction(() => verve.live.frame.lanes.length === 2);
  const start = await inPage.metrics(page, 0);
  await inPage.step(page, 60);
  assert.equal(await page.locator('#views canvas').count(), 2);
  const kept = await inPage.metrics(page, 0), lost = await inPage.metrics(page, 1);
  near(kept.total, start.total, 1e-4, 'cpd keeps H');
  assert(lost.total < 0.6 * start.total, 'plain PD dies');
  await page.click('#twin');
  await page.waitForFunction(() => verve.live.state.lanes.length === 1);
}

async function files(page) {
  const drop = (name, text) => page.evaluate(([name, text]) => verve.live.openFile(new File([text], name)), [name, text]);
  await drop('bad.json', '{\n  "version": 1,\n  "bodis": []\n}');
  await page.waitForSelector('.notice.error:has-text("bad.json:3")');
  await drop('picture.png', 'x');
  await page.waitForSelector('.notice.error:has-text("picture.png")');
  await drop('sheet.obj', 'v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n');
  await inPage.scene(page, 'sheet.obj', 2);
  await inPage.open(page, 'cube');
  await inPage.scene(page, 'cube', 4);
  await page.click('button[aria-controls=files]');
  const downloads = {};
  for (const id of ['save-picture', 'save-metrics', 'save-state']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`#${id}`)]);
    const stream = await download.createReadStream(), parts = [];
    for await (const part of stream) parts.push(part);
    downloads[download.suggestedFilename()] = Buffer.concat(parts);
  }
  assert(downloads['cube.png'].subarray(1, 4).toString() === 'PNG');
  assert(downloads['cube.csv'].toString().startsWith('method,frame,time,kinetic'));
  const state = downloads['cube.verve'].toString();
  await drop('cube.verve', state);
  const saved = JSON.parse(state).frame;
  await page.waitForFunction(n => verve.live.frame.number >= n, saved);
  await page.click('#link');
  await page.waitForFunction(() => location.hash.startsWith('#s='));
  const again = await openPage(browser, page.url());
  await inPage.scene(again.page, 'cube', 2);
  assert.deepEqual(again.complaints, []);
  await again.page.close();
}

async function readable(page) {
  for (const scheme of ['light', 'dark']) {
    await page.evaluate(scheme => { document.documentElement.dataset.theme = scheme; }, scheme);
    const faults = await page.evaluate(() => {
      const out = [];
      const visible = e => e.offsetParent !== null && getComputedStyle(e).visibility !== 'hidden';
      for (const e of document.querySelectorAll('button, input, select, a, canvas[tabindex]')) {
        if (!visible(e)) continue;
        const label = e.labels && e.labels[0];
        const name = e.getAttribute('aria-label') || (label && label.textContent) || e.textContent.trim() || e.title;
        if (!name) out.push(`no name: ${e.outerHTML.slice(0, 80)}`);
        if (e.tabIndex < 0 && e.getAttribute('role') !== 'radio') out.push(`not reachable: ${e.outerHTML.slice(0, 80)}`);
      }
      const color = text => {
        const m = text.match(/[\d.]+/g).map(Number);
        return {rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1};
      };
      const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = e => {
        let rgb = null, a = 0;
        for (let at = e; at; at = at.parentElement) {
          const c = color(getComputedStyle(at).backgroundColor);
          if (c.a > 0) {
            rgb = rgb ? rgb.map((v, i) => v + (1 - a) * c.a * c.rgb[i]) : c.rgb.map(v => v * c.a);
            a += (1 - a) * c.a;
          }
          if (a > 0.99) return rgb;
        }
        const page = color(getComputedStyle(document.body).backgroundColor).rgb;
        return rgb ? rgb.map((v, i) => v + (1 - a) * page[i]) : page;
      };
      for (const e of document.querySelectorAll('button, label, h2, h3, p, output, .chip, .unit, .legend-item, .plot-unit, footer')) {
        if (!visible(e) || !e.textContent.trim()) continue;
        const a = luminance(color(getComputedStyle(e).color).rgb), b = luminance(behind(e));
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) out.push(`contrast ${ratio.toFixed(2)}: ${e.outerHTML.slice(0, 80)}`);
      }
      return out;
    });
    assert.deepEqual(faults, [], `${scheme}: ${faults.join('\n')}`);
  }
  await page.setViewportSize({width: 390, height: 780});
  const phone = await page.evaluate(() => {
    const seen = id => {
      const box = document.getElementById(id).getBoundingClientRect();
      return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
    };
    return {wide: document.documentElement.scrollWidth - innerWidth, seen: ['transport', 'tools', 'looks'].filter(id => !seen(id))};
  });
  assert(phone.wide <= 0, `a phone scrolls sideways by ${phone.wide} pixels`);
  assert.deepEqual(phone.seen, [], 'controls on a phone');
  await page.setViewportSize({width: 1280, height: 760});
}

async function everyScene(page) {
  const names = await page.evaluate(() => [...document.querySelectorAll('#scene-list button')].map(b => b.dataset.scene));
  for (const name of names) {
    await inPage.open(page, name);
    await inPage.scene(page, name, 2).catch(error => { throw new Error(`${name}: ${error.message}`); });
  }
  return names.length;
}

let failed = null;
try {
  const {page, complaints} = await opensAndMoves();
  for (const test of [dragging, dials, keysAndTime, comparing, files, readable, everyScene]) {
    if (only.length && !only.includes(test.name)) continue;
    await test(page);
    assert.deepEqual(complaints, [], `${test.name}: the console stays empty`);
    console.log(`${test.name}: well`);
  }
  if (kind === 'native') {  // a page that is gone leaves the server to others
    await page.close();
    const other = await openPage(browser, server.address);
    await inPage.scene(other.page, 'bear', 3);
    assert(server.running());
  }
} catch (error) {
  failed = error;
}
await close();
server.stop();
if (failed) throw failed;
