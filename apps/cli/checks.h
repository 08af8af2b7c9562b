// What `verve figures` and `verve truth` print of a result.
#pragma once

#include <string>

#include "figures/figure.h"

namespace verve::cli {

/// Its name and a line for every check, passed or failed.
void print_checks(const figures::Figure& figure, const figures::Result& result);

}  // namespace verve::cli
