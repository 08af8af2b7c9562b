// What surrounds the program fails: a full device, too little memory, files of a run with what cannot be.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "process.h"

namespace {

/// By a shell in the folder, the program as $verve; what it said on the standard error is in `err`.
int shell(const Folder& folder, const std::string& commands) {
  const std::string text = "cd '" + folder.text("") + "' && verve='" VERVE_PROGRAM "' && { " + commands + "; } 2>err";
  const int status = std::system(text.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("output that cannot be written is a failure") {
  const Folder folder;
  for (const char* command : {"list", "--help", "schema", "list scenes --plain"}) {
    CAPTURE(command);
    CHECK(shell(folder, "$verve " + std::string(command) + " >/dev/full") == 1);
    CHECK(read_file(folder.path("err")) == "verve: the standard output cannot be written: No space left on device\n");
  }
}

TEST_CASE("too little memory is said in words") {
  const Folder folder;
  CHECK(shell(folder, "ulimit -v 400000; $verve mesh box --set cells=[200,200,200] --out box.mesh") == 1);
  CHECK(contains(read_file(folder.path("err")), "verve: not enough memory"));
  CHECK_FALSE(std::filesystem::exists(folder.path("box.mesh")));
}

TEST_CASE("positions that are no numbers are not converted") {
  const Folder folder;
  REQUIRE(run(folder, {"simulate", folder.write("in.json", small_scene()), "--frames", "3", "--out", "o", "--quiet"})
              .code == 0);
  {
    std::fstream file(folder.path("o/positions.npy"), std::ios::in | std::ios::out | std::ios::binary);
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    file.seekp(-12, std::ios::end);  // of the last vertex of the last frame
    file.write(reinterpret_cast<const char*>(&nothing), sizeof nothing);
  }
  for (const char* format : {"obj", "glb", "pc2", "usda"}) {
    CAPTURE(format);
    const Outcome outcome = run(folder, {"convert", "o", "--to", format});
    CHECK(outcome.code == 1);
    CHECK(contains(outcome.err, "frame 3: vertex"));
    CHECK(contains(outcome.err, "found a position that is not finite"));
    CHECK_FALSE(std::filesystem::exists(folder.path("o") / format));
  }
  CHECK(run(folder, {"convert", "o", "--to", "obj", "--frames", "0:2"}).code == 0);
}
