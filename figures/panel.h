// One scene by the methods that the CPD paper compares, and by ours: curves and a table of what each kept.
#pragma once

#include "figures/film.h"

namespace verve::figures {

/// PD, PD + FEPR, midpoint, midpoint + FEPR, CPD as published, and ours on backward Euler, BDF2 and generalised-α 0.8.
const std::vector<std::string>& compared_methods();

struct Panel {
  std::vector<std::shared_ptr<const Film>> films;
  const Film& of(const std::string& method) const;
};
/// The method under test stands where `cpd` does, and is labelled by its own name.
Panel make_panel(Context& context, const std::string& key, const Scene& scene, int frames,
                 const std::vector<std::string>& methods = compared_methods());
/// Total and elastic energy, |L| (where it is to be kept), roughness, iterations; and the table.
void show_panel(Result& result, const Panel& panel, bool spin);

}  // namespace verve::figures
