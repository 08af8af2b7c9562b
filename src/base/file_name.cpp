#include "base/file_name.h"

#include <cctype>

namespace verve {

std::string file_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  return name.find_first_not_of('.') == std::string::npos ? "scene" : name;
}

}  // namespace verve
