// What went wrong with input from outside: every problem at once, each with its place,
// what was found and what was expected.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verve {

enum class Severity { note, warning, error };

/// `where` is a place a person can go to: "flag.json:14:20: potentials[0].stiffness", "bear.mesh:12",
/// "bodies[0].density" (a Scene built in C++), "--frames".
struct Diagnostic {
  Severity severity = Severity::error;
  std::string where;
  std::string what;  ///< "found "stiff", expected a number > 0 [N/m]"
};

class Diagnostics {
 public:
  void error(std::string where, std::string what) {
    items_.push_back({Severity::error, std::move(where), std::move(what)});
  }
  void warning(std::string where, std::string what) {
    items_.push_back({Severity::warning, std::move(where), std::move(what)});
  }
  void note(std::string where, std::string what) {
    items_.push_back({Severity::note, std::move(where), std::move(what)});
  }
  void append(const Diagnostics& other) { items_.insert(items_.end(), other.items_.begin(), other.items_.end()); }

  bool has_errors() const;
  bool empty() const { return items_.empty(); }
  std::vector<Diagnostic>& items() { return items_; }
  const std::vector<Diagnostic>& items() const { return items_; }
  /// One line per diagnostic: "where: what", warnings and notes marked as such.
  std::string text() const;

 private:
  std::vector<Diagnostic> items_;
};

/// A value, or the reasons why there is none. Warnings and notes may come with a value too.
template <class T>
class Expected {
 public:
  Expected(T value, Diagnostics notes = {}) : value_(std::move(value)), diagnostics_(std::move(notes)) {}
  Expected(Diagnostics errors) : diagnostics_(std::move(errors)) {}

  explicit operator bool() const { return value_.has_value(); }
  bool has_value() const { return value_.has_value(); }
  const Diagnostics& diagnostics() const { return diagnostics_; }

  /// Throws std::runtime_error with the full text of the diagnostics when there is no value.
  T& value() & { return require(), *value_; }
  const T& value() const& { return require(), *value_; }
  T&& value() && { return require(), std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  void require() const {
    if (!value_) throw std::runtime_error(diagnostics_.text());
  }
  std::optional<T> value_;
  Diagnostics diagnostics_;
};

/// The choice nearest to `word` (edit distance), or an empty string when nothing is near.
std::string nearest(std::string_view word, std::span<const std::string> choices);
/// "expected one of a, b, c (nearest: b)"
std::string expected_one_of(std::string_view word, std::span<const std::string> choices);

}  // namespace verve
