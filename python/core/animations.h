// Frames kept in memory as files that other programs open: what verve convert makes of a run.
#pragma once

#include "convert.h"

namespace verve {
class Simulation;
}

namespace verve::python {

/// (frame, body, kind, element)
using TornList = std::vector<std::tuple<int, std::string, std::string, int>>;

/// `positions`: frames x vertices x 3, of the frames with these numbers. Throws py::value_error for a format that is none
/// and for positions of another size or that are not finite.
void write_animation(const Simulation& simulation, const py::handle& positions, const std::vector<int>& frames,
                     const TornList& torn, const std::string& format, const std::filesystem::path& folder);

}  // namespace verve::python
