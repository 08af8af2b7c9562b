// The commands of `verve`: options as typed, one function each that returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "verve/diagnostics.h"

namespace verve::cli {

/// Of the program, as it was called.
extern char** arguments;

/// Under mpirun simulate and bench are those of several ranks (docs/distributed.md): another program takes the place of
/// this one. True, with the exit code: it is not there. False: there is nothing to start.
bool start_on_ranks(int count, char** words, int& code);

enum ExitCode { exit_done = 0, exit_failed = 1, exit_bad_input = 2 };

/// Values stay text until the command reads them, so that every bad one is reported together with the scene's problems.
struct SimulateOptions {
  std::string scene, out, frames, method, threads, precision, record, snapshot_every, resume;
  std::vector<std::string> set;
  bool quiet = false, no_report = false;
};
struct DropOptions {
  std::vector<std::string> files, set;
  std::string material, object, out, frames, size, cells, up, threads;
  bool quiet = false;
};
struct CompareOptions {
  std::string scene, methods, out, frames, threads, precision, reference, iterations, budget;
  std::vector<std::string> set;
  bool quiet = false;
};
struct DemoOptions {
  std::string scene = "bear", frames, out, threads;
  bool quiet = false;
};
struct ListOptions {
  std::string kind;
  bool plain = false;
};
struct CheckOptions {
  std::vector<std::string> scenes, set;
};
struct MeshOptions {
  std::string source, out, object, around;
  std::vector<std::string> set;
  bool strict = false;
};
struct ConvertOptions {
  std::string run, to, out, body, frames, up, scale;
  bool simulated = false, quantize = false, quiet = false;
};
struct PictureOptions {
  std::string source, out, movie, frames, size, color, camera, columns, fps, threads;
  std::vector<std::string> set;
  bool wireframe = false, plain = false, quiet = false;
};
struct ServeOptions {
  std::string scene, port, threads;
  bool open = false, lan = false;
};
struct LinkOptions {
  std::string link, frames, threads;
};
struct BenchOptions {
  std::string csv, plot, threads, only, name;
  bool quick = false, quiet = false;
};

struct FiguresOptions {
  std::vector<std::string> names;
  std::string out, threads, method;
  bool quick = false, list = false, quiet = false, no_pictures = false;
};

struct TruthOptions {
  std::vector<std::string> names;
  std::string out, threads, method, methods, budgets, random, seed;
  bool quick = false, list = false, quiet = false;
};

/// `problems` holds what was wrong with the command line itself; commands add theirs and report all of them.
int simulate(const SimulateOptions& options, Diagnostics problems);
/// The same for the text of a scene file; `origin` stands for it in messages.
int simulate_scene(const std::string& text, const std::string& origin, SimulateOptions options, Diagnostics problems);
/// Its arguments are those of python -m verve.study. Returns only where Python cannot be started.
int study(const std::vector<std::string>& arguments);
int drop(const DropOptions& options, Diagnostics problems);
int compare(const CompareOptions& options, Diagnostics problems);
int demo(const DemoOptions& options, Diagnostics problems);
int list(const ListOptions& options, Diagnostics problems);
int check(const CheckOptions& options, Diagnostics problems);
int mesh(const MeshOptions& options, Diagnostics problems);
int convert(const ConvertOptions& options, Diagnostics problems);
int picture(const PictureOptions& options, Diagnostics problems);
int bench(const BenchOptions& options, Diagnostics problems);
int figures(const FiguresOptions& options, Diagnostics problems);
int truth(const TruthOptions& options, Diagnostics problems);
int serve(const ServeOptions& options, Diagnostics problems);
int link(const LinkOptions& options, Diagnostics problems);
int schema(Diagnostics problems);
int doctor(Diagnostics problems);

}  // namespace verve::cli
