// card.mjs VERVE OUT: what scripts/make-card takes a picture of.
import {inPage, openBrowser, openPage, serveNative} from './browser.mjs';

const [program, out] = process.argv.slice(2);
const server = await serveNative(program), {browser, close} = await openBrowser();
const {page} = await openPage(browser, 'about:blank');
await page.setViewportSize({width: 1200, height: 630});
await page.goto(`${server.address}#scene=bear&methods=cpd,pd&ui=none&theme=light&play=0`);
await inPage.scene(page, 'bear', 0);
await inPage.step(page, 52);
await page.evaluate(() => {
  document.getElementById('open-page').remove();
  const title = document.createElement('div');
  title.textContent = 'A soft body that keeps its energy';
  title.style.cssText = 'position:fixed;left:0;right:0;bottom:26px;text-align:center;font:700 44px system-ui,sans-serif;color:#1b2127';
  document.body.append(title);
});
await page.waitForTimeout(500);
await page.screenshot({path: out, type: 'jpeg', quality: 78});
await close();
server.stop();
