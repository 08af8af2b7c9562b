#include "distributed/petsc.h"

namespace verve {

PetscSession::PetscSession(const std::vector<std::string>& options) {
  std::vector<char*> arguments{const_cast<char*>("verve")};
  for (const std::string& option : options) arguments.push_back(const_cast<char*>(option.c_str()));
  arguments.push_back(nullptr);
  int count = int(arguments.size()) - 1;
  char** list = arguments.data();
  check(PetscInitialize(&count, &list, nullptr, nullptr), "PETSc could not be started");
  PetscPopSignalHandler();                                  // a signal ends the process as it does anywhere
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);  // one message, and that is ours
}

PetscSession::~PetscSession() { PetscFinalize(); }

MpiRanks::MpiRanks() {
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
  MPI_Comm_size(PETSC_COMM_WORLD, &size_);
}

/// The order in which an all-reduce adds is a matter of the number of ranks, and each of them gets the same bits: that
/// is what PETSc's own dot products go by.
void MpiRanks::sum(double* values, int count) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD), "a sum over all ranks");
}

double MpiRanks::largest(double value) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD), "a maximum over all ranks");
  return value;
}

void MpiRanks::broadcast(std::string& text) const {
  int length = int(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD), "a broadcast");
  text.resize(size_t(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, 0, PETSC_COMM_WORLD), "a broadcast");
}

}  // namespace verve
