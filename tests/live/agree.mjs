// agree.mjs VERVE FOLDER: the native and the WebAssembly session after 100 frames of the same scenes.
import assert from 'node:assert/strict';
import {inPage, openBrowser, openPage, serveFolder, serveNative} from './browser.mjs';

const [program, folder] = process.argv.slice(2);
const native = await serveNative(program), wasm = await serveFolder(folder);
const {browser, close} = await openBrowser();
let failed = null;
try {
  const pages = [(await openPage(browser, native.address)).page, (await openPage(browser, wasm.address)).page];
  for (const scene of ['cube', 'hippo', 'cloth', 'ball']) {
    const [a, b] = await Promise.all(pages.map(async page => {
      await inPage.open(page, scene);
      await inPage.scene(page, scene, 0);
      return {x: await inPage.replay(page, 100), size: await page.evaluate(() => Math.max(...verve.live.scene.bodies.map(b => b.size)))};
    }));
    let apart = 0;
    a.x.forEach((x, i) => { apart = Math.max(apart, Math.abs(x - b.x[i]) / a.size); });
    console.log(`${scene}: ${apart.toExponential(2)} of its size apart after 100 frames`);
    assert(apart < 1e-4, scene);
  }
} catch (error) {
  failed = error;
}
await close();
native.stop();
wasm.stop();
if (failed) throw failed;
