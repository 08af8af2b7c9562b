// How it works: one step of the running simulation, walked through with its numbers.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve;
  const number = (x, digits = 4) => verve.formatNumber(Number(x.toPrecision(digits)));
  const vector = v => `(${v.map(x => (Math.abs(x) < 5e-5 ? 0 : x).toFixed(4).replace('-', '−')).join(', ')})`;
  const length = v => Math.hypot(...v);
  const stretches = list => list.map(s => s.toFixed(3)).join(' · ');
  const joules = x => `${number(x)} J`;

  function table(place, head, rows) {
    const out = element('table', '', element('div', 'scroll', place)), top = element('tr', '', element('thead', '', out));
    for (const text of head) element('th', '', top).innerHTML = text;
    const body = element('tbody', '', out);
    for (const row of rows) {
      const line = element('tr', '', body);
      for (const text of row) element('td', '', line).innerHTML = text;
    }
  }

  function section(place, title, text) {
    const out = element('section', '', place);
    element('h3', '', out).textContent = title;
    element('p', '', out).innerHTML = text;
    return out;
  }

  /** `said` is the answer to the message "explain" (docs/live.md). */
  function explain(place, said) {
    place.textContent = '';
    const {before, after, pd, stretch, step, vertex} = said, plain = pd.at(-1);
    element('p', 'muted', place).textContent =
        `Frame ${said.frame}, ${said.time.toFixed(3)} s, h = ${number(1000 * step)} ms. Vertex ${vertex} is the fastest ` +
        `(${number(1000 * said.mass, 3)} g).`;
    section(place, '1 · Where it is', `x<sub>n</sub> = ${vector(before.x)} m, v<sub>n</sub> = ${vector(said.v)} m/s. ` +
        `All vertices together have H = ${joules(before.kinetic)} + ${joules(before.elastic)} = <b>${joules(before.total)}</b> ` +
        '(kinetic + elastic and the rest).');
    section(place, '2 · Prediction', 'Where it would fly without forces from inside: ' +
        `y = x<sub>n</sub> + h v<sub>n</sub>${length(said.gravity) ? ' + h² g' : ''} = <b>${vector(said.y)}</b> m.`);
    if (pd.length) {
      const local = section(place, '3 · Local and global steps', (stretch ? 'One tetrahedron, the one that the prediction ' +
          `stretches most: its principal stretches are ${stretches(stretch.predicted)}. Alone it wants 1 · 1 · 1: that is its ` +
          'local step. ' : '') + 'The global step then finds the positions that suit all elements and masses, by one solve. ' +
          'Again and again:');
      const shown = pd.filter((_, i) => [0, 1, 2, 4, 9].includes(i) || i === pd.length - 1);
      table(local, ['iteration', `x of vertex ${vertex} [m]`, ...(stretch ? ['stretches'] : []), 'W [J]', 'H [J]'],
            shown.map(row => [pd.indexOf(row) + 1, vector(row.x), ...(stretch ? [stretches(row.stretch)] : []),
                              number(row.elastic), number(row.total)]));
    }
    if (plain) {
      const lost = before.total - plain.total, share = 100 * lost / Math.max(1e-12, before.kinetic + Math.abs(before.elastic));
      section(place, '4 · What plain PD ends with', `H = ${joules(plain.total)}: in one step it has lost <b>${joules(lost)}</b>, ` +
          `${number(share, 3)} % of the energy that moves. |P| ${number(length(before.momentum))} → ${number(length(plain.momentum))} kg m/s, ` +
          `|L| ${number(length(before.spin))} → ${number(length(plain.spin))} kg m²/s.`);
    }
    if (after) {
      const own = section(place, `5 · What ${verve.methodName(said.method)} asks for`, 'The same minimum, under constraints on P, L ' +
          'and H. Each has a multiplier λ, how hard the constraint pushes: P and L by a velocity and a turn that all vertices ' +
          'get, H by a share of what the step would lose.');
      const row = (name, was, is, unit, error, multiplier, per) =>
          [name, `${number(was)} ${unit}`, `${number(is)} ${unit}`, `${multiplier}${per}`, error];
      // less than this is rounding
      const shown = v => number(length(v) < 1e-12 ? 0 : length(v), 3);
      table(own, ['', 'before', 'after', 'λ', 'scaled residual'], [
        row('|P|', length(before.momentum), length(after.momentum), 'kg m/s', number(after.error_p, 2), shown(after.multiplier_p), ' m/s'),
        row('|L|', length(before.spin), length(after.spin), 'kg m²/s', number(after.error_l, 2), shown(after.multiplier_l), ' rad/s'),
        row('H', before.total, after.total, 'J', number(after.error_h, 2), number(after.multiplier, 3), '')]);
      element('p', '', own).innerHTML = `Asked for: H* = ${joules(after.target)}; found after ${after.iterations} ` +
          `iterations${after.substeps > 1 ? ` in ${after.substeps} sub-steps` : ''}. In plain PD all λ are 0.`;
      section(place, '6 · Where it is now', `x<sub>n+1</sub> = <b>${vector(after.x)}</b> m. H before ${joules(before.total)}, after ` +
          `<b>${joules(after.total)}</b>.`);
    }
  }

  verve.explain = explain;
})(globalThis.verve);
