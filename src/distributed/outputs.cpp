#include "distributed/outputs.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "integrators/measures.h"
#include "record/metrics_table.h"
#include "record/npy.h"

namespace verve {

namespace {

template <class Number>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<Number, double>) return MPI_DOUBLE;
  if constexpr (std::is_same_v<Number, float>) return MPI_FLOAT;
}

}  // namespace

void all_or_none(const MpiRanks& ranks, const std::string& error) {
  if (!any_rank(!error.empty())) return;
  // the first rank that has one says it
  const double mine = error.empty() ? ranks.size() : ranks.rank();
  const int first = int(-ranks.largest(-mine));
  std::string text = error;
  int length = int(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, PETSC_COMM_WORLD);
  text.resize(size_t(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, PETSC_COMM_WORLD);
  throw std::runtime_error(text);
}

VertexOrder::VertexOrder(const Model& model) {
  for (const Body& body : model.bodies) {
    first_.push_back(vertices_);
    vertices_ += long(sum_over_ranks(double(body.count)));
    for (int r = 0; r < body.count; ++r) {  // a body's rows follow the order of its vertices
      places_.push_back(int(first_.back() + body.vertex_of_row[size_t(r)]));
      rows_.push_back(body.first + r);
    }
  }
  std::vector<int> order(places_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return places_[size_t(a)] < places_[size_t(b)]; });
  std::vector<int> places, rows;
  for (const int k : order) places.push_back(places_[size_t(k)]), rows.push_back(rows_[size_t(k)]);
  places_ = std::move(places), rows_ = std::move(rows);
}

SharedFile::SharedFile(const std::filesystem::path& path, const VertexOrder& order, bool write)
    : path_(path.string()), order_(order) {
  const int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  check_mpi(MPI_File_open(PETSC_COMM_WORLD, path_.c_str(), mode, MPI_INFO_NULL, &file_), path_.c_str());
  if (write) check_mpi(MPI_File_set_size(file_, 0), path_.c_str());
}

SharedFile::~SharedFile() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

MPI_Datatype SharedFile::view(int numbers, MPI_Datatype number) const {
  MPI_Datatype row, out;
  check_mpi(MPI_Type_contiguous(numbers, number, &row), path_.c_str());
  check_mpi(MPI_Type_create_indexed_block(int(order_.places().size()), 1, order_.places().data(), row, &out),
            path_.c_str());
  check_mpi(MPI_Type_commit(&out), path_.c_str());
  MPI_Type_free(&row);
  return out;
}

template <class Number>
void SharedFile::write_rows(MPI_Offset offset, const std::vector<Number>& values, int numbers) {
  const MPI_Datatype number = mpi_type<Number>();
  MPI_Datatype rows = view(numbers, number);
  check_mpi(MPI_File_set_view(file_, offset, number, rows, "native", MPI_INFO_NULL), path_.c_str());
  MPI_Status status;
  check_mpi(MPI_File_write_all(file_, values.data(), int(values.size()), number, &status), path_.c_str());
  int written = 0;
  MPI_Get_count(&status, number, &written);
  MPI_Type_free(&rows);
  if (written != int(values.size())) throw std::runtime_error(path_ + ": cannot be written in full");
}

template <class Number>
void SharedFile::read_rows(MPI_Offset offset, std::vector<Number>& values, int numbers) {
  const MPI_Datatype number = mpi_type<Number>();
  MPI_Datatype rows = view(numbers, number);
  values.resize(order_.places().size() * size_t(numbers));
  check_mpi(MPI_File_set_view(file_, offset, number, rows, "native", MPI_INFO_NULL), path_.c_str());
  MPI_Status status;
  check_mpi(MPI_File_read_all(file_, values.data(), int(values.size()), number, &status), path_.c_str());
  int read = 0;
  MPI_Get_count(&status, number, &read);
  MPI_Type_free(&rows);
  if (read != int(values.size())) throw std::runtime_error(path_ + ": ends too early");
}

template void SharedFile::write_rows(MPI_Offset, const std::vector<double>&, int);
template void SharedFile::write_rows(MPI_Offset, const std::vector<float>&, int);
template void SharedFile::read_rows(MPI_Offset, std::vector<double>&, int);

void SharedFile::write_head(MPI_Offset offset, const std::string& bytes) {
  check_mpi(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), path_.c_str());
  int failed = MPI_SUCCESS;
  if (is_first_rank())
    failed = MPI_File_write_at(file_, offset, bytes.data(), int(bytes.size()), MPI_BYTE, MPI_STATUS_IGNORE);
  check_mpi(failed, path_.c_str());
}

SharedRecorder::SharedRecorder(const std::filesystem::path& folder, const World& world, const VertexOrder& order,
                               const MpiRanks& ranks, bool float64)
    : world_(world),
      order_(order),
      ranks_(ranks),
      float64_(float64),
      metrics_path_(folder / "metrics.csv"),
      positions_(folder / "positions.npy", order) {
  std::string error;
  if (ranks.rank() == 0) error = metrics_.create(metrics_path_, metrics_header() + '\n');
  if (!error.empty()) error = metrics_path_.string() + ": " + error;
  all_or_none(ranks, error);
}

/// Positions, then rows, then the count: as Recorder does.
void SharedRecorder::frame(const StepReport& report) {
  const State& state = world_.state;
  const auto pack = [&](auto number) {
    std::vector<decltype(number)> values;
    values.reserve(order_.rows().size() * 3);
    for (const int r : order_.rows()) {
      const Vec4& x = state.x[size_t(r)];
      values.insert(values.end(), {decltype(number)(x.x), decltype(number)(x.y), decltype(number)(x.z)});
    }
    return values;
  };
  const MPI_Offset size = MPI_Offset(order_.vertices()) * 3 * (float64_ ? 8 : 4);
  const MPI_Offset offset = MPI_Offset(npy_header_size) + MPI_Offset(frames_) * size;
  float64_ ? positions_.write_rows(offset, pack(double()), 3) : positions_.write_rows(offset, pack(float()), 3);

  std::string rows;
  std::vector<Measures> bodies;
  for (size_t b = 0; b < world_.model.bodies.size(); ++b) bodies.push_back(world_.measure(int(b)));
  for (size_t b = 0; b < bodies.size(); ++b)
    append_metrics_row(rows, {state.frame, state.time, world_.model.bodies[b].name, bodies[b], report.milliseconds});
  Measures all = measures_of_all(bodies);
  all.iterations = report.iterations, all.multiplier = report.multiplier;
  all.error_p = report.error_p, all.error_l = report.error_l, all.error_h = report.error_h;
  append_metrics_row(rows, {state.frame, state.time, "all", all, report.milliseconds});
  std::string error;
  if (ranks_.rank() == 0) error = metrics_.append(rows);
  if (!error.empty()) error = metrics_path_.string() + ": " + error;
  all_or_none(ranks_, error);
  positions_.write_head(0, npy_header(++frames_, order_.vertices(), float64_));
}

}  // namespace verve
