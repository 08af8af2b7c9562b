// One self-contained page of all figures, and the files beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "figures/figure.h"

namespace verve::figures {

struct Made {
  const Figure* figure;
  Result result;
};

/// "3 passed, 1 failed" as HTML.
std::string verdict(int passed, int failed);

/// The frame of the page around the figures.
struct PageText {
  std::string title, heading;
  std::string introduction;  ///< HTML
  std::string command;       ///< that makes one of them again, given its name: "verve figures"; empty: none does
};
/// A page needs no other file and no network, follows the reader's light or dark, prints.
std::string page(const PageText& text, const std::vector<Made>& made);
/// index.html of `verve figures`.
std::string page(const std::vector<Made>& made, bool quick, const std::string& method, double seconds);
/// figure,check,measured,bound,source,passed
std::string checks_csv(const std::vector<Made>& made);
/// Files of a figure by name: charts as SVG and CSV, tables as CSV, pictures.
std::vector<std::pair<std::string, std::string>> files_of(const Made& made);

}  // namespace verve::figures
