// What a run of several ranks leaves behind: the files of one process, written together.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/new_file.h"
#include "distributed/petsc.h"
#include "integrators/world.h"
#include "record/output_file.h"

namespace verve {

/// Where the rows of this rank belong among the vertices of all bodies, in the order of their meshes.
class VertexOrder {
 public:
  explicit VertexOrder(const Model& model);
  long vertices() const { return vertices_; }                  // of all bodies and ranks
  long first(int body) const { return first_[size_t(body)]; }  // of a body, among all
  const std::vector<int>& places() const { return places_; }   // of the rows here, ascending
  const std::vector<int>& rows() const { return rows_; }       // in the state, of each of these

 private:
  long vertices_ = 0;
  std::vector<long> first_;
  std::vector<int> places_, rows_;
};

/// A file that all ranks write together, each its rows.
class SharedFile {
 public:
  /// Replaces an older one.
  SharedFile(const std::filesystem::path& path, const VertexOrder& order, bool write = true);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;

  /// `numbers` per row of this rank, in the order of VertexOrder::places(), from `offset` on.
  template <class Number>
  void write_rows(MPI_Offset offset, const std::vector<Number>& values, int numbers);
  template <class Number>
  void read_rows(MPI_Offset offset, std::vector<Number>& values, int numbers);
  /// By the first rank.
  void write_head(MPI_Offset offset, const std::string& bytes);
  /// What was written is on the disk.
  void sync() { check_mpi(MPI_File_sync(file_), path_.c_str()); }

 private:
  MPI_Datatype view(int numbers, MPI_Datatype number) const;

  std::string path_;
  const VertexOrder& order_;
  MPI_File file_ = MPI_FILE_NULL;
};

/// metrics.csv and positions.npy.
class SharedRecorder {
 public:
  SharedRecorder(const std::filesystem::path& folder, const World& world, const VertexOrder& order,
                 const MpiRanks& ranks, bool float64);
  /// Call on all ranks, also for frame 0 with an empty report.
  void frame(const StepReport& report);

 private:
  const World& world_;
  const VertexOrder& order_;
  const MpiRanks& ranks_;
  bool float64_;
  long frames_ = 0;
  GrowingFile metrics_;
  std::filesystem::path metrics_path_;
  SharedFile positions_;
};

/// A frame of each body for ParaView: a piece of each rank and a .pvtu that joins them.
void write_pieces(const std::filesystem::path& folder, const World& world, const MpiRanks& ranks);

/// Throws on all ranks what went wrong on any.
void all_or_none(const MpiRanks& ranks, const std::string& error);

}  // namespace verve
