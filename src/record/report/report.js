// The page of a report: reads the embedded data, builds views, table and plots, and keeps one clock for all of them.
// #frame=40 in the address starts paused at that frame; follow=0 or 1, wire=1, cage=1, yaw and pitch (degrees) set the
// view.
'use strict';

(function (verve) {
  const data = JSON.parse(document.getElementById('data').textContent);
  const byId = id => document.getElementById(id);
  const {element, formatNumber} = verve;
  // A run that the others are compared with is grey; the others take the colours in turn.
  const colors = data.runs.map((run, i) => run.reference
      ? '--reference' : `--run-${data.runs.slice(0, i).filter(r => !r.reference).length % 8}`);
  const runColor = i => colors[i];
  const several = data.runs.length > 1;
  // What a run had when it blew up is no measure for anything on the page, unless there is nothing else.
  const sound = data.runs.some(run => !run.failed) ? data.runs.filter(run => !run.failed) : data.runs;

  // ---- data

  function bytes(base64) {
    const text = atob(base64), out = new Uint8Array(text.length);
    for (let i = 0; i < out.length; ++i) out[i] = text.charCodeAt(i);
    return out;
  }
  const uint32 = base64 => new Uint32Array(bytes(base64).buffer);
  const uint16 = base64 => new Uint16Array(bytes(base64).buffer);
  const float32 = base64 => new Float32Array(bytes(base64).buffer);

  /** Fractions of a box back to positions relative to `origin`, which is subtracted before rounding to float. */
  function decode(fractions, from, count, box, origin, out) {
    for (let axis = 0; axis < 3; ++axis) {
      const low = box[axis] - origin[axis], scale = box[axis + 3] / 65535;
      for (let i = 3 * from + axis; i < 3 * (from + count); i += 3) out[i] = low + scale * fractions[i];
    }
  }

  /** Of elements with `size` vertices those that are there in a frame: `life` has when each appears and is gone. */
  function living(elements, life, size, frame) {
    if (!life) return elements;
    const kept = [];
    for (let i = 0; 2 * i < life.length; ++i)
      if (life[2 * i] <= frame && frame < life[2 * i + 1])
        for (let k = 0; k < size; ++k) kept.push(elements[size * i + k]);
    return Uint32Array.from(kept);
  }
  /** Adds what is known of the elements of a body that tears. */
  function withLife(mesh, from) {
    if (from.life) mesh.life = uint32(from.life);
    if (from.edgeLife) mesh.edgeLife = uint32(from.edgeLife);
    mesh.changes = [...new Set([...(mesh.life || []), ...(mesh.edgeLife || [])])];
    return mesh;
  }

  const geometries = (data.geometries || []).map(meshes => meshes.map(mesh => {
    const rest = new Float32Array(3 * mesh.vertices);
    decode(uint16(mesh.rest), 0, mesh.vertices, mesh.restBox, [0, 0, 0], rest);
    const out = withLife({name: mesh.name, color: mesh.color, vertices: mesh.vertices, rest,
                          triangles: uint32(mesh.triangles), edges: uint32(mesh.edges)}, mesh);
    if (!mesh.surface) return out;
    // A surface that the mesh carries: its frames are computed here from those of the mesh, which becomes its cage.
    const carriers = uint32(mesh.surface.carriers), weights = float32(mesh.surface.weights);
    out.cage = true;
    out.carried = withLife({color: mesh.color, triangles: uint32(mesh.surface.triangles), edges: new Uint32Array(0),
                            carriers, weights,
                            rest: verve.math.carry({carriers, weights}, rest,
                                                   new Float32Array(carriers.length / 4 * 3))}, mesh.surface);
    return out;
  }));
  /** What the viewer gets: the meshes, then the surfaces that they carry. */
  const drawn = meshes => [...meshes, ...meshes.filter(m => m.carried).map(m => m.carried)];
  const caged = geometries.some(meshes => meshes.some(m => m.carried));

  /** Shows what there is of bodies that tear. */
  function showLiving(view, frame) {
    view.generation = view.generation || [];
    drawn(geometries[view.run.geometry]).forEach((mesh, i) => {
      if (!mesh.changes.length) return;
      const generation = mesh.changes.filter(change => change <= frame).length;
      if (view.generation[i] === generation) return;
      view.generation[i] = generation;
      view.viewer.setElements(i, living(mesh.triangles, mesh.life, 3, frame),
                              living(mesh.edges, mesh.edgeLife, 2, frame));
    });
  }

  function positionsOf(run, frame, origin) {
    const meshes = geometries[run.geometry], fractions = uint16(frame.positions);
    const out = new Float32Array(drawn(meshes).reduce((sum, mesh) => sum + mesh.rest.length, 0));
    let first = 0, firstCarried = fractions.length / 3;
    meshes.forEach((mesh, i) => {
      decode(fractions, first, mesh.vertices, frame.boxes[i], origin, out);
      if (mesh.carried) {
        verve.math.carry(mesh.carried, out.subarray(3 * first, 3 * (first + mesh.vertices)), out, firstCarried);
        firstCarried += mesh.carried.rest.length / 3;
      }
      first += mesh.vertices;
    });
    return out;
  }

  // ---- extent of the motion: what the camera must show

  const good = v => v.every(Number.isFinite);
  function boxOf(frame) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const box of frame.shown || frame.boxes) {
      if (!good(box)) continue;
      for (let axis = 0; axis < 3; ++axis) {
        low[axis] = Math.min(low[axis], box[axis]);
        high[axis] = Math.max(high[axis], box[axis] + box[axis + 3]);
      }
    }
    return {low, high};
  }
  function centerOf(frame) {
    if (good(frame.center)) return frame.center;
    const {low, high} = boxOf(frame);
    return low.map((l, i) => (l + high[i]) / 2);
  }

  /**
   * `follow`: half edges of the box about the centre of mass that holds the bodies; `low`, `high`: box of the whole
   * motion; `radius`: of the bodies. Runs that fly apart are cut off at the 95th percentile.
   */
  function extent() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], follow = [0, 0, 0];
    const shots = sound.flatMap(run => run.frames).map(frame => ({box: boxOf(frame), center: centerOf(frame)}));
    const radii = [];
    for (const s of shots) {
      s.half = s.box.high.map((h, i) => Math.max(h - s.center[i], s.center[i] - s.box.low[i]));
      s.radius = Math.hypot(...s.half);
      if (Number.isFinite(s.radius)) radii.push(s.radius);
    }
    radii.sort((a, b) => a - b);
    const radius = radii[Math.floor(0.95 * (radii.length - 1))] || 1;
    for (const s of shots) {
      if (!(s.radius <= 1.2 * radius)) continue;
      for (let axis = 0; axis < 3; ++axis) {
        low[axis] = Math.min(low[axis], s.box.low[axis]);
        high[axis] = Math.max(high[axis], s.box.high[axis]);
        follow[axis] = Math.max(follow[axis], s.half[axis]);
      }
    }
    return good(low) ? {radius, low, high, follow} : {radius: 1, low: [-1, -1, -1], high: [1, 1, 1], follow: [1, 1, 1]};
  }

  // ---- views

  const views = [], camera = new verve.Camera(), bounds = extent();
  const middle = bounds.low.map((l, i) => (l + bounds.high[i]) / 2);
  const half = bounds.low.map((l, i) => (bounds.high[i] - l) / 2);
  let follow = Math.hypot(...half) > 2.5 * bounds.radius, wireframe = false, cage = false;

  function groundHeight() {
    const starts = data.runs.filter(run => run.frames.length).map(run => boxOf(run.frames[0]).low[1])
        .filter(Number.isFinite);
    const start = starts.length ? Math.min(...starts) : 0;
    // Under everything, unless the body falls far: then it passes the grid and shows that it falls.
    const below = bounds.low[1];
    const lowest = start - below > 3 * bounds.radius ? start - bounds.radius : below;
    return lowest - 0.06 * bounds.radius;
  }

  function viewTheme() {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    return dark ? {grid: [0.62, 0.7, 0.78, 0.42], wire: [0, 0, 0, 0.45], shadow: 0.5}
                : {grid: [0.32, 0.38, 0.45, 0.5], wire: [0, 0, 0, 0.38], shadow: 0.24};
  }

  /** Two to four in a row, rows of about the same length; fewer where the page is narrow. */
  function arrangeViews(count) {
    const rows = Math.ceil(count / 4), columns = Math.ceil(count / rows);
    byId('views').style.gridTemplateColumns =
        `repeat(auto-fit, minmax(min(100%, max(300px, (100% - ${12 * (columns - 1)}px) / ${columns})), 1fr))`;
  }

  function buildViews() {
    arrangeViews(data.runs.length);
    data.runs.forEach((run, i) => {
      const box = element('div', 'view', byId('views'));
      const view = {run, box, shown: null};
      const message = text => { element('div', 'view-message', box).textContent = text; };
      if (!data.geometries) {
        message('The meshes are too large for a playback inside this page; the curves below are complete.');
      } else {
        const canvas = element('canvas', '', box);
        canvas.setAttribute('aria-label', `3-D view of ${run.label}`);
        try {
          view.viewer = new verve.Viewer(canvas, camera);
          view.viewer.setMeshes(drawn(geometries[run.geometry]));
          view.viewer.ground = groundHeight();
          view.viewer.theme = viewTheme();
          verve.attachControls(canvas, camera);
        } catch (error) {
          canvas.remove();
          view.viewer = null;
          message(`${error.message}. The 3-D playback needs WebGL 2; everything below works without it.`);
        }
      }
      const label = element('div', 'view-label', box);
      element('i', '', label).style.setProperty('--color', `var(${runColor(i)})`);
      label.append(run.label);
      view.state = element('div', 'view-state', box);
      views.push(view);
    });
    frameCamera();
    new ResizeObserver(() => frameCamera(true)).observe(byId('views'));
  }

  let aspectFramed = 0;
  function frameCamera(onlyIfReshaped = false) {
    const aspect = Math.min(...views.map(v => v.box.clientWidth / Math.max(1, v.box.clientHeight)));
    if (onlyIfReshaped && Math.abs(aspect - aspectFramed) < 0.05) return;
    aspectFramed = aspect;
    camera.frame(follow ? bounds.follow : half, [0, 0, 0], aspect);
    const spacing = verve.math.niceStep(camera.distance / 16);
    for (const {viewer} of views) if (viewer) viewer.gridSpacing = spacing;
    byId('grid-note').textContent = views.some(v => v.viewer) ? `grid ${formatNumber(spacing)} m` : '';
  }

  // ---- clock: the run that lasts longest gives the frames of the slider

  const endOf = run => run.frames.length ? run.frames[run.frames.length - 1].time : -1;
  const master = data.runs.reduce((a, b) => endOf(b) > endOf(a) ? b : a);
  const ticks = master.frames.length
      ? master.frames.map(f => ({frame: f.frame, time: f.time}))
      : master.curves.time.map((time, i) => ({frame: master.curves.frame[i], time}));
  const times = ticks.map(t => t.time);
  const clock = {tick: 0, time: times[0] || 0, playing: false, speed: 1, loop: true};
  const plots = [];

  function show() {
    const tick = ticks[clock.tick];
    byId('scrub').value = clock.tick;
    byId('clock').textContent = `${tick.time.toFixed(3)} s · frame ${tick.frame} of ${ticks[ticks.length - 1].frame}`;
    for (const view of views) {
      const {frames} = view.run;
      if (!view.viewer || !frames.length) continue;
      const frame = frames[verve.nearestSample(frames.map(f => f.time), tick.time)];
      view.state.textContent = tick.time > endOf(view.run) + 1e-9 ? `ended at ${endOf(view.run).toFixed(2)} s` : '';
      const key = `${frame.frame} ${follow}`;
      if (view.shown === key) continue;
      view.shown = key;
      const origin = follow ? centerOf(frame) : middle;
      showLiving(view, frame.frame);
      view.viewer.setPositions(positionsOf(view.run, frame, origin), origin);
    }
    for (const plot of plots) plot.setTime(tick.time);
  }

  function goTo(tick) {
    clock.tick = Math.max(0, Math.min(ticks.length - 1, tick));
    clock.time = times[clock.tick];
    show();
  }

  function play(on) {
    if (on && clock.tick >= ticks.length - 1) goTo(0);
    clock.playing = on && ticks.length > 1;
    byId('play').textContent = clock.playing ? '❚❚' : '▶';
    byId('play').setAttribute('aria-label', clock.playing ? 'Pause' : 'Play');
    if (clock.playing) {
      clock.stamp = null;
      requestAnimationFrame(advance);
    }
  }

  function advance(stamp) {
    if (!clock.playing) return;
    // A page that was hidden goes on where it stopped.
    if (clock.stamp !== null) clock.time += Math.min(0.25, (stamp - clock.stamp) / 1000) * clock.speed;
    clock.stamp = stamp;
    const end = times[times.length - 1], last = times.length > 1 ? end - times[times.length - 2] : 0;
    if (clock.time > end + last) {  // the last frame is shown as long as the others
      if (clock.loop) clock.time = times[0];
      else play(false);
    }
    // the frame that has begun, not the nearest one
    let tick = verve.nearestSample(times, Math.min(clock.time, end));
    if (tick > 0 && times[tick] > clock.time + 1e-9) --tick;
    if (tick !== clock.tick) {
      clock.tick = tick;
      show();
    }
    if (clock.playing) requestAnimationFrame(advance);
  }

  const seek = time => {
    play(false);
    goTo(verve.nearestSample(times, time));
  };

  function press(button, on) {
    button.setAttribute('aria-pressed', String(on));
  }

  function setFollow(on) {
    follow = on;
    press(byId('follow'), on);
    frameCamera();
    show();
  }

  function setWireframe(on) {
    wireframe = on;
    press(byId('wire'), on);
    for (const {viewer} of views) {
      if (!viewer) continue;
      viewer.wireframe = on;
      viewer.requestDraw();
    }
  }

  function setCage(on) {
    cage = on;
    press(byId('cage'), on);
    for (const {viewer} of views) {
      if (!viewer) continue;
      viewer.cage = on;
      viewer.requestDraw();
    }
  }

  function buildControls() {
    byId('cage').hidden = !caged;
    byId('cage').addEventListener('click', () => setCage(!cage));
    byId('scrub').max = ticks.length - 1;
    byId('scrub').addEventListener('input', e => {
      play(false);
      goTo(Number(e.target.value));
    });
    byId('play').addEventListener('click', () => play(!clock.playing));
    byId('home').addEventListener('click', () => camera.reset());
    byId('follow').addEventListener('click', () => setFollow(!follow));
    byId('wire').addEventListener('click', () => setWireframe(!wireframe));
    byId('loop').addEventListener('click', () => {
      clock.loop = !clock.loop;
      press(byId('loop'), clock.loop);
    });
    const speeds = [...document.querySelectorAll('[data-speed]')];
    for (const button of speeds)
      button.addEventListener('click', () => {
        clock.speed = Number(button.dataset.speed);
        speeds.forEach(b => press(b, b === button));
      });
    addEventListener('keydown', e => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const step = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[e.key];
      if (e.key === ' ') play(!clock.playing);
      else if (step) play(false), goTo(clock.tick + step);
      else return;
      e.preventDefault();
    });
  }

  // ---- summary

  const finite = v => v !== null && v !== undefined && Number.isFinite(v);

  function buildSummary() {
    const undisturbed = ' over the longest span in which nothing from outside changes it';
    const percent = v => v === null ? '–' : Number((100 * v).toPrecision(2)) + ' % of energy';
    const plain = digits => v => v === null ? '–' : v.toFixed(digits);
    const inSizes = 'in units of the body\u2019s size';
    const measured =
        [['Roughness', 'roughness', `High-frequency deformation ${inSizes}, mean of the last third`],
         ['Constraint error', 'constraintError', 'How far elements are from where their potentials want them, mean'],
         ['Distance', 'distance', `From the reference, ${inSizes}, mean`],
         ['Slow distance', 'slowDistance', `Likewise, of what a frame rate can show: the mean of five frames`],
         ['Distance at the end', 'lastDistance', `From the reference, ${inSizes}`]]
            .filter(([, key]) => data.runs.some(run => finite(run.summary[key])))
            .map(([name, key, help]) =>
                [name, s => finite(s[key]) ? formatNumber(Number(s[key].toPrecision(3))) : '–', help]);
    const columns = [
      ['Energy', s => s.energy.text, 'H' + undisturbed, s => s.energy.span],
      ['|P|', s => s.momentum.text, 'Linear momentum' + undisturbed, s => s.momentum.span],
      ['|L|', s => s.spin.text, 'Angular momentum about the centre of mass' + undisturbed, s => s.spin.span],
      ['Elastic oscillation', s => percent(s.elasticOscillation),
       'Standard deviation of the elastic energy over the last third, over the largest kinetic + elastic energy'],
      ...measured,
      ['Iterations / frame', s => plain(1)(s.iterations), 'Mean'],
      ['ms / frame', s => s.milliseconds === null ? '–' : formatNumber(Number(s.milliseconds.toPrecision(3))),
       'Mean computing time']
    ];
    const noted = [...new Set(data.runs.flatMap(run => run.notes.map(([name]) => name)))];
    const table = byId('summary'), head = element('tr', '', element('thead', '', table));
    element('th', '', head).textContent = 'Run';
    for (const [name, , help] of columns) {
      const th = element('th', '', head);
      th.textContent = name;
      th.title = help;
    }
    for (const name of noted) element('th', '', head).textContent = name;
    const body = element('tbody', '', table);
    data.runs.forEach((run, i) => {
      const row = element('tr', '', body), name = element('td', '', row);
      element('i', '', name).style.setProperty('--color', `var(${runColor(i)})`);
      name.append(run.label);
      for (const [, value, , span] of columns) {
        const cell = element('td', '', row);
        cell.textContent = value(run.summary);
        if (span && span(run.summary)) element('small', '', cell).textContent = span(run.summary);
      }
      const notes = new Map(run.notes);
      for (const name of noted) {
        const text = notes.get(name) || '';
        element('td', text.length > 30 ? 'note' : '', row).textContent = text;
      }
    });
    for (const run of data.absent || []) {
      const row = element('tr', 'absent', body);
      element('td', '', row).textContent = run.label;
      const why = element('td', 'note', row);
      why.textContent = run.reason;
      why.colSpan = columns.length + noted.length;
    }
  }

  // ---- curves

  const peak = values => values.reduce((m, v) => finite(v) ? Math.max(m, Math.abs(v)) : m, 0);

  /** When one run explodes beside another that does not, the axis stays with the sane one. Up to `sane` none explodes. */
  function limitOf(series, sane = 0) {
    const peaks = series.map(s => peak(s.values)).filter(p => p > 0);
    if (peaks.length < 2) return 0;
    const least = Math.min(...peaks), most = Math.max(...peaks);
    return most > Math.max(30 * least, sane) ? Math.max(3 * least, ...peaks.filter(p => p <= sane)) : 0;
  }
  /** A few slow frames (the first one, a busy machine) must not flatten the rest. */
  function usual(series) {
    const all = series.flatMap(s => s.values).filter(finite).sort((a, b) => a - b);
    if (!all.length) return 0;
    const most = all[all.length - 1], common = all[Math.floor(0.98 * (all.length - 1))];
    return most > 4 * common && common > 0 ? 2 * common : 0;
  }

  function buildPlots() {
    const add = (place, options) =>
        plots.push(new verve.Plot(element('div', '', byId(place)), {...options, onSeek: seek}));
    // Earlier runs are drawn wider, so that they show beneath later ones that coincide with them.
    // What the reference costs is no part of the comparison, and would flatten the rest.
    const shown = (run, key) => run.curves[key] &&
        !(run.reference && several && (key === 'iterations' || key === 'milliseconds'));
    const over = (key, skip = 0) => data.runs.map((run, i) => shown(run, key) && {
      label: several ? run.label : '', color: runColor(i), time: run.curves.time.slice(skip),
      values: run.curves[key].slice(skip), strong: true,
      width: 1.6 + (skip ? 0 : 2.2 * (data.runs.length - 1 - i) / data.runs.length)
    }).filter(Boolean);
    const parts = [['kinetic', 'kinetic'], ['elastic', 'elastic'], ['external', 'external'], ['contact', 'contact'],
                   ['heat', 'heat'], ['work', 'work of colliders']];
    const split = run => {
      const time = run.curves.time, scale = peak(run.curves.total);
      const out = [];
      for (const [key, label] of parts) {
        const values = run.curves[key];
        const always = key === 'kinetic' || key === 'elastic';
        if (peak(values) > 0 || always) out.push({label, color: `--${key}`, time, values});
      }
      out.push({label: 'total', color: '--total', time, values: run.curves.total, strong: true});
      if (peak(run.curves.target) > 1e-12 * scale && peak(run.curves.target) > 0)
        out.push({label: 'target', color: '--target', time, values: run.curves.target, dashed: true});
      return out;
    };

    const energies = data.runs.map(split), all = energies.flat();
    // A total near zero is small beside its parts, not beside the totals of other runs.
    const limit = limitOf(energies.map(series => ({values: series.map(s => peak(s.values))})));
    const floor = Math.max(...sound.map(run => Math.max(peak(run.curves.kinetic), peak(run.curves.elastic))));
    const range = verve.plotRange(all, 0, limit);
    if (several) add('energy-plots', {title: 'Total energy H', unit: 'J', series: over('total'), floor, limit});
    data.runs.forEach((run, i) =>
        add('energy-plots', {title: several ? `Energy of ${run.label}` : 'Energy H', unit: 'J', series: energies[i],
                             range}));

    // Momenta below these are rounding: drawn as the flat zero that they are.
    const mass = Math.max(...data.runs.map(r => r.mass || 0));
    const noise = 1e-6 * Math.sqrt(2 * mass * floor);
    const momentum = over('momentum'), spin = over('spin');
    add('plots', {title: 'Linear momentum |P|', unit: 'kg m/s', series: momentum, floor: noise,
                  limit: limitOf(momentum)});
    add('plots', {title: 'Angular momentum |L|', unit: 'kg m²/s', note: 'about the centre of mass', series: spin,
         floor: noise * bounds.radius, limit: limitOf(spin)});
    for (const [key, title, note] of [['distance', 'Distance to the reference', 'in units of the body\u2019s size'],
                                      ['slowDistance', 'Slow distance to the reference',
                                       'both low-passed over five frames'],
                                      ['roughness', 'Roughness', 'in units of the body\u2019s size'],
                                      ['constraintError', 'Constraint error', '']]) {
      const series = over(key);
      if (series.length) add('plots', {title, unit: '', note, series, limit: limitOf(series, 10)});
    }
    const iterations = over('iterations', 1), cost = over('milliseconds', 1);
    add('plots', {title: 'Iterations per frame', unit: '', series: iterations, limit: usual(iterations)});
    add('plots', {title: 'Computing time per frame', unit: 'ms', series: cost, limit: usual(cost)});
  }

  // ---- start

  byId('title').textContent = data.title;
  byId('description').textContent = data.description;
  buildViews();
  buildControls();
  buildSummary();
  buildPlots();
  const first = data.runs[0];
  const thinned = data.runs.some(r => r.frames.length && r.frames.length - 1 < r.frames[r.frames.length - 1].frame);
  byId('footer').textContent =
      `Verve ${data.version} · ${first.vertices} vertices, ${first.elements} elements · ` +
      `step ${formatNumber(first.step * 1000)} ms` +
      (thinned ? ' · playback thinned out to keep this page small' : '');

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const plot of plots) plot.draw();
    for (const {viewer} of views) {
      if (!viewer) continue;
      viewer.theme = viewTheme();
      viewer.requestDraw();
    }
  });

  function readAddress(initial) {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has('follow')) setFollow(wanted.get('follow') !== '0');
    if (wanted.has('wire')) setWireframe(wanted.get('wire') !== '0');
    if (wanted.has('cage') && caged) setCage(wanted.get('cage') !== '0');
    for (const key of ['yaw', 'pitch'])
      if (finite(parseFloat(wanted.get(key)))) {
        camera.home[key] = parseFloat(wanted.get(key)) * Math.PI / 180;
        frameCamera();
      }
    const frame = parseInt(wanted.get('frame'), 10);
    if (Number.isFinite(frame)) {
      play(false);
      goTo(verve.nearestSample(ticks.map(t => t.frame), frame));
    } else if (initial) {
      goTo(0);
      play(!matchMedia('(prefers-reduced-motion: reduce)').matches);
    }
  }
  press(byId('follow'), follow);
  addEventListener('hashchange', () => readAddress(false));
  readAddress(true);
})(globalThis.verve);
