// Curves over time on a canvas: nice ticks, a crosshair with values, a time cursor, click to seek.
//
//   const plot = new verve.Plot(container, {title, unit, note, floor, limit, onSeek: time => ..., series: [
//     {label, color, time, values, dashed, strong, width, base}, ...]});
//                              // `base`: values below; what lies between is filled
//   plot.setTime(1.5);
//
// `color` is a CSS colour or the name of a CSS variable ("--run-1"). Values that are null or not finite leave a gap.
// Classic script; needs mesh_math.js; adds to the global `verve`.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const MARGIN = {left: 50, right: 14, top: 10, bottom: 26};
  const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

  /** Four significant digits, with a power of ten only where it helps. */
  function format(value) {
    if (value === null || !isFinite(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) {
      const power = Math.floor(Math.log10(size));
      return `${(value / 10 ** power).toFixed(2)}·10${superscript(power)}`.replace('-', '−');
    }
    return String(Number(value.toPrecision(4))).replace('-', '−');
  }
  const superscript = power => [...String(power)].map(c => c === '-' ? '⁻' : SUPERSCRIPT[c]).join('');

  /** Number of the sample nearest to `time`; times ascend. */
  function nearest(times, time) {
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return high >= 0 && Math.abs(times[high] - time) < Math.abs(times[low] - time) ? high : low;
  }

  /** About `count` of them, at least two. */
  function ticks(low, high, count) {
    for (let part = (high - low) / count;; part /= 2) {
      const step = verve.math.niceStep(part), out = [];
      for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) out.push(i * step);
      if (out.length > 1 || !(part > 0) || !Number.isFinite(part)) return {step, at: out};
    }
  }

  const finite = v => v !== null && Number.isFinite(v);

  /** Range over all series: zero always in it, `floor` the least that is worth resolving, `limit` the most shown. */
  function range(series, floor, limit) {
    let low = 0, high = 0;
    for (const {values} of series) {
      for (const v of values) {
        if (!finite(v)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
    if (limit > 0) {
      high = Math.min(high, limit);
      low = Math.max(low, -limit);
    }
    if (!(high - low > (floor || 0))) high = Math.max(high, floor > 0 ? floor : low < 0 ? 0 : 1);
    const room = 0.06 * (high - low);
    return {low: low < 0 ? low - room : 0, high: high > 0 ? high + room : 0};
  }

  class Plot {
    constructor(container, options) {
      this.options = options;
      this.time = null;
      this.hover = null;
      container.classList.add('plot');
      const heading = element('div', 'plot-head', container);
      element('h3', '', heading).textContent = options.title;
      this.unit = element('span', 'plot-unit', heading);
      const legend = element('div', 'legend', container);
      for (const s of options.series) {
        if (!s.label) continue;
        const item = element('span', 'legend-item', legend);
        const swatch = element('i', s.dashed ? 'dashed' : s.strong ? 'strong' : '', item);
        swatch.style.setProperty('--color', s.color.startsWith('--') ? `var(${s.color})` : s.color);
        item.append(s.label);
      }
      if (options.note) element('span', '', legend).textContent = options.note;
      this.area = element('div', 'plot-area', container);
      this.base = element('canvas', '', this.area);
      this.overlay = element('canvas', 'plot-overlay', this.area);
      this.tip = element('div', 'plot-tip', this.area);
      this.tip.hidden = true;

      const times = options.series.flatMap(s => s.time.length ? [s.time[0], s.time[s.time.length - 1]] : []);
      this.x = {low: Math.min(0, ...times.filter(finite)), high: Math.max(...times.filter(finite), 0)};
      if (!(this.x.high > this.x.low)) this.x.high = this.x.low + 1;
      this.y = options.range || range(options.series, options.floor, options.limit);
      this.listen();
      new ResizeObserver(() => this.draw()).observe(this.area);
    }

    listen() {
      const at = e => {
        const box = this.overlay.getBoundingClientRect();
        const s = (e.clientX - box.left - MARGIN.left) / Math.max(1, box.width - MARGIN.left - MARGIN.right);
        return this.x.low + Math.max(0, Math.min(1, s)) * (this.x.high - this.x.low);
      };
      const seek = time => this.options.onSeek && this.options.onSeek(time);
      this.overlay.addEventListener('pointerdown', e => {
        if (e.button !== 0) return;
        if (e.pointerType === 'mouse') this.overlay.setPointerCapture(e.pointerId);
        seek(at(e));
      });
      this.overlay.addEventListener('pointermove', e => {
        this.hover = at(e);
        if (e.pointerType === 'mouse' && (e.buttons & 1)) seek(this.hover);
        this.drawOverlay();
      });
      for (const type of ['pointerleave', 'pointercancel'])
        this.overlay.addEventListener(type, () => {
          this.hover = null;
          this.drawOverlay();
        });
    }

    setTime(time) {
      if (this.time === time) return;
      this.time = time;
      this.drawOverlay();
    }

    toX(time) {
      return MARGIN.left + (time - this.x.low) / (this.x.high - this.x.low) * (this.width - MARGIN.left - MARGIN.right);
    }
    toY(value) {
      return this.height - MARGIN.bottom -
             (value - this.y.low) / (this.y.high - this.y.low) * (this.height - MARGIN.top - MARGIN.bottom);
    }

    fit(canvas) {
      const ratio = globalThis.devicePixelRatio || 1;
      const width = Math.round(this.width * ratio), height = Math.round(this.height * ratio);
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
      const c = canvas.getContext('2d');
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, this.width, this.height);
      return c;
    }

    color(name) {
      return name.startsWith('--') ? this.style.getPropertyValue(name).trim() : name;
    }

    draw() {
      this.width = this.area.clientWidth;
      this.height = this.area.clientHeight;
      if (this.width < 10 || this.height < 10) return;
      this.style = getComputedStyle(this.area);
      const c = this.fit(this.base), right = this.width - MARGIN.right, bottom = this.height - MARGIN.bottom;
      c.font = `11px ${this.style.fontFamily}`;
      c.lineWidth = 1;

      // axes and ticks; very large or small numbers share a power of ten, shown beside the unit
      const size = Math.max(Math.abs(this.y.low), Math.abs(this.y.high));
      const power = size >= 1e5 || size < 1e-2 ? 3 * Math.floor(Math.log10(size) / 3) : 0;
      this.unit.textContent = (power ? `×10${superscript(power)} ` : '') + (this.options.unit || '');
      const vertical = ticks(this.y.low, this.y.high, Math.max(2, Math.floor(bottom / 30)));
      const digits = Math.max(0, -Math.floor(Math.log10(vertical.step / 10 ** power) + 1e-9));
      c.textAlign = 'right';
      c.textBaseline = 'middle';
      for (const v of vertical.at) {
        const y = Math.round(this.toY(v)) + 0.5;
        c.strokeStyle = this.color(Math.abs(v) < 1e-9 * vertical.step ? '--axis' : '--rule');
        line(c, MARGIN.left, y, right, y);
        c.fillStyle = this.color('--muted');
        c.fillText((v / 10 ** power).toFixed(digits).replace('-', '−'), MARGIN.left - 7, y);
      }
      this.labels = {y: vertical.at};
      const horizontal = ticks(this.x.low, this.x.high, Math.max(2, Math.floor(this.width / 75)));
      this.labels.x = horizontal.at;
      const xDigits = Math.max(0, -Math.floor(Math.log10(horizontal.step) + 1e-9));
      c.textBaseline = 'top';
      horizontal.at.forEach((t, i) => {
        const x = Math.round(this.toX(t)) + 0.5, last = i === horizontal.at.length - 1;
        c.strokeStyle = this.color('--axis');
        line(c, x, bottom, x, bottom + 4);
        c.textAlign = x > right - 12 ? 'right' : 'center';
        const text = t.toFixed(xDigits).replace('-', '−') + (last ? ' s' : '');
        c.fillText(text, x > right - 12 ? right + 8 : x, bottom + 8);
      });
      c.strokeStyle = this.color('--axis');
      line(c, MARGIN.left, bottom + 0.5, right, bottom + 0.5);

      c.save();
      c.beginPath();
      c.rect(MARGIN.left, MARGIN.top - 2, right - MARGIN.left + 1, bottom - MARGIN.top + 4);
      c.clip();
      for (const s of this.options.series) this.drawSeries(c, s);
      c.restore();
      this.drawOverlay();
    }

    /** Between two curves; both have the same times, without gaps. */
    drawBand(c, s) {
      c.fillStyle = this.color(s.color);
      c.globalAlpha = 0.78;
      c.beginPath();
      for (let i = 0; i < s.values.length; ++i) c.lineTo(this.toX(s.time[i]), this.toY(s.values[i]));
      for (let i = s.values.length - 1; i >= 0; --i) c.lineTo(this.toX(s.time[i]), this.toY(s.base[i]));
      c.fill();
      c.globalAlpha = 1;
    }

    drawSeries(c, s) {
      if (s.base) return this.drawBand(c, s);
      c.strokeStyle = this.color(s.color);
      c.lineWidth = s.width || (s.strong ? 2.2 : 1.5);
      c.lineJoin = 'round';
      c.setLineDash(s.dashed ? [5, 4] : []);
      c.beginPath();
      let down = false;
      for (let i = 0; i < s.values.length; ++i) {
        if (!finite(s.values[i])) {
          down = false;
          continue;
        }
        // far outside the frame a canvas loses precision; the clip hides the difference
        const x = this.toX(s.time[i]), y = Math.max(-1e4, Math.min(1e4, this.toY(s.values[i])));
        if (down) c.lineTo(x, y);
        else c.moveTo(x, y);
        down = true;
      }
      c.stroke();
      c.setLineDash([]);
    }

    drawOverlay() {
      if (!this.style) return;
      const c = this.fit(this.overlay), bottom = this.height - MARGIN.bottom;
      if (this.time !== null) {
        c.strokeStyle = this.color('--cursor');
        c.lineWidth = 1.5;
        line(c, this.toX(this.time), MARGIN.top, this.toX(this.time), bottom);
        for (const s of this.options.series) this.dot(c, s, this.time, 3);
      }
      this.tip.hidden = this.hover === null;
      if (this.hover === null) return;
      c.strokeStyle = this.color('--axis');
      c.lineWidth = 1;
      const x = Math.round(this.toX(this.hover)) + 0.5;
      line(c, x, MARGIN.top, x, bottom);
      for (const s of this.options.series) this.dot(c, s, this.hover, 4);
      this.fillTip(x);
    }

    dot(c, s, time, radius) {
      if (s.base) return;
      const i = nearest(s.time, time), v = s.values[i];
      if (!finite(v) || v > this.y.high || v < this.y.low || time > s.time[s.time.length - 1] + 1e-9) return;
      c.fillStyle = this.color(s.color);
      c.beginPath();
      c.arc(this.toX(s.time[i]), this.toY(v), radius, 0, 7);
      c.fill();
    }

    fillTip(x) {
      this.tip.textContent = '';
      element('div', 'plot-tip-time', this.tip).textContent = `${this.hover.toFixed(3)} s`;
      for (const s of this.options.series) {
        const row = element('div', 'plot-tip-row', this.tip);
        const swatch = element('i', '', row);
        swatch.style.setProperty('--color', s.color.startsWith('--') ? `var(${s.color})` : s.color);
        element('span', '', row).textContent = s.label || this.options.title;
        const at = nearest(s.time, this.hover), value = s.base ? s.values[at] - s.base[at] : s.values[at];
        element('b', '', row).textContent = `${format(value)} ${this.options.unit || ''}`;
      }
      const width = this.tip.offsetWidth, left = x + 12 + width < this.width ? x + 12 : x - 12 - width;
      this.tip.style.left = `${Math.max(0, left)}px`;
    }
  }

  function line(c, x0, y0, x1, y1) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  }

  function element(tag, className, parent) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (parent) parent.append(e);
    return e;
  }

  Object.assign(verve, {Plot, plotRange: range, formatNumber: format, nearestSample: nearest, element});
})(globalThis.verve);
