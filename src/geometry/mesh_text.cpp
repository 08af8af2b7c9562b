#include "geometry/mesh_text.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace verve {

namespace {

// A file that is broken throughout says so this often, then stops.
constexpr int most_errors = 20;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

}  // namespace

std::optional<std::string> load_text(const std::filesystem::path& file, Diagnostics& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    out.error(file.string(), "file not found");
    return {};
  }
  if (std::filesystem::is_directory(file, ignored)) {
    out.error(file.string(), "found a directory, expected a mesh file");
    return {};
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) text.append(buffer, std::size_t(stream.gcount()));
  if (!stream.is_open() || stream.bad()) {
    out.error(file.string(), "cannot be read");
    return {};
  }
  if (text.empty()) {
    out.error(file.string(), "found an empty file, expected a mesh");
    return {};
  }
  return text;
}

bool LineReader::next(std::vector<std::string_view>& words) {
  constexpr std::string_view spaces = " \t\r\f\v";
  words.clear();
  if (position_ >= text_.size()) return false;
  line_ = next_line_;
  for (bool more = true; more && position_ < text_.size();) {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    std::string_view row = text_.substr(position_, end - position_);
    position_ = end + 1;
    ++next_line_;
    row = row.substr(0, row.find('#'));
    row = row.substr(0, row.find_last_not_of(spaces) + 1);
    more = joined_ && !row.empty() && row.back() == '\\';
    if (more) row.remove_suffix(1);
    for (std::size_t i = row.find_first_not_of(spaces); i != std::string_view::npos;) {
      const std::size_t j = std::min(row.find_first_of(spaces, i), row.size());
      words.push_back(row.substr(i, j - i));
      i = row.find_first_not_of(spaces, j);
    }
  }
  return true;
}

bool LineReader::next_filled(std::vector<std::string_view>& words) {
  while (next(words))
    if (!words.empty()) return true;
  return false;
}

void WordReader::skip(std::size_t bytes) {
  if (found_) position_ = word_begin_, found_ = false;
  const std::size_t end = std::min(position_ + bytes, text_.size());
  for (; position_ < end; ++position_) line_ += text_[position_] == '\n';
}

void WordReader::find() {
  if (found_) return;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (is_space(c)) {
      if (c == '\n') ++line_;
      ++position_;
    } else {
      break;
    }
  }
  word_begin_ = position_;
  while (position_ < text_.size() && !is_space(text_[position_]) && text_[position_] != '#') ++position_;
  word_end_ = position_;
  word_line_ = line_;
  found_ = true;
}

std::string_view WordReader::peek() {
  find();
  return text_.substr(word_begin_, word_end_ - word_begin_);
}

std::string_view WordReader::take() {
  const std::string_view word = peek();
  found_ = false;
  return word;
}

void WordReader::error_at(int line, const std::string& what) {
  ++errors_;
  if (errors_ <= most_errors) out_.error(place(line), what);
  if (errors_ == most_errors + 1) out_.error(name_, "more errors of this kind follow and are not listed");
}

bool WordReader::number(double& value, const char* what) {
  const std::string_view word = take();
  if (word.empty()) return error(std::string("found the end of the file, expected a ") + what), false;
  if (!parse_number(word, value)) return error("found " + quote(word) + ", expected a " + what), false;
  if (!std::isfinite(value)) return error("found " + quote(word) + ", expected a finite " + what), false;
  return true;
}

bool WordReader::integer(long long& value, const char* what) {
  const std::string_view word = take();
  if (word.empty()) return error(std::string("found the end of the file, expected ") + what), false;
  if (!parse_integer(word, value)) return error("found " + quote(word) + ", expected " + what), false;
  return true;
}

bool WordReader::count(std::size_t& value, const std::string& what) {
  long long found = 0;
  if (!integer(found, ("a number of " + what).c_str())) return false;
  if (found < 0) return error("found " + std::to_string(found) + " " + what + ", expected a number >= 0"), false;
  // a row takes two bytes at least: a digit and what separates it from the next
  const std::size_t most = (remaining() + 1) / 2;
  if (std::size_t(found) > most) {
    error("found a count of " + std::to_string(found) + " " + what + ", expected at most " + std::to_string(most) +
          ", which is what the rest of the file can hold");
    return false;
  }
  value = std::size_t(found);
  return true;
}

bool parse_number(std::string_view word, double& value) {
  if (word.empty() || word.size() > 200) return false;
  const std::string copy(word);
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size();
}

bool parse_integer(std::string_view word, long long& value) {
  if (word.empty() || word.size() > 200) return false;
  const std::string copy(word);
  char* end = nullptr;
  errno = 0;
  value = std::strtoll(copy.c_str(), &end, 10);
  return end == copy.c_str() + copy.size() && errno == 0;
}

std::string quote(std::string_view word) {
  std::string out = "\"";
  for (const char c : word.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (word.size() > 40 ? "...\"" : "\"");
}

}  // namespace verve
