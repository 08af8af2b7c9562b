// Files that appear whole or not at all, and folders that only one writes to.
#include "base/new_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

using namespace verve;
namespace fs = std::filesystem;

namespace {

struct Place {
  fs::path path = fs::temp_directory_path() / ("verve_new_file_" + std::to_string(::getpid()));
  Place() { fs::create_directories(path); }
  ~Place() { fs::remove_all(path); }
  long files() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a file appears when it is placed, in place of the old one, and otherwise leaves nothing") {
  const Place place;
  const fs::path file = place.path / "a.txt";
  {
    NewFile dropped;
    REQUIRE(dropped.open(file) == "");
    REQUIRE(dropped.write("half") == "");
    CHECK_FALSE(fs::exists(file));
  }
  CHECK(place.files() == 0);
  CHECK(write_whole_file(file, "one") == "");
  CHECK(write_whole_file(file, "two") == "");
  CHECK(content(file) == "two");
  CHECK(place.files() == 1);
  CHECK(write_whole_file(place.path / "none" / "a.txt", "x") == "No such file or directory");
}

TEST_CASE("a link in the place of a file is replaced, and what it leads to is left alone") {
  const Place place;
  const fs::path link = place.path / "link", other = place.path / "other";
  REQUIRE(write_whole_file(other, "not ours") == "");
  fs::create_symlink(other, link);
  CHECK(write_whole_file(link, "ours") == "");
  CHECK(content(other) == "not ours");
  CHECK_FALSE(fs::is_symlink(link));
  CHECK(content(link) == "ours");
}

TEST_CASE("a device is written to and stays one") {
  REQUIRE(fs::is_character_file("/dev/null"));
  CHECK(write_whole_file("/dev/null", "gone") == "");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(write_whole_file("/dev/full", "too much") == "No space left on device");
}

TEST_CASE("a folder is locked for one, until that one is gone") {
  const Place place;
  {
    FolderLock first, second;
    CHECK(first.take(place.path) == "");
    CHECK(second.take(place.path) == "found another run that is being written here, expected a folder of its own");
  }
  FolderLock third;
  CHECK(third.take(place.path) == "");
  CHECK(place.files() == 0);
}
