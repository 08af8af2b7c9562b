// verve bench --only distributed: boxes on one rank and on two, and what that would come to on a thousand.
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/new_file.h"
#include "commands.h"
#include "distributed/petsc_solver.h"
#include "distributed/shared_scene.h"
#include "distributed/traffic.h"

namespace verve::distributed {

namespace {

constexpr int frames = 4;  // measured, after one that sets everything up

/// A box that is stretched and spins, as the built-in cube does.
std::string box_text(int cells) {
  const std::string n = std::to_string(cells);
  return R"({"version": 1, "name": "box", "solver": {"method": "cpd"}, "bodies": [{"name": "box", )"
         R"("mesh": {"generator": "box", "cells": [)" + n + ", " + n + ", " + n + R"(], "tets_per_cell": 6}, )"
         R"("density": 1000, "potentials": [{"type": "tet_strain", "mu": 8e3}], )"
         R"("initial": {"stretch": [1, 1.3, 1], "angular_velocity": [0.2, 1, 0]}}]})";
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * double(usage.ru_maxrss);
}

/// A row of the table: of messages, those of the rank that sends most.
struct Row {
  double cells, ranks, tets, vertices, set_up, preconditioner, milliseconds, iterations, solves, krylov, messages,
      bytes, sums, bytes_per_tet;
};
constexpr const char* head =
    "cells,ranks,tetrahedra,vertices,setup_s,preconditioner_s,frame_ms,iterations,solves,krylov_iterations,messages,"
    "message_bytes,sums,bytes_per_tet\n";
constexpr int numbers = sizeof(Row) / sizeof(double);

std::string text_of(const Row& row) {
  const double* const values = &row.cells;
  std::string out;
  for (int k = 0; k < numbers; ++k) {
    char text[40];
    std::snprintf(text, sizeof text, "%.10g%c", values[k], k + 1 < numbers ? ',' : '\n');
    out += text;
  }
  return out;
}

Row measure_box(int cells, const MpiRanks& ranks) {
  const double begin = MPI_Wtime(), before = sum_over_ranks(peak_bytes());
  const Expected<Scene> scene = parse_scene(box_text(cells), "box");
  Expected<std::unique_ptr<World>> made = make_shared_world(scene.value(), ranks);
  World& world = *made.value();
  Row row{};
  row.cells = cells, row.ranks = ranks.size();
  row.tets = sum_over_ranks(double(world.matter.bodies[0].potentials[0]->elements()));
  row.vertices = sum_over_ranks(double(world.model.bodies[0].count));
  row.set_up = MPI_Wtime() - begin;
  if (!world.step()) throw std::runtime_error("the first frame of a box failed");
  row.preconditioner = solver_counts().set_up_seconds;
  const SolverCounts solver = solver_counts();
  const Traffic sent = traffic();
  const double start = MPI_Wtime();
  for (int frame = 0; frame < frames; ++frame) row.iterations += world.step().iterations;
  row.milliseconds = 1e3 * ranks.largest(MPI_Wtime() - start) / frames;
  row.messages = ranks.largest(traffic().messages - sent.messages) / frames;
  row.bytes = ranks.largest(traffic().bytes - sent.bytes) / frames;
  row.sums = (traffic().sums - sent.sums) / frames;
  row.iterations /= frames, row.solves = double(solver_counts().solves - solver.solves);
  row.krylov = double(solver_counts().iterations - solver.iterations) / row.solves, row.solves /= frames;
  row.bytes_per_tet = (sum_over_ranks(peak_bytes()) - before) / row.tets;  // MPI and PETSc by themselves left out
  return row;
}

/// One box on so many ranks, by a run of its own.
Row run_box(int cells, int ranks, const std::string& program, const std::filesystem::path& file) {
  const std::string command = "mpirun -n " + std::to_string(ranks) + " '" + program + "' bench --set " +
                              std::to_string(cells) + " --csv '" + file.string() + "' --quiet";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot be run: " + command);
  std::ifstream in(file);
  std::string line;
  std::getline(in, line), std::getline(in, line);
  Row row{};
  std::istringstream values(line);
  double* const into = &row.cells;
  for (int k = 0; k < numbers && std::getline(values, line, ','); ++k) into[k] = std::atof(line.c_str());
  return row;
}

void print(const char* title, const std::vector<Row>& rows) {
  std::printf("\n%s\n%12s %6s %12s %10s %11s %12s %12s %10s %10s %12s\n", title, "tetrahedra", "ranks", "frame [ms]",
              "ratio", "iterations", "of Krylov", "messages", "MB sent", "sums", "bytes/tet");
  for (const Row& r : rows)
    std::printf("%12.0f %6.0f %12.1f %10.2f %11.2f %12.2f %12.0f %10.2f %10.0f %12.0f\n", r.tets, r.ranks,
                r.milliseconds, r.milliseconds / rows[0].milliseconds, r.iterations, r.krylov, r.messages,
                1e-6 * r.bytes, r.sums, r.bytes_per_tet);
}

/// From what was counted on two ranks, on a network of 1.5 us and 10 GB/s: a rank inside has 26 neighbours where one of
/// two has one, and six faces; a sum takes log2(ranks) steps.
void print_projection(const Row& alone, const Row& two) {
  constexpr double latency = 1.5e-3, megabytes_per_ms = 10, neighbours = 26, faces = 6;
  std::printf(
      "\nA projection, not a measurement: each rank with %.0f tetrahedra, as one has alone, the messages and sums "
      "that\n"
      "were counted on two ranks, and a network of 1.5 us and 10 GB/s.\n%8s %16s %12s %14s %12s %12s\n",
      alone.tets, "ranks", "tetrahedra", "frame [ms]", "messages [ms]", "volume [ms]", "sums [ms]");
  for (const double ranks : {1.0, 8.0, 64.0, 1000.0}) {
    const bool many = ranks > 1;
    const double messages = many ? latency * two.messages * std::min(neighbours, ranks - 1) : 0;
    const double volume = many ? 1e-6 * two.bytes / megabytes_per_ms * std::min(faces, ranks - 1) : 0;
    const double sums = latency * two.sums * std::log2(ranks);
    std::printf("%8.0f %16.0f %12.1f %14.2f %12.2f %12.2f\n", ranks, ranks * alone.tets,
                alone.milliseconds + messages + volume + sums, messages, volume, sums);
  }
}

}  // namespace

int bench(const Options& o, const MpiRanks& ranks, Diagnostics problems) {
  report(problems, ranks);
  std::string table = head;
  std::vector<int> sizes;
  for (const std::string& size : o.set) sizes.push_back(std::atoi(size.c_str()));
  if (sizes.empty()) sizes = o.quick ? std::vector<int>{12} : std::vector<int>{26, 37};
  for (const int cells : sizes) {
    table += text_of(measure_box(cells, ranks));
  }
  if (ranks.rank() > 0) return exit_done;
  if (!o.quiet) std::fputs(table.c_str(), stdout);
  if (o.csv.empty()) return exit_done;
  const std::string error = write_whole_file(o.csv, table);
  if (error.empty()) return exit_done;
  std::fprintf(stderr, "%s: cannot be written: %s\n", o.csv.c_str(), error.c_str());
  return exit_failed;
}

int bench_on_one_and_two(const Options& o) {
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const std::filesystem::path file =
      o.csv.empty() ? std::filesystem::temp_directory_path() / ("verve_bench_" + std::to_string(getpid()) + ".csv")
                    : std::filesystem::path(o.csv);
  // twice the vertices of the first, to a few per cent
  const int one = o.quick ? 10 : 26, two = o.quick ? 13 : 33;
  std::vector<Row> strong, weak;
  for (const int count : {1, 2}) strong.push_back(run_box(one, count, program, file));
  weak = {strong[0], run_box(two, 2, program, file)};
  print("Strong scaling: one box.", strong);
  print("Weak scaling: twice the box on two ranks.", weak);
  print_projection(weak[0], weak[1]);
  if (o.csv.empty()) {
    std::filesystem::remove(file, failed);
    return exit_done;
  }
  std::string table = head;
  for (const Row& row : {strong[0], strong[1], weak[1]}) table += text_of(row);
  const std::string error = write_whole_file(file, table);
  if (!error.empty()) std::fprintf(stderr, "%s: cannot be written: %s\n", file.c_str(), error.c_str());
  return error.empty() ? exit_done : exit_failed;
}

}  // namespace verve::distributed
