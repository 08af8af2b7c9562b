// Live curves: the plots of reports over a window of time that moves on.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const WINDOW = 12, KEPT = 200000;  // seconds of simulation shown; frames kept for the table: two hours

  // Where the energy is, from below: each is an account of the ledger (docs/glossary.md).
  const ACCOUNTS = [
    {label: 'kinetic', color: '--kinetic', key: 'kinetic'}, {label: 'elastic', color: '--elastic', key: 'elastic'},
    {label: 'contact', color: '--contact', key: 'contact'}, {label: 'height', color: '--external', key: 'external', lift: true},
    {label: 'heat', color: '--heat', key: 'heat'}, {label: 'taken on purpose', color: '--work', key: 'loss'},
    {label: 'owed', color: '--owed', key: 'owed'}];

  /** The most that is shown: what is ten times above all but a twentieth of the samples is a spike, and cut off. */
  function usual(series) {
    const sizes = series.flatMap(s => s.values).filter(v => v !== null && Number.isFinite(v)).map(Math.abs).sort((a, b) => a - b);
    const common = sizes[Math.floor(0.95 * (sizes.length - 1))] || 0, most = sizes.at(-1) || 0;
    return sizes.length > 40 && common > 0 && most > 10 * common ? 2 * common : 0;
  }

  class Curves {
    constructor(container) {
      this.container = container;
      this.accounts = false;
      this.plots = [];
      this.floors = {};  // of quantities of which less is rounding, by their names
      this.start([]);
    }

    start(lanes) {
      this.lanes = lanes;
      this.history = lanes.map(() => ({time: [], frame: [], metrics: []}));
      this.build();
    }

    setAccounts(on) {
      if (this.accounts === on) return;
      this.accounts = on;
      this.build();
      this.draw();
    }

    build() {
      this.container.textContent = '';
      this.plots = [];
      const several = this.lanes.length > 1;
      const add = (title, unit, series, wide) => {
        const box = verve.element('div', wide ? 'wide' : '', this.container);
        const plot = new verve.Plot(box, {title, unit, series: series.map(s => ({...s, time: [0], values: [0]}))});
        plot.overlay.setAttribute('role', 'img');
        plot.overlay.setAttribute('aria-label', `${title} over time`);
        plot.sources = series;
        plot.legend = box.querySelector('.legend');
        plot.legend.hidden = !wide;
        this.plots.push(plot);
      };
      const perLane = key => this.lanes.map((label, i) => (
          {label: several ? verve.methodName(label) : '', color: `--run-${i}`, lane: i, key, strong: true}));
      if (several) add('Total energy H', 'J', perLane('total'), true);
      const name = verve.methodName(this.lanes[0] || '');
      if (this.accounts) {
        for (const [lane, label] of this.lanes.slice(0, 2).entries())
          add(`Accounts of ${verve.methodName(label)}`, 'J', [
            ...ACCOUNTS.map(account => ({...account, lane, stacked: true})),
            {label: 'target', color: '--cursor', lane, key: 'target', account: true, dashed: true}], true);
      } else {
        add(several ? `Energy of ${name}` : 'Energy H', 'J', [
          {label: 'kinetic', color: '--kinetic', lane: 0, key: 'kinetic'},
          {label: 'elastic', color: '--elastic', lane: 0, key: 'elastic'},
          {label: 'contact', color: '--contact', lane: 0, key: 'contact', hideZero: true},
          {label: 'external', color: '--external', lane: 0, key: 'external', hideZero: true},
          {label: 'heat', color: '--heat', lane: 0, key: 'heat', hideZero: true},
          {label: 'work', color: '--work', lane: 0, key: 'work', hideZero: true},
          {label: 'owed', color: '--owed', lane: 0, key: 'owed', hideZero: true, share: 1e-4},
          {label: 'total', color: '--total', lane: 0, key: 'total', strong: true},
          {label: 'target', color: '--target', lane: 0, key: 'target', dashed: true}], true);
      }
      add('|P|', 'kg m/s', perLane('momentum'));
      add('|L|', 'kg m²/s', perLane('spin'));
      add('Iterations', '', perLane('iterations'));
      add('Frame time', 'ms', perLane('ms'));
    }

    /** Every frame since the last message: none is missing, however seldom the page draws. */
    add({rows}) {
      for (const row of rows) {
        const last = this.history[0] && this.history[0].frame;
        if (!last) return;
        if (last.length && row.frame <= last[last.length - 1]) {
          if (row.frame === last[last.length - 1]) continue;
          this.start(this.lanes);  // back to before
        }
        row.lanes.forEach((metrics, i) => {
          const h = this.history[i];
          if (!h || (metrics.failed && h.frame.length)) return;
          h.time.push(row.time);
          h.frame.push(row.frame);
          h.metrics.push(metrics);
          if (h.time.length > KEPT) for (const list of [h.time, h.frame, h.metrics]) list.splice(0, KEPT / 4);
        });
      }
    }

    draw() {
      const times = this.history.length ? this.history[0].time : [];
      if (times.length < 2 || this.container.hidden) return;
      const end = times[times.length - 1], begin = Math.max(times[0], end - WINDOW);
      for (const plot of this.plots) {
        const {series} = plot.options;
        plot.sources.forEach((source, i) => {
          const h = this.history[source.lane];
          let from = h.time.length;
          while (from > 0 && h.time[from - 1] >= begin - 0.2) --from;
          const rows = h.metrics.slice(from);
          series[i].time = h.time.slice(from);
          series[i].values = rows.map(m => m[source.key]);
          if (source.stacked) this.stack(plot, i, rows);
          // the target of H, seen from the accounts: with all that was taken, and from where heights are counted
          if (source.account) series[i].values = rows.map(m => m.target + m.heat + m.loss + m.owed - plot.lowest);
          if (!source.hideZero && !source.stacked) return;
          // neither round-off nor what the tolerance of a step leaves open
          const least = (source.share || 1e-9) * Math.max(1e-3, ...rows.map(m => m.kinetic + m.elastic));
          const absent = source.stacked ? series[i].values.every((v, k) => Math.abs(v - series[i].base[k]) < 1e3 * least)
                                        : series[i].values.every(v => Math.abs(v) < least);
          if (absent && !source.stacked) series[i].values = series[i].values.map(() => null);
          plot.legend.children[i].hidden = absent;
        });
        plot.x = {low: begin, high: Math.max(end, begin + 1)};
        plot.y = verve.plotRange(series, this.floors[plot.sources[0].key] || 1e-9, usual(series));
        plot.draw();
      }
    }

    /** A band on top of those before it; heights from the lowest in sight, since only their differences count. */
    stack(plot, i, rows) {
      const series = plot.options.series[i], {key, lift} = plot.sources[i];
      if (i === 0) plot.lowest = 0;
      if (lift) plot.lowest = rows.reduce((low, m) => Math.min(low, m[key]), Infinity);
      series.base = i ? plot.options.series[i - 1].values : rows.map(() => 0);
      series.values = rows.map((m, k) => series.base[k] + Math.max(0, lift ? m[key] - plot.lowest : m[key]));
    }

    /** Everything kept, as a table. */
    table(names) {
      const rows = [['method', 'frame', 'time', ...names].join(',')];
      this.history.forEach((h, lane) => h.frame.forEach((frame, i) => rows.push(
          [this.lanes[lane], frame, h.time[i], ...names.map(name => h.metrics[i][name])].join(','))));
      return rows.join('\n') + '\n';
    }
  }

  verve.Curves = Curves;
})(globalThis.verve);
