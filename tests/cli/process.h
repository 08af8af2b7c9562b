// Runs the real program and looks at what it says and leaves behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

/// An empty directory for one test, removed with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path(const std::string& name = "") const { return name.empty() ? path_ : path_ / name; }
  std::string text(const std::string& name) const { return path(name).string(); }
  /// Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int code = -1;  ///< exit code; -1 when a signal ended the program
  int signal = 0;
  std::string out, err;
};

/// The program with these arguments, in `folder` as working directory, stdin at its end.
class Process {
 public:
  Process(const Folder& folder, const std::vector<std::string>& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void send(int signal) const;
  bool running();
  Outcome wait();

 private:
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
  std::string out_, err_;
};

Outcome run(const Folder& folder, const std::vector<std::string>& arguments);

std::string read_file(const std::filesystem::path& file);
bool contains(const std::string& text, const std::string& part);
/// Lines without their ends; an unfinished last line is given too.
std::vector<std::string> lines_of(const std::string& text);

/// The header of a .npy file, and whether the file is exactly as long as it says.
struct NpyInfo {
  std::string type;  ///< "<f4", "<f8"
  std::vector<long> shape;
  bool whole = false;  ///< data for every frame that the header counts
};
NpyInfo read_npy_info(const std::filesystem::path& file);

/// Five tetrahedra in a cube, stretched and spinning, with `more` keys of the scene.
std::string small_scene(const std::string& more = "\"frames\": 20");
