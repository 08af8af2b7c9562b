#include <petscmat.h>

#include <algorithm>
#include <cstdlib>

#include "distributed/petsc_rows.h"

namespace verve {

namespace {

/// Calls visit(corners) for each element.
template <class Visit>
void each_element(const Mesh& mesh, Visit&& visit) {
  for (const auto& t : mesh.tetrahedra) visit(t);
  for (const auto& t : mesh.triangles) visit(t);
  for (const auto& e : mesh.edges) visit(e);
}

}  // namespace

std::vector<int> Partition::owned_by(int rank) const {
  std::vector<int> out;
  for (int v = 0; v < int(owner.size()); ++v)
    if (owner[v] == rank) out.push_back(v);
  return out;
}

/// Each rank brings the edges of its slice of the vertices.
Partition partition(const Mesh& mesh, const MpiRanks& ranks) {
  const int vertices = int(mesh.vertices.size());
  Partition out;
  out.owner.assign(vertices, 0);
  if (ranks.size() == 1) return out;
  const auto begin_of = [&](int rank) { return int(long(vertices) * rank / ranks.size()); };
  const int first = begin_of(ranks.rank()), last = begin_of(ranks.rank() + 1), count = last - first;

  std::vector<std::pair<int, int>> edges;
  each_element(mesh, [&](const auto& corners) {
    for (const int a : corners)
      for (const int b : corners)
        if (a != b && a >= first && a < last) edges.emplace_back(a, b);
  });
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  PetscInt *start = nullptr, *column = nullptr;  // the matrix frees them
  check(PetscMalloc1(size_t(count) + 1, &start), "memory");
  check(PetscMalloc1(edges.size(), &column), "memory");
  std::fill(start, start + count + 1, 0);
  for (size_t e = 0; e < edges.size(); ++e) ++start[edges[e].first - first + 1], column[e] = edges[e].second;
  for (int i = 0; i < count; ++i) start[i + 1] += start[i];
  edges = {};

  Mat graph;
  check(MatCreateMPIAdj(PETSC_COMM_WORLD, count, vertices, start, column, nullptr, &graph), "the graph of a mesh");
  // on threads of its own PT-Scotch finds now this partition and now that: a run would not be the same again
  setenv("SCOTCH_PTHREAD_NUMBER", "1", 0);
  MatPartitioning by;
  check(MatPartitioningCreate(PETSC_COMM_WORLD, &by), "partitioning");
  check(MatPartitioningSetAdjacency(by, graph), "partitioning");
  check(MatPartitioningSetType(by, MATPARTITIONINGPTSCOTCH), "partitioning");
  check(MatPartitioningSetFromOptions(by), "partitioning");
  IS parts, all;
  check(MatPartitioningApply(by, &parts), "partitioning");
  check(ISAllGather(parts, &all), "partitioning");
  const PetscInt* owner;
  check(ISGetIndices(all, &owner), "partitioning");
  for (int v = 0; v < vertices; ++v) out.owner[v] = int(owner[v]);
  ISRestoreIndices(all, &owner);
  ISDestroy(&all), ISDestroy(&parts), MatPartitioningDestroy(&by), MatDestroy(&graph);
  return out;
}

}  // namespace verve
