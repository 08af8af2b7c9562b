// thumbnails.mjs VERVE WEB_FOLDER [SCENE...]: see scripts/make-thumbnails.
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {inPage, openBrowser, openPage, serveNative} from './browser.mjs';

const [program, folder, ...wanted] = process.argv.slice(2);
const WIDTH = 208, HEIGHT = 156, COLUMNS = 7;
// a moment that shows what the scene is about; most do early on
const MOMENTS = {bear: 32, cloth: 28, curtain: 30, flag: 60, flag_torn: 60, tug: 40, clay: 130, ball: 20, bears: 24, drape: 14, crush: 14,
                 pendulum: 12, chain: 30, rope: 40, hung_cloth: 25, strip: 25, examples: 12, balloon: 30, stack: 3, bin: 12, pile: 8};

const server = await serveNative(program), {browser, close} = await openBrowser();
const {page} = await openPage(browser, server.address);
await page.setViewportSize({width: 4 * WIDTH, height: 3 * 4 * WIDTH / 4});
await inPage.scene(page, 'bear', 1);
await page.addStyleTag({content: `header, #panel, #tools, #looks, #transport, #notices {display: none !important}
  main {display: block !important} #stage {position: fixed !important; inset: 0 !important; height: auto !important}`});
const names = await page.evaluate(() => [...document.querySelectorAll('#scene-list button')].map(b => b.dataset.scene));
const rows = Math.ceil(names.length / COLUMNS);
// of scenes that are named, or have no picture yet, only these are drawn: the others keep theirs
const drawn = await page.evaluate(async ([names, wanted, columns, rows, width, height]) => {
  document.documentElement.dataset.theme = 'light';
  const sheet = globalThis.sheet = document.createElement('canvas');
  sheet.width = columns * width;
  sheet.height = rows * height;
  if (!wanted.length) return names;
  const old = new Image(), before = verve.thumbnails;
  old.src = 'thumbnails.webp';
  await old.decode();
  const place = (index, columns) => [width * (index % columns), height * Math.floor(index / columns)];
  const kept = names.filter(name => before.names.includes(name) && !wanted.includes(name));
  for (const name of kept)
    sheet.getContext('2d').drawImage(old, ...place(before.names.indexOf(name), before.columns), width, height,
                                     ...place(names.indexOf(name), columns), width, height);
  return names.filter(name => !kept.includes(name));
}, [names, wanted, COLUMNS, rows, WIDTH, HEIGHT]);
for (const [index, name] of names.entries()) {
  if (!drawn.includes(name)) continue;
  await page.evaluate(name => {
    verve.live.left = verve.live.scene.generation;
    verve.live.send({type: 'load', scene: name, paused: true});
    verve.live.send({type: 'speed', value: 10});
  }, name);
  await inPage.scene(page, name, 0);
  const moment = MOMENTS[name] ?? 16, have = await inPage.number(page);
  if (moment > have) await page.evaluate(frames => verve.live.send({type: 'step', frames}), moment - have);
  await page.waitForFunction(n => verve.live.frame.number >= n, moment, {timeout: 300000});
  await page.evaluate(([index, columns, width, height]) => {
    const {viewer, canvas} = verve.live.views[0];
    // close up, on where the bodies are by now
    const {low, high} = viewer.bounds, half = low.map((l, i) => (high[i] - l) / 2 * 1.08);
    if (verve.live.scene.colliders.every(c => c.flat && c.flat[1] > 0.999))
      viewer.camera.frame(half, low.map((l, i) => (l + high[i]) / 2), canvas.clientWidth / canvas.clientHeight);
    viewer.theme = {...viewer.theme, grid: [0, 0, 0, 0]};  // lines cost most of the bytes
    viewer.draw();
    sheet.getContext('2d').clearRect(index % columns * width, Math.floor(index / columns) * height, width, height);
    sheet.getContext('2d').drawImage(canvas, index % columns * width, Math.floor(index / columns) * height, width, height);
  }, [index, COLUMNS, WIDTH, HEIGHT]);
  console.log(name);
}
const picture = await page.evaluate(() => sheet.toDataURL('image/webp', 0.72));
await writeFile(join(folder, 'thumbnails.webp'), Buffer.from(picture.split(',')[1], 'base64'));
await writeFile(join(folder, 'scenes.js'), `// Where each scene is on thumbnails.webp. Made by scripts/make-thumbnails.
'use strict';
globalThis.verve = globalThis.verve || {};
verve.thumbnails = {
  names: ${JSON.stringify(names).replaceAll('","', '", "').replace(/(.{1,100}) /g, '$1\n          ')},
  columns: ${COLUMNS},
  width: ${WIDTH},
  height: ${HEIGHT}
};
`);
await close();
server.stop();
