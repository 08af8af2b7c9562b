// Names that people chose, as those of files.
#pragma once

#include <string>

namespace verve {

/// What is no good for a file on some system has `_` in its place.
std::string file_name(std::string name);

}  // namespace verve
