#include "flags.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "commands.h"
#include "terminal.h"
#include "verve/registry.h"

namespace verve::cli {

std::optional<int> read_count(const std::string& flag, const std::string& text, Diagnostics& problems) {
  return read_whole(flag, text, 1, std::numeric_limits<int>::max(), problems);
}

std::optional<int> read_whole(const std::string& flag, const std::string& text, int least, int most,
                              Diagnostics& problems) {
  if (text.empty()) return std::nullopt;
  const char* begin = text.c_str();
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(begin, &end, 10);
  const bool plain = end != begin && *end == '\0' && begin[0] != ' ' && begin[0] != '+';
  if (!plain || errno == ERANGE || value < least || value > most) {
    const bool open = most == std::numeric_limits<int>::max();
    problems.error(flag, "found " + text + ", expected a whole number " +
                             (open ? ">= " + std::to_string(least)
                                   : "from " + std::to_string(least) + " to " + std::to_string(most)));
    return std::nullopt;
  }
  return int(value);
}

std::optional<double> read_positive(const std::string& flag, const std::string& text, Diagnostics& problems) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value)) {
    problems.error(flag, "found " + text + ", expected a number > 0");
    return std::nullopt;
  }
  return value;
}

bool read_choice(const std::string& flag, const std::string& text, const std::vector<std::string>& choices,
                 Diagnostics& problems) {
  if (text.empty()) return false;
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return true;
  problems.error(flag, "found \"" + text + "\", " + expected_one_of(text, choices));
  return false;
}

bool read_method(const std::string& flag, const std::string& name, Diagnostics& problems) {
  if (find_method(name)) return true;
  Scene scene;  // whose check knows which names there are, combined ones too
  scene.solver.method = name;
  const Diagnostics found = check_scene(scene);
  for (const Diagnostic& d : found.items())
    if (d.where == "solver.method") problems.error(flag, d.what);
  return false;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::vector<Override> read_overrides(const std::vector<std::string>& set, Diagnostics& problems) {
  std::vector<Override> overrides;
  for (const std::string& text : set) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      problems.error("--set", "found \"" + text + "\", expected path=value, as in solver.tolerance=1e-4");
    else
      overrides.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return overrides;
}

void append_new(Diagnostics& all, const Diagnostics& more) {
  for (const Diagnostic& d : more.items()) {
    const bool known = std::any_of(all.items().begin(), all.items().end(), [&](const Diagnostic& other) {
      return other.severity == d.severity && other.what == d.what && other.where.ends_with(d.where);
    });
    if (!known) all.items().push_back(d);
  }
}

void report(const Diagnostics& problems) {
  const Style style = style_of(stderr);
  for (const Diagnostic& d : problems.items()) {
    if (!d.where.empty()) std::fprintf(stderr, "%s%s:%s ", style.bold, d.where.c_str(), style.reset);
    if (d.severity == Severity::warning) std::fprintf(stderr, "%swarning:%s ", style.yellow, style.reset);
    if (d.severity == Severity::note) std::fputs("note: ", stderr);
    std::fprintf(stderr, "%s\n", d.what.c_str());
  }
}

int refuse(const Diagnostics& problems, const char* consequence) {
  report(problems);
  const auto errors = std::count_if(problems.items().begin(), problems.items().end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
  const Style style = style_of(stderr);
  std::fprintf(stderr, "%sverve: %ld problem%s; %s%s\n", style.red, long(errors), errors == 1 ? "" : "s", consequence,
               style.reset);
  return exit_bad_input;
}

}  // namespace verve::cli
