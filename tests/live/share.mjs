// share.mjs VERVE FOLDER [TEST...]: lessons, the gallery, curves, links, embedding and phones in a real browser. FOLDER is
// what scripts/build-page made; lessons are read from it as files. TEST: names of the functions below.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {finish, inPage, openBrowser, openPage, PATIENCE, serveFolder, serveNative, tryOut, within} from './browser.mjs';

const [program, folder, ...only] = process.argv.slice(2);
const {browser, close} = await openBrowser();
const native = await serveNative(program), statics = await serveFolder(folder);
const near = (a, b, share, what) => assert(Math.abs(a - b) <= share * Math.abs(b), `${what}: ${a} beside ${b}`);
const size = (page, width, height) => page.setViewportSize({width, height});

const bytesOf = download => within(PATIENCE, download.suggestedFilename(), download.path().then(path => readFile(path)));
const textOf = async download => String(await bytesOf(download));

/** Every lesson from files, without a server: it runs, it moves, and its question is answered by keys alone. */
async function lessons() {
  const {page, complaints} = await openPage(browser, `${pathToFileURL(resolve(folder))}/index.html#lesson=damping`);
  await page.waitForFunction(() => globalThis.verve && verve.lessons);
  let longest = 0;
  const all = await page.evaluate(() => verve.lessons.map(({id, link, right}) => ({id, link, right})));
  assert.equal(all.length, 10);
  for (const [i, {id, link, right}] of all.entries()) {
    if (i) await page.evaluate(id => { location.hash = `lesson=${id}`; }, id);
    const wanted = new URLSearchParams(link), start = performance.now();
    await page.waitForFunction(([scene, lanes]) => {
      const {scene: now, state, frame} = verve.live;
      return now && now.name === scene && state.lanes.join() === lanes && frame && frame.generation === now.generation && frame.number >= 1;
    }, [wanted.get('scene'), wanted.get('methods')], {timeout: 20000}).catch(() => { throw new Error(`${id}: does not run`); });
    // Within five seconds every view has moved so that one sees it, a fiftieth of its size. Counted by the clock of the
    // simulation, of which real time shows at most as much: what else a machine does has no say in that.
    await page.evaluate(() => {
      verve.live.send({type: 'pause', on: true});
      verve.live.send({type: 'reset'});
    });
    await page.waitForFunction(() => verve.live.frame.number === 0 && verve.live.state.paused);
    const moved = await page.evaluate(async () => {
      const first = verve.live.frame, size = Math.max(...verve.live.scene.bodies.map(b => b.size));
      verve.live.send({type: 'pause', on: false});
      for (;;) {
        const {frame} = verve.live, far = frame.lanes.map(({positions}, lane) => positions.reduce(
            (most, x, i) => Math.max(most, Math.abs(x - first.lanes[lane].positions[i])), 0) / size);
        if (frame.time > 5 || far.every(share => share > 0.02)) return {time: frame.time, far};
        await new Promise(done => setTimeout(done, 20));
      }
    });
    assert(moved.time <= 5, `${id}: moved by ${moved.far} of its size in five seconds`);
    longest = Math.max(longest, performance.now() - start);
    assert.equal(await page.locator('.notice.error').count(), 0, `${id}: no complaint`);
    // the answer is hidden until one is given
    assert.equal(await page.locator('.lesson-answer').textContent(), '', `${id}: the answer waits`);
    if (i === 0) {  // by Tab and Enter
      await page.focus('.choice:first-child');
      for (let k = 0; k < right; ++k) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    } else {
      await page.keyboard.press(String(right + 1));
    }
    assert.match(await page.locator('.lesson-answer').textContent(), /^Yes\. ./, `${id}: the answer is shown`);
    const dials = await page.evaluate(() => [...document.querySelectorAll('.dial:not(.off) input[type=text]')].map(d => d.id.slice(5)));
    const asked = await page.evaluate(id => verve.lessons.find(l => l.id === id).dials, id);
    assert.deepEqual([...dials].sort(), [...asked].sort(), `${id}: its dials`);
  }
  // with the start of the core; how long that takes here, others on the machine decide too: a measurement, not a test
  console.log(`lessons have moved after ${(longest / 1000).toFixed(1)} s at most`);
  await page.keyboard.press('2');
  assert.match(await page.locator('.lesson-answer').textContent(), /^(Yes|No: )/);
  // one sheet for each lesson and one of answers
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({media: 'print'});
  assert.equal(await page.locator('.sheet:visible').count(), 11);
  assert(!await page.locator('header').isVisible(), 'paper has no buttons');
  await page.emulateMedia({media: 'screen'});
  await page.click('[aria-label="Leave the lesson"]');
  await page.waitForFunction(() => !verve.live.lesson && document.getElementById('lesson').hidden);
  assert.deepEqual(complaints, [], 'the console stays empty');
  await page.close();
}

/** What a lesson tells people to see is there: an explicit step that is too long, and iterations that stiffen a chain. */
async function lessonsAreTrue() {
  const run = (link, frames) => execFileSync(program, ['link', link, '--frames', String(frames), '--threads', '1'],
                                             {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: PATIENCE});
  const energy = text => Number(/H (\S+) J/.exec(text)[1]);
  const steps = 'scene=cube_rest&methods=symplectic_euler&step=';
  assert(energy(run(`${steps}0.01`, 200)) < 1000, 'steps: 10 ms are stable');
  assert(!(energy(run(`${steps}0.02`, 60)) < 1e6), 'steps: 20 ms are not');
  assert(!(energy(run(`${steps}0.01&stiffness=4`, 200)) < 1e6), 'steps: nor are 10 ms with four times the stiffness');
  const {page} = await openPage(browser, native.address);
  await inPage.scene(page, 'bear');  // the page's own first scene would come after what is asked of it before
  const hangs = {};
  for (const [name, link] of [['few', 'methods=pbd&iterations=2&stiffness=0.2'], ['many', 'methods=pbd&iterations=50&stiffness=0.2']]) {
    await page.evaluate(link => verve.live.send({type: 'open', link: `scene=chain&${link}`}), link);
    await page.waitForFunction(n => verve.live.state && verve.live.state.iterations === n, name === 'few' ? 2 : 50);
    await inPage.scene(page, 'chain', 0);
    await page.evaluate(() => verve.live.send({type: 'reset'}));
    await inPage.step(page, 90);
    hangs[name] = await page.evaluate(() => {
      const x = verve.live.frame.lanes[0].positions;
      let length = 0;
      for (let i = 3; i < x.length; i += 3) length += Math.hypot(x[i] - x[i - 3], x[i + 1] - x[i - 2], x[i + 2] - x[i - 1]);
      return length;
    });
  }
  await page.evaluate(() => verve.live.send({type: 'open', link: verve.lessons.at(-1).link}));
  await inPage.scene(page, 'cube', 0);
  await page.evaluate(() => verve.live.send({type: 'reset'}));
  await inPage.step(page, 300);
  const swings = await page.evaluate(() => verve.live.curves.history.map(({metrics}) => {
    const elastic = metrics.slice(-100).map(m => m.elastic), mean = elastic.reduce((sum, w) => sum + w, 0) / elastic.length;
    return {kept: metrics.at(-1).kept, swing: Math.hypot(...elastic.map(w => w - mean))};
  }));
  assert(swings.every(({kept}) => Math.abs(kept - 1) < 0.01), 'truth: both keep their energy');
  assert(swings[0].swing > 3 * swings[1].swing, `truth: one still swings: ${JSON.stringify(swings)}`);
  const left = h => energy(run(`scene=cube_rest&methods=pd&step=${h}`, Math.round(1 / h)));
  assert(left(0.008) > 10 * left(0.0333333), 'loss: shorter steps lose less');
  assert(hangs.few > 1.2 * hangs.many, `pbd: ${hangs.few} m with 2 iterations, ${hangs.many} m with 50`);
  await page.close();
}

/** One step in numbers, which are those of the simulation. */
async function how() {
  const {page, complaints} = await openPage(browser, `${native.address}#scene=cube&methods=cpd`);
  await inPage.scene(page, 'cube', 10);
  await page.evaluate(() => {
    const {explain} = verve;
    verve.explain = (place, said) => {
      verve.live.said = said;
      explain(place, said);
    };
  });
  await page.keyboard.press('h');
  await page.waitForFunction(() => verve.live.said);
  const said = await page.evaluate(() => verve.live.said);
  const metrics = (await inPage.metrics(page)).total;
  near(said.before.total, metrics, 1e-9, 'H before is that of the frame');
  near(said.after.total, said.before.total, 1e-4, 'H after by CPD');
  near(said.after.total, said.after.target, 1e-4, 'which is what was asked for');
  said.y.forEach((y, k) => assert(Math.abs(y - said.before.x[k] - said.step * said.v[k]) < 1e-9, 'the prediction'));
  assert.equal(said.pd.length, 10, 'ten iterations of plain PD');
  assert(said.pd.at(-1).total < 0.99 * said.before.total, `plain PD loses: ${said.pd.at(-1).total} of ${said.before.total} J`);
  assert(said.pd.at(-1).elastic < said.pd[0].elastic, 'iterations lower W');
  assert(Number.isFinite(said.after.multiplier) && said.after.iterations > 0);
  const text = await page.locator('#how-body').textContent();
  for (const word of ['xn =', 'y =', 'Local and global', 'rad/s', 'Asked for']) assert(text.includes(word), `"${word}" is told`);
  // the next step goes on from there
  await page.click('#how-again');
  await page.waitForFunction(frame => verve.live.said.frame === frame + 1, said.frame);
  const next = await page.evaluate(() => verve.live.said);
  near(next.before.total, said.after.total, 1e-9, 'what was foretold came');
  assert.deepEqual(complaints, []);
  await page.close();
}

/** Groups, a search, human titles, the method of each scene; an address that names no scene leads there. */
async function gallery() {
  const {page} = await openPage(browser, `${native.address}#scene=nonsense`);
  await page.waitForSelector('#scenes[open]');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search', 'one can type at once');
  const {titles, groups, methods} = await page.evaluate(() => ({
    titles: [...document.querySelectorAll('.scene b')].map(b => b.textContent), groups: [...document.querySelectorAll('.group h3')].map(h => h.textContent),
    methods: [...document.querySelectorAll('.scene-method')].map(m => m.textContent)}));
  assert(titles.length >= 46 && groups.length >= 6, `${titles.length} scenes in ${groups.length} groups`);
  assert(!groups.includes('More'), 'every scene has a group and a title');
  assert.equal(new Set(titles).size, titles.length, 'no two have the same title');
  assert(methods.every(text => text.length > 3), 'the method of each');
  await page.keyboard.type('weight string');
  assert.deepEqual(await page.locator('.scene:visible').evaluateAll(all => all.map(b => b.dataset.scene)), ['tense_string']);
  await page.fill('#search', 'nothing like this');
  assert(await page.locator('#none-found').isVisible());
  await page.fill('#search', 'pulsates spins');
  await page.keyboard.press('Enter');
  await inPage.scene(page, 'cube', 1);
  assert.equal(await page.locator('#scene-name').textContent(), 'A cube that pulsates and spins');
  await page.close();
}

/** Accounts on top of each other reach the target, and every axis has two labels. */
async function curves() {
  const {page} = await openPage(browser, `${native.address}#scene=ball&methods=cpd&accounts=on`);
  await inPage.scene(page, 'ball', 1);
  await inPage.step(page, 40);  // beyond the first bounce
  const {stacked, labels, shown} = await page.evaluate(() => {
    verve.live.curves.draw();
    const plot = verve.live.curves.plots.find(p => p.sources[0].stacked), {series} = plot.options, bands = series.filter(s => s.base);
    const target = series.find(s => !s.base);
    return {
      stacked: bands.at(-1).values.map((top, i) => ({top, target: target.values[i]})),
      shown: [...plot.legend.children].filter(c => !c.hidden).map(c => c.textContent),
      labels: verve.live.curves.plots.map(p => ({title: p.options.title, x: p.labels.x.length, y: p.labels.y.length}))};
  });
  assert(stacked.length > 30);
  for (const {top, target} of stacked.slice(2)) near(top, target, 0.02, 'the sum of the accounts');
  assert(['kinetic', 'elastic', 'height', 'target'].every(name => shown.includes(name)), `accounts: ${shown}`);
  for (const {title, x, y} of labels) assert(x >= 2 && y >= 2, `${title}: ${x} and ${y} labels`);
  // without them H has its parts and its target
  await page.keyboard.press('a');
  const plain = await page.evaluate(() => verve.live.curves.plots.flatMap(p => p.options.series.map(s => [s.label, s.dashed])));
  assert(plain.some(([label, dashed]) => label === 'target' && dashed), 'a target line');
  // a spike does not flatten the rest; ranges of any size have two labels
  const {high, counts} = await page.evaluate(() => {
    const {curves} = verve.live, h = curves.history[0], last = h.metrics.at(-1);
    for (let i = 1; i <= 60; ++i) {
      h.time.push(h.time.at(-1) + 0.01);
      h.frame.push(h.frame.at(-1) + 1);
      h.metrics.push({...last, ms: i === 30 ? 4000 : 2});
    }
    curves.draw();
    const plot = curves.plots.find(p => p.options.title === 'Frame time'), counts = [];
    for (const top of [1, 2.1, 4.2, 4.9, 7, 9.99, 2.1e-7, 4.3e12]) {
      plot.y = {low: 0, high: top};
      const {high} = plot.y;
      plot.draw();
      counts.push([high, plot.labels.y.length]);
    }
    curves.draw();
    return {high: plot.y.high, counts};
  });
  assert(high < 1000, `frame times up to ${high} ms are shown`);
  for (const [top, count] of counts) assert(count >= 2, `${count} labels up to ${top}`);
  await page.close();
}

/** The state of each lane, and the frame, as the session has them. */
async function hashOf(page) {
  await page.evaluate(() => {
    verve.live.hash = null;
    verve.live.send({type: 'hash'});
  });
  await page.waitForFunction(() => verve.live.hash);
  return page.evaluate(() => verve.live.hash);
}

/** A link is the same state, bit by bit, on the page and by the program; and it comes back as it was given. */
async function links() {
  const link = 'scene=cube&methods=cpd,pd&gravity=0,-3,0&stiffness=2&half_life=2.5&iterations=30&camera=1.2,0.5,0.8&pins=40&look=wire,still&theme=dark&play=0';
  const {page, complaints} = await openPage(browser, `${native.address}#${link}`);
  await inPage.scene(page, 'cube', 0);
  await page.waitForFunction(() => verve.live.state.stiffness === 2);
  assert(await page.evaluate(() => verve.live.state.paused && verve.live.state.frame === 0), 'paused, and no frame before that');
  assert.deepEqual(await page.evaluate(() => verve.live.state.pins), [40], 'its pin');
  await inPage.step(page, 40);
  const hash = await hashOf(page);
  const said = execFileSync(program, ['link', page.url(), '--frames', '40'], {encoding: 'utf8', timeout: PATIENCE});
  assert.equal(hash.frame, 40);
  assert.deepEqual([...said.matchAll(/hash (\w+)/g)].map(m => m[1]), hash.lanes, 'the state by the page and by the program');
  const seen = await page.evaluate(() => ({yaw: verve.live.camera.yaw, zoom: verve.live.camera.distance / verve.live.camera.home.distance,
    wire: verve.live.wireframe, follow: verve.live.follow, theme: document.documentElement.dataset.theme}));
  near(seen.yaw, 1.2, 1e-6, 'yaw');
  assert(seen.wire && !seen.follow && seen.theme === 'dark', JSON.stringify(seen));
  const again = await page.evaluate(() => verve.live.share.linkText());
  const parsed = text => Object.fromEntries(new URLSearchParams(text));
  const {camera, ...rest} = parsed(again), {camera: given, ...wanted} = parsed(link);
  assert.deepEqual(rest, wanted, 'the link of what is there');
  near(Number(camera.split(',')[0]), 1.2, 1e-3, `the camera ${camera}`);
  // a lesson in a link, with a scene of its own
  const mixed = await openPage(browser, `${native.address}#lesson=cpd&scene=torus&methods=cpd`);
  await inPage.scene(mixed.page, 'torus', 1);
  assert.equal(await mixed.page.locator('.lesson-title').textContent(), 'CPD and its dials');
  await mixed.page.close();
  // what is wrong with a link is said, with what is right
  await page.evaluate(() => verve.live.send({type: 'open', link: 'scene=cube&stifness=2'}));
  await page.waitForSelector('.notice.error:has-text("stiffness")');
  assert.deepEqual(complaints, []);
  await page.close();
}

/** With shared memory the core runs on threads, from a file on one: the state is the same, bit by bit. */
async function threads() {
  const isolated = await serveFolder(folder, true), hashes = [];
  const link = '#scene=hippo&methods=cpd&play=0';
  for (const [address, shared] of [[isolated.address, true], [`${pathToFileURL(resolve(folder))}/index.html`, false]]) {
    const {page, complaints} = await openPage(browser, address + link);
    await inPage.scene(page, 'hippo', 0);
    assert.equal(await page.evaluate(() => crossOriginIsolated), shared, `${address}: isolated`);
    await inPage.step(page, 20);
    const most = await page.evaluate(() => Math.min(8, navigator.hardwareConcurrency));
    if (shared) await page.waitForFunction(n => verve.live.backend.threads === n, most);  // they come while it runs
    else assert.equal(await page.evaluate(() => verve.live.backend.threads), 1);
    await inPage.step(page, 20);
    hashes.push(await hashOf(page));
    assert.deepEqual(complaints, []);
    await page.close();
  }
  assert.deepEqual(hashes[0], hashes[1], 'the same bits');
  await isolated.stop();
}

/** Moments are kept and returned to; a saved state goes on bit by bit, on another page too. */
async function states() {
  const {page, complaints} = await openPage(browser, `${native.address}#scene=cube&methods=cpd,pd&half_life=4&play=0`);
  await inPage.scene(page, 'cube', 0);
  assert.deepEqual(await page.locator('.badge span').allTextContents(), ['of its target', 'energy kept'], 'what a badge counts');
  await inPage.step(page, 12);
  await page.evaluate(() => verve.live.send({type: 'pin', vertex: 7}));
  await inPage.step(page, 3);
  const then = await hashOf(page);
  await page.keyboard.press('b');
  await page.waitForFunction(() => document.querySelectorAll('.moment').length === 1);
  assert.match(await page.locator('.moment').textContent(), /frame 15/);
  await page.evaluate(() => document.querySelector('.fold[aria-controls=files]').click());
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-state')]);
  const text = await textOf(download);
  await inPage.step(page, 10);
  const later = await hashOf(page);
  assert.notDeepEqual(later, then);
  await page.click('.moment-back');
  await page.waitForFunction(() => verve.live.state.frame === 15);
  assert.deepEqual(await hashOf(page), then, 'back where it was');
  await page.click('[aria-label="Forget 0.50 s"]');
  await page.waitForFunction(() => document.querySelectorAll('.moment').length === 0);
  // on another page
  const other = await openPage(browser, `${native.address}#scene=torus`);
  await inPage.scene(other.page, 'torus', 1);
  await other.page.evaluate(text => verve.live.openFile(new File([text], 'cube.verve')), text);
  await inPage.scene(other.page, 'cube', 15);
  assert.deepEqual(await hashOf(other.page), then, 'where it was saved, and stands still as it did then');
  await inPage.step(other.page, 10);
  assert.deepEqual(await hashOf(other.page), later, 'and goes on as the first one did');
  assert.deepEqual(await other.page.evaluate(() => [verve.live.state.pins, verve.live.state.lanes, verve.live.state.half_life]),
                   [[7], ['cpd', 'pd'], [4]]);
  assert.deepEqual([...complaints, ...other.complaints], []);
  await other.page.close();
  await page.close();
}

/** Inside another page: the views alone, and a wheel that passes over them scrolls that page. */
async function embedding() {
  const {page} = await openPage(browser, `${statics.address}#scene=cube&methods=cpd`);
  await inPage.scene(page, 'cube', 2);
  const snippet = await page.evaluate(() => verve.live.share.snippet());
  assert.match(snippet, /^<iframe src="http[^"]*ui=none" title="A cube/);
  const card = await page.evaluate(async () => {
    const got = await fetch(document.querySelector('meta[property="og:image"]').content), blob = await got.blob();
    const picture = await createImageBitmap(blob);
    return {bytes: blob.size, width: picture.width, height: picture.height};
  });
  assert(card.width === 1200 && card.height === 630 && card.bytes < 120000, JSON.stringify(card));
  const around = `<!DOCTYPE html><div style="height: 60px"></div>${snippet}<div style="height: 3000px"></div>`;
  await page.route('**/around.html', route => route.fulfill({body: around, contentType: 'text/html'}));
  await page.goto(`${statics.address}around.html`);
  const frame = await (await page.waitForSelector('iframe')).contentFrame();
  await frame.waitForFunction(() => globalThis.verve && verve.live && verve.live.frame && verve.live.frame.number > 2);
  for (const part of ['header', '#panel', '#transport', '#tools']) assert(!await frame.locator(part).isVisible(), part);
  assert(await frame.locator('.view-method').isVisible(), 'the method stays named');
  await page.mouse.move(300, 250);
  await page.mouse.wheel(0, 400);
  await page.waitForFunction(() => scrollY > 100);
  assert.equal(await frame.evaluate(() => getComputedStyle(document.querySelector('#views canvas')).touchAction), 'pan-y');
  await page.close();
}

/** A clip of what is seen, as WebM. */
async function clip() {
  const {page} = await openPage(browser, `${native.address}#scene=cube`);
  await size(page, 640, 480);
  await inPage.scene(page, 'cube', 2);
  const [download] = await Promise.all([page.waitForEvent('download'),
                                        page.evaluate(() => verve.live.share.saveClip(document.getElementById('clip'), 1.5))]);
  assert.equal(download.suggestedFilename(), 'cube.webm');
  const bytes = await bytesOf(download);
  assert.equal(bytes.subarray(0, 4).toString('hex'), '1a45dfa3', 'WebM begins so');
  assert(bytes.length > 5000, `${bytes.length} bytes`);
  await page.close();
}

/** Views one above the other on a phone held upright, side by side on one held across; the panel is a drawer. */
async function phones() {
  const {page} = await openPage(browser, native.address);
  for (const [width, height] of [[390, 844], [844, 390]]) {
    await size(page, width, height);
    await inPage.scene(page, 'bear', 1);
    const look = () => page.evaluate(() => {
      const box = e => e.getBoundingClientRect();
      const within = e => box(e).left >= 0 && box(e).right <= innerWidth + 1 && box(e).top >= 0 && box(e).bottom <= innerHeight + 1;
      return {views: [...document.querySelectorAll('.view')].map(v => { const b = box(v); return [b.left, b.top, b.width, b.height]; }),
              outside: ['scenes-button', 'lessons-button', 'transport', 'tools', 'looks', 'drawer'].filter(id => !within(document.getElementById(id))),
              wide: document.documentElement.scrollWidth - innerWidth, tall: document.documentElement.scrollHeight - innerHeight,
              panel: getComputedStyle(document.getElementById('panel')).visibility};
    });
    const [[x0, y0, w], [x1, y1]] = (await look()).views;
    if (width < height) assert(x0 === x1 && y1 > y0 && w > 380, 'one above the other');
    else assert(y0 === y1 && x1 > x0 && w > 400, 'side by side');
    const shut = await look();
    assert.deepEqual(shut.outside, [], `controls at ${width} × ${height}`);
    assert(shut.wide <= 0 && shut.tall <= 0, `${width} × ${height} scrolls by ${shut.wide} and ${shut.tall}`);
    assert.equal(shut.panel, 'hidden');
    await page.click('#drawer');
    await page.waitForFunction(() => getComputedStyle(document.getElementById('panel')).visibility === 'visible');
    const dial = page.locator('#dial-gravity');
    await dial.scrollIntoViewIfNeeded();
    assert(await dial.isVisible());
    await page.click('#drawer');
    await page.waitForFunction(() => getComputedStyle(document.getElementById('panel')).visibility === 'hidden');
  }
  // whoever asked for less motion starts it
  await page.emulateMedia({reducedMotion: 'reduce'});
  await page.reload();
  await page.waitForFunction(() => verve.live.state && verve.live.state.paused);
  await page.close();
}

/** All bodies stay in the picture: one that is thrown far is followed, and those that part are both seen. */
async function inView() {
  const {page} = await openPage(browser, `${native.address}#scene=bears&methods=cpd`);
  await size(page, 480, 360);
  await inPage.scene(page, 'bears', 1);
  await page.evaluate(() => {
    for (const [body, way] of [[0, -1], [1, 1]])
      verve.live.send({type: 'push', vertex: verve.live.scene.bodies[body].first, direction: [way, 0, 0], speed: 2});
    verve.live.send({type: 'speed', value: 4});
  });
  await page.waitForFunction(() => verve.live.frame.time > 4);
  const outside = await page.evaluate(async () => {
    verve.live.send({type: 'pause', on: true});
    await new Promise(done => setTimeout(done, 300));
    const {viewer, canvas} = verve.live.views[0], {positions} = viewer;
    let out = 0;
    for (const body of verve.live.scene.bodies) {
      const at = viewer.project([0, 1, 2].map(k => positions[3 * body.first + k]));
      if (!at || at[0] < -8 || at[1] < -8 || at[0] > canvas.clientWidth + 8 || at[1] > canvas.clientHeight + 8) ++out;
    }
    return out;
  });
  assert.equal(outside, 0, 'both bears are in the view');
  await page.close();
}

/** After a restart of the server the page comes back by itself, to the same scene. */
async function comesBack() {
  const first = await serveNative(program), port = new URL(first.address).port;
  const {page} = await openPage(browser, `${first.address}#scene=cube`);
  await inPage.scene(page, 'cube', 2);
  await first.stop();
  await page.waitForSelector('.notice.error:has-text("verve serve")');
  const second = await serveNative(program, '', ['--port', port]);
  await page.waitForFunction(() => globalThis.verve && verve.live && verve.live.scene && verve.live.scene.name === 'cube' &&
      verve.live.frame && verve.live.frame.number > 2 && !document.querySelector('.notice.error'));
  await page.close();
  await second.stop();
}

let failed = null;
for (const test of [lessons, lessonsAreTrue, how, gallery, curves, links, threads, states, embedding, clip, phones, inView, comesBack]) {
  if (only.length && !only.includes(test.name)) continue;
  await tryOut(browser, test.name, test).catch(error => {
    console.log(error.message);
    failed ??= error;
  });
}
await finish(failed, close, [native, statics]);
