// node report_page.js PAGE: runs the scripts of a whole report against a stand-in for the browser (no layout, no
// WebGL), and prints what it built: "table: cell | cell" per row, "view: label", "plot: title: label, label".
'use strict';
const fs = require('fs'), vm = require('vm');
const page = fs.readFileSync(process.argv[2], 'utf8');

class Element {
  constructor(tag) {
    Object.assign(this, {tag, children: [], className: '', attributes: {}, dataset: {}, clientWidth: 0, clientHeight: 0});
    this.style = {setProperty() {}};
    this.classList = {add: name => { this.className += ' ' + name; }};
  }
  append(...items) { this.children.push(...items); }
  remove() { this.removed = true; }
  addEventListener() {}
  setAttribute(name, value) { this.attributes[name] = value; }
  getContext() { return null; }
  get textContent() { return this.children.map(c => typeof c === 'string' ? c : c.textContent).join(''); }
  set textContent(text) { this.children = [String(text)]; }
  all(test) {
    const below = this.children.filter(c => c instanceof Element).flatMap(c => c.all(test));
    return test(this) ? [this, ...below] : below;
  }
}

const byId = {};
for (const [, id] of page.matchAll(/ id="([^"]+)"/g)) byId[id] = new Element(id);
byId.data.textContent = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(page)[1];
const speeds = [...page.matchAll(/data-speed="([^"]+)"/g)].map(([, speed]) => {
  const button = new Element('button');
  button.dataset.speed = speed;
  return button;
});
Object.assign(globalThis, {
  document: {getElementById: id => byId[id], createElement: tag => new Element(tag), querySelectorAll: () => speeds},
  ResizeObserver: class { observe() {} },
  matchMedia: () => ({matches: false, addEventListener() {}}),
  addEventListener() {},
  requestAnimationFrame() {},
  location: {hash: '#frame=1'}
});
for (const [, script] of page.matchAll(/<script>\n([\s\S]*?)<\/script>/g)) vm.runInThisContext(script);

for (const row of byId.summary.all(e => e.tag === 'tr'))
  console.log('table: ' + row.children.map(cell => cell.textContent).join(' | '));
for (const view of byId.views.all(e => e.className === 'view-label')) console.log('view: ' + view.textContent);
for (const place of ['energy-plots', 'plots'])
  for (const plot of byId[place].children)
    console.log('plot: ' + plot.all(e => e.tag === 'h3')[0].textContent + ': ' +
                plot.all(e => e.className === 'legend-item').map(e => e.textContent).join(', '));
console.log('clock: ' + byId.clock.textContent);
