#include "source_dir.h"

namespace verve::test {

std::string in_sources(const std::string& path) { return VERVE_SOURCE_DIR "/" + path; }

}  // namespace verve::test
