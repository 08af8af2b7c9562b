#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "verve test XXXXXX").string();  // a space on purpose
  if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp: " + std::string(std::strerror(errno)));
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return text(name);
}

Process::Process(const Folder& folder, const std::vector<std::string>& arguments) {
  static int number = 0;
  out_ = folder.text(".stdout" + std::to_string(++number));
  err_ = folder.text(".stderr" + std::to_string(number));
  std::vector<std::string> words{VERVE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.path().c_str());
  const int error = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::runtime_error(words[0] + ": " + std::strerror(error));
}

Process::~Process() {
  if (!running()) return;
  send(SIGKILL);
  wait();
}

void Process::send(int signal) const { kill(pid_, signal); }

bool Process::running() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

Outcome Process::wait() {
  if (!ended_) ended_ = waitpid(pid_, &status_, 0) == pid_;
  Outcome outcome;
  if (WIFEXITED(status_)) outcome.code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) outcome.signal = WTERMSIG(status_);
  outcome.out = read_file(out_), outcome.err = read_file(err_);
  return outcome;
}

Outcome run(const Folder& folder, const std::vector<std::string>& arguments) {
  return Process(folder, arguments).wait();
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

NpyInfo read_npy_info(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  NpyInfo info;
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") return info;
  const size_t length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  const size_t type = header.find("'descr': '") + 10, open = header.find('(') + 1;
  info.type = header.substr(type, header.find('\'', type) - type);
  std::stringstream shape(header.substr(open, header.find(')') - open));
  long values = 1;
  for (std::string number; std::getline(shape, number, ',');) {
    if (number.find_first_of("0123456789") == std::string::npos) continue;
    info.shape.push_back(std::stol(number));
    values *= info.shape.back();
  }
  info.whole = bytes.size() >= 10 + length + size_t(values) * (info.type == "<f8" ? 8 : 4);
  return info;
}

std::string small_scene(const std::string& more) {
  return R"({
  "version": 1,
  "name": "small",
  "bodies": [{
    "name": "block",
    "mesh": {"data": {
      "vertices": [[0,0,0], [1,0,0], [0,1,0], [1,1,0], [0,0,1], [1,0,1], [0,1,1], [1,1,1]],
      "tetrahedra": [[0,1,2,4], [3,2,1,7], [5,4,7,1], [6,7,4,2], [1,2,4,7]]
    }},
    "potentials": [{"type": "tet_strain", "mu": 1e5}],
    "initial": {"stretch": [1.2, 1, 1], "angular_velocity": [0, 0, 2]}
  }],
  )" + more +
         "\n}\n";
}
