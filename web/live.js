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
      // whoever has asked for less motion starts it
      if (reducedMotion && (message.type === 'load' || message.type === 'open')) message = {...message, paused: true};
      backend.send(message);
    },
    wanted: {}, lesson: null, explainFrom: Infinity,
    redraw: () => views.want(),
    showArrow(lane, hit, direction, speed) {
      live.arrows.push({vertex: hit.vertex, way: direction.map(d => d * speed * 0.6), until: performance.now() + 500});
      views.want();
    }
  };
  const views = verve.makeViews(live), curves = live.curves = new verve.Curves(byId('curves'));
  live.hit = views.hit;
  const share = live.share = verve.makeShare(live, notice);
  const moments = verve.makeMoments(live, byId('moment-list'));
  let panel, lessons, showMethods = () => {};

  const UNDOABLE = new Set(['push', 'spin', 'grab', 'pin', 'dial', 'lock', 'calm', 'reset', 'return']);
  verve.FIRST = 'bear';
  const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
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
      verve.buildGallery(byId('scene-list'), byId('search'), byId('none-found'), message.scenes, name => {
        byId('scenes').close();
        leaveLesson();
        share.open({scene: name});
      });
      showMethods = verve.buildCompare(byId('compare'), message.methods,
                                       (names, restart) => live.send({type: 'methods', names, restart}));
      if (live.state) showMethods(live.state.lanes);
      // an address names its scene, a server may have been given one
      if (!share.source && !message.loaded && !named) share.open({scene: verve.FIRST});
      byId('version').textContent = `Verve ${message.version} · ${backend.name}`;
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
      message.supports = [];  // what anchors hang on is told apart
      if (!same) live.body = message.bodies.length > 1 ? -1 : 0;  // all of them
      live.fresh = true;  // the next frame shows all of it anew
      live.keepCamera = same;
      byId('scene-name').textContent = verve.sceneTitle(message.name);
      byId('scene-description').textContent = message.description;
      byId('scene-description').title = message.description;
      document.title = `${live.lesson ? live.lesson.title : verve.sceneTitle(message.name)} · Verve`;
      byId('body').textContent = '';
      if (message.bodies.length > 1) Object.assign(element('option', '', byId('body')), {value: -1, textContent: 'all bodies'});
      message.bodies.forEach((body, i) => {
        const option = element('option', '', byId('body'));
        option.value = i;
        option.textContent = body.name;
      });
      byId('body').value = live.body;
      byId('body-choice').hidden = message.bodies.length < 2;
      for (const note of message.notes) notice(note, 'note');
      live.seen = {energy: 0, lowest: 0, momentum: 0, spin: 0};
      if (same && message.bodies.length > 1) live.send({type: 'watch', body: live.body});
    },
    state(message) {
      const lanes = message.lanes.join();
      const changed = !live.state || live.state.lanes.join() !== lanes || live.fresh;
      live.state = message;
      if (changed) {
        curves.start(message.lanes);
        views.build(message.lanes);
        showMethods(message.lanes);
        const twin = message.lanes.length > 1 && message.lanes.includes('pd');
        byId('twin').setAttribute('aria-pressed', String(twin));
        byId('pitch').hidden = !twin || Boolean(live.lesson);
      }
      press(byId('floor'), message.floor !== null || message.own_floor);
      byId('undo').disabled = message.undo === null;
      byId('undo').title = message.undo === null ? 'Nothing to undo (Z)' : `Undo ${message.undo} (Z)`;
      press(byId('calm'), message.calming);
      // a scene that the server was started with runs already
      if (reducedMotion && !live.asked && !message.paused && live.wanted.play !== '1') live.send({type: 'pause', on: true});
      live.asked = true;
      moments.show(message.kept);
      byId('play').textContent = message.paused ? '▶' : '❚❚';
      byId('play').setAttribute('aria-label', message.paused ? 'Go on' : 'Pause');
      if (document.activeElement !== byId('speed')) byId('speed').value = String(message.speed);
      if (panel) panel.refresh();
    },
    elements({lane, body, triangles, edges, surface}) {
      const view = live.views[lane];
      if (!view || !view.viewer) return;
      const carried = live.scene.bodies.filter((b, i) => b.surface && i < body).length;
      const set = (mesh, ...elements) => {
        view.torn.set(mesh, elements);
        view.viewer.setElements(mesh, ...elements);
      };
      set(body, uint32(triangles), uint32(edges));
      if (surface) set(live.scene.bodies.length + carried, uint32(surface), new Uint32Array(0));
    },
    supports({list}) {
      live.scene.supports.push(...list.map(support => ({...support, points: float32(support.points)})));
      if (!live.fresh) views.addSupports();
    },
    stopped: message => notice(message.text, 'error', message.offers, message.lane),
    notice: message => notice(message.text, 'warning', message.offers, message.lane),
    error(message) {
      if (message.about === 'explain') return verve.element('p', '', byId('how-body')).textContent = message.text;
      if (message.about !== 'open' || live.scene) return notice(message.text);
      // an address that names no scene leads to all there are
      notice(message.text.split(', expected')[0] + '. Choose one of these.', 'note');
      share.open({scene: verve.FIRST});
      byId('scenes').showModal();
    },
    explained: message => verve.explain(byId('how-body'), message),
    hash(message) {
      live.hash = message;
    },
    saved(message) {
      const {type, ...state} = message;
      if (share.linking) return share.linking(state.scene);
      share.download(`${live.scene.name}.verve`, JSON.stringify({verve: 'state', ...state}), 'application/json');
    }
  };

  const backend = live.backend = verve.openBackend({
    text: message => (answers[message.type] || (() => {}))(message),
    frame(buffer) {
      if (!live.scene) return backend.drawn();
      const frame = verve.decodeFrame(buffer, live.scene.metrics);
      if (frame.generation !== live.scene.generation) return backend.drawn();  // of a scene that is gone
      live.frames += 1;
      curves.add(frame);
      noteExtremes(frame);
      views.offer(frame);
      if (frame.number >= live.explainFrom) {
        live.explainFrom = Infinity;
        live.send({type: 'explain'});
      }
    },
    lost(reason) {
      byId('backend').textContent = 'disconnected';
      byId('backend').classList.add('bad');
      notice(reason);
    }
  });
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

  // curves rest while nothing moves, but a value that was typed shall be seen
  setInterval(() => panel && panel.refresh(), 500);

  // ---- controls

  /** A gesture of its own: the lesson is over. */
  function leaveLesson() {
    if (live.lesson) lessons.open(null);
  }
  live.openLesson = (id, scene) => lessons.open(id, scene);
  live.setLooks = looks => {
    for (const [key, button] of [['strain', 'strain'], ['wireframe', 'wire']]) setLook(key, button, looks[key]);
  };
  /** The panel on a small screen. */
  live.setDrawer = on => {
    document.body.classList.toggle('drawer-open', on);
    press(byId('drawer'), on);
    byId('drawer').textContent = on ? 'Close' : 'Panel';
  };
  live.setAccounts = on => {
    press(byId('accounts'), on);
    curves.setAccounts(on);
  };
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
      views.setLooks(viewer);
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
      viewer.theme = views.theme();
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
    floor: () => live.send({type: 'floor', on: live.state.floor === null && !live.state.own_floor}),
    calm: () => live.send({type: 'calm'}),
    undo: () => live.send({type: 'undo'}),
    twin: () => {
      const on = byId('twin').getAttribute('aria-pressed') === 'true', own = live.state.lanes[0];
      if (!on && own === 'pd') return notice('The scene runs by plain PD itself.', 'note');
      live.duel = !on;
      live.send({type: 'methods', names: on ? [own] : [own, 'pd']});
    },
    theme: () => setTheme(views.theme().dark ? 'light' : 'dark'),
    'scenes-button': () => byId('scenes').showModal(),
    'help-button': () => byId('help').showModal(),
    open: () => byId('file').click(),
    link: share.copyLink,
    embed: share.copySnippet,
    clip: () => share.saveClip(byId('clip')).catch(share.say),
    accounts: () => live.setAccounts(!curves.accounts),
    'lessons-button': () => byId('lessons').showModal(),
    'how-button': showHow,
    'how-again': () => {
      live.explainFrom = Math.max(live.state.frame, live.frame.number) + 1;  // once it is there
      live.send({type: 'step'});
    },
    print: () => window.print(),
    drawer: () => live.setDrawer(!document.body.classList.contains('drawer-open')),
    keep: () => {
      byId('moments').hidden = false;
      document.querySelector('.fold[aria-controls=moments]').setAttribute('aria-expanded', 'true');
      live.send({type: 'keep'});
    },
    'save-picture': share.savePicture,
    'save-metrics': () => share.download(`${live.scene.name}.csv`, curves.table(live.scene.metrics), 'text/csv'),
    'save-state': () => live.send({type: 'save'})
  };
  const needScene = new Set(['play', 'step', 'reset', 'floor', 'calm', 'undo', 'twin', 'link', 'embed', 'clip',
                             'how-button', 'how-again', 'keep', 'save-picture', 'save-metrics', 'save-state']);
  const act = name => {
    if (live.state || !needScene.has(name)) actions[name]();
  };
  const keys = {
    ' ': 'play', '.': 'step', r: 'reset', c: 'strain', w: 'wire', f: 'follow', v: 'home', t: 'twin', d: 'theme',
    k: 'calm', z: 'undo', l: 'floor', m: 'scenes-button', e: 'lessons-button', h: 'how-button', a: 'accounts', b: 'keep', '?': 'help-button'
  };
  const toolKeys = {g: 'hand', p: 'push', s: 'spin', n: 'pin'}, speeds = {1: 1, 2: 0.5, 4: 0.25};

  function openFile(file) {
    leaveLesson();
    return share.openFile(file);
  }
  /** One step in numbers; the simulation stands still meanwhile. */
  function showHow() {
    byId('how-body').textContent = 'One moment …';
    byId('how').showModal();
    live.send({type: 'pause', on: true});
    live.send({type: 'explain'});
  }

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
      if (live.lesson && /^[123]$/.test(key)) lessons.choose(Number(key) - 1);
      else if (keys[key]) act(keys[key]);
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
    addEventListener('hashchange', share.openAddress);
    addEventListener('beforeprint', () => verve.buildSheets(byId('sheets')));
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
    live.camera.listeners.add(() => views.want());  // hands are drawn over the picture
    new ResizeObserver(() => {
      for (const {viewer} of live.views) if (viewer) viewer.requestDraw();
    }).observe(byId('views'));
  }

  Object.assign(live, {notice, openFile});
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
  const docs = document.querySelector('meta[name="verve-docs"]').content;  // where the page is part of a site
  byId('docs').hidden = !docs;
  byId('docs').href = `${docs}index.html`;
  live.docs = docs;
  lessons = live.lessons = verve.makeLessons(live, byId('lesson'), byId('lesson-list'), byId('lessons'));
  const named = location.hash.length > 1;
  live.send({type: 'list'});
  share.openAddress().then(known => {
    if (known || !named) return;
    if (new URLSearchParams(location.hash.slice(1)).has('lesson')) byId('lessons').showModal();
    share.open({scene: verve.FIRST});
  });
})(globalThis.verve);
