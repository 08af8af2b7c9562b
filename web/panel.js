// The control panel: dials with value, unit and lock; the choice of methods; what keys do.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve;
  const linear = (low, high) => ({to: v => (v - low) / (high - low), from: s => low + s * (high - low)});
  const logarithmic = (low, high) =>
      ({to: v => Math.log(Math.max(v, low) / low) / Math.log(high / low), from: s => low * (high / low) ** s});

  // `read` gives the present value, `scale` the way of the slider, `message` the value as it is sent.
  const DIALS = [
    {key: 'energy', label: 'Energy H', lock: true, unit: 'J', target: true, metric: 'total',
     scale: live => linear(Math.min(0, 1.5 * live.seen.lowest), Math.min(2 * live.seen.energy || 1, live.state.ranges.energy[1])),
     extra: [['½', v => v / 2, 'Half the energy'], ['×2', v => 2 * v, 'Twice the energy']],
     help: 'Aims for this total energy and keeps it. Locked, it is held against pushes too.'},
    {key: 'momentum', label: 'Momentum |P|', lock: true, unit: 'kg m/s', target: true, metric: 'momentum',
     scale: live => linear(0, 2 * live.seen.momentum || 1), help: 'Along the present direction, or to the right.'},
    {key: 'spin', label: 'Angular momentum |L|', lock: true, unit: 'kg m²/s', target: true, metric: 'spin',
     scale: live => linear(0, 2 * live.seen.spin || 1),
     help: 'About the centre of mass, along the present axis, or upright.'},
    {key: 'half_life', label: 'Half-life of H − K', unit: 's', off: '∞', perBody: true,
     read: live => live.state.half_life[live.body], scale: () => logarithmic(0.05, 20),
     help: 'In this time half of the energy above that of a rigid motion is gone. At the right end nothing is lost.'},
    {key: 'gravity', label: 'Gravity', unit: 'm/s²', read: live => -live.state.gravity[1], scale: () => linear(-5, 20),
     send: v => [0, -v, 0], help: 'Downwards.'},
    {key: 'wind', label: 'Wind', unit: 'm/s', read: live => live.state.wind[0], scale: () => linear(-20, 20),
     send: v => [v, 0, 0], help: 'To the right.'},
    {key: 'friction', label: 'Friction', unit: '', read: live => live.state.friction, scale: () => linear(0, 1.5),
     needs: live => live.state.touches, help: 'Of everything that touches.'},
    {key: 'stiffness', label: 'Stiffness', unit: '× its own', read: live => live.state.stiffness,
     scale: () => logarithmic(0.1, 10), help: 'Of every material, in units of what the scene says.'},
    {key: 'step', label: 'Time step', unit: 'ms', read: live => 1000 * live.state.step, scale: () => logarithmic(2, 100),
     send: v => v / 1000, help: 'Length of a frame.'},
    {key: 'iterations', label: 'Iterations', unit: 'at most', read: live => live.state.iterations,
     scale: live => logarithmic(live.state.ranges.iterations[0], 100), whole: true,
     help: 'Per step; no fewer than the method needs to keep its energy.'},
    {key: 'budget', label: 'Budget', unit: 'ms', off: '∞', read: live => live.state.budget,
     scale: () => logarithmic(0.1, 100),
     help: 'What a frame may take; what it cannot hold of the energy then, it owes. At the right end as long as it takes.'}
  ];

  const LOCK = '<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><rect x="3" y="7" width="10" height="7" ' +
               'rx="1.6" fill="currentColor"/><path class="shackle" d="M5 7V4.6a3 3 0 0 1 6 0V7" fill="none" ' +
               'stroke="currentColor" stroke-width="1.7"/></svg>';
  const rounded = v => Number(v.toPrecision(Math.abs(v) >= 1000 ? 5 : 4));
  /** What fits into its field, and can be typed back. */
  const shown = v => {
    const size = Math.abs(v), long = size !== 0 && (size < 1e-3 || size >= 1e6);
    return (long ? v.toExponential(1) : String(rounded(v))).replaceAll('-', '−');
  };

  class Panel {
    constructor(live, byId) {
      this.live = live;
      this.rows = DIALS.map(dial => this.addDial(dial, byId('dials')));
      for (const fold of document.querySelectorAll('.fold'))
        fold.addEventListener('click', () => {
          const open = fold.getAttribute('aria-expanded') !== 'true';
          fold.setAttribute('aria-expanded', String(open));
          byId(fold.getAttribute('aria-controls')).hidden = !open;
        });
    }

    addDial(dial, place) {
      const row = element('div', 'dial', place), id = `dial-${dial.key}`;
      const label = element('label', '', row);
      label.htmlFor = id;
      label.textContent = dial.label;
      label.title = dial.help;
      const field = element('span', 'field', row), input = element('input', '', field);
      Object.assign(input, {id, type: 'text', inputMode: 'decimal', autocomplete: 'off', title: dial.help});
      const unit = element('span', 'unit', field);
      unit.textContent = dial.unit;
      const slider = element('input', '', row);
      Object.assign(slider, {type: 'range', min: 0, max: 1, step: 0.002, title: dial.help});
      slider.setAttribute('aria-label', `${dial.label}, slider`);
      const buttons = element('span', 'dial-buttons', row);
      const out = {dial, row, input, slider};
      row.append(label, field, slider, buttons);

      const turn = value => {
        if (!Number.isFinite(value) && !(dial.off && value === Infinity)) return this.refresh(true);
        if (dial.whole) value = Math.round(value);
        const sent = value === Infinity ? null : dial.send ? dial.send(value) : value;
        this.live.send({type: 'dial', name: dial.key, value: sent, body: Math.max(0, this.live.body)});
        out.typed = value;
        out.quiet = performance.now() + 400;  // until the answer is there
        this.show(out, value);
      };
      input.addEventListener('change', () => {
        const text = input.value.trim().replace(',', '.').replaceAll('−', '-');
        turn(dial.off && (text === '' || text === dial.off) ? Infinity : text === '' ? NaN : Number(text));
      });
      input.addEventListener('keydown', e => {
        if (e.key === 'Enter') input.blur();
        if (e.key === 'Escape') {
          input.blur();
          this.refresh(true);
        }
      });
      slider.addEventListener('pointerdown', () => {
        out.frozen = dial.scale(this.live);  // under the pointer the scale stays as it is
      });
      const scale = () => out.frozen || dial.scale(this.live);
      slider.addEventListener('input', () => {
        const s = Number(slider.value);
        turn(dial.off && s >= 1 ? Infinity : rounded(scale().from(s)));
        out.quiet = performance.now() + 400;
      });
      for (const type of ['pointerup', 'change']) slider.addEventListener(type, () => { out.frozen = null; });
      for (const [text, change, help] of dial.extra || []) {
        const button = element('button', 'small', buttons);
        button.textContent = text;
        button.title = help;
        button.setAttribute('aria-label', help);
        button.addEventListener('click', () => turn(rounded(change(this.value(dial)))));
      }
      if (dial.lock) {
        out.lock = element('button', 'small lock', buttons);
        out.lock.innerHTML = LOCK;
        out.lock.setAttribute('aria-pressed', 'false');
        out.lock.setAttribute('aria-label', `Lock ${dial.label}`);
        out.lock.title = 'Hold it at this value, whatever happens';
        out.lock.addEventListener('click', () => this.live.send(
            {type: 'lock', name: dial.key, body: this.live.body, on: out.lock.getAttribute('aria-pressed') !== 'true'}));
      }
      return out;
    }

    value(dial) {
      const {live} = this;
      if (dial.target) {
        const v = live.metrics ? live.metrics[dial.metric] : 0;
        return Math.abs(v) < live.rounding[dial.metric] ? 0 : v;
      }
      const v = dial.read(live);
      return v === null || v === undefined ? Infinity : v;
    }

    show(row, value) {
      const {dial, input, slider} = row;
      if (document.activeElement !== input)
        input.value = value === Infinity ? dial.off : shown(value);
      const s = value === Infinity ? 1 : Math.max(0, Math.min(1, (row.frozen || dial.scale(this.live)).to(value)));
      if (!row.frozen && document.activeElement !== slider || performance.now() > (row.quiet || 0)) slider.value = s;
      slider.setAttribute('aria-valuetext', `${input.value} ${dial.unit}`);
    }

    /** Only these dials, in a lesson; all of them without. */
    only(keys) {
      this.shown = keys;
      this.refresh(true);
    }

    refresh(force = false) {
      if (!this.live.state) return;
      const now = performance.now();
      for (const row of this.rows) {
        const {needs, target, perBody} = row.dial, ofBody = target || perBody;
        const needed = (!ofBody || this.live.body >= 0) && (!needs || needs(this.live)), chosen = !this.shown || this.shown.includes(row.dial.key);
        row.row.classList.toggle('off', !needed || !chosen);
        if (!force && (row.quiet || 0) > now || row.frozen) continue;
        this.show(row, this.value(row.dial));
        if (!row.lock) continue;
        const held = this.live.state.held[this.live.body], on = Boolean(held) && held[row.dial.key] !== null;
        row.lock.setAttribute('aria-pressed', String(on));
      }
    }
  }

  function buildCompare(place, methods, apply) {
    place.textContent = '';
    const selects = [0, 1, 2, 3].map(i => {
      const label = element('label', 'method', place);
      element('i', '', label).style.setProperty('--color', `var(--run-${i})`);
      const select = element('select', '', label);
      select.setAttribute('aria-label', i ? `Method ${i + 1}` : 'Method');
      if (i) element('option', '', select).value = '';
      if (i) select.options[0].textContent = '–';
      for (const {name, help} of methods) {
        const option = element('option', '', select);
        option.value = option.textContent = name;
        option.title = help;
      }
      return select;
    });
    const buttons = element('div', 'buttons', place);
    for (const [text, restart] of [['From here', false], ['From the start', true]]) {
      const button = element('button', '', buttons);
      button.textContent = text;
      button.addEventListener('click', () => apply(selects.map(s => s.value).filter(Boolean), restart));
    }
    return lanes => selects.forEach((select, i) => { select.value = lanes[i] || ''; });
  }

  const HELP = [
    ['Pointer', [
      ['drag a body', 'the tool: pull it about and throw it (Hand), push, spin, pin'],
      ['click a body', 'a nudge, away from you'],
      ['drag beside it', 'orbit; with shift or the right button: pan'],
      ['wheel, two fingers', 'zoom; two fingers also pan'],
      ['double click', 'back to the first view']]],
    ['Keys', [
      ['space', 'pause or go on'], ['.', 'one frame'], ['R', 'back to the start'],
      ['K', 'Calm: everything comes to rest'], ['Z', 'undo the last gesture'], ['B', 'keep this moment'], ['L', 'floor'],
      ['G P S N', 'hand, push, spin, pin'], ['Enter', 'the tool, in the middle of the view'],
      ['arrows + −', 'orbit and zoom'], ['V', 'first view'], ['F', 'follow the bodies'],
      ['C', 'colour by strain'], ['W', 'wireframe'], ['T', 'plain PD twin'], ['A', 'energy accounts, stacked'],
      ['1 2 4', 'speed: whole, half, a quarter'], ['M', 'scenes'], ['E', 'lessons'], ['H', 'how a step works, in numbers'],
      ['1 2 3', 'in a lesson: the answer'], ['D', 'dark or light'], ['?', 'this list']]]
  ];
  function buildHelp(place) {
    for (const [title, rows] of HELP) {
      element('h3', '', place).textContent = title;
      const list = element('dl', '', place);
      for (const [keys, what] of rows) {
        const term = element('dt', '', list);
        for (const key of title === 'Keys' ? keys.split(' ') : [keys]) element('kbd', '', term).textContent = key;
        element('dd', '', list).textContent = what;
      }
    }
  }

  Object.assign(verve, {Panel, buildCompare, buildHelp, dialNames: DIALS.map(d => d.key)});
})(globalThis.verve);
