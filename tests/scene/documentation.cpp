// Code tables in the documentation name files that exist.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

TEST_CASE("files that the documentation names are there") {
  namespace fs = std::filesystem;
  const fs::path root = VERVE_SOURCE_DIR;
  const std::regex named("`((?:src|include|apps|tests|figures|bench|scripts|web|cmake)/[A-Za-z0-9_./-]+)`");
  int count = 0;
  std::vector<fs::path> pages{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  for (const fs::path& page : pages) {
    std::ifstream in(page);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it) {
      const std::string file = (*it)[1];
      if (file.find("NAME") != std::string::npos) continue;  // a pattern
      CHECK_MESSAGE(fs::exists(root / file), page.filename().string(), " names ", file);
      ++count;
    }
  }
  CHECK(count > 50);
}
