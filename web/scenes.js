// Where each scene is on thumbnails.webp. Made by scripts/make-thumbnails.
'use strict';
globalThis.verve = globalThis.verve || {};
verve.thumbnails = {
  names: ["cube", "cube_rest", "torus", "t_pipe_intermediate", "t_pipe_major", "hippo", "bear", "car",
          "examples", "trampoline", "cloth", "pendulum", "free_fall", "chain", "curtain", "volume_mix",
          "stiffening", "fibres", "necking", "cantilever", "twisting_bar", "cylinder", "rope", "flag",
          "flag_torn", "balloon", "tug", "tense_string", "inextensible_cloth", "hung_cloth", "woven",
          "matching", "panels", "muscles", "materials", "fabrics", "ball", "bears", "stack", "incline",
          "crush", "strip", "drape", "bin", "pile",
          "garden"],
  columns: 7,
  width: 208,
  height: 156
};
