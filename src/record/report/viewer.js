// Draws moving meshes with WebGL 2, for reports and for the live page. Knows nothing of either: give it meshes once and
// positions per frame.
//
//   const camera = new verve.Camera();                     // may be shared by several viewers
//   const viewer = new verve.Viewer(canvas, camera);       // throws when WebGL 2 is missing
//   viewer.setMeshes([{color: '#e08a5b', triangles, edges, rest}, ...]);   // Uint32Array, Uint32Array, Float32Array
//                                                          // with `cage: true`: only lines, and only if viewer.cage;
//                                                          // `backdrop: true`: gets shadows but throws none, seen
//                                                          // from its front only: walls hide nothing;
//                                                          // `scenery: true`: is neither picked nor coloured by stretch
//                                                          // `finish`: roughness, translucency, metal, threads across;
//                                                          of a solid also how often light and dark alternate along it,
//                                                          and by how much
//   viewer.setElements(mesh, triangles, edges);            // others over the same vertices; then positions again
//   viewer.setPositions(Float32Array, origin);             // all meshes one after another, relative to `origin`
//   viewer.strain = 0.3;                                   // colours by stretch, full at this much; 0: plain
//   viewer.marks = [[x, y, z], ...];                       // small balls, relative to `origin`
//   viewer.pick(x, y);                                     // what is under a pixel: {mesh, vertex, point} or null
//   verve.attachControls(canvas, camera);
//
// Classic script; needs mesh_math.js and camera.js; adds to the global `verve`.
'use strict';
globalThis.verve = globalThis.verve || {};

(function (verve) {
  const LIGHT = [0.5, 0.85, 0.6].map(a => a / Math.hypot(0.5, 0.85, 0.6));
  const SHADOW_SIZE = 1024;
  const FINISH = [0.5, 0.15, 0, 0, 0, 0];

  // How much of the light reaches a point: a disc of samples of what the light sees, turned from pixel to pixel.
  const SHADOWS = `
    uniform highp sampler2DShadow depths;
    uniform mat4 light;
    float reached(vec3 point, float bias, float spread) {
      vec3 q = (light * vec4(point, 1.0)).xyz * 0.5 + 0.5;
      if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
      float turn = 6.2832 * fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.06711, 0.00584)))), sum = 0.0;
      for (int i = 0; i < 16; ++i) {
        float r = sqrt((float(i) + 0.5) / 16.0) * spread / ${SHADOW_SIZE}.0, a = turn + 2.39996 * float(i);
        sum += texture(depths, vec3(q.xy + r * vec2(cos(a), sin(a)), q.z - bias));
      }
      return sum / 16.0;
    }`;
  // A room of soft light: a sky, a floor that throws some of it back, and the sun with a wide halo. Reflections see the room
  // the more blurred the rougher a surface is. What is brighter than the picture is rolled off, not cut off.
  const LIGHTING = `
    uniform vec3 color, eye;
    uniform float strained;
    uniform vec4 finish;  // roughness, translucency, metal, threads of a weave per unit of \`place\`
    uniform vec2 marbling;  // of solids: veins per unit of \`place\`, and their depth
    out vec4 pixel;
    const vec3 LIGHT = normalize(vec3(0.5, 0.85, 0.6)), FILL = normalize(vec3(-0.8, 0.35, 0.3));
    ${SHADOWS}
    vec3 room(vec3 d, float rough) {
      float soft = mix(0.08, 0.9, rough);
      vec3 sky = mix(vec3(0.80, 0.82, 0.84), vec3(0.52, 0.64, 0.80), smoothstep(0.0, 1.0, d.y));
      vec3 floor = vec3(0.34, 0.30, 0.27);
      vec3 seen = mix(floor, sky, smoothstep(-soft, soft, d.y));
      // a window behind the eye's shoulder
      return seen + vec3(1.5, 1.35, 1.15) * pow(max(dot(d, FILL), 0.0), mix(90.0, 3.0, rough)) * mix(0.9, 0.12, rough);
    }
    float rolled(float c) {  // Narkowicz 2015, the curve of ACES
      return clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
    }
    vec3 toned(vec3 c) {  // mostly by its brightest channel: colours keep their hue
      c *= 0.66;
      float most = max(max(c.r, c.g), max(c.b, 1e-4));
      return mix(vec3(rolled(c.r), rolled(c.g), rolled(c.b)), c * rolled(most) / most, 0.7);
    }
    /** Over and under, threads seen where they are wider than a pixel. */
    float weave(vec2 place) {
      vec2 q = place * finish.w, w = fwidth(q);
      float seen = 1.0 - smoothstep(0.25, 0.7, max(w.x, w.y));
      vec2 f = abs(fract(q) - 0.5);
      float over = mod(floor(q.x) + floor(q.y), 2.0);
      return seen * (mix(f.x, f.y, over) * 0.42 - 0.02);
    }
    /** Veins through a solid, -1 to 1: Schoen's gyroid, bent so that it does not repeat; seen where wider than pixels. */
    float veins(vec3 place) {
      vec3 q = place * 3.1416 * marbling.x, w = fwidth(q);
      q += 1.3 * sin(0.53 * q.yzx + 1.0);
      float seen = 1.0 - smoothstep(0.7, 2.0, max(w.x, max(w.y, w.z)));
      return seen * smoothstep(-0.9, 0.9, dot(sin(q), cos(q.yzx))) * 2.0 - seen;
    }
    void shade(vec3 point, vec3 n, float strain, vec3 place, float hollow) {
      vec3 tint = color;
      if (strained > 0.0) {  // from blue (pressed) over pale to red (stretched)
        float s = clamp(strain / strained, -1.0, 1.0);
        tint = s < 0.0 ? mix(vec3(0.90, 0.90, 0.88), vec3(0.13, 0.38, 0.74), -s)
                       : mix(vec3(0.90, 0.90, 0.88), vec3(0.80, 0.16, 0.12), s);
      } else if (finish.w > 0.0) {
        tint *= 1.0 - weave(place.xy);
      } else if (marbling.y > 0.0) {
        tint *= 1.0 + marbling.y * veins(place);
      }
      float rough = finish.x, clear = strained > 0.0 ? 0.0 : finish.y, metal = strained > 0.0 ? 0.0 : finish.z;
      vec3 v = normalize(eye - point), h = normalize(LIGHT + v), base = pow(tint, vec3(2.2));
      float facing = dot(n, LIGHT), sun = max(facing, 0.0), reach = 0.0;
      if (facing > -0.4 * clear) reach = reached(point, 0.004 + 0.012 * (1.0 - sun), 5.0);
      // light that goes round the edge of what is translucent, and through it
      float wrapped = max((facing + 0.5 * clear) / (1.0 + 0.5 * clear), 0.0) * mix(reach, 1.0, 0.35 * clear);
      float through = clear * pow(max(dot(-v, normalize(LIGHT + 0.5 * n)), 0.0), 3.0);
      float edge = pow(1.0 - max(dot(n, v), 0.0), 5.0);
      vec3 mirror = mix(vec3(0.04), base, metal), shine = mirror + (1.0 - mirror) * edge * (1.0 - 0.8 * rough);
      // a cavity sees less of the room, a ridge a little more
      float open = 1.0 - 0.6 * max(hollow, 0.0) + 0.12 * max(-hollow, 0.0);
      vec3 lit = base * (1.0 - metal) * (0.62 * open * room(n, 1.0) + vec3(1.05, 0.98, 0.88) * wrapped * min(1.0, 0.4 + 0.6 * open));
      lit += base * base * vec3(1.3, 1.1, 0.9) * through;
      float glint = pow(max(dot(n, h), 0.0), mix(220.0, 12.0, rough)) * mix(14.0, 1.2, rough);
      lit += shine * open * (room(reflect(-v, n), rough) * mix(0.5, 1.0, metal) + sun * reach * glint);
      lit += 0.10 * base * pow(1.0 - max(dot(n, v), 0.0), 3.0);
      pixel = vec4(pow(toned(lit), vec3(1.0 / 2.2)), 1.0);
    }`;

  const SHADERS = {
    surface: [`
      layout(location = 0) in vec3 position;
      layout(location = 1) in vec3 normal;
      layout(location = 2) in float stretch;
      layout(location = 3) in vec3 rest;
      layout(location = 4) in float curved;
      uniform mat4 camera;
      out vec3 point, n;
      out float strain, hollow;
      out vec3 place;
      void main() {
        point = position;
        n = normal;
        strain = stretch;
        hollow = curved;
        place = rest;
        gl_Position = camera * vec4(position, 1.0);
      }`, `
      in vec3 point, n;
      in float strain, hollow;
      in vec3 place;
      ${LIGHTING}
      void main() {
        float side = gl_FrontFacing ? 1.0 : -1.0;
        shade(point, normalize(n) * side, strain, place, hollow * side);
      }`],
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
      void main() { shade(point, normalize(n), 0.0, vec3(0.0), 0.0); }`],
    flat: [`
      layout(location = 0) in vec3 position;
      uniform mat4 camera;
      void main() { gl_Position = camera * vec4(position, 1.0); gl_Position.z -= 1e-4 * gl_Position.w; }`, `
      uniform vec4 tint;
      out vec4 pixel;
      void main() { pixel = vec4(tint.rgb * tint.a, tint.a); }`],
    depth: [`
      layout(location = 0) in vec3 position;
      uniform mat4 camera;
      void main() { gl_Position = camera * vec4(position, 1.0); }`, `
      void main() {}`],
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
      uniform vec3 center;
      uniform vec2 phase;      // of the grid's middle, in cells of five lines
      uniform float spacing, extent, ground, shadow;
      in vec2 place;
      out vec4 pixel;
      ${SHADOWS}
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
        // a shadow darkens what lies under the page's colour; lines stay above it
        float dark = shadow * (1.0 - reached(vec3(center.x + place.x, ground, center.z + place.y), 0.002, 20.0)) *
                     sqrt(fade);
        pixel = vec4(tint.rgb * a, a + dark * (1.0 - a));
      }`]
  };
  SHADERS.ropeDepth = [SHADERS.rope[0], 'void main() {}'];

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
      const gl = canvas.getContext('webgl2', {alpha: true, antialias: true, preserveDrawingBuffer: false});
      if (!gl) throw new Error('This browser offers no WebGL 2');
      this.canvas = canvas;
      this.camera = camera;
      this.gl = gl;
      this.wireframe = false;
      this.cage = false;
      this.strain = 0;
      this.marks = [];
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

      // what the light sees
      this.depths = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, this.depths);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE);
      for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
                                   [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
                                   [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE],
                                   [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL]])
        gl.texParameteri(gl.TEXTURE_2D, name, value);
      this.shade = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.shade);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depths, 0);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);

      const ball = unitBall(10, 16);
      this.ball = {array: gl.createVertexArray(), buffer: gl.createBuffer(), indices: ball.triangles.length};
      gl.bindVertexArray(this.ball.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, ball.points, gl.STATIC_DRAW);
      attribute(gl, 0, 12, 0);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, ball.triangles, gl.STATIC_DRAW);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.ball.buffer);
      attribute(gl, 1, 12, 0, 1);
      attribute(gl, 2, 12, 0, 1);
      gl.bindVertexArray(null);
    }

    setMeshes(meshes) {
      const gl = this.gl;
      this.meshes = meshes;
      let first = 0, size = 0;
      this.bodies = meshes.map(mesh => {
        const count = mesh.rest.length / 3;
        const body = {first, count, color: parseColor(mesh.color), cage: Boolean(mesh.cage),
                      backdrop: Boolean(mesh.backdrop), scenery: Boolean(mesh.backdrop || mesh.scenery), finish: mesh.finish || FINISH};
        if (mesh.triangles.length) body.surface = this.makeSurface(mesh, count);
        if (mesh.edges.length) body.rope = this.makeRope(mesh);
        first += count;
        if (mesh.backdrop) return body;
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
      if (body.surface) for (const key of ['buffer', 'stretchBuffer', 'hollowBuffer']) gl.deleteBuffer(body.surface[key]);
      if (body.rope) gl.deleteBuffer(body.rope.buffer);
      body.surface = triangles.length ? this.makeSurface(mesh, body.count) : undefined;
      body.rope = edges.length ? this.makeRope(mesh) : undefined;
      gl.bindVertexArray(null);
    }

    makeSurface(mesh, count) {
      const gl = this.gl, split = verve.math.splitCreases(mesh.triangles, mesh.rest, count, 72);
      const lines = verve.math.edgesOf(split.triangles, split.source.length);
      const surface = {split, data: new Float32Array(6 * split.source.length), buffer: gl.createBuffer(),
                       stretchBuffer: gl.createBuffer(), stretches: null, mesh,
                       hollowBuffer: gl.createBuffer(), hollows: verve.math.hollowOf(mesh.triangles, count, Math.max(...boxOf(mesh.rest).extent)),
                       array: gl.createVertexArray(), lineArray: gl.createVertexArray(),
                       triangleCount: split.triangles.length, lineCount: lines.length};
      for (const [array, indices] of [[surface.array, split.triangles], [surface.lineArray, lines]]) {
        gl.bindVertexArray(array);
        gl.bindBuffer(gl.ARRAY_BUFFER, surface.buffer);
        attribute(gl, 0, 24, 0);
        if (array === surface.array) {
          attribute(gl, 1, 24, 12);
          gl.bindBuffer(gl.ARRAY_BUFFER, surface.stretchBuffer);
          gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(split.source.length), gl.DYNAMIC_DRAW);
          attribute(gl, 2, 4, 0, 0, 1);
          gl.bindBuffer(gl.ARRAY_BUFFER, surface.hollowBuffer);
          gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(split.source.length), gl.DYNAMIC_DRAW);
          attribute(gl, 4, 4, 0, 0, 1);
          gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
          gl.bufferData(gl.ARRAY_BUFFER, places(mesh.rest, split.source), gl.STATIC_DRAW);
          attribute(gl, 3, 12, 0);
        }
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
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      for (const body of this.bodies) {
        if (!body.backdrop)
          for (let i = 3 * body.first; i < 3 * (body.first + body.count); ++i) {
            const axis = i % 3, a = positions[i];
            if (a < low[axis]) low[axis] = a;
            if (a > high[axis]) high[axis] = a;
          }
        const part = positions.subarray(3 * body.first, 3 * (body.first + body.count));
        if (body.surface) {
          verve.math.fillSurface(body.surface.split, part, body.surface.data);
          gl.bindBuffer(gl.ARRAY_BUFFER, body.surface.buffer);
          gl.bufferData(gl.ARRAY_BUFFER, body.surface.data, gl.DYNAMIC_DRAW);
          if (!body.scenery) {
            gl.bindBuffer(gl.ARRAY_BUFFER, body.surface.hollowBuffer);
            gl.bufferData(gl.ARRAY_BUFFER, body.surface.hollows(part, body.surface.split.source), gl.DYNAMIC_DRAW);
          }
          if (this.strain && !body.scenery) {
            gl.bindBuffer(gl.ARRAY_BUFFER, body.surface.stretchBuffer);
            const {split, mesh} = body.surface;
            body.surface.stretches ??= verve.math.stretchOf(mesh.triangles, mesh.rest);
            gl.bufferData(gl.ARRAY_BUFFER, body.surface.stretches(part, split.source), gl.DYNAMIC_DRAW);
          }
        }
        if (body.rope) {
          const {edges, data, buffer} = body.rope;
          for (let i = 0; i < edges.length; ++i)
            for (let axis = 0; axis < 3; ++axis) data[3 * i + axis] = part[3 * edges[i] + axis];
          gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
          gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
        }
      }
      this.bounds = {low, high};
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
      this.drawShade();
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);

      const {view, eye, reach} = this.look(width / height);
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

    look(aspect) {
      const {camera} = this, axes = camera.axes();
      const eye = camera.target.map((t, i) => t + camera.distance * axes.back[i]);
      const reach = 40 * Math.max(this.size, camera.distance / 8);
      const view = verve.math.multiply(
          verve.math.perspective(camera.fov, aspect, 0.02 * camera.distance, camera.distance + 2 * reach),
          verve.math.viewMatrix(axes, eye));
      return {view, eye, reach, axes};
    }

    /** The scene from where the light comes, as depths; the light is far away, so lines stay parallel. */
    drawShade() {
      const {gl} = this, {low, high} = this.bounds || {low: [0, 0, 0], high: [0, 0, 0]};
      if (!low.every(Number.isFinite) || !high.every(Number.isFinite)) return;
      const center = low.map((l, i) => (l + high[i]) / 2);
      const radius = 1.02 * Math.hypot(...low.map((l, i) => high[i] - l)) / 2 + 0.02 * this.size;
      // as deep as from the bodies down to their shadow
      const fall = this.ground === null ? 0 : Math.max(0, center[1] - (this.ground - this.origin[1])) / LIGHT[1];
      const depth = 1.1 * (radius + fall);
      const right = [LIGHT[2], 0, -LIGHT[0]].map(a => a / Math.hypot(LIGHT[0], LIGHT[2]));
      const up = [LIGHT[1] * right[2], LIGHT[2] * right[0] - LIGHT[0] * right[2], -LIGHT[1] * right[0]];
      const flat = [1 / radius, 0, 0, 0, 0, 1 / radius, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1];
      this.light = verve.math.multiply(flat, verve.math.viewMatrix({right, up, back: LIGHT}, center));
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.shade);
      gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.depthMask(true);
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(1.5, 3);
      for (const body of this.bodies) {
        if (body.cage || body.backdrop) continue;
        if (body.surface) {
          this.use('depth', this.light);
          gl.bindVertexArray(body.surface.array);
          gl.drawElements(gl.TRIANGLES, body.surface.triangleCount, gl.UNSIGNED_INT, 0);
        }
        if (body.rope) {
          const program = this.use('ropeDepth', this.light);
          gl.uniform1f(program.at('radius'), body.rope.radius);
          gl.uniform1f(program.at('pixel'), 0);
          this.drawRope(program, body.rope);
        }
      }
      gl.disable(gl.POLYGON_OFFSET_FILL);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }

    drawRope(program, rope) {
      const gl = this.gl;
      for (const shape of rope.shapes) {
        gl.uniform1i(program.at('ball'), shape.ball ? 1 : 0);
        gl.bindVertexArray(shape.array);
        gl.drawElementsInstanced(gl.TRIANGLES, shape.indices, gl.UNSIGNED_SHORT, 0, shape.instances);
      }
    }

    /** Hands the shadows to a program that asks for them. */
    lend(program) {
      const gl = this.gl;
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, this.depths);
      gl.uniform1i(program.at('depths'), 0);
      gl.uniformMatrix4fv(program.at('light'), false, this.light || new Float32Array(16));
    }

    use(name, view) {
      const program = this.programs[name], {gl} = this;
      gl.useProgram(program.handle);
      gl.uniformMatrix4fv(program.at('camera'), false, view);
      return program;
    }

    setFinish(program, finish) {
      this.gl.uniform4fv(program.at('finish'), finish.slice(0, 4));
      this.gl.uniform2f(program.at('marbling'), finish[4] || 0, finish[5] || 0);
    }

    drawBodies(view, eye) {
      const gl = this.gl;
      for (const body of this.bodies) {
        if (body.cage) continue;
        if (body.surface) {
          const program = this.use('surface', view);
          this.lend(program);
          gl.uniform3fv(program.at('eye'), eye);
          gl.uniform3fv(program.at('color'), body.color);
          gl.uniform1f(program.at('strained'), body.scenery ? 0 : this.strain);
          this.setFinish(program, body.finish);
          gl.bindVertexArray(body.surface.array);
          if (body.backdrop) gl.enable(gl.CULL_FACE);
          gl.drawElements(gl.TRIANGLES, body.surface.triangleCount, gl.UNSIGNED_INT, 0);
          gl.disable(gl.CULL_FACE);
        }
        if (body.rope) {
          const program = this.use('rope', view);
          this.lend(program);
          gl.uniform3fv(program.at('eye'), eye);
          gl.uniform3fv(program.at('color'), body.color);
          gl.uniform1f(program.at('strained'), 0);
          this.setFinish(program, FINISH);
          gl.uniform1f(program.at('radius'), body.rope.radius);
          gl.uniform1f(program.at('pixel'), this.pixel());
          this.drawRope(program, body.rope);
        }
      }
      if (this.marks.length) this.drawMarks(view, eye);
    }

    pixel() {
      return 2 * Math.tan(this.camera.fov / 2) / (this.canvas.clientHeight || 1);
    }

    drawMarks(view, eye) {
      const gl = this.gl, program = this.use('rope', view);
      this.lend(program);
      gl.uniform3fv(program.at('eye'), eye);
      gl.uniform3fv(program.at('color'), this.theme.mark || [0.95, 0.75, 0.2]);
      gl.uniform1f(program.at('strained'), 0);
      this.setFinish(program, FINISH);
      gl.uniform1f(program.at('radius'), 5 * this.pixel() * this.camera.distance);
      gl.uniform1f(program.at('pixel'), 0);
      gl.uniform1i(program.at('ball'), 1);
      gl.bindVertexArray(this.ball.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.ball.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(this.marks.flat()), gl.DYNAMIC_DRAW);
      gl.drawElementsInstanced(gl.TRIANGLES, this.ball.indices, gl.UNSIGNED_SHORT, 0, this.marks.length);
    }

    /** From the eye through a pixel of the canvas (CSS pixels from its corner): {eye, along}. */
    ray(x, y) {
      const {canvas, camera} = this, {eye, axes} = this.look(1), slope = Math.tan(camera.fov / 2);
      const height = canvas.clientHeight || 1, aspect = (canvas.clientWidth || 1) / height;
      const u = (2 * x / (canvas.clientWidth || 1) - 1) * slope * aspect, v = (1 - 2 * y / height) * slope;
      const along = axes.back.map((b, i) => u * axes.right[i] + v * axes.up[i] - b), length = Math.hypot(...along);
      return {eye, along: along.map(a => a / length)};
    }

    /** Where a point, relative to `origin`, is on the canvas, in CSS pixels from its corner; null behind the eye. */
    project(point) {
      const {canvas, camera} = this, {eye, axes} = this.look(1), slope = Math.tan(camera.fov / 2);
      const width = canvas.clientWidth || 1, height = canvas.clientHeight || 1, from = point.map((p, i) => p - eye[i]);
      const along = a => from[0] * a[0] + from[1] * a[1] + from[2] * a[2], depth = -along(axes.back);
      if (!(depth > 0)) return null;
      const scale = height / 2 / (slope * depth);
      return [width / 2 + scale * along(axes.right), height / 2 - scale * along(axes.up)];
    }

    /** The nearest vertex of the nearest triangle under a pixel, or of an edge within `reach` pixels of it. */
    pick(x, y, reach = 14) {
      if (!this.positions) return null;
      const {eye, along} = this.ray(x, y);
      let best = null;
      const take = (mesh, vertex, distance) => {
        if (!(distance > 0) || (best && distance >= best.distance)) return;
        best = {mesh, vertex, distance, point: eye.map((e, i) => e + distance * along[i])};
      };
      this.bodies.forEach((body, mesh) => {
        if (body.cage || body.scenery) return;
        const part = this.positions.subarray(3 * body.first, 3 * (body.first + body.count));
        if (body.surface) {
          const hit = verve.math.rayHit(this.meshes[mesh].triangles, part, eye, along);
          if (hit) take(mesh, hit.vertex, hit.distance);
        }
        if (body.rope) {
          const hit = verve.math.rayNear(this.meshes[mesh].edges, part, eye, along, reach * this.pixel());
          if (hit) take(mesh, hit.vertex, hit.distance);
        }
      });
      return best;
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
      const {target} = this.camera, cell = 5 * this.gridSpacing;
      const phase = a => (((a / cell) % 1) + 1) % 1;  // reduced here, in double: a float shader loses it far out
      const grid = this.use('grid', view);
      this.lend(grid);
      gl.uniform1f(grid.at('shadow'), this.theme.shadow);
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

  function boxOf(rest) {
    const low = [Infinity, Infinity, Infinity], high = low.map(() => -Infinity);
    for (let i = 0; i < rest.length; ++i) {
      low[i % 3] = Math.min(low[i % 3], rest[i]);
      high[i % 3] = Math.max(high[i % 3], rest[i]);
    }
    return {low, extent: low.map((l, i) => high[i] - l)};
  }

  /** Of vertices at rest, by axes from the longest to the shortest, as shares of the longest side: where a pattern is. */
  function places(rest, source) {
    const {low, extent} = boxOf(rest), axes = [0, 1, 2].sort((i, j) => extent[j] - extent[i]);
    const size = extent[axes[0]] || 1;
    const out = new Float32Array(3 * source.length);
    source.forEach((v, i) => axes.forEach((axis, k) => { out[3 * i + k] = (rest[3 * v + axis] - low[axis]) / size; }));
    return out;
  }

  function attribute(gl, location, stride, offset, divisor = 0, size = 3) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, gl.FLOAT, false, stride, offset);
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
