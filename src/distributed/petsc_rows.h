// Rows of a body shared by the ranks: PETSc's star forest brings copies and takes back what they have gathered.
#pragma once

#include <vector>

#include "distributed/petsc.h"
#include "linear/shared_rows.h"
#include "model/model.h"

namespace verve {

/// Of a body: which rank has a vertex. Owned ones are in their order in the mesh.
struct Partition {
  std::vector<int> owner;  // by vertex
  std::vector<int> owned_by(int rank) const;
};

/// PT-Scotch or ParMETIS, on the graph whose edges join vertices of an element; -mat_partitioning_type and its like
/// choose another.
Partition partition(const Mesh& mesh, const MpiRanks& ranks);

/// What of a body is here.
BodyShare share_of(const Body& whole, const MpiRanks& ranks);

}  // namespace verve
