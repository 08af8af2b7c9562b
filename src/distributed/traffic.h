// What goes between the ranks, counted at MPI's profiling interface: messages of PETSc and hypre with the rest.
#pragma once

namespace verve {

struct Traffic {                   // of this rank, so far
  double messages = 0, bytes = 0;  // sent
  double sums = 0;                 // all-reduces
};
const Traffic& traffic();

}  // namespace verve
