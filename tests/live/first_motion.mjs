// first_motion.mjs FOLDER [RATE]: how long it takes from the address of a static page (scripts/build-page) to bodies that
// move, with a processor RATE times as slow (4), and how much processor time the page needs for that, its worker included.
// The throttle of the browser holds back the page's own thread alone; times RATE, the processor time is what a machine that
// is so much slower in everything takes at most. A measurement, not a test.
import {chromium} from 'playwright-core';
import {serveFolder} from './browser.mjs';

const [folder, rate = '4'] = process.argv.slice(2), server = await serveFolder(folder);
const browser = await chromium.launch({executablePath: '/usr/bin/chromium', headless: true, args: [
  '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-background-networking']});
const system = await browser.newBrowserCDPSession();
const spent = async () => Object.fromEntries((await system.send('SystemInfo.getProcessInfo')).processInfo
    .filter(p => p.type === 'renderer').map(p => [p.id, p.cpuTime]));
for (let turn = 0; turn < 5; ++turn) {
  const page = await browser.newPage({viewport: {width: 1024, height: 640}}), control = await page.context().newCDPSession(page);
  await page.goto('about:blank');
  await control.send('Emulation.setCPUThrottlingRate', {rate: Number(rate)});
  const before = await spent();
  await page.goto(server.address);
  const after = await page.evaluate(async () => {
    while (!globalThis.verve || !verve.live || !verve.live.frame) await new Promise(done => setTimeout(done, 10));
    const {frame} = verve.live;
    while (verve.live.frame.number < frame.number + 2) await new Promise(done => setTimeout(done, 10));
    return performance.now();
  });
  const now = await spent();
  const seconds = Object.entries(now).reduce((sum, [id, t]) => sum + t - (before[id] || 0), 0);
  console.log(`moves after ${(after / 1000).toFixed(2)} s with its thread ${rate} times as slow; ${seconds.toFixed(2)} s of ` +
              `processor time, times ${rate}: ${(seconds * Number(rate)).toFixed(2)} s`);
  await page.close();
}
await browser.close();
await server.stop();
