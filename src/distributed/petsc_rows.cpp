#include "distributed/petsc_rows.h"

#include <petscsf.h>

#include <algorithm>
#include <numeric>

#include "distributed/petsc_solver.h"

namespace verve {

namespace {

class PetscRows final : public SharedRows {
 public:
  /// Of each copy the rank of its owner and its row there.
  PetscRows(int owned, const std::vector<PetscSFNode>& copies, std::vector<PetscInt> numbers)
      : owned_(owned), copies_(int(copies.size())), numbers_(std::move(numbers)) {
    check_mpi(MPI_Type_contiguous(4, MPI_DOUBLE, &row_), "a type of rows");
    check_mpi(MPI_Type_commit(&row_), "a type of rows");
    check(PetscSFCreate(PETSC_COMM_WORLD, &forest_), "shared rows");
    check(PetscSFSetFromOptions(forest_), "shared rows");
    std::vector<PetscInt> leaves(copies.size());
    std::iota(leaves.begin(), leaves.end(), PetscInt(owned_));
    std::vector<PetscSFNode> owners = copies;  // (PETSc asks for more than const)
    check(PetscSFSetGraph(forest_, owned_, copies_, leaves.data(), PETSC_COPY_VALUES, owners.data(), PETSC_COPY_VALUES),
          "shared rows");
    check(PetscSFSetUp(forest_), "shared rows");
  }
  ~PetscRows() override { PetscSFDestroy(&forest_), MPI_Type_free(&row_); }

  int owned() const override { return owned_; }
  int copies() const override { return copies_; }
  void fetch(Vec4* rows) const override {
    check(PetscSFBcastBegin(forest_, row_, rows, rows, MPI_REPLACE), "an exchange of rows");
    check(PetscSFBcastEnd(forest_, row_, rows, rows, MPI_REPLACE), "an exchange of rows");
  }
  void give_back(Vec4* rows) const override {
    check(PetscSFReduceBegin(forest_, row_, rows, rows, MPI_SUM), "an exchange of rows");
    check(PetscSFReduceEnd(forest_, row_, rows, rows, MPI_SUM), "an exchange of rows");
  }
  std::unique_ptr<SharedSolver> make_solver() const override { return make_petsc_solver(owned_, numbers_); }

 private:
  int owned_, copies_;
  std::vector<PetscInt> numbers_;  // of each row here, copies too: its row in the matrix of all ranks
  MPI_Datatype row_;
  PetscSF forest_;
};

}  // namespace

BodyShare share_of(const Body& whole, const MpiRanks& ranks) {
  const int vertices = whole.count;
  const Mesh& mesh = whole.mesh;
  const Partition parts = partition(mesh, ranks);
  const std::vector<int>& owner = parts.owner;
  BodyShare out;
  out.vertices = parts.owned_by(ranks.rank());
  const int owned = int(out.vertices.size());

  // an element whose first vertex is here needs all of its vertices; so do hinges and joints, which reach as far as the
  // elements at a vertex do
  std::vector<char> needed(vertices, 0);
  const auto visit = [&](const auto& elements) {
    for (const auto& corners : elements) {
      const bool touches = std::any_of(corners.begin(), corners.end(), [&](int v) { return owner[v] == ranks.rank(); });
      for (const int v : corners) needed[v] = needed[v] || touches;
    }
  };
  visit(mesh.tetrahedra), visit(mesh.triangles), visit(mesh.edges);
  for (int v = 0; v < vertices; ++v)
    if (needed[v] && owner[v] != ranks.rank()) out.vertices.push_back(v);

  // rows of each rank are those of its vertices in their order, and follow those of the rank before in the matrix
  std::vector<int> row_at_owner(vertices), count(size_t(ranks.size()) + 1, 0);
  for (int v = 0; v < vertices; ++v) row_at_owner[v] = count[size_t(owner[v])]++;
  std::vector<PetscInt> first(size_t(ranks.size()) + 1, 0), numbers;
  for (int r = 0; r < ranks.size(); ++r) first[size_t(r) + 1] = first[size_t(r)] + count[size_t(r)];
  std::vector<PetscSFNode> copies;
  for (size_t r = 0; r < out.vertices.size(); ++r) {
    const int v = out.vertices[r];
    numbers.push_back(first[size_t(owner[v])] + row_at_owner[v]);
    if (int(r) >= owned) copies.push_back({owner[v], row_at_owner[v]});
  }
  out.rows = std::make_shared<PetscRows>(owned, copies, std::move(numbers));
  const int least = *std::min_element(count.begin(), count.end() - 1);
  if (least == 0)
    throw std::invalid_argument("body \"" + whole.name + "\": found " + std::to_string(ranks.size()) + " ranks and " +
                                std::to_string(vertices) +
                                " vertices, expected some vertices for each rank: fewer ranks can");
  return out;
}

}  // namespace verve
