// Live curves: the plots of reports over a window of time that moves on.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const WINDOW = 12, KEPT = 200000;  // seconds of simulation shown; frames kept for the table: two hours

  class Curves {
    constructor(container) {
      this.container = container;
      this.plots = [];
      this.floors = {};  // of quantities of which less is rounding, by their names
      this.start([]);
    }

    start(lanes) {
      this.lanes = lanes;
      this.history = lanes.map(() => ({time: [], frame: [], metrics: []}));
      this.build();
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
          {label: several ? label : '', color: `--run-${i}`, lane: i, key, strong: true}));
      if (several) add('Total energy H', 'J', perLane('total'), true);
      add(several ? `Energy of ${this.lanes[0] || ''}` : 'Energy H', 'J', [
        {label: 'kinetic', color: '--kinetic', lane: 0, key: 'kinetic'},
        {label: 'elastic', color: '--elastic', lane: 0, key: 'elastic'},
        {label: 'contact', color: '--contact', lane: 0, key: 'contact', hideZero: true},
        {label: 'external', color: '--external', lane: 0, key: 'external', hideZero: true},
        {label: 'heat', color: '--heat', lane: 0, key: 'heat', hideZero: true},
        {label: 'work', color: '--work', lane: 0, key: 'work', hideZero: true},
        {label: 'owed', color: '--owed', lane: 0, key: 'owed', hideZero: true, share: 1e-4},
        {label: 'target', color: '--target', lane: 0, key: 'target'},
        {label: 'total', color: '--total', lane: 0, key: 'total', strong: true}], true);
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
        plot.sources.forEach((source, i) => {
          const h = this.history[source.lane], series = plot.options.series[i];
          let from = h.time.length;
          while (from > 0 && h.time[from - 1] >= begin - 0.2) --from;
          series.time = h.time.slice(from);
          series.values = h.metrics.slice(from).map(m => m[source.key]);
          if (!source.hideZero) return;
          // neither round-off nor what the tolerance of a step leaves open
          const least = (source.share || 1e-9) * Math.max(1e-3, ...h.metrics.slice(from).map(m => m.kinetic + m.elastic));
          const absent = series.values.every(v => Math.abs(v) < least);
          if (absent) series.values = series.values.map(() => null);
          plot.legend.children[i].hidden = absent;
        });
        plot.x = {low: begin, high: Math.max(end, begin + 1)};
        plot.y = verve.plotRange(plot.options.series, this.floors[plot.sources[0].key] || 1e-9, 0);
        plot.draw();
      }
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
