// What goes in and out of the page: files, links, the snippet for other pages, pictures and clips.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const LONGEST_LINK = 1.5e6;  // Chromium cuts addresses at 2 MB
  const CLIP_SECONDS = 8;

  async function packed(text) {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const data = new Uint8Array(await new Response(stream).arrayBuffer());
    let out = '';
    for (const b of data) out += String.fromCharCode(b);
    return btoa(out).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }
  async function unpacked(text) {
    const data = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Response(stream).text();
  }

  function download(name, content, type) {
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  }

  // ---- the camera and the look in a link

  const short = x => String(Number(x.toFixed(3)));
  function cameraText({yaw, pitch, distance, target, home}) {
    const away = target.map((t, i) => t - home.target[i]).map(t => t / home.distance);
    const moved = away.some(a => Math.abs(a) > 1e-3);
    return [yaw, pitch, distance / home.distance, ...(moved ? away : [])].map(short).join();
  }
  /** Where home is known: at the first frame of a scene. */
  function setCamera(camera, text) {
    const [yaw, pitch, zoom, ...away] = text.split(',').map(Number);
    if (![yaw, pitch, zoom].every(Number.isFinite) || !(zoom > 0)) return;
    const {home} = camera;
    Object.assign(camera, {yaw, pitch: Math.max(-1.55, Math.min(1.55, pitch)), distance: zoom * home.distance});
    if (away.length === 3 && away.every(Number.isFinite)) camera.target = home.target.map((t, i) => t + away[i] * home.distance);
    camera.changed();
  }

  // ---- a clip

  /** All views side by side, as they are drawn, with the names of their methods. */
  function drawTogether(live, canvas) {
    const c = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    const box = document.getElementById('views').getBoundingClientRect(), scale = canvas.width / box.width;
    const sky = c.createLinearGradient(0, 0, 0, canvas.height);
    sky.addColorStop(0, style.getPropertyValue('--sky-top').trim());
    sky.addColorStop(1, style.getPropertyValue('--sky-bottom').trim());
    c.fillStyle = sky;
    c.fillRect(0, 0, canvas.width, canvas.height);
    for (const view of live.views) {
      if (!view.viewer) continue;
      view.viewer.draw();  // what was drawn before is gone by now
      const at = view.canvas.getBoundingClientRect(), x = (at.left - box.left) * scale, y = (at.top - box.top) * scale;
      const width = at.width * scale;
      c.drawImage(view.canvas, x, y, width, at.height * scale);
      c.textAlign = 'center';
      c.font = `600 ${Math.round(16 * scale)}px system-ui, sans-serif`;
      c.fillStyle = style.getPropertyValue('--text').trim();
      c.fillText(`${view.name.textContent} · ${view.kept.textContent} ${view.ofWhat.textContent}`, x + width / 2, y + 26 * scale);
    }
  }
  function clipCanvas() {
    const box = document.getElementById('views').getBoundingClientRect(), canvas = document.createElement('canvas');
    const scale = Math.min(1, 1280 / box.width);
    canvas.width = 2 * Math.round(box.width * scale / 2);
    canvas.height = 2 * Math.round(box.height * scale / 2);
    return canvas;
  }

  /** The bytes of a file as text. */
  async function base64(file) {
    const bytes = new Uint8Array(await file.arrayBuffer()), parts = [];
    for (let at = 0; at < bytes.length; at += 0x6000)  // a multiple of three, and fewer than a call may have arguments
      parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000))));
    return parts.join('');
  }

  function makeShare(live, notice) {
    const share = {source: null, linking: null};
    const say = error => notice(error.message || String(error));

    share.open = message => {
      share.source = message;
      live.send({type: 'load', duel: live.duel, ...message});
      history.replaceState(null, '', message.scene ? `#scene=${encodeURIComponent(message.scene)}` : location.pathname + location.search);
    };

    share.openFile = async file => {
      if (file.size > 60e6) return notice(`${file.name} has ${Math.round(file.size / 1e6)} MB, expected at most 60 MB.`);
      if (/\.(stl|ply|off|glb|gltf|usda|msh|vtk|vtu)$/i.test(file.name))
        return share.open({mesh64: await base64(file), name: file.name});
      const text = await file.text();
      if (/\.(mesh|obj)$/i.test(file.name)) return share.open({mesh: text, name: file.name});
      if (!/\.(json|verve)$/i.test(file.name))
        return notice(`${file.name}: expected a scene (.json), a mesh (.obj, .stl, .ply, .glb, …) or a saved state (.verve).`);
      let state = null;
      try {
        state = JSON.parse(text);
      } catch (_) {  // the session says what is wrong, with line and column
      }
      if (!state || state.verve !== 'state') return share.open({text, name: file.name});
      const {scene, motion, time, frame, paused, link, snapshots, pins, held} = state;
      if (!snapshots) return share.open({text: scene, name: file.name, motion, time, frame});
      share.source = {text: scene};
      live.send({type: 'open', link, text: scene, name: file.name, motion, time, frame, paused, snapshots, pins, held});
      history.replaceState(null, '', location.pathname + location.search);
    };

    /** The scene around a mesh that came from a file, as the session writes it. */
    async function writtenScene() {
      live.send({type: 'save'});
      const text = await new Promise(done => { share.linking = done; });
      share.linking = null;
      return text;
    }

    /** The part after the # for everything as it is; null with a word where it is too long. */
    share.linkText = async (embedded = false) => {
      const parts = [], add = (key, value) => parts.push(`${key}=${value}`), {source} = share;
      if (source && (source.text || source.mesh || source.mesh64)) {
        const held = await packed(source.text || await writtenScene());
        if (held.length > LONGEST_LINK) {
          notice(`This scene takes ${Math.round(held.length / 1000)} kB, expected at most ${LONGEST_LINK / 1000} ` +
                 'for a link; save its state and pass that on as a file.');
          return null;
        }
        add('s', held);
      } else {
        add('scene', encodeURIComponent(source && source.scene ? source.scene : live.scene.name));
      }
      parts.push(live.state.link);
      add('camera', cameraText(live.camera));
      const looks = [live.strain && 'strain', live.wireframe && 'wire', !live.follow && 'still'].filter(Boolean);
      if (looks.length) add('look', looks.join());
      if (live.curves.accounts) add('accounts', 'on');
      if (live.lesson && !embedded) add('lesson', live.lesson.id);
      if (document.documentElement.dataset.theme) add('theme', document.documentElement.dataset.theme);
      if (live.state.paused) add('play', '0');
      if (embedded) add('ui', 'none');
      return parts.join('&');
    };

    async function hand(text, what) {
      try {
        await navigator.clipboard.writeText(text);
        notice(`The ${what} is on the clipboard.`, 'note');
      } catch (_) {
        return false;
      }
      return true;
    }
    share.copyLink = async () => {
      const text = await share.linkText();
      if (!text) return;
      const address = `${location.href.split('#')[0]}#${text}`;
      history.replaceState(null, '', address);
      if (!await hand(address, 'link')) notice('The link is in the address bar.', 'note');
    };
    /** For other pages: the views alone; a wheel or a finger that passes over it scrolls the page around it. */
    share.snippet = async () => {
      const text = await share.linkText(true);
      if (!text) return '';
      const address = `${location.href.split('#')[0]}#${text}`.replaceAll('&', '&amp;');
      return `<iframe src="${address}" title="${verve.sceneTitle(live.scene.name)}, a live simulation" width="720" height="405" ` +
             'loading="lazy" allow="fullscreen" style="border:0;max-width:100%"></iframe>';
    };
    share.copySnippet = async () => {
      const text = await share.snippet();
      if (text && !await hand(text, 'snippet')) notice(text, 'note');
    };

    /** Opens what the address names; false when it names nothing. */
    share.openAddress = async () => {
      const wanted = new URLSearchParams(location.hash.slice(1));
      live.wanted = {camera: wanted.get('camera'), play: wanted.get('play')};
      const looks = (wanted.get('look') || '').split(',');
      if (wanted.has('theme')) document.documentElement.dataset.theme = wanted.get('theme') === 'dark' ? 'dark' : 'light';
      document.body.dataset.ui = wanted.get('ui') || '';
      const bare = wanted.get('ui') === 'none';
      live.camera.scrolls = bare || window.top !== window;
      live.camera.changed();
      const whole = document.getElementById('open-page');
      whole.hidden = !bare;
      whole.href = `#${location.hash.slice(1).split('&').filter(part => part !== 'ui=none').join('&')}`;
      live.setLooks({strain: looks.includes('strain'), wireframe: looks.includes('wire')});
      live.wanted.still = looks.includes('still');
      if (wanted.has('accounts')) live.setAccounts(wanted.get('accounts') !== 'off');
      if (live.openLesson(wanted.get('lesson'), wanted.has('scene') || wanted.has('s'))) {
        if (!wanted.has('scene') && !wanted.has('s')) return true;
      }
      const link = location.hash.slice(1);
      if (wanted.has('s')) {
        try {
          const text = await unpacked(wanted.get('s'));
          share.source = {text};
          live.send({type: 'open', text, name: 'link', link: link.split('&').filter(part => !part.startsWith('s=')).join('&')});
        } catch (_) {
          notice('The scene in this link cannot be read: it was cut off or changed.');
          share.open({scene: verve.FIRST});
        }
      } else if (wanted.has('scene')) {
        share.source = {scene: wanted.get('scene')};
        live.send({type: 'open', link});
      } else {
        return false;
      }
      return true;
    };

    share.savePicture = () => {
      if (!live.views[0] || !live.views[0].viewer) return notice('There is no picture without WebGL 2.');
      const {canvas, viewer} = live.views[0], copy = document.createElement('canvas');
      viewer.draw();
      Object.assign(copy, {width: canvas.width, height: canvas.height});
      const c = copy.getContext('2d'), style = getComputedStyle(document.documentElement);
      const sky = c.createLinearGradient(0, 0, 0, copy.height);
      sky.addColorStop(0, style.getPropertyValue('--sky-top').trim());
      sky.addColorStop(1, style.getPropertyValue('--sky-bottom').trim());
      c.fillStyle = sky;
      c.fillRect(0, 0, copy.width, copy.height);
      c.drawImage(canvas, 0, 0);
      copy.toBlob(blob => download(`${live.scene.name}.png`, blob));
    };

    /** Eight seconds of what is seen, as WebM. */
    share.saveClip = async (button, seconds = CLIP_SECONDS) => {
      if (share.recording) return share.recording.stop();
      if (!globalThis.MediaRecorder) return notice('This browser records no clips (MediaRecorder).');
      if (!live.views.some(view => view.viewer)) return notice('There is no clip without WebGL 2.');
      const canvas = clipCanvas(), parts = [];
      drawTogether(live, canvas);
      const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find(t => MediaRecorder.isTypeSupported(t));
      if (!type) return notice('This browser records no WebM.');
      const recorder = share.recording = new MediaRecorder(canvas.captureStream(30), {mimeType: type, videoBitsPerSecond: 5e6});
      recorder.ondataavailable = e => parts.push(e.data);
      const ended = new Promise(done => { recorder.onstop = done; }), start = performance.now(), label = button.textContent;
      recorder.start();
      const next = () => {
        if (recorder.state !== 'recording') return;
        const left = seconds - (performance.now() - start) / 1000;
        if (left <= 0) return recorder.stop();
        button.textContent = `Recording, ${Math.ceil(left)} s`;
        drawTogether(live, canvas);
        requestAnimationFrame(next);
      };
      next();
      await ended;
      share.recording = null;
      button.textContent = label;
      download(`${live.scene.name}.webm`, new Blob(parts, {type: 'video/webm'}));
    };

    share.download = download;
    share.say = say;
    return share;
  }

  Object.assign(verve, {makeShare, setCamera});
})(globalThis.verve);
