// Why a method does not see contact, in the words of docs/contact_methods.md.
#pragma once

#include <string>

#include "verve/registry.h"

namespace verve {

/// Empty where sees_contact().
std::string why_blind_to_contact(const MethodAxes& axes);

}  // namespace verve
