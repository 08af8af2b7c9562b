// What the mesh readers share: a file as words with line numbers, and diagnostics that stay readable when a file is
// broken throughout.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verve/mesh.h"

namespace verve {

/// The whole text of a file, or one error saying why there is none (missing, a folder, unreadable).
std::optional<std::string> load_text(const std::filesystem::path& file, Diagnostics& out);

/// The lines of a text as words; '#' starts a comment.
class LineReader {
 public:
  /// `joined`: a line that ends with a backslash goes on in the next.
  explicit LineReader(std::string_view text, bool joined = false) : text_(text), joined_(joined) {}
  bool next(std::vector<std::string_view>& words);
  /// The next line that has any.
  bool next_filled(std::vector<std::string_view>& words);
  int line() const { return line_; }                                    ///< of the words last given
  std::size_t remaining() const { return text_.size() - std::min(position_, text_.size()); }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 0, next_line_ = 1;
  bool joined_;
};

/// The words of a text; '#' starts a comment that ends with its line.
class WordReader {
 public:
  WordReader(std::string_view text, std::string name, Diagnostics& out)
      : text_(text), name_(std::move(name)), out_(out) {}

  /// The next word without taking it; empty at the end of the file.
  std::string_view peek();
  std::string_view take();
  /// Line of the last word seen.
  int line() const { return word_line_; }
  bool at_end() { return peek().empty(); }
  /// All after the word last taken, and going on behind it.
  std::string_view rest() const { return text_.substr(found_ ? word_begin_ : position_); }
  void skip(std::size_t bytes);
  /// Bytes not read yet: no honest count can exceed it.
  std::size_t remaining() const { return text_.size() - position_; }

  void error(const std::string& what) { error_at(word_line_, what); }
  void error_at(int line, const std::string& what);
  void note_at(int line, const std::string& what) { out_.note(place(line), what); }
  std::string place(int line) const { return name_ + ":" + std::to_string(line); }
  bool failed() const { return errors_ > 0; }

  /// Takes one word as a number; reports and returns false when it is none. `what` names it in the message.
  bool number(double& value, const char* what);
  bool integer(long long& value, const char* what);
  /// A section's count; refuses negative ones and those that cannot fit into the rest of the file.
  bool count(std::size_t& value, const std::string& what);

 private:
  void find();

  std::string_view text_;
  std::string name_;
  Diagnostics& out_;
  std::size_t position_ = 0, word_begin_ = 0, word_end_ = 0;
  int line_ = 1, word_line_ = 1, errors_ = 0;
  bool found_ = false;
};

/// The word as a number; false unless all of it is one.
bool parse_number(std::string_view word, double& value);
bool parse_integer(std::string_view word, long long& value);
/// A word for a message: quoted, cut when long, unprintable bytes replaced.
std::string quote(std::string_view word);

/// Removes triangles that are faces of tetrahedra and edges that belong to either: the mesh implies them already.
void drop_implied(Mesh& mesh, const std::string& where, Diagnostics& out);

}  // namespace verve
