// Pages name files, functions and keys that exist.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "source_dir.h"

namespace fs = std::filesystem;

namespace {

const fs::path root = verve::test::in_sources("");

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Without those of decisions, which tell what was.
std::vector<fs::path> pages(bool with_decisions) {
  std::vector<fs::path> out{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md" && (with_decisions || entry.path().parent_path().filename() == "docs"))
      out.push_back(entry.path());
  return out;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void add_words(const std::string& text, std::set<std::string>& out) {
  for (size_t i = 0, end = 0; i < text.size(); i = end + 1) {
    for (end = i; end < text.size() && is_letter(text[end]);) ++end;
    if (end > i) out.insert(text.substr(i, end - i));
  }
}

/// Every word of the sources and scenes.
std::set<std::string> words_of_sources() {
  const std::set<std::string> kinds{".cpp", ".h", ".in", ".js", ".py", ".json", ".cmake", ".txt", ".html", ""};
  std::set<std::string> out;
  add_words(text_of(root / "CMakeLists.txt"), out);
  for (const char* folder :
       {"src", "include", "apps", "figures", "bench", "python", "tests", "web", "scenes", "cmake", "scripts"})
    for (auto it = fs::recursive_directory_iterator(root / folder); it != fs::recursive_directory_iterator(); ++it) {
      if (it->path().filename() == "node_modules") it.disable_recursion_pending();
      if (it->is_regular_file() && kinds.count(it->path().extension().string())) add_words(text_of(it->path()), out);
    }
  return out;
}

}  // namespace

TEST_CASE("files that the documentation names are there") {
  const std::regex named("`((?:src|include|apps|tests|figures|bench|scripts|web|cmake)/[A-Za-z0-9_./-]+)`");
  int count = 0;
  for (const fs::path& page : pages(true)) {
    const std::string text = text_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it) {
      const std::string file = (*it)[1];
      if (file.find("NAME") != std::string::npos) continue;  // a pattern
      CHECK_MESSAGE(fs::exists(root / file), page.filename().string(), " names ", file);
      ++count;
    }
  }
  CHECK(count > 50);
}

TEST_CASE("functions, members, keys and options that the documentation names are in the sources") {
  const std::set<std::string> words = words_of_sources();
  // of style, and names that are put together from parts
  const std::set<std::string> other{"snake_case", "member_", "scattered_1k", "stack_100k"};
  const std::regex quoted("`([A-Za-z_][A-Za-z0-9_:]*)(\\([^)`]*\\))?`");
  int count = 0;
  for (const fs::path& page : pages(false)) {
    std::istringstream lines(text_of(page));
    bool code = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.compare(0, 3, "```") == 0) code = !code;
      for (std::sregex_iterator it(line.begin(), line.end(), quoted), end; !code && it != end; ++it) {
        const std::string name = (*it)[1];
        // single words may be anything: a value, a method of a paper
        if (name.find("::") == std::string::npos && name.find('_') == std::string::npos && !(*it)[2].matched) continue;
        std::set<std::string> parts;
        add_words(name, parts);
        for (const std::string& part : parts)
          CHECK_MESSAGE((words.count(part) || other.count(part)), page.filename().string(), " names ", name);
        ++count;
      }
    }
  }
  CHECK(count > 400);
}

TEST_CASE("links of the documentation lead to pages and headings that are there") {
  const std::regex link("\\]\\(([^)#\\s]*\\.md)?(#[^)\\s]*)?\\)"), strip("[^a-z0-9 _-]");
  const auto anchors = [&](const fs::path& page) {
    std::set<std::string> out;
    std::istringstream lines(text_of(page));
    for (std::string line; std::getline(lines, line);) {
      if (line.compare(0, 1, "#") != 0) continue;
      std::string name;
      for (const char c : line.substr(line.find_first_not_of('#') + 1))
        name += char(std::tolower(static_cast<unsigned char>(c)));
      name = std::regex_replace(name, strip, "");
      for (char& c : name) c = c == ' ' ? '-' : c;
      out.insert("#" + name);
    }
    return out;
  };
  for (const fs::path& page : pages(true)) {
    const std::string text = text_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string file = (*it)[1], heading = (*it)[2];
      if (file.compare(0, 4, "http") == 0 || (file.empty() && heading.empty())) continue;
      const fs::path to = file.empty() ? page : page.parent_path() / file;
      CHECK_MESSAGE(fs::exists(to), page.filename().string(), " links to ", file);
      if (!heading.empty() && fs::exists(to))
        CHECK_MESSAGE(anchors(to).count(heading), page.filename().string(), " links to ", file, heading);
    }
  }
}
