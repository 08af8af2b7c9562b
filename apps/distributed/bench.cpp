// verve bench --only distributed: boxes of cells on the ranks that it was started on.
#include <sys/resource.h>

#include <cstdio>

#include "base/new_file.h"
#include "commands.h"
#include "distributed/petsc_solver.h"
#include "distributed/shared_scene.h"
#include "verve/registry.h"

namespace verve::distributed {

namespace {

struct Box {
  int cells;     // along each axis: 6 tetrahedra of 5 or 6 each
  int frames;
};

/// A box that is stretched and spins, as the cube of the built-in scene does.
std::string box_text(const Box& box) {
  const std::string n = std::to_string(box.cells);
  return R"({"version": 1, "name": "box", "frames": )" + std::to_string(box.frames) +
         R"(, "solver": {"method": "cpd"}, "bodies": [{"name": "box", "mesh": {"generator": "box", "cells": [)" + n + ", " +
         n + ", " + n +
         R"(]}, "density": 1000, "potentials": [{"type": "tet_strain", "mu": 8e3}], )" +
         R"("initial": {"stretch": [1, 1.3, 1], "angular_velocity": [0.2, 1, 0]}}]})";
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * double(usage.ru_maxrss);
}

constexpr const char* head =
    "name,ranks,tetrahedra,vertices,setup_s,preconditioner_s,frame_ms,iterations,solves_per_frame,ksp_iterations,"
    "exchanges_per_frame,exchange_bytes_per_frame,neighbours,sums_per_frame,sum_bytes_per_frame,bytes_per_tet\n";

/// A row of the table; memory is the most that this process has had so far.
std::string measure_box(const Box& box, const MpiRanks& ranks) {
  const double begin = MPI_Wtime(), before = peak_bytes();
  const Expected<Scene> scene = parse_scene(box_text(box), "box");
  Expected<std::unique_ptr<World>> made = make_shared_world(scene.value(), ranks);
  World& world = *made.value();
  const double tets = sum_over_ranks(double(world.matter.bodies[0].potentials[0]->elements()));
  const double vertices = sum_over_ranks(double(world.model.bodies[0].count));
  const double set_up = MPI_Wtime() - begin;
  const SolverCounts first = solver_counts();
  double iterations = 0;
  if (!world.step()) throw std::runtime_error("the first frame of a box failed");  // with the preconditioner
  const SolverCounts solver = solver_counts();
  const ExchangeTraffic exchange = exchange_traffic();
  const MpiRanks::Traffic sums = ranks.traffic();
  const double start = MPI_Wtime();
  const int frames = box.frames - 1;
  for (int frame = 0; frame < frames; ++frame) iterations += world.step().iterations;
  const double seconds = ranks.largest(MPI_Wtime() - start);
  const double solves = double(solver_counts().solves - solver.solves);
  const double each = 1.0 / frames;
  const double memory = sum_over_ranks(peak_bytes()) - (before > 0 ? 0 : 0);
  char row[600];
  std::snprintf(row, sizeof row, "box%d,%d,%.0f,%.0f,%.3f,%.3f,%.2f,%.2f,%.1f,%.2f,%.1f,%.0f,%.0f,%.1f,%.0f,%.0f\n",
                box.cells, ranks.size(), tets, vertices, set_up,
                solver.set_up_seconds - first.set_up_seconds, 1e3 * seconds * each, iterations * each, solves * each,
                double(solver_counts().iterations - solver.iterations) / solves,
                double(exchange_traffic().calls - exchange.calls) * each,
                ranks.largest(double(exchange_traffic().bytes - exchange.bytes)) * each,
                ranks.largest(double(exchange_traffic().neighbours)), double(ranks.traffic().calls - sums.calls) * each,
                double(ranks.traffic().bytes - sums.bytes) * each, memory / tets);
  return row;
}

}  // namespace

int bench(const Options& o, const MpiRanks& ranks, Diagnostics problems) {
  report(problems, ranks);
  std::vector<Box> boxes = {{8, 6}, {26, 6}};
  if (!o.quick) boxes.push_back({33, 6}), boxes.push_back({38, 6}), boxes.push_back({48, 6});
  for (const std::string& size : o.set) boxes = {{std::stoi(size), 6}};
  std::string table = head;
  if (ranks.rank() == 0) std::printf("%s", head);
  for (const Box& box : boxes) {
    const std::string row = measure_box(box, ranks);
    table += row;
    if (ranks.rank() == 0) std::printf("%s", row.c_str()), std::fflush(stdout);
  }
  if (o.csv.empty() || ranks.rank() > 0) return exit_done;
  const std::string error = write_whole_file(o.csv, table);
  if (error.empty()) return exit_done;
  std::fprintf(stderr, "%s: cannot be written: %s\n", o.csv.c_str(), error.c_str());
  return exit_failed;
}

}  // namespace verve::distributed
