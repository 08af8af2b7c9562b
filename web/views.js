// The views: canvases, pictures between frames, the camera's first sight of a scene, and what hands do drawn over it.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve, byId = id => document.getElementById(id);
  const press = (button, on) => button.setAttribute('aria-pressed', String(on));
  /** What a method is called on a view. */
  const METHOD_NAMES = {cpd: 'CPD', cpd_bdf2: 'CPD on BDF2', cpd_euler: 'CPD on backward Euler', pd: 'PD, the usual method',
                        pbd: 'PBD', xpbd: 'XPBD', small_steps: 'XPBD, small steps', newton: 'Newton on backward Euler',
                        explicit_euler: 'Explicit Euler', symplectic_euler: 'Symplectic Euler'};
  const methodName = name => METHOD_NAMES[name] || name;

  /** How a material looks: roughness, translucency, metal, threads across a sheet; veins along a solid and their depth. */
  const FINISHES = {
    jelly: [0.08, 0.9, 0, 0, 5, 0.06], gummy: [0.15, 0.7, 0, 0, 4, 0.05], fat: [0.3, 0.6, 0, 0, 14, 0.12],
    muscle: [0.3, 0.4, 0, 0, 22, 0.16], rubber: [0.6, 0, 0, 0, 10, 0.1], foam: [0.95, 0.25, 0, 0, 60, 0.12], sponge: [0.95, 0.2, 0, 0, 34, 0.3],
    silk: [0.25, 0.3, 0, 90], cotton: [0.9, 0.2, 0, 60], denim: [0.95, 0, 0, 45],
    leather: [0.45, 0, 0, 0], paper: [0.9, 0.3, 0, 0], steel_sheet: [0.2, 0, 1, 0]
  };
  const finishOf = ({material, dimension}) =>
      FINISHES[material] || (dimension === 2 ? [0.8, 0.15, 0, 60] : [0.42, 0.2, 0, 0, 7, 0.07]);

  function makeViews(live) {
    let origins = [], ground = null;
    let waiting = null, drawing = 0, wished = 0, lastTime = 0;
    // Pictures lie between the frame before the last and the last one: smooth at the display's rate, a frame late.
    let before = null, arrived = 0, between = 0;
    const pace = [];  // [clock, time of the simulation] of the last second
    const want = () => {
      if (!drawing) drawing = requestAnimationFrame(show);
    };

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

    /** `held`: with what anchors hang on, which takes a frame to know where the floor is. */
    function drawn(held) {
      const {bodies, colliders} = live.scene;
      live.colliders = colliders.map(colliderMesh);
      for (const b of bodies) b.finish = finishOf(b);
      live.supports = (held ? live.scene.supports : []).map(support => ({...verve.supportMesh({
        ...support, ground, center: restMiddle(bodies[support.body]), size: bodies[support.body].size,
        weight: live.state.gravity.some(Boolean)}), anchor: support.anchor})).filter(mesh => mesh.rest);
      return [...bodies.map(b => ({...b, cage: Boolean(b.surface)})),
              ...bodies.filter(b => b.surface).map(b => ({...b.surface, finish: b.finish})),
              ...live.colliders, ...live.supports];
    }

    function theme() {
      const dark = document.documentElement.dataset.theme === 'dark' ||
          (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
      return dark ? {dark, grid: [0.62, 0.7, 0.78, 0.34], wire: [0, 0, 0, 0.45], shadow: 0.6, mark: [1, 0.8, 0.25]}
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
          const badge = element('span', 'badge', label), kept = element('b', '', badge), ofWhat = element('span', '', badge);
          const gauge = element('span', 'gauge', label);  // H as it is, in terms of what it was or should be
          gauge.setAttribute('aria-hidden', 'true');
          view = {box, canvas, overlay, label, name, badge, kept, ofWhat, gauge, state: element('div', 'view-state', box)};
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
        view.viewer.setMeshes(drawn(false));
        view.torn = new Map();
        view.viewer.theme = theme();
        setLooks(view.viewer);
      });
      live.fresh = true;
      before = null;
      if (live.frame && live.frame.generation === live.scene.generation) waiting = waiting || live.frame;
      want();
    }

    /** What there is to draw has become more. */
    function addSupports() {
      if (!live.scene.supports.length) return;
      for (const view of live.views) {
        if (!view.viewer) continue;
        view.viewer.setMeshes(drawn(true));
        for (const [mesh, elements] of view.torn) view.viewer.setElements(mesh, ...elements);
      }
      if (live.frame && !live.fresh) picture(live.frame, 1);
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

    const restMiddle = ({rest}) => [0, 1, 2].map(k => {
      let sum = 0;
      for (let i = k; i < rest.length; i += 3) sum += rest[i];
      return 3 * sum / rest.length;
    });

    /** Where the highest floor is, null: there is none. */
    function groundOf(frame) {
      const floors = live.scene.colliders.map((c, i) => isFloor(c) ? frame.colliders[i][1] : NaN).filter(Number.isFinite);
      return floors.length ? Math.max(...floors) : null;
    }

    /** First sight of a scene: where the camera stands, whether it follows, where the ground is. */
    function frameScene(frame) {
      const positions = frame.lanes[0].positions, low = [Infinity, Infinity, Infinity], high = low.map(() => -Infinity);
      for (let i = 0; i < positions.length; ++i) {
        low[i % 3] = Math.min(low[i % 3], positions[i]);
        high[i % 3] = Math.max(high[i % 3], positions[i]);
      }
      const size = Math.max(...live.scene.bodies.map(b => b.size)), diagonal = Math.hypot(...low.map((l, i) => high[i] - l));
      ground = groundOf(frame);  // a floor that is drawn is one
      frame.colliders.forEach((at, i) => {  // what bodies may fall on is part of the view
        if (live.scene.colliders[i].flat) return;
        const c = live.scene.colliders[i], reach = colliderReach(c);
        for (let axis = 0; axis < 3; ++axis) {
          low[axis] = Math.min(low[axis], at[axis] - reach);
          high[axis] = Math.max(high[axis], at[axis] + reach);
        }
      });
      // one far below need not be all in view, unless things fall onto it
      if (ground !== null) {
        const falls = live.state.gravity.some(Boolean);
        low[1] = Math.min(low[1], falls ? ground : Math.max(ground, low[1] - 0.1 * diagonal));
      }
      // on a small screen, where fewer buttons lie over the views, bodies fill more of them
      const small = Math.min(...live.views.map(v => Math.min(v.box.clientWidth, v.box.clientHeight))) < 440;
      const margin = small ? 0.03 : live.scene.colliders.length ? 0.08 : 0.14, middle = low.map((l, i) => (l + high[i]) / 2);
      const half = low.map((l, i) => (high[i] - l) / 2 + margin * size);
      const aspect = Math.min(...live.views.map(v => v.box.clientWidth / Math.max(1, v.box.clientHeight)));
      const room = Math.min(...live.views.map(roomOf));
      const {camera} = live, {yaw, pitch, distance, target} = camera, was = camera.home.distance;
      if (live.keepCamera && live.half && origins.length) {  // views of another shape: as near as before in terms of what fits in
        camera.frame(live.half, [0, 0, 0], aspect, room);
        Object.assign(camera, {yaw, pitch, target, distance: distance * camera.home.distance / was});
        origins = frame.lanes.map(() => origins[0]);
      } else {
        // bodies that fall onto something are seen falling; in free flight, or falling for ever, they are followed
        live.follow = !live.scene.colliders.some(c => c.name !== 'floor') && !(live.state.gravity.some(Boolean) && ground !== null);
        press(byId('follow'), live.follow);
        origins = frame.lanes.map(() => middle);
        live.half = half;
        const mean = meanOf(positions);
        live.aside = middle.map((m, i) => m - mean[i]);
        camera.frame(half, [0, 0, 0], Number.isFinite(aspect) ? aspect : 1.5, room);
      }
      if (live.wanted.camera) verve.setCamera(camera, live.wanted.camera);
      if (live.wanted.still && live.follow) {
        live.follow = false;
        press(byId('follow'), false);
      }
      Object.assign(live.wanted, {camera: null, still: false});
      live.keepCamera = false;
      live.fitted = camera.distance;
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
        addSupports();
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
        live.backend.drawn();
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
      live.curves.draw();
      live.panel.refresh();
      const m = frame.lanes[0].metrics, [from, to] = [pace[0], pace.at(-1)];
      const rate = to[0] > from[0] + 400 ? 1000 * (to[1] - from[1]) / (to[0] - from[0]) : live.state.speed;
      const slow = !live.state.paused && rate < 0.9 * live.state.speed;
      const threads = live.backend.threads > 1 ? `, ${live.backend.threads} threads` : '';
      byId('backend').textContent = `${live.backend.name}${threads} · ${m.ms < 10 ? m.ms.toFixed(1) : Math.round(m.ms)} ms` +
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
      const moved = frame.supports.map((at, i) => start ? at.map((a, k) => start.supports[i][k] + share * (a - start.supports[i][k])) : at);
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
      keepInView(shown, Math.max(0, time - lastTime));
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
        for (const {rest, anchor} of live.supports) {
          for (let i = 0; i < rest.length; ++i) out[3 * first + i] = rest[i] + moved[anchor][i % 3] - origin[i % 3];
          first += rest.length / 3;
        }
        view.viewer.marks = [...live.state.pins].map(v => [0, 1, 2].map(k => out[3 * v + k]));
        view.viewer.setPositions(out, origin);
        view.state.textContent = metrics.failed ? 'stopped' : '';
        drawHands(view, out, origin);
      });
      byId('clock').textContent = `${time.toFixed(2)} s`;
    }

    /** Share of a view's height that bodies have: above and below are buttons. */
    const roomOf = view => Math.max(0.6, 1 - 110 / Math.max(1, view.box.clientHeight));

    /** How far the camera has to be for a view to show all of a lane. */
    function farEnough(view, positions, origin) {
      const {camera} = live, {right, up, back} = camera.axes(), slope = Math.tan(camera.fov / 2);
      const aspect = view.box.clientWidth / Math.max(1, view.box.clientHeight), room = roomOf(view);
      let far = 0;
      const along = (a, i) => a[0] * (positions[i] - origin[0] - camera.target[0]) + a[1] * (positions[i + 1] - origin[1] - camera.target[1]) +
                              a[2] * (positions[i + 2] - origin[2] - camera.target[2]);
      for (let i = 0; i < positions.length; i += 3 * Math.max(1, Math.floor(positions.length / 3000)))
        far = Math.max(far, along(back, i) +
                                Math.max(Math.abs(along(right, i)) / aspect, Math.abs(along(up, i)) / room) / slope);
      return Number.isFinite(far) ? 1.06 * far : 0;
    }

    /** Steps back when a body leaves the view, and comes near again; not while a person has chosen the distance. */
    function keepInView(shown, seconds) {
      const {camera} = live;
      if (live.holding.size || Math.abs(camera.distance - live.fitted) > 1e-6 * camera.distance) return;
      const needed = Math.max(...live.views.map((view, lane) => shown[lane] ? farEnough(view, shown[lane], origins[lane]) : 0));
      const to = Math.max(camera.home.distance, Math.min(needed, 4 * camera.home.distance));
      const part = 1 - Math.exp(-(to > camera.distance ? 8 : 1) * seconds);
      if (Math.abs(to - camera.distance) < 1e-3 * camera.distance) return;
      live.fitted = camera.distance += part * (to - camera.distance);
    }

    /** Energy kept since the last touch, in plain numbers; where it is taken on purpose, how near it is to what it should be. */
    function badge(view, metrics) {
      const kept = Math.round(100 * metrics.kept), text = kept > 999 ? '> 999 %' : `${kept} %`;
      if (view.kept.textContent !== text) view.kept.textContent = text;
      const ofWhat = metrics.aimed ? 'of its target' : 'energy kept';
      if (view.ofWhat.textContent !== ofWhat) {
        view.ofWhat.textContent = ofWhat;
        view.badge.title = metrics.aimed ? 'Its energy in terms of what a half-life or a lock asks for'
                                         : 'Share of the energy since the last touch';
      }
      view.gauge.style.setProperty('--kept', Math.min(1, metrics.kept));
      view.label.dataset.state = kept >= 95 && kept <= 105 ? 'good' : kept > 105 || kept < 50 ? 'bad' : 'fair';
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


    return {build: buildViews, addSupports, want, theme, setLooks, hit, offer(frame) {
      if (waiting) live.backend.drawn();  // that one is passed over
      waiting = frame;
      want();
    }};
  }

  Object.assign(verve, {makeViews, methodName, METHOD_NAMES});
})(globalThis.verve);
