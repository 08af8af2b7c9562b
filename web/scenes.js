// Where each scene is on thumbnails.webp. Made by scripts/make-thumbnails.
'use strict';
globalThis.verve = globalThis.verve || {};
verve.thumbnails = {
  names: ["bear", "garden", "ball", "bears", "t_pipe_intermediate", "cloth", "bin", "cube", "cube_rest",
          "torus", "t_pipe_major", "hippo", "car", "examples", "matching", "free_fall", "pendulum", "chain",
          "rope", "tense_string", "cantilever", "twisting_bar", "stiffening", "muscles", "trampoline",
          "curtain", "inextensible_cloth", "hung_cloth", "woven", "panels", "fabrics", "cylinder", "flag",
          "balloon", "materials", "volume_mix", "fibres", "necking", "lesson_ball", "stack", "incline",
          "crush", "strip", "drape", "pile", "flag_torn", "tug",
          "clay"],
  columns: 7,
  width: 208,
  height: 156
};
