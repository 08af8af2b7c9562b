// Where the sources are: tests read scenes and docs there.
#pragma once

#include <string>

namespace verve::test {

/// The place of a file or folder of the sources, by its path from their root.
std::string in_sources(const std::string& path);

}  // namespace verve::test
