// The scenes of `verve truth`: twelve of ours, variants of the built-in ones, and others drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "figures/film.h"

namespace verve::figures {

/// A built-in scene with other values: `verve compare BASE --set …` runs the same.
struct TruthScene {
  std::string name, kind;  ///< "trampoline", "sheet"
  std::string base;
  std::vector<Override> overrides;
  int frames = 0;
  enum class Set { twelve, variants, random } set = Set::twelve;
};
const char* to_string(TruthScene::Set set);  ///< as the tables have it: "ours", "variants", "random"

/// Sheets, hanging, solids, spinning, chains, bouncing; soft to stiff; h = 1/15, 1/30 and 1/60 s. Meshes of 21 to 460
/// vertices, so that budgets of 0.5 to 16 ms reach from too little to more than enough.
const std::vector<TruthScene>& truth_scenes();
/// Built-in scenes as they are and in variants: sheets at other steps and stiffnesses, cubes of other stiffness, free
/// bodies, chains, what hangs and what is twisted. Sheets have 20 x 20 vertices and cubes 4 x 4 x 4 cells.
const std::vector<TruthScene>& truth_variants();
/// One of the six kinds each, with mesh, stiffness (over three decades), step, stretch and speed drawn; the same for
/// the same seed. No constant of the program was chosen on them.
std::vector<TruthScene> random_truth_scenes(int count, std::uint64_t seed);

Scene build(const TruthScene& scene);
/// "--set a=b --set c=d"
std::string as_flags(const TruthScene& scene);

}  // namespace verve::figures
