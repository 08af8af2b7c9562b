// Draws moving meshes with WebGL 2. Knows nothing of reports: give it meshes once and positions per frame.
//
//   const camera = new verve.Camera();                     // may be shared by several viewers
//   const viewer = new verve.Viewer(canvas, camera);       // throws when WebGL 2 is missing
//   viewer.setMeshes([{color: '#e08a5b', triangles, edges, rest}, ...]);   // Uint32Array, Uint32Array, Float32Array
//                                                          // with `cage: true`: only lines, and only if viewer.cage
//   viewer.setElements(mesh, triangles, edges);            // others over the same vertices; then positions again
//   viewer.setPositions(Float32Array, origin);             // all meshes one after another, relative to `origin`
//   verve.attachControls(canvas, camera);
//
// Classic script; needs mesh_math.js and camera.js; adds to the global `verve`.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const LIGHTING = `
    uniform vec3 color, eye;
    out vec4 pixel;
    const vec3 LIGHT = normalize(vec3(0.5, 0.85, 0.6));
    void shade(vec3 point, vec3 n) {
      vec3 v = normalize(eye - point), h = normalize(LIGHT + v), base = pow(color, vec3(2.2));
      float sun = max(dot(n, LIGHT), 0.0);
      vec3 sky = mix(vec3(0.26, 0.22, 0.21), vec3(0.64, 0.70, 0.80), 0.5 + 0.5 * n.y);
      vec3 lit = base * (sky * 0.66 + vec3(1.0, 0.95, 0.87) * sun * 0.72);
      lit += vec3(0.10) * pow(max(dot(n, h), 0.0), 42.0) * step(0.0, sun);
      lit += 0.10 * base * pow(1.0 - max(dot(n, v), 0.0), 3.0);
      pixel = vec4(pow(min(lit, 1.0), vec3(1.0 / 2.2)), 1.0);
    }`;

  const SHADERS = {
    surface: [`
      layout(location = 0) in vec3 position;
      layout(location = 1) in vec3 normal;
      uniform mat4 camera;
      out vec3 point, n;
      void main() { point = position; n = normal; gl_Position = camera * vec4(position, 1.0); }`, `
      in vec3 point, n;
      ${LIGHTING}
      void main() { shade(point, normalize(n) * (gl_FrontFacing ? 1.0 : -1.0)); }`],
    // A rope: one cylinder per edge and one ball per edge end; `shape` is a point of the unit cylinder or ball.
    rope: [`
      layout(location = 0) in vec3 shape;
      layout(location = 1) in vec3 from;
      layout(location = 2) in vec3 to;
      uniform mat4 camera;
      uniform float radius, pixel;
      uniform bool ball;
      out vec3 point, n;
      void main() {
        float thick = max(radius, 1.2 * pixel * (camera * vec4(to, 1.0)).w);  // never thinner than a few pixels
        if (ball) {
          n = shape;
          point = to + thick * shape;
        } else {
          vec3 axis = to - from;
          vec3 along = dot(axis, axis) > 0.0 ? normalize(axis) : vec3(0.0, 1.0, 0.0);
          vec3 u = normalize(cross(along, abs(along.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
          n = u * shape.x + cross(along, u) * shape.y;
          point = from + axis * shape.z + thick * n;
        }
        gl_Position = camera * vec4(point, 1.0);
      }`, `
      in vec3 point, n;
      ${LIGHTING}
      void main() { shade(point, normalize(n)); }`],
    flat: [`
      layout(location = 0) in vec3 position;
      uniform mat4 camera;
      void main() { gl_Position = camera * vec4(position, 1.0); gl_Position.z -= 1e-4 * gl_Position.w; }`, `
      uniform vec4 tint;
      out vec4 pixel;
      void main() { pixel = vec4(tint.rgb * tint.a, tint.a); }`],
    // Straight down onto the ground, fainter the higher the body is.
    shadow: [`
      layout(location = 0) in vec3 position;
      uniform mat4 camera;
      uniform float ground;
      out float height;
      void main() {
        height = position.y - ground;
        gl_Position = camera * vec4(position.x, ground, position.z, 1.0);
      }`, `
      uniform float strength;
      in float height;
      out vec4 pixel;
      void main() {
        if (height < 0.0) discard;
        pixel = vec4(0.0, 0.0, 0.0, strength);
      }`],
    grid: [`
      layout(location = 0) in vec3 position;
      uniform mat4 camera;
      uniform vec3 center;
      uniform float ground, extent;
      out vec2 place;
      void main() {
        place = position.xz * extent;
        gl_Position = camera * vec4(center.x + place.x, ground, center.z + place.y, 1.0);
      }`, `
      uniform vec4 tint;
      uniform vec2 phase;      // of the grid's middle, in cells of five lines
      uniform float spacing, extent;
      in vec2 place;
      out vec4 pixel;
      float lines(vec2 at, float cell) {
        vec2 q = at / cell, w = fwidth(q);
        vec2 d = abs(fract(q - 0.5) - 0.5) / max(w, 1e-6);
        // Lines closer than a few pixels melt into a faint even tone.
        vec2 line = (1.0 - clamp(d - 0.3, 0.0, 1.0)) * clamp(0.6 / max(w, 1e-6) / 4.0, 0.0, 1.0);
        return max(line.x, line.y);
      }
      void main() {
        float fade = 1.0 - smoothstep(0.15, 1.0, length(place) / extent);
        vec2 at = place + phase * spacing * 5.0;
        float a = tint.a * fade * max(0.55 * lines(at, spacing), lines(at, 5.0 * spacing));
        pixel = vec4(tint.rgb * a, a);
      }`]
  };

  function unitCylinder(sides) {
    const points = [], triangles = [];
    for (let i = 0; i < sides; ++i) {
      const a = 2 * Math.PI * i / sides, j = (i + 1) % sides;
      points.push(Math.cos(a), Math.sin(a), 0, Math.cos(a), Math.sin(a), 1);
      triangles.push(2 * i, 2 * j, 2 * i + 1, 2 * j, 2 * j + 1, 2 * i + 1);
    }
    return {points: Float32Array.from(points), triangles: Uint16Array.from(triangles)};
  }
  function unitBall(rings, sides) {
    const points = [], triangles = [];
    for (let r = 0; r <= rings; ++r) {
      for (let s = 0; s < sides; ++s) {
        const a = Math.PI * r / rings, b = 2 * Math.PI * s / sides;
        points.push(Math.sin(a) * Math.cos(b), Math.cos(a), Math.sin(a) * Math.sin(b));
        if (r === rings) continue;
        const i = r * sides + s, j = r * sides + (s + 1) % sides;
        triangles.push(i, j, i + sides, j, j + sides, i + sides);
      }
    }
    return {points: Float32Array.from(points), triangles: Uint16Array.from(triangles)};
  }

  function parseColor(text) {
    const m = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text || '');
    return m ? m.slice(1).map(h => parseInt(h, 16) / 255) : [0.8, 0.55, 0.4];
  }

  class Viewer {
    constructor(canvas, camera) {
      const gl = canvas.getContext('webgl2', {alpha: true, antialias: true, stencil: true});
      if (!gl) throw new Error('This browser offers no WebGL 2');
      this.canvas = canvas;
      this.camera = camera;
      this.gl = gl;
      this.wireframe = false;
      this.cage = false;
      this.ground = null;                 // height in the world, null: no grid
      this.theme = {grid: [0.3, 0.35, 0.4, 0.5], wire: [0, 0, 0, 0.35], shadow: 0.2};
      this.origin = [0, 0, 0];
      this.bodies = [];
      this.size = 1;
      this.setUp();
      camera.listeners.add(() => this.requestDraw());
      new ResizeObserver(() => this.requestDraw()).observe(canvas);
      // A browser may take the graphics away (sleep, too many pages); everything is rebuilt when it gives them back.
      canvas.addEventListener('webglcontextlost', e => e.preventDefault());
      canvas.addEventListener('webglcontextrestored', () => {
        this.setUp();
        this.setMeshes(this.meshes);
        if (this.positions) this.setPositions(this.positions, this.origin);
      });
    }

    setUp() {
      const gl = this.gl;
      this.programs = {};
      for (const [name, [vertex, fragment]] of Object.entries(SHADERS)) this.programs[name] = link(gl, vertex, fragment);
      this.quad = gl.createVertexArray();
      gl.bindVertexArray(this.quad);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, Float32Array.of(-1, 0, -1, 1, 0, -1, -1, 0, 1, 1, 0, 1), gl.STATIC_DRAW);
      attribute(gl, 0, 12, 0);
    }

    setMeshes(meshes) {
      const gl = this.gl;
      this.meshes = meshes;
      let first = 0, size = 0;
      this.bodies = meshes.map(mesh => {
        const count = mesh.rest.length / 3;
        const body = {first, count, color: parseColor(mesh.color), cage: Boolean(mesh.cage)};
        if (mesh.triangles.length) body.surface = this.makeSurface(mesh, count);
        if (mesh.edges.length) body.rope = this.makeRope(mesh);
        first += count;
        for (let axis = 0; axis < 3; ++axis) {
          let low = Infinity, high = -Infinity;
          for (let i = axis; i < mesh.rest.length; i += 3) {
            low = Math.min(low, mesh.rest[i]);
            high = Math.max(high, mesh.rest[i]);
          }
          if (high > low) size = Math.max(size, high - low);
        }
        return body;
      });
      this.size = size || 1;
      this.vertexCount = first;
      this.gridSpacing = verve.math.niceStep(this.size / 4);  // a default; set it anew to suit the motion
      gl.bindVertexArray(null);
      this.requestDraw();
    }

    setElements(index, triangles, edges) {
      const gl = this.gl, body = this.bodies[index], mesh = {...this.meshes[index], triangles, edges};
      this.meshes = this.meshes.map((old, i) => i === index ? mesh : old);
      if (body.surface) gl.deleteBuffer(body.surface.buffer);
      if (body.rope) gl.deleteBuffer(body.rope.buffer);
      body.surface = triangles.length ? this.makeSurface(mesh, body.count) : undefined;
      body.rope = edges.length ? this.makeRope(mesh) : undefined;
      gl.bindVertexArray(null);
    }

    makeSurface(mesh, count) {
      const gl = this.gl, split = verve.math.splitCreases(mesh.triangles, mesh.rest, count, 72);
      const lines = verve.math.edgesOf(split.triangles, split.source.length);
      const surface = {split, data: new Float32Array(6 * split.source.length), buffer: gl.createBuffer(),
                       array: gl.createVertexArray(), lineArray: gl.createVertexArray(),
                       triangleCount: split.triangles.length, lineCount: lines.length};
      for (const [array, indices] of [[surface.array, split.triangles], [surface.lineArray, lines]]) {
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, surface.buffer);
        attribute(gl, 0, 24, 0);
        if (array === surface.array) attribute(gl, 1, 24, 12);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
      }
      return surface;
    }

    makeRope(mesh) {
      const gl = this.gl, {edges, rest} = mesh;
      let length = 0;
      for (let e = 0; e < edges.length; e += 2) {
        const a = 3 * edges[e], b = 3 * edges[e + 1];
        length += Math.hypot(rest[a] - rest[b], rest[a + 1] - rest[b + 1], rest[a + 2] - rest[b + 2]);
      }
      // Beside faces an edge is a thread, on its own a rope, of whatever fineness.
      const mean = length / (edges.length / 2);
      const radius = mesh.triangles.length ? 0.03 * mean : Math.max(0.12 * mean, Math.min(0.3 * mean, 0.006 * length));
      const rope = {edges, radius: radius || 0.01, buffer: gl.createBuffer(),
                    data: new Float32Array(3 * edges.length), shapes: []};
      for (const shape of [unitCylinder(12), unitBall(8, 12)]) {
        const array = gl.createVertexArray();
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ARRAY_BUFFER, shape.points, gl.STATIC_DRAW);
        attribute(gl, 0, 12, 0);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shape.triangles, gl.STATIC_DRAW);
        gl.bindBuffer(gl.ARRAY_BUFFER, rope.buffer);
        // Each edge is an instance of the cylinder, each end of an edge an instance of the ball.
        const ball = rope.shapes.length === 1;
        attribute(gl, 1, ball ? 12 : 24, 0, 1);
        attribute(gl, 2, ball ? 12 : 24, ball ? 0 : 12, 1);
        rope.shapes.push({array, ball, indices: shape.triangles.length, instances: edges.length / (ball ? 1 : 2)});
      }
      return rope;
    }

    setPositions(positions, origin = [0, 0, 0]) {
      if (positions.length !== 3 * this.vertexCount)
        throw new RangeError(`setPositions: found ${positions.length} numbers, expected ${3 * this.vertexCount}`);
      const gl = this.gl;
      this.positions = positions;
      this.origin = origin;
      for (const body of this.bodies) {
        const part = positions.subarray(3 * body.first, 3 * (body.first + body.count));
        if (body.surface) {
          verve.math.fillSurface(body.surface.split, part, body.surface.data);
          body.surface.lowest = part.reduce((low, y, i) => i % 3 === 1 && y < low ? y : low, Infinity);
          gl.bindBuffer(gl.ARRAY_BUFFER, body.surface.buffer);
          gl.bufferData(gl.ARRAY_BUFFER, body.surface.data, gl.DYNAMIC_DRAW);
        }
        if (body.rope) {
          const {edges, data, buffer} = body.rope;
          for (let i = 0; i < edges.length; ++i)
            for (let axis = 0; axis < 3; ++axis) data[3 * i + axis] = part[3 * edges[i] + axis];
          gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
          gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        }
      }
      this.requestDraw();
    }

    requestDraw() {
      if (this.pending) return;
      this.pending = true;
      requestAnimationFrame(() => {
        this.pending = false;
        this.draw();
      });
    }

    draw() {
      const {gl, canvas, camera} = this;
      const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
      const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);

      const axes = camera.axes(), eye = camera.target.map((t, i) => t + camera.distance * axes.back[i]);
      const reach = 40 * Math.max(this.size, camera.distance / 8);
      const view = verve.math.multiply(
          verve.math.perspective(camera.fov, width / height, 0.02 * camera.distance, camera.distance + 2 * reach),
          verve.math.viewMatrix(axes, eye));
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.disable(gl.BLEND);
      this.drawBodies(view, eye);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      if (this.wireframe) this.drawWires(view, body => !body.cage);
      if (this.cage) {
        gl.disable(gl.DEPTH_TEST);  // seen through the surface that it carries
        this.drawWires(view, body => body.cage);
        gl.enable(gl.DEPTH_TEST);
      }
      if (this.ground !== null) {
        gl.depthMask(false);
        this.drawGround(view, reach / 3);
        gl.depthMask(true);
      }
      gl.bindVertexArray(null);
    }

    use(name, view) {
      const program = this.programs[name], {gl} = this;
      gl.useProgram(program.handle);
      gl.uniformMatrix4fv(program.at('camera'), false, view);
      return program;
    }

    drawBodies(view, eye) {
      const gl = this.gl;
      for (const body of this.bodies) {
        if (body.cage) continue;
        if (body.surface) {
          const program = this.use('surface', view);
          gl.uniform3fv(program.at('eye'), eye);
          gl.uniform3fv(program.at('color'), body.color);
          gl.bindVertexArray(body.surface.array);
          gl.drawElements(gl.TRIANGLES, body.surface.triangleCount, gl.UNSIGNED_INT, 0);
        }
        if (body.rope) {
          const program = this.use('rope', view);
          gl.uniform3fv(program.at('eye'), eye);
          gl.uniform3fv(program.at('color'), body.color);
          gl.uniform1f(program.at('radius'), body.rope.radius);
          gl.uniform1f(program.at('pixel'), 2 * Math.tan(this.camera.fov / 2) / this.canvas.clientHeight);
          for (const shape of body.rope.shapes) {
            gl.uniform1i(program.at('ball'), shape.ball ? 1 : 0);
            gl.bindVertexArray(shape.array);
            gl.drawElementsInstanced(gl.TRIANGLES, shape.indices, gl.UNSIGNED_SHORT, 0, shape.instances);
          }
        }
      }
    }

    drawWires(view, wanted) {
      const gl = this.gl, program = this.use('flat', view);
      gl.uniform4fv(program.at('tint'), this.theme.wire);
      for (const body of this.bodies) {
        if (!body.surface || !wanted(body)) continue;
        gl.bindVertexArray(body.surface.lineArray);
        gl.drawElements(gl.LINES, body.surface.lineCount, gl.UNSIGNED_INT, 0);
      }
    }

    drawGround(view, extent) {
      const gl = this.gl, ground = this.ground - this.origin[1];
      // The stencil lets every pixel of the shadow be darkened once.
      const shadow = this.use('shadow', view);
      gl.uniform1f(shadow.at('ground'), ground);
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      for (const {surface, cage} of this.bodies) {
        if (!surface || cage) continue;
        const height = Math.max(0, surface.lowest - ground) / this.size;
        gl.uniform1f(shadow.at('strength'), this.theme.shadow / (1 + 1.5 * height));
        gl.bindVertexArray(surface.array);
        gl.drawElements(gl.TRIANGLES, surface.triangleCount, gl.UNSIGNED_INT, 0);
      }
      gl.disable(gl.STENCIL_TEST);

      const {target} = this.camera, cell = 5 * this.gridSpacing;
      const phase = a => (((a / cell) % 1) + 1) % 1;  // reduced here, in double: a float shader loses it far out
      const grid = this.use('grid', view);
      gl.uniform4fv(grid.at('tint'), this.theme.grid);
      gl.uniform3fv(grid.at('center'), target);
      gl.uniform2f(grid.at('phase'), phase(target[0] + this.origin[0]), phase(target[2] + this.origin[2]));
      gl.uniform1f(grid.at('ground'), ground);
      gl.uniform1f(grid.at('spacing'), this.gridSpacing);
      gl.uniform1f(grid.at('extent'), extent);
      gl.bindVertexArray(this.quad);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  function attribute(gl, location, stride, offset, divisor = 0) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, 3, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(location, divisor);
  }

  function link(gl, vertex, fragment) {
    const handle = gl.createProgram();
    for (const [type, body] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, '#version 300 es\nprecision highp float;\n' + body);
      gl.compileShader(shader);
      gl.attachShader(handle, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error('shader: ' + gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(handle);
    if (!gl.getProgramParameter(handle, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error('shader: ' + gl.getProgramInfoLog(handle));
    const places = new Map();
    const at = name => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(handle, name));
      return places.get(name);
    };
    return {handle, at};
  }

  verve.Viewer = Viewer;
})(globalThis.verve);
