#include "potentials/entry.h"
// Each kernel included here has its own code compiled in other units: see CMakeLists.txt.
#include "potentials/area_spring.h"
#include "potentials/corotated.h"
#include "potentials/edge_limit.h"
#include "potentials/edge_strain.h"
#include "potentials/hinge_bending.h"
#include "potentials/neo_hookean.h"
#include "potentials/rod_bending.h"
#include "potentials/spring.h"
#include "potentials/stable_neo_hookean.h"
#include "potentials/stvk.h"
#include "potentials/tet_green_strain.h"
#include "potentials/tet_limit.h"
#include "potentials/tet_limit_axes.h"
#include "potentials/tet_strain.h"
#include "potentials/tet_volume.h"
#include "potentials/tri_area.h"
#include "potentials/tri_corotated.h"
#include "potentials/tri_green_strain.h"
#include "potentials/tri_limit.h"
#include "potentials/tri_limit_axes.h"
#include "potentials/tri_strain.h"
#include "potentials/volume_spring.h"
#include "base/registered.h"

namespace verve {

// Those that are no kernels: bending.cpp, pressure.cpp, shape_matching.cpp, group_constraints.cpp,
// formula_potential.cpp, examples.cpp, custom_potential.cpp.
PotentialEntry bending_entry();
PotentialEntry pressure_entry();
PotentialEntry shape_matching_entry();
PotentialEntry lattice_shape_matching_entry();
PotentialEntry similarity_entry();
PotentialEntry planarity_entry();
PotentialEntry circle_entry();
PotentialEntry distance_entry();
PotentialEntry angle_entry();
PotentialEntry area_entry();
PotentialEntry volume_entry();
PotentialEntry formula_entry();
PotentialEntry examples_entry();
PotentialEntry custom_entry();

// The only list, which programs add to (plugins.cpp). Loader, schema, docs, `verve list` and the contract tests all read it.
std::vector<PotentialEntry>& editable_potential_registry() {
  // clang-format off
  static std::vector<PotentialEntry> entries = growable<PotentialEntry>({
      entry<Spring>(),
      entry<EdgeStrain>(),
      entry<TriStrain>(),
      entry<TetStrain>(),
      entry<TriCorotated>(),
      entry<TriGreenStrain>(),
      entry<TetGreenStrain>(),
      entry<Stvk>(),
      entry<NeoHookean>(),
      entry<StableNeoHookean>(),
      entry<Corotated>(),
      entry<EdgeLimit>(),
      entry<TriLimit>(),
      entry<TetLimit>(),
      entry<TriLimitAxes>(),
      entry<TetLimitAxes>(),
      entry<TriArea>(),
      entry<TetVolume>(),
      entry<AreaSpring>(),
      entry<VolumeSpring>(),
      bending_entry(),
      entry<HingeBending>(),
      entry<RodBending>(),
      pressure_entry(),
      shape_matching_entry(),
      lattice_shape_matching_entry(),
      similarity_entry(),
      planarity_entry(),
      circle_entry(),
      distance_entry(),
      angle_entry(),
      area_entry(),
      volume_entry(),
      formula_entry(),
      examples_entry(),
      custom_entry(),
  });
  // clang-format on
  return entries;
}
const std::vector<PotentialEntry>& potential_registry() { return editable_potential_registry(); }

const PotentialEntry* find_potential(std::string_view name) {
  for (const PotentialEntry& e : potential_registry())
    if (e.info.name == name) return &e;
  return nullptr;
}

const std::vector<PotentialInfo>& potential_infos() {
  static std::vector<PotentialInfo> infos = growable<PotentialInfo>({}, potential_registry().size() + most_plugins);
  static std::mutex mutex;
  return following(infos, mutex, potential_registry(), [](const PotentialEntry& e) { return e.info; });
}

}  // namespace verve
