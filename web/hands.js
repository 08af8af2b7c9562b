// What the pointer does to bodies: pulls, pushes, spins, pins. Everything else is left to the camera.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const CLICK = 6;  // pixels that a pointer may tremble

  const scaled = (a, s) => a.map(x => x * s);
  const plus = (a, b) => a.map((x, i) => x + b[i]);

  /**
   * `live` has viewers, scene, tool, origin(lane), send(message) and handsChanged(). Returns whether a pointer that goes
   * down on the canvas of a lane is taken.
   */
  function attachHands(live, lane, canvas, viewer) {
    const held = new Map();  // pointers
    let next = lane * 100;

    const place = e => {
      const box = canvas.getBoundingClientRect();
      return [e.clientX - box.left, e.clientY - box.top];
    };
    /** A move on the screen as one in the world, at the depth of a point. */
    const moved = (from, to, distance) => {
      const {right, up} = viewer.camera.axes(), scale = viewer.pixel() * distance;
      return plus(scaled(right, (to[0] - from[0]) * scale), scaled(up, (from[1] - to[1]) * scale));
    };
    /** How strong a click is, and how strong a push may be, the session decides. */
    const pushAlong = (hit, direction, speed) => {
      live.send({type: 'push', vertex: hit.vertex, direction, ...(speed ? {speed} : {})});
      live.showArrow(lane, hit, direction, speed || 0.35);
    };

    function down(e) {
      if (e.button !== 0 || e.shiftKey) return false;
      const at = place(e), hit = live.hit(viewer.pick(at[0], at[1], e.pointerType === 'touch' ? 26 : 14));
      if (!hit) return false;
      const depth = hit.distance;
      const pointer = {tool: live.tool, hit, start: at, at, depth, id: next++ % 100 + lane * 100};
      held.set(e.pointerId, pointer);
      live.pointers.add(pointer);
      pointer.lane = lane;
      canvas.classList.add('holding');
      if (pointer.tool === 'hand') {
        pointer.point = hit.position;  // of the vertex, in the world
        live.holding.add(pointer);
        live.send({type: 'grab', id: pointer.id, vertex: hit.vertex});
      }
      return true;
    }

    function move(e) {
      const pointer = held.get(e.pointerId);
      if (!pointer) return;
      pointer.at = place(e);
      pointer.far = pointer.far || Math.hypot(pointer.at[0] - pointer.start[0], pointer.at[1] - pointer.start[1]) > CLICK;
      if (!pointer.far) return;
      pointer.way = moved(pointer.start, pointer.at, pointer.depth);
      live.redraw();
      if (pointer.tool !== 'hand') return;
      live.send({type: 'drag', id: pointer.id, to: plus(pointer.point, pointer.way)});
    }

    function up(e) {
      const pointer = held.get(e.pointerId);
      if (!pointer) return;
      held.delete(e.pointerId);
      live.pointers.delete(pointer);
      live.redraw();
      canvas.classList.toggle('holding', held.size > 0);
      const {hit, start, at} = pointer, way = moved(start, at, pointer.depth), length = Math.hypot(...way);
      const {along} = viewer.ray(start[0], start[1]);
      if (pointer.tool === 'hand') {
        live.holding.delete(pointer);
        live.send({type: 'release', id: pointer.id});
        if (!pointer.far && e.type === 'pointerup') pushAlong(hit, along);
      } else if (e.type !== 'pointerup') {
        return;
      } else if (pointer.tool === 'push') {
        const size = live.scene.bodies[hit.body].size;
        if (pointer.far) pushAlong(hit, scaled(way, 1 / length), 2 * Math.min(1, size) * length / size);
        else pushAlong(hit, along);
      } else if (pointer.tool === 'spin') {
        // about the axis across the way of the pointer, as if the surface were taken along
        const {right, up: upward} = viewer.camera.axes();
        const dx = (at[0] - start[0]) / 60, dy = (at[1] - start[1]) / 60;
        const omega = pointer.far ? plus(scaled(upward, dx), scaled(right, dy)) : scaled(upward, 2);
        live.send({type: 'spin', body: hit.body, omega});
      } else if (pointer.tool === 'pin') {
        live.send({type: 'pin', vertex: hit.vertex});
      }
    }

    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    return {
      claim: down,
      /** The tool in the middle of the view, for the keyboard. */
      apply() {
        const x = canvas.clientWidth / 2, y = canvas.clientHeight / 2, hit = live.hit(viewer.pick(x, y, 200));
        if (!hit) return;
        const {along} = viewer.ray(x, y), {up: upward} = viewer.camera.axes();
        if (live.tool === 'spin') live.send({type: 'spin', body: hit.body, omega: scaled(upward, 2)});
        else if (live.tool === 'pin') live.send({type: 'pin', vertex: hit.vertex});
        else pushAlong(hit, along);
      }
    };
  }

  verve.attachHands = attachHands;
})(globalThis.verve);
