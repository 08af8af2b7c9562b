// What a person sees: colours, width, columns, tables and the progress of a run.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"

namespace verve::cli {

/// Escape sequences, empty unless `stream` is a terminal and NO_COLOR is unset (no-color.org).
struct Style {
  const char *bold = "", *dim = "", *red = "", *green = "", *yellow = "", *reset = "";
};
Style style_of(std::FILE* stream);

/// Columns of the terminal behind stdout; 100 in a pipe.
int terminal_width();
/// Cut into lines of at most `width` columns at spaces; UTF-8 counts by code point. A longer word stays whole.
std::vector<std::string> wrap(const std::string& text, int width);
/// Columns that `text` takes.
int display_width(const std::string& text);

/// Two columns: names, and texts wrapped beside them.
void print_columns(const std::vector<std::pair<std::string, std::string>>& rows, int indent);
/// First column left, all others right-aligned. The first row is the head.
void print_table(const std::vector<std::vector<std::string>>& rows);
/// The same in several tables below each other, each with the first column, where one would be too wide.
void print_wide_table(const std::vector<std::vector<std::string>>& rows);

/// "12.3 ms", "3.2 s", "1:07 min"
std::string format_duration(double seconds);
/// "1 vertex", "2 vertices"
std::string count(long n, const char* one, const char* many);

/// One line that renews itself on a terminal, about ten lines in all in a pipe, nothing when quiet.
class Progress {
 public:
  /// `unit`: what is counted.
  Progress(std::string label, int total, bool quiet, const char* unit = "frame");
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of them are finished.
  void update(int done);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  const char* unit_;
  int total_;
  bool quiet_, terminal_;
  bool shown_ = false;
  int next_line_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace verve::cli
