#include "verve/diagnostics.h"

#include <algorithm>
#include <numeric>

namespace verve {

bool Diagnostics::has_errors() const {
  return std::any_of(items_.begin(), items_.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic& d : items_) {
    if (!out.empty()) out += '\n';
    if (!d.where.empty()) out += d.where + ": ";
    if (d.severity == Severity::warning) out += "warning: ";
    if (d.severity == Severity::note) out += "note: ";
    out += d.what;
  }
  return out;
}

namespace {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = int(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> choices) {
  std::string best;
  int best_distance = int(std::max<size_t>(word.size(), 3)) * 2 / 3;  // further away is no help to anyone
  for (const std::string& choice : choices) {
    int d = edit_distance(word, choice);
    // a misremembered longer or shorter form ("strain" for "tet_strain") is near, too
    const bool within = choice.find(word) != std::string::npos || word.find(choice) != std::string_view::npos;
    if (within && word.size() >= 3 && choice.size() >= 3) d = std::min(d, 1);
    if (d < best_distance) best = choice, best_distance = d;
  }
  return best;
}

std::string expected_one_of(std::string_view word, std::span<const std::string> choices) {
  std::string out = "expected one of ";
  for (size_t i = 0; i < choices.size(); ++i) out += (i ? ", " : "") + choices[i];
  if (const std::string near = nearest(word, choices); !near.empty()) out += " (nearest: " + near + ")";
  return out;
}

}  // namespace verve
