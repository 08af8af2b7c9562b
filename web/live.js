// The live page: one backend, one to four views of it, and the panel. globalThis.verve.live is for scripts and tests.
'use strict';

(function (verve) {
  const byId = id => document.getElementById(id);
  const {element} = verve;

  const live = verve.live = {
    scene: null, state: null, frame: null, metrics: null, frames: 0, body: 0,
    tool: 'hand', views: [], holding: new Set(), pointers: new Set(), arrows: [], duel: true, pictures: 0,
    seen: {energy: 0, lowest: 0, momentum: 0, spin: 0}, rounding: {},
    camera: new verve.Camera(), follow: true, wireframe: false, strain: false,
    send(message) {
      if (UNDOABLE.has(message.type)) byId('undo').disabled = false;
      backend.send(message);
    },
    redraw: () => want(),
    showArrow(lane, hit, direction, speed) {
      live.arrows.push({vertex: hit.vertex, way: direction.map(d => d * speed * 0.6), until: performance.now() + 500});
      want();
    },
    hit
  };
  const curves = live.curves = new verve.Curves(byId('curves'));
  let panel, showMethods = () => {}, scenes = [], source = null, origins = [], ground = null;

  const UNDOABLE = new Set(['push', 'spin', 'grab', 'pin', 'dial', 'lock', 'calm', 'reset']);
  const FIRST = 'bear', reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  /** What a method is called on a view. */
  const METHOD_NAMES = {cpd: 'CPD', cpd_bdf2: 'CPD on BDF2', cpd_euler: 'CPD on backward Euler', pd: 'PD, the usual method'};
  const methodName = name => METHOD_NAMES[name] || name;

  // ---- words for the person

  /** `offers`: what helps, as {label, message}; of one lane only the last one is shown. */
  function notice(text, kind = 'error', offers = [], lane = null) {
    if (lane !== null) for (const old of document.querySelectorAll(`.notice[data-lane="${lane}"]`)) old.remove();
    const box = element('div', `notice ${kind}`, byId('notices'));
    if (lane !== null) box.dataset.lane = lane;
    const said = element('div', 'said', box);
    element('p', '', said).textContent = text;
    const buttons = offers.length ? element('div', 'buttons', said) : null;
    for (const {label, message} of offers) {
      const button = element('button', 'small', buttons);
      button.textContent = label;
      button.addEventListener('click', () => {
        live.send(message);
        box.remove();
      });
    }
    const close = element('button', 'icon', box);
    close.textContent = '✕';
    close.setAttribute('aria-label', 'Dismiss');
    close.addEventListener('click', () => box.remove());
    if (kind !== 'error') setTimeout(() => box.remove(), offers.length ? 15000 : 6000);
    while (byId('notices').children.length > 3) byId('notices').firstChild.remove();
  }

  const press = (button, on) => button.setAttribute('aria-pressed', String(on));

  // ---- what comes from the backend

  const bytes = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const uint32 = base64 => new Uint32Array(bytes(base64).buffer);
  const float32 = base64 => new Float32Array(bytes(base64).buffer);

  const answers = {
    list(message) {
      scenes = message.scenes;
      verve.buildScenes(byId('scene-list'), scenes, name => {
        byId('scenes').close();
        open({scene: name});
      });
      showMethods = verve.buildCompare(byId('compare'), message.methods,
                                       (names, restart) => live.send({type: 'methods', names, restart}));
      if (live.state) showMethods(live.state.lanes);
      // an address names its scene, a server may have been given one
      if (!source && !message.loaded && !location.hash) open({scene: FIRST});
      byId('footer').textContent = `Verve ${message.version} · ${backend.name}`;
    },
    scene(message) {
      const same = live.scene && live.scene.name === message.name && live.scene.vertices === message.vertices;
      for (const body of message.bodies) {
        Object.assign(body, {rest: float32(body.rest), triangles: uint32(body.triangles), edges: uint32(body.edges)});
        if (!body.surface) continue;
        const carriers = uint32(body.surface.carriers), weights = float32(body.surface.weights);
        body.surface = {color: body.color, triangles: uint32(body.surface.triangles), edges: new Uint32Array(0),
                        carriers, weights, carried: true,
                        rest: verve.math.carry({carriers, weights}, body.rest,
                                               new Float32Array(carriers.length / 4 * 3))};
      }
      for (const c of message.colliders)
        Object.assign(c, {rest: float32(c.rest), triangles: uint32(c.triangles)});
      live.scene = message;
      live.body = Math.min(live.body, message.bodies.length - 1);
      live.fresh = true;  // the next frame shows all of it anew
      live.keepCamera = same;
      byId('scene-name').textContent = message.name.replaceAll('_', ' ');
      byId('scene-description').textContent = message.description;
      byId('scene-description').title = message.description;
      document.title = `${message.name.replaceAll('_', ' ')} · Verve`;
      byId('body').textContent = '';
      message.bodies.forEach((body, i) => {
        const option = element('option', '', byId('body'));
        option.value = i;
        option.textContent = body.name;
      });
      byId('body').value = live.body;
      byId('body-choice').hidden = message.bodies.length < 2;
      for (const note of message.notes) notice(note, 'note');
      live.seen = {energy: 0, lowest: 0, momentum: 0, spin: 0};
      if (message.bodies.length > 1) live.send({type: 'watch', body: live.body});
    },
    state(message) {
      const lanes = message.lanes.join();
      const changed = !live.state || live.state.lanes.join() !== lanes || live.fresh;
      live.state = message;
      if (changed) {
        curves.start(message.lanes);
        buildViews(message.lanes);
        showMethods(message.lanes);
        const twin = message.lanes.length > 1 && message.lanes.includes('pd');
        byId('twin').setAttribute('aria-pressed', String(twin));
        byId('pitch').hidden = !twin;
      }
      press(byId('floor'), message.floor !== null || message.own_floor);
      byId('floor').disabled = message.own_floor;
      byId('undo').disabled = message.undo === null;
      byId('undo').title = message.undo === null ? 'Nothing to undo (Z)' : `Undo ${message.undo} (Z)`;
      press(byId('calm'), message.calming);
      if (reducedMotion && !live.asked) live.send({type: 'pause', on: true});
      live.asked = true;
      byId('play').textContent = message.paused ? '▶' : '❚❚';
      byId('play').setAttribute('aria-label', message.paused ? 'Go on' : 'Pause');
      if (document.activeElement !== byId('speed')) byId('speed').value = String(message.speed);
      if (panel) panel.refresh();
    },
    elements({lane, body, triangles, edges, surface}) {
      const view = live.views[lane];
      if (!view || !view.viewer) return;
      view.viewer.setElements(body, uint32(triangles), uint32(edges));
      const carried = live.scene.bodies.filter((b, i) => b.surface && i < body).length;
      if (surface) view.viewer.setElements(live.scene.bodies.length + carried, uint32(surface), new Uint32Array(0));
    },
    stopped: message => notice(message.text, 'error', message.offers, message.lane),
    notice: message => notice(message.text, 'warning', message.offers, message.lane),
    error(message) {
      if (message.about !== 'load' || live.scene) return notice(message.text);
      // an address that names no scene leads to all there are
      notice(message.text.split(', expected')[0] + '. Choose one of these.', 'note');
      open({scene: FIRST});
      byId('scenes').showModal();
    },
    saved(message) {
      const {type, ...state} = message;
      if (linking) return linking(state.scene);
      download(`${live.scene.name}.verve`, JSON.stringify({verve: 'state', ...state}), 'application/json');
    }
  };

  const backend = verve.openBackend({
    text: message => (answers[message.type] || (() => {}))(message),
    frame(buffer) {
      if (!live.scene) return backend.drawn();
      const frame = verve.decodeFrame(buffer, live.scene.metrics);
      if (frame.generation !== live.scene.generation) return backend.drawn();  // of a scene that is gone
      if (waiting) backend.drawn();  // that one is passed over
      waiting = frame;
      live.frames += 1;
      curves.add(frame);
      noteExtremes(frame);
      want();
    },
    lost(reason) {
      byId('backend').textContent = 'disconnected';
      byId('backend').classList.add('bad');
      notice(reason);
    }
  });
  let waiting = null, drawing = 0, wished = 0, lastTime = 0;
  // Pictures lie between the frame before the last and the last one: smooth at the display's rate, a frame late.
  let before = null, arrived = 0, between = 0;
  const pace = [];  // [clock, time of the simulation] of the last second
  const want = () => {
    if (!drawing) drawing = requestAnimationFrame(show);
  };

  function noteExtremes({lanes}) {
    const m = live.metrics = lanes[0].metrics, seen = live.seen;
    seen.energy = Math.max(seen.energy, Math.abs(m.total), m.kinetic + m.elastic);
    seen.lowest = Math.min(seen.lowest, m.total);
    seen.momentum = Math.max(seen.momentum, m.momentum);
    seen.spin = Math.max(seen.spin, m.spin);
    const mass = live.scene.bodies.reduce((sum, b) => sum + b.mass, 0), size = Math.max(...live.scene.bodies.map(b => b.size));
    const most = Math.sqrt(2 * mass * seen.energy);
    // less than this is rounding, drawn as the flat zero that it is, and less than that shown as zero too
    curves.floors = {momentum: 1e-4 * most, spin: 1e-4 * size * most};
    live.rounding = {total: 1e-9 * seen.energy, momentum: 1e-9 * most, spin: 1e-9 * size * most};
    if (seen.momentum < 1e-6 * Math.sqrt(seen.energy)) seen.momentum = Math.sqrt(seen.energy) || 1;
    if (seen.spin < 1e-6 * Math.sqrt(seen.energy)) seen.spin = Math.sqrt(seen.energy) || 1;
  }

  // ---- views

  /** A collider as it is drawn, in its own frame: half-spaces behind all else, and floors by the ground. */
  function colliderMesh(spec) {
    const hidden = isFloor(spec);
    return {color: '#9aa3ab', backdrop: Boolean(spec.flat), collider: true, edges: new Uint32Array(0),
            rest: hidden ? new Float32Array(0) : spec.rest, triangles: hidden ? new Uint32Array(0) : spec.triangles};
  }
  /** How far it goes from its own origin. */
  function colliderReach(spec) {
    let reach = 0;
    for (let i = 0; i < spec.rest.length; i += 3) reach = Math.max(reach, Math.hypot(...spec.rest.subarray(i, i + 3)));
    return reach;
  }
  const isFloor = spec => spec.flat && spec.flat[1] > 0.999;

  function turned(rest, [x, y, z, a, b, c, active], from, out, first) {
    const angle = Math.hypot(a, b, c) * Math.PI / 180, axis = angle ? [a, b, c].map(v => v * Math.PI / 180 / angle) : [1, 0, 0];
    const s = Math.sin(angle), k = 1 - Math.cos(angle);
    for (let i = 0; i < rest.length; i += 3) {
      const p = [rest[i], rest[i + 1], rest[i + 2]];
      const cross = [axis[1] * p[2] - axis[2] * p[1], axis[2] * p[0] - axis[0] * p[2], axis[0] * p[1] - axis[1] * p[0]];
      const along = axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
      for (let d = 0; d < 3; ++d) {
        const at = p[d] * (1 - k) + cross[d] * s + axis[d] * along * k;
        out[first + i + d] = active ? at + [x, y, z][d] - from[d] : 1e9;
      }
    }
  }

  function drawn() {
    const {bodies, colliders} = live.scene;
    live.colliders = colliders.map(colliderMesh);
    return [...bodies.map(b => ({...b, cage: Boolean(b.surface)})), ...bodies.filter(b => b.surface).map(b => b.surface),
            ...live.colliders];
  }

  function theme() {
    const dark = document.documentElement.dataset.theme === 'dark' ||
        (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
    return dark ? {grid: [0.62, 0.7, 0.78, 0.34], wire: [0, 0, 0, 0.45], shadow: 0.6, mark: [1, 0.8, 0.25]}
                : {grid: [0.32, 0.38, 0.45, 0.4], wire: [0, 0, 0, 0.38], shadow: 0.3, mark: [0.85, 0.55, 0]};
  }

  function buildViews(lanes) {
    const place = byId('views');
    // canvases are kept: browsers give out few contexts
    while (live.views.length > lanes.length) {
      const view = live.views.pop();
      view.box.remove();
      const lose = view.viewer && view.viewer.gl.getExtension('WEBGL_lose_context');
      if (lose) lose.loseContext();
    }
    place.dataset.count = lanes.length;
    lanes.forEach((label, lane) => {
      let view = live.views[lane];
      if (!view) {
        const box = element('div', 'view', place), canvas = element('canvas', '', box);
        canvas.tabIndex = 0;
        canvas.setAttribute('role', 'application');
        const overlay = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
        overlay.classList.add('overlay');
        overlay.setAttribute('aria-hidden', 'true');
        box.append(overlay);
        const label = element('div', 'view-label', box), name = element('span', 'view-method', label);
        const badge = element('span', 'badge', label), kept = element('b', '', badge);
        element('span', '', badge).textContent = 'energy kept';
        badge.title = 'Share of the energy since the last touch';
        view = {box, canvas, overlay, label, name, badge, kept, state: element('div', 'view-state', box)};
        try {
          view.viewer = new verve.Viewer(canvas, live.camera);
          view.hands = verve.attachHands(live, lane, canvas, view.viewer);
          verve.attachControls(canvas, live.camera, view.hands.claim);
        } catch (error) {
          canvas.remove();
          element('p', 'view-message', box).textContent =
              `${error.message}. The view needs WebGL 2; curves and dials work without it.`;
        }
        live.views.push(view);
      }
      view.canvas.setAttribute('aria-label', `3-D view of ${live.scene.name} by ${label}. Arrow keys orbit, ` +
                                             'plus and minus zoom, Enter applies the tool.');
      view.name.textContent = '';
      element('i', '', view.name).style.setProperty('--color', `var(--run-${lane})`);
      view.name.append(methodName(label));
      if (!view.viewer) return;
      view.viewer.setMeshes(drawn());
      view.viewer.theme = theme();
      setLooks(view.viewer);
    });
    live.fresh = true;
    before = null;
    if (live.frame && live.frame.generation === live.scene.generation) waiting = waiting || live.frame;
    want();
  }

  function setLooks(viewer) {
    viewer.wireframe = live.wireframe;
    viewer.strain = live.strain ? 0.3 : 0;
  }

  /** Of all bodies, whichever is watched: none shall leave the view because another moves. */
  function meanOf(positions) {
    const sum = [0, 0, 0];
    for (let i = 0; i < positions.length; ++i) sum[i % 3] += positions[i];
    return sum.map(s => 3 * s / positions.length);
  }

  /** First sight of a scene: where the camera stands, whether it follows, where the ground is. */
  function frameScene(frame) {
    const positions = frame.lanes[0].positions, low = [Infinity, Infinity, Infinity], high = low.map(() => -Infinity);
    for (let i = 0; i < positions.length; ++i) {
      low[i % 3] = Math.min(low[i % 3], positions[i]);
      high[i % 3] = Math.max(high[i % 3], positions[i]);
    }
    const size = Math.max(...live.scene.bodies.map(b => b.size)), diagonal = Math.hypot(...low.map((l, i) => high[i] - l));
    const floors = live.scene.colliders.map((c, i) => isFloor(c) ? frame.colliders[i][1] : NaN).filter(Number.isFinite);
    frame.colliders.forEach((at, i) => {  // what bodies may fall on is part of the view
      if (live.scene.colliders[i].flat) return;
      const c = live.scene.colliders[i], reach = colliderReach(c);
      for (let axis = 0; axis < 3; ++axis) {
        low[axis] = Math.min(low[axis], at[axis] - reach);
        high[axis] = Math.max(high[axis], at[axis] + reach);
      }
    });
    // one far below need not be all in view
    if (floors.length) low[1] = Math.min(low[1], Math.max(Math.max(...floors), low[1] - 0.1 * diagonal));
    ground = floors.length ? Math.max(...floors) : null;  // a floor that is drawn is one
    const margin = live.scene.colliders.length ? 0.15 : 0.25, middle = low.map((l, i) => (l + high[i]) / 2);
    const half = low.map((l, i) => (high[i] - l) / 2 + margin * size);
    const aspect = Math.min(...live.views.map(v => v.box.clientWidth / Math.max(1, v.box.clientHeight)));
    // above and below are buttons
    const room = Math.min(...live.views.map(v => Math.max(0.6, 1 - 110 / Math.max(1, v.box.clientHeight))));
    const {camera} = live, {yaw, pitch, distance, target} = camera, was = camera.home.distance;
    if (live.keepCamera && live.half && origins.length) {  // views of another shape: as near as before in terms of what fits in
      camera.frame(live.half, [0, 0, 0], aspect, room);
      Object.assign(camera, {yaw, pitch, target, distance: distance * camera.home.distance / was});
      origins = frame.lanes.map(() => origins[0]);
    } else {
      live.follow = !live.scene.colliders.some(c => c.name !== 'floor');
      press(byId('follow'), live.follow);
      origins = frame.lanes.map(() => middle);
      live.half = half;
      const mean = meanOf(positions);
      live.aside = middle.map((m, i) => m - mean[i]);
      camera.frame(half, [0, 0, 0], Number.isFinite(aspect) ? aspect : 1.5, room);
    }
    live.keepCamera = false;
    lastTime = frame.time;
    for (const {viewer} of live.views) {
      if (!viewer) continue;
      viewer.ground = ground;
      viewer.gridSpacing = verve.math.niceStep(live.camera.distance / 16);
    }
  }

  /** A new frame becomes the last one. */
  function take(frame) {
    const now = performance.now(), last = live.frame;
    // only what follows on the last one is reached by moving there
    const follows = last && !live.fresh && last.generation === frame.generation && last.lanes.length === frame.lanes.length &&
        frame.number > last.number && frame.number - last.number <= 3 && !live.state.paused;
    before = follows ? last : null;
    if (follows) between = Math.min(700, 0.7 * (between || now - arrived) + 0.3 * (now - arrived));
    arrived = now;
    live.frame = frame;
    if (live.fresh) {
      live.fresh = false;
      frameScene(frame);
    }
    pace.push([now, frame.time]);
    while (pace.length > 2 && now - pace[0][0] > 1500) pace.shift();
    if (pace.length > 1 && frame.time < pace.at(-2)[1]) pace.splice(0, pace.length - 1);
  }

  function show() {
    drawing = 0;
    const fresh = waiting;
    waiting = null;
    if (fresh) {
      backend.drawn();
      if (fresh.generation === live.scene.generation) take(fresh);  // otherwise the scene became another one meanwhile
    }
    const frame = live.frame;
    if (!frame || !live.scene || frame.generation !== live.scene.generation) return;
    const share = before && between > 0 ? Math.min(1, (performance.now() - arrived) / between) : 1;
    picture(frame, share);
    if (share < 1 || live.arrows.length) want();
    const now = performance.now();
    if (!fresh || now < wished) return;
    wished = now + 120;
    curves.draw();
    panel.refresh();
    const m = frame.lanes[0].metrics, [from, to] = [pace[0], pace.at(-1)];
    const rate = to[0] > from[0] + 400 ? 1000 * (to[1] - from[1]) / (to[0] - from[0]) : live.state.speed;
    const slow = !live.state.paused && rate < 0.9 * live.state.speed;
    byId('backend').textContent = `${backend.name} · ${m.ms < 10 ? m.ms.toFixed(1) : Math.round(m.ms)} ms` +
        (slow ? ` · ${rate.toPrecision(1)}× real time` : '');
  }

  const mixed = (a, b, share) => {
    if (!a || share >= 1) return b;
    const out = new Float32Array(b.length);
    for (let i = 0; i < out.length; ++i) out[i] = a[i] + share * (b[i] - a[i]);
    return out;
  };

  /** What lies that share of the way from the frame before to this one. */
  function picture(frame, share) {
    const start = share < 1 ? before : null, time = start ? start.time + share * (frame.time - start.time) : frame.time;
    const shown = frame.lanes.map(({positions}, lane) => mixed(start && start.lanes[lane].positions, positions, share));
    const colliders = frame.colliders.map((at, i) =>
        start ? at.map((a, k) => k < 6 ? start.colliders[i][k] + share * (a - start.colliders[i][k]) : a) : at);
    live.pictures += 1;
    // while a hand holds something the picture stands still under it
    if (live.follow && !live.holding.size) {
      const part = 1 - Math.exp(-5 * Math.max(0, time - lastTime));  // of the way, smoothly
      shown.forEach((positions, lane) => {
        const to = meanOf(positions).map((x, i) => x + live.aside[i]), from = origins[lane];
        const jump = Math.hypot(...to.map((t, i) => t - from[i])) > 4 * live.camera.distance;
        if (to.every(Number.isFinite)) origins[lane] = jump ? to : from.map((o, i) => o + part * (to[i] - o));
      });
    }
    lastTime = time;
    const {bodies} = live.scene, counts = live.views[0] && live.views[0].viewer && live.views[0].viewer.vertexCount;
    frame.lanes.forEach(({metrics}, lane) => {
      const view = live.views[lane], origin = origins[lane], positions = shown[lane];
      if (!view) return;
      badge(view, metrics);
      if (!view.viewer) return;
      const out = new Float32Array(3 * counts);
      for (let i = 0; i < positions.length; ++i) out[i] = positions[i] - origin[i % 3];
      let first = positions.length / 3;
      for (const body of bodies) {
        if (!body.surface) continue;
        verve.math.carry(body.surface, out.subarray(3 * body.first, 3 * (body.first + body.vertices)), out, first);
        first += body.surface.rest.length / 3;
      }
      colliders.forEach((at, i) => {
        turned(live.colliders[i].rest, at, origin, out, 3 * first);
        first += live.colliders[i].rest.length / 3;
      });
      view.viewer.marks = [...live.state.pins].map(v => [0, 1, 2].map(k => out[3 * v + k]));
      view.viewer.setPositions(out, origin);
      view.state.textContent = metrics.failed ? 'stopped' : '';
      drawHands(view, out, origin);
    });
    byId('clock').textContent = `${time.toFixed(2)} s`;
  }

  /** Energy kept since the last touch, in plain numbers. */
  function badge(view, metrics) {
    const kept = Math.round(100 * metrics.kept), text = kept > 999 ? '> 999 %' : `${kept} %`;
    if (view.kept.textContent !== text) view.kept.textContent = text;
    view.badge.dataset.state = kept >= 95 && kept <= 105 ? 'good' : kept > 105 || kept < 50 ? 'bad' : 'fair';
  }

  /** Springs of hands, pushes and spins that are being drawn or were just made. */
  function drawHands(view, positions, origin) {
    const now = performance.now(), parts = [];
    const at = vertex => view.viewer.project([0, 1, 2].map(k => positions[3 * vertex + k]));
    const arrow = (a, b, fade) => {
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
      if (length < 4) return;
      const u = [(b[0] - a[0]) / length, (b[1] - a[1]) / length], back = [b[0] - 11 * u[0], b[1] - 11 * u[1]];
      parts.push(`<path class="arrow" opacity="${fade}" d="M${a} L${back}"/><path class="tip" opacity="${fade}" ` +
                 `d="M${b} L${back[0] - 6 * u[1]},${back[1] + 6 * u[0]} L${back[0] + 6 * u[1]},${back[1] - 6 * u[0]}Z"/>`);
    };
    for (const pointer of live.pointers) {
      const from = at(pointer.hit.vertex);
      if (!from) continue;
      if (pointer.tool === 'hand') {
        const goal = pointer.hit.position.map((p, i) => p + (pointer.way ? pointer.way[i] : 0) - origins[pointer.lane][i]);
        const to = view.viewer.project(goal);
        if (to) parts.push(`<path class="spring" d="M${from} L${to}"/><circle class="held" cx="${from[0]}" cy="${from[1]}" r="6"/>` +
                           `<circle class="finger" cx="${to[0]}" cy="${to[1]}" r="5"/>`);
      } else if (pointer.way) {
        const to = view.viewer.project([0, 1, 2].map(k => positions[3 * pointer.hit.vertex + k] + pointer.way[k]));
        if (to) arrow(from, to, 1);
      }
    }
    live.arrows = live.arrows.filter(a => a.until > now);
    for (const a of live.arrows) {
      const end = [0, 1, 2].map(k => positions[3 * a.vertex + k]), begin = end.map((e, k) => e - a.way[k]);
      const p = view.viewer.project(begin), q = view.viewer.project(end);
      if (p && q) arrow(Math.hypot(q[0] - p[0], q[1] - p[1]) < 14 ? [q[0] - 22, q[1] - 22] : p, q, (a.until - now) / 500);
    }
    const drawn = parts.join('');
    if (view.drawn !== drawn) view.overlay.innerHTML = view.drawn = drawn;
  }

  // curves rest while nothing moves, but a value that was typed shall be seen
  setInterval(() => panel && panel.refresh(), 500);

  /** What the viewer found, as the session counts: a vertex of a body and where it is in the world. */
  function hit(found) {
    if (!found || !live.frame) return null;
    const {bodies} = live.scene, positions = live.frame.lanes[0].positions;
    let body = found.mesh, vertex = found.vertex;
    if (found.mesh >= bodies.length) {  // a carried surface: the vertex of its carrier with most weight
      body = bodies.findIndex(b => b.surface && bodies.filter(o => o.surface).indexOf(b) === found.mesh - bodies.length);
      if (body < 0) return null;
      const {carriers, weights} = bodies[body].surface;
      let best = 0;
      for (let k = 1; k < 4; ++k) if (weights[4 * vertex + k] > weights[4 * vertex + best]) best = k;
      vertex = carriers[4 * vertex + best];
    }
    vertex += bodies[body].first;
    return {body, vertex, distance: found.distance, position: [0, 1, 2].map(k => positions[3 * vertex + k])};
  }

  // ---- scenes, files, links

  function open(message) {
    source = message;
    live.send({type: 'load', duel: live.duel, ...message});
    const link = new URLSearchParams();
    if (message.scene) link.set('scene', message.scene);
    history.replaceState(null, '', message.scene ? `#${link}` : location.pathname + location.search);
  }

  async function openFile(file) {
    if (file.size > 60e6) return notice(`${file.name} has ${Math.round(file.size / 1e6)} MB, expected at most 60 MB.`);
    const text = await file.text();
    if (/\.(mesh|obj)$/i.test(file.name)) return open({mesh: text, name: file.name});
    if (/\.(json|verve)$/i.test(file.name)) {
      let state = null;
      try {
        state = JSON.parse(text);
      } catch (_) {  // the session says what is wrong, with line and column
      }
      if (state && state.verve === 'state') {
        const {scene, motion, time, frame} = state;
        return open({text: scene, name: file.name, motion, time, frame});
      }
      return open({text, name: file.name});
    }
    notice(`${file.name}: expected a scene (.json), a mesh (.mesh, .obj) or a saved state (.verve).`);
  }

  async function packed(text) {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const data = new Uint8Array(await new Response(stream).arrayBuffer());
    let out = '';
    for (const b of data) out += String.fromCharCode(b);
    return btoa(out).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }
  async function unpacked(text) {
    const data = bytes(text.replaceAll('-', '+').replaceAll('_', '/'));
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Response(stream).text();
  }

  const LONGEST_LINK = 1.5e6;  // Chromium cuts addresses at 2 MB
  let linking = null;
  /** The scene around a mesh that came from a file, as the session writes it. */
  async function writtenScene() {
    live.send({type: 'save'});
    const text = await new Promise(done => { linking = done; });
    linking = null;
    return text;
  }

  async function copyLink() {
    const link = new URLSearchParams();
    if (source && (source.text || source.mesh)) {
      const held = await packed(source.text || await writtenScene());
      if (held.length > LONGEST_LINK)
        return notice(`This scene takes ${Math.round(held.length / 1000)} kB, expected at most ${LONGEST_LINK / 1000} ` +
                      'for a link; save its state and pass that on as a file.');
      link.set('s', held);
    } else {
      link.set('scene', source && source.scene ? source.scene : live.scene.name);
    }
    link.set('methods', live.state.lanes.join());
    const address = `${location.origin}${location.pathname}#${link}`;
    history.replaceState(null, '', address);
    try {
      await navigator.clipboard.writeText(address);
      notice('The link is on the clipboard.', 'note');
    } catch (_) {
      notice('The link is in the address bar.', 'note');
    }
  }

  async function openAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const methods = wanted.has('methods') ? wanted.get('methods').split(',') : undefined;
    if (wanted.has('s')) {
      try {
        const text = await unpacked(wanted.get('s'));
        source = {text};
        live.send({type: 'load', duel: true, text, name: 'link', methods});
      } catch (_) {
        notice('The scene in this link cannot be read: it was cut off or changed.');
        open({scene: FIRST});
      }
    } else if (wanted.has('scene')) {
      source = {scene: wanted.get('scene')};
      live.send({type: 'load', duel: true, scene: wanted.get('scene'), methods});
    } else {
      return false;
    }
    return true;
  }

  function download(name, content, type) {
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  }

  function savePicture() {
    const view = live.views[0];
    if (!view || !view.viewer) return notice('There is no picture without WebGL 2.');
    const {canvas, viewer} = view;
    viewer.draw();  // what was drawn before is gone by now
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const c = copy.getContext('2d'), style = getComputedStyle(document.documentElement);
    const sky = c.createLinearGradient(0, 0, 0, copy.height);
    sky.addColorStop(0, style.getPropertyValue('--sky-top').trim());
    sky.addColorStop(1, style.getPropertyValue('--sky-bottom').trim());
    c.fillStyle = sky;
    c.fillRect(0, 0, copy.width, copy.height);
    c.drawImage(canvas, 0, 0);
    copy.toBlob(blob => download(`${live.scene.name}.png`, blob));
  }

  // ---- controls


  function setTool(tool) {
    live.tool = tool;
    for (const button of document.querySelectorAll('[data-tool]')) {
      button.setAttribute('aria-checked', String(button.dataset.tool === tool));
      button.tabIndex = button.dataset.tool === tool ? 0 : -1;
    }
  }
  function setLook(key, button, on) {
    live[key] = on;
    press(byId(button), on);
    for (const {viewer} of live.views) {
      if (!viewer) continue;
      setLooks(viewer);
      if (viewer.positions) viewer.setPositions(viewer.positions, viewer.origin);
    }
  }
  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    try {
      localStorage.setItem('verve-theme', name);
    } catch (_) {  // a page without storage asks the system each time
    }
    refreshTheme();
  }
  function refreshTheme() {
    for (const {viewer} of live.views) {
      if (!viewer) continue;
      viewer.theme = theme();
      viewer.requestDraw();
    }
    for (const plot of curves.plots) plot.draw();
  }
  const actions = {
    play: () => live.send({type: 'pause', on: !live.state.paused}),
    step: () => live.send({type: 'step'}),
    reset: () => live.send({type: 'reset'}),
    strain: () => setLook('strain', 'strain', !live.strain),
    wire: () => setLook('wireframe', 'wire', !live.wireframe),
    follow: () => {
      live.follow = !live.follow;
      press(byId('follow'), live.follow);
    },
    home: () => live.camera.reset(),
    floor: () => live.send({type: 'floor', on: live.state.floor === null}),
    calm: () => live.send({type: 'calm'}),
    undo: () => live.send({type: 'undo'}),
    twin: () => {
      const on = byId('twin').getAttribute('aria-pressed') === 'true', own = live.state.lanes[0];
      if (!on && own === 'pd') return notice('The scene runs by plain PD itself.', 'note');
      live.duel = !on;
      live.send({type: 'methods', names: on ? [own] : [own, 'pd']});
    },
    theme: () => setTheme(theme().shadow > 0.5 ? 'light' : 'dark'),
    'scenes-button': () => byId('scenes').showModal(),
    'help-button': () => byId('help').showModal(),
    open: () => byId('file').click(),
    link: copyLink,
    'save-picture': savePicture,
    'save-metrics': () => download(`${live.scene.name}.csv`, curves.table(live.scene.metrics), 'text/csv'),
    'save-state': () => live.send({type: 'save'})
  };
  const needScene = new Set(['play', 'step', 'reset', 'floor', 'calm', 'undo', 'twin', 'link', 'save-picture', 'save-metrics', 'save-state']);
  const act = name => {
    if (live.state || !needScene.has(name)) actions[name]();
  };
  const keys = {
    ' ': 'play', '.': 'step', r: 'reset', c: 'strain', w: 'wire', f: 'follow', v: 'home', t: 'twin', d: 'theme',
    k: 'calm', z: 'undo', l: 'floor', m: 'scenes-button', '?': 'help-button'
  };
  const toolKeys = {g: 'hand', p: 'push', s: 'spin', n: 'pin'}, speeds = {1: 1, 2: 0.5, 4: 0.25};

  function buildControls() {
    for (const name of Object.keys(actions)) byId(name).addEventListener('click', () => act(name));
    byId('file').addEventListener('change', e => {
      if (e.target.files[0]) openFile(e.target.files[0]);
      e.target.value = '';
    });
    byId('speed').addEventListener('change', e => live.send({type: 'speed', value: Number(e.target.value)}));
    byId('body').addEventListener('change', e => {
      live.body = Number(e.target.value);
      live.seen = {energy: 0, lowest: 0, momentum: 0, spin: 0};
      curves.start(live.state.lanes);
      live.send({type: 'watch', body: live.body});
    });
    const tools = [...document.querySelectorAll('[data-tool]')];
    tools.forEach((button, i) => {
      button.addEventListener('click', () => setTool(button.dataset.tool));
      button.addEventListener('keydown', e => {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
        if (!step) return;
        e.preventDefault();
        e.stopPropagation();
        const next = tools[(i + step + tools.length) % tools.length];
        setTool(next.dataset.tool);
        next.focus();
      });
    });
    addEventListener('keydown', e => {
      if (document.querySelector('dialog[open]')) return;
      const target = e.target, is = selector => target.matches && target.matches(selector);
      if (is('input:not([type=range]), textarea')) return;  // typing
      const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
      if ((e.ctrlKey || e.metaKey) && key === 'z') e.preventDefault();
      else if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (is('input, select') && /^(Arrow|Page|Home|End|Enter)/.test(key)) return;  // those turn it
      // space, full stop and R are the same wherever the focus is; Enter presses a button
      if (is('button, a') && key === 'Enter') return;
      const orbit = {ArrowLeft: [-14, 0], ArrowRight: [14, 0], ArrowUp: [0, -14], ArrowDown: [0, 14]}[key];
      if (keys[key]) act(keys[key]);
      else if (toolKeys[key]) setTool(toolKeys[key]);
      else if (speeds[key]) live.state && live.send({type: 'speed', value: speeds[key]});
      else if (orbit) live.camera.orbit(...orbit);
      else if (key === '+' || key === '=') live.camera.zoom(0.9);
      else if (key === '-') live.camera.zoom(1 / 0.9);
      else if (key === 'Enter') {
        const view = live.views.find(v => v.canvas === target);
        if (view && view.hands) view.hands.apply();
      } else return;

      e.preventDefault();
    });
    addEventListener('keyup', e => {  // a button is pressed by space when the key comes up
      if (e.key === ' ' && e.target.matches && e.target.matches('button') && !document.querySelector('dialog[open]')) e.preventDefault();
    });
    addEventListener('dragover', e => {
      e.preventDefault();
      byId('drop').hidden = false;
    });
    addEventListener('dragleave', e => {
      if (!e.relatedTarget) byId('drop').hidden = true;
    });
    addEventListener('drop', e => {
      e.preventDefault();
      byId('drop').hidden = true;
      if (e.dataTransfer.files[0]) openFile(e.dataTransfer.files[0]);
    });
    addEventListener('hashchange', openAddress);
    // what nobody sees need not be computed
    let rests = false;
    document.addEventListener('visibilitychange', () => {
      if (!live.state || (document.hidden ? live.state.paused : !rests)) return;
      rests = document.hidden;
      live.send({type: 'pause', on: rests});
    });
    for (const dialog of document.querySelectorAll('dialog'))
      dialog.addEventListener('click', e => {
        if (e.target === dialog) dialog.close();
      });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refreshTheme);
    live.camera.listeners.add(() => want());  // hands are drawn over the picture
    new ResizeObserver(() => {
      for (const {viewer} of live.views) if (viewer) viewer.requestDraw();
    }).observe(byId('views'));
  }

  Object.assign(live, {notice, openFile, curves, backend});
  try {
    const stored = localStorage.getItem('verve-theme');
    if (stored) document.documentElement.dataset.theme = stored;
  } catch (_) {  // as above
  }
  verve.buildHelp(byId('help-body'));
  buildControls();
  panel = live.panel = new verve.Panel(live, byId);
  setTool('hand');
  byId('backend').textContent = `${backend.name} · starting`;
  live.send({type: 'list'});
  openAddress();
})(globalThis.verve);
