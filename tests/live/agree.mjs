// agree.mjs VERVE FOLDER: the native and the WebAssembly session after 100 frames of the same scenes.
import assert from 'node:assert/strict';
import {inPage, openBrowser, openPage, serveFolder, serveNative} from './browser.mjs';

const [program, folder] = process.argv.slice(2);
const native = await serveNative(program), wasm = await serveFolder(folder);
const {browser, close} = await openBrowser();
let failed = null;
try {
  const scenes = ['cube', 'hippo', 'cloth', 'ball'], results = [];
  for (const {address} of [native, wasm]) {  // one after the other: a page in the background draws nothing
    const {page} = await openPage(browser, address), found = {};
    await inPage.scene(page, 'bear', 1);
    for (const scene of scenes) {
      await inPage.open(page, scene);
      await inPage.scene(page, scene, 0);
      found[scene] = {x: await inPage.replay(page, 100),
                      size: await page.evaluate(() => Math.max(...verve.live.scene.bodies.map(b => b.size)))};
    }
    results.push(found);
    await page.close();
  }
  for (const scene of scenes) {
    const [a, b] = results.map(found => found[scene]);
    let apart = 0;
    a.x.forEach((x, i) => { apart = Math.max(apart, Math.abs(x - b.x[i]) / a.size); });
    console.log(`${scene}: ${apart.toExponential(2)} of its size apart after 100 frames`);
    // float tolerance: the cores round differently, and a hundred frames of a smooth motion multiply that little
    assert(apart < 1e-4, scene);
  }
} catch (error) {
  failed = error;
}
await close();
native.stop();
wasm.stop();
if (failed) throw failed;
