// The meshes of the benchmark: those of the CSV, those of Table 1, and the boxes of the growth curve.
#pragma once

#include <string>
#include <vector>

#include "bench/results.h"
#include "verve/scene.h"

namespace verve::bench {

/// A body in full motion, for timing single iterations.
struct IterationCase {
  std::string name;
  Scene scene;
  int warm_up;     // steps of cpd before the state that every measurement starts from
  int iterations;  // per measurement
};
const std::vector<std::string>& iteration_case_names();
IterationCase iteration_case(const std::string& name);

/// A scene of Table 1; `note` says where ours is not what the paper ran.
struct TableScene {
  std::string name, note;
  PaperRow paper;
  Scene scene;
};
const std::vector<std::string>& table_scene_names();
TableScene table_scene(const std::string& name);

struct GrowthBox {
  std::string name;
  int cells;
  long tets() const { return 6L * cells * cells * cells; }
};
const std::vector<GrowthBox>& growth_boxes();
/// A unit cube of cells^3 cells, 6 tetrahedra each, stretched and spun.
Scene box_scene(const std::string& name, int cells);

}  // namespace verve::bench
