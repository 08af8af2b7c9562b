// The results as a picture.
#pragma once

#include <string>

#include "bench/results.h"

namespace verve::bench {

/// An SVG with one panel for each kind of measurement that is there: growth with the size of the mesh, how minimisers
/// converge, ratios to the baselines, frames beside the paper's. Empty when there is none.
std::string plot_of(const Results& results, const std::vector<Row>& rows);

}  // namespace verve::bench
