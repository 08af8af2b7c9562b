// What PETSc needs around it: its beginning and end, and errors as exceptions.
#pragma once

#include <petscsys.h>

#include <stdexcept>
#include <string>

#include "base/ranks.h"

namespace verve {

/// Throws what PETSc says of an error.
inline void check(PetscErrorCode error, const char* what) {
  if (!error) return;
  const char* text = nullptr;
  PetscErrorMessage(error, &text, nullptr);
  throw std::runtime_error(std::string(what) + ": " + (text ? text : "PETSc failed") + " (error " +
                           std::to_string(int(error)) + " of PETSc)");
}
inline void check_mpi(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, size_t(length)));
}

/// PETSc and MPI from here to its end. Options of PETSc are taken from `options`.
class PetscSession {
 public:
  explicit PetscSession(const std::vector<std::string>& options);
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
};

/// All processes that were started together.
class MpiRanks final : public Ranks {
 public:
  MpiRanks();
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void sum(double* values, int count) const override;
  double largest(double value) const;
  /// Of the first rank, to all.
  void broadcast(std::string& text) const;

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace verve
