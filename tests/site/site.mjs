// site.mjs BUILD_SITE PAGE FOLDER: the documentation as a site: it builds without a complaint, every link leads somewhere,
// every scene is in its gallery, and lessons move inside its pages.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {finish, openBrowser, openPage, PATIENCE, serveFolder, tryOut} from '../live/browser.mjs';

const [script, page, folder] = process.argv.slice(2);
if (spawnSync('mkdocs', ['--version']).error || !existsSync('/usr/share/mkdocs/themes/material')) {
  console.log('SKIPPED: THE SITE IS NOT TESTED, for mkdocs-material is not here: scripts/install-deps site');
  process.exit(77);
}
const built = spawnSync(script, ['--page', page, folder], {encoding: 'utf8', timeout: PATIENCE});
assert.equal(built.status, 0, built.stderr + built.error);

const files = readdirSync(folder, {recursive: true}).map(String).filter(name => name.endsWith('.html') && !name.startsWith('live/'));
const {browser, close} = await openBrowser();
const server = await serveFolder(folder);

/** Every href and src of every page is there, with the place in it that it names. */
async function links() {
  const pages = new Map(files.map(name => [name, readFileSync(join(folder, name), 'utf8')])), broken = [];
  const places = new Map();
  for (const [name, text] of pages) places.set(name, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(m => m[1])));
  let count = 0;
  for (const [name, text] of pages)
    for (const [, link] of text.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      if (/^(https?:|data:|mailto:)/.test(link) || name === '404.html') continue;
      const [path, place] = link.replaceAll('&amp;', '&').split('#'), to = path ? relative(folder, resolve(folder, dirname(name), path.split('?')[0])) : name;
      ++count;
      if (!existsSync(join(folder, to))) broken.push(`${name}: ${link}`);
      else if (place && places.has(to) && !places.get(to).has(decodeURIComponent(place))) broken.push(`${name}: ${link}: no such place`);
    }
  assert.deepEqual(broken, []);
  assert(count > 1000, `${count} links`);
  console.log(`${count} links on ${pages.size} pages`);
}

/** Nothing is asked of other machines. */
async function alone() {
  const {page} = await openPage(browser, 'about:blank'), strangers = [];
  page.on('request', request => { if (!request.url().startsWith(server.address) && !request.url().startsWith('blob:')) strangers.push(request.url()); });
  await page.goto(`${server.address}gallery.html`);
  const scenes = await page.evaluate(() => [...document.querySelectorAll('.scene')].map(a => ({
    name: a.querySelector('code').textContent, link: a.getAttribute('href'), picture: getComputedStyle(a.querySelector('.picture')).backgroundImage})));
  const known = readdirSync(join(dirname(script), '..', 'scenes')).filter(name => name.endsWith('.json') && name !== 'schema.json').map(name => name.slice(0, -5));
  assert.deepEqual(scenes.map(s => s.name).sort(), known.sort(), 'every scene');
  for (const {name, link, picture} of scenes) {
    assert.equal(link, `live/index.html#scene=${name}`);
    assert.match(picture, /thumbnails\.webp/);
  }
  assert.deepEqual(strangers, []);
  await page.close();
}

/** A lesson in a page: it moves, a wheel over it scrolls the page around it, and there are ways there and back. */
async function lessons() {
  const {page, complaints} = await openPage(browser, `${server.address}lessons.html`);
  await page.click('.md-content a:has-text("1. What damping is")');
  await page.waitForURL('**/lessons/damping.html');
  const frame = await (await page.waitForSelector('iframe.live')).contentFrame();
  await frame.waitForFunction(() => globalThis.verve && verve.live && verve.live.lesson && verve.live.frame && verve.live.frame.number > 3);
  assert.equal(await frame.locator('.lesson-title').textContent(), 'What damping is');
  const box = await page.locator('iframe.live').boundingBox();
  await page.mouse.move(box.x + 200, box.y + 300);
  await page.mouse.wheel(0, 300);
  await page.waitForFunction(() => scrollY > 100);
  assert.equal(await frame.locator('#docs').getAttribute('href'), '../index.html');
  assert.equal(await frame.locator('.lesson-docs').getAttribute('href'), '../lessons/damping.html');
  await page.click('.md-content a:has-text("→")');
  await page.waitForURL('**/lessons/steps.html');
  assert.deepEqual(complaints, []);
  await page.close();
}

let failed = null;
for (const test of [links, alone, lessons])
  await tryOut(browser, test.name, test).catch(error => { failed ??= error; });
await finish(failed, close, [server]);
