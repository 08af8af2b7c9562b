#include <charconv>
#include <fstream>
#include <sstream>

#include "verve/convert.h"

namespace verve {

Expected<std::vector<TornElement>> read_torn(const std::filesystem::path& file) {
  Diagnostics problems;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in.is_open() || in.bad()) {
    problems.error(file.string(), "cannot be read, expected the torn elements of a run");
    return problems;
  }
  const std::string text = bytes.str();
  std::vector<TornElement> out;
  int line = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string row = text.substr(begin, end - begin);
    if (++line == 1) {
      if (row == "frame,body,kind,element") continue;
      problems.error(file.string() + ":1", "found \"" + row + "\", expected \"frame,body,kind,element\"");
      return problems;
    }
    std::vector<std::string> fields;
    std::istringstream parts(row);
    for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
    const auto number = [](const std::string& digits, int& value) {
      const auto [rest, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return failed == std::errc() && rest == digits.data() + digits.size() && value >= 0;
    };
    TornElement torn;
    const bool good = fields.size() == 4 && number(fields[0], torn.frame) && number(fields[3], torn.element) &&
                      (fields[2] == "tetrahedron" || fields[2] == "triangle" || fields[2] == "edge");
    if (!good) {
      problems.error(
          file.string() + ":" + std::to_string(line),
          "found \"" + row + "\", expected a frame, a body, one of tetrahedron, triangle, edge, and a number");
      return problems;
    }
    torn.body = fields[1], torn.kind = fields[2];
    out.push_back(std::move(torn));
  }
  return out;
}

}  // namespace verve
