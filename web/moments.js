// Moments that are kept, as a list with pictures: the session has their motions (docs/live.md), the page what they looked like.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const {element} = verve, WIDTH = 96, HEIGHT = 64;

  /** What the first view shows, cut to the shape of the list. */
  function picture(live) {
    const out = document.createElement('canvas'), view = live.views[0];
    Object.assign(out, {width: WIDTH, height: HEIGHT});
    out.setAttribute('aria-hidden', 'true');
    if (!view || !view.viewer) return out;
    view.viewer.draw();  // what was drawn before is gone by now
    const {width, height} = view.canvas, scale = Math.min(width / WIDTH, height / HEIGHT);
    out.getContext('2d').drawImage(view.canvas, (width - scale * WIDTH) / 2, (height - scale * HEIGHT) / 2, scale * WIDTH,
                                   scale * HEIGHT, 0, 0, WIDTH, HEIGHT);
    return out;
  }

  /** Returns {show(kept)}: `kept` is what the state message has. */
  function makeMoments(live, list) {
    const items = new Map();  // by the id of the session

    function add({id, frame, time}) {
      const item = element('li', 'moment', list), name = `${time.toFixed(2)} s`;
      const back = element('button', 'moment-back', item);
      back.append(picture(live), `${name}, frame ${frame}`);
      back.title = 'Back to this moment, as often as you like';
      back.setAttribute('aria-label', `Back to ${name}`);
      back.addEventListener('click', () => live.send({type: 'return', id}));
      const forget = element('button', 'icon', item);
      forget.textContent = '✕';
      forget.setAttribute('aria-label', `Forget ${name}`);
      forget.addEventListener('click', () => live.send({type: 'forget', id}));
      items.set(id, item);
    }

    return {show(kept) {
      const ids = new Set(kept.map(moment => moment.id));
      for (const [id, item] of items) {
        if (ids.has(id)) continue;
        item.remove();
        items.delete(id);
      }
      for (const moment of kept) if (!items.has(moment.id)) add(moment);
    }};
  }

  verve.makeMoments = makeMoments;
})(globalThis.verve);
