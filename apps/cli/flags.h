// Values of flags and outcomes of input: read, checked and reported in one style.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verve/diagnostics.h"
#include "verve/scene_file.h"

namespace verve::cli {

/// "a,b,c" as a list; empty for an empty text.
std::vector<std::string> split_list(const std::string& text);

/// A whole number >= 1, or nothing with an error at `flag`. Empty text is nothing without an error.
std::optional<int> read_count(const std::string& flag, const std::string& text, Diagnostics& problems);
/// A whole number within limits, likewise.
std::optional<int> read_whole(const std::string& flag, const std::string& text, int least, int most,
                              Diagnostics& problems);
/// A number > 0, or nothing with an error at `flag`. Empty text is nothing without an error.
std::optional<double> read_positive(const std::string& flag, const std::string& text, Diagnostics& problems);
/// Checks `text`, unless empty, against `choices`.
bool read_choice(const std::string& flag, const std::string& text, const std::vector<std::string>& choices,
                 Diagnostics& problems);
/// Whether there is a method of this name, a combined one or not; the empty name is none.
bool read_method(const std::string& flag, const std::string& name, Diagnostics& problems);
/// "path=value" of every --set.
std::vector<Override> read_overrides(const std::vector<std::string>& set, Diagnostics& problems);

/// Adds what is not there yet: the same fault may be found in the file and again while the model is built, then
/// without line and column.
void append_new(Diagnostics& all, const Diagnostics& more);
/// Writes all problems to stderr.
void report(const Diagnostics& problems);
/// report() and, for errors, a closing count. Returns exit_bad_input.
int refuse(const Diagnostics& problems, const char* consequence);

}  // namespace verve::cli
