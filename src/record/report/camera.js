// A camera that circles a point, and the mouse and fingers that move it. Several viewers may share one.
// Classic script; adds to the global `verve`.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const FOV = 32 * Math.PI / 180;

  /** Looks at `target` (relative to the viewer's origin) from yaw, pitch and distance. */
  class Camera {
    constructor() {
      this.fov = FOV;  // vertical [rad]
      this.home = {yaw: 0.6, pitch: 0.32, distance: 5, target: [0, 0, 0]};
      this.listeners = new Set();
      this.scrolls = false;  // what is around the canvas scrolls by wheel and finger; with Ctrl the wheel zooms
      this.reset();
    }
    /**
     * Home becomes a view of a whole box with these half edges; `aspect` is the picture's width over height, `room` the
     * share of its height that nothing covers.
     */
    frame(half, target, aspect, room = 1) {
      Object.assign(this, this.home);
      const {right, up, back} = this.axes(), slope = Math.tan(FOV / 2);
      // Between the box and the ellipsoid inside it: bodies are rounder than the one, fuller than the other.
      const reach = a => {
        const terms = half.map((h, i) => Math.abs(a[i] * h));
        return 0.45 * (terms[0] + terms[1] + terms[2]) + 0.55 * Math.hypot(...terms);
      };
      const distance = 0.8 * reach(back) + Math.max(reach(right) / aspect, reach(up) / room) / slope;
      this.home = {...this.home, distance: 1.04 * distance || 1, target: [...target]};
      this.reset();
    }
    reset() {
      Object.assign(this, this.home, {target: [...this.home.target]});
      this.changed();
    }
    changed() {
      this.listeners.forEach(f => f());
    }
    axes() {
      const cy = Math.cos(this.yaw), sy = Math.sin(this.yaw), cp = Math.cos(this.pitch), sp = Math.sin(this.pitch);
      return {right: [cy, 0, -sy], up: [-sy * sp, cp, -cy * sp], back: [sy * cp, sp, cy * cp]};
    }
    orbit(dx, dy) {
      this.yaw -= dx * 0.008;
      this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + dy * 0.008));
      this.changed();
    }
    zoom(factor) {
      const home = this.home.distance;
      this.distance = Math.max(home * 0.02, Math.min(home * 50, this.distance * factor));
      this.changed();
    }
    /** By a fraction of the picture's height. */
    pan(dx, dy) {
      const {right, up} = this.axes(), scale = 2 * this.distance * Math.tan(FOV / 2);
      for (let i = 0; i < 3; ++i) this.target[i] += scale * (dy * up[i] - dx * right[i]);
      this.changed();
    }
  }

  /**
   * Drag orbits; shift- or right-drag and two fingers pan; wheel and pinch zoom; double click resets. `claim(event)` may
   * take a pointer that goes down for something else by returning true.
   */
  function attachControls(canvas, camera, claim = () => false) {
    const pointers = new Map();
    // In a page around this one, a wheel and a finger that goes up or down are that page's: it scrolls.
    const yields = () => {
      canvas.style.touchAction = camera.scrolls ? 'pan-y' : 'none';
    };
    yields();
    camera.listeners.add(yields);
    canvas.addEventListener('pointerdown', e => {
      canvas.setPointerCapture(e.pointerId);
      if (!pointers.size && claim(e)) return;
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    const release = e => pointers.delete(e.pointerId);
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointermove', e => {
      const before = pointers.get(e.pointerId);
      if (!before) return;
      const dx = e.clientX - before[0], dy = e.clientY - before[1], height = canvas.clientHeight || 1;
      if (pointers.size >= 2) {
        const other = [...pointers].find(([id]) => id !== e.pointerId)[1];
        const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
        const is = Math.hypot(e.clientX - other[0], e.clientY - other[1]);
        if (was > 0 && is > 0) camera.zoom(was / is);
        camera.pan(dx / 2 / height, dy / 2 / height);
      } else if (e.shiftKey || (e.buttons & 6)) {
        camera.pan(dx / height, dy / height);
      } else {
        camera.orbit(dx, dy);
      }
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    canvas.addEventListener('wheel', e => {
      if (camera.scrolls && !e.ctrlKey) return;
      e.preventDefault();
      camera.zoom(Math.exp(Math.max(-120, Math.min(120, e.deltaY * (e.deltaMode ? 30 : 1))) * 0.0015));
    }, {passive: false});
    canvas.addEventListener('contextmenu', e => e.preventDefault());
    canvas.addEventListener('dblclick', () => camera.reset());
  }

  Object.assign(verve, {Camera, attachControls});
})(globalThis.verve);
