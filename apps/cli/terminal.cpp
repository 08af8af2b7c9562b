#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace verve::cli {

Style style_of(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if ((no_color && *no_color) || (term && std::string(term) == "dumb") || !isatty(fileno(stream))) return {};
  return {"\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[0m"};
}

int terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<int>(size.ws_col, 40);
  return 100;
}

int display_width(const std::string& text) {
  return int(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::string> wrap(const std::string& text, int width) {
  std::vector<std::string> lines(1);
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

void print_columns(const std::vector<std::pair<std::string, std::string>>& rows, int indent) {
  int names = 0;
  for (const auto& [name, text] : rows) names = std::max(names, display_width(name));
  const int left = indent + names + 2;
  const Style style = style_of(stdout);
  for (const auto& [name, text] : rows) {
    std::printf("%*s%s%s%s%*s", indent, "", style.green, name.c_str(), style.reset, names + 2 - display_width(name),
                "");
    bool first = true;
    for (const std::string& line : wrap(text, std::max(20, terminal_width() - left))) {
      std::printf("%*s%s\n", first ? 0 : left, "", line.c_str());
      first = false;
    }
  }
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  const Style style = style_of(stdout);
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string padding(widths[i] - display_width(rows[r][i]), ' ');
      line += i == 0 ? rows[r][i] + padding : "   " + padding + rows[r][i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s%s%s\n", r == 0 ? style.bold : "", line.c_str(), r == 0 ? style.reset : "");
  }
}

void print_wide_table(const std::vector<std::vector<std::string>>& rows) {
  const auto width_of = [&](size_t column) {
    int width = 0;
    for (const auto& row : rows)
      if (column < row.size()) width = std::max(width, display_width(row[column]));
    return width;
  };
  const int most = terminal_width();
  for (size_t column = 1; column < rows[0].size();) {
    if (column > 1) std::printf("\n");
    std::vector<std::vector<std::string>> part;
    for (const auto& row : rows) part.push_back({row[0]});
    int width = width_of(0);
    do {
      for (size_t r = 0; r < rows.size(); ++r) part[r].push_back(column < rows[r].size() ? rows[r][column] : "");
      width += 3 + width_of(column);
      ++column;
    } while (column < rows[0].size() && width + 3 + width_of(column) <= most);
    print_table(part);
  }
}

std::string format_duration(double seconds) {
  char buffer[64];
  if (seconds >= 60) {
    const long whole = std::lround(seconds);
    if (whole >= 3600)
      std::snprintf(buffer, sizeof buffer, "%ld:%02ld:%02ld h", whole / 3600, whole / 60 % 60, whole % 60);
    else
      std::snprintf(buffer, sizeof buffer, "%ld:%02ld min", whole / 60, whole % 60);
  } else if (seconds >= 1) {
    std::snprintf(buffer, sizeof buffer, "%.1f s", seconds);
  } else {
    std::snprintf(buffer, sizeof buffer, "%.3g ms", seconds * 1e3);
  }
  return buffer;
}

std::string count(long n, const char* one, const char* many) { return std::to_string(n) + " " + (n == 1 ? one : many); }

Progress::Progress(std::string label, int total, bool quiet, const char* unit)
    : label_(std::move(label)),
      unit_(unit),
      total_(total),
      quiet_(quiet),
      terminal_(isatty(STDOUT_FILENO)),
      next_line_((total + 9) / 10),
      start_(Clock::now()),
      last_(start_) {}

void Progress::update(int done) {
  if (quiet_ || done <= 0) return;
  const Clock::time_point now = Clock::now();
  if (terminal_) {
    if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
  } else {
    if (done < next_line_ && done < total_) return;
    next_line_ = done + (total_ + 9) / 10;
  }
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string rate = format_duration(elapsed / done) + "/" + unit_;
  const std::string eta = done < total_ ? "ETA " + format_duration(elapsed / done * (total_ - done))
                                        : "done in " + format_duration(elapsed);
  const int percent = int(100.0 * done / total_);
  if (terminal_)
    std::printf("\r%s  %s %d/%d  %d %%  %s  %s\033[K", label_.c_str(), unit_, done, total_, percent, rate.c_str(),
                eta.c_str());
  else
    std::printf("%s: %s %d of %d, %d %%, %s, %s\n", label_.c_str(), unit_, done, total_, percent, rate.c_str(),
                eta.c_str());
  std::fflush(stdout);
  shown_ = true;
}

void Progress::clear() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stdout), std::fflush(stdout);
  shown_ = false;
}

}  // namespace verve::cli
